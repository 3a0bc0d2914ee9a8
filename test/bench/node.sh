#!/bin/sh
# The tables of doc/measured/2026-11-26.md, levels inside a node: what the model says of shm with the machine's
# levels, beside flat.  MACHINES and SIZES choose; it takes a minute, and measures nothing.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench-node}/test/bench/common.sh"

machines=${MACHINES:-epyc-7742x2 epyc-7r13x2 xeon-8375cx2 graviton3}
sizes=${SIZES:-8 64 512 1K 4K 32K 256K 1M 8M 64M}

for machine in $machines; do
    file=$srcdir/machines/$machine.machine
    cores=$(awk '$1 == "node" { print $3 }' "$file")
    echo "### $(sed -n 's/^title *//p' "$file")"
    echo
    echo "| bytes | 16: flat | levels | times | 48: flat | levels | times | $cores: flat | levels | times | times the bound |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|"
    for size in $sizes; do
        for ranks in 16 48 "$cores"; do
            predicted 'shm(levels=flat)' "$ranks" "$size" "$file" || fail "flat on $machine" >&2
            predicted 'shm(levels=auto)' "$ranks" "$size" "$file" || fail "levels on $machine" >&2
        done >"$scratch/times"
        awk -v size="$size" '
            function three(x) { return sprintf(x < 10 ? "%.2f" : x < 100 ? "%.1f" : "%.0f", x) }
            NR == 1 { name = size; if (!sub(/K$/, " KiB", name) && !sub(/M$/, " MiB", name)) name = name " B"; printf "| %s |", name }
            NR % 2 { flat = $1; next }
            { printf " %s | %s | %s |", three(flat), three($1), three(flat / $1); bound = $2 }
            END { print " " three(bound) " |" }' "$scratch/times"
    done
    echo
done
exit "$failed"
