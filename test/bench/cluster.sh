#!/bin/sh
# 4 hosts of a cluster on this machine, 1 and 2 ranks per host, links of 1 Gbit/s: native, every algorithm that makes
# sense, auto, and the bound.  $CLUSTER_HOSTS: so many hosts; $CLUSTER_RATES: links of 100mbit, 1gbit or 10gbit;
# $CLUSTER_RANKS: only so many ranks per host; $CLUSTER_SIZES: only these messages; $CLUSTER_TRAFFIC=no: bytes sent
# are not counted.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

hosts=${CLUSTER_HOSTS:-4}
{ [ "$hosts" -ge 2 ] && [ "$hosts" -le 64 ]; } 2>/dev/null || {
    echo "CLUSTER_HOSTS is '$hosts', and must be 2 to 64"
    exit 1
}
rate=1gbit
flat="butterfly;rhd;ring;circulant;rhd(segment=64K,window=4);ring(segment=64K,window=4);ring(segment=512K,window=1)"
levels="two_level(inter=butterfly,lanes=one);two_level(inter=rhd);two_level(inter=rhd,segment=64K,window=4);two_level(inter=ring);hier_ring(segment=64K,window=4)"

# eager_ring RANKS: a ring between hosts in segments of which each message has 16 KiB, MPICH's longest eager one.
eager_ring() {
    echo "two_level(inter=ring,segment=$((16 * hosts * $1))K,window=4)"
}

# bytes_a_second RATE
bytes_a_second() {
    case $1 in
    100mbit) echo 12500000 ;;
    1gbit) echo 125000000 ;;
    10gbit) echo 1250000000 ;;
    *) return 1 ;;
    esac
}

launch() {
    local_ranks=$1
    shift
    timeout -k 5 $limit "$srcdir/test/cluster/cluster" --hosts "$hosts" --ranks "$local_ranks" --rate "$rate" -- env "$@"
}

traffic() {
    echo "Sent by the busiest host for 8 MiB, as its interface counts, in units of the bound 2(H-1)/H n:"
    echo
    for algorithm in native butterfly ring "two_level(inter=ring,segment=1M,window=1)"; do
        sent=$(preload "$1" ALLREDUCE_ALGO="$algorithm" test/bench/wire 8388608 3 </dev/null) || fail "$algorithm"
        echo "$algorithm $sent" | awk -v hosts="$hosts" '
            { printf "    %-42s %.2f\n", $1, $2 / (2 * (hosts - 1) / hosts * 8388608) }'
    done
    echo
}

for rate in ${CLUSTER_RATES:-1gbit}; do
    bytes=$(bytes_a_second "$rate") || {
        echo "CLUSTER_RATES cannot have '$rate'; allowed: 100mbit, 1gbit, 10gbit"
        exit 1
    }
    for ranks in ${CLUSTER_RANKS:-1 2}; do
        file=$measured/cluster-$hosts-$rate-$ranks.csv
        contest "$ranks" "${CLUSTER_SIZES:-8,4K,64K,512K,2M,8M,32M}" "--algo=$flat;$levels;$(eager_ring "$ranks");auto" --time=0.5 --repetitions=7 >"$file"
        echo "$hosts hosts, ranks per host: $ranks, $rate:"
        echo
        columns "$file" | awk -v hosts="$hosts" -v rate="$bytes" -f "$srcdir/test/bench/format.awk" \
            -f "$srcdir/test/bench/cluster.awk"
        echo
        [ "${CLUSTER_TRAFFIC:-yes}" = no ] || traffic "$ranks"
    done
done
exit "$failed"
