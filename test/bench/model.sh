#!/bin/sh
# What the model predicts for the hosts of the section cluster, which measured it, from a machine file measured there, too.
# That these share the cores of this machine is added.
# $CLUSTER_RANKS: as there.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

hosts=4
rate=1gbit
least_bytes=262144

for ranks in ${CLUSTER_RANKS:-1 2}; do
    file=$measured/cluster-$hosts-$rate-$ranks.csv
    machine=$measured/cluster-$hosts-$rate-$ranks.machine
    [ -s "$file" ] || {
        echo "no predictions: $file is missing; run make bench-cluster first"
        exit 1
    }
    timeout -k 5 $limit "$srcdir/test/cluster/cluster" --hosts $hosts --ranks "$ranks" --rate $rate -- \
        ./allreduce model -t "4 hosts, 1 Gbit/s, measured" -o "$machine" </dev/null || fail "allreduce model"
    sed -i "/^network/i host       nodes $hosts  cores $(nproc)" "$machine"
    echo "$hosts hosts, ranks per host: $ranks, $rate:"
    echo
    sed 's/^/    /' "$machine"
    echo
    columns "$file" | awk -F '\t' -v least=$least_bytes '$1 >= least && $2 !~ /^(native|auto|MPI_Reduce)/' >"$scratch/measured"
    while IFS="$(printf '\t')" read -r bytes algorithm us; do
        time=$(predicted "$algorithm" $((hosts * ranks)) "$bytes" "$machine") || fail "$algorithm" >&2
        echo "$bytes $algorithm $us $time"
    done <"$scratch/measured" >"$scratch/compared"
    tr ' ' '\t' <"$scratch/compared" | table model
    echo
done
exit "$failed"
