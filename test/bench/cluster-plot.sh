#!/bin/sh
# The figures of several hosts in doc/performance.md, from what the section cluster left.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

hosts=4
bytes_a_second=125000000
command -v gnuplot >/dev/null || {
    echo "no figures: gnuplot is not in PATH (Debian: gnuplot-nox)"
    exit 1
}

# series FILE PATTERN: lines of bytes and least microseconds of the algorithms whose names match
series() {
    columns "$1" | awk -F '\t' -v want="$2" '
        $2 !~ want { next }
        !($1 in us) { order[++n] = $1 }
        !($1 in us) || $3 < us[$1] { us[$1] = $3 }
        END { for (i = 1; i <= n; i++) print order[i], us[order[i]] }'
}

for ranks in 1 2; do
    file=$measured/cluster-$hosts-1gbit-$ranks.csv
    [ -s "$file" ] || {
        echo "no figures: $file is missing; run make bench-cluster first"
        exit 1
    }
    series "$file" '^native$' >"$scratch/native"
    series "$file" '^auto$' >"$scratch/auto"
    series "$file" '^(two_level|hier_)' >"$scratch/levels"
    series "$file" '^(butterfly|rhd|ring|circulant)' >"$scratch/flat"
    gnuplot <<END || exit 1
load '$srcdir/test/bench/style.gnuplot'
set xrange [8:32*2**20]
set output '$measured/cluster-$ranks.svg'
set ylabel 'us' textcolor rgb '#808890'
set logscale y
set yrange [50:*]
set format y '%g'
bound(x) = 2.0 * ($hosts - 1) / $hosts * x / $bytes_a_second * 1e6
plot '$scratch/native' title 'native' with linespoints lw 1.6 ps 0.5 pt 7 lc rgb '#e0702a', \
    '$scratch/flat' title 'best flat' with linespoints lw 1.6 ps 0.5 pt 5 lc rgb '#2a9d5c', \
    '$scratch/levels' title 'best two-level' with linespoints lw 1.6 ps 0.5 pt 11 lc rgb '#d0a020', \
    '$scratch/auto' title 'auto' with linespoints lw 1.6 ps 0.5 pt 9 lc rgb '#3b7dd8', \
    bound(x) title 'bound by the links' with lines lw 1.6 dt 2 lc rgb '#8a63d2'
END
    echo "drawn: $measured/cluster-$ranks.svg"
done
exit "$failed"
