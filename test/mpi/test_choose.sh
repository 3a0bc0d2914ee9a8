#!/bin/sh
# A program may choose for itself, by allreduce.h or by the info key; the environment comes first.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=60
expect_ok "a program that chooses" launch 3 "$programs/choose"
grep -q "the program's choice: column 1: .*rinng.*did you mean 'ring'" "$scratch/out" || {
    fail "a bad choice was not told"
    cat "$scratch/out"
}
[ "$(grep -c 'differ in what the program chooses' "$scratch/out")" -ge 2 ] || fail "ranks that differ: not told"
expect_ok "the environment first" launch 3 ALLREDUCE_ALGO=butterfly "$programs/choose" butterfly

# Once a result was wrong, its communicator stays native whatever the program chooses.  The file in .libs is the program,
# and the other one is libtool's script: a shell, which cannot load an instrumented library.
expect_ok "a choice after a wrong result" launch 2 LD_PRELOAD="$PWD/test/mpi/.libs/fault_mpi.so:$library" FAULT_RANK=1 FAULT_AT=0 \
    ALLREDUCE_VERIFY=1,native ALLREDUCE_TRANSPORT=mpi "$programs/.libs/choose" wrong
grep -q 'VERIFY: wrong result' "$scratch/out" || fail "nothing was wrong: $(cat "$scratch/out")"

# What is chosen is counted as such.
expect_ok "statistics" launch 3 ALLREDUCE_STATS="$scratch/stats.jsonl" "$programs/choose"
grep -q '"requested": "ring", "ran": "ring", "reason": "program"' "$scratch/stats.jsonl" || fail "not in the statistics"

# On more than 16 ranks auto leaves the first call of each size to the MPI library, on each communicator; of 4 and of 1
# sizes here.  What is named runs from the first call on.
# first_calls NATIVE OURS [VARIABLE=VALUE...]: so many calls, of 16.
first_calls() {
    native=$1
    ours=$2
    shift 2
    expect_ok "$*: 17 ranks" preload 17 ALLREDUCE_VERBOSE=1 "$@" "$programs/repeat" 8
    found=$(awk '/first call of its size/ { first += $2 } /  shm/ { ours += $2 } END { print first + 0, ours + 0 }' "$scratch/out")
    [ "$found" = "$native $ours" ] || fail "$*: 17 ranks: $found calls, not $native $ours: $(cat "$scratch/out")"
}
first_calls 5 11 ALLREDUCE_ALGO=auto
first_calls 0 16 ALLREDUCE_ALGO=shm
first_calls 0 16 ALLREDUCE_ALGO_LIST=shm
exit $failed
