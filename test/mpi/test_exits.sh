#!/bin/sh
# Programs that begin and end MPI in unusual ways end as they do without the library.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

for what in never thread no_finalize exit delete_callback session; do
    preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring "$programs/exits" $what >"$scratch/out" 2>&1
    ours=$?
    # Where one rank leaves early, MPICH's launcher ends the others, and seldom says 1 for what that one ended with.
    for _ in 1 2 3; do
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
    case $what in
    thread | exit | delete_callback) expect_calls $what ring 1 ;;
    session) [ $ours -eq 77 ] || expect_calls session ring 5 ;;
    never)
        if grep 'liballreduce' "$scratch/out"; then
            fail "a program without an allreduce heard of us"
        fi
        ;;
    esac
done

# Under shared memory, a program that leaves early or is killed leaves no file.
for what in no_finalize exit; do
    preload 2 ALLREDUCE_ALGO=shm "$programs/exits" $what >"$scratch/out" 2>&1
done
# shellcheck disable=SC2086 # MPIEXEC may hold options
setsid timeout "$limit" $MPIEXEC -n 3 env LD_PRELOAD="$library" ALLREDUCE_ALGO=shm \
    "$programs/pings" forever >"$scratch/out" 2>&1 &
job=$!
while ! grep -q begun "$scratch/out" && kill -0 $job 2>/dev/null; do
    sleep 0.1
done
grep -q begun "$scratch/out" || fail "the program to be killed did not begin"
kill -s KILL -- "-$job" || fail "the program could not be killed"
wait $job 2>/dev/null
expect_no_files "a killed program"
exit $failed
