#!/bin/sh
# The figures of doc/performance.md, from what the sections sizes and limits left.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

command -v gnuplot >/dev/null || {
    echo "no figures: gnuplot is not in PATH (Debian: gnuplot-nox)"
    exit 1
}
for section in sizes-warm sizes-cold limits; do
    [ -s "$measured/$section.csv" ] || {
        echo "no figures: $measured/$section.csv is missing; run make bench-${section%-*} first"
        exit 1
    }
done

# series CACHE NUMERATOR: lines of bytes and microseconds of NUMERATOR, of "messages" the best
series() {
    columns "$measured/sizes-$1.csv" | awk -F '\t' -v want="$2" '
        function matches(name) {
            return want == name || (want == "messages" && name !~ /^(native|auto|MPI_Reduce)/)
        }
        !($1 in us) { order[++n] = $1; us[$1] = 1e30 }
        matches($2) && $3 < us[$1] { us[$1] = $3 }
        END { for (i = 1; i <= n; i++) print order[i], us[order[i]] }' >"$scratch/$1-$2"
}

for cache in warm cold; do
    for entrant in native auto messages; do
        series $cache $entrant
    done
    for entrant in auto messages; do
        paste -d ' ' "$scratch/$cache-native" "$scratch/$cache-$entrant" |
            awk '{ print $1, $2 / $4 }' >"$scratch/$cache-$entrant-gain"
    done
done
awk -F, 'NR > 1 && $3 > 0 { print $1, $3 }' "$measured/limits.csv" >"$scratch/memcpy"

gnuplot <<END || exit 1
load '$srcdir/test/bench/style.gnuplot'
set xrange [8:64*2**20]

set output '$measured/performance-time.svg'
set ylabel 'us' textcolor rgb '#808890'
set logscale y
set format y '%g'
plot '$scratch/warm-native' title 'native' with linespoints lw 1.6 ps 0.5 pt 7 lc rgb '#e0702a', \
    '$scratch/warm-messages' title 'best algorithm with messages' with linespoints lw 1.6 ps 0.5 pt 5 lc rgb '#2a9d5c', \
    '$scratch/warm-auto' title 'auto' with linespoints lw 1.6 ps 0.5 pt 9 lc rgb '#3b7dd8', \
    '$scratch/memcpy' title 'memcpy of both ranks at once' with lines lw 1.6 dt 2 lc rgb '#8a63d2'

set output '$measured/performance-ratio.svg'
set ylabel 'times faster than native' textcolor rgb '#808890'
unset logscale y
set yrange [0:*]
set offsets 0, 0, 2, 0
set key right top
plot '$scratch/warm-auto-gain' title 'auto, same buffers in each call' with linespoints lw 1.6 ps 0.5 pt 9 lc rgb '#3b7dd8', \
    '$scratch/cold-auto-gain' title 'auto, other buffers in each call' with linespoints lw 1.6 ps 0.5 pt 7 lc rgb '#8a63d2', \
    '$scratch/warm-messages-gain' title 'best algorithm with messages, same buffers' with linespoints lw 1.6 ps 0.5 pt 5 lc rgb '#2a9d5c'
END
echo "drawn: $measured/performance-time.svg $measured/performance-ratio.svg; doc/performance.md shows them"
exit "$failed"
