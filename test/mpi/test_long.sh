#!/bin/sh
# Mixed work leaves nothing behind: algorithms, types, communicators that are created and freed, threads, statistics and
# verification. Meanwhile each rank records its memory, files, mappings, threads and context ids.
#
# LONG_SECONDS sets the duration; without it, the test makes some hundreds of calls by few algorithms.  LONG_RANKS sets
# the number of ranks, LONG_SEED the seed, and LONG_TRANSPORTS which transports take their turn, one run each. The samples
# stay in the folder LONG_RESULTS, from which make bench-long draws them.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

ranks=${LONG_RANKS:-2}
seed=${LONG_SEED:-1}
results=${LONG_RESULTS:-$scratch}
mkdir -p "$results"
if [ "${LONG_SECONDS:-}" ]; then
    length=${LONG_SECONDS}s
    limit=$((LONG_SECONDS + 600))
    # shellcheck disable=SC2046 # names have no blanks
    set -- auto native $(rows) 'ring(segment=1K,window=3)' 'butterfly(segment=4K)' 'shm(segment=1K)' 'rhd:0-999;circle(segment=100)'
else
    length=400
    limit=300 # threads that spin take their time where others use the cores
    set -- ring shm
fi

# Open MPI itself takes another 128 KiB from time to time, natively as well.
slack=64
[ "$AR_MPI_FAMILY" = mpich ] || slack=1024

# malloc reserves 64 MiB of addresses for a thread that finds another one at work in malloc, whenever that may be.
export MALLOC_ARENA_MAX=1

# long TRANSPORT CHOICE...: the job runs, and at its end holds no more than before.
long() {
    transport=$1
    shift
    what="LONG_SEED=$seed, $length on $ranks ranks, transport $transport"
    samples=$results/$AR_MPI_FAMILY-$transport
    expect_ok "$what" preload "$ranks" STRESS_SAMPLES="$samples" ALLREDUCE_TRANSPORT="$transport" ALLREDUCE_VERBOSE=1 \
        ALLREDUCE_VERIFY=1/4 ALLREDUCE_STATS="$results/stats" "$programs/stress" "$seed" "$length" "$@" || return
    for rank in $(seq 0 $((ranks - 1))); do
        echo "$what: $(tail -n 1 "$samples-$rank.csv" | cut -d , -f 3) calls, rank $rank holds"
        awk -v slack=$slack -f "${srcdir:-.}/test/mpi/no_growth.awk" "$samples-$rank.csv" || fail "$what: rank $rank holds more and more"
    done
}

for transport in ${LONG_TRANSPORTS:-auto mpi}; do
    long "$transport" "$@"
done
exit $failed
