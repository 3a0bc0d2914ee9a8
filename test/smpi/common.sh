# What check and compare share.  Sourced in a build directory made by make smpi.
# shellcheck shell=bash disable=SC2034 # folded is read by those who source this

smpi=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
program=$PWD/test/smpi/simulated

# From so many bytes on buffers are folded into one; shorter messages are checked.
folded=65536
# Of address space, that a simulation may take; of memory it takes little.
memory_kib=$((128 << 20))

# A network of latency and bandwidth; 0.3 us of the processor for each message at either side; and time
# passes only where the program says so.  MPI_Waitsome tests requests: that is no poll of the program's.
settings=(--cfg=network/model:CM02 --cfg=network/crosstraffic:0 --cfg=network/TCP-gamma:1e15
    --cfg=surf/precision:1e-12 --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 --cfg=smpi/test:0
    --cfg=smpi/os:0:3e-7:0 --cfg=smpi/ois:0:3e-7:0 --cfg=smpi/or:0:3e-7:0
    "--cfg=smpi/auto-shared-malloc-thresh:$folded" --cfg=smpi/shared-malloc-blocksize:16777216
    --log=root.threshold:critical)

# What is not timed, the setting up and the clock, by algorithms of few messages: others look for nodes first, by an
# allgather round a ring, minutes with 1000 ranks.  Not for the selectors, whose allreduce goes by what was found then.
quick=(--cfg=smpi/bcast:binomial_tree --cfg=smpi/reduce:binomial --cfg=smpi/gather:ompi_binomial
    --cfg=smpi/allgather:bruck --cfg=smpi/alltoall:bruck --cfg=smpi/barrier:ompi_bruck)

# Ranks of one process do not share memory, and the simulator has no time pass while one polls.  Each
# rank is a copy of the program with thread-local storage of its own.
export ALLREDUCE_TRANSPORT=mpi ALLREDUCE_WAIT=block
# The op is the program's own.  By default it would get whole vectors, and butterfly would replace what cuts them.
export ALLREDUCE_USER_OPS=cut
export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=16777216

# say TEXT...
say() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
}

[ -x "$program" ] || {
    say "no $program: run make smpi"
    exit 2
}

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# hosts PLATFORM: a line for each rank; multicore has 16 of them on a host.
hosts() {
    local each=1 host
    [ "$1" != multicore ] || each=16
    for ((host = 0; host < 1024 / each; host++)); do
        yes "h$host" | head -n "$each"
    done
}

# simulate SECONDS PLATFORM RANKS SETTING ARGUMENT...: SECONDS of the processor at most; the simulator may
# wait for ever where a rank ended in an error.
simulate() {
    local seconds=$1 platform=$2 n=$3 setting=$4 all=("${settings[@]}")
    shift 4
    [[ $setting == --cfg=smpi/coll-selector:* ]] || all+=("${quick[@]}")
    [ -e "$scratch/$platform" ] || hosts "$platform" >"$scratch/$platform"
    (
        ulimit -t "$seconds" -v "$memory_kib" -c 0
        exec timeout -k 5 $((20 * seconds)) smpirun -np "$n" -platform "$smpi/platforms/$platform.xml" \
            -hostfile "$scratch/$platform" "${all[@]}" ${setting:+"$setting"} "$program" "$@"
    )
}

# The rows of the registry; but ranks share no memory in a simulation.
rows() {
    simulate 60 flat 1 '' rows | grep -v -x shm
}
