#!/bin/sh
# allreduce bisect names the choice that makes a failing program pass, for the sizes that matter,
# whichever side is at fault; a hanging program is ended, and a signal keeps what was found.
# shellcheck disable=SC2086 # MPIEXEC may hold options
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

[ "$HAVE_JANSSON" = yes ] || {
    echo "built without jansson, which allreduce bisect needs"
    exit 77
}
limit=200
allreduce=$PWD/allreduce
wrong=$programs/.libs/fake_mpi_wrong.so
few_calls=$programs/few_calls

# What the shell has set for other runs is not for these: a timeline stays, and no table hides what the program says last.
echo "of a job" >"$scratch/timeline"
expect_limited_end "nothing wrong" 0 'passes with and without' ALLREDUCE_TRACE="$scratch/timeline" ALLREDUCE_VERBOSE=1 \
    "$allreduce" bisect $MPIEXEC -n 2 "$few_calls"
[ "$(cat "$scratch/timeline")" = "of a job" ] || fail "nothing wrong: the timeline of a job is overwritten"

# The native allreduce is wrong for the program's 8000 bytes: of its sizes only those go elsewhere.
expect_limited_end "a native fault" 0 "Keep:  ALLREDUCE_ALGO='ring:4K-8191;native'" \
    LD_PRELOAD="$wrong" WRONG_FROM=4000 WRONG_TO=9000 \
    "$allreduce" bisect --algo ring $MPIEXEC -n 2 "$few_calls"
keep=$(sed -n "s/^Keep:  ALLREDUCE_ALGO='\(.*\)'/\1/p" "$scratch/out")
expect_ok "what it says to keep" launch 2 LD_PRELOAD="$library:$wrong" WRONG_FROM=4000 WRONG_TO=9000 \
    ALLREDUCE_ALGO="$keep" "$few_calls"

# What an earlier search has left in the folder does not count: those messages would end the range at 256K.
mkdir "$scratch/old[1]"
printf '%s\n' '{"format": 1, "liballreduce": "0", "mpi": "x", "program": "x", "when": "", "world": 2, "rank": null, "lost": 0, "elapsed_ns": 1, "ranks": 2}' \
    '{"call": "MPI_Allreduce", "comm_size": 2, "type": "MPI_INT", "op": "MPI_SUM", "bytes_from": 1048576, "bytes_to": 2097151, "requested": "", "ran": "ring", "reason": "", "ranks": 2, "calls": 1, "bytes": 1048576, "histogram": []}' \
    >"$scratch/old[1]/trial-1.jsonl"
cp "$scratch/old[1]/trial-1.jsonl" "$scratch/old[1]/trial-2.jsonl.rank1"
expect_limited_end "an old folder" 0 "Keep:  ALLREDUCE_ALGO='ring:128K-inf;native'" \
    LD_PRELOAD="$wrong" WRONG_FROM=100000 WRONG_TO=200000 \
    "$allreduce" bisect --algo ring --logs "$scratch/old[1]" $MPIEXEC -n 2 "$few_calls"

# Statistics of single ranks, of which rank 0 is not one.
cat >"$scratch/without-0" <<END
#!/bin/sh
case \$ALLREDUCE_ALGO in *ring) exit 3 ;; esac
"$programs/statistics" halves
status=\$?
rm -f "\$ALLREDUCE_STATS.rank0"
exit \$status
END
chmod +x "$scratch/without-0"
expect_limited_end "no file of rank 0" 0 "Keep:  ALLREDUCE_ALGO='native'" \
    "$allreduce" bisect --algo ring $MPIEXEC -n 2 "$scratch/without-0"

# The row that runs is wrong: its first message, whatever the size.
expect_limited_end "a fault of the setting" 0 "Keep:  ALLREDUCE_ALGO='native'" \
    LD_PRELOAD="$programs/.libs/fault_mpi.so" FAULT_RANK=0 FAULT_AT=0 ALLREDUCE_TRANSPORT=mpi \
    "$allreduce" bisect --algo ring $MPIEXEC -n 2 "$few_calls"

# So is a file of rules, for one of the sizes; and where native is no better, another row is.
echo 'ring:4K-64K;native' >"$scratch/rules"
expect_limited_end "a fault of the rules" 0 "Keep:  ALLREDUCE_ALGO='native:4K-8191'" \
    LD_PRELOAD="$programs/.libs/fault_mpi.so" FAULT_RANK=0 FAULT_AT=0 ALLREDUCE_TRANSPORT=mpi \
    ALLREDUCE_RULES="$scratch/rules" "$allreduce" bisect $MPIEXEC -n 2 "$few_calls"
echo native >"$scratch/rules"
expect_limited_end "native rules" 0 "Keep:  ALLREDUCE_ALGO='reduce_bcast:4K-8191;native'" \
    LD_PRELOAD="$wrong" WRONG_FROM=4000 WRONG_TO=9000 ALLREDUCE_RULES="$scratch/rules" \
    "$allreduce" bisect $MPIEXEC -n 2 "$few_calls"
echo star >"$scratch/rules"
expect_limited_end "right rules" 0 "Keep:  ALLREDUCE_ALGO='native:0-4095;native:8K-inf'" \
    LD_PRELOAD="$wrong" WRONG_FROM=4000 WRONG_TO=9000 ALLREDUCE_RULES="$scratch/rules" \
    "$allreduce" bisect $MPIEXEC -n 2 "$few_calls"
expect_limited_end "right rules for all sizes" 0 "Keep:  the library, with the settings as they are" \
    LD_PRELOAD="$wrong" WRONG_FROM=1 WRONG_TO=1000000 ALLREDUCE_RULES="$scratch/rules" \
    "$allreduce" bisect $MPIEXEC -n 2 "$few_calls"

# A setting of several clauses is kept whole, and what is right without it goes around it.
expect_limited_end "a native fault, and clauses" 0 "Keep:  ALLREDUCE_ALGO='native:0-4095;native:8K-inf;ring:0-64K;star'" \
    LD_PRELOAD="$wrong" WRONG_FROM=4000 WRONG_TO=9000 \
    "$allreduce" bisect --algo 'ring:0-64K;star' $MPIEXEC -n 2 "$few_calls"

# A setting that ends the program leaves no statistics.
cat >"$scratch/crashes" <<END
#!/bin/sh
case \$ALLREDUCE_ALGO in *ring) kill -SEGV \$\$ ;; esac
exec "$few_calls"
END
chmod +x "$scratch/crashes"
expect_limited_end "a crash of the setting" 0 "Keep:  ALLREDUCE_ALGO='native'" \
    "$allreduce" bisect --algo ring $MPIEXEC -n 2 "$scratch/crashes"

# A library that is preloaded already is left out where it must be.
expect_limited_end "a preload of ours" 0 'The setting is at fault' LD_PRELOAD="$library" \
    "$allreduce" bisect --algo ring --logs "$scratch/100%" \
    $MPIEXEC -n 2 sh -c "case \$LD_PRELOAD:\$ALLREDUCE_ALGO in *liballreduce*:ring) exit 3 ;; esac; $few_calls"

# Neither passes, another row does: for 8 bytes the setting is native.
expect_limited_end "a setting that is not enough" 0 "Keep:  ALLREDUCE_ALGO='reduce_bcast:0-15;native'" \
    LD_PRELOAD="$wrong" WRONG_FROM=1 WRONG_TO=9 \
    "$allreduce" bisect --algo 'native:0-16;ring' $MPIEXEC -n 2 "$few_calls"

expect_limited_end "a fault elsewhere" 1 'the cause is not the algorithm' \
    "$allreduce" bisect $MPIEXEC -n 2 sh -c "$few_calls; exit 3"
expect_limited_end "a check" 0 'passes with and without' \
    "$allreduce" bisect --check 'grep -q begun' sh -c "$MPIEXEC -n 2 $few_calls && echo begun"
expect_limited_end "a check that refuses" 1 'the cause is not the algorithm' \
    "$allreduce" bisect --check 'grep -q begun' $MPIEXEC -n 2 "$few_calls"
grep -q 'the check ended with 1' "$scratch/out" || fail "a check that refuses: not told"
# shellcheck disable=SC2016 # for the inner shell
expect_limited_end "a program with a preload of its own, and a check" 0 'passes with and without' LD_PRELOAD="$wrong" \
    "$allreduce" bisect --check '[ -z "$LD_PRELOAD" ]' sh -c 'case $LD_PRELOAD in *fake_mpi_wrong.so*) exec "$0" ;; esac; exit 3' "$few_calls"

# What a failed program has started in the background ends with the trial, and what it said last is no command for a terminal.
# shellcheck disable=SC2016 # for the inner shell
expect_limited_end "a program with children" 1 'the cause is not the algorithm' \
    "$allreduce" bisect sh -c 'sleep 100 & echo $! >>"$0"; printf "\033[31mred\n"; exit 3' "$scratch/children"
grep -q '| ?\[31mred$' "$scratch/out" || fail "a program with children: the last line: $(cat "$scratch/out")"
while read -r child; do
    case $(sed -n 's/^State:[[:blank:]]*//p' "/proc/$child/status" 2>/dev/null) in
    '' | [ZX]*) ;;
    *) fail "a program with children: child $child lives on" && kill "$child" ;;
    esac
done <"$scratch/children"

# Whoever reads no further is left no folder.
mkdir "$scratch/tmp"
TMPDIR=$scratch/tmp timeout -k 5 $limit "$allreduce" bisect sleep 0.3 | :
[ -z "$(ls -A "$scratch/tmp")" ] || fail "a reader that went: $(ls "$scratch/tmp") is left"
expect_limited_end "no allreduce" 1 'No rank wrote statistics' "$allreduce" bisect true

# A hang is a failure, and leaves no rank behind.
expect_limited_end "a hang" 0 "Keep:  ALLREDUCE_ALGO='native:0-131071'" \
    LD_PRELOAD="$wrong" WRONG_FROM=100000 WRONG_TO=200000 WRONG_HANGS=1 \
    "$allreduce" bisect --timeout 8 $MPIEXEC -n 2 "$few_calls"
grep -q 'still running, ended' "$scratch/out" || fail "the hang was not ended"

# What is wrong with the command line.
expect_limited_end "no command" 2 'name the command' "$allreduce" bisect
expect_limited_end "Intel's setting" 0 'passes with and without' \
    ALLREDUCE_ALGO=intel I_MPI_ADJUST_ALLREDUCE=4 "$allreduce" bisect $MPIEXEC -n 2 "$few_calls"
expect_limited_end "a bad setting" 2 'did you mean .ring' "$allreduce" bisect --algo rinng true
expect_limited_end "a promise about bits" 2 'ALLREDUCE_DETERMINISM=run does not allow native' \
    ALLREDUCE_DETERMINISM=run "$allreduce" bisect true
expect_limited_end "a bad number" 2 'from 1 to 1000' "$allreduce" bisect --repeat 0 true
expect_limited_end "no such command" 1 'not started: No such file' "$allreduce" bisect ./nosuch
expect_limited_end "no such folder" 1 'cannot make the folder' "$allreduce" bisect --logs /nowhere/at/all true

# Under nohup a hang-up ends neither it nor the program: one that sends it to both.
# shellcheck disable=SC2016 # for the inner shells
expect_limited_end "a hang-up that is ignored" 0 'passes with and without' sh -c 'trap "" HUP; exec "$@"' sh \
    "$allreduce" bisect sh -c 'kill -HUP $PPID $$; exec "$0"' "$few_calls"

# A signal ends it and the program, and tells what is known.
"$allreduce" bisect --logs "$scratch/logs" $MPIEXEC -n 2 "$few_calls" forever >"$scratch/out" 2>&1 </dev/null &
bisect=$!
for _ in $(seq 600); do
    grep -q begun "$scratch"/logs/trial-1.log 2>/dev/null && break
    sleep 0.1
done
kill -TERM $bisect # a shell makes its background commands ignore SIGINT
wait $bisect
[ $? -eq 1 ] || fail "an interrupted search did not fail"
grep -q 'Stopped before anything was found' "$scratch/out" || fail "an interrupted search said: $(cat "$scratch/out")"
[ -s "$scratch/logs/trial-1.log" ] || fail "--logs kept nothing"
exit $failed
