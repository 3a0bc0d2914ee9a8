#!/bin/sh
# ALLREDUCE_TIMEOUT: a rank whose call takes too long tells which call it is, what runs and who is
# awaited, twice at most; then it waits on, or ends the job.  Nobody says a word where none waits.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=40
line='^liballreduce: ALLREDUCE_TIMEOUT: rank'

# expect_lines WHAT N PATTERN: so many lines of the output match, behind the number of a rank.
expect_lines() {
    found=$(grep -c "$line $3" "$scratch/out")
    [ "$found" -eq "$2" ] || {
        fail "$1: $found lines with '$3' where $2 should be"
        cat "$scratch/out"
    }
}

# expect_line WHAT PATTERN: at least one line matches.
expect_line() {
    grep -q "$line $2" "$scratch/out" || {
        fail "$1: no line with '$2'"
        cat "$scratch/out"
    }
}

# Calls that follow each other are not one long call.
expect_ok calm preload 3 ALLREDUCE_TIMEOUT=1 "$programs/timeout" calm 2500
expect_lines calm 0 ''

# late TRANSPORT ALGORITHM TEXT: rank 2 comes to the third call after three timeouts; the others say
# what runs, and rank 0 whom it awaits; results are right.
late() {
    title="late, $2, transport $1"
    expect_ok "$title" preload 3 ALLREDUCE_TIMEOUT=0.5 ALLREDUCE_TRANSPORT="$1" ALLREDUCE_ALGO="$2" \
        "$programs/timeout" late 2000
    for rank in 0 1; do
        call="$rank has been in call 3 on MPI_COMM_WORLD as rank $rank of 3"
        expect_lines "$title" 1 "$call for 500 ms: count 1, 4 bytes, "
        expect_lines "$title" 1 "$call for 1 s: count 1, 4 bytes, "
        expect_lines "$title" 2 "$call"
    done
    expect_lines "$title" 2 "0 .* in call 3 .* bytes, $3\$"
    expect_lines "$title" 0 '2 .* in call 3 '
}
late mpi ring 'by ring; it waits for rank 2'
late auto native 'native; it is not known for which ranks it waits'
# Our own way through shared memory is the same under every MPI.
if [ "${COMMON_TESTS:-yes}" = yes ]; then
    late auto two_level 'by two_level.*; it waits for rank 2'
    late auto shm 'by shm; it waits for rank 2; not in the call yet: rank 2'
    late auto auto 'by shm; it waits for rank 2; not in the call yet: rank 2'
fi

# Set-up of a communicator is part of its first call; ranks are called as in MPI_COMM_WORLD.
expect_ok new preload 3 ALLREDUCE_TIMEOUT=0.5,warn ALLREDUCE_ALGO=ring "$programs/timeout" new 1400
for rank in 0 1; do
    expect_lines new 1 "$rank .* in call 1 on row as rank $((2 - rank)) of 3 for 500 ms: .* in the set-up of the communicator"
done
expect_lines new 1 '1 .* in call 2 on row as rank 1 of 3 for 500 ms: .* by ring; it waits for rank 2'

expect_ok "after an empty call" preload 3 ALLREDUCE_TIMEOUT=0.5 "$programs/timeout" empty 1400
expect_lines "after an empty call" 1 '0 .* in call 2 on MPI_COMM_WORLD .* for 500 ms: '

# Calls of several threads at a time.
preload 2 ALLREDUCE_TIMEOUT=0.5 ALLREDUCE_ALGO=ring "$programs/timeout" threads 1100 >"$scratch/out" 2>&1
case $? in
0)
    expect_line threads '0 .* in call 2 on first .* it waits for rank 1'
    expect_line threads '0 .* in call 2 on second .* it waits for rank 1'
    ;;
77) ;;
*)
    fail threads
    cat "$scratch/out"
    ;;
esac

# A rank's own affair: who differs in it differs in nothing.
before="[ \$rank != 1 ] || export ALLREDUCE_TIMEOUT=0.5"
expect_ok "one rank's own" preload 3 ALLREDUCE_ALGO=ring "$programs/timeout" late 1400
before=
expect_lines "one rank's own" 1 '1 .* in call 3 .* for 500 ms: '
grep liballreduce "$scratch/out" | grep -v "$line 1 has been" && fail "one rank's own: more than its line"

# expect_end WHAT TRANSPORT ALGORITHM LINE COMMAND...: the job ends by itself, with an error, after
# LINE, and one rank says why.  A rank that is only slow must not end it.
seconds=0.5
[ -z "${INSTRUMENTED-}" ] || seconds=5
expect_end() {
    title="$1, transport $2, $3"
    expected=$4
    preload 3 ALLREDUCE_TIMEOUT=$seconds,abort ALLREDUCE_TRANSPORT="$2" ALLREDUCE_ALGO="$3" \
        "$programs/timeout" "$5" "$6" ${7:+"$7"} >"$scratch/out" 2>&1 </dev/null
    case $? in
    0 | 124 | 137) fail "$title: the job did not end with an error" ;;
    esac
    expect_line "$title" "$expected"
    expect_line "$title" '[0-2] ends the job$'
}
# Other ranks have more to exchange than rank 0, which has left them.
expect_end 'counts 1 and 2' mpi ring '1 .* in call 2 .*: count 2, 8 bytes, by ring; it waits for rank 0$' counts 1 2
if [ "${COMMON_TESTS:-yes}" = yes ]; then
    expect_end 'counts 1 and 100000' auto two_level '1 .* in call 2 .*: count 100000, .* it waits for rank 0$' \
        counts 1 100000
    expect_line "$title" '2 .*; its messages are not received by rank 0$'
    expect_end 'counts 1 and 100' auto 'shm(segment=64)' '1 .* in call 2 .*: count 100, .* it waits for rank 0$' \
        counts 1 100
    expect_end 'counts 1 and 100000' auto auto '0 .*: count 1, .* not in the call yet: ranks 1, 2$' counts 1 100000
    expect_line "$title" '1 .*: count 100000, 400000 bytes, in set-up; '
fi
# Inside the MPI library.
expect_end late auto native '0 .* in call 3 .*, native; ' late 60000

# Who gets through after all goes on: between the line, after 0.55 s, and the end of the job, after 1.55 s.
expect_ok "just in time" preload 3 ALLREDUCE_TIMEOUT=0.5,abort ALLREDUCE_ALGO=ring "$programs/timeout" late 1050
expect_lines "just in time" 1 '0 .* in call 3 .* for 500 ms: '
expect_lines "just in time" 0 '.* ends the job'

# What cannot be understood is an error.
preload 2 ALLREDUCE_TIMEOUT=5,abrot "$programs/timeout" calm 1 >"$scratch/out" 2>&1 && fail "',abrot' was taken"
grep -q '^liballreduce: ALLREDUCE_TIMEOUT: column 3: .*abort' "$scratch/out" || {
    fail "',abrot': not told"
    cat "$scratch/out"
}
exit $failed
