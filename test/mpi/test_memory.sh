#!/bin/sh
# Where the memory that ranks share comes from: unnamed, else by a name in /dev/shm, else there
# is none.  Ranks in pid namespaces of their own do not see each other in /proc.
# shellcheck source=test/mpi/common.sh disable=SC2086 # commands with options
. "${srcdir:-.}/test/mpi/common.sh"

alone="unshare -p -f --mount-proc"

# with_shm SIZE COMMAND...: all of it has a /dev/shm of that size to itself; says what it left there.
with_shm() {
    size=$1
    shift
    # shellcheck disable=SC2016 # for the inner shell
    unshare -m sh -c 'mount -t tmpfs -o size="$0" none /dev/shm || exit 1
        "$@"
        status=$?
        find /dev/shm -name "liballreduce-*" -exec echo left: {} \;
        exit $status' "$size" "$@"
}

with_shm 1m $alone true 2>/dev/null || {
    echo "no namespaces here: not root?"
    exit 77
}

# Each rank gives its own part memory.
expect_ok "memory behind all parts" launch 3 env LD_PRELOAD="$library" ALLREDUCE_ALGO=shm "$programs/memory"
[ "$(grep -c '^[12] mappings, 0 bytes' "$scratch/out")" -eq 3 ] || fail "memory behind all parts: $(cat "$scratch/out")"

# expect_memory WHAT ROW SIZE [COMMAND...]: with a /dev/shm of SIZE, ranks under COMMAND run shm as ROW.
expect_memory() {
    what=$1
    row=$2
    size=$3
    shift 3
    expect_row "$what" "$row" 4 with_shm "$size" timeout -k 5 "$limit" $MPIEXEC -n 2 "$@" env \
        LD_PRELOAD="$library" ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=shm "$programs/few_calls"
    ! grep '^left:' "$scratch/out" || fail "$what: a file is left"
}

# has_reason: some call went by messages for want of memory.
has_reason() {
    grep -q 'no shared memory: by messages' "$scratch/out"
}

# What the MPI library itself needs there, to 32 KiB, is less than shared memory takes beside it.
too_little=0
small=65536
while [ $((small - too_little)) -gt 32 ]; do
    middle=$(((small + too_little) / 2))
    if with_shm ${middle}k timeout -k 5 "$limit" $MPIEXEC -n 2 "$programs/few_calls" \
        >"$scratch/out" 2>&1; then
        small=$middle
    else
        too_little=$middle
    fi
done

expect_memory "small /dev/shm" shm ${small}k
has_reason && fail "small /dev/shm: shared memory was missed"

if ! launch 2 $alone "$programs/few_calls" >"$scratch/out" 2>&1; then
    echo "natively, this MPI's ranks must see each other: the rest is left out"
    exit $failed
fi
expect_memory "ranks that do not see each other" shm 256m $alone
has_reason && fail "ranks that do not see each other: shared memory was missed"
expect_memory neither shm ${small}k $alone
has_reason || fail "neither: the reason is not told"
exit $failed
