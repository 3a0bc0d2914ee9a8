#!/bin/sh
# The cases of test_device.sh with the memory of this machine's GPU, in each way to allocate it that CUDA has.
# shellcheck source=test/mpi/common.sh disable=SC2317 # functions are arguments
. "${srcdir:-.}/test/mpi/common.sh"

cuda=$programs/.libs/cuda_accelerator.so
aware=$programs/.libs/fake_mpi_device.so
launch 1 LD_PRELOAD="$cuda" "$programs/device" >"$scratch/out" 2>&1 </dev/null
case $? in
0) grep CUDA "$scratch/out" ;;
*)
    grep 'no GPU of CUDA' "$scratch/out" && exit 77
    fail "the GPU cannot be used"
    cat "$scratch/out"
    exit 1
    ;;
esac

# on [VARIABLE=VALUE...] CASE...: the program on 3 ranks.
on() {
    launch 3 LD_PRELOAD="$library:$aware:$cuda" "$@"
}

expect_ok "the program without the library" launch 3 LD_PRELOAD="$aware:$cuda" \
    "$programs/device" all one later managed
for memory in plain pool mapped; do
    for algo in ring auto; do
        expect_ok "$memory, $algo" on CUDA_MEMORY=$memory ALLREDUCE_ALGO=$algo ALLREDUCE_VERBOSE=1 \
            "$programs/device" all one later managed layouts
        for reason in 'device memory' 'device memory, staged'; do
            grep -q "^liballreduce: .* $reason\$" "$scratch/out" ||
                fail "$memory, $algo: no line of '$reason' in the statistics"
        done
    done
done
for memory in plain pool mapped; do
    expect_ok "$memory, with a current context" on CUDA_CURRENT=1 CUDA_MEMORY=$memory "$programs/device" all one later managed
done
expect_ok "a review" on "$programs/device" review
expect_ok "verified" on ALLREDUCE_ALGO=ring ALLREDUCE_VERIFY=1 "$programs/device" all one later
expect_ok "exact sums" on ALLREDUCE_DETERMINISM=order "$programs/device" all later
expect_ok "the driver loaded late" launch 3 LD_PRELOAD="$library:$aware" RUNTIME="$cuda" \
    "$programs/device" late
exit $failed
