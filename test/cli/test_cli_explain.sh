#!/bin/sh
# allreduce explain proves, draws and counts every row, and errors name what to type.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

# has_picture NAME RANKS: an SVG with an arrow, in whose last round every rank holds all.
has_picture() {
    picture=$scratch/$1-$2.svg
    ./allreduce explain "$1" -n "$2" --svg "$picture" >/dev/null || fail "--svg: $1 on $2 ranks: exit $?"
    grep -Eq '<path class="(sum|copy)" d="M[0-9]+ [0-9]+L' "$picture" || fail "--svg: $1 on $2 ranks: no arrow"
    rounds=$(grep -c '>round [0-9]*<' "$picture")
    cells=$(($(grep -c '<title>rank [0-9]*, block' "$picture") / (rounds + 1)))
    ends=$(grep '<title>rank [0-9]*, block' "$picture" | tail -n $cells | grep -c ': all</title>')
    [ "$ends" -eq $cells ] || fail "--svg: $1 on $2 ranks: not all hold all at the end"
}

# are_xml FILE...: all at once; a picture of many ranks is too much for a parser that builds a tree.
are_xml() {
    python3 -c 'import sys, xml.parsers.expat
for name in sys.argv[1:]:
    with open(name, "rb") as file:
        try:
            xml.parsers.expat.ParserCreate().ParseFile(file)
        except xml.parsers.expat.ExpatError as error:
            sys.exit(name + ": " + str(error))' "$@"
}

# Nothing to reduce, nobody to reduce it with: an answer still.
for what in "ring -n 4 -s 0" "ring -n 1" "--compare -n 4 -s 0" "auto -n 1"; do
    # shellcheck disable=SC2086
    timeout 30 ./allreduce explain $what --machine "${srcdir:-.}/machines/gigabit.machine" >"$scratch/out" 2>&1 ||
        fail "$what: exit $?: $(cat "$scratch/out")"
done

names=$(./allreduce list --names)
[ -n "$names" ] || fail "no names"
for name in $names; do
    for ranks in 1 2 5 8; do
        ./allreduce explain "$name" -n $ranks >"$scratch/out" 2>&1 || fail "$name on $ranks ranks: exit $?"
        grep -q '^proved: ' "$scratch/out" || fail "$name on $ranks ranks: not proved"
        tail -n 30 "$scratch/out" | grep -Eq '^ +[A-Z-]+( +all){'$ranks'}$' ||
            fail "$name on $ranks ranks: the figure does not end with all ranks holding all"
    done
    has_picture "$name" 5
    ./allreduce explain "$name" --nodes=3x2 -s 24 >"$scratch/out" 2>&1 || fail "$name --nodes: exit $?"
done
./allreduce explain rinf 2>&1 | grep -q "did you mean 'ring'" || fail "no hint at ring"
./allreduce explain rinf >/dev/null 2>&1
[ $? -eq 2 ] || fail "an unknown name does not exit with 2"
./allreduce explain --rules 'ring:0-8' -n 4 | grep -q '^9-.* auto: ' || fail "no auto where no clause matches"
./allreduce explain --rules 'ring:0-8K;star' -s 8193 >"$scratch/out" || fail "--rules with a size: exit $?"
[ "$(grep -c '^[0-9]*-' "$scratch/out")" -eq 1 ] || fail "--rules with a size: other than one line: $(cat "$scratch/out")"
grep -q '^8193-inf  *2  star' "$scratch/out" || fail "--rules with a size: $(cat "$scratch/out")"
# What many clauses take from many others is found in time.
awk 'BEGIN { print "star"; for (i = 1; i <= 4000; i++) print "ring:" i "-" i + 9 }' >"$scratch/many"
timeout 20 ./allreduce explain --rules "$scratch/many" >"$scratch/out" || fail "4000 shadowed clauses: exit $?"
[ "$(grep -c ' is shadowed: all its sizes are taken by clause 1$' "$scratch/out")" -eq 4000 ] || fail "4000 shadowed clauses: not all told"
# A vector that no message carries whole is cut, and the text says so: what follows is about a segment.
./allreduce explain star -n 4 -s 1G >"$scratch/out" || fail "a very long message: exit $?"
grep -q 'in 4 segments, 1 in flight; below, one of 44739239$' "$scratch/out" || fail "a very long message: no segments: $(cat "$scratch/out")"
awk '$1 == "time," && $2 == "us" { exit $3 != $4 }' "$scratch/out" || fail "a very long message: the time is not that of the card"
./allreduce explain ring >/dev/full 2>/dev/null
[ $? -eq 1 ] || fail "a full disk does not exit with 1"
./allreduce explain ring --svg "$scratch" >/dev/null 2>"$scratch/out"
[ $? -eq 1 ] || fail "--svg into a folder does not exit with 1"
grep -q 'Is a directory' "$scratch/out" || fail "--svg into a folder: not told why"
./allreduce explain ring --svg - | head -n 1 | grep -q '^<svg ' || fail "--svg - prints more than the picture"
has_picture ring 64
if command -v python3 >/dev/null; then
    are_xml "$scratch"/*.svg || fail "--svg: not XML"
fi

# What is printed as a schedule is read back.
for what in 'ring -n 5' 'two_level --nodes=3x2' 'shm(levels=2) -n 6' 'knomial -n 9 -s 1M'; do
    # shellcheck disable=SC2086
    ./allreduce explain $what --schedule >"$scratch/schedule" || fail "$what --schedule: exit $?"
    ./allreduce explain "$scratch/schedule" >"$scratch/out" || fail "$what as a schedule: exit $?"
    grep -q "^schedule:${what%%[ (]*}#" "$scratch/out" || fail "$what as a schedule: $(head -n 1 "$scratch/out")"
    grep -q '^proved' "$scratch/out" || fail "$what as a schedule is not proved"
done
# Those that are shown in doc/teaching.md, and what its answers say of the broken one.
# Long ones as well, and again they are the same.  What is longer than any is refused at once.
for n in 128 256; do
    ./allreduce explain ring -n $n --schedule >"$scratch/schedule" || fail "ring -n $n --schedule: exit $?"
    ./allreduce explain "$scratch/schedule" >"$scratch/out" || fail "ring -n $n as a schedule: exit $?"
    grep -q '^proved' "$scratch/out" || fail "ring -n $n as a schedule is not proved"
    ./allreduce explain "$scratch/schedule" --schedule | sed 2d >"$scratch/again"
    sed 2d "$scratch/schedule" | cmp - "$scratch/again" || fail "ring -n $n is another when it is read back"
done
truncate -s 65M "$scratch/schedule"
./allreduce explain "$scratch/schedule" 2>&1 | grep -q 'schedule: longer than 67108864 bytes$' || fail "a file that is too long is read"

# A figure that nobody could read is not drawn.
printf '%s\n' 'allreduce-schedule 1' 'ranks 2' 'blocks 2' 'tmp t = block 0' 'for k in 0..99999' \
    ' all r: send in.0 to r+1; recv_reduce in.0 from r-1 to tmp.t' 'all r: send in.* to r+1; recv_reduce * from r-1' >"$scratch/schedule"
./allreduce explain "$scratch/schedule" >"$scratch/out" || fail "100,001 rounds: exit $?"
grep -q '^(no figure is drawn of so many rounds and blocks)$' "$scratch/out" || fail "100,001 rounds: $(head "$scratch/out")"

schedules=${srcdir:-.}/demo/schedules
for file in "$schedules"/*.schedule; do
    ./allreduce explain "$file" >"$scratch/out" 2>&1
    status=$?
    case $file in
    */broken-*) [ $status -eq 1 ] || fail "$file: exit $status" ;;
    *) [ $status -eq 0 ] || fail "$file: exit $status" ;;
    esac
done
./allreduce explain "$schedules/broken-ring-5.schedule" 2>&1 | grep -q 'line 7: .*: a deadlock$' || fail "no deadlock is found"
sed 's/\(recv_reduce r-k-1 from r-1\) | \(send.*\)/\2; \1/' "$schedules/broken-ring-5.schedule" >"$scratch/schedule"
./allreduce explain "$scratch/schedule" 2>&1 | grep -q 'line 9: .*round 5 .*twice' || fail "no block that counts twice is found"
awk -v P=6 -v ROOT=2 -f "$schedules/star.awk" >"$scratch/schedule"
./allreduce explain "$scratch/schedule" >/dev/null || fail "a star by awk: exit $?"
PATH=$PWD:$PATH "$schedules/contest" "$schedules" 64K >"$scratch/out" || fail "contest: exit $?"
awk 'NR == 2 { first = $3 } END { exit NR != 6 || first != "ring-5.schedule" || $3 != "broken-ring-5.schedule" }' "$scratch/out" ||
    fail "contest: $(cat "$scratch/out")"

# An allreduce of MSCCL: a ring of 5 GPUs with 2 thread blocks each, as its synthesisers write it.
ring_of_gpus() {
    awk 'function step(type, block) {
        block = ((r - s) % 5 + 5) % 5 * 2 + tb
        printf "<step s=\"%d\" type=\"%s\" srcbuf=\"i\" srcoff=\"%d\" dstbuf=\"i\" dstoff=\"%d\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/>\n", s, type, block, block
    }
    BEGIN {
        print "<algo name=\"two rings\" nchunksperloop=\"10\" coll=\"allreduce\" inplace=\"1\">"
        for (r = 0; r < 5; r++) {
            print "<gpu id=\"" r "\">"
            for (tb = 0; tb < 2; tb++) {
                print "<tb id=\"" tb "\" send=\"" (r + 1) % 5 "\" recv=\"" (r + 4) % 5 "\" chan=\"" tb "\">"
                for (s = 0; s < 9; s++)
                    step(s == 0 ? "s" : s < 4 ? "rrs" : s == 4 ? "rrcs" : s < 8 ? "rcs" : "r")
                print "</tb>"
            }
            print "</gpu>"
        }
        print "</algo>"
    }'
}
if command -v python3 >/dev/null; then
    ring_of_gpus >"$scratch/ring.xml"
    "$schedules/from-msccl" "$scratch/ring.xml" >"$scratch/schedule" || fail "from-msccl: exit $?"
    ./allreduce explain "$scratch/schedule" >"$scratch/out" || fail "from-msccl: exit $? of explain"
    grep -q '^schedule:two-rings#' "$scratch/out" || fail "from-msccl: $(cat "$scratch/out")"
    grep -q '^  rounds  *8 ' "$scratch/out" || fail "from-msccl: other than 8 rounds: $(cat "$scratch/out")"
    for change in 's/"allreduce"/"allgather"/ allowed:.allreduce' 's/"rcs"/"rxs"/ allowed:.s,' 's/depid="-1"/depid="9"/ thread.block.9' \
        's/srcoff="4"/srcoff=""/ whole.number' 's/type="s"/type="r"/ for.ever'; do
        sed "${change% *}" "$scratch/ring.xml" >"$scratch/bad.xml"
        ! "$schedules/from-msccl" "$scratch/bad.xml" >"$scratch/out" 2>&1 || fail "from-msccl: $change passes"
        grep -q "^from-msccl: .*${change##* }" "$scratch/out" || fail "from-msccl: $change: $(cat "$scratch/out")"
    done
fi
# For programs: each step of the ring, whose rounds count from 1 on each rank.
[ "$(command -v python3)" = '' ] || ./allreduce explain ring -n 5 --schedule --json | python3 -c 'import collections, json, sys
schedule = json.load(sys.stdin)
steps = schedule["steps"]
kinds = collections.Counter(step["step"] for step in steps)
assert (schedule["format"], schedule["ranks"], schedule["blocks"]) == (1, 5, 5)
assert kinds == {"send": 40, "recv_reduce": 20, "recv": 20}, kinds
assert all(step["peer"] == (step["rank"] + (1 if step["step"] == "send" else 4)) % 5 for step in steps)
assert {step["round"] for step in steps if step["rank"] == 3} == set(range(1, 9))' || fail "--schedule --json"
./allreduce explain ring --schedule --svg - >/dev/null 2>&1
[ $? -eq 2 ] || fail "--schedule with --svg does not exit with 2"
exit $failed
