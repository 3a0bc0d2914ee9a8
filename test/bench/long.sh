#!/bin/sh
# Draws the figure of doc/reliability.md of what the ranks of a long run hold, from the samples that
# test/mpi/test_long.sh has left in the folder LONG_RESULTS.  It measures nothing.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench-long}/test/bench/common.sh"

: "${LONG_RESULTS:?the folder of a long run}"
command -v gnuplot >/dev/null || {
    echo "no figure: gnuplot is not in PATH (Debian: gnuplot-nox)"
    exit 1
}
# digest RUN IDS: for rank 0, minutes and MiB of some samples; for the bare ones also how many of IDS context ids are
# used.
digest() {
    samples=$LONG_RESULTS/$1-0.csv
    [ -e "$samples" ] || return
    awk -F, 'NR % 8 == 2 { print $1 / 60, $4 / 1024 }' "$samples" >"$scratch/$1-all"
    awk -F, -v ids="$2" '$2 == 1 { print $1 / 60, $8 / 1024, $9, $10, ids - $13 }' "$samples" >"$scratch/$1-bare"
}
digest mpich-auto 2048
digest mpich-mpi 2048
digest openmpi-auto 32768

# lines_of KIND COLUMN: the lines of each run, as gnuplot plots them.
lines_of() {
    separator=
    for run in mpich-auto mpich-mpi openmpi-auto; do
        [ -e "$scratch/$run-$1" ] || continue
        case $run in
        mpich-auto) look="title 'MPICH' with lines lw 1.6 lc rgb '#e0702a'" ;;
        mpich-mpi) look="title 'MPICH, by messages' with lines lw 1.6 lc rgb '#8a4fbf'" ;;
        *) look="title 'Open MPI' with lines lw 1.6 lc rgb '#3b7dd8'" ;;
        esac
        printf "%s'%s' using 1:%d %s" "$separator" "$scratch/$run-$1" "$2" "$look"
        separator=', '
    done
}
[ "$(lines_of bare 1)" ] || {
    echo "no figure: no samples in $LONG_RESULTS"
    exit 1
}

gnuplot <<END || exit 1
load '$srcdir/test/bench/style.gnuplot'
set terminal svg noenhanced size 760,760 dynamic font 'sans-serif,13'
set output '$measured/long.svg'
unset logscale x
set xtics auto
set xlabel ''
set yrange [0:*]
set key right bottom
set multiplot layout 5,1
set lmargin 9
set ylabel 'resident, MiB' textcolor rgb '#808890'
plot $(lines_of all 2)
unset key
set ylabel 'by malloc, MiB'
plot $(lines_of bare 2)
set ylabel 'mappings'
plot $(lines_of bare 3)
set ylabel 'open files'
plot $(lines_of bare 4)
set yrange [0:4]
set ytics 1
set ylabel 'ids in use'
set xlabel 'minutes' textcolor rgb '#808890'
plot $(lines_of bare 5)
END
echo "drawn: $measured/long.svg; doc/reliability.md shows it"
exit "$failed"
