#!/bin/sh
# allreduce tune under the launcher: writes rules that are read back, goes on after a kill, checks
# rules, and tells where rules come from elsewhere.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

rules=$scratch/rules.conf
half=

# tune OPTION...: on 2 ranks, in little time.  On a busy machine that may not do for a visit to each size: then the same
# command goes on.
tune() {
    for _ in $(seq 40); do
        launch 2 ./allreduce tune --budget=2s "$@" >"$scratch/tune" 2>&1
        tuned=$?
        [ $tuned -ne 0 ] || break
        grep -q 'the budget was used up' "$scratch/tune" || break
    done
    cat "$scratch/tune"
    return "$tuned"
}

export ALLREDUCE_LEVELS=flat # is not followed, and that is told
expect_ok "tune" tune --sizes=1K,8,1K --type=double,int -o "$rules"
unset ALLREDUCE_LEVELS
grep -q 'tune: warning: set, but without effect .*: ALLREDUCE_LEVELS$' "$scratch/out" || fail "no warning of ALLREDUCE_LEVELS"
[ -e "$rules.state" ] && fail "the state is still there"
grep -q 'tune: --sizes: 1 of 3 sizes left out: the same as others in whole elements$' "$scratch/out" || fail "a size twice: not told"
grep -q '^#! tuned: mpi=.*; ranks=2; .*op=MPI_SUM' "$rules" || fail "no provenance: $(cat "$rules")"
[ "$(grep -c '^# MPI_DOUBLE\|^# MPI_INT' "$rules")" -eq 2 ] || fail "other than two tables"
[ "$(sed -n 's/^# *\([0-9]\{1,\}K\{0,1\}\) .*/\1/p' "$rules" | tr '\n' ' ')" = "8 1K 8 1K " ] ||
    fail "the sizes do not ascend: $(cat "$rules")"
grep -q '^[a-z].*:0-.*@2$' "$rules" || fail "no clause from 0 on"
expect_ok "explain" ./allreduce explain --rules="$rules" -n 2
grep -q '^no clause' "$scratch/out" && fail "a size is without a clause"

expect_ok "the rules" preload 2 ALLREDUCE_RULES="$rules" ALLREDUCE_VERBOSE=1 "$programs/traits"
[ "$(grep -c ' rule$' "$scratch/out")" -ge 1 ] || fail "no rule was used: $(cat "$scratch/out")"
grep -q elsewhere "$scratch/out" && fail "this is not elsewhere"
expect_ok "elsewhere" preload 3 ALLREDUCE_RULES="$rules" "$programs/traits"
[ "$(grep -c 'tuned elsewhere: ranks=2 (here 3)' "$scratch/out")" -eq 1 ] || fail "not told once that it is elsewhere"

# What a run has measured that could not end is not measured again, and what it left unfinished is.  Times made
# a thousand million times as long are found again in the table.
as_slow='^# *8 *[0-9]{8,} '
# The state is removed at the end, but another name of the file stays.  Where the budget ends after a visit to each size, some
# passes are missing for good: then it begins anew with more time.
for budget in 2s 8s 30s; do
    rm -f "$rules.state"
    : >"$scratch/whole"
    ln "$scratch/whole" "$rules.state"
    expect_ok "the state, $budget" tune --budget=$budget --sizes=8,1K -o "$rules"
    [ "$(wc -l <"$scratch/whole")" -ne 35 ] || break
done
[ "$(wc -l <"$scratch/whole")" -eq 35 ] || fail "the state: not 17 passes of two sizes below the head: $(cat "$scratch/whole")"
awk 'BEGIN { FS = OFS = "\t" } { for (i = 5; i <= NF; i += 2) $i = sprintf("%.17g", $i * 1e9); print }' \
    "$scratch/whole" | head -c -9 >"$scratch/state"
cp "$scratch/state" "$rules.state"
expect_ok "goes on" tune --sizes=8,1K -o "$rules"
grep -q -E "$as_slow" "$rules" || fail "does not go on: $(cat "$rules")"
grep -q '^# *1K ' "$rules" || fail "the size that was cut short is not there"
sed '1s/mpi=/mpi=not /' "$scratch/state" >"$rules.state"
expect_ok "begins anew" tune --sizes=8,1K -o "$rules"
grep -q -E "$as_slow" "$rules" && fail "goes on from the state of another machine"

# A file of that name that is something else stays, and so does the state of a search that is under way.
echo precious >"$rules.state"
expect_ok "a file of the user's" tune --budget=1s --sizes=8 -o "$rules"
grep -q "$rules.state: not the state of a search: nothing of this search is kept" "$scratch/out" || fail "a file of the user's: not told"
launch 2 ./allreduce tune --budget=0.000001s --sizes=8 -o "$rules" >"$scratch/out" 2>&1 && fail "nothing kept: it does not fail"
! grep 'the same command' "$scratch/out" || fail "nothing kept: the same command is to go on"
[ "$(cat "$rules.state")" = precious ] || fail "a file of the user's is lost"
cp "$scratch/state" "$rules.state"
flock -F "$rules.state" sleep 30 &
holder=$!
sleep 0.2
expect_ok "two searches" tune --budget=1s --sizes=8 -o "$rules"
kill $holder
grep -q "$rules.state: another search is using it: nothing of this search is kept" "$scratch/out" || fail "two searches: not told"
cmp "$scratch/state" "$rules.state" || fail "two searches: the other one's state is changed"

# Where the budget is over, no batch begins: what was measured before has rules, and what was not has none.
rm -f "$rules" "$rules.state"
launch 2 ./allreduce tune --budget=0.000001s --sizes=8,1K -o "$rules" >"$scratch/out" 2>&1 && fail "no time: it does not fail"
grep -q 'the budget was used up after 0 of 34 visits; no rules, because no size was measured; the same command continues' "$scratch/out" ||
    fail "no time: does not say so: $(cat "$scratch/out")"
[ -s "$rules" ] && fail "no time: there are rules"
for size in 8 1024; do
    { sed 1q "$scratch/state" && grep "^MPI_FLOAT[[:blank:]]${size}[[:blank:]]" "$scratch/state"; } >"$rules.state"
    launch 2 ./allreduce tune --budget=0.000001s --sizes=8,1K -o "$rules" >"$scratch/out" 2>&1 && fail "half: it does not fail"
    [ ! -s "$rules" ] || half=$size
    [ ! -s "$rules" ] || cp "$rules" "$scratch/half.conf"
    rm -f "$rules"
done
[ -n "$half" ] || fail "half: neither size has rules"
# Three passes of the finals tell nothing: auto's choice stays, even if all others were faster.
{ sed 1q "$scratch/state" && grep "^MPI_FLOAT[[:blank:]]${half}[[:blank:]]" "$scratch/state" | head -n 9 |
    awk 'BEGIN { FS = OFS = "\t" } { for (i = 4; i < NF; i += 2) if ($i == "shm") $(i + 1) *= 5; print }'; } >"$rules.state"
# What a line of the file's name would say is no rule.
mkdir "$scratch/$(printf 'a\nnative:0-inf')"
launch 2 ./allreduce tune --budget=0.000001s --sizes=8,1K -o "$scratch/$(printf 'a\nnative:0-inf')/../${rules##*/}" >"$scratch/out" 2>&1 &&
    fail "few passes: it does not fail"
! grep '^native' "$rules" || fail "a name of two lines became a rule"
grep -q '^MPI_FLOAT  *[18]K* .* shm stays: too few passes to replace it$' "$scratch/out" || fail "few passes: $(cat "$scratch/out")"
grep -q '^shm:[0-9]' "$rules" || fail "few passes: $(cat "$rules")"
rm -f "$rules" "$rules.state"
grep -q '^# Incomplete: the budget was used up after [1-9][0-9]* of 34 visits' "$scratch/half.conf" ||
    fail "half: $(cat "$scratch/half.conf")"
[ "$(grep -c '@2$' "$scratch/half.conf")" -eq 1 ] || fail "half: other than one clause: $(cat "$scratch/half.conf")"

# Interrupted, it writes the rules of what it knows and says how to go on; the same command does, and takes the
# visits that are in the state.  It tells where it is after 5 s, which one type need not take.
types=float,double,int,long
interrupt TERM "$scratch/err" '[0-9] of [0-9]* visits, 8 of' ./allreduce tune --budget=120s --sizes=8 --type=$types -o "$rules"
expect_interrupted "interrupted"
grep -q "interrupted after [0-9]* of 68 visits; the rules are .*; the same command continues from $rules.state" "$scratch/err" ||
    fail "interrupted: does not say so: $(cat "$scratch/err")"
grep -q '^# Incomplete: interrupted after [0-9]* of 68 visits' "$rules" || fail "interrupted: $(cat "$rules")"
grep -q '^[a-z].*:0-.*@2$' "$rules" || fail "interrupted: no clause from 0 on"
visits=$(wc -l <"$rules.state")
[ "$visits" -gt 1 ] || fail "interrupted: no visit is kept"
expect_ok "explain what was interrupted" ./allreduce explain --rules="$rules" -n 2
expect_ok "goes on after a signal" tune --sizes=8 --type=$types -o "$rules"
grep -q 'Incomplete: interrupted' "$rules" && fail "is still interrupted"

# Calls may become slow within a batch: neither the budget nor a signal waits for its end.
slow="env LD_PRELOAD=$PWD/test/mpi/.libs/late_rank.so LATE_LOG=$scratch/late LATE_US=0 LATE_FROM=4500"
begun=$(date +%s)
# shellcheck disable=SC2086 # words
launch 2 $slow ./allreduce tune --sizes=8 --budget=4s >"$scratch/out" 2>&1
[ $(($(date +%s) - begun)) -le $((12 * ${PATIENCE:-1})) ] || fail "slow calls: a budget of 4 s took $(($(date +%s) - begun)) s: $(cat "$scratch/out")"
# shellcheck disable=SC2086 # words
interrupt INT "$scratch/late" ' 0 5000$' $slow ./allreduce tune --sizes=8 --budget=60s
[ $took -le $((4 * ${PATIENCE:-1})) ] || fail "slow calls: it ended $took s after the signal"
grep -q 'interrupted after [0-9]* of 17 visits' "$scratch/err" || fail "slow calls: $(cat "$scratch/err")"

# check OPTION...: tune, with more time where that was over before each size had enough passes.
check() {
    for budget in 4s 15s 45s; do
        tune --budget=$budget "$@" >"$scratch/out" 2>&1
        checked=$?
        grep -q 'too few passes\|^at . of 0 sizes' "$scratch/out" || break
    done
    return "$checked"
}

# Either answer is right on a machine that is busy; a bad rule is told for sure.
check --check="$rules" --sizes=8
case $? in 0 | 1) ;; *) fail "check: $(cat "$scratch/out")" ;; esac
grep -q '^at . of 1 sizes' "$scratch/out" || fail "check: no verdict"
echo 'circle(segment=512,window=1)' >"$scratch/bad.conf"
check --check="$scratch/bad.conf" --sizes=64K && fail "check: a bad rule passes"
grep -q 'SLOWER' "$scratch/out" || fail "check: a bad rule is not told"

launch 1 ./allreduce tune >"$scratch/out" 2>&1 && fail "one rank: was not refused"
grep -q 'allreduce tune: there is only one rank' "$scratch/out" || fail "one rank: $(cat "$scratch/out")"
expect_end "no folder" any 'cannot write /nowhere/rules.conf' tune -o /nowhere/rules.conf
expect_end "budget" any 'a time above 0' tune --budget=never
expect_end "op" any 'MPI_BAND does not take MPI_FLOAT' tune --op=band
expect_end "half an element" any '4 bytes is out of range; allowed: 8 to' tune --sizes=4 --type=float,double
expect_end "too many elements" any '1073741824000 bytes is out of range; allowed: 4 to 8589934588' tune --sizes=1000G
expect_end "no rules" any 'nowhere.conf' tune --check=/nowhere.conf
exit $failed
