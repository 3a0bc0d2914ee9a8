#!/bin/sh
# 4 hosts of a cluster on this machine, links of 1 Gbit/s: messages passed on, and exchanged, by the order of posting.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

echo "4 hosts, 1 Gbit/s, times in units of bytes / rate:"
echo
timeout -k 5 $limit "$srcdir/test/cluster/cluster" --hosts 4 --rate 1gbit -- \
    "$PWD/test/bench/exchange" 125000000 65536 262144 1048576 4194304 </dev/null >"$scratch/exchange" || fail "exchange"
table exchange "$scratch/exchange"
exit "$failed"
