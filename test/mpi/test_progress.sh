#!/bin/sh
# Other communication goes on while ranks are inside MPI_Allreduce, whatever runs there
# and however it waits.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

for row in $(rows); do
    expect_row "$row, 3 ranks" "$row" 20 \
        preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO="$row" "$programs/progress"
done
for wait in auto spin yield sleep block; do
    expect_ok "wait=$wait, 2 ranks" \
        preload 2 ALLREDUCE_WAIT=$wait ALLREDUCE_ALGO=ring "$programs/progress"
    expect_ok "wait=$wait, 2 ranks, messages of MPI's" \
        preload 2 ALLREDUCE_WAIT=$wait ALLREDUCE_ALGO=ring ALLREDUCE_TRANSPORT=mpi \
        "$programs/progress"
    expect_ok "shm, wait=$wait, 3 ranks" \
        preload 3 ALLREDUCE_WAIT=$wait ALLREDUCE_ALGO=shm "$programs/progress"
done
expect_ok "native" preload 2 ALLREDUCE_ALGO=native "$programs/progress"
exit $failed
