#!/bin/sh
# A schedule that is written in a file runs in a job as algorithms do; what is not proved does not run, on any rank, and
# nobody waits for it.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=60
ring=${srcdir:-.}/demo/schedules/ring-5.schedule
with_ring="ALLREDUCE_ALGO=schedule(file=$ring)"
for ranks in 2 3 4 5; do
    ./allreduce explain ring -n $ranks --schedule >"$scratch/ring-$ranks" || fail "explain: exit $?"
done

# expect_native WHAT REASON COMMAND...: expect_ok, and calls went native for this reason, and none ran a schedule.
expect_native() {
    title=$1
    reason=$2
    shift 2
    expect_ok "$title" "$@" || return
    grep -q "native  *$reason\$" "$scratch/out" || fail "$title: not '$reason': $(grep '^liballreduce' "$scratch/out")"
    ! grep -q ' schedule:' "$scratch/out" || fail "$title: a schedule ran"
}

# Counts from 0 on, in place and not, every type and op, on communicators of all sizes.
expect_ok "a ring" preload 5 ALLREDUCE_VERBOSE=1 "$with_ring" "$programs/values" communicators
grep -q ' schedule:hand-ring#[0-9a-f]\{8\}  *named$' "$scratch/out" || fail "a ring: its name is not in the summary"
grep -q ' native  *schedule is not for [234] ranks$' "$scratch/out" || fail "a ring: not native on other numbers of ranks"
expect_ok "in segments" preload 5 ALLREDUCE_VERBOSE=1 ALLREDUCE_TRANSPORT=mpi \
    ALLREDUCE_ALGO="schedule(file=\"$ring\",segment=1K,window=3)" "$programs/values"
grep -q ' schedule:hand-ring#[0-9a-f]*(segment=1K,window=3)  *named$' "$scratch/out" || fail "in segments: not by its name"
expect_ok "a folder of rings" preload 5 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO="schedule(file=$scratch/ring-%n)" \
    "$programs/values" communicators
[ "$(grep -c ' schedule:ring#' "$scratch/out")" -ge 2 ] || fail "a folder of rings: $(cat "$scratch/out")"
expect_ok "in statistics" preload 5 ALLREDUCE_STATS="$scratch/stats.jsonl" "$with_ring" "$programs/repeat" 8
grep -q '"ran": *"schedule:hand-ring#' "$scratch/stats.jsonl" || fail "in statistics: $(head -n 5 "$scratch/stats.jsonl")"
expect_ok "report" ./allreduce report "$scratch/stats.jsonl"
grep -q 'schedule:hand-ring#' "$scratch/out" || fail "report: not by its name"

# What it may serve is as it was proved.
./allreduce explain butterfly -n 3 --schedule >"$scratch/butterfly" || fail "explain: exit $?"
expect_ok "an op that does not commute" preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_USER_OPS=cut \
    ALLREDUCE_ALGO="schedule(file=$scratch/ring-3)" "$programs/order"
grep -q 'native  *op does not commute$' "$scratch/out" || fail "an op that does not commute: $(cat "$scratch/out")"
expect_ok "in rank order" preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_USER_OPS=cut \
    ALLREDUCE_ALGO="schedule(file=$scratch/butterfly)" "$programs/order"
! grep -q 'not commute' "$scratch/out" || fail "in rank order: native"
expect_ok "whole vectors" preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO="schedule(file=$scratch/ring-3)" "$programs/order"
expect_native "bits of any size" determinism preload 5 ALLREDUCE_VERBOSE=1 ALLREDUCE_DETERMINISM=size "$with_ring" \
    "$programs/rounded_bits" double sum 100/same/
expect_ok "bits on any nodes" preload 5 ALLREDUCE_VERBOSE=1 ALLREDUCE_DETERMINISM=placement "$with_ring" \
    "$programs/rounded_bits" double sum 100/same/
grep -q ' schedule:hand-ring#' "$scratch/out" || fail "bits on any nodes: $(cat "$scratch/out")"

# What does not hold is told once, and native runs.
sed 's/recv r-k from/recv_reduce r-k from/' "$ring" >"$scratch/twice"
expect_native "a block that counts twice" 'schedule is refuted' preload 5 ALLREDUCE_VERBOSE=1 \
    ALLREDUCE_ALGO="schedule(file=$scratch/twice)" "$programs/repeat" 8
[ "$(grep -c "twice: line 9: refuted: rank . round 5" "$scratch/out")" -eq 1 ] || fail "twice: not told: $(cat "$scratch/out")"
sed 's/recv_reduce/recv_redcue/' "$ring" >"$scratch/word"
expect_native "a word" 'schedule is refuted' preload 5 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO="schedule(file=$scratch/word)" \
    "$programs/repeat" 8
grep -q "word: line 7, column 27: unknown word 'recv_redcue'" "$scratch/out" || fail "a word: $(cat "$scratch/out")"
expect_native "no file" 'no such schedule file' preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO="schedule(file=$scratch/none)" \
    "$programs/repeat" 8
grep -q 'none: no rank has this file' "$scratch/out" || fail "no file: not told"
expect_native "no number" 'schedule is not for 2 ranks' preload 2 ALLREDUCE_VERBOSE=1 \
    ALLREDUCE_ALGO="schedule(file=$scratch/none-%n)" "$programs/repeat" 8

# Hostile ones: too much to prove or to read, and no file at all.
sed 's/^\(ranks\|blocks\) 5/\1 2/; s/p-2/99999/' "$ring" >"$scratch/long"
expect_native "a long one" 'schedule is not proved in time' preload 2 ALLREDUCE_VERBOSE=1 \
    ALLREDUCE_ALGO="schedule(file=$scratch/long)" "$programs/repeat" 8
head -c 2000000 /dev/zero >"$scratch/zeros"
mkfifo "$scratch/fifo"
for name in zeros fifo .; do
    expect_ok "$name" preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO="schedule(file=$scratch/$name)" "$programs/repeat" 8
    ! grep -q ' schedule:' "$scratch/out" || fail "$name: a schedule ran"
done

# Where rank 0 has no such file, another rank's counts.
mkdir "$scratch/with" "$scratch/without"
cp "$ring" "$scratch/with/mine"
# shellcheck disable=SC2016 # for the ranks' shells
before='if [ "$rank" = 1 ]; then cd "'$scratch'/with"; else cd "'$scratch'/without"; fi'
expect_ok "on rank 1 alone" preload 5 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO='schedule(file=mine)' "$programs/repeat" 8
grep -q ' schedule:hand-ring#' "$scratch/out" || fail "on rank 1 alone: $(cat "$scratch/out")"
before=

# Before the job, and measured in one.
expect_ok "run" launch 5 ./allreduce run -v --algo "schedule(file=$ring)" "$programs/repeat" 8
grep -q ' schedule:hand-ring#' "$scratch/out" || fail "run: $(cat "$scratch/out")"
expect_end "run refuses" any 'twice: line 9: refuted: ' launch 5 ./allreduce run --algo "schedule(file=$scratch/twice)" "$programs/repeat" 8
cp "$ring" "$scratch/a;ring"
expect_ok "bench" launch 5 ./allreduce bench -q --json -t 0.01 -s 1K -a "schedule(file=\"$scratch/a;ring\");schedule(file=$scratch/ring-3)"
grep -q 'schedule(file=\\".*a;ring\\")' "$scratch/out" || fail "bench: $(cat "$scratch/out")"
grep -q '"reason": *"schedule is not for 5 ranks"' "$scratch/out" || fail "bench: no reason: $(cat "$scratch/out")"
exit $failed
