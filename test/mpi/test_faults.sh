#!/bin/sh
# One thing after the other that the library asks of the system is refused on one rank: memory, a mapping, a file, a thread.
# Each call's result is right, or it is an error on all ranks alike, or the job ends and a message says why: no rank hangs,
# crashes or takes a wrong result.  One in FAULTS_STEP is refused here; all with FAULTS_STEP=1.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=30
step=${FAULTS_STEP:-17}
inject=$PWD/test/mpi/.libs/fault_system.so

# refuse_on VICTIM VARIABLE=VALUE...: in one launch behind the other, since a job may end; each goes on behind the last.
# The program chooses $clauses, if there are any, for its communicator.
clauses=
refuse_on() {
    victim=$1
    shift
    at=0
    ended=0
    while [ $at -ge 0 ]; do
        launch 2 LD_PRELOAD="$inject:$library" INJECT_TELL=1 "$@" "$programs/faults" "$victim" "$at" "$step" \
            ${clauses:+"$clauses"} >"$scratch/out" 2>&1
        status=$?
        last=$(sed -n 's/^refusing \([0-9]*\)$/\1/p' "$scratch/out" | tail -n 1)
        if [ $status -eq 0 ] && grep -q '^nothing left to refuse$' "$scratch/out"; then
            at=-1
        elif [ -n "$last" ] && is_ended $status; then
            at=$((last + step))
            ended=$((ended + 1))
        else
            fail "$*, rank $victim: exit status $status"
            tail -n 20 "$scratch/out"
            at=-1
        fi
    done
    echo "$*, rank $victim: $last asked or fewer, one in $step refused; $((last / step - ended)) went on, $ended ended the job"
}

# What a communicator needs, even for native calls: the other rank waits for it.
all=$step
step=1
refuse_on 0 ALLREDUCE_ALGO=native
[ "$last" -ge 2 ] || fail "refused for a communicator: only $last"
step=$all
launch 2 LD_PRELOAD="$inject:$library" ALLREDUCE_ALGO=native "$programs/faults" 1 0 1 >"$scratch/out" 2>&1
is_ended $? || fail "refused for a communicator: the job did not end"
grep -q '^liballreduce: rank 1 has no memory for an allreduce of 1 elements, and the other ranks already wait for it' "$scratch/out" ||
    fail "nobody says that a rank has no memory: $(cat "$scratch/out")"

refuse_on 0 ALLREDUCE_ALGO=shm ALLREDUCE_STATS="$scratch/statistics"
[ "$last" -gt 20 ] || fail "hardly anything was refused"
refuse_on 1 ALLREDUCE_ALGO=ring ALLREDUCE_TRANSPORT=mpi ALLREDUCE_VERIFY=1
[ "$last" -gt 20 ] || fail "hardly anything was refused"

# What the program chooses, which takes few requests.
step=$((all / 4 + 1))
clauses=native
refuse_on 0
refuse_on 1
clauses=
# What ranks agree on between calls.
step=$((all * 2 - 1))
refuse_on 1 ALLREDUCE_TUNE=online ALLREDUCE_TUNE_OVERHEAD=100

# refuse_from_start VARIABLE=VALUE...: what is refused while MPI starts and ends, and in the first calls of all.
refuse_from_start() {
    at=0
    while :; do
        launch 2 LD_PRELOAD="$inject:$library" INJECT_TELL=1 INJECT_RANK=1 INJECT_AT=$at "$@" "$programs/few_calls" >"$scratch/out" 2>&1
        status=$?
        grep -q '^refused: ' "$scratch/out" || break
        [ $status -eq 0 ] || is_ended $status || {
            fail "$*, refused $at from the start on: exit status $status"
            cat "$scratch/out"
        }
        at=$((at + step))
    done
    [ $at -ge 36 ] || fail "$*, from the start on $at were asked"
}

refuse_from_start
refuse_from_start ALLREDUCE_ALGO=ring ALLREDUCE_TRANSPORT=mpi
exit $failed
