#!/bin/sh
# Ranks exchange level by level of their node: results are right, and the table says which levels ran.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# expect_levels WHAT TEXT RANKS [VARIABLE=VALUE...] PROGRAM [ARGUMENT...]: 20 calls run shm, verified, and a line of the
# table has the text.
expect_levels() {
    label=$1
    text=$2
    on=$3
    shift 3
    expect_row "$label" shm 20 preload "$on" ALLREDUCE_VERBOSE=1 ALLREDUCE_VERIFY=1 ALLREDUCE_USER_OPS=cut "$@" || return
    grep -q -e "$text" "$scratch/out" || {
        fail "$label: no line has $text"
        grep '^liballreduce:' "$scratch/out"
    }
}

for choice in shm 'shm(whole=1)' 'shm(whole=inf,segment=100)'; do
    expect_levels "ALLREDUCE_LEVELS=2, $choice" 'levels=2[,)]' 4 ALLREDUCE_LEVELS=2 ALLREDUCE_ALGO="$choice" \
        "$programs/order"
done
expect_levels "groups of unequal size" 'levels=2+3)' 5 ALLREDUCE_ALGO='shm(levels=2+3)' "$programs/order"
expect_levels "a parameter comes first" 'levels=3)' 4 ALLREDUCE_LEVELS=2 ALLREDUCE_ALGO='shm(levels=3)' "$programs/order"
expect_levels "ops that do not commute" 'levels=2)' 4 ALLREDUCE_LEVELS=2 ALLREDUCE_ALGO=shm "$programs/order"
expect_levels "a group of all" 'shm(levels=flat)  *no such levels here: flat' 4 ALLREDUCE_ALGO='shm(levels=4+16)' "$programs/order"
expect_levels "groups of more than all" 'shm(levels=flat)  *no such levels here: flat' 4 ALLREDUCE_LEVELS=8 "$programs/order"
# What the cores of this machine share is not known here, but what comes of it is told.
expect_levels "names" 'levels=l3\|ranks are not bound: flat\|no such levels here: flat' 4 ALLREDUCE_LEVELS=l3 \
    ALLREDUCE_ALGO=shm "$programs/order"

# Where bits must stay, auto is flat, and names are refused.
expect_levels "determinism" 'shm  *named' 4 ALLREDUCE_DETERMINISM=size ALLREDUCE_ALGO=shm "$programs/order"
grep -q 'levels=' "$scratch/out" && fail "determinism: levels ran"
expect_end "names and determinism" any 'ALLREDUCE_LEVELS: numa depends on the cores' preload 2 ALLREDUCE_DETERMINISM=run \
    ALLREDUCE_LEVELS=numa "$programs/order"
exit $failed
