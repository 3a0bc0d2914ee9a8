#!/bin/sh
# A program that copies a communicator in each of its steps does not pay again for what the first copies have found out.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# expect_counts WHAT NUMBER: a copy takes so many broadcasts, on whatever communicator, and no other collective.
expect_counts() {
    awk -v number="$2" '
        $1 == "PMPI_Bcast" && $2 != number ||
        $1 ~ /^PMPI_(Allreduce|Reduce|Ibcast|Ireduce|Allgather|Comm_split|Comm_split_type)$/ && $2 > 0 {
            failed = 1
        }
        /^PMPI_/ { n++ }
        END { exit failed || n < 8 }' "$scratch/out" || fail "$1: not $2: $(tr '\n' ' ' <"$scratch/out")"
}

# expect_groups WHAT PATTERN: it compares groups so often.
expect_groups() {
    tr '\n' ' ' <"$scratch/out" >"$scratch/line"
    grep -q "$2" "$scratch/line" || fail "$1: not $2: $(cat "$scratch/line")"
}

# expect_copies WHAT RANKS BYTES CALLS NUMBER [VARIABLE=VALUE...]: expect_counts for so many calls of so many bytes.
expect_copies() {
    what=$1
    nranks=$2
    bytes=$3
    calls=$4
    number=$5
    shift 5
    expect_ok "$what" launch "$nranks" LD_PRELOAD="$library:$programs/.libs/count_calls.so" "$@" "$programs/copied_comms" "$bytes" "$calls"
    expect_counts "$what" "$number"
}

# Rank 0's memory, short and long, and tags of a private communicator come with the first exchange.
expect_copies "one node" 2 64 1 1
expect_copies "one node, long" 2 65536 1 1
expect_copies "one node, messages" 2 64 1 1 ALLREDUCE_ALGO=ring
expect_copies "one node, messages of three" 3 64 1 1 ALLREDUCE_ALGO=ring
expect_copies "nothing to read in place" 2 16384 3 1 ALLREDUCE_ALGO='shm(copy=in_place)'
expect_ok "a part" launch 3 LD_PRELOAD="$library:$programs/.libs/count_calls.so" "$programs/copied_comms" 64 1 2
expect_counts "a part" 1

# Open MPI compares groups by all pairs of ranks, but a copy of the world has the world's own.  Only the memory for messages, which
# 22 ranks have at most, is found by its ranks' numbers.
if [ "$AR_MPI_FAMILY" = openmpi ]; then
    expect_copies "groups, shm" 2 64 1 1 ALLREDUCE_ALGO=shm
    expect_groups "groups, shm" 'translate_ranks 0.00 .*intersection 0.00 '
    expect_copies "groups, ring" 2 64 1 1 ALLREDUCE_ALGO=ring
    expect_groups "groups, ring" 'translate_ranks 1.00 .*intersection 0.00 '
fi

# A copy's ranks are found among those that agree and share memory, once.  It has no number in the statistics any more.
[ "$AR_MPI_FAMILY" != mpich ] || {
    expect_copies "statistics" 2 64 1 1 ALLREDUCE_ALGO=shm ALLREDUCE_STATS="$scratch/stats"
    expect_groups "statistics" 'translate_ranks 1.00 '
}

# A program may have more groups than there may be private communicators at a time.
for row in ring shm; do
    expect_row "all subsets, $row" $row 63 preload 7 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=$row "$programs/copied_comms" subsets
    expect_calls_in "all subsets, $row" 0 ' native '
done

# The rest takes an MPI that treats ranks of one machine as ranks of several.
[ "$AR_MPI_FAMILY" = mpich ] || exit "$failed"
export MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_ODD_EVEN_CLIQUES=1

cat >"$scratch/machine" <<'END'
node     ranks 3  latency 1us  bandwidth 10GB/s
network  latency 100us  bandwidth 100MB/s
END
expect_ok "nine shapes in turn, twice" preload 6 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO_LIST=ring,rhd,butterfly \
    ALLREDUCE_MODEL="$scratch/machine" "$programs/copied_comms" shapes
[ "$(grep -c 'ranks of several nodes, by a model of the machine' "$scratch/out")" -eq 9 ] ||
    fail "nine shapes in turn, twice: the model was not asked once for each: $(cat "$scratch/out")"

# Nodes of one boot: the first call of what is no copy of the world costs nothing.
for row in '64 1 3 0' '64 1 -4 0' '64 1 4 1'; do
    # shellcheck disable=SC2086 # BYTES CALLS RANKS NUMBER
    set -- $row
    expect_ok "a part of nodes: $row" launch 4 LD_PRELOAD="$library:$programs/.libs/count_calls.so" ALLREDUCE_MODEL="$scratch/machine" \
        ALLREDUCE_ALGO='ring:0-8' "$programs/copied_comms" "$1" "$2" "$3"
    expect_counts "a part of nodes: $row" "$4"
done

# The machine is measured for each shape: what leaders find, one on each node, says nothing of neighbours.
for first in world leaders; do
    expect_ok "measured, $first" launch 4 LD_PRELOAD="$programs/.libs/fake_machine.so:$library:$programs/.libs/count_calls.so" \
        CORES_NUMBER=32 CORES_CPUS=0-31,0-31,0-31,0-31 ALLREDUCE_ALGO_LIST=ring,rhd,butterfly "$programs/copied_comms" $first
    grep '^broadcasts ' "$scratch/out" >"$scratch/measured-$first" || fail "measured, $first: $(cat "$scratch/out")"
done
cmp "$scratch/measured-world" "$scratch/measured-leaders" || fail "the world is not measured behind its leaders"

# The rules of ranks of several nodes take a broadcast more.
# Ranks of two hosts have booted at different times.  Where they share no memory, the first one finds out; otherwise the world's
# ring does.
alone="unshare -m -p -f --mount-proc"
# shellcheck disable=SC2016 # for the ranks' shells
apart='(cd /proc/sys/kernel/random && mount --bind uuid boot_id) && LD_PRELOAD=$0 exec "$@"'
# expect_apart WHAT NUMBER VARIABLE=VALUE PROGRAM'S ARGUMENTS...: expect_counts for 4 ranks on two nodes.
expect_apart() {
    what=$1
    number=$2
    setting=$3
    shift 3
    # Ranks end without MPI_Finalize, and the launcher may kill the last ones: they have met before.
    launch 4 MPIR_CVAR_ODD_EVEN_CLIQUES=0 ALLREDUCE_MODEL="$scratch/machine" ALLREDUCE_ALGO='ring:0-inf@4' "$setting" \
        unshare -m sh -c "$apart" "$library:$programs/.libs/count_calls.so" "$programs/copied_comms" "$@" >"$scratch/out" 2>&1 </dev/null
    ! grep '^rank ' "$scratch/out" || fail "$what"
    expect_counts "$what" "$number"
}
if $alone mount -t tmpfs none /dev/shm 2>/dev/null; then
    # shellcheck disable=SC2086 # a command with options
    expect_ok "no shared memory" launch 2 MPIR_CVAR_NOLOCAL=1 ALLREDUCE_MODEL="$scratch/machine" \
        $alone sh -c "mount -t tmpfs none /dev/shm && $apart" "$library:$programs/.libs/count_calls.so" "$programs/copied_comms" 64 1
    expect_counts "no shared memory" 2
    expect_apart "two nodes of two" 1 ALLREDUCE_VERBOSE=0 64 1 4 exit
    expect_apart "first call of a part" 0 ALLREDUCE_VERBOSE=0 64 1 3 exit
    expect_apart "second call of a part" 2 ALLREDUCE_VERBOSE=0 64 2 3 exit
    expect_apart "named" 1 ALLREDUCE_ALGO=ring 64 1 3 exit
    expect_apart "listed" 2 ALLREDUCE_ALGO_LIST=ring,rhd,butterfly 64 1 3 exit
    expect_apart "long first call of a part" 2 ALLREDUCE_VERBOSE=0 262144 1 3 exit
else
    echo "skipped: ranks of two hosts, which take unshare and mount"
fi
exit $failed
