#!/bin/sh
# The tables of doc/performance.md, in about three minutes.  The machine should have nothing else to do.
: "${MPIEXEC:?run me by make bench}" "${srcdir:?}"

# run RANKS OPTION...
run() {
    ranks=$1
    shift
    echo
    echo "\$ mpiexec -n $ranks allreduce bench $*"
    timeout 600 "$MPIEXEC" -n "$ranks" ./allreduce bench "$@" || exit 1
}

run 2 --sizes=8,32,128,512,2K,8K,32K,128K,512K,2M,8M,32M --time=1.5 \
    '--algo=butterfly;butterfly(segment=8K,window=2);ring;circulant;shm'
run 4 --sizes=8,1K,32K,256K,4M --time=3 '--algo=butterfly;knomial;rhd;ring;shm'
run 8 --sizes=8,1K,32K,256K,4M --time=4 '--algo=butterfly;knomial;rhd;ring;shm'
echo
sh "$srcdir/test/bench/native_cost.sh"
sh "$srcdir/test/bench/setup_cost.sh"
