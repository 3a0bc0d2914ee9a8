#!/bin/sh
# Programs that do uncommon things around an allreduce end as they do natively, whatever runs.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=30
fault=$PWD/test/mpi/.libs/fault_mpi.so

# expect_end WHAT LINES COMMAND...: the job ends by itself, with an error, which at least one and at
# most so many lines tell.
expect_end() {
    what=$1
    lines=$2
    shift 2
    "$@" >"$scratch/out" 2>&1 </dev/null
    case $? in
    0) fail "$what was taken" ;;
    124 | 137) fail "$what: the job hung" ;;
    esac
    told=$(grep -c '^liballreduce: ALLREDUCE_ALGO' "$scratch/out")
    if [ "$told" -lt 1 ] || [ "$told" -gt "$lines" ]; then
        fail "$what: told $told times"
        cat "$scratch/out"
    fi
}

# A bad setting that is first met on another communicator than the world.
corners='dup split'
[ "$AR_MPI_FAMILY" = openmpi ] || corners="$corners session"
for corner in $corners; do
    expect_ok "$corner" preload 3 ALLREDUCE_ALGO=ring "$programs/corners" "$corner"
    # Of two parts of the world each may tell before the job ends.
    lines=$([ "$corner" = split ] && echo 2 || echo 1)
    expect_end "a bad setting, $corner" "$lines" preload 3 ALLREDUCE_ALGO=rinng "$programs/corners" "$corner"
done

for row in ring two_level auto; do
    expect_ok "$row while a copy is made" preload 3 ALLREDUCE_ALGO=$row "$programs/corners" idup
    expect_ok "$row of one buffer" preload 3 ALLREDUCE_ALGO=$row ALLREDUCE_VERIFY=1 "$programs/corners" one_buffer
done
expect_ok "an error handler that comes from the world" preload 2 "$programs/corners" handlers
expect_ok "a delete callback" preload 2 ALLREDUCE_STATS="$scratch/callback.jsonl" "$programs/corners" callback
expect_ok "a delete callback of watched calls" preload 2 ALLREDUCE_TIMEOUT=30 "$programs/corners" callback
expect_ok "a timeline while a copy is made" preload 3 ALLREDUCE_TRACE="$scratch/trace.json" "$programs/corners" idup

# Other libraries' attributes on MPI_COMM_SELF, with statistics to be gathered and without.
for ranks in 2 3; do
    expect_ok "an attribute on MPI_COMM_SELF" preload $ranks ALLREDUCE_ALGO=ring "$programs/corners" self
    expect_ok "the same with statistics" preload $ranks ALLREDUCE_ALGO=ring \
        ALLREDUCE_STATS="$scratch/stats" "$programs/corners" self
    grep -q "of all $ranks ranks\|$ranks ranks" "$scratch/stats" || {
        fail "the statistics of $ranks ranks were not gathered"
        cat "$scratch/stats"
    }
done

# Communicators used up: each rank writes a file of its own.  (Open MPI has too many to use them up.)
if [ "$AR_MPI_FAMILY" = mpich ]; then
    rm -f "$scratch"/stats*
    expect_ok "no communicators left" preload 2 ALLREDUCE_ALGO=ring ALLREDUCE_STATS="$scratch/stats" \
        "$programs/corners" exhausted
    for rank in 0 1; do
        [ -s "$scratch/stats.rank$rank" ] || fail "no communicators left: rank $rank wrote nothing"
    done
fi

# What made an engine fail leaves the memory of others alone.
expect_row "no engine" shm 3 launch 2 LD_PRELOAD="$fault:$library" FAULT_SPLIT=1 ALLREDUCE_VERBOSE=1 \
    ALLREDUCE_USER_OPS=cut ALLREDUCE_ALGO='shm:0-4K;ring' "$programs/corners" scratch
expect_calls "no engine" native 3

# What one rank alone cannot do ends the job: the others wait for it.  An instrumented program has the sanitizer's
# aligned_alloc, before any that is preloaded.
without_memory() {
    if [ -z "${INSTRUMENTED-}" ]; then
        launch 3 LD_PRELOAD="$fault:$library" FAULT_MEMORY=1 "$@"
    else
        before="[ \$rank != 1 ] || export ASAN_OPTIONS=$ASAN_OPTIONS:max_allocation_size_mb=1:allocator_may_return_null=1"
        preload 3 "$@"
    fi
}
without_memory ALLREDUCE_ALGO=butterfly "$programs/corners" memory >"$scratch/out" 2>&1
status=$?
before=
case $status in
0 | 124 | 137) fail "no memory on one rank: exit status $status" ;;
esac
[ "$(grep -c '^liballreduce: rank 1 has no memory for' "$scratch/out")" -eq 1 ] || {
    fail "no memory on one rank: not told once"
    cat "$scratch/out"
}

# After an error ranks are out of step: calls end with it rather than with a wrong result.
expect_ok "after an error" launch 2 LD_PRELOAD="$fault:$library" FAULT_SEND=1 FAULT_AT=1 \
    ALLREDUCE_TRANSPORT=mpi ALLREDUCE_ALGO=butterfly "$programs/corners" error

# MPICH itself does not survive it.
[ "$AR_MPI_FAMILY" = mpich ] ||
    expect_row "a jump out of a call" ring 7 preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_TIMEOUT=0.2,abort \
        ALLREDUCE_ALGO=ring "$programs/corners" jump

# What is kept for later communicators is bounded, and leaves room for new ones.  (Ranks of MPICH keep their cores busy.)
[ "${COMMON_TESTS:-yes}" != yes ] || expect_row "all sets of ranks" shm 15 preload 5 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=shm "$programs/corners" sets
if [ "$AR_MPI_FAMILY" != mpich ]; then
    expect_ok "many groups" preload 9 ALLREDUCE_VERBOSE=2 ALLREDUCE_TRANSPORT=mpi ALLREDUCE_ALGO=ring "$programs/corners" groups
    ! grep -q 'no private communicator' "$scratch/out" || fail "many groups: not all are served: $(grep private "$scratch/out")"
    expect_calls "many groups" ring 200
fi

# A thread of 20 KiB suffices for the first calls, as natively.  MPICH itself takes more, and so do sanitizers.
printf 'ring\n' >"$scratch/rules"
for settings in ALLREDUCE_WAIT=auto 'ALLREDUCE_ALGO=ring ALLREDUCE_TRANSPORT=mpi' ALLREDUCE_VERIFY=1 \
    "ALLREDUCE_RULES=$scratch/rules ALLREDUCE_LEVELS=numa+socket" 'ALLREDUCE_DETERMINISM=order ALLREDUCE_TUNE=online' \
    "ALLREDUCE_VERBOSE=1 ALLREDUCE_STATS=$scratch/stats.json ALLREDUCE_TRACE=$scratch/trace.json ALLREDUCE_TIMEOUT=30" \
    "ALLREDUCE_ALGO_LIST=ring,butterfly ALLREDUCE_MODEL=fat-tree"; do
    if [ "$AR_MPI_FAMILY" != openmpi ] || [ -n "${INSTRUMENTED-}" ]; then
        break
    fi
    # shellcheck disable=SC2086 # words
    expect_ok "little stack, $settings" preload 2 $settings "$programs/corners" stack
    awk '/ bytes of stack$/ && $4 <= 20480 { n++ } END { exit n != 2 }' "$scratch/out" ||
        fail "little stack, $settings: $(grep ' bytes of stack$' "$scratch/out")"
done

# Files are where they were named, and have the process in their names.
(
    cd "$scratch" || exit 1
    expect_ok "another folder" preload 2 ALLREDUCE_TUNE=online ALLREDUCE_TUNE_DUMP=dump.%p \
        ALLREDUCE_TUNE_OVERHEAD=100 ALLREDUCE_STATS=stats.%p "$programs/corners" folders
    [ $failed = 0 ]
) || failed=1
for file in dump stats; do
    ls "$scratch/$file".[0-9]* >/dev/null 2>&1 || fail "another folder: no $file.PID"
done
for name in STATS TUNE_DUMP; do
    preload 1 ALLREDUCE_TUNE=online ALLREDUCE_$name=file "$programs/corners" gone >"$scratch/out" 2>&1
    grep -q "^liballreduce: ALLREDUCE_$name: column 1: cannot write 'file': No such file" "$scratch/out" || {
        fail "a folder that is gone: ALLREDUCE_$name is not told"
        cat "$scratch/out"
    }
done
exit $failed
