#!/bin/sh
# What a communicator costs that lives for one allreduce: the same program with and without the
# preload, in turn.
: "${MPIEXEC:?}" "${library:?}"
runs=${RUNS:-5}

# once RANKS BYTES COMMAND...
once() {
    ranks=$1
    bytes=$2
    shift 2
    timeout 120 "$MPIEXEC" -n "$ranks" "$@" test/bench/setup_cost "$bytes"
}

median() {
    sort -n | sed -n "$(((runs + 1) / 2))p"
}

echo "MPI_Comm_dup, one MPI_Allreduce, MPI_Comm_free: us, medians of $runs runs each, in turn:"
for ranks in 2 4; do
    for bytes in 8 1024 65536 1048576; do
        : >setup_cost.without
        : >setup_cost.with
        i=0
        while [ "$i" -lt "$runs" ]; do
            once "$ranks" "$bytes" env >>setup_cost.without
            once "$ranks" "$bytes" env LD_PRELOAD="$library" >>setup_cost.with
            i=$((i + 1))
        done
        echo "$ranks $bytes $(median <setup_cost.without) $(median <setup_cost.with)" |
            awk '{ printf "  %d ranks, %7d bytes: native %10.2f, ours %10.2f, %.2f of native\n", $1, $2, $3, $4, $4 / $3 }'
    done
done
rm -f setup_cost.without setup_cost.with
