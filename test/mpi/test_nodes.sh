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

# Each node has a group of two ranks and one of one.
export MPIR_CVAR_ODD_EVEN_CLIQUES=1
for choice in '' ,lanes=2 ,lanes=1; do
    expect_row "levels$choice" two_level 20 preload 6 ALLREDUCE_VERBOSE=1 ALLREDUCE_VERIFY=1 \
        ALLREDUCE_ALGO="two_level(levels=2$choice)" "$programs/values"
    grep -q 'levels=2)' "$scratch/out" || fail "levels$choice: $(cat "$scratch/out")"
done
expect_row "levels by ALLREDUCE_LEVELS" two_level 20 preload 6 ALLREDUCE_VERBOSE=1 ALLREDUCE_LEVELS=2 ALLREDUCE_ALGO=two_level \
    "$programs/values"
grep -q 'levels=2)' "$scratch/out" || fail "levels by ALLREDUCE_LEVELS: $(cat "$scratch/out")"

# Of two machines with two sockets of four caches, ranks 0 and 2 share a cache of the first, and ranks 3 and 5 one of the
# second; rank 1 is on another socket there.
mkdir "$scratch/machine"
test/cli/levels make 0 "$scratch/machine" || fail "a made-up machine: not made"
# expect_names WHAT TEXT CPUS LEVELS: 20 calls run two_level with these levels, and a line of the table has the text.
expect_names() {
    expect_row "$1" two_level 20 launch 6 LD_PRELOAD="$PWD/test/mpi/.libs/fake_machine.so:$library" CORES_ROOT="$scratch/machine" \
        CORES_CPUS="$3" ALLREDUCE_WAIT=yield ALLREDUCE_VERBOSE=1 ALLREDUCE_VERIFY=1 \
        ALLREDUCE_ALGO="two_level(levels=$4)" "$programs/values"
    grep -q -e "$2" "$scratch/out" || fail "$1: $(cat "$scratch/out")"
}
expect_names "names" 'levels=l3+socket) ' 0,0,1,16,4,17 l3+socket
expect_names "a name that groups nobody" 'levels=l3) ' 0,0,1,1,4,4 l3+numa+socket
expect_names "one socket" 'no such levels here: flat' 0,0,1,1,4,4 socket

# Ranks 0 and 1 are on one node, 2 and 3 on the other: bench cannot assume other nodes.
export MPIR_CVAR_ODD_EVEN_CLIQUES=0
launch 4 ./allreduce bench --algo=hier_ring --sizes=64 --nodes=2x2,cyclic >"$scratch/out" 2>&1 && fail "bench: not refused"
grep -q 'nodes=2x2,cyclic needs all ranks on one node, but they are on 2; the launcher places them there$' "$scratch/out" ||
    fail "bench: $(cat "$scratch/out")"
exit $failed
