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

expect_row "large vectors" rhd 1 \
    preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_USER_OPS=cut ALLREDUCE_ALGO='rhd:op=user;ring' "$programs/large"
grep 'no MPI_Allreduce_c in this MPI' "$scratch/out" || expect_calls "a large count" ring 3
exit $failed
