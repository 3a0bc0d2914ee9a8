#!/bin/sh
# Threads with a communicator each, on three ranks: with more than one thread to a core, the
# scheduler finds the races.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

for row in ring butterfly double_tree shm; do
    preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=$row "$programs/threads" >"$scratch/out" 2>&1
    case $? in
    0) expect_calls "$row" $row 600 ;;
    77)
        echo "this MPI has no MPI_THREAD_MULTIPLE"
        exit 77
        ;;
    *)
        fail "$row"
        cat "$scratch/out"
        ;;
    esac
done
exit $failed
