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
    expect_ok "$what" launch 4 LD_PRELOAD="$programs/.libs/fake_machine.so" CORES_NUMBER="$cpus" CORES_CPUS="$each" \
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

# make_cgroup NAME QUOTA RANK...: these ranks are in a cgroup that may use so many us of CPU time in 100 ms.
make_cgroup() {
    folder=$scratch/$1-$3
    line=$2
    mkdir -p "$folder/proc/self" "$folder/sys/fs/cgroup/app" "$scratch/$1"
    echo "30 22 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw" >"$folder/proc/self/mountinfo"
    echo "0::/app" >"$folder/proc/self/cgroup"
    echo "$line 100000" >"$folder/sys/fs/cgroup/app/cpu.max"
    made=$1
    shift 2
    for rank; do
        ln -s "$folder" "$scratch/$made/$rank"
    done
}

# expect_limited CGROUPS EXPECT_CROWD'S ARGUMENTS
expect_limited() {
    CORES_CGROUP=$scratch/$1
    export CORES_CGROUP
    shift
    expect_crowd "$@"
    unset CORES_CGROUP
}

make_cgroup two 150000 0 1 2 3
make_cgroup four 400000 0 1 2 3
make_cgroup pairs 100000 0 1
make_cgroup pairs 100000 2 3
for r in 0 1 2 3; do
    make_cgroup own 100000 "$r"
done
make_cgroup free max 0 1 2 3
make_cgroup nested 200000 0 1
make_cgroup nested 200000 2 3
echo "300000 100000" >"$scratch/outer" # of a cgroup in which both are
for first in 0 2; do
    ln "$scratch/outer" "$scratch/nested-$first/sys/fs/cgroup/cpu.max"
done
expect_limited two "time of two CPUs, a core each" 8 0,1,2,3 4 4 2
expect_limited two "time of two CPUs, a part of the job" 8 0,1,2,3 2 4 2
expect_limited two "time of two CPUs, not bound" 8 0-7,0-7,0-7,0-7 4 4 2
expect_limited four "time of a CPU for each" 8 0,1,2,3 2 2 2
expect_limited own "limits of their own" 8 0,1,2,3 4 4 4
expect_limited pairs "a limit for two ranks each" 8 0,1,2,3 4 4 2
expect_limited nested "limits for two ranks each, in one for all" 8 0,1,2,3 4 4 3
expect_limited free "no limit" 8 0,1,2,3 4 4 4
expect_ok "lending while a thread is late" launch 2 "$programs/crowd" lent
exit $failed
