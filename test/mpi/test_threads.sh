#!/bin/sh
# Threads call at the same time, each on communicators of its own, and make and free others meanwhile, on two and three
# ranks: with more than one thread to a core, the scheduler finds the races.  Every result is exact, and statistics and
# the timeline know of every call.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

stats=$scratch/stats.jsonl
trace=$scratch/trace.json

launch 2 "$programs/threads" 0 >"$scratch/out" 2>&1
[ $? -ne 77 ] || {
    echo "this MPI has no MPI_THREAD_MULTIPLE"
    exit 77
}

# made: the calls of all ranks, as the program says.
made() {
    awk '/^made / { calls += $2 } END { print calls + 0 }' "$scratch/out"
}

# counted: the calls of all ranks, by the statistics.
counted() {
    sed -n 's/^{"call": "MPI_Allreduce".*"calls": \([0-9]*\),.*/\1/p' "$stats" | awk '{ calls += $1 } END { print calls + 0 }'
}

# traced: the calls of all ranks in the timeline.
traced() {
    grep -c '"cat": "call"' "$trace"
}

# threads RANKS ROW [VARIABLE=VALUE...]: the program, all of whose calls by algorithms run ROW.
threads() {
    on=$1
    row=$2
    shift 2
    title="$row on $on ranks $*"
    rm -f "$scratch"/stats* "$scratch"/trace*
    expect_row "$title" "$row" 600 preload "$on" ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO="$row" ALLREDUCE_STATS="$stats" \
        ALLREDUCE_TRACE="$trace,memory=64M" "$@" "$programs/threads" 150 || return
    [ "$(made)" -gt 0 ] || fail "$title: no calls"
    [ "$(made)" -eq "$(counted)" ] || fail "$title: $(made) calls, and $(counted) in the statistics"
    [ "$(made)" -eq "$(traced)" ] || fail "$title: $(made) calls, and $(traced) in the timeline"
}

for ranks in 2 3; do
    threads $ranks ring ALLREDUCE_TRANSPORT=mpi
    threads $ranks shm
    threads $ranks native
done
threads 3 butterfly
threads 3 double_tree
exit $failed
