#!/bin/sh
# A job of 2 ranks of another processor: exact results through shared memory and by messages, whichever row runs, however
# ranks wait; and all calls are verified against the MPI library's.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=500 # a processor is imitated at a tenth of this one's pace or less
expect_rows 2 9 "$programs/values" shm ring
expect_rows 2 9 "$programs/values" rhd butterfly two_level circulant
transport=mpi
expect_rows 2 9 "$programs/values" ring rhd

export ALLREDUCE_VERBOSE=1 ALLREDUCE_VERIFY=1
for wait in spin yield sleep; do
    for algorithm in shm ring; do
        expect_row "$algorithm, wait=$wait" $algorithm 4 \
            preload 2 ALLREDUCE_WAIT=$wait ALLREDUCE_ALGO=$algorithm "$programs/few_calls"
    done
done
expect_ok "exact sums" preload 3 ALLREDUCE_DETERMINISM=order "$programs/rounded_bits" \
    double sum 1000/same/ring 1000/reversed/rhd 1000/shuffled/shm
[ "$(grep -v liballreduce "$scratch/out" | sort -u | wc -l)" -eq 1 ] || {
    fail "exact sums differ"
    cat "$scratch/out"
}
expect_ok "allreduce bench" launch 2 ./allreduce-mpich bench --csv --repetitions=2 --time=0.01 --algo='shm;ring;rhd;auto' \
    --sizes=8,64K
grep -q ',right,' "$scratch/out" || fail "allreduce bench: no right result"
! grep -q ',wrong,' "$scratch/out" || fail "allreduce bench: wrong results"
exit $failed
