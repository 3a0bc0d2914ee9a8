#!/bin/sh
# How far auto is from what the machine can do.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

file=$measured/limits.csv
preload 2 test/bench/limits </dev/null >"$file" || fail limits
echo "2 ranks, auto compared with the limits of the machine:"
echo
table limits "$file"
exit "$failed"
