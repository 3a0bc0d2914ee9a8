#!/bin/sh
# The pictures of speed-up in doc/scale.md, from the notebook's tables: levels of a node beside flat, for each machine,
# and auto beside the best of SMPI's selectors, for each platform.  It measures nothing.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench-scale-plot}/test/bench/common.sh"

command -v gnuplot >/dev/null || {
    echo "no figures: gnuplot is not in PATH (Debian: gnuplot-nox)"
    exit 1
}

# below DAY HEADING: the rows of the first table below "### HEADING" in the notebook of that day, without its head, with
# tabs between the columns and the size, "8 KiB", in bytes.
below() {
    awk -v heading="### $2" -F ' *[|] *' '
        BEGIN { scale["B"] = 1; scale["KiB"] = 1024; scale["MiB"] = 1048576 }
        $0 == heading { inside = 1; next }
        inside && /^#/ { exit }
        inside && /^[|] [0-9]/ {
            for (i = 2; i < NF; i++) {
                if (split($i, size, " ") == 2 && size[2] in scale) $i = size[1] * scale[size[2]]
                printf "%s%s", $i, i < NF - 1 ? "\t" : "\n"
            }
        }' "$srcdir/doc/measured/$1.md"
}

colors='#e0702a #2a9d5c #3b7dd8 #8a63d2'
# plot FILE LABEL SIDE TITLE...: the lines $scratch/1, $scratch/2 and so on, with their titles at that side.
plot() {
    file=$measured/$1
    label=$2
    side=$3
    shift 3
    lines=
    at=0
    for title in "$@"; do
        at=$((at + 1))
        color=$(echo "$colors" | cut -d ' ' -f $at)
        [ -s "$scratch/$at" ] || fail "the notebook has no table for $title"
        lines="$lines${lines:+, }'$scratch/$at' title '$title' with linespoints lw 1.6 ps 0.5 pt $((2 * at + 3)) lc rgb '$color'"
    done
    gnuplot <<END || fail "gnuplot: $file"
load '$srcdir/test/bench/style.gnuplot'
set xrange [8:64*2**20]
set output '$file'
set ylabel '$label' textcolor rgb '#808890'
set yrange [0:*]
set key $side top
plot $lines, 1 notitle with lines lw 1 dt 2 lc rgb '#808890'
END
    echo "drawn: $file"
}

machines='2 x EPYC 7742, 4 NUMA nodes per socket
2 x EPYC 7R13, 2 NUMA nodes per socket
2 x Xeon Platinum 8375C
Graviton3'
at=0
echo "$machines" | while read -r machine; do
    at=$((at + 1))
    below 2026-11-26 "$machine" | awk -F '\t' '{ print $1, $10 }' >"$scratch/$at"
done
plot scale-node.svg 'times faster than flat, predicted' right '2 x EPYC 7742, 128 ranks' '2 x EPYC 7R13, 96 ranks' '2 x Xeon 8375C, 64 ranks' \
    'Graviton3, 64 ranks'

at=0
for platform in flat multicore tree; do
    at=$((at + 1))
    below 2026-11-22 $platform | awk -F '\t' '
        {
            best = 0
            for (i = 3; i <= 6; i++) if ($i != "" && (best == 0 || $i < best)) best = $i
            if (!($2 in n)) order[++sizes] = $2
            n[$2]++
            sum[$2] += log(best / $8)
        }
        END { for (i = 1; i <= sizes; i++) print order[i], exp(sum[order[i]] / n[order[i]]) }' | sort -n >"$scratch/$at"
done
rm -f "$scratch/4"
plot scale-smpi.svg 'times faster, simulated' left 'flat' 'multicore' 'tree'
exit "$failed"
