#!/bin/sh
# allreduce advise runs a program, finds rules for it, tries them in turns, and says whether to keep them.
# shellcheck disable=SC2086 # MPIEXEC may hold options
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

[ "$HAVE_JANSSON" = yes ] || {
    echo "built without jansson, which allreduce advise needs"
    exit 77
}
limit=300
allreduce=$PWD/allreduce
calls=$programs/native_wins
rules=$scratch/rules
slow='ring(segment=64,window=1)' # 62 segments of a message

# What is set is slow: rules save most of what the program spends in it.
expect_limited_end "a slow setting" 0 "^Keep:  .* allreduce run --rules $rules $calls shm 1000 1000\$" ALLREDUCE_ALGO="$slow" \
    "$allreduce" advise --budget=60s --runs=2 --logs="$scratch/logs" --output="$rules" $MPIEXEC -n 2 "$calls" shm 1000 1000
grep -q '^Of the .* that a rank spends in algorithms and set-up, the rules save .* (.* to .*)\. A whole run of ' "$scratch/out" || fail "a slow setting: no verdict: $(cat "$scratch/out")"
[ "$(grep -c '^run [1-4], \(as it is\|with the rules\): .*, passed$' "$scratch/out")" -eq 4 ] || fail "a slow setting: not four runs: $(cat "$scratch/out")"
# What is set is set in each run as it is, and in none with the rules.
for n in 1 2 3 4; do
    ran=$(grep -c '"ran": "ring(segment=64)"' "$scratch/logs/trial-$n.jsonl")
    [ "$ran" -eq $((n % 2)) ] || fail "a slow setting: run $n: $(cat "$scratch/logs/trial-$n.jsonl")"
done
grep -q '# faster' "$rules" || fail "a slow setting: no rules: $(cat "$rules")"

# The same rules, given; for programs.
expect_limited_end "rules that there are" 0 '"keep":true' ALLREDUCE_ALGO="$slow" \
    "$allreduce" advise --json --runs=1 --rules="$rules" $MPIEXEC -n 2 -- "$calls" shm 1000 1000
[ "$(wc -l <"$scratch/out")" -eq 1 ] || fail "rules that there are: more than a line: $(cat "$scratch/out")"
python3 -c 'import json, sys; sys.exit(json.load(open(sys.argv[1]))["format"] != 1)' "$scratch/out" || fail "rules that there are: no JSON: $(cat "$scratch/out")"

# Nothing to be won, rules that lose, one run alone.
printf '#!/bin/sh\n"%s" && sleep 4\n' "$programs/few_calls" >"$scratch/sleeps"
chmod +x "$scratch/sleeps"
expect_limited_end "hardly any allreduce" 0 '^Nothing is to be won: ' "$allreduce" advise $MPIEXEC -n 1 -- "$scratch/sleeps"
echo "$slow" >"$rules"
# What is known when a signal comes is judged; it comes while the program runs for the second time.
cat >"$scratch/waits" <<END
#!/bin/sh
"$calls" shm 20000 1000 || exit
[ -z "\$ALLREDUCE_RULES" ] || { kill -INT \$(cat "$scratch/pid") && sleep 30; }
END
chmod +x "$scratch/waits"
# shellcheck disable=SC2016 # expanded by the inner shell
expect_limited_end "a signal" 130 'The program ran once\..* Stopped early' ALLREDUCE_ALGO="$slow" \
    sh -c 'echo $$ >"$0" && exec "$@"' "$scratch/pid" "$allreduce" advise --rules="$rules" $MPIEXEC -n 1 -- "$scratch/waits"
# A run that takes the rest of the budget is ended with it, and is no failure of the program.
cat >"$scratch/hangs" <<END
#!/bin/sh
"$calls" shm 20000 1000 || exit
[ -z "\$ALLREDUCE_RULES" ] || exec sleep 100
END
chmod +x "$scratch/hangs"
begun=$(date +%s)
expect_limited_end "a late run" 0 '^The budget was over before the program had ended with the rules: after ' ALLREDUCE_ALGO="$slow" \
    "$allreduce" advise --budget=20s --rules="$rules" $MPIEXEC -n 1 -- "$scratch/hangs"
[ $(($(date +%s) - begun)) -le $((60 * ${PATIENCE:-1})) ] || fail "a late run: a budget of 20 s took $(($(date +%s) - begun)) s"
grep -q '^run 2, with the rules: .*, still running, ended$' "$scratch/out" || fail "a late run: $(cat "$scratch/out")"
grep -q '^Keep nothing.$' "$scratch/out" || fail "a late run: $(cat "$scratch/out")"
expect_limited_end "rules that lose" 0 '^Keep nothing.$' ALLREDUCE_ALGO=shm \
    "$allreduce" advise --runs=1 --rules="$rules" $MPIEXEC -n 2 "$calls" shm 1000 1000
expect_limited_end "one run" 0 '^The program ran once\.' "$allreduce" advise --runs=0 --rules="$rules" $MPIEXEC -n 2 "$calls" shm 1000 1000

# What the program itself may do.
cat >"$scratch/copies" <<'END'
#!/bin/sh
cat >"$ALLREDUCE_STATS" <<'STATISTICS'
{"format": 1, "program": "app", "when": "then", "world": 2, "lost": 0, "elapsed_ns": 2000000000, "ranks": 2}
{"call": "MPI_Allreduce", "comm_size": 2, "nodes": 1, "type": "MPI_DOUBLE", "op": "MPI_SUM", "bytes_from": 8, "bytes_to": 15, "ran": "native", "reason": "named", "ranks": 2, "calls": 400, "bytes": 3200, "ns": 40000000, "min_ns": 1, "max_ns": 100000, "histogram": [[100000, 400]], "sizes": [[8, 400, 40000000]]}
{"site": "app+0x11f0", "entry": "MPI_Allreduce", "module": "/nowhere/app", "build_id": "01", "offset": 4592, "calls": 400, "ns": 40000000, "ranks": 2, "runs": 4, "runs_calls": 400, "runs_comm_size": 2, "runs_bytes": 3200, "runs_ns": 40000000}
STATISTICS
END
chmod +x "$scratch/copies"
expect_limited_end "element by element" 0 '^app+0x11f0 makes runs of 100 calls of 8 bytes in a row, which take 10\.[0-9] ms: one call of 800 bytes would do, if no result is needed before the last\.$' \
    "$allreduce" advise --runs=0 --rules="$rules" -- "$scratch/copies"
# No algorithm saves anything in 1 us of a run of a second, but the program may make fewer calls.
cat >"$scratch/merges" <<END
#!/bin/sh
"$scratch/copies" && sed -i 's/"ns": 40000000/"ns": 2000/; s/"runs_ns": 40000000/"runs_ns": 2000/; s/100000/1/g' "\$ALLREDUCE_STATS" && sleep 1
END
chmod +x "$scratch/merges"
expect_limited_end "calls to merge" 0 '^Nothing is to be won by another algorithm: .* of the run\. The program could merge its calls\.$' \
    "$allreduce" advise --rules="$rules" -- "$scratch/merges"
expect_limited_end "calls to merge, as JSON" 0 '"advice":\["app+0x11f0 makes runs of 100 calls of 8 bytes in a row, .*"\]' "$allreduce" advise --json --rules="$rules" -- "$scratch/merges"
expect_limited_end "a late rank" 0 '^Rank 1 on .* came late to [0-9]* % of its calls, by [234][0-9]\.[0-9] ms on average\.$' \
    "$allreduce" advise --runs=0 --rules="$rules" $MPIEXEC -n 2 "$programs/statistics" late

# What fails, what has no allreduce, what cannot be told.
printf '#!/bin/sh\nexit 3\n' >"$scratch/fails"
chmod +x "$scratch/fails"
expect_limited_end "a program that fails" 1 'allreduce bisect finds out' "$allreduce" advise -- "$scratch/fails" -- "$calls"
expect_limited_end "no allreduce" 1 '^No rank wrote statistics' "$allreduce" advise $MPIEXEC -n 2 -- true
expect_limited_end "a script" 2 'which word is the program' "$allreduce" advise "$scratch/fails" 3
expect_limited_end "a program alone" 2 "no launcher is before $calls: allreduce advise mpiexec -n 4 $calls\$" "$allreduce" advise "$calls" shm 1 1
expect_limited_end "no launcher" 1 '^run 1, as it is: .*not started: No such file' "$allreduce" advise "$scratch/nolauncher" -- "$calls"
expect_limited_end "no command" 2 'name the command to run' "$allreduce" advise
expect_limited_end "a bad setting" 2 'ALLREDUCE_ALGO: column 1' ALLREDUCE_ALGO=rinng "$allreduce" advise $MPIEXEC -n 2 "$calls" shm 1 1
expect_limited_end "too many runs" 2 'runs' "$allreduce" advise --runs=1000 $MPIEXEC -n 2 "$calls" shm 1 1
exit $failed
