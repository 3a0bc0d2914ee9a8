#!/bin/sh
# Files that a job writes at its end, if they cannot be written or are not regular files: the job says so in one line,
# ends as it would without them, and what was there stays.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=30

# ping WHAT [VARIABLE=VALUE...]: the program's own calls are right.
ping() {
    title=$1
    shift
    expect_ok "$title" preload 2 ALLREDUCE_ALGO=ring "$@" "$programs/few_calls"
}

# expect_said TEXT...: one line each, and no more.
expect_said() {
    for text in "$@"; do
        [ "$(grep -c -F -e "$text" "$scratch/out")" -eq 1 ] || fail "$title: not told once: $text"
    done
    [ "$(grep -c '^liballreduce:' "$scratch/out")" -eq $# ] || {
        fail "$title: not $# lines:"
        cat "$scratch/out"
    }
}

# A symbolic link is replaced, and its target stays.
echo old >"$scratch/target"
ln -s target "$scratch/link"
ping "a link" ALLREDUCE_STATS="$scratch/link"
expect_said
[ "$(cat "$scratch/target")" = old ] || fail "a link: was followed"
{ [ ! -h "$scratch/link" ] && grep -q MPI_DOUBLE "$scratch/link"; } || fail "a link: not replaced"

# A stream of rank 0, and /dev/null. Ranks that never met do not append their own names to these.
ping "streams" ALLREDUCE_STATS=/dev/stdout ALLREDUCE_TRACE=/dev/stderr
expect_said
{ grep -q 'MPI_DOUBLE' "$scratch/out" && grep -q '"traceEvents"' "$scratch/out"; } || fail "streams: $(cat "$scratch/out")"
neighbours=$(ls /dev/null.* 2>/dev/null) # of others
expect_ok "nothing" preload 2 ALLREDUCE_STATS=/dev/null ALLREDUCE_TRACE=/dev/null "$programs/statistics" halves
{ [ -c /dev/null ] && [ "$(ls /dev/null.* 2>/dev/null)" = "$neighbours" ]; } || fail "nothing: /dev/null is no device any more, or has neighbours"

# A pipe without a reader blocks no rank.
mkfifo "$scratch/pipe"
ping "a pipe" ALLREDUCE_STATS="$scratch/pipe"
expect_said "ALLREDUCE_STATS: cannot write '$scratch/pipe': No such device or address"

# A folder is refused before anything runs.
preload 2 ALLREDUCE_TRACE="$scratch" "$programs/few_calls" >"$scratch/out" 2>&1
grep -q "^liballreduce: ALLREDUCE_TRACE: column 1: cannot write '$scratch': Is a directory" "$scratch/out" ||
    fail "a folder: $(cat "$scratch/out")"

# A folder that only rank 0 has, as on a disk of its node: others need none, even as rank 0 of a pair.
mkdir "$scratch/ours"
cat >"$scratch/enters" <<END
#!/bin/sh
[ "\${PMI_RANK:-\$OMPI_COMM_WORLD_RANK}" != 0 ] || cd "$scratch" && exec "\$@"
END
chmod +x "$scratch/enters"
expect_ok "a folder of rank 0's" preload 3 ALLREDUCE_STATS=ours/stats ALLREDUCE_TRACE=ours/trace ALLREDUCE_TUNE=online \
    ALLREDUCE_TUNE_DUMP=ours/dump "$scratch/enters" "$programs/environment" world pairs
{ [ "$(grep -c '^rank [012]: 30 calls right, 0 errors' "$scratch/out")" -eq 3 ] && ! grep '^liballreduce: ' "$scratch/out"; } ||
    fail "a folder of rank 0's: $(cat "$scratch/out")"
[ "$(cd "$scratch/ours" && echo *)" = "dump stats trace" ] || fail "a folder of rank 0's: it has $(ls "$scratch/ours")"

# A disk that is full at the end.
mkdir "$scratch/small"
if mount -t tmpfs -o size=4k none "$scratch/small" 2>/dev/null; then
    echo old >"$scratch/small/stats.jsonl" # takes all of it
    ping "a full disk" ALLREDUCE_STATS="$scratch/small/stats.jsonl" ALLREDUCE_TRACE="$scratch/small/trace"
    expect_said "ALLREDUCE_STATS: cannot write '$scratch/small/stats.jsonl': No space left on device" \
        "ALLREDUCE_TRACE: cannot write '$scratch/small/trace': No space left on device"
    [ "$(cat "$scratch/small/stats.jsonl")" = old ] || fail "a full disk: what was there is lost"
    [ "$(ls -A "$scratch/small")" = stats.jsonl ] || fail "a full disk: left $(ls -A "$scratch/small")"
    umount "$scratch/small"
else
    echo "no small file system: this user may not mount one"
fi
exit $failed
