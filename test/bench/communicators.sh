#!/bin/sh
# What a communicator costs that lives for one allreduce: the same program with and without the
# preload, in turn.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

file=$measured/setup.csv
echo ranks,bytes,native_us,auto_us >"$file"
for ranks in 2 4; do
    for bytes in 8 1024 65536 1048576; do
        both=$(in_turn 5 auto "$ranks" test/bench/communicators "$bytes") || fail "communicators $bytes"
        echo "$ranks,$bytes,$both" >>"$file"
    done
done
echo "MPI_Comm_dup, one MPI_Allreduce, MPI_Comm_free; medians of 5 runs each, in turn:"
echo
awk -F, '
    NR == 1 {
        print "| ranks | bytes | native, us | auto, us | auto / native |"
        print "|---|---|---|---|---|"
    }
    NR > 1 { printf "| %d | %d | %.1f | %.1f | %.2f |\n", $1, $2, $3, $4, $4 / $3 }' "$file"
exit "$failed"
