#!/bin/sh
# Other communication goes on while ranks are inside MPI_Allreduce, whatever runs there
# and however it waits.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

for transport in auto mpi; do
    # shellcheck disable=SC2046 # names have no blanks
    expect_ok "all rows, 3 ranks, transport $transport" preload 3 ALLREDUCE_VERBOSE=1 \
        ALLREDUCE_TRANSPORT=$transport "$programs/progress" $(rows) &&
        for row in $(rows); do
            expect_calls "$row, 3 ranks, transport $transport" "$row" 20
        done
done
for wait in auto spin yield sleep block; do
    expect_ok "wait=$wait, 3 ranks" preload 3 ALLREDUCE_WAIT=$wait "$programs/progress" ring shm
    expect_ok "wait=$wait, 2 ranks, messages of MPI's" \
        preload 2 ALLREDUCE_WAIT=$wait ALLREDUCE_TRANSPORT=mpi "$programs/progress" ring
done
expect_ok "no state of ours at all, yet" preload 2 ALLREDUCE_ALGO=ring "$programs/progress"
expect_ok "native" preload 2 ALLREDUCE_ALGO=native "$programs/progress"
exit $failed
