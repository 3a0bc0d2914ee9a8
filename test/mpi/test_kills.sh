#!/bin/sh
# A rank that is killed at any moment leaves no file, no process and no shared memory, and its job ends as soon as it
# does natively.  One that gets SIGTERM or SIGINT leaves a whole file of statistics or of events, or what was there.
# KILLS_STEP: one in so many of the library's requests to the system is such a moment (all: 1); KILLS_TIMED: so many more
# moments are drawn.  KILLS_SEED: for other ones.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=40
step=${KILLS_STEP:-47}
timed=${KILLS_TIMED:-3}
seed=${KILLS_SEED:-1}
inject=$programs/.libs/inject.so
out=$scratch/folder
TMPDIR=$scratch/tmp
export TMPDIR
mkdir "$out" "$TMPDIR"
# By this name its processes are found.
ln -s "$programs/pings" "$scratch/struck"
files >"$scratch/files_before"
slowest=0
native_slowest=0
struck=0
launches=0

# processes: the ids of the program's that are left; ended ones that nobody has waited for have no command line.
processes() {
    pgrep -f "^$scratch/struck"
}

# expect_gone WHAT: no process is left a moment later.
expect_gone() {
    for _ in $(seq 50); do
        processes >/dev/null || return 0
        sleep 0.1
    done
    fail "$1: processes are left: $(processes)"
    # shellcheck disable=SC2046 # ids
    kill -s KILL $(processes)
}

# is_whole FILE: what was there before, or all of a new one.
is_whole() {
    [ "$(cat "$1")" != old ] || return 0
    case $1 in
    *trace*) [ "$(tail -c 2 "$1")" = '}' ] || [ "$(tail -c 3 "$1")" = ']}' ] ;;
    *) [ "$(head -c 10 "$1")" = '{"format":' ] && [ -z "$(tail -c 1 "$1")" ] && [ "$(grep -c '"call"' "$1")" -ge 1 ] ;;
    esac
}

# expect_clean WHAT: nothing of ours is in the folders but whole files of the names that were asked for.
expect_clean() {
    expect_gone "$1"
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

# strike WHAT RANKS VARIABLE=VALUE...: one launch, of which one rank gets a signal; milliseconds in $took.
strike() {
    what=$1
    count=$2
    shift 2
    begun=$(date +%s%N)
    launch "$count" "$@" "$scratch/struck" >"$scratch/out" 2>&1
    status=$?
    took=$((($(date +%s%N) - begun) / 1000000))
    launches=$((launches + 1))
    case $status in
    124 | 137) [ $took -lt $((limit * 1000)) ] || fail "$what: did not end" ;;
    esac
    expect_clean "$what"
}

# strike_all SIGNAL RANK RANKS VARIABLE=VALUE...: at one request after the other, until the job ends by itself.
strike_all() {
    signal=$1
    victim=$2
    count=$3
    shift 3
    at=$(((seed - 1) * 13 % step))
    while :; do
        [ "$signal" = 9 ] || echo old >"$out/old.jsonl"
        what="signal $signal at request $at of rank $victim of $count: $*"
        strike "$what" "$count" LD_PRELOAD="$inject:$library" INJECT_TELL=1 INJECT_RANK="$victim" INJECT_AT=$at \
            INJECT_SIGNAL="$signal" "$@"
        [ $took -le $slowest ] || slowest=$took
        grep -q '^struck: ' "$scratch/out" || break
        struck=$((struck + 1))
        at=$((at + step))
    done
    [ "$status" -eq 0 ] || fail "$what: nobody was struck, and it ended with $status: $(cat "$scratch/out")"
    echo "signal $signal, rank $victim of $count, $*: $at requests or fewer, one in $step struck"
    requests=$at
}

# How long the launcher takes natively, at moments drawn from those of a whole run.
moments=$(awk -v seed="$seed" -v n="$timed" 'BEGIN { srand(seed); for (i = 0; i < n; i++) print int(rand() * 400000) }')
for moment in $moments; do
    strike "natively, $moment us" 2 LD_PRELOAD="$inject" INJECT_RANK=1 INJECT_SIGNAL=9 INJECT_AFTER_US="$moment"
    [ $took -le $native_slowest ] || native_slowest=$took
done
for moment in $moments; do
    for algorithm in shm ring; do
        strike "$algorithm, killed after $moment us" 2 LD_PRELOAD="$inject:$library" INJECT_RANK=1 INJECT_SIGNAL=9 \
            INJECT_AFTER_US="$moment" ALLREDUCE_ALGO=$algorithm ALLREDUCE_STATS="$out/stats.jsonl"
        [ $took -le $slowest ] || slowest=$took
    done
done

strike_all 9 0 2 ALLREDUCE_ALGO=shm ALLREDUCE_STATS="$out/stats.jsonl"
[ $requests -gt 40 ] || fail "only $requests requests"
strike_all 9 2 3 ALLREDUCE_ALGO='ring' ALLREDUCE_TRANSPORT=mpi ALLREDUCE_TRACE="$out/trace.json"
strike_all 15 0 2 ALLREDUCE_ALGO='shm:0-1K;ring' ALLREDUCE_STATS="$out/old.jsonl"
strike_all 2 0 2 ALLREDUCE_ALGO=shm ALLREDUCE_TRACE="$out/trace.json"

files | comm -13 "$scratch/files_before" - >"$scratch/files_new"
[ ! -s "$scratch/files_new" ] || expect_no_files "killed ranks"
echo "$launches launches, $struck struck at a request; the slowest took $slowest ms, natively $native_slowest ms"
[ $slowest -le $((native_slowest + 10000)) ] || fail "a job took $slowest ms to end, natively $native_slowest ms at most"
exit $failed
