#!/bin/sh
# Ranks choose alike where MPI makes their calls equal, however else these differ.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=30

expect_ok native launch 4 "$programs/layouts" 4
# One row of each kind: that all cut alike is claimed by test_plan.
for choice in auto shm ring butterfly allgather_fold; do
    expect_ok "$choice, whole" preload 4 ALLREDUCE_ALGO="$choice" "$programs/layouts" &&
        expect_ok "$choice, cut" preload 4 ALLREDUCE_SCRATCH=64K ALLREDUCE_USER_OPS=cut \
            ALLREDUCE_ALGO="$choice" "$programs/layouts" &&
        echo "ok: $choice"
done
# In place is tried by all ranks at once, also where a decision is new to some of them only.
for choice in auto 'shm(copy=in_place)'; do
    expect_ok "$choice on 2 ranks, cut" preload 2 ALLREDUCE_USER_OPS=cut ALLREDUCE_ALGO="$choice" "$programs/layouts" &&
        echo "ok: $choice on 2 ranks"
done
expect_ok "native chosen" preload 4 ALLREDUCE_ALGO=native "$programs/layouts" 4
expect_row "shm takes derived types" shm 4 \
    preload 4 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=shm "$programs/layouts"
grep -q 'by messages' "$scratch/out" && fail "shm: derived types went by messages"
exit $failed
