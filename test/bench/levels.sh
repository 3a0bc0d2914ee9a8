#!/bin/sh
# What ALLREDUCE_DETERMINISM costs: sums of doubles under each level, beside the native allreduce.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

file=$measured/levels.csv
: >"$file"
for ranks in ${RANKS:-2 4}; do
    for level in native none placement order; do
        setting=ALLREDUCE_DETERMINISM=$level
        [ $level != native ] || setting=ALLREDUCE_ALGO=native
        preload "$ranks" "$setting" test/bench/levels 8 1024 16384 262144 4194304 </dev/null |
            sed "s/^/$ranks,$level,/" >>"$file" || fail "levels under $level"
    done
done
echo "Microseconds for a sum of doubles; placement and size run the same algorithm:"
echo
awk -F, '
    { us[$1, $3, $2] = $4; if (!(($1, $3) in seen)) { seen[$1, $3] = 1; row[++n] = $1 SUBSEP $3 } }
    END {
        print "| ranks | bytes | native | none, run | placement, size | order | order / none |"
        print "|---|---|---|---|---|---|---|"
        for (i = 1; i <= n; i++) {
            split(row[i], key, SUBSEP)
            printf "| %d | %d | %.2f | %.2f | %.2f | %.2f | %.1f |\n", key[1], key[2],
                us[row[i], "native"], us[row[i], "none"], us[row[i], "placement"],
                us[row[i], "order"], us[row[i], "order"] / us[row[i], "none"]
        }
    }' "$file"
exit "$failed"
