#!/bin/sh
# Every algorithm keeps the order of ops that do not commute (or leaves them to MPI),
# and leaves the gaps of derived types alone.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# They treat each element by itself, and are to run by every row.
user_ops='cut'

size=2
# next_order ROW...: on 3 ranks, and then one more each time.
# shellcheck disable=SC2317 # by_groups calls it
next_order() {
    size=$((size == 8 ? 3 : size + 1))
    transport=$([ $((size % 2)) = 0 ] && echo mpi || echo auto)
    expect_rows "$size" 10 "$programs/order" "$@"
}

by_groups 5 next_order
[ -z "${QUICK:-}" ] || exit $failed
if [ "${COMMON_TESTS:-yes}" = yes ]; then # the algorithms are the same under every MPI
    size=3                                # now the other way round
    by_groups 5 next_order
fi
expect_row "butterfly in small segments" butterfly 200 preload 5 ALLREDUCE_VERBOSE=1 ALLREDUCE_USER_OPS=cut \
    ALLREDUCE_ALGO='butterfly(segment=1K,window=3)' "$programs/order"
expect_row "ring in small segments" ring 100 preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_USER_OPS=cut \
    ALLREDUCE_ALGO='ring(segment=1K,window=3)' "$programs/order"
for ranks in 2 3 5; do
    expect_row "kinds of shm on $ranks ranks" shm 100 preload "$ranks" ALLREDUCE_VERBOSE=1 ALLREDUCE_USER_OPS=cut \
        ALLREDUCE_ALGO="$(rules_of 'shm(whole=1)' 'shm(whole=inf,segment=100)' 'shm(whole=1,segment=1K)')" \
        "$programs/order"
done
expect_ok "auto" preload 4 ALLREDUCE_USER_OPS=cut "$programs/order"
expect_ok "auto, with whole vectors" preload 4 "$programs/order"
exit $failed
