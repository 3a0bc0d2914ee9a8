#!/bin/sh
# ALLREDUCE_DETERMINISM: what may not change the bits does not, whatever algorithm runs, and without
# it the same things do change them.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=60
fault=$PWD/test/mpi/.libs/fault_mpi.so

# bits RANKS [VARIABLE=VALUE...] ARGUMENTS: what bits prints goes to $scratch/bits, sorted.
bits() {
    title="$*"
    ranks=$1
    shift
    settings=
    while case $1 in *=*) true ;; *) false ;; esac do
        settings="$settings $1"
        shift
    done
    # shellcheck disable=SC2086 # settings are words
    expect_ok "$title" preload "$ranks" $settings "$programs/rounded_bits" "$@"
    grep -v '^liballreduce:' "$scratch/out" | sort >"$scratch/bits"
    [ "$(wc -l <"$scratch/bits")" -eq $(($# - 2)) ] || fail "$title: not $(($# - 2)) lines"
}

# expect_kinds N: so many different lines were printed.
expect_kinds() {
    [ "$(uniq "$scratch/bits" | wc -l)" -eq "$1" ] || {
        fail "$title: not $1 kinds of bits"
        cat "$scratch/out"
    }
}

# The operands tell orders apart.
bits 4 double sum 64/same/butterfly 64/same/star 64/shuffled/butterfly 5000/same/ring
expect_kinds 4
grep -q 'places differ' "$scratch/bits" || fail 'places do not differ in a ring'

# Order: the exact sum, by any algorithm, order of ranks, length and transport.
for type in float_complex double_complex float double; do
    bits 4 ALLREDUCE_DETERMINISM=order $type sum 64/same/ 64/reversed/ring 5000/same/rhd \
        5000/shuffled/shm 90000/same/circle 700000/reversed/shm 64/shuffled/hier_ring
    expect_kinds 1
done
grep -q 'places differ' "$scratch/bits" && fail "$title: places differ"
exact=$(uniq "$scratch/bits")
bits 4 ALLREDUCE_TRANSPORT=mpi ALLREDUCE_DETERMINISM=order double sum 5000/reversed/circulant
[ "$(cat "$scratch/bits")" = "$exact" ] || fail "by MPI's messages the bits are others"
bits 3 ALLREDUCE_DETERMINISM=order double sum 64/same/
[ "$(cat "$scratch/bits")" != "$exact" ] || fail 'another sum has the same bits'

# Size: one expression whatever the length; under order, too, for what is not a sum.
bits 3 ALLREDUCE_DETERMINISM=size double sum 64/same/ 90000/same/ 64/same/butterfly 9000/same/rhd
expect_kinds 1
bits 3 ALLREDUCE_DETERMINISM=size double user 64/same/star 90000/same/star:0-4K\;circle
expect_kinds 1
bits 3 ALLREDUCE_DETERMINISM=order ALLREDUCE_VERBOSE=1 double prod 64/same/ring 90000/same/ \
    900/same/shm
expect_kinds 1
grep -q ' \(rhd\|butterfly\)  *determinism$' "$scratch/out" || fail "$title: not for determinism"

# Placement: MPICH can make nodes of one machine.
if [ "$AR_MPI_FAMILY" = mpich ]; then
    bits 4 ALLREDUCE_DETERMINISM=placement double sum 64/same/ 9000/same/shm
    together=$(cat "$scratch/bits")
    bits 4 MPIR_CVAR_NOLOCAL=1 MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_ODD_EVEN_CLIQUES=1 \
        ALLREDUCE_DETERMINISM=placement double sum 64/same/ 9000/same/shm
    [ "$(cat "$scratch/bits")" = "$together" ] || fail "$title: not the bits of one node"
fi

# rows_of LAUNCH LEVEL [VARIABLE=VALUE...]: the bits of all rows and parameters that keep the level, in $scratch/LAUNCH.  The
# scratch memory is little, so that it cuts segments.
rows_of() {
    launch=$1
    level=$2
    shift 2
    # shellcheck disable=SC2086 # lacking may be empty
    expect_ok "$launch" preload 4 ALLREDUCE_SCRATCH=64K ALLREDUCE_DETERMINISM="$level" "$@" \
        "$programs/rounded_bits" rows "$level" $lacking
    grep -v '^liballreduce:' "$scratch/out" | sort >"$scratch/$launch"
}

# expect_same LEVEL LAUNCH OTHER: what keeps the level has the same bits in both.
expect_same() {
    for launch in "$2" "$3"; do
        awk -v level="$1" 'level == "run" || $1 != "run"' "$scratch/$launch" >"$scratch/$launch.kept"
    done
    [ -s "$scratch/$2.kept" ] || fail "$2: nothing keeps $1"
    diff "$scratch/$2.kept" "$scratch/$3.kept" || fail "$2 and $3: not the same bits"
}

# No level depends on what carries the data, and on how ranks wait.
lacking=
rows_of memory run
lacking=lacking
rows_of lacking run ALLREDUCE_WAIT=block
lacking=
expect_same run memory lacking
[ "$(wc -l <"$scratch/memory")" -gt 100 ] || fail "$(wc -l <"$scratch/memory") rows and parameters, not more than 100"
if [ "$AR_MPI_FAMILY" = mpich ]; then
    rows_of nodes run MPIR_CVAR_NUM_CLIQUES=2
    rows_of messages run MPIR_CVAR_NUM_CLIQUES=2 ALLREDUCE_TRANSPORT=mpi ALLREDUCE_WAIT=sleep
    expect_same run nodes messages
    lacking=lacking
    rows_of lacking run MPIR_CVAR_NUM_CLIQUES=2
    lacking=
    expect_same run nodes lacking
    rows_of memory placement
    rows_of nodes placement MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_ODD_EVEN_CLIQUES=1 ALLREDUCE_WAIT=yield
    rows_of apart placement MPIR_CVAR_NOLOCAL=1
    expect_same placement memory nodes
    expect_same placement memory apart
fi

# A named algorithm that needs an op that commutes does not send a user's op to native.
bits 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_DETERMINISM=placement double user 64/same/ring
expect_calls "$title" butterfly 1
grep -q 'butterfly  *determinism$' "$scratch/out" || fail "$title: not for determinism"

# Out of communicators, a rounded call goes native and says so, once, if bits were promised.
for level in placement none; do
    title="no private communicator under $level"
    expect_ok "$title" launch 2 LD_PRELOAD="$fault:$library" FAULT_SPLIT=1 ALLREDUCE_ALGO=butterfly \
        ALLREDUCE_DETERMINISM=$level "$programs/rounded_bits" double sum 64/same/ 900/same/
    said=$([ $level = none ] && echo 0 || echo 1)
    [ "$(grep -c "^liballreduce: ALLREDUCE_DETERMINISM=$level: a call of 512 bytes runs native (no private" \
        "$scratch/out")" -eq "$said" ] || fail "$title: not told $said times: $(cat "$scratch/out")"
done

# What would break the promise ends the job, or is no choice for a program.
preload 2 ALLREDUCE_DETERMINISM=size ALLREDUCE_ALGO=ring "$programs/rounded_bits" double sum 64/same/ \
    >"$scratch/out" 2>&1 && fail 'a ring was taken for size'
[ "$(grep -c '^liballreduce: ALLREDUCE_ALGO: column 1: ring guarantees only level .placement.; ' \
    "$scratch/out")" -eq 1 ] || fail "a ring was not refused once: $(cat "$scratch/out")"
exit $failed
