#!/bin/sh
# Online tuning: results stay right, something is tried and something is settled, what a clause
# names is left alone, and what was found is written as rules.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

dump=$scratch/dump.conf
# Sizes and communicators of their own, and a budget that lets all be tried soon.  Times that others disturb are compared
# for longer.
for calls in 6000 18000 54000; do
    expect_ok "online, $calls times" preload 3 ALLREDUCE_TUNE=online ALLREDUCE_TUNE_OVERHEAD=100 ALLREDUCE_VERBOSE=1 \
        ALLREDUCE_TUNE_DUMP="$dump" "$programs/repeat" $calls
    grep -q 'tuned online: tried [1-9][0-9]*,' "$scratch/out" && grep -q 'us, tuned online: ' "$dump" && break
done
grep -q 'tuned online: tried [1-9][0-9]*,' "$scratch/out" || fail "nothing was settled: $(cat "$scratch/out")"
[ "$(grep ' tuning$' "$scratch/out" | awk '{ print $5 }' | sort -u | wc -l)" -ge 3 ] ||
    fail "fewer than 3 choices were tried: $(cat "$scratch/out")"
grep -q '^#! tuned: mpi=.*; ranks=3$' "$dump" || fail "no provenance: $(cat "$dump")"
grep -q '@3,type=integer  # .* us, tuned online: ' "$dump" || fail "no rule: $(cat "$dump")"
expect_ok "the rules" preload 3 ALLREDUCE_RULES="$dump" ALLREDUCE_VERBOSE=1 "$programs/repeat" 100
grep -q ' rule$' "$scratch/out" || fail "the rules were not used: $(cat "$scratch/out")"

expect_ok "nothing to dump" preload 2 ALLREDUCE_TUNE_DUMP="$scratch/nothing" "$programs/repeat" 10
[ "$(grep -c 'warning: ALLREDUCE_TUNE_DUMP writes nothing without ALLREDUCE_TUNE=online' "$scratch/out")" = 1 ] ||
    fail "nothing to dump: not told once: $(cat "$scratch/out")"
[ ! -e "$scratch/nothing" ] || fail "nothing to dump: written"

# Where rank 0 makes no allreduce, the lowest of the other ranks says all that it would say.
expect_ok "rank 0 makes none" preload 4 ALLREDUCE_TUNE=online ALLREDUCE_TUNE_DUMP="$scratch/served" ALLREDUCE_VERBOSE=1 \
    ALLREDUCE_VERIFY=1/2 ALLREDUCE_OF_THIS_SITE=1 "$programs/statistics" served
for pattern in 'calls of rank [0-9]*$' 'calls of rank 1$' 'VERIFY: [0-9]* calls of rank [0-9]* agree' 'VERIFY: 2 calls of rank 1 agree' \
    'no such variable: ALLREDUCE_OF_THIS_SITE'; do
    [ "$(grep -c "^liballreduce: .*$pattern" "$scratch/out")" = 1 ] || fail "rank 0 makes none: not once: $pattern: $(cat "$scratch/out")"
done
[ "$(cd "$scratch" && echo served*)" = served.rank1 ] || fail "rank 0 makes none: $(ls "$scratch")"
grep -q '^#! tuned: mpi=.*; ranks=4$' "$scratch/served.rank1" || fail "rank 0 makes none: no provenance"

# A clause is no matter of taste.
expect_ok "a clause" preload 2 ALLREDUCE_TUNE=online ALLREDUCE_TUNE_OVERHEAD=100 ALLREDUCE_VERBOSE=1 \
    ALLREDUCE_ALGO='ring(segment=1M,window=7):0-100;auto' "$programs/repeat" 1000
expect_calls "a clause" ring 1500
[ "$(awk '$5 ~ "window=7" { print $NF }' "$scratch/out" | sort -u)" = named ] || fail "ring was not named alone"

# With all kinds of ops, types and communicators; ranks that differ in their settings.
expect_ok "comms" preload 3 ALLREDUCE_TUNE=online ALLREDUCE_TUNE_OVERHEAD=100 "$programs/comms"
expect_ok "order" preload 3 ALLREDUCE_TUNE=online ALLREDUCE_TUNE_OVERHEAD=100 "$programs/order"
# shellcheck disable=SC2016 # the ranks' shells expand it
expect_ok "verified, and alike" preload 2 ALLREDUCE_VERIFY=1/10 sh -c \
    'ALLREDUCE_TUNE=online ALLREDUCE_TUNE_OVERHEAD=$((20 + ${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}})) exec "$0" 2000' \
    "$programs/repeat"

for setting in TUNE=offline TUNE_OVERHEAD=0 TUNE_OVERHEAD=2% TUNE_DUMP=/nowhere/rules; do
    preload 2 "ALLREDUCE_$setting" "$programs/repeat" 1 >"$scratch/out" 2>&1 && fail "$setting was taken"
    grep -q "ALLREDUCE_${setting%=*}" "$scratch/out" || fail "$setting: $(cat "$scratch/out")"
done
exit $failed
