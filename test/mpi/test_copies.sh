#!/bin/sh
# A program that copies a communicator in each of its steps pays for what the first copies find out no second time.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# expect_copies WHAT RANKS CALLS BYTES PATTERN [VARIABLE=VALUE...]: a copy for so many calls of so many bytes takes
# so many calls of MPI's functions as the pattern says.
expect_copies() {
    what=$1
    on=$2
    calls=$3
    bytes=$4
    pattern=$5
    shift 5
    expect_ok "$what" launch "$on" LD_PRELOAD="$library:$programs/.libs/counted.so" "$@" "$programs/copies" "$bytes" "$calls"
    tr '\n' ' ' <"$scratch/out" >"$scratch/line"
    grep -q "$pattern" "$scratch/line" || fail "$what: not $pattern: $(cat "$scratch/line")"
}

# Begun by a reduction and a broadcast; then two kinds of memory, each lent by a broadcast.
expect_copies "nothing to read in place" 2 3 16384 'Bcast 3.00 .*Reduce 1.00 ' ALLREDUCE_ALGO='shm(copy=in_place)'
expect_ok "memory to read in place that comes late" preload 2 ALLREDUCE_VERBOSE=1 \
    ALLREDUCE_ALGO='shm:0-100;shm(copy=in_place)' "$programs/copies" late
expect_lines "memory that comes late" 6 'shm[(]copy=in_place[)] +named'
expect_lines "memory that comes late" 64 'no XPMEM or shared memory on all ranks: through slots'

# Open MPI compares groups by all pairs of ranks, but a copy of the world has the world's own.
if [ "$AR_MPI_FAMILY" = openmpi ]; then
    for row in shm ring; do
        expect_copies "groups, $row" 'translate_ranks 0.00 .*intersection 0.00 ' 1 64 ALLREDUCE_ALGO=$row
    done
fi

# A copy's ranks are found among those that agree and those that share memory, and in these once more for what they share.  It has no
# number in the statistics any more.
[ "$AR_MPI_FAMILY" != mpich ] ||
    expect_copies "statistics" 'translate_ranks 3.00 ' 1 64 ALLREDUCE_ALGO=shm ALLREDUCE_STATS="$scratch/stats"

# The rest takes an MPI that treats ranks of one machine as ranks of several.
[ "$AR_MPI_FAMILY" = mpich ] || exit "$failed"
export MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_ODD_EVEN_CLIQUES=1

cat >"$scratch/machine" <<'END'
node     ranks 3  latency 1us  bandwidth 10GB/s
network  latency 100us  bandwidth 100MB/s
END
expect_ok "nine shapes in turn, twice" preload 6 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO_LIST=ring,rhd,butterfly \
    ALLREDUCE_MODEL="$scratch/machine" "$programs/copies" shapes
[ "$(grep -c 'ranks of several nodes, by a model of the machine' "$scratch/out")" -eq 9 ] ||
    fail "nine shapes in turn, twice: the model was not asked once for each: $(cat "$scratch/out")"
exit $failed
