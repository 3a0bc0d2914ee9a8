#!/bin/sh
# Programs whose counts vary from call to call, with and without the preload, in turn; and what they would pay if a plan
# was made for each count.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

file=$measured/counts.csv
echo doubles,different,native_us,auto_us >"$file"
for range in "1 32" "1 200" "1 2000" "1000 20000" "100000 400000"; do
    for different in 4 32 0; do
        # shellcheck disable=SC2086 # the words
        both=$(in_turn 7 auto 2 test/bench/counts $range "$different") || fail "counts of $range"
        echo "$range,$different,$both" >>"$file"
    done
done
echo "MPI_Allreduce of doubles on 2 ranks, whose count is drawn for each call; medians of 7 runs each, in turn:"
echo
table counts "$file"
echo
echo "A rank's plan in shared memory, us to make it, the fastest of 1000:"
echo
launch 1 test/bench/plan_cost || fail plan_cost
exit "$failed"
