#!/bin/sh
# A build for another MPI family than the program's says so and ends, before it misreads a handle.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=30
other='MPICH Version: 4.0.2'
[ "$AR_MPI_FAMILY" = openmpi ] || other='Open MPI v4.1.4, package: any'

if preload 1 "$programs/family" "$other" >"$scratch/out" 2>&1; then
    fail "$other: the program ended as if nothing were wrong"
fi
grep -q "^liballreduce: this build is for $AR_MPI_FAMILY, but" "$scratch/out" || {
    fail "$other: not told"
    cat "$scratch/out"
}
expect_row "a library of unknown make" ring 1 \
    preload 1 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring "$programs/family" 'Some MPI 1.0'
exit $failed
