#!/bin/sh
# A rank that is killed at any moment leaves no file, no process and no shared memory, and its job ends as soon as it
# does natively.  After SIGTERM or SIGINT, a file of statistics or of events is complete, or is what was there before.
# Open MPI's launcher does not always end after its ranks, natively either (doc/reliability.md): a job ends with them.
# KILLS_MOMENTS: how many of the library's requests to the system are such moments, in each of four kinds of jobs.
# KILLS_TIMED: how many moments in time are drawn in addition.
# KILLS_SEED: selects other moments.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=40
patience=${PATIENCE:-1}
moments=${KILLS_MOMENTS:-6}
timed=${KILLS_TIMED:-3}
seed=${KILLS_SEED:-1}
inject=$programs/.libs/fault_system.so
out=$scratch/folder
TMPDIR=$scratch/tmp
export TMPDIR
mkdir "$out" "$TMPDIR"
# Processes are found by this name.
ln -s "$programs/few_calls" "$scratch/struck"
slowest=0
native_slowest=0
struck=0
launches=0
stuck=0
native_stuck=0

# processes: the ids of the program's processes that are left. Those that have ended but were not waited for have no
# command line.
processes() {
    pgrep -f "^$scratch/struck"
}

# expect_gone WHAT: a moment later no process is left.
expect_gone() {
    for _ in $(seq 50); do
        processes >/dev/null || return 0
        sleep 0.1
    done
    fail "$1: processes are left: $(processes)"
    # shellcheck disable=SC2046 # ids
    kill -s KILL $(processes)
}

# is_whole FILE: the file is what was there before, or a complete new one.
is_whole() {
    [ "$(cat "$1")" != old ] || return 0
    case $1 in
    *trace*) [ "$(tail -c 2 "$1")" = '}' ] || [ "$(tail -c 3 "$1")" = ']}' ] ;;
    *) [ "$(head -c 10 "$1")" = '{"format":' ] && [ -z "$(tail -c 1 "$1")" ] && [ "$(grep -c '"call"' "$1")" -ge 1 ] ;;
    esac
}

# expect_clean WHAT: the folders hold nothing of ours except complete files with the names that were asked for, or one that
# was about to replace an old one.
expect_clean() {
    expect_gone "$1"
    for file in "$out"/.allreduce-*; do
        [ ! -e "$file" ] || [ "$(cat "$out/old.jsonl" 2>&1)" != old ] || ! is_whole "$file" || rm "$file"
    done
    find "$out" "$TMPDIR" -name '*allreduce*' >"$scratch/found"
    [ ! -s "$scratch/found" ] || fail "$1: left $(cat "$scratch/found")"
    for file in "$out"/*; do
        [ ! -e "$file" ] || is_whole "$file" || {
            fail "$1: $file is not whole:"
            tail -n 3 "$file"
        }
    done
    find "$out" "$TMPDIR" -mindepth 1 -delete
}

# end_stuck_launcher: kills the launcher when it has had no ranks for 10 s; leaves in $scratch/ended since when.
end_stuck_launcher() {
    alone=0
    while [ $alone -lt $((10 * patience)) ] && sleep 1; do
        alone=$((alone + 1))
        ! processes >/dev/null || alone=0
        [ $alone -ne 1 ] || date +%s%N >"$scratch/since"
    done
    mv "$scratch/since" "$scratch/ended"
    pkill -KILL -f " $scratch/struck"
}

# strike WHAT RANKS VARIABLE=VALUE...: one launch, in which one rank gets a signal; sets $took to its milliseconds.
strike() {
    what=$1
    count=$2
    shift 2
    rm -f "$scratch/ended"
    watcher=
    if [ "$AR_MPI_FAMILY" = openmpi ]; then
        end_stuck_launcher &
        watcher=$!
    fi
    begun=$(date +%s%N)
    # shellcheck disable=SC2086 # goes_on may be empty
    launch "$count" "$@" "$scratch/struck" $goes_on >"$scratch/out" 2>&1
    status=$?
    ended=$(date +%s%N)
    if [ -e "$scratch/ended" ]; then
        echo "$what: all ranks ended, the launcher did not"
        stuck=$((stuck + 1))
        ended=$(cat "$scratch/ended")
    elif [ "$watcher" ]; then
        kill "$watcher"
    fi
    took=$(((ended - begun) / 1000000))
    launches=$((launches + 1))
    case $status in
    124 | 137) [ $took -lt $((limit * patience * 1000)) ] || fail "$what: did not end" ;;
    esac
    expect_clean "$what"
}

# strike_all SIGNAL RANK RANKS VARIABLE=VALUE...: strikes at one after another of the requests that an undisturbed job
# makes.
strike_all() {
    signal=$1
    victim=$2
    count=$3
    shift 3
    strike "let alone: $*" "$count" LD_PRELOAD="$inject:$library" INJECT_TELL=1 INJECT_RANK="$victim" INJECT_AT=-1 "$@"
    requests=$(sed -n 's/^asked: //p' "$scratch/out")
    { [ "$status" -eq 0 ] && [ "${requests:-0}" -gt 40 ]; } || {
        fail "let alone, $*: status $status: $(cat "$scratch/out")"
        return
    }
    step=$((requests > moments ? requests / moments : 1))
    at=$(((seed - 1) * 13 % step))
    before=$struck
    while [ $at -lt "$requests" ]; do
        [ "$signal" = 9 ] || echo old >"$out/old.jsonl"
        strike "signal $signal at request $at of rank $victim of $count: $*" "$count" LD_PRELOAD="$inject:$library" \
            INJECT_TELL=1 INJECT_RANK="$victim" INJECT_AT=$at INJECT_SIGNAL="$signal" "$@"
        [ $took -le $slowest ] || slowest=$took
        ! grep -q '^struck: ' "$scratch/out" || struck=$((struck + 1))
        at=$((at + step))
    done
    echo "signal $signal, rank $victim of $count, $*: $requests requests, $((struck - before)) of them struck"
    [ $struck -gt "$before" ] || fail "signal $signal, $*: nobody was struck"
}

# How long the launcher takes natively, at moments drawn from the set-up and the calls of a program that runs for ever.
goes_on=forever
times=$(awk -v seed="$seed" -v n="$timed" 'BEGIN { srand(seed); for (i = 0; i < n; i++) print int(rand() * 400000) }')
for moment in $times; do
    strike "natively, $moment us" 2 LD_PRELOAD="$inject" INJECT_RANK=1 INJECT_SIGNAL=9 INJECT_AFTER_US="$moment"
    [ $took -le $native_slowest ] || native_slowest=$took
done
native_launches=$launches
native_stuck=$stuck
for moment in $times; do
    for kind in 9:shm 15:ring; do
        strike "$kind after $moment us" 2 LD_PRELOAD="$inject:$library" INJECT_RANK=1 INJECT_SIGNAL=${kind%:*} \
            INJECT_AFTER_US="$moment" ALLREDUCE_ALGO=${kind#*:} ALLREDUCE_STATS="$out/stats.jsonl"
        [ $took -le $slowest ] || slowest=$took
    done
done

goes_on=
strike_all 9 0 2 ALLREDUCE_ALGO=shm ALLREDUCE_STATS="$out/stats.jsonl"
strike_all 9 2 3 ALLREDUCE_ALGO='ring' ALLREDUCE_TRANSPORT=mpi ALLREDUCE_TRACE="$out/trace.json"
strike_all 15 0 2 ALLREDUCE_ALGO='shm:0-1K;ring' ALLREDUCE_STATS="$out/old.jsonl"
strike_all 2 0 2 ALLREDUCE_ALGO=shm ALLREDUCE_TRACE="$out/trace.json"

expect_no_files "killed ranks"
echo "$launches launches, $native_launches of them native, $struck struck at a request; the slowest took $slowest ms, natively $native_slowest ms"
[ "$AR_MPI_FAMILY" != openmpi ] || echo "$stuck launchers stayed, $native_stuck of them of native jobs"
# Natively one in 64 does.
[ $((stuck * 8)) -le $launches ] || fail "$stuck launchers did not end after their ranks"
[ $slowest -le $((native_slowest + 10000 * patience)) ] || fail "a job took $slowest ms to end, natively $native_slowest ms at most"
exit $failed
