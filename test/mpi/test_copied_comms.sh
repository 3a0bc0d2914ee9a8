#!/bin/sh
# A program that copies a communicator in each of its steps does not pay again for what the first copies have found out.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# expect_counts WHAT PATTERN: a copy takes so many calls of MPI's functions.
expect_counts() {
    tr '\n' ' ' <"$scratch/out" >"$scratch/line"
    grep -q "$2" "$scratch/line" || fail "$1: not $2: $(cat "$scratch/line")"
}

# expect_copies WHAT PATTERN CALLS BYTES [VARIABLE=VALUE...]: a copy for so many calls of so many bytes on 2 ranks.
expect_copies() {
    what=$1
    pattern=$2
    calls=$3
    bytes=$4
    shift 4
    expect_ok "$what" launch 2 LD_PRELOAD="$library:$programs/.libs/count_calls.so" "$@" "$programs/copied_comms" "$bytes" "$calls"
    expect_counts "$what" "$pattern"
}

# Begun by a reduction and a broadcast; then two kinds of memory, each lent by a broadcast.
expect_copies "nothing to read in place" 'Bcast 3.00 .*Reduce 1.00 ' 3 16384 ALLREDUCE_ALGO='shm(copy=in_place)'

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
    ALLREDUCE_MODEL="$scratch/machine" "$programs/copied_comms" shapes
[ "$(grep -c 'ranks of several nodes, by a model of the machine' "$scratch/out")" -eq 9 ] ||
    fail "nine shapes in turn, twice: the model was not asked once for each: $(cat "$scratch/out")"

# The machine is measured for each shape: what leaders find, one on each node, says nothing of neighbours.
for first in world leaders; do
    expect_ok "measured, $first" launch 4 LD_PRELOAD="$library:$programs/.libs/count_calls.so" ALLREDUCE_ALGO_LIST=ring,rhd,butterfly \
        "$programs/copied_comms" $first
    grep '^broadcasts ' "$scratch/out" >"$scratch/measured-$first" || fail "measured, $first: $(cat "$scratch/out")"
done
cmp "$scratch/measured-world" "$scratch/measured-leaders" || fail "the world is not measured behind its leaders"

# Ranks of two hosts, which have booted at different times, share no memory: a broadcast says so.  Another one lends a
# carrier, and a reduction and a broadcast count who is on the node.
alone="unshare -m -p -f --mount-proc"
# shellcheck disable=SC2016 # for the ranks' shells
apart='(cd /proc/sys/kernel/random && mount --bind uuid boot_id) && mount -t tmpfs none /dev/shm && LD_PRELOAD=$0 exec "$@"'
if $alone mount -t tmpfs none /dev/shm 2>/dev/null; then
    # shellcheck disable=SC2086 # a command with options
    expect_ok "no shared memory" launch 2 MPIR_CVAR_NOLOCAL=1 ALLREDUCE_MODEL="$scratch/machine" \
        $alone sh -c "$apart" "$library:$programs/.libs/count_calls.so" "$programs/copied_comms" 64 1
    expect_counts "no shared memory" 'Bcast 4.00 .*Reduce 2.00 '
else
    echo "skipped: ranks of two hosts, which take unshare and mount"
fi
exit $failed
