#!/bin/sh
# What the preload adds to a call that it leaves to the MPI library: the same program with and
# without it, in turn.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

# cost TITLE COMMAND...
cost() {
    title=$1
    shift
    both=$(in_turn 11 native 1 "$@") || fail "$title"
    echo "$title,$both" | awk -F, '
        { printf "%s: without the preload %.1f, with it %.1f, difference %.1f\n", $1, $2, $3, $3 - $2 }'
}

echo "8 bytes on MPI_COMM_SELF, ns per call, medians of 11 runs each, in turn:"
echo
cost ALLREDUCE_ALGO=native test/bench/call_cost
cost "and ALLREDUCE_STATS" env ALLREDUCE_STATS=/dev/null test/bench/call_cost
exit "$failed"
