#!/bin/sh
# A communicator of two worlds is left to the MPI library: spawned processes may have no preload, and would not answer.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=30
export ALLREDUCE_VERBOSE=1
expect_row "one world" ring 47 preload 3 ALLREDUCE_ALGO=ring "$programs/worlds" halves
! grep -q 'another world' "$scratch/out" || fail "one world is taken for two: $(cat "$scratch/out")"

# Debian's MPICH cannot spawn.  Elsewhere what is left out is to be seen.
launch 1 "$programs/worlds" spawn >"$scratch/out" 2>&1 </dev/null || {
    echo "what is spawned is left out: $AR_MPI_FAMILY cannot spawn here"
    [ "$AR_MPI_FAMILY" = mpich ] || [ $failed -ne 0 ] || exit 77
    exit $failed
}
for algo in ring native; do
    expect_row "spawned without the preload, $algo" native 47 preload 2 ALLREDUCE_ALGO=$algo "$programs/worlds" spawn
    [ $algo = native ] || grep -q 'native  *ranks of another world$' "$scratch/out" || fail "not told why: $(cat "$scratch/out")"
    expect_calls_in "spawned without the preload" 0 '  ring '
done
# shellcheck disable=SC2086 # MPIEXEC may hold options
expect_ok "spawned with the preload" env LD_PRELOAD="$library" ALLREDUCE_ALGO=ring timeout -k 5 $limit $MPIEXEC -n 2 "$programs/worlds" spawn
[ "$(grep -c 'native  *ranks of another world$' "$scratch/out")" -ge 2 ] || fail "spawned with the preload: $(cat "$scratch/out")"
exit $failed
