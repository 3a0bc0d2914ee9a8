#!/bin/sh
# 2 ranks, every power of two: buffers that the cache may hold, then buffers that it cannot, then data that is fresh.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

algorithms='auto;butterfly;butterfly(segment=8K,window=2);ring;circulant'

# sweep NAME TITLE OPTION...
sweep() {
    file=$measured/sizes-$1.csv
    echo "2 ranks, $2:"
    echo
    shift 2
    contest 2 8-64M "--algo=$algorithms" --time=0.5 "$@" >"$file"
    speedup "$file"
}

sweep warm "the same buffers in every call"
echo
sweep cold "each call takes other buffers, 64 MiB of them in all" --rotate=64M
echo
sweep fresh "each rank writes its input before each call and reads its result after it" --fresh
exit "$failed"
