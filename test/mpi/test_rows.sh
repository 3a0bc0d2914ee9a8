#!/bin/sh
# Every algorithm gives exact results on communicators of 1 to 9 and 16 ranks, and it
# is this algorithm that runs, through shared memory and by messages of MPI's.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

for transport in auto mpi; do
    by_three expect_rows 16 100 "$programs/values sizes"
done
exit $failed
