#!/bin/sh
# Device memory, of a runtime of the test's own: nobody touches a byte of it.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

runtimes=$programs/runtimes
cuda=$runtimes/libcuda.so.1
hip=$runtimes/libamdhip64.so.6
zero=$runtimes/libze_loader.so.1
behind=$library:$programs/.libs/fake_mpi_device.so

# on RUNTIME [VARIABLE=VALUE...] PROGRAM...: with a runtime that the program is loaded with.
on() {
    runtime=$1
    shift
    launch 3 LD_PRELOAD="$behind:$runtime" "$@"
}

# expect_line WHAT PATTERN: a line of the statistics.
expect_line() {
    grep '^liballreduce: ' "$scratch/out" | grep -q "$2" || {
        fail "$1: no line like '$2' in the statistics"
        cat "$scratch/out"
    }
}

expect_ok "the program without the library" launch 3 LD_PRELOAD="$programs/.libs/fake_mpi_device.so:$cuda" \
    "$programs/device" all one later managed
for algo in ring auto; do
    expect_ok "CUDA, $algo" on "$cuda" ALLREDUCE_ALGO=$algo ALLREDUCE_VERBOSE=1 \
        "$programs/device" all one later managed layouts
    expect_line "CUDA, $algo" ' native  *device memory$'
    expect_line "CUDA, $algo" '  device memory, staged$'
done
expect_ok "a review" on "$cuda" "$programs/device" review
expect_ok "kinds in turn" on "$cuda" "$programs/device" kinds
expect_ok "verified" on "$cuda" ALLREDUCE_ALGO=ring ALLREDUCE_VERIFY=1 "$programs/device" all one later
expect_ok "tuned online" on "$cuda" ALLREDUCE_TUNE=online ALLREDUCE_TUNE_OVERHEAD=100 \
    "$programs/device" all one later
expect_ok "exact sums" on "$cuda" ALLREDUCE_DETERMINISM=order "$programs/device" all later
expect_ok "memory of a pool" on "$cuda" RUNTIME_POOL=1 "$programs/device" all one later layouts
for current in own other; do
    expect_ok "memory of a pool, and a current context: $current" on "$cuda" RUNTIME_POOL=1 RUNTIME_CURRENT=$current \
        "$programs/device" later
done
expect_ok "memory of a pool, CUDA 10" on "$runtimes/cuda10/libcuda.so.1" RUNTIME_POOL=1 "$programs/device" later
expect_ok "CUDA 6" on "$runtimes/cuda6/libcuda.so.1" "$programs/device" all one later managed
expect_ok "HIP of ROCm 6" on "$hip" "$programs/device" all one later managed
expect_ok "HIP of ROCm 5" on "$hip" RUNTIME_HIP_VERSION=50731921 "$programs/device" all one later managed
expect_ok "Level Zero" on "$zero" "$programs/device" all one managed

# What cannot be staged ends the job, with one line.
on "$zero" "$programs/device" later >"$scratch/out" 2>&1 </dev/null
case $? in
0 | 124 | 137) fail "Level Zero, later: exit status $?" ;;
esac
[ "$(grep -c '^liballreduce: device memory of Level Zero cannot be copied to the host on rank 1' \
    "$scratch/out")" -eq 1 ] || {
    fail "Level Zero, later: not told once"
    cat "$scratch/out"
}

expect_ok "a runtime loaded late" launch 3 LD_PRELOAD="$behind" RUNTIME="$cuda" "$programs/device" late
expect_ok "no runtime" launch 3 LD_PRELOAD="$behind" "$programs/device" none
exit $failed
