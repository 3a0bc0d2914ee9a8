#!/bin/sh
# What online tuning costs a loop of calls where auto's choice is the best one: whole loops, in turn
# with that choice named, and what the tuner itself counted.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

runs=${ONLINE_RUNS:-7}
dump=$scratch/dump

# online RANKS BYTES CALLS
online() {
    : >"$scratch/named"
    : >"$scratch/tuned"
    : >"$scratch/counted"
    for _ in $(seq "$runs"); do
        preload "$1" ALLREDUCE_ALGO=shm test/bench/loop_cost "$2" "$3" </dev/null >>"$scratch/named" || fail "named"
        preload "$1" ALLREDUCE_TUNE=online ALLREDUCE_TUNE_DUMP="$dump" test/bench/loop_cost "$2" "$3" \
            </dev/null >>"$scratch/tuned" || fail "online"
        awk '
            BEGIN { ms["ns"] = 1e-6; ms["us"] = 0.001; ms["ms"] = 1; ms["s"] = 1000 }
            /^# trials cost / { print $4 * ms[$5] }' "$dump" >>"$scratch/counted"
    done
    echo "$1,$2,$3,$(median <"$scratch/named"),$(median <"$scratch/tuned"),$(median <"$scratch/counted")" |
        awk -F, '{ printf "%5d %8d %9d %10.2f %10.2f %7.1f %% %12.2f\n", $1, $2, $3, $4, $5, ($5 / $4 - 1) * 100, $6 }'
}

echo "Loops of MPI_Allreduce, ms, medians of $runs runs each, in turn:"
echo
echo "ranks    bytes     calls        shm     online      more       trials"
online 2 8 1000000
online 2 4096 200000
online 2 262144 10000
exit "$failed"
