#!/bin/sh
# Memcheck finds no invalid access, no use of uninitialised values and no leak in the library and in the MPI calls that
# it makes, with statistics, the timeline and verification on.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# hwloc leaks what its PCI component allocated, and reports at length that it cannot query the processor.
export HWLOC_COMPONENTS=-pci,-x86
PATIENCE=10

# memcheck VARIABLE=VALUE PROGRAM [ARGUMENT...]: 2 ranks, each under valgrind.
memcheck() {
    setting=$1
    shift
    what="valgrind: $setting $*"
    rm -f "$scratch"/report*
    expect_ok "$what" preload 2 "$setting" ALLREDUCE_STATS="$scratch/stats" ALLREDUCE_TRACE="$scratch/trace" valgrind -q \
        --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite,possible --log-file="$scratch/report.%p" \
        "$@" || head -n 60 "$scratch"/report*
    [ "$(find "$scratch" -name 'report*' | wc -l)" -ge 2 ] || fail "$what: valgrind did not run"
}

memcheck ALLREDUCE_VERIFY=1 "$programs/comms" semantics
memcheck ALLREDUCE_VERIFY=1/10 "$programs/stress" 1 100 auto native shm ring 'butterfly(segment=4K)'
memcheck ALLREDUCE_TRANSPORT=mpi "$programs/stress" 2 100 ring rhd circle knomial
memcheck ALLREDUCE_ALGO='shm(copy=in_place)' "$programs/in_place" alloc
exit $failed
