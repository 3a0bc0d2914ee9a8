#!/bin/sh
# Each call is counted, up to the end of MPI.  Messages and files come once, from the ranks, and not from processes that
# the ranks have started. These have inherited nothing from us except the variable LD_PRELOAD.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=30
mkdir "$scratch/folder"

# expect_once WHAT CALLS: checks this by the summary and by the files in the folder.
expect_once() {
    reports=$(grep -c 'calls of rank' "$scratch/out")
    [ "$reports" -eq 1 ] || fail "$1: $reports reports"
    [ "$(calls_of "$algorithm")" -eq "$2" ] || fail "$1: $(calls_of "$algorithm") calls"
    [ "$(cd "$scratch/folder" && echo *)" = "stats.jsonl trace.json" ] || fail "$1: left $(ls -a "$scratch/folder")"
    grep -q "\"calls\": $((2 * $2)), " "$scratch/folder/stats.jsonl" || fail "$1: not $2 calls of 2 ranks in the statistics"
    find "$scratch/folder" -mindepth 1 -delete
}

children="fork exec vfork spawn system popen"
for algorithm in ring shm; do
    for what in at_exit "$children" daemon; do
        calls=$((1 + $(echo "$what" | wc -w) + $(echo "$what" | grep -c -v at_exit)))
        # shellcheck disable=SC2086 # what may be several
        expect_row "$what" $algorithm 2 preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=$algorithm ALLREDUCE_TIMEOUT=20 \
            ALLREDUCE_STATS="$scratch/folder/stats.jsonl" ALLREDUCE_STATS_SIGNAL=USR1 \
            ALLREDUCE_TRACE="$scratch/folder/trace.json" "$programs/endings" $what
        expect_once "$what, $algorithm" "$calls"
    done
    # The grandchildren of the last case end now.
    sleep 1
    [ -z "$(ls -A "$scratch/folder")" ] || fail "daemon: wrote $(ls -A "$scratch/folder")"
done

# A command of ours that a rank starts is no rank: where it fails, or could not but take the rank's place, the job goes on.
fails=
for subcommand in bench tune model doctor run; do
    fails="$fails $PWD/allreduce $subcommand --nonsense && exit 0;"
    # Open MPI's ranks have no such connection, and MPI_Init of a rank's child does what it does natively.
    [ "$AR_MPI_FAMILY" != mpich ] || [ $subcommand = run ] || fails="$fails timeout 20 $PWD/allreduce $subcommand && exit 0; [ \$? -ne 124 ] || exit 0;"
done
expect_ok "commands that ranks start" launch 2 FAILS="$fails exit 1" "$programs/endings" fails
exit $failed
