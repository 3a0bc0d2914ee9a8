#!/bin/sh
# Communicators by the thousand, and what hangs on them.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# made_many: how many communicators the program could make.
made_many() {
    awk '/^made / { print $2 }' "$scratch/out"
}

# An instrumented program takes minutes for thousands of communicators.
if [ -z "${INSTRUMENTED-}" ]; then
    expect_ok "many at once, natively" launch 2 "$programs/comms" many
    native=$(made_many)
fi

# expect_thousands ROW: thousands come and go by it, and as many as natively exist at once.
expect_thousands() {
    # shellcheck disable=SC2086
    expect_row "$1: made and freed" "$1" 1400 preload 2 $settings "$programs/comms" churn
    expect_no_files "$1: made and freed"
    # shellcheck disable=SC2086
    expect_row "$1: many at once" "$1" 1900 preload 2 $settings "$programs/comms" many
    made=$(made_many)
    # Shared memory takes none of the MPI library's communicators, the rest share a few.
    least=$((native * 95 / 100))
    [ "$1" = shm ] && least=$native
    [ "${made:-0}" -ge "$least" ] || fail "$1: $made communicators at once, natively $native"
    echo "$1: $made communicators at once, natively $native"
}

limit=150
for row in ring shm; do
    settings="ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=$row"
    [ -n "${INSTRUMENTED-}" ] || expect_thousands $row
    for ranks in 2 3 4; do
        # shellcheck disable=SC2086
        expect_row "$row: semantics, come and go on $ranks ranks" $row 10 \
            preload $ranks $settings "$programs/comms" semantics shuffle
        grep -q 'native *intercommunicator' "$scratch/out" ||
            fail "$row: the summary does not tell of the intercommunicator"
    done
done
exit $failed
