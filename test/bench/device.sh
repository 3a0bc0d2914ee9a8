#!/bin/sh
# What a look at the buffers costs a call: one by us on one rank, in a process without a runtime for
# accelerators, and with one of the tests' own, whose answer takes next to no time; and with CUDA's
# driver, where this machine has a GPU.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

runtimes=$PWD/test/mpi/runtimes

# cost TITLE LIBRARIES: preloaded.
cost() {
    : >"$scratch/ns"
    for _ in 1 2 3 4 5 6 7 8 9 10 11; do
        launch 1 LD_PRELOAD="$2" ALLREDUCE_ALGO=ring RUNTIME_AT_ONCE=1 test/bench/call_cost </dev/null \
            >"$scratch/out" || fail "$1"
        tail -n 1 "$scratch/out" >>"$scratch/ns"
    done
    echo "$1: $(median <"$scratch/ns")"
}

echo "8 bytes on MPI_COMM_SELF with ALLREDUCE_ALGO=ring, ns per call, medians of 11 runs each:"
echo
cost "no runtime" "$library"
cost CUDA "$library:$runtimes/libcuda.so.1"
cost HIP "$library:$runtimes/libamdhip64.so.6"
cost "Level Zero" "$library:$runtimes/libze_loader.so.1"
gpu=$PWD/test/mpi/.libs/cuda_accelerator.so
if launch 1 LD_PRELOAD="$gpu" RUNTIME_AT_ONCE=1 true </dev/null >"$scratch/gpu"; then
    cost "$(head -n 1 "$scratch/gpu")" "$library:$gpu"
else
    cat "$scratch/gpu"
fi
exit "$failed"
