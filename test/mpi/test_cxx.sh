#!/bin/sh
# A C++ program.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

if [ ! -e "$programs/cxx" ]; then
    echo "configure found no MPI C++ compiler"
    exit 77
fi
# MPICH itself does not survive an exception out of its calls.
set -- throws
[ "$AR_MPI_FAMILY" != mpich ] || set --
expect_row "C++" ring $((2 + 2 * $#)) preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_TIMEOUT=0.2,abort ALLREDUCE_ALGO=ring "$programs/cxx" "$@"
exit $failed
