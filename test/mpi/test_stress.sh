#!/bin/sh
# Allreduces of pseudo-random everything among a program's other communication, every result compared exactly.
#
# STRESS_CALLS, STRESS_SEED and STRESS_RANKS say how many, which and on how many ranks; what failed told its seed.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

calls=${STRESS_CALLS:-1000}
seed=${STRESS_SEED:-1}
limit=$((90 + calls / 20))
# shellcheck disable=SC2046 # names have no blanks
set -- auto native $(rows) 'ring(segment=1K,window=3)' 'butterfly(segment=4K)' 'shm(segment=1K)' 'rhd:0-999;circle(segment=100)'

# stress RANKS TRANSPORT USER_OPS CHOICE...: each row of the list ran.  Where ranks share cores they write past their
# caches only if that is asked for.
stress() {
    ranks=$1
    transport=$2
    user_ops=$3
    shift 3
    what="STRESS_SEED=$seed STRESS_CALLS=$calls STRESS_RANKS=$ranks, transport $transport, ops of the program's $user_ops"
    begun=$(date +%s)
    expect_ok "$what" preload "$ranks" ALLREDUCE_VERBOSE=1 ALLREDUCE_TRANSPORT="$transport" \
        ALLREDUCE_STREAMING="$([ "$ranks" = 2 ] && echo auto || echo always)" \
        ALLREDUCE_USER_OPS="$user_ops" "$programs/stress" "$seed" "$calls" "$@" || return
    [ "$calls" -ge 1000 ] || return # too few for all choices
    for row in $(rows); do
        expect_calls "$what" "$row" 1
    done
    echo "done: $what: $(($(date +%s) - begun)) s"
}

for ranks in ${STRESS_RANKS:-2 3}; do
    stress "$ranks" auto whole "$@"
    stress "$ranks" mpi cut "$@"
done
exit $failed
