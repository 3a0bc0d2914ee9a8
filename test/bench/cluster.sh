#!/bin/sh
# 4 hosts of a cluster on this machine, 1 rank and 2 ranks each, links of 1 Gbit/s: native, every algorithm that makes
# sense, and the bound.  $CLUSTER_RANKS: only so many ranks a host; $CLUSTER_SIZES: only these messages.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

hosts=4
bytes_a_second=125000000
flat="butterfly;ring;ring(segment=512K,window=1);circulant;circulant(segment=256K,window=1)"
levels="two_level(inter=butterfly,lanes=one);two_level(inter=ring);two_level(inter=ring,segment=1M,window=1)"

launch() {
    local_ranks=$1
    shift
    timeout -k 5 $limit "$srcdir/test/cluster/cluster" --hosts $hosts --ranks "$local_ranks" --rate 1gbit -- env "$@"
}

for ranks in ${CLUSTER_RANKS:-1 2}; do
    file=$measured/cluster-$ranks.csv
    contest "$ranks" "${CLUSTER_SIZES:-8,4K,32K,256K,2M,8M,32M}" "--algo=$flat;$levels" --time=0.25 --repetitions=3 >"$file"
    echo "$hosts hosts, $ranks ranks each, 1 Gbit/s:"
    echo
    columns "$file" | awk -v hosts=$hosts -v rate=$bytes_a_second -f "$srcdir/test/bench/format.awk" \
        -f "$srcdir/test/bench/cluster.awk"
    echo
    echo "Sent by the busiest host for 8 MiB, as its interface counts, in units of the bound 2(H-1)/H n:"
    echo
    for algorithm in native butterfly ring "two_level(inter=ring,segment=1M,window=1)"; do
        bytes=$(preload "$ranks" ALLREDUCE_ALGO="$algorithm" test/bench/wire 8388608 3 </dev/null) || fail "$algorithm"
        echo "$algorithm $bytes" | awk -v hosts=$hosts '
            { printf "    %-42s %.2f\n", $1, $2 / (2 * (hosts - 1) / hosts * 8388608) }'
    done
    echo
done
exit "$failed"
