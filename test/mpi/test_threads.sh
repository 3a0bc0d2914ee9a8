#!/bin/sh
# Threads make calls at the same time, each on communicators of its own, and create and free others meanwhile, on two
# and on three ranks: with more than one thread per core, the scheduler finds the races.  Every result is exact, and
# statistics and the timeline contain every call.  THREADS_STEPS is the number of steps of each thread.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

stats=$scratch/stats.jsonl
trace=$scratch/trace.json
set -- shm ring butterfly double_tree native

launch 2 "$programs/threads" 0 >"$scratch/out" 2>&1
[ $? -ne 77 ] || {
    echo "this MPI has no MPI_THREAD_MULTIPLE"
    exit 77
}

# made: the calls of all ranks, as the program counts them.
made() {
    awk '/^made / { calls += $2 } END { print calls + 0 }' "$scratch/out"
}

# counted: the calls of all ranks in the statistics.
counted() {
    sed -n 's/^{"call": "MPI_Allreduce".*"calls": \([0-9]*\),.*/\1/p' "$stats" | awk '{ calls += $1 } END { print calls + 0 }'
}

# traced: the calls of all ranks in the timeline.
traced() {
    grep -c '"cat": "call"' "$trace"
}

for ranks in 2 3; do
    for transport in auto mpi; do
        title="$ranks ranks, transport $transport"
        rm -f "$scratch"/stats* "$scratch"/trace*
        expect_ok "$title" preload $ranks ALLREDUCE_VERBOSE=1 ALLREDUCE_TRANSPORT=$transport ALLREDUCE_ALGO="$(rules_of "$@")" \
            ALLREDUCE_STATS="$stats" ALLREDUCE_TRACE="$trace,memory=64M" "$programs/threads" "${THREADS_STEPS:-40}" || continue
        for row in "$@"; do
            expect_calls "$title" "$row" 10
        done
        [ "$(made)" -gt 0 ] || fail "$title: no calls"
        [ "$(made)" -eq "$(counted)" ] || fail "$title: $(made) calls, and $(counted) in the statistics"
        [ "$(made)" -eq "$(traced)" ] || fail "$title: $(made) calls, and $(traced) in the timeline"
    done
done

# A thread frees communicators of a session, and so has statistics gathered, while another one makes calls.
title=sessions
rm -f "$scratch"/stats*
preload 1 ALLREDUCE_STATS="$stats" "$programs/sessions" threads >"$scratch/out" 2>&1
status=$?
case $status in
0)
    [ $(($(made) + 2100)) -eq "$(counted)" ] || fail "$title: $(made) and 2100 calls, and $(counted) in the statistics"
    grep -q "\"sizes\": \[\[8, 2100, [0-9]*\], \[12, $(made), [0-9]*\]\]" "$stats" || {
        fail "$title: not 2100 calls of 8 bytes and $(made) of 12"
        cut -c 1-500 "$stats"
    }
    ;;
77) ;;
*)
    fail "$title: ended with $status"
    cat "$scratch/out"
    ;;
esac

# No key of ours outlives the communicators of sessions, whatever threads make and free at the same time.
[ $status -eq 77 ] || expect_ok "keys" preload 1 ALLREDUCE_TIMEOUT=30 "$programs/sessions" keys
[ $status -eq 77 ] || [ "$(awk '/^made / { print $2 }' "$scratch/out")" -ge 9 ] || fail "keys: only $(cat "$scratch/out")"
exit $failed
