#!/bin/sh
# allreduce bench under the launcher: all results right, in every format; types, ops and places;
# a wrong command line is told once.
# shellcheck source=test/mpi/common.sh disable=SC2317 # functions are arguments
. "${srcdir:-.}/test/mpi/common.sh"
# shellcheck source=test/browser.sh
. "${srcdir:-.}/test/browser.sh"

busy=''
algorithms='ring;butterfly(segment=8K,window=2);auto'

# bench RANKS OPTION...: two batches of little time.
bench() {
    ranks=$1
    shift
    launch "$ranks" ./allreduce bench --repetitions=2 --time=0.01 "$@"
}

# expect_right WHAT RANKS LINES OPTION...: so many lines of results, all of them right.  Two ranks where three would
# prove the same: more than there are cores wait for each other in vain.
expect_right() {
    what=$1
    ranks=$2
    lines=$3
    shift 3
    expect_ok "$what" bench "$ranks" --csv --algo="$algorithms" "$@" || return
    grep "^$ranks," "$scratch/out" >"$scratch/lines"
    [ "$(wc -l <"$scratch/lines")" -eq "$lines" ] || fail "$what: other than $lines lines"
    ! grep -v ',right,' "$scratch/lines" || fail "$what: these are not right"
}

expect_right "sizes, both places" 3 40 --sizes=4,1K-64K --factor=8 --place=both
grep -q '^3,65536,"butterfly(segment=8K,window=2)",' "$scratch/out" ||
    fail "a label with a comma is not quoted"
grep -q '^3,4,auto,.*,in,MPI_FLOAT,MPI_SUM,1,0,' "$scratch/out" || fail "no line of auto in place"
expect_right "doubles" 2 5 --type=double --sizes=100K --rotate=1M
expect_right "fresh data" 2 10 --sizes=256K --fresh --place=both
sed -n 1p "$scratch/out" | grep -q ',turn_us,median_low_us,median_high_us,spread,order$' || fail "the last columns are others"
sed 's/"[^"]*"/quoted/g' "$scratch/lines" | awk -F, '!($(NF - 4) >= $4 + 1) { wrong = 1 } END { exit wrong }' ||
    fail "to write and read 256K takes less than a microsecond"
expect_right "bytes" 3 5 --type=MPI_BYTE --op=MPI_BXOR --sizes=1001
expect_right "products" 2 5 --type=c_double_complex --op=prod --sizes=16K
expect_right "places of the largest" 2 10 --type=double_int --op=maxloc --sizes=12K --place=both
expect_right "one element" 2 5 --type=long_double --sizes=16

# On a machine with more CPUs than the C library's sets have.
expect_ok "2048 possible CPUs" launch 2 LD_PRELOAD="$programs/.libs/fake_machine.so" CORES_POSSIBLE=2048 CORES_CPUS=0,0 \
    ./allreduce bench --repetitions=2 --time=0.01 --sizes=8 --algo=ring
grep -q ', 2 ranks on 1 cpu, ' "$scratch/out" || fail "other than one CPU of 2048"

# Six batches have an interval, which is all of them; the order follows from the intervals.  Of an exchange no result is
# judged, so that it has no error.
expect_ok "six batches" launch 2 ./allreduce bench --repetitions=6 --time=0.01 --csv --algo='ring;shm' --sizes=8,64K --exchange
awk -F, '/^2,/ { rows++; if ($(NF - 3) != $5 || $(NF - 2) != $6 || !($(NF - 1) >= 0)) wrong = 1
        if ($3 == "exchange" ? $NF != "" : $NF !~ /^(fastest|tie|slower)$/) wrong = 1
        if ($3 == "exchange" ? $8 $12 $13 != "" : $12 == "" || $13 == "") wrong = 1
        fastest += $NF == "fastest" }
    END { exit wrong || rows != 10 || fastest != 2 }' "$scratch/out" || fail "six batches: $(cat "$scratch/out")"
awk -F, '/^2,/ && $NF == "fastest" { least[$2] = $4; high[$2] = $(NF - 2) }
    { line[NR] = $0 }
    END {
        for (i = 1; i <= NR; i++) {
            n = split(line[i], f, ",")
            if (line[i] !~ /^2,/ || f[n] == "" || f[n] == "fastest") continue
            if (f[4] < least[f[2]] || f[n] != (f[n - 3] <= high[f[2]] ? "tie" : "slower")) exit 1
        }
    }' "$scratch/out" || fail "six batches: the order is not that of the intervals: $(cat "$scratch/out")"

# Who keeps cores busy is told, whoever it is: more CPUs than a quarter of one.
for _ in 1 2; do
    (while :; do :; done) &
    busy="$busy $!"
done
launch 2 ALLREDUCE_ALGO=shm ALLREDUCE_TIMEOUT=60 ALLREDUCE_WAIT=yield ./allreduce bench --algo=ring --sizes=8 --time=1 >"$scratch/out" 2>&1 ||
    fail "beside others: it fails"
# shellcheck disable=SC2086 # process ids
kill $busy
grep -q 'warning: other processes kept [0-9.]* CPUs busy on rank [0-9]*.s node' "$scratch/out" || fail "beside others: no warning: $(cat "$scratch/out")"
# So are settings that it does not follow, once.
[ "$(grep -c 'bench: warning: set, but without effect on what is measured here: ALLREDUCE_ALGO, ALLREDUCE_WAIT$' "$scratch/out")" -eq 1 ] ||
    fail "settings without effect: no warning: $(cat "$scratch/out")"

# Ranks of one machine are none of these others, even if MPI takes them for ranks of several nodes.  A rank that is mistaken
# for another process counts as about one CPU in each launch.  Others may come and go between two launches.  So it is an
# error only if all launches with such nodes say so, and one without says that the machine was quieter.

# count_others [VARIABLE=VALUE...]: $others becomes the CPUs that others kept busy beside a launch, 0 where it warns of none.
count_others() {
    others=0
    expect_ok "others than the ranks, $*" launch 2 "$@" ./allreduce bench --algo=ring --sizes=8 --time=0.5 || return
    others=$(sed -n 's/.*warning: other processes kept \([0-9.]*\).*/\1/p' "$scratch/out")
    others=${others:-0}
}
# is_less NUMBER NUMBER
is_less() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'
}
alarms=0
quiet=0
for _ in 1 2 3 4 5; do
    count_others MPIR_CVAR_NOLOCAL=1
    is_less "$others" 0.8 && break
    alarms=$((alarms + 1))
    count_others
    is_less "$others" 0.5 && quiet=$((quiet + 1))
done
case $alarms:$quiet in
5:0) echo "others kept the CPUs busy: ranks on assumed nodes cannot be told from them" ;;
5:*) fail "ranks on assumed nodes: they are taken for others" ;;
esac

# In the ring's batches rank 1 is late.  The native call that settles the next batch begins on rank 0 only when rank 1 has
# ended its batch, too.  On each rank this call is known by several "time" lines before it; a timed call has one at most.
# Before the first round ranks ask the time once more, and do not meet again.
expect_ok "a late rank" launch 2 LD_PRELOAD="$PWD/test/mpi/.libs/late_rank.so" LATE_LOG="$scratch/late" LATE_US=20000 \
    ./allreduce bench --repetitions=3 --time=0.01 --algo=ring --sizes=8
awk '
    $1 == "time" { last[$2] = NR; times[$2]++ }
    $1 == "native" {
        if (times[$2] > 1) { n[$2]++; began[$2, n[$2]] = NR; ended[$2, n[$2]] = last[$2] }
        times[$2] = 0
    }
    END {
        for (i = 2; i <= n[0]; i++)
            early += began[0, i] < ended[1, i]
        exit early > 0 || n[0] < 3 || n[0] != n[1]
    }' "$scratch/late" || fail "a late rank: $(cat "$scratch/late")"

# The calls with which batches begin to grow are slow, and the batches still become as long as the time allows: of 22 ms.
rm "$scratch/late"
expect_ok "slow first calls" launch 2 LD_PRELOAD="$PWD/test/mpi/.libs/late_rank.so" LATE_LOG="$scratch/late" LATE_US=0 LATE_CALLS=6 \
    ./allreduce bench --repetitions=3 --time=0.2 --algo=ring --sizes=8
if [ "$(grep -c '^native 0 ' "$scratch/late")" -lt 100 ]; then
    if grep 'other processes kept' "$scratch/out"; then
        echo "slow first calls: later ones were slow as well"
    else
        fail "slow first calls: $(grep -c '^native 0 ' "$scratch/late") native calls"
    fi
fi

# Where the library is preloaded into all programs, native calls are native all the same; else nothing is measured.
rm "$scratch/late"
expect_ok "preloaded" launch 2 LD_PRELOAD="$library:$PWD/test/mpi/.libs/late_rank.so" LATE_LOG="$scratch/late" LATE_US=0 ALLREDUCE_VERBOSE=1 \
    ./allreduce bench --repetitions=2 --time=0.01 --algo=ring --sizes=8
[ "$(grep -c '^native 0 ' "$scratch/late")" -ge 4 ] || fail "preloaded: $(grep -c '^native 0 ' "$scratch/late") native calls"
! grep 'liballreduce:' "$scratch/out" || fail "preloaded: the library is there"
# shellcheck disable=SC2016 # for the ranks' shells
for who in '' '[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 ] || '; do
    expect_end "preloaded into the helper, $who" 1 \
        '^allreduce bench: .*liballreduce.so.* would run the calls that are to be native; take it out of LD_PRELOAD' \
        launch 2 sh -c "$who export LD_PRELOAD='$library'; exec \"\$0\" bench --sizes=8" ./allreduce-*
    [ "$(grep -c 'would run' "$scratch/out")" -eq 1 ] || fail "preloaded into the helper: it is not told once"
done

expect_ok "exchange" bench 2 --algo=ring --sizes=8,64K --exchange
[ "$(grep -c ' exchange ' "$scratch/out")" -eq 2 ] || fail "no line of exchange for each size"
[ "$(grep -c -E '( +[0-9.]+ [kMG]?B/s){2} ' "$scratch/out")" -eq 8 ] || fail "rates are without units: $(cat "$scratch/out")"
! grep WRONG "$scratch/out" || fail "a result is wrong"

[ -z "${QUICK:-}" ] || exit $failed # what follows takes as long again

# The course's script: tables, and a page to hand out.  The vector is really cut: a ring of 4p slices works on quarters, and in
# turn in a quarter of the scratch.
course=$(cd "${srcdir:-.}/demo/course" && pwd)/course
program=$(pwd)
# course RANKS OPTION...
course() {
    (cd "$scratch" && PATH=$program:$PATH timeout 300 "$course" "$@" --repetitions=2 --time=0.01)
}
expect_ok "course" course 2 --sizes=12K,64K
for name in native 'MPI_Reduce+MPI_Bcast' star circle recursive 'butterfly, whole' 'butterfly, halves' ring; do
    [ "$(grep -c "^| $name | [0-9]" "$scratch/out")" -eq 1 ] || fail "course: other than one line of $name: $(cat "$scratch/out")"
done
[ "$(grep -c ', pipelined |' "$scratch/out")" -eq 6 ] || fail "course: other than 6 pipelined lines"
grep -q '^| | 3K, out | 3K, in | 16K, out | 16K, in | error ' "$scratch/out" || fail "course: other columns: $(cat "$scratch/out")"
! grep '!' "$scratch/out" || fail "course: a result is wrong"
[ "$(grep -c '<dt>.* <i>.*a.*</i></dt>' "$scratch/course-2.html")" -eq 6 ] || fail "course: other than six formulas: $(cat "$scratch/course-2.html")"
! grep -q -E '(src|href)="?http|@import' "$scratch/course-2.html" || fail "course: the page loads from elsewhere"
grep '^2,65536,"ring(segment=n/4,window=1)"' "$scratch/course-2.csv" | grep ',in,' | grep -q ',named,2,8192,,,,,,[^,]*,unknown$' ||
    fail "slices: $(grep 'ring(' "$scratch/course-2.csv")"
for row in '"star(segment=n/2,window=1)",*,in,*,32768' '"star(segment=n/8,window=1)",*,in,*,8192' '"butterfly(exchange=halves,segment=n/8,window=auto)",*,in,*,8192'; do
    grep -q "^2,65536,$(echo "$row" | sed 's/[*]/.*/g'),,,,,,[^,]*,unknown\$" "$scratch/course-2.csv" || fail "scratch: no $row: $(cat "$scratch/course-2.csv")"
done
if need_browser; then
    answer=$(in_page "$scratch/course-2.html" 1200 "
        return document.querySelector('h1').textContent + '; ' + document.querySelector('table').rows.length + '; ' +
            (document.documentElement.scrollWidth > innerWidth ? 'too wide' : 'fits')")
    expected='Allreduce in a course: MPI_SUM of MPI_FLOAT on 2 ranks; 15; fits'
    [ "$answer" = "$expected" ] || fail "course: the page has '$answer', not '$expected'"
fi
# If the budget ran out before any table was complete, the page says so and has no empty tables.
course 2 --sizes=16M --budget=0.000001 -q >"$scratch/out" 2>&1
grep -q 'No table was measured' "$scratch/course-2.html" || fail "course: an empty page: $(cat "$scratch/out")"

# All algorithms have the way through shared memory, where an open window is 4 segments at most: the scratch tells.
expect_ok "alike" course 4 --sizes=4K --place=out
awk -F, '/^4,4096,".*segment=/ { row = $0; sub(/window=(1|auto)[)]".*/, "", row); rows[row]; extra[row, /window=auto[)]",/] = $(NF - 7) }
    END { for (row in rows) { n++; most += extra[row, 1] == 4 * extra[row, 0]; wrong += extra[row, 1] > 4 * extra[row, 0] }
        exit wrong > 0 || most == 0 || n < 18 }' "$scratch/course-4.csv" || fail "alike: these went another way: $(cat "$scratch/course-4.csv")"

# Ranks of one node as those of several: hierarchical rows form two levels, and nobody shares memory across them.
nodes='two_level(inter=ring);hier_ring;shm;ring:nodes=2,ppn=2'
expect_ok "assumed nodes" bench 4 --algo="$nodes" --nodes=2x2,cyclic --sizes=8,4K --place=both
grep -q '^--nodes=2x2,cyclic: 4 ranks on 2 nodes (0 2 | 1 3), assumed: ' "$scratch/out" || fail "does not say what is assumed"
[ "$(grep -c ' shm .*by messages$' "$scratch/out")" -eq 4 ] || fail "shm across assumed nodes: $(cat "$scratch/out")"
! grep -e WRONG -e 'ran native' "$scratch/out" || fail "assumed nodes: a wrong result, or not ours"
printf 'a\nb:2\na\n' >"$scratch/hosts"
expect_ok "a host file" bench 4 --algo="$nodes" --nodes="$scratch/hosts" --sizes=64 --csv
[ "$(grep -c '^4,64,.*,right,.*,assumed,,,,[^,]*,unknown$' "$scratch/out")" -eq 6 ] || fail "a host file: $(cat "$scratch/out")"
expect_ok "as they are" bench 2 --algo=shm --nodes=1x2 --sizes=64 --csv
[ "$(grep -c '^2,64,shm,.*,shm,named,.*,1x2,real,,,,[^,]*,unknown$' "$scratch/out")" -eq 1 ] || fail "one node: $(cat "$scratch/out")"

# A budget leaves out batches, but no table that it has time for.
launch 2 ./allreduce bench --algo=ring --sizes=8,1K --time=60 --repetitions=1000000 --budget=2 --csv >"$scratch/out"
[ $? -le 1 ] || fail "budget: it fails"
awk -F, '/^2,/ && $(NF - 8) < 1000000 { few++ } END { exit few < 3 }' "$scratch/out" ||
    fail "budget: no row has fewer batches: $(cat "$scratch/out")"

# Where it is over, not even a first batch begins.
launch 2 ./allreduce bench --algo=ring --sizes=8,1K --budget=0.000001 --csv >"$scratch/out" 2>"$scratch/err"
[ $? -eq 1 ] || fail "no time: does not fail"
grep -q 'the budget was used up in table 1 of 2' "$scratch/err" || fail "no time: does not say so: $(cat "$scratch/err")"
! grep '^2,' "$scratch/out" || fail "no time: there are rows"

# Calls may become slow within a batch, of which these have thousands: the end of the time and a signal are seen all the same.
rm -f "$scratch/late"
slow="env LD_PRELOAD=$PWD/test/mpi/.libs/late_rank.so LATE_LOG=$scratch/late LATE_US=0 LATE_FROM=4500"
begun=$(date +%s)
# shellcheck disable=SC2086 # words
launch 2 $slow ./allreduce bench --algo=ring --sizes=8 --time=3 --repetitions=2 --budget=3 >"$scratch/out" 2>&1
[ $(($(date +%s) - begun)) -le $((12 * ${PATIENCE:-1})) ] || fail "slow calls: a budget of 3 s took $(($(date +%s) - begun)) s: $(cat "$scratch/out")"
grep -q 'the budget was used up in table 1 of 1' "$scratch/out" || fail "slow calls: $(cat "$scratch/out")"
# shellcheck disable=SC2086 # words
interrupt INT "$scratch/late" ' 0 5000$' $slow ./allreduce bench --algo=ring --sizes=8 --time=60 --repetitions=2
[ $took -le $((4 * ${PATIENCE:-1})) ] || fail "slow calls: it ended $took s after the signal"
grep -q 'it was interrupted in table 1 of 1' "$scratch/err" || fail "slow calls: $(cat "$scratch/err")"

expect_ok "--algo twice" bench 2 --algo=ring --algo=star --sizes=8,9,10 --csv
[ "$(grep -c -e ',ring,' -e ',star(root=0),' "$scratch/out")" -eq 2 ] || fail "--algo twice: not both"
grep -q 'bench: --sizes: 2 of 3 sizes left out: the same as others in whole elements$' "$scratch/out" ||
    fail "sizes of the same elements: $(cat "$scratch/out")"

# What an interrupted run has measured is kept, in every format.  It tells where it is after 5 s; by then it has
# measured for long, as its 300th look at the clock or native call says.
endless="./allreduce bench --algo=ring --sizes=8,16 --time=60 --repetitions=1000000"
for signal in INT TERM; do
    # shellcheck disable=SC2086 # words
    interrupt $signal "$scratch/late" ' 0 300$' env LD_PRELOAD="$PWD/test/mpi/.libs/late_rank.so" LATE_LOG="$scratch/late" LATE_US=0 \
        $endless --csv
    expect_interrupted "SIG$signal"
    [ "$(grep -c '^2,8,.*,right,.*,[0-9]*,[0-9]*,,,,[^,]*,[^,]*,[^,]*,[a-z]*$' "$scratch/out")" -eq 3 ] ||
        fail "SIG$signal: other than three rows: $(cat "$scratch/out")"
    grep -q 'bench: it was interrupted in table 1 of 2, which has [0-9]* of 1000000 batches' "$scratch/err" ||
        fail "SIG$signal: does not say so: $(cat "$scratch/err")"
done
if command -v python3 >/dev/null; then
    # shellcheck disable=SC2086 # words
    interrupt TERM "$scratch/err" 'batch [0-9]' $endless --json
    # MPICH's mpiexec prints lines of its own.
    python3 -c 'import json, sys
text = open(sys.argv[1]).read()
bench = json.JSONDecoder().raw_decode(text, text.index("{"))[0]
assert bench["complete"] is False and len(bench["results"]) == 3
assert all(0 < row["batches"] < 1000000 for row in bench["results"])' "$scratch/out" ||
        fail "JSON of an interrupted run: not what was expected"
    [ "$(grep -c 'bench: ends after the call under way and prints the JSON then' "$scratch/err")" -eq 1 ] ||
        fail "JSON of an interrupted run: the signal is not told once: $(cat "$scratch/err")"
fi

expect_ok "no head but one" bench 2 --repetitions=1 --csv --sizes=8,16 --algo=ring
[ "$(grep -c '^ranks,' "$scratch/out")" -eq 1 ] || fail "CSV: other than one head"
awk -F, '/^2,/ && $(NF - 1) != "" { wrong = 1 } END { exit wrong }' "$scratch/out" || fail "CSV: one batch alone has a spread"

if command -v python3 >/dev/null; then
    latin=$scratch/$(printf 'h\344user') # not UTF-8
    printf 'a\na\n' >"$latin"
    ALLREDUCE_WAIT=yield bench 2 --json --algo="$algorithms" --sizes=8,64K --place=both --nodes="$latin" >"$scratch/bench.json" 2>"$scratch/err" ||
        fail "JSON: exit status $?: $(cat "$scratch/err")"
    python3 -c 'import json, sys
bench = json.load(open(sys.argv[1]))
assert bench["format"] == 1 and bench["ranks"] == 2 and len(bench["results"]) == 20 and bench["nodes"].endswith("/h\u00e4user")
assert bench["warnings"][0] == "set, but without effect on what is measured here: ALLREDUCE_WAIT"
assert all(row["result"] == "right" and row["median_us"] > 0 for row in bench["results"])' \
        "$scratch/bench.json" || fail "JSON: not what was expected"
fi

export ALLREDUCE_WAIT=yield
expect_ok "HTML" bench 2 --algo=ring --sizes=8,64K --place=both --html "$scratch/page.html"
unset ALLREDUCE_WAIT
if need_browser; then
    # In each place: six plots, of native, reduce and broadcast, ring, exchange and (one of three) the bound; two sizes.
    answer=$(in_page "$scratch/page.html" 1200 "
        const n = what => document.querySelectorAll(what).length, rows = i => document.querySelectorAll('tbody')[i].rows.length;
        return [n('figure svg'), n('path.line'), n('path.mark'), n('table'), rows(0), rows(1), rows(2), rows(3),
            /^mpiexec -n 2 allreduce bench .*--algo=ring/.test(document.querySelector('pre').textContent)].join()")
    [ "$answer" = 6,26,54,4,2,8,2,8,true ] || fail "HTML: in the browser '$answer'"
    page_has "$scratch/page.html" 'Every algorithm was timed in turn in each of 2 batches.' || fail "HTML: no preface"
    page_has "$scratch/page.html" 'Warning: set, but without effect on what is measured here: ALLREDUCE_WAIT.' || fail "HTML: no warning"
fi
grep -q '^<pre>mpiexec -n 2 allreduce bench .*--algo=ring' "$scratch/page.html" || fail "HTML: no command without scripts"
! grep -q -E '(src|href)="?http|@import' "$scratch/page.html" || fail "HTML: loads from elsewhere"

# The files have each table as soon as it is measured: of ranks that are killed in the second table they have the first.
# shellcheck disable=SC2016 # for the ranks' shells
launch 2 sh -c 'echo $$ >>"$0"; exec "$@"' "$scratch/ranks" ./allreduce bench --algo=ring --sizes=8,16 --time=10 --repetitions=200 \
    --json --output="$scratch/killed.json" --html="$scratch/killed.html" >"$scratch/out" 2>&1 &
launched=$!
for _ in $(seq 600); do
    [ ! -e "$scratch/killed.html" ] || break
    sleep 0.1
done
xargs kill -KILL <"$scratch/ranks"
wait $launched
if command -v python3 >/dev/null; then
    python3 -c 'import json, re, sys
shown = json.loads(re.search("<script id=.document.*?>(.*?)</script>", open(sys.argv[1]).read(), re.S).group(1))
assert shown["incomplete"] == "the run goes on"
assert [row["bytes"] for row in shown["bench"]["results"]] == [8] * 4' "$scratch/killed.html" ||
        fail "a killed run: its page is not that of the first table: $(cat "$scratch/out")"
    python3 -c 'import json, sys
bench = json.load(open(sys.argv[1]))
assert bench["complete"] is False and [row["bytes"] for row in bench["results"]] == [8] * 4' "$scratch/killed.json" ||
        fail "a killed run: its JSON is not that of the first table: $(cat "$scratch/out")"
fi
expect_ok "--output" bench 2 --repetitions=1 --algo=ring --sizes=8,16 --csv --output="$scratch/file.csv"
[ "$(grep -c '^2,.*,right,' "$scratch/file.csv")" -eq 6 ] || fail "--output: $(cat "$scratch/file.csv")"
[ "$(grep -c '^ *[0-9]* *ring ' "$scratch/out")" -eq 2 ] || fail "--output: the text is not on stdout: $(cat "$scratch/out")"
for option in html output; do
    launch 2 ./allreduce bench --repetitions=1 --time=0.01 --algo=ring --sizes=8 \
        --$option=/nowhere/file >"$scratch/out" 2>&1 && fail "--$option: a file that cannot be"
    grep -q 'cannot write /nowhere/file' "$scratch/out" || fail "--$option: no reason"
    ! grep native "$scratch/out" || fail "--$option: measured first, and then refused the file"
done

launch 1 ./allreduce bench >"$scratch/out" 2>&1 && fail "one rank: was not refused"
grep -q 'there is only one rank, but at least two are needed: mpiexec -n 2' "$scratch/out" || fail "one rank: $(cat "$scratch/out")"
expect_end "unknown algorithm" any "did you mean 'ring'" bench 2 --algo=rign
expect_end "a type without the op" any 'MPI_BAND does not take MPI_FLOAT' bench 2 --op=band
expect_end "half an element" any '2 bytes is out of range; allowed: 4 to' bench 2 --sizes=2
expect_end "half an element behind a good size" any '2 bytes is out of range; allowed: 4 to' bench 2 --algo=ring --sizes=8,2 --json
! grep '"complete"' "$scratch/out" || fail "half an element: sizes were measured before it was refused"
expect_end "more places than ranks" any '--nodes=2x2 places 4 ranks, but there are 2: start it with mpiexec -n 4' bench 2 --nodes=2x2
expect_end "an unknown shape" any "'2x'; allowed: H nodes of R ranks each" bench 2 --nodes=2x
expect_end "no host file" any 'No such file' bench 2 --nodes=/nowhere/hosts
expect_end "unknown option" any 'unrecognized option' bench 2 --sise=2
for subcommand in bench tune; do
    for option in --help --usage; do
        expect_ok "$subcommand $option" launch 2 ./allreduce $subcommand $option
        [ "$(grep -c '^Usage' "$scratch/out")" -eq 1 ] || fail "$subcommand $option comes not once"
    done
done
exit $failed
