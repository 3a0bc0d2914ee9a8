#!/bin/sh
# Every algorithm gives exact results on communicators of 1 to 9 and 16 ranks (QUICK: of 5 ranks), and it
# is this algorithm that runs, through shared memory and by messages of MPI's.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# Our own way through shared memory is the same under every MPI.
transports='auto mpi'
[ "${COMMON_TESTS:-yes}" = yes ] || transports=mpi
for transport in $transports; do
    if [ -n "${QUICK:-}" ]; then
        by_groups 7 expect_rows 5 5 "$programs/values"
    else
        by_groups 7 expect_rows 16 20 "$programs/values sizes"
    fi
done
exit $failed
