#!/bin/sh
# Communicators by the thousand, and what hangs on them.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

verbose_ring="ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring"
# shellcheck disable=SC2086
expect_row "made and freed" ring 3500 preload 2 $verbose_ring "$programs/comms" churn
# shellcheck disable=SC2086
expect_row "many at once" ring 100 preload 2 $verbose_ring "$programs/comms" many
for ranks in 2 3 4; do
    # shellcheck disable=SC2086
    expect_row "semantics on $ranks ranks" ring 5 \
        preload $ranks $verbose_ring "$programs/comms" semantics
    grep -q 'native *intercommunicator' "$scratch/out" ||
        fail "the summary does not tell of the intercommunicator"
done
exit $failed
