#!/bin/sh
# With ALLREDUCE_HEAP=shared large blocks of malloc are in memory that the other ranks read in place, and malloc and fork
# are as they were.  Without it, outside MPI and where the system refuses, nothing changes.
# shellcheck source=test/mpi/common.sh disable=SC2317 # functions are arguments
. "${srcdir:-.}/test/mpi/common.sh"

heap=${library%.so}-heap.so
program=$programs/heap

# shared RANKS [VARIABLE=VALUE...] PROGRAM [ARGUMENT...]: with both libraries, and the variable.
shared() {
    on=$1
    shift
    launch "$on" LD_PRELOAD="$library:$heap" ALLREDUCE_HEAP=shared ALLREDUCE_VERBOSE=1 "$@"
}

expect_ok "malloc in the heap" shared 1 "$program" shared
expect_ok "the variable alone is not set" launch 1 LD_PRELOAD="$library:$heap" "$program" private
expect_ok "malloc without liballreduce.so" launch 1 LD_PRELOAD="$heap" ALLREDUCE_HEAP=shared "$program" private
expect_end "malloc without its library" 0 'ALLREDUCE_HEAP=shared needs liballreduce-heap.so in LD_PRELOAD' \
    preload 2 ALLREDUCE_HEAP=shared "$program" private
expect_ok "allreduce run" launch 1 ALLREDUCE_HEAP=shared ./allreduce run "$program" shared
grep 'ALLREDUCE_HEAP' "$scratch/out" && fail "allreduce run: a warning"

# Peers read what malloc gave.
asked='shm(copy=in_place)'
expect_row "in place" shm 32 shared 2 ALLREDUCE_ALGO="$asked" "$programs/in_place" malloc
grep -q ' 32 .*shm(copy=in_place) *named' "$scratch/out" || fail "in place: not all calls"

# Where addresses are limited there is no heap, on one rank or on all, and malloc is as before: even if they are more
# than the 256 GiB that a heap takes at most.
few_addresses='ulimit -v 500000000'
# shellcheck disable=SC2016 # for the ranks' shells
for who in '' '[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" != 1 ] || '; do
    expect_row "$who$few_addresses" shm 32 shared 2 ALLREDUCE_ALGO="$asked" \
        sh -c "$who$few_addresses"'; exec "$0" refused' "$programs/in_place"
    grep -q 'shm(copy=slots).* no XPMEM or shared memory on all ranks: through slots' "$scratch/out" ||
        fail "$few_addresses: not through slots"
done

# A process that does not use MPI has no heap, whatever it allocates.
expect_ok "sort" env LD_PRELOAD="$library:$heap" ALLREDUCE_HEAP=shared \
    sh -c 'seq 200000 | sort -n -r | head -n 1 >/dev/null && ! grep memfd:liballreduce /proc/self/maps'

expect_no_files "the heap"
exit $failed
