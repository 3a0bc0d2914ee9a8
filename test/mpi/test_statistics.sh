#!/bin/sh
# ALLREDUCE_STATS: all calls of all ranks are in the file, each with what it asked for, what ran
# and why, whatever the program and its end are like.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=30
file=$scratch/stats.jsonl
export ALLREDUCE_STATS="$file"

# run RANKS [VARIABLE=VALUE...] PROGRAM ARGUMENT: new statistics; the program says nothing.
run() {
    rm -f "$scratch"/stats*
    title="$*"
    expect_ok "$title" preload "$@"
    [ ! -s "$scratch/out" ] || {
        fail "$title printed:"
        cat "$scratch/out"
    }
}

# field NAME: that field of the rows on stdin.
field() {
    sed -n "s/.*\"$1\": \"\{0,1\}\([^,\"}]*\).*/\1/p"
}

# expect_field FILE PATTERN NAME VALUE: the only row that matches PATTERN has this value.
expect_field() {
    found=$(grep -e "$2" "$1" | field "$3")
    [ "$found" = "$4" ] || {
        fail "$title: $3 of $2 is '$found', not $4"
        cut -c 1-500 "$1"
    }
}

# expect_rows_of FILE N
expect_rows_of() {
    [ "$(grep -c '"call":' "$1")" -eq "$2" ] || {
        fail "$title: not $2 rows in $1:"
        cut -c 1-500 "$1"
    }
}

# No rank's own file is there once all are gathered.
expect_gathered() {
    [ "$(find "$scratch" -name 'stats*' | wc -l)" -eq 1 ] || fail "$title: not one file"
    expect_field "$1" '"format"' ranks "$2"
}

run 4 ALLREDUCE_ALGO='ring:0-64;native' "$programs/statistics" all
expect_gathered "$file" 4
expect_field "$file" MPI_DOUBLE calls 20
expect_field "$file" MPI_DOUBLE bytes 160
expect_field "$file" MPI_DOUBLE comm_size 4
expect_field "$file" MPI_DOUBLE nodes 1
expect_field "$file" MPI_DOUBLE bytes_from 8
expect_field "$file" MPI_DOUBLE bytes_to 15
expect_field "$file" MPI_DOUBLE ran ring
expect_field "$file" MPI_DOUBLE reason named
expect_field "$file" MPI_DOUBLE op MPI_SUM
expect_field "$file" MPI_MAX calls 12
expect_field "$file" MPI_MAX comm_size 2
expect_field "$file" MPI_MAX ran native
expect_field "$file" MPI_MAX requested native
expect_field "$file" MPI_MAX wait_ns null
expect_field "$file" 'nothing to reduce' calls 4
expect_field "$file" '"call": "MPI_Iallreduce"' calls 8
expect_field "$file" '"call": "MPI_Iallreduce"' bytes 32
expect_field "$file" '"call": "MPI_Iallreduce"' ns null
expect_field "$file" '"call": "MPI_Iallreduce"' in_place null
if grep -q MPI_Allreduce_init "$file"; then
    expect_field "$file" '"call": "MPI_Allreduce_init"' calls 4
    expect_rows_of "$file" 5
else
    expect_rows_of "$file" 4
fi
for name in min_ns median_ns p99_ns max_ns setup_ns ns; do
    [ "$(grep MPI_DOUBLE "$file" | field $name)" -gt 0 ] || fail "$title: no $name"
done

# Calls in place have a row of their own, and only then is it known that they are.
for algo in ring native; do
    run 2 ALLREDUCE_ALGO="$algo" "$programs/statistics" places
    expect_rows_of "$file" 2
    expect_field "$file" '"in_place": true' calls 6
    expect_field "$file" '"in_place": false' calls 8
done

# Each message size is counted by itself, up to 16 sizes in one bin, in our calls and in native ones.
for algo in ring native; do
    run 2 ALLREDUCE_ALGO="$algo" "$programs/statistics" sizes
    expect_rows_of "$file" 2
    expect_field "$file" '"bytes_from": 256,' calls 420
    grep '"bytes_from": 128,' "$file" | grep -q '"sizes": \[\[200, 14, [0-9]*\]\], ' || fail "$title: not 14 calls of 200 bytes"
    sizes=$(grep '"bytes_from": 256,' "$file" | sed 's/.*"sizes": \[\(\[[^a-z]*\]\)\], .*/\1/; s/, [0-9]*\]/]/g')
    wanted=
    for i in $(seq 19 -1 4); do
        wanted="$wanted${wanted:+, }[$((256 + 4 * i)), $((2 * i + 2))]"
    done
    [ "$sizes" = "$wanted" ] || fail "$title: sizes are $sizes, not $wanted"
done

# What was asked for stands beside what ran.
# On how many nodes a communicator is: without that its times are compared with no other's.
[ "$AR_MPI_FAMILY" != mpich ] || {
    run 4 MPIR_CVAR_NUM_CLIQUES=2 ALLREDUCE_ALGO=ring "$programs/statistics" all
    expect_field "$file" MPI_DOUBLE nodes 2
}

run 3 ALLREDUCE_ALGO='knomial(radix=3)' "$programs/statistics" derived
expect_field "$file" '"bytes_from": 8,' requested "knomial(radix=3)"
expect_field "$file" '"bytes_from": 16,' calls 6
expect_field "$file" '"bytes_from": 8,' type derived
expect_field "$file" '"bytes_from": 8,' op user
expect_rows_of "$file" 3
run 2 ALLREDUCE_ALGO_LIST=star "$programs/statistics" all
expect_field "$file" MPI_DOUBLE requested auto
expect_field "$file" MPI_DOUBLE ran 'star(root=0)'
run 2 ALLREDUCE_ALGO=native "$programs/statistics" all
expect_field "$file" MPI_DOUBLE requested native
expect_field "$file" MPI_DOUBLE reason named

# Communicators are told apart by the names that they have in the end; those that nobody named are together.
run 2 "$programs/statistics" named
expect_field "$file" '"MPI_Allreduce", "comm": "first"' calls 2
expect_field "$file" '"MPI_Iallreduce", "comm": "first"' calls 10
expect_field "$file" '"comm": "the \\"second\\" <b>"' calls 4
expect_field "$file" '"comm": "dritte Stüfe"' calls 6
expect_field "$file" '"comm": ""' calls 8
expect_rows_of "$file" 5
expect_field "$file" '"rank": 1, "host"' compared 10 # 1 + 2 + 3 + 4, on communicators of the same ranks
# A name that is too many for one rank is so for all: 48 of 80 are told apart, by both.
run 2 "$programs/statistics" names
expect_field "$file" '"comm": "(others)"' calls 64
expect_field "$file" '"comm": "number 40"' calls 2
expect_rows_of "$file" 49
run 2 "$programs/statistics" named
[ "$HAVE_JANSSON" = no ] || ./allreduce report "$file" >"$scratch/out"
[ "$HAVE_JANSSON" = no ] || grep -q ' 3 * 2  dritte Stüfe *4 ' "$scratch/out" || {
    fail "$title: the report does not tell communicators apart"
    cat "$scratch/out"
}

# Each place that calls has a row, which all ranks share, at whatever addresses they have the program.
run 3 ALLREDUCE_ALGO='ring:0-64;native' "$programs/statistics" all
expect_field "$file" '"entry": "MPI_Iallreduce"' calls 6
expect_field "$file" '"entry": "MPI_Iallreduce"' ranks 3
for calls in 3 9 15; do # without elements, on halves of the world, on all of it
    expect_field "$file" "\"entry\": \"MPI_Allreduce\".*\"calls\": $calls," module "$programs/statistics"
done
[ "$(grep -c '"site": "statistics+0x' "$file")" -eq "$(grep -c '"site"' "$file")" ] || fail "$title: sites elsewhere"

# Runs of calls that are alike, one after the other.  Another call, another place, and a pause end one; so may a machine
# that takes a rank's core away between two calls, and then the program runs again.
for algo in ring native; do
    tries=0
    found=
    while [ "$found" != '14 48 448 2' ] && [ $tries -lt 10 ]; do
        run 2 ALLREDUCE_ALGO=$algo "$programs/statistics" runs
        grep '"runs": [1-9]' "$file" >"$scratch/site"
        found="$(field runs <"$scratch/site") $(field runs_calls <"$scratch/site") $(field runs_bytes <"$scratch/site") $(field runs_comm_size <"$scratch/site")"
        [ "$(field runs_calls <"$scratch/site")" -le 48 ] || tries=10
        tries=$((tries + 1))
    done
    [ "$found" = '14 48 448 2' ] || fail "$title: runs of $found: $(grep '"site"' "$file")"
    ns=$(field runs_ns <"$scratch/site")
    if [ "$ns" -le 0 ] || [ "$ns" -gt "$(field ns <"$scratch/site")" ]; then
        fail "$title: $ns ns in runs: $(cat "$scratch/site")"
    fi
done

# The report says what they cost.  A busy machine adds waiting, which is taken out here.
run 2 "$programs/statistics" elements
awk -F '"own_ns": ' '/"call":/ { split($2, own, ",")
    match($0, /"calls": [0-9]*/)
    ns = own[1] * substr($0, RSTART + 9, RLENGTH - 9)
    gsub(/"setup_ns": [0-9]*, "ns": [0-9]*, "wait_ns": [0-9]*/, "\"setup_ns\": 0, \"ns\": " ns ", \"wait_ns\": 0") }
    { print }' "$file" >"$scratch/unwaited.jsonl"
[ "$HAVE_JANSSON" = no ] || ./allreduce report "$scratch/unwaited.jsonl" >"$scratch/out"
where='\(statistics\.c:[0-9]*\|statistics+0x[0-9a-f]*\|(call_in_a_row)\)'
[ "$HAVE_JANSSON" = no ] ||
    grep -q "^[^ ]*$where makes runs of \(about \)\{0,1\}[345][0-9] calls of 8 bytes in a row: one call of [34][0-9][0-9] bytes would take .* instead of " "$scratch/out" ||
    fail "$title: the report tells no runs: $(cat "$scratch/out")"

# A binding for Fortran is no place of the program's: what calls it is, through one function of it or two.
for program in fortran_mpif fortran_f08; do
    [ -x "$programs/$program" ] || continue
    run 2 "$programs/$program"
    [ "$(grep -c "\"site\": \"$program+0x" "$file")" -ge 5 ] || {
        fail "$title: fewer than 5 sites"
        grep '"site"' "$file"
    }
    [ "$(grep '"site"' "$file" | grep -c -v "\"module\": \"$programs/$program\"")" -eq 0 ] || {
        fail "$title: sites elsewhere"
        grep '"site"' "$file"
    }
done

# Late ranks: the last one waits for nobody, and the others for 2.1 s each.
for algorithm in shm butterfly; do
    run 3 ALLREDUCE_ALGO=$algorithm "$programs/statistics" late
    quickest=$(sed -n 's/.*"quickest": {"rank": \([0-9]*\).*/\1/p' "$file")
    waited=$(grep '"call":' "$file" | field wait_ns)
    [ "$quickest" = 2 ] || fail "$title: rank $quickest is the quickest"
    if [ "$waited" -lt 1260000000 ] || [ "$waited" -gt "$(grep '"call":' "$file" | field ns)" ]; then
        fail "$title: $waited ns of waiting"
    fi
    # In 35 calls, every second one, times are compared; the machine may hold up others in some.
    expect_field "$file" '"rank": 2, "host"' compared 35
    expect_field "$file" '"rank": 2, "host"' calls 70
    expect_field "$file" '"format"' hosts 1
    late=$(grep '"rank": 2, "host"' "$file" | field late)
    [ "$late" -ge 28 ] || fail "$title: rank 2 was late in $late calls"
    late_ns=$(grep '"rank": 2, "host"' "$file" | field late_ns)
    [ "$late_ns" -ge $((late * 20000000)) ] || fail "$title: rank 2 was late by $late_ns ns in $late calls"
    for rank in 0 1; do
        late=$(grep "\"rank\": $rank, \"host\"" "$file" | field late)
        [ "$late" -le 7 ] || fail "$title: rank $rank was late in $late calls"
    done
done

# Of each timed call, on the world and on halves of it, one rank came first.
run 4 ALLREDUCE_ALGO=native "$programs/statistics" all
for rank in 0 1 2 3; do
    expect_field "$file" "\"rank\": $rank, \"host\"" compared 8
done
firsts=0
for first in $(grep '"host"' "$file" | field first); do
    firsts=$((firsts + first))
done
[ $firsts -eq 11 ] || fail "$title: $firsts calls of 5 + 2 x 3 had a first rank"
expect_field "$file" '"format"' command "$programs/statistics all"
grep -q '"library": "MPICH Version\|"library": "Open MPI v' "$file" || fail "$title: not told what the MPI library is"

# Ranks that never met write a file each.
run 4 "$programs/statistics" halves
for rank in 0 1 2 3; do
    expect_field "$file.rank$rank" MPI_MAX calls 3
    expect_field "$file.rank$rank" '"format"' rank $rank
done
[ ! -e "$file" ] || fail "$title: wrote a file of all"
preload 2 ALLREDUCE_STATS="$file" "$programs/statistics" passing >"$scratch/out" 2>&1 || fail "$title: passing: status $?"
{ [ "$(grep -c '^liballreduce: ' "$scratch/out")" -eq 1 ] &&
    grep -q '^liballreduce: no call of MPI_Allreduce on rank 0; it called MPI_Iallreduce (1), which' "$scratch/out"; } ||
    fail "$title: a program without a blocking allreduce did not hear of it: $(cat "$scratch/out")"
expect_field "$file.rank1" '"call": "MPI_Iallreduce"' calls 1

# The table does not depend on what the program has made of its stream.
expect_row "a wide stderr" ring 1 preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring "$programs/statistics" wide

# A program that uses sessions alone: gathered when it frees its communicator.
rm -f "$scratch"/stats*
title=session
preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_TUNE=online ALLREDUCE_TUNE_DUMP="$scratch/rules" ALLREDUCE_ALGO=ring \
    "$programs/exits" session >"$scratch/out" 2>&1
status=$?
[ $status -eq 77 ] || {
    expect_gathered "$file" 3
    expect_field "$file" MPI_INT calls 15
    expect_calls session ring 5
    grep -q '^#! tuned: mpi=.*; cpu=' "$scratch/rules" || fail "$title: no rules: $(ls "$scratch")"
}

# A rank whose first call comes before MPI_Init gathers with the others, whose first calls come after it.
rm -f "$scratch"/stats*
title="a session before MPI_Init"
preload 2 "$programs/sessions" world >"$scratch/out" 2>&1
status=$?
[ $status -eq 77 ] || {
    [ $status -eq 0 ] || fail "$title: ended with $status"
    expect_gathered "$file" 2
    expect_field "$file" '"bytes_from": 4,' calls 3
    expect_field "$file" '"bytes_from": 8,' calls 10
    expect_field "$file" '"rank": 0, "host"' calls 8
}

# At a signal, a rank that waits in an allreduce tells so, and by which name the communicator goes now.  Another signal
# follows where it did not wait yet, or not for long; the other rank comes after that.
rm -f "$scratch"/stats*
title="a signal"
limit=90
preload 2 ALLREDUCE_STATS_SIGNAL=USR2 "$programs/statistics" hang "$scratch/seen" >"$scratch/out" 2>&1 &
job=$!
tries=0
while [ "$(grep -c waits "$scratch/out")" -lt 1 ] && [ $tries -lt 200 ]; do
    sleep 0.1
    tries=$((tries + 1))
done
waits=$(sed -n 's/waits: //p' "$scratch/out")
tries=0
running=0
while [ "$running" -le 100000000 ] && [ $tries -lt 400 ]; do
    rm -f "$file.rank0"
    kill -s USR2 "$waits" || break
    sleep 0.1
    tries=$((tries + 1))
    while [ ! -s "$file.rank0" ] && [ $tries -lt 400 ]; do
        sleep 0.1
        tries=$((tries + 1))
    done
    running=$(field running_ns <"$file.rank0" | grep -x '[0-9][0-9]*')
    running=${running:-0}
done
: >"$scratch/seen"
limit=30
wait $job || fail "$title: ended with an error"
expect_field "$file.rank0" MPI_DOUBLE calls 5
expect_field "$file.rank0" '"host"' calls 5
expect_field "$file.rank0" '"host"' late null
expect_field "$file.rank0" MPI_DOUBLE comm 'the new name'
[ "$running" -gt 100000000 ] || fail "$title: no call under way"
expect_field "$file" MPI_DOUBLE calls 12
expect_field "$file" MPI_DOUBLE running_ns null

# Text for people, and a name of its own for each job.
ALLREDUCE_STATS=$scratch/stats.%p.txt
run 2 ALLREDUCE_ALGO=ring "$programs/statistics" all
name=$(find "$scratch" -name 'stats*')
printf '%s\n' "$name" | grep -q '/stats\.[0-9][0-9]*\.txt$' || fail "%p: wrote $name"
grep -q '^ *10 .* 2 *8  MPI_DOUBLE *MPI_SUM *ring *ring *MPI_COMM_WORLD *named$' "$name" || {
    fail "text: no row of 10 calls"
    cat "$name"
}

# The job, the user and the host in a name.
rm -f "$scratch"/stats*
mkdir "$scratch/ann"
ALLREDUCE_STATS=$scratch/%u/stats.%j.%h.jsonl
run 2 SLURM_JOB_ID=77 USER=ann ALLREDUCE_ALGO=ring "$programs/statistics" all
[ -s "$scratch/ann/stats.77.$(hostname).jsonl" ] || fail "%u, %j, %h: wrote $(ls "$scratch/ann")"

# Ranks with different settings: rank 0's count.
cat >"$scratch/by_rank" <<'SCRIPT'
#!/bin/sh
rank=${PMI_RANK-${OMPI_COMM_WORLD_RANK-0}}
[ "$rank" = "$1" ] && export ALLREDUCE_STATS="$2"
shift 2
exec env "$@"
SCRIPT
chmod +x "$scratch/by_rank"
unset ALLREDUCE_STATS
for rank in 0 1; do
    rm -f "$scratch"/stats*
    expect_ok "one rank's setting" launch 2 "$scratch/by_rank" $rank "$file" LD_PRELOAD="$library" \
        "$programs/statistics" late
    case $rank in
    0) expect_field "$file" MPI_DOUBLE calls 140 ;;
    1) [ ! -e "$file" ] || fail "rank 1's setting counted" ;;
    esac
done

# A file that cannot be written is told at once, by the column.
preload 2 ALLREDUCE_STATS=/nowhere/x "$programs/few_calls" >"$scratch/out" 2>&1
expect_refusal_of() {
    grep -q "^liballreduce: ALLREDUCE_STATS: column $1" "$scratch/out" || {
        fail "a bad file name: not told"
        cat "$scratch/out"
    }
}
expect_refusal_of 1
preload 2 ALLREDUCE_STATS=/tmp/a%q "$programs/few_calls" >"$scratch/out" 2>&1
expect_refusal_of 7
preload 2 ALLREDUCE_STATS= ALLREDUCE_STATS_SIGNAL=USR1 "$programs/few_calls" >"$scratch/out" 2>&1
grep -q 'ALLREDUCE_STATS_SIGNAL: there is no file' "$scratch/out" || fail "a signal without a file: taken"

# What we compute beside a reduction ends no program that traps floating-point exceptions, and leaves none.  MPICH itself
# computes when ranks first send each other long messages.
steps="$([ "$AR_MPI_FAMILY" = openmpi ] || echo world) flags traps world fresh"
# shellcheck disable=SC2086 # words
expect_ok 'traps, natively' launch 2 "$programs/environment" $steps
# shellcheck disable=SC2086 # words
expect_ok 'traps' preload 2 ALLREDUCE_VERBOSE=2 ALLREDUCE_STATS="$file" ALLREDUCE_TRACE="$scratch/trace.json" \
    ALLREDUCE_ALGO='auto:0-1K;segmented_ring(segment=8K,window=auto)' "$programs/environment" $steps
# shellcheck disable=SC2046 # words
expect_ok 'traps while calls are tuned' preload 2 ALLREDUCE_TUNE=online ALLREDUCE_TUNE_DUMP="$scratch/tuned" \
    ALLREDUCE_VERIFY=1/9 "$programs/environment" world flags traps $(yes world | head -n 60)
grep -q 'tuned online' "$scratch/tuned" || fail 'traps while calls are tuned: nothing was tuned'
exit $failed
