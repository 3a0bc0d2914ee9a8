#!/bin/sh
# ./setup demo reads the summary that the library prints, and fails if it cannot.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# rows: what the demonstration reads in $scratch/out.
rows() {
    awk -f "${srcdir:-.}/demo/summary.awk" "$scratch/out"
}

# expect_rows WHAT ROW: there is this row alone; its milliseconds are a number other than 0, and are left out.
expect_rows() {
    rows >"$scratch/rows" || fail "$1: the summary was not understood: $(cat "$scratch/out")"
    [ "$(awk '$3 > 0 { print $1, $2, $4 }' "$scratch/rows")" = "$2" ] || fail "$1: $(cat "$scratch/rows"), not $2"
}

expect_ok "one algorithm" preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring "$programs/few_calls"
expect_rows "one algorithm" '4 164K ring'
cp "$scratch/out" "$scratch/whole"
sed '/ ring /a\
liballreduce: set-up took another 188 ms in first calls, with waiting for ranks there' "$scratch/whole" >"$scratch/out"
expect_rows "long set-up" '4 164K ring'
# Rows that are not as expected.
for change in '/ ring /d' 's/164K/-/' 's/ ring .*//' 's/  *ms  /  s  /'; do
    sed "$change" "$scratch/whole" >"$scratch/out"
    ! cmp -s "$scratch/out" "$scratch/whole" || fail "$change changes nothing"
    ! rows >"$scratch/rows" || fail "$change: the rows are $(cat "$scratch/rows")"
done
exit $failed
