#!/bin/sh
# Wrong calls end as they do without the library: same class, same handler calls; and
# the same death where the MPI library dies of it.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=20

# results FILE: what the program printed, without what the launcher adds to a death.
results() {
    grep 'handler called' "$1" >"$1.results"
}

case=0
while [ $case -lt 100 ]; do
    launch 2 "$programs/errors" $case >"$scratch/native" 2>/dev/null
    native=$?
    if grep -q '^no such case' "$scratch/native"; then
        break
    fi
    preload 2 ALLREDUCE_ALGO=ring "$programs/errors" $case >"$scratch/ours" 2>"$scratch/stderr"
    ours=$?
    results "$scratch/native"
    results "$scratch/ours"
    if ! diff "$scratch/native.results" "$scratch/ours.results"; then
        fail "case $case differs from native (<)"
        cat "$scratch/stderr"
    elif [ $((native == 0)) -ne $((ours == 0)) ]; then
        fail "case $case: exit status $ours, native $native"
    else
        echo "ok: case $case, status $native: $(head -n 1 "$scratch/native")"
    fi
    case=$((case + 1))
done
[ $case -ge 10 ] || fail "only $case cases ran"
exit $failed
