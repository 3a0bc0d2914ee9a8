#!/bin/sh
# Each call counts up to MPI's end, and the report comes once.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=30

for what in at_exit fork; do
    expect_row $what ring 2 preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring "$programs/endings" $what
    reports=$(grep -c 'calls of rank' "$scratch/out")
    [ "$reports" -eq 1 ] || fail "$what: $reports reports"
    [ "$(calls_of ring)" -eq 2 ] || fail "$what: $(calls_of ring) calls"
done
exit $failed
