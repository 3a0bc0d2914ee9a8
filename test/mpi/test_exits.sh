#!/bin/sh
# Programs that begin and end MPI in unusual ways end as they do without the library.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# compare WHAT [VARIABLE=VALUE...]: the program ends with the native status.
compare() {
    what=$1
    shift
    # Where one rank leaves early, MPICH's launcher ends the others, and at times mixes what they ended with into its status.
    for _ in 1 2 3; do
        # shellcheck disable=SC2086 # what may be two words
        preload 2 "$@" "$programs/exits" $what >"$scratch/out" 2>&1
        ours=$?
        # shellcheck disable=SC2086
        launch 2 "$programs/exits" $what >"$scratch/native" 2>&1
        native=$?
        [ "$native" -ne "$ours" ] || break
    done
    if [ "$native" -ne "$ours" ]; then
        fail "$what: exit status $ours, native $native"
        cat "$scratch/out"
    else
        echo "ok: $what, status $ours"
    fi
}

for what in never thread delete_callback first_at_end session; do
    compare $what ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring
    case $what in
    thread | delete_callback) expect_calls "$what" ring 1 ;;
    session) [ "$ours" -eq 77 ] || expect_calls session ring 5 ;;
    never)
        if [ "$(grep -c 'liballreduce' "$scratch/out")" -ne 1 ] || ! grep -q 'no call of MPI_Allreduce has arrived' "$scratch/out"; then
            fail "a program without an allreduce did not hear just that: $(cat "$scratch/out")"
        fi
        ;;
    esac
done

# A rank that leaves without MPI_Finalize does not keep others from ending that end natively. It writes its part of the
# statistics if exit runs, which MPI_Abort may call.
limit=30
mkdir "$scratch/folder"
for what in _exit exit 'exit one' '_exit one' 'abort one' 'quick_exit one' 'signal one' 'mpi_abort one'; do
    compare "$what" ALLREDUCE_ALGO=shm ALLREDUCE_STATS="$scratch/folder/stats"
    left=$(cd "$scratch/folder" && echo *)
    case $what:$left in
    exit:stats.rank* | 'exit one:stats.rank1') ;; # the launcher may be quicker than the second rank
    exit* | [!m]*:[!*]* | mpi_abort*:stats.rank0*) fail "$what: left '$left'" ;;
    esac
    [ "$left" = '*' ] || [ "$(grep -l 'MPI_SUM' "$scratch"/folder/* | wc -l)" -eq "$(echo "$left" | wc -w)" ] ||
        fail "$what: statistics without the call"
    find "$scratch/folder" -mindepth 1 -delete
done

# Nor does a job that is killed as a whole.
# shellcheck disable=SC2086 # MPIEXEC may hold options
setsid timeout "$limit" $MPIEXEC -n 3 env LD_PRELOAD="$library" ALLREDUCE_ALGO=shm \
    "$programs/few_calls" forever >"$scratch/out" 2>&1 &
job=$!
while ! grep -q begun "$scratch/out" && kill -0 $job 2>/dev/null; do
    sleep 0.1
done
grep -q begun "$scratch/out" || fail "the program to be killed did not begin"
kill -s KILL -- "-$job" || fail "the program could not be killed"
wait $job 2>/dev/null
expect_no_files "a killed program"
exit $failed
