#!/bin/sh
# What the preload adds to a call that it leaves to the MPI library: the same program with and
# without it, in turn.
: "${MPIEXEC:?}" "${library:?}"
runs=${RUNS:-11}

once() {
    "$MPIEXEC" -n 1 "$@" test/bench/call_cost
}

median() {
    sort -n | sed -n "$(((runs + 1) / 2))p"
}

: >call_cost.without
: >call_cost.with
: >call_cost.counted
i=0
while [ "$i" -lt "$runs" ]; do
    once env >>call_cost.without
    once env LD_PRELOAD="$library" ALLREDUCE_ALGO=native >>call_cost.with
    once env LD_PRELOAD="$library" ALLREDUCE_ALGO=native ALLREDUCE_STATS=/dev/null >>call_cost.counted
    i=$((i + 1))
done
without=$(median <call_cost.without)
with=$(median <call_cost.with)
counted=$(median <call_cost.counted)
rm -f call_cost.without call_cost.with call_cost.counted
echo "8 bytes on MPI_COMM_SELF, ns a call, medians of $runs runs each, in turn:"
echo "$without $with $counted" | awk '{
    printf "  without the preload %.1f, ALLREDUCE_ALGO=native %.1f, difference %.1f\n", $1, $2, $2 - $1
    printf "  with ALLREDUCE_STATS too %.1f, difference %.1f\n", $3, $3 - $2
}'
