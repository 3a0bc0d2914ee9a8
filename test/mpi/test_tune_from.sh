#!/bin/sh
# allreduce tune --from: a program's calls are replayed from its statistics; rules come of what gains, and only of that.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=150 # more than the longest budget below
stats=$scratch/stats.jsonl
rules=$scratch/rules.conf
./allreduce --version | grep -q 'without jansson' && {
    launch 2 ./allreduce tune --from="$stats" >"$scratch/out" 2>&1 && fail "without jansson it does not fail"
    grep -q 'built without jansson' "$scratch/out" || fail "without jansson: $(cat "$scratch/out")"
    exit $failed
}

# tune RANKS OPTION...: from the statistics, in little time; on a busy machine in more.
tune() {
    ranks=$1
    shift
    for budget in 2s 8s 30s 90s; do
        launch "$ranks" ./allreduce tune --from="$stats" -q --budget=$budget "$@" >"$scratch/tune" 2>&1
        tuned=$?
        grep -q 'too little time' "$scratch/tune" || break
    done
    cat "$scratch/tune"
    return "$tuned"
}

# A message in 1250 segments, one at a time, is slower than anything else that one would try.
slow='ring(segment=64,window=1)'
expect_ok "slow" preload 2 ALLREDUCE_ALGO="$slow" ALLREDUCE_STATS="$stats" "$programs/repeat" 4
expect_ok "rules for what is slow" tune 2 -o "$rules"
grep -q '^saves [0-9.]* [mun]*s +- [0-9.]* [mun]*s of [0-9.]* [mun]*s in MPI_Allreduce (' "$scratch/out" || fail "saves nothing: $(cat "$scratch/out")"
grep -q '^# saves ' "$rules" || fail "the rules do not say what they save"
grep -q '^#! tuned: .*ranks=2' "$rules" || fail "no provenance"
grep -q '^[a-z].*:64K-131071@2,op=sum,type=integer  # faster' "$rules" || fail "no rule: $(cat "$rules")"
# Other programs may come while the rules run, but hardly twice.
for _ in 1 2; do
    expect_ok "the rules hold" tune 2 --check="$rules"
    grep -q '^the rules are slower than what ran in 0 of ' "$scratch/out" && break
done
grep -q '^saves .* in MPI_Allreduce' "$scratch/out" || fail "the check saves nothing: $(cat "$scratch/out")"
grep -q '^the rules are slower than what ran in 0 of ' "$scratch/out" || fail "the check: $(cat "$scratch/out")"

sed -E 's/"ns": [0-9]+/"ns": 1000/; s/"sizes": [^a-z]*\], /"sizes": [], /' "$stats" >"$scratch/idle.jsonl"
for budget in 2s 10s 40s; do # ranks that share cores with other work take long
    launch 2 ./allreduce tune --from="$scratch/idle.jsonl" -q --budget=$budget -o "$rules" >"$scratch/out" 2>&1 && break
done
grep -q '^That is more than the program spent' "$scratch/out" || fail "a busier machine is not told: $(cat "$scratch/out")"

# Where no call was measured there are no rules, not even those that the program's setting would have.
rm -f "$rules"
launch 2 ./allreduce tune --from="$stats" -q --budget=0.000001s -o "$rules" >"$scratch/out" 2>&1
[ $? -eq 1 ] || fail "no time: exit status is not 1: $(cat "$scratch/out")"
grep -q 'tune: --from: the budget was used up before a call was measured: no rules; a longer --budget may find some$' "$scratch/out" || fail "no time: $(cat "$scratch/out")"
[ ! -e "$rules" ] || fail "no time: there are rules: $(cat "$rules")"

# On several nodes what was found holds where ranks are placed alike, and elsewhere what was named runs.
if [ "$AR_MPI_FAMILY" = mpich ]; then
    export MPIR_CVAR_NOLOCAL=1
    expect_ok "rules across nodes" tune 2 -o "$rules"
    unset MPIR_CVAR_NOLOCAL
    for clause in ':64K-131071@2,op=sum,type=integer,nodes=2,ppn=1  # faster' ':64K-131071@2,op=sum,type=integer  # as it ran'; do
        grep -q "^[a-z].*$clause" "$rules" || fail "across nodes: no rule $clause: $(cat "$rules")"
    done
fi

# What was measured before an interruption is not measured again, and stands in the rules.
interrupt TERM "$rules.state" '^2 MPI_INT MPI_SUM out' ./allreduce tune --from="$stats" --budget=300s -o "$rules"
expect_interrupted "interrupted"
grep -q "interrupted; the same command continues from $rules.state" "$scratch/err" || fail "interrupted: $(cat "$scratch/err")"
grep -q '^# Incomplete: interrupted' "$rules" || fail "interrupted: the rules do not say so"
# In it all but native and what ran become so slow that they are dropped, so that one of the two is best.
size=$(sed -n '2s/^[^\t]*\t\([0-9]*\)\t.*/\1/p' "$rules.state")
awk -F'\t' -v OFS='\t' 'NR > 1 { for (i = 5; i <= NF; i += 2) if ($(i - 1) !~ /^(native|ring\(segment=64\))$/) $i = 1234 } { print }' \
    "$rules.state" >"$scratch/state"
cp "$scratch/state" "$rules.state"
expect_ok "goes on" launch 2 ./allreduce tune --from="$stats" -q --budget=2s -o "$rules"
grep -q -E "^# .* 2 +$size  MPI_INT MPI_SUM .* (native|ring\(segment=64\)) +[-0-9]" "$rules" || fail "goes on: nothing of the state: $(cat "$rules" "$scratch/state")"
[ ! -e "$rules.state" ] || fail "goes on: the state is still there"

# The other way round: the rules are what is slow.
rm -f "$stats"*
expect_ok "fast" preload 2 ALLREDUCE_STATS="$stats" "$programs/repeat" 4
echo "$slow" >"$scratch/bad.conf"
tune 2 --check="$scratch/bad.conf" >"$scratch/out" && fail "a check of bad rules passes"
grep -q '^costs ' "$scratch/out" || fail "bad rules cost nothing: $(cat "$scratch/out")"

# What auto ran may have changed in the meantime: what took more time counts for all these calls.  Named it would not.
mkdir "$scratch/changed"
for file in "$stats"*; do
    sed -E '/"ran": "shm"/{s/"ns": ([0-9]+)/"ns": 1\1/; p; s/"ns": 1/"ns": /; s/"ran": "shm"/"ran": "native"/; s/"reason": "auto"/"reason": "native won by 2x"/}' \
        "$file" >"$scratch/changed/${file##*/}"
done
fast=$stats
stats=$scratch/changed/${fast##*/}
expect_ok "another choice in the meantime" tune 2 -o "$rules"
! grep 'cannot distinguish' "$scratch/out" || fail "auto's calls are told apart by what ran"
grep -q '^ *10 .* MPI_INT MPI_SUM .* shm ' "$scratch/out" || fail "another choice in the meantime: $(cat "$scratch/out")"
sed -i 's/"requested": "auto"/"requested": "ring"/' "$stats"*
expect_ok "another choice that was named" tune 2 -o "$rules"
grep -q 'cannot distinguish' "$scratch/out" || fail "named calls are not told apart by what ran"
stats=$fast

# Communicators of one rank have nothing to win, and calls that cannot be replayed are told.  Nonblocking calls are none of
# those that took the time.
rm -f "$stats"*
expect_ok "halves" preload 2 ALLREDUCE_STATS="$stats" "$programs/statistics" halves
sed -i '/"call"/{p; s/MPI_Allreduce/MPI_Iallreduce/}' "$stats".rank*
expect_ok "nothing to win" tune 2 -o "$rules"
grep -q '^nothing is to be gained: of .* in MPI_Allreduce (3 calls)' "$scratch/out" || fail "nothing: $(cat "$scratch/out")"
grep -q '^not replayed: .*: a communicator of one rank' "$scratch/out" || fail "left out in silence: $(cat "$scratch/out")"
grep -q '^[^#]' "$rules" && fail "rules for nothing: $(cat "$rules")"
expect_ok "rules of nothing are rules" preload 2 ALLREDUCE_RULES="$rules" "$programs/repeat" 1

# Smaller communicators than the world are made of its first ranks; the calls keep their place.
rm -f "$stats"*
expect_ok "parts" preload 3 ALLREDUCE_ALGO=ring ALLREDUCE_STATS="$stats" "$programs/statistics" halves
sed -i 's/"in_place": false/"in_place": true/' "$stats".rank*
expect_ok "parts are replayed" tune 3 -o "$rules"
grep -q '^ *2 .* 2  *400  MPI_INT MPI_MAX  *yes ' "$scratch/out" || fail "parts: $(cat "$scratch/out")"
grep -q ':256-511@2,op=max,type=integer' "$rules" || fail "what was named is not named again: $(cat "$rules")"

# Sizes that the statistics tell apart are replayed one by one, the others by their mean. The rules divide the bin
# between them.
mkdir "$scratch/sizes"
for rank in 0 1 2; do
    sed -E 's/("calls": 3, .*"ns": )[0-9]+(, .*"sizes": )\[[][0-9, ]*\]/\13000000\2[[300, 1, 1000000]]/' \
        "$stats.rank$rank" >"$scratch/sizes/stats.jsonl.rank$rank"
done
stats=$scratch/sizes/stats.jsonl
expect_ok "sizes are replayed" tune 3 -o "$rules"
grep -q '^ *1 .* 2  *300  MPI_INT MPI_MAX ' "$scratch/out" || fail "sizes: not 300: $(cat "$scratch/out")"
grep -q '^ *1 .* 2  *~452  MPI_INT MPI_MAX ' "$scratch/out" || fail "sizes: no mean: $(cat "$scratch/out")"
grep -q '^~: of several sizes' "$scratch/out" || fail "sizes: the mean is not told"
for range in 256-300 301-511; do
    grep -q ":$range@2,op=max,type=integer" "$rules" || fail "sizes: no rule for $range: $(cat "$rules")"
done

sed 's/"comm_size": 2/"comm_size": 4/' "$stats.rank0" >"$scratch/large.jsonl"
expect_end "tune --from=large.jsonl" any 'has calls on 4 ranks, but this job has 2: start it with mpiexec -n 4' launch 2 ./allreduce tune --from="$scratch/large.jsonl"
sed 1q "$stats.rank0" >"$scratch/none.jsonl"
expect_end "tune --from=none.jsonl" any 'none.jsonl has no calls of MPI_Allreduce with a time' launch 2 ./allreduce tune --from="$scratch/none.jsonl"
: >"$scratch/empty.jsonl"
expect_end "tune --from=empty.jsonl" any 'allreduce tune: .*empty.jsonl: is empty' launch 2 ./allreduce tune --from="$scratch/empty.jsonl"
expect_end "tune --from=rules" any 'rules.conf: line 1: not JSON as ALLREDUCE_STATS writes it' launch 2 ./allreduce tune --from="$rules"
expect_end "tune --from=/nowhere.jsonl" any 'nowhere.jsonl: No such file' launch 2 ./allreduce tune --from=/nowhere.jsonl
exit $failed
