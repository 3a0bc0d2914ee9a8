#!/bin/sh
# Calls whose counts vary: they run by the plans of longer ones, and rightly.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

expect_ok "auto" launch 2 "$programs/longer_plans" auto lent
expect_ok "auto on 3 ranks" launch 3 "$programs/longer_plans" auto lent
expect_ok "a clause" launch 2 "$programs/longer_plans" 'auto:0-1M;ring' lent
expect_ok "what is named" launch 2 "$programs/longer_plans" shm own
expect_ok "messages" launch 2 "$programs/longer_plans" ring own

# On more than 16 ranks, of which none seems to share its core.
rows=$(yes 0-31 | head -n 17 | paste -sd,)
expect_ok "first calls" launch 17 LD_PRELOAD="$programs/.libs/fake_machine.so" CORES_NUMBER=32 CORES_CPUS="$rows" ALLREDUCE_WAIT=yield "$programs/longer_plans" auto first

expect_ok native launch 3 "$programs/counts" 300 20000
for ranks in 2 3 4; do
    expect_ok "$ranks ranks" preload "$ranks" "$programs/counts" 3000 20000
    expect_ok "$ranks ranks, cut" preload "$ranks" ALLREDUCE_USER_OPS=cut "$programs/counts" 3000 20000
done
expect_ok "levels" preload 4 ALLREDUCE_LEVELS=2 "$programs/counts" 2000 20000
expect_ok "unequal levels" preload 5 ALLREDUCE_LEVELS=2 "$programs/counts" 500 20000
expect_ok "clauses" preload 2 ALLREDUCE_ALGO='ring:4000-8000;auto' "$programs/counts" 2000 20000
expect_ok "streaming" preload 2 ALLREDUCE_STREAMING=always "$programs/counts" 2000 20000
expect_ok "long" preload 2 "$programs/counts" 100 3000000
# More ranks than are planned at once.
expect_ok "18 ranks" preload 18 "$programs/counts" 150 5000

# Statistics and timelines have the sizes of the calls, not those of plans.
expect_ok "statistics" preload 2 ALLREDUCE_STATS="$scratch/sizes.json" "$programs/repeat" 8
sizes=$(sed -n 's/.*"sizes": \[\[\([0-9]*\), .*/\1/p' "$scratch/sizes.json" | sort -nu | paste -sd' ')
[ "$sizes" = "4 8 1200 80000" ] || fail "statistics have calls of $sizes bytes"
expect_ok "a timeline" preload 2 ALLREDUCE_TRACE="$scratch/trace.json" "$programs/repeat" 8
grep -qw '"bytes": 1200' "$scratch/trace.json" || fail "a timeline has no 1200 bytes"
! grep -qw -e '"bytes": 1536' -e '"bytes": 81920' "$scratch/trace.json" || fail "a timeline has the sizes of plans"
exit $failed
