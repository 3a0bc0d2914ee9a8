#!/bin/sh
# Vectors of more than 2^31 bytes.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# Two ranks, each with a vector and, in the MPI library's hands, as much scratch.
available=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
if [ "${available:-0}" -lt $((11 * 1024 * 1024)) ]; then
    echo "needs 11 GiB of memory, $available KiB are available"
    exit 77
fi

expect_row "a large type" rhd 1 \
    preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_USER_OPS=cut ALLREDUCE_ALGO=rhd "$programs/large" type
preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring "$programs/large" count >"$scratch/out" 2>&1
status=$?
case $status in
0) expect_calls "a large count" ring 3 ;;
77) echo "no MPI_Allreduce_c in this MPI" ;;
*)
    fail "a large count: exit status $status"
    cat "$scratch/out"
    ;;
esac
exit $failed
