#!/bin/sh
# Rules by operation, type, place, nodes and name of the communicator pick what they say,
# alike on all ranks, also where these differ in what they know.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# expect_exactly CALLS NAME: as many calls ran NAME, by the summary in $scratch/out.
expect_exactly() {
    [ "$(calls_of "$2")" -eq "$1" ] || {
        fail "$(calls_of "$2") calls ran $2, not $1"
        grep '^liballreduce:' "$scratch/out"
    }
}

# traits RULES [ARGUMENT...]: the program on 4 ranks under these rules.
traits() {
    rules=$1
    shift
    expect_ok "$rules" preload 4 ALLREDUCE_VERBOSE=1 ALLREDUCE_USER_OPS=cut ALLREDUCE_ALGO="$rules" "$programs/traits" "$@"
}

traits 'ring:op=max,type=integer;butterfly:op=user,type=other;star:comm=row_1|row?1;circle:inplace=yes;native'
expect_exactly 7 ring
expect_exactly 11 butterfly
expect_exactly 13 star
expect_exactly 5 circle
expect_exactly 3 native

# In place on one rank alone is not in place.
traits 'ring:inplace=yes;star:inplace=no,op=sum,comm=mpi_comm_*;butterfly' mixed
expect_exactly 5 ring
expect_exactly 20 star
expect_exactly 31 butterfly

traits 'ring:nodes=2-inf;star:ppn=5-inf;butterfly:nodes=1,ppn=4,type=double;circle'
expect_exactly 21 butterfly
expect_exactly 18 circle

if [ "$AR_MPI_FAMILY" = mpich ]; then # which can take one machine for several
    export MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_ODD_EVEN_CLIQUES=1
    traits 'butterfly:nodes=1;ring:nodes=2,ppn=2'
    expect_exactly 39 ring
    export MPIR_CVAR_NOLOCAL=1
    traits 'butterfly:nodes=1-3;ring:nodes=4,ppn=1'
    expect_exactly 39 ring
fi
exit $failed
