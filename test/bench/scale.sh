#!/bin/sh
# The heat maps of doc/scale.md: which algorithm the model has win, by ranks and size, on three
# machines.  Tables that are there already are not made again; MACHINES, RANKS and SIZES choose.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench-scale}/test/bench/common.sh"

machines=${MACHINES:-flat fat-tree dragonfly}
powers='2 4 8 16 32 64 128 256 512 1024 4096 65536'
others='3 6 12 24 48 96 192 1000 10000'
ranks=${RANKS:-$powers $others}
sizes=${SIZES:-8 64 512 4K 32K 256K 2M 16M 128M 1G}

command -v gnuplot >/dev/null || {
    echo "no maps: gnuplot is not in PATH (Debian: gnuplot-nox)"
    exit 1
}

# make_tables MACHINE: what allreduce explain says of every number of ranks and size.
make_tables() {
    for p in $ranks; do
        for size in $sizes; do
            made=$measured/scale/$1-$p-$size
            [ -s "$made" ] && continue
            ./allreduce explain --compare -n "$p" -s "$size" \
                --machine "$srcdir/machines/$1.machine" >"$made.new" || return 1
            mv "$made.new" "$made"
        done
    done
}

# winners MACHINE: ranks, size, microseconds, times the bound, name; of rows with more than a bound.
winners() {
    for p in $ranks; do
        for size in $sizes; do
            awk -v p="$p" -v size="$size" '
                $NF == "%" { table = 1; next }
                table && $0 !~ /^>/ { sub(/^~/, ""); print p, size, $1, $2, $NF; exit }
            ' "$measured/scale/$1-$p-$size"
        done
    done
}

mkdir -p "$measured/scale"
for machine in $machines; do
    make_tables "$machine" || fail "allreduce explain --compare on $machine"
    winners "$machine" >"$measured/scale/$machine.winners"
    title=$(sed -n 's/^title *//p' "$srcdir/machines/$machine.machine")
    awk -v powers="$powers" -v others="$others" -v sizes="$sizes" -v title="$title" \
        -v output="$measured/scale-$machine.svg" -f "$srcdir/test/bench/scale.awk" \
        "$measured/scale/$machine.winners" >"$scratch/$machine.gnuplot"
    gnuplot "$scratch/$machine.gnuplot" || fail "gnuplot on $machine"
    echo "drawn: $measured/scale-$machine.svg"
done
exit "$failed"
