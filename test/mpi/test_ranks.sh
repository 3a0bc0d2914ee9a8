#!/bin/sh
# Jobs of 1 to 9 ranks, with every kind of communicator and a third of the algorithms
# each.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# The algorithms are the same under every MPI.
sizes='1 2 3 4 5 6 7 8 9'
[ "${COMMON_TESTS:-yes}" = yes ] || sizes='1 3 4 8'
for ranks in $sizes; do
    # shellcheck disable=SC2046 # names have no blanks
    expect_rows "$ranks" 1 "$programs/values communicators" $(rows | awk "NR % 3 == $ranks % 3")
done
exit $failed
