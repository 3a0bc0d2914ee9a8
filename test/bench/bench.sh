#!/bin/sh
# The tables of doc/performance.md, in about ten minutes.  The machine should have nothing else to do.
: "${MPIEXEC:?run me by make bench}" "${srcdir:?}"

sizes=8,16,32,64,128,256,512,1K,2K,4K,8K,16K,32K,64K,128K,256K,512K,1M,2M,4M,8M,16M,32M

run() {
    echo
    echo "\$ mpiexec -n $1 allreduce bench $2"
    # shellcheck disable=SC2086 # options without blanks
    timeout 600 "$MPIEXEC" -n "$1" ./allreduce bench $2 || exit 1
}

run 2 "--sizes=$sizes --time=1.5 --algo=butterfly;butterfly(segment=8K,window=2);ring;circulant;shm;auto"
run 4 "--sizes=8,1K,32K,256K,4M --time=3 --algo=butterfly;knomial;rhd;ring;shm;auto"
run 8 "--sizes=8,1K,32K,256K,4M --time=3 --algo=butterfly;knomial;rhd;ring;shm;auto"
echo
sh "$srcdir/test/bench/native_cost.sh"
