#!/bin/sh
# allreduce doctor tells each broken set-up from a good one, says what to do about it, and ends with 1
# where something is wrong; run and the library refuse or tell the worst of it by themselves.
# shellcheck disable=SC2086 # MPIEXEC may hold options
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=60
NO_COLOR=1 # mpirun of Open MPI gives its ranks a terminal
export NO_COLOR
allreduce=$PWD/allreduce
few_calls=$programs/few_calls

expect_limited_end "a good program" 0 "^ok  *program  .*few_calls takes the library" "$allreduce" doctor "$few_calls"
expect_limited_end "its library" 0 "^ok  *library  *$library" "$allreduce" doctor
expect_limited_end "a job" 0 '^ok  *launcher  .*MPI_COMM_WORLD of size 2$' $MPIEXEC -n 2 "$allreduce" doctor "$few_calls"
expect_limited_end "its nodes" 0 '^ok  *nodes  *2 ranks on 1 node$' $MPIEXEC -n 2 "$allreduce" doctor
if [ "$(nproc)" -lt 5 ]; then
    expect_limited_end "too many ranks" 0 '^warning  binding .* 5 ranks share ' $MPIEXEC -n 5 "$allreduce" doctor
fi
taskset -c 0 true 2>/dev/null &&
    expect_limited_end "all on one core" 0 '^warning  binding .* 2 ranks share CPU 0$' \
        $MPIEXEC -n 2 taskset -c 0 "$allreduce" doctor

# Where ranks are, and who else is there.
if [ "$(nproc)" -ge 2 ]; then
    bind=-bind-to
    [ "$AR_MPI_FAMILY" = mpich ] || bind=--bind-to
    expect_limited_end "bound" 0 '^ok  *binding  .*: ranks 0,1 are bound to one core each' \
        $MPIEXEC -n 2 $bind core "$allreduce" doctor
    expect_limited_end "not bound" 0 '^note  *binding  .*: ranks 0,1 are not bound, and may move among ' \
        $MPIEXEC -n 2 $bind none "$allreduce" doctor
fi
mkdir -p "$scratch/limited/proc/self" "$scratch/limited/sys/fs/cgroup"
echo "30 22 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw" >"$scratch/limited/proc/self/mountinfo"
echo "0::/" >"$scratch/limited/proc/self/cgroup"
echo "100000 100000" >"$scratch/limited/sys/fs/cgroup/cpu.max"
ln -s limited "$scratch/0"
ln -s limited "$scratch/1"
[ "$(nproc)" -lt 2 ] ||
    expect_limited_end "a limit of CPU time" 0 '^note  *quota  *a cgroup limits 1 rank to the time of 1 of [0-9]* CPUs$' \
        LD_PRELOAD="$programs/.libs/fake_machine.so" CORES_CGROUP="$scratch" "$allreduce" doctor
expect_limited_end "a limit for two ranks" 0 '^warning  quota .*: a cgroup limits 2 ranks to the time of 1 of 8 CPUs$' \
    $MPIEXEC -n 2 env LD_PRELOAD="$programs/.libs/fake_machine.so" CORES_CGROUP="$scratch" CORES_CPUS=0-7,0-7 "$allreduce" doctor
sh -c 'while :; do :; done' &
busy=$!
expect_limited_end "load of others" 0 '^warning  load  *other processes keep [0-9.]* of [0-9]* CPUs* busy$' "$allreduce" doctor
kill $busy

# Where the library is preloaded into all programs, the statistics of a job stay.
echo "of a job" >"$scratch/stats"
expect_limited_end "preloaded" 0 '^ok  *preload  *LD_PRELOAD has /.*liballreduce.so' \
    $MPIEXEC -n 2 env LD_PRELOAD="$library" ALLREDUCE_STATS="$scratch/stats" ALLREDUCE_VERBOSE=1 "$allreduce" doctor
[ "$(cat "$scratch/stats")" = "of a job" ] || fail "preloaded: the statistics of a job are overwritten"

# A program that loads a runtime for accelerators.
expect_limited_end "no runtime" 0 '^ok  *device  *the program is not linked to a runtime for GPUs' "$allreduce" doctor "$few_calls"
expect_limited_end "a runtime" 0 '^note  *device  *the program loads CUDA (libcuda.so.1): calls with device memory go to ' \
    LD_PRELOAD="$programs/runtimes/libcuda.so.1" "$allreduce" doctor "$few_calls"

# XPMEM: a stand-in for its library, without the module and with what looks like it.
mkdir "$scratch/xpmem"
cp "$PWD/test/mpi/.libs/fake_xpmem.so" "$scratch/xpmem/libxpmem.so.0" || exit 99
[ -e /dev/xpmem ] ||
    expect_limited_end "no module" 0 '^note  *xpmem  *its library is installed, but its module is not loaded' \
        LD_LIBRARY_PATH="$scratch/xpmem" "$allreduce" doctor
if unshare -rm true 2>/dev/null; then
    # shellcheck disable=SC2016
    expect_limited_end "no library" 0 '^note  *xpmem  *its module is loaded, but its library libxpmem.so.0 is not found' \
        unshare -rm sh -c 'mount -t tmpfs none /dev && : >/dev/xpmem && exec "$0" doctor' "$allreduce"
    # shellcheck disable=SC2016
    expect_limited_end "XPMEM" 0 '^ok  *xpmem  *ranks of a node can read' LD_LIBRARY_PATH="$scratch/xpmem" \
        unshare -rm sh -c 'mount -t tmpfs none /dev && : >/dev/xpmem && exec "$0" doctor' "$allreduce"
fi

# Rules and a machine file from elsewhere, and from here.
printf '%s\n' '#! tuned: mpi=Another MPI 1.0; cpu=abacus; ranks=2' ring >"$scratch/rules"
expect_limited_end "rules from elsewhere" 0 '^warning  rules .*tuned elsewhere: mpi=Another MPI 1.0 (here .*cpu=abacus' \
    $MPIEXEC -n 2 env ALLREDUCE_RULES="$scratch/rules" "$allreduce" doctor
expect_limited_end "the same without a job" 0 '^note  *rules .*were tuned on: mpi=Another MPI 1.0; cpu=abacus; ranks=2$' \
    ALLREDUCE_RULES="$scratch/rules" "$allreduce" doctor
printf '%s\n' 'title the moon' 'rank reduction 1GB/s' 'node ranks 2 latency 1300ms bandwidth 1GB/s' 'network latency 1us bandwidth 1GB/s' >"$scratch/moon"
expect_limited_end "a machine file from elsewhere" 0 \
    '^warning  machine  *ALLREDUCE_MODEL (the moon) says 1.30 s for a short message within a node' \
    $MPIEXEC -n 2 env ALLREDUCE_MODEL="$scratch/moon" "$allreduce" doctor

# Shared memory: what keeps it from working is named.  In a mount namespace, where one can be made.
if unshare -rm true 2>/dev/null; then
    # shellcheck disable=SC2016
    expect_limited_end "no room in /dev/shm" 0 '^note  *memory .*/dev/shm, too, which has 0 MiB free' \
        unshare -rm sh -c 'mount -t tmpfs -o size=64k none /dev/shm && exec "$0" doctor' "$allreduce"
    # shellcheck disable=SC2016
    expect_limited_end "a hidden boot id" 0 "^note  *host  *the kernel's boot id is hidden" \
        unshare -rm sh -c 'mount --bind "$1" /proc/sys/kernel/random/boot_id && exec "$0" doctor' "$allreduce" "$scratch/rules"
    # shellcheck disable=SC2016
    expect_limited_end "no /proc" 0 '^note  *memory .*only through /dev/shm' \
        unshare -rm sh -c 'mount -t tmpfs none /proc && exec "$0" doctor' "$allreduce"
else
    echo "no user namespaces: what /dev/shm has is left out"
fi

# A container's filter of system calls.
expect_limited_end "system calls" 0 '^ok  *kernel ' "$allreduce" doctor
expect_limited_end "more CPUs than the C library's sets have" 0 '^ok  *kernel .*sched_setaffinity' \
    LD_PRELOAD="$programs/.libs/fake_machine.so" CORES_POSSIBLE=2048 "$allreduce" doctor
expect_limited_end "no memfd_create" 0 '^warning  kernel  *memfd_create is refused by a filter of system calls (seccomp): ' \
    "$programs/forbid_system_calls" memfd_create process_vm_readv -- "$allreduce" doctor
grep -q '^warning  kernel  *process_vm_readv is refused by a filter' "$scratch/out" || fail "process_vm_readv is not told"
expect_limited_end "a job of such ranks" 0 'memory .*only through /dev/shm' \
    $MPIEXEC -n 2 "$programs/forbid_system_calls" memfd_create -- "$allreduce" doctor

# Nodes of one rank and of more (MPICH only, whose cliques stand for nodes).
[ "$AR_MPI_FAMILY" != mpich ] ||
    expect_limited_end "unequal nodes" 0 '^ok  *nodes  *3 ranks on 2 nodes$' \
        $MPIEXEC -n 3 env MPIR_CVAR_ODD_EVEN_CLIQUES=1 "$allreduce" doctor

# Another MPI's launcher: here what it would say.
if [ "$AR_MPI_FAMILY" = openmpi ]; then
    foreign='PMI_RANK=0 PMI_SIZE=2 MPI_LOCALRANKID=0'
    other='mpiexec of MPICH'
else
    foreign='OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=0'
    other='mpirun of Open MPI'
fi
expect_limited_end "another launcher" 1 "^wrong  *launcher  *started by $other" $foreign "$allreduce" doctor
# A build for both MPIs has a helper for what the launcher seems to be, which finds a world of one rank.
others=$(find .libs -name 'engine-*.so' ! -name "engine-$AR_MPI_FAMILY.so")
[ -z "$others" ] || echo "a build for several MPIs: what the helper of this one says of another's launcher is left out"
[ -n "$others" ] ||
    expect_limited_end "the same with the program, once" 1 "started by $other" $foreign "$allreduce" doctor "$few_calls"
expect_limited_end "the same in run" 1 "few_calls runs with .*: started by $other .*start it with" \
    $foreign "$allreduce" run "$few_calls"
expect_limited_end "the same in the library" 0 "warning: started by $other" \
    $foreign LD_PRELOAD="$library" "$few_calls"

expect_limited_end "srun without MPI" 1 '^wrong  *launcher  *started by srun (SLURM_STEP_NUM_TASKS=2)' \
    SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_STEP_NUM_TASKS=2 "$allreduce" doctor

[ -n "$others" ] ||
    expect_limited_end "a job within another" 0 '^ok  *launcher  .*MPI_COMM_WORLD of size 2$' $foreign $MPIEXEC -n 2 "$allreduce" doctor
expect_limited_end "what is known before MPI" any '^wrong  *program .*nosuch: not found in PATH' \
    PMI_RANK=0 PMI_SIZE=4 PMI_FD=99 MPI_LOCALRANKID=0 "$allreduce" doctor nosuch

# Settings, preloads, programs.
expect_limited_end "a bad setting" 1 "^wrong  *settings .*did you mean 'ring'" ALLREDUCE_ALGO=rinng "$allreduce" doctor
expect_limited_end "a setting that is not used" 0 '^note  *settings  *OMPI_MCA_coll_tuned_allreduce_algorithm is set but not used' \
    OMPI_MCA_coll_tuned_allreduce_algorithm=4 "$allreduce" doctor
expect_limited_end "a bare name" 1 '^wrong    preload .*bare name nosuch.so' LD_PRELOAD=nosuch.so "$allreduce" doctor
expect_limited_end "a bare name that the linker finds" 0 '^ok  *preload .* has liballreduce.so, where the dynamic linker finds /' \
    LD_LIBRARY_PATH="${library%/*}" LD_PRELOAD=liballreduce.so "$allreduce" doctor
expect_limited_end "no such preload" 1 '^wrong  *preload .*/nowhere/x.so: No such file' \
    LD_PRELOAD=/nowhere/x.so "$allreduce" doctor
expect_limited_end "no such program" 1 '^wrong  *program .*nosuch: not found in PATH' "$allreduce" doctor nosuch
printf '\177ELF' >"$scratch/static"
head -c 8 "$few_calls" | tail -c 4 >>"$scratch/static"
head -c 120 /dev/zero >>"$scratch/static"
chmod +x "$scratch/static"
expect_limited_end "a static program" 1 '^wrong  *program .*statically linked' "$allreduce" doctor "$scratch/static"
# shellcheck disable=SC2016
expect_limited_end "few open files" 0 '^warning  limits  *only 64 open files' \
    sh -c 'ulimit -n 64 && exec "$0" doctor' "$allreduce"
# Of Python what its mpi4py is linked with counts: here an MPI program in that place.
if [ -x /usr/bin/python3 ]; then
    mkdir "$scratch/mpi4py"
    : >"$scratch/mpi4py/__init__.py"
    cp "$few_calls" "$scratch/mpi4py/MPI.so"
    expect_limited_end "Python's MPI" 0 "^ok  *program  .*/mpi4py/MPI.so takes the library" \
        PYTHONPATH="$scratch" "$allreduce" doctor /usr/bin/python3
else
    echo "no /usr/bin/python3: what Python loads is left out"
fi
# Nothing else runs, whatever it is called.
printf '#!/bin/sh\ntouch "%s"\n' "$scratch/has_run" >"$scratch/python3"
chmod +x "$scratch/python3"
expect_limited_end "a script called python3" 0 '^note  *program .*python3 is not an ELF file' "$allreduce" doctor "$scratch/python3"
! [ -e "$scratch/has_run" ] || fail "doctor ran the program"

# Each finding with the question that it answers, as JSON, which a program can read.
expect_limited_end "JSON" 1 '^{"format": 1, "verdict": "wrong",$' ALLREDUCE_ALGO=rinng "$allreduce" doctor --json
grep -q '"question": "Does the library understand its variables?"' "$scratch/out" || fail "JSON without the question"
if [ -x /usr/bin/python3 ]; then
    /usr/bin/python3 -c 'import json, sys
for check in json.load(sys.stdin)["checks"]:
    assert sorted(check) == ["advice", "check", "question", "text", "verdict"], check
    assert check["question"].endswith("?"), check' <"$scratch/out" || fail "not the JSON of the manual"
fi
exit $failed
