#!/bin/sh
# More ranks than cores, on a machine with two.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

# crowd RANKS SIZES OPTION...
crowd() {
    file=$measured/ranks-$1.csv
    echo "$1 ranks:"
    echo
    contest "$@" '--algo=auto;butterfly;knomial;rhd;ring' >"$file"
    speedup "$file"
}

crowd 4 8,64,512,4K,16K,64K,256K,1M,4M,16M,32M --time=0.5
echo
crowd 8 8,1K,32K,4M,16M,32M --time=1
echo
crowd 16 8,1K,32K,4M,16M,32M --time=1 --repetitions=5
exit "$failed"
