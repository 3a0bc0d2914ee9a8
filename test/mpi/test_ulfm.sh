#!/bin/sh
# In a job whose program may go on after ranks have died nothing waits for another rank: all calls are native, and each rank
# ends for itself.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=30
export ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring

both=$library:$programs/.libs/fake_mpi_ulfm.so
expect_row "a program" native 4 launch 2 LD_PRELOAD="$both" "$programs/few_calls"
grep -q 'native  *fault tolerance$' "$scratch/out" || {
    fail "the reason is another one"
    cat "$scratch/out"
}
expect_ok "statistics" launch 3 LD_PRELOAD="$both" ALLREDUCE_STATS="$scratch/stats" "$programs/few_calls"
[ "$(grep -l 'fault tolerance' "$scratch"/stats* | wc -l)" -eq 3 ] || {
    fail "the ranks have not written statistics of their own"
    ls "$scratch"
}
exit $failed
