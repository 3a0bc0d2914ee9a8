#!/bin/sh
# More ranks than cores, on a machine with two.  $RANKS: only so many of them, 4, 8 or 16.
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

for ranks in ${RANKS:-4 8 16}; do
    case $ranks in
    4) crowd 4 8,64,512,4K,16K,64K,256K,1M,4M,16M,32M --time=0.5 ;;
    8) crowd 8 8,1K,32K,4M,16M,32M --time=1 ;;
    16) crowd 16 8,1K,32K,4M,16M,32M --time=1 --repetitions=5 ;;
    *)
        echo "RANKS cannot have '$ranks'; allowed: 4, 8, 16"
        exit 1
        ;;
    esac
    echo
done
exit "$failed"
