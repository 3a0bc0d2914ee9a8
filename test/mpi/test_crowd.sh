#!/bin/sh
# Ranks of a sub-communicator share cores with the job's other ranks, or do not: by what they are bound to on a made-up
# machine of 8 CPUs, or of fewer.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# expect_crowd WHAT CPUS EACH ARGUMENT...: of 4 ranks, where a rank could be bound to any of the CPUs (a number), and is
# bound to its own of EACH.
expect_crowd() {
    what=$1
    cpus=$2
    each=$3
    shift 3
    expect_ok "$what" launch 4 LD_PRELOAD="$programs/.libs/cores.so" CORES_NUMBER="$cpus" CORES_CPUS="$each" \
        "$programs/crowd" "$@"
}

expect_crowd "a core each" 8 0,1,2,3 2 2 2
expect_crowd "a core each, alone in its group" 8 0,1,2,3 1 1 1
expect_crowd "a core each, the whole job" 8 0,1,2,3 4 4 4
expect_crowd "two hardware threads each" 8 0-1,2-3,4-5,6-7 2 2 4
expect_crowd "not bound" 8 0-7,0-7,0-7,0-7 2 4 8
expect_crowd "not bound, alone in its group" 8 0-7,0-7,0-7,0-7 1 4 8
expect_crowd "a socket each" 8 0-3,0-3,4-7,4-7 2 2 4
expect_crowd "a socket each, alone in its group" 8 0-3,0-3,4-7,4-7 1 2 4
expect_crowd "not bound, fewer CPUs than ranks" 3 0-2,0-2,0-2,0-2 2 4 3
expect_crowd "bound to cores of others" 2 0,1,0,1 2 4 2
expect_crowd "a cgroup of one CPU each" 1 0,1,2,3 2 2 2
expect_crowd "a cgroup of one CPU each, the whole job" 1 0,1,2,3 4 4 4
expect_crowd "a cgroup of two CPUs each" 2 0-1,2-3,4-5,6-7 2 2 4
expect_crowd "two members share a core" 8 0,0,1,1 2 2 1
expect_crowd "all in two of eight CPUs" 8 0-1,0-1,0-1,0-1 4 4 2
exit $failed
