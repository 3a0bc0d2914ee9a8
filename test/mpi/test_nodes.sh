#!/bin/sh
# Ranks that MPICH takes for ranks of several nodes: exact results by messages that go through shared
# memory within a node and by MPI between nodes, however the ranks are placed.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

[ "$AR_MPI_FAMILY" = mpich ] || {
    echo "only MPICH can be told to take one machine for several nodes"
    exit 77
}
export MPIR_CVAR_NUM_CLIQUES=2
for placement in 0 1; do
    export MPIR_CVAR_ODD_EVEN_CLIQUES=$placement
    expect_rows 4 9 "$programs/values" two_level hier_ring ring circulant
    for ring in ring segmented_ring bidirectional_ring; do
        expect_ok "$ring by node" preload 4 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO="$ring(order=node)" "$programs/values"
        expect_calls "$ring by node" $ring 9
    done
done
exit $failed
