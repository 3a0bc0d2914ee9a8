#!/bin/sh
# Every algorithm gives exact results on communicators of 1 to 9 and 16 ranks, and it
# is this algorithm that runs.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

by_three expect_rows 16 100 "$programs/values sizes"
exit $failed
