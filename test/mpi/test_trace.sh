#!/bin/sh
# ALLREDUCE_TRACE: a file that a viewer can read, of all ranks on one clock, with as many rounds and messages as the
# schedule has.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"
# shellcheck source=test/browser.sh
. "${srcdir:-.}/test/browser.sh"

command -v python3 >/dev/null || {
    echo "no python3"
    exit 77
}
limit=30
file=$scratch/trace.json

# check FILE WHAT...: check_trace.py finds nothing wrong with the file.
check() {
    python3 "${srcdir:-.}/test/mpi/check_trace.py" "$@" >"$scratch/found" 2>&1 || {
        fail "$title: $*"
        cat "$scratch/found"
    }
}

# trace SETTINGS [VARIABLE=VALUE...] PROGRAM...: runs on 3 ranks; the program says nothing.
trace() {
    settings=$1
    shift
    title="ALLREDUCE_TRACE=FILE$settings $*"
    rm -f "$file"*
    expect_ok "$title" preload 3 ALLREDUCE_TRACE="$file$settings" "$@"
    [ ! -s "$scratch/out" ] || {
        fail "$title printed:"
        cat "$scratch/out"
    }
}

# number ALGORITHM NAME: what explain says of the longest message of the program on 3 ranks.
number() {
    ./allreduce explain "$1" -n 3 -e 4 -s 80000 | sed -n "s/^  $2  *\(.*[0-9]\) *\$/\1/p" | tail -n 1
}

# Of calls on two communicators one has that message.
for algorithm in butterfly ring reduce_bcast; do
    rounds=$(number $algorithm rounds | sed 's/ .*//')
    messages=$(number $algorithm messages | sed 's/.* //')
    trace ,calls=4 ALLREDUCE_ALGO=$algorithm "$programs/repeat" 5
    check "$file" only=4 calls=6 bytes=80000 "rounds=$rounds" "messages=$messages"
done

# In segments of which several are in flight, and in chunks that overlap.
segmented() {
    trace '' ALLREDUCE_ALGO='ring(segment=8K,window=3)' "$programs/repeat" 4
    check "$file" calls=24 bytes=80000 "rounds=$(number ring rounds | sed 's/ .*//')"
}
segmented

# The page of the longest of these calls with such a message: 3 ranks with their rounds and work, and arrows between them.
# The messages of a round carry the time of its beginning.  If a rank lost its core right after that, and another rank
# arrived meanwhile, what the first one sent seems to have delayed nobody; then the calls are repeated.
if [ "${HAVE_JANSSON:-yes}" = yes ]; then
    for _ in 1 2 3; do
        title="the page of a timeline"
        call=$(./allreduce report --timeline "$file" | awk '$6 == 80000 { print $1; exit }')
        expect_ok "$title" ./allreduce report --timeline "$file" --call "$call" --html "$scratch/page.html"
        grep -q '^The critical path leads from' "$scratch/out" && break
        segmented
    done
    grep -q '^The critical path leads from' "$scratch/out" || fail "$title: no path: $(cat "$scratch/out")"
    [ "$(wc -c <"$scratch/page.html")" -le 200000 ] || fail "$title: $(wc -c <"$scratch/page.html") bytes"
    if need_browser; then
        answer=$(in_page "$scratch/page.html" 1200 "document.getElementById('whole').click();
            const n = what => document.querySelectorAll('#timeline ' + what).length;
            return [n('rect.call'), n('rect.round') > 3, n('rect.work') > 3, n('path.tip') > 3,
                document.documentElement.scrollWidth <= innerWidth].join()")
        [ "$answer" = 3,true,true,true,true ] || fail "$title: in the browser '$answer'"
    fi
fi
trace '' ALLREDUCE_ALGO='shm(segment=8K,whole=1)' "$programs/repeat" 4
check "$file" calls=24 bytes=80000 "rounds=$(number 'shm(whole=1)' rounds | sed 's/ .*//')"

# Of native calls arrival and leaving are known.
trace ,calls=1-2 ALLREDUCE_ALGO=native "$programs/repeat" 2
check "$file" calls=12

# What does not fit into the memory is counted.
trace ,memory=64K ALLREDUCE_ALGO=ring "$programs/repeat" 100
check "$file" calls=600 lost=yes

# Another clock on one rank: its offset is found.
cat >"$scratch/other_clock" <<'SCRIPT'
#!/bin/sh
[ "${PMI_RANK-${OMPI_COMM_WORLD_RANK-0}}" != 1 ] || exec unshare --time --monotonic 100000 --fork "$@"
exec "$@"
SCRIPT
chmod +x "$scratch/other_clock"
if unshare --time --monotonic 100000 --fork true 2>/dev/null; then
    for algorithm in ring shm; do
        title="another clock, $algorithm"
        rm -f "$file"*
        expect_ok "$title" launch 3 "$scratch/other_clock" env LD_PRELOAD="$library" \
            ALLREDUCE_TRACE="$file" ALLREDUCE_ALGO=$algorithm "$programs/repeat" 4
        check "$file" calls=24 error=yes
    done
else
    echo "no other clock: this process may not make a time namespace"
fi

# trace_alone PROGRAM...: of ranks that do not end together, none writes a file of all.
trace_alone() {
    title="$*"
    rm -f "$file"*
    preload 2 ALLREDUCE_TRACE="$file" ALLREDUCE_ALGO=ring "$@" >"$scratch/out" 2>&1
    [ ! -e "$file" ] || fail "$title: wrote a file of all"
}

# Ranks that never met write a file each, as do those that leave without MPI_Finalize; of these MPICH's launcher may end
# one before it has written.
trace_alone "$programs/statistics" halves
check "$file.rank0"
check "$file.rank1"
for _ in 1 2 3 4 5; do
    rm -f "$file"*
    preload 1 ALLREDUCE_TRACE="$file" "$programs/exits" exit_beside >"$scratch/out" 2>&1
    grep -q -i -E 'signal 11|segmentation|bad termination' "$scratch/out" && fail "exit beside a call: $(cat "$scratch/out")"
    check "$file.rank0"
done
# What came before a call that does not end is not lost.
trace_alone "$programs/exits" exit_waiting
check "$file.rank0"
[ "$(./allreduce report --timeline "$file.rank0" | grep -c ' ring ')" -ge 2 ] || fail "exit beside a call that waits: $(cat "$file.rank0")"
trace_alone "$programs/exits" exit
for each in "$file".rank*; do
    check "$each"
done
exit $failed
