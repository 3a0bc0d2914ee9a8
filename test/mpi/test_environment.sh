#!/bin/sh
# The environment of one rank or of all lacks something: shared memory, /proc, /sys, open files, file size, stack, CPUs,
# or the MPI library's communicators.  All calls are right, each runs as it says, and nothing is left in /dev/shm. A job
# that lacks memory during a call may end, with a message.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

inject=$PWD/test/mpi/.libs/fault_system.so
total=0
wrapper= # command before each rank's program

# expect_right NAME REASON [VARIABLE=VALUE...] STEP...: 2 ranks take these steps of the program. All calls are right,
# and rank 0's summary says that NAME ran them, for this reason.
expect_right() {
    name=$1
    reason=$2
    shift 2
    title="$*"
    variables=
    while :; do
        case $1 in
        [A-Z]*=*) variables="$variables $1" ;;
        *) break ;;
        esac
        shift
    done
    calls=0
    for step in "$@"; do
        case $step in
        world | fresh | thread=*) calls=$((calls + 6)) ;;
        esac
    done
    # shellcheck disable=SC2086 # several words
    expect_row "$title" "${name%%(*}" $calls launch 2 LD_PRELOAD="$inject:$library" ALLREDUCE_VERBOSE=1 $variables \
        $wrapper "$programs/environment" "$@" || return
    [ "$(grep -c "^rank [01]: $calls calls right, 0 errors" "$scratch/out"), $(grep -c " $name  *$reason$" "$scratch/out")" = "2, 1" ] || {
        fail "$title: not all calls are right by $name, $reason"
        cat "$scratch/out"
    }
    total=$((total + 2 * calls))
    echo "done: $title: $name, $reason"
}

# Each job has a /dev/shm of its own, where it must leave nothing, and its ranks may cover folders in namespaces of
# their own.
cat >"$scratch/alone" <<'END'
#!/bin/sh
mount -t tmpfs none /dev/shm || exit 1
"$@"
status=$?
left=$(find /dev/shm -name 'liballreduce-*')
[ -z "$left" ] || {
    echo "left: $left"
    exit 99
}
exit $status
END
chmod +x "$scratch/alone"
enter=
for options in -m -rm; do
    [ -n "$enter" ] || ! unshare $options true 2>/dev/null || enter="unshare $options $scratch/alone"
done
launcher=$MPIEXEC
MPIEXEC="$enter $launcher"

by_messages='no shared memory: by messages'

# No open file is left before the first call: calls must not need to open one.
export ALLREDUCE_ALGO=shm
expect_right shm "$by_messages" 0:files world fresh
expect_right shm "$by_messages" 1:files world fresh
expect_right shm named world 1:files world fresh

# Files may not be as large as the shared memory, and none may be written at the end.
expect_right shm named 1:size=0 world fresh
expect_right shm "$by_messages" ALLREDUCE_STATS="$scratch/statistics" ALLREDUCE_TRACE="$scratch/trace" size=0 world fresh
for name in STATS TRACE; do
    [ "$(grep -c "^liballreduce: ALLREDUCE_$name: cannot write .*: File too large" "$scratch/out")" -eq 1 ] ||
        fail "ALLREDUCE_$name: nobody says that it cannot be written: $(cat "$scratch/out")"
done

# Locked memory, CPUs and stack: as little as native calls need.
expect_right shm named locked=0 cpu=0 stack=262144 thread=262144 fresh

# MPICH has 2046 communicators. All are taken before the first call, after it, or by one rank.
if [ "$AR_MPI_FAMILY" = mpich ]; then
    expect_right shm named contexts world fresh
    expect_right native 'no private communicator' ALLREDUCE_ALGO=ring contexts world fresh
    expect_right ring named ALLREDUCE_ALGO=ring world contexts world fresh
    expect_right native 'no private communicator' ALLREDUCE_ALGO=ring 1:selves world fresh

    # A million bytes of address space, which suffice for MPICH's own calls.
    for rank in 0 1; do
        preload 2 "$programs/environment" $rank:space=+1000000 world fresh >"$scratch/out" 2>&1 </dev/null
        status=$?
        if is_ended $status; then
            echo "done: $rank:space=+1000000: the job ends"
        elif [ "$status, $(grep -c '^rank [01]: 12 calls right, 0 errors' "$scratch/out")" = "0, 2" ]; then
            echo "done: $rank:space=+1000000: $(grep -c 'calls right' "$scratch/out") ranks have gone on"
            total=$((total + 24))
        else
            fail "$rank:space=+1000000: exit status $status: $(cat "$scratch/out")"
        fi
    done
fi

[ -n "$enter" ] || {
    echo "no namespaces here, neither root's nor users': what /dev/shm, /proc and /sys lack is left out"
    echo "$total calls, all right"
    exit $failed
}

# If unnamed memory is refused, /dev/shm is used. It works, is full, is read-only, is absent, or differs between the
# ranks.
unnamed=INJECT_ALWAYS=memfd_create
expect_right shm named $unnamed world fresh
expect_right shm "$by_messages" $unnamed shm=size=4k world fresh
expect_right shm "$by_messages" $unnamed shm=ro world fresh
expect_right shm "$by_messages" $unnamed dev world fresh
expect_right shm "$by_messages" $unnamed 0:shm=size=64m world fresh
expect_right shm "$by_messages" $unnamed 1:shm=size=64m world fresh

# Without /proc, through which unnamed memory is found, the memory has a name, or there is none.
expect_right shm named 0:proc world fresh
expect_right shm named 1:proc world fresh
expect_right shm "$by_messages" 1:proc 1:shm=ro world fresh
expect_right ring named ALLREDUCE_ALGO=ring proc shm=ro world fresh

# Another host name, as on the hosts of a test cluster that share one /proc; and no /sys.
expect_right shm named 1:host world fresh
expect_right 'shm(levels=flat)' 'ranks are not bound: flat' ALLREDUCE_LEVELS=l3,numa,socket sys world fresh

# Containers on one host, which share its name and boot. Each has its own processes, /dev/shm and IPC. In one case, user
# rights keep a rank from the other's memory. The MPI library must be told to do without shared memory.
export UCX_TLS=tcp,self OMPI_MCA_btl=tcp,self
cat >"$scratch/contained" <<'END'
#!/bin/sh
exec unshare -m -p -f --mount-proc -u -i sh -c 'mount -t tmpfs none /dev/shm && exec "$@"' sh "$@"
END
cat >"$scratch/user" <<'END'
#!/bin/sh
[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 ] || exec unshare -U -r "$@"
exec "$@"
END
chmod +x "$scratch/contained" "$scratch/user"
# A process with the same number as rank 0, which exists in rank 1's own PID namespace, is not mistaken for rank 0. Here
# it even has memory of ours under each number that a file may have.
wrapper="unshare -p -f --mount-proc"
expect_right shm named 1:decoys world fresh
wrapper=$scratch/user
expect_right shm named world fresh

# A /proc that hides the processes that a rank may not look into (hidepid=2; it hides none from the group gid). Ranks
# without privileges, from which even the launcher is hidden, find each other's memory there. A rank with privileges is
# hidden from one without, so that its memory has a name, or there is none.
cat >"$scratch/hiding" <<'END'
#!/bin/sh
mount -t proc -o hidepid=2,gid=65534 none /proc && exec "$@"
END
cat >"$scratch/plain" <<'END'
#!/bin/sh
[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" -ge "$PLAIN_FROM" ] || exec "$@"
exec setpriv --inh-caps -all --bounding-set -all sh -c '[ ! -e /proc/1 ] && exec "$@"' sh "$@"
END
chmod +x "$scratch/hiding" "$scratch/plain"
MPIEXEC="$enter unshare -p -f --kill-child $scratch/hiding $launcher"
wrapper=$scratch/plain
only_unnamed=INJECT_ALWAYS=shm_open
expect_right shm named $only_unnamed PLAIN_FROM=0 world fresh
expect_right shm named PLAIN_FROM=1 world fresh
expect_right shm "$by_messages" $only_unnamed PLAIN_FROM=1 world fresh
MPIEXEC="$enter $launcher"

wrapper=$scratch/contained
export MPIR_CVAR_NOLOCAL=1
expect_right shm "$by_messages" world fresh
expect_right ring named ALLREDUCE_ALGO=ring world fresh

echo "$total calls, all right"
exit $failed
