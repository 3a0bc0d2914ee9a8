#!/bin/sh
# Where auto's choice is a prediction, by messages and on more than 16 ranks, calls find out whether the MPI library's own
# allreduce or what formulas propose next is faster.  What is runs from then on.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=60
fast=$programs/.libs/fake_mpi_fast.so
tools=

# run_beside WHAT RANKS "WHERE TIMES" COUNTS [VARIABLE=VALUE...]: the calls' table is in $scratch/out; of the calls there, how
# many were auto's own, how many tried a rival, and how many ran one because it had won are in $own, $tried and $won.
run_beside() {
    what=$1
    ranks=$2
    times=$3
    counts=$4
    shift 4
    # shellcheck disable=SC2086 # the words
    expect_ok "$what" launch "$ranks" LD_PRELOAD="$library:$fast$tools" ALLREDUCE_VERBOSE=1 ALLREDUCE_TUNE_OVERHEAD=50 "$@" "$programs/native_wins" $times $counts
    # shellcheck disable=SC2046 # three numbers
    set -- $(awk '/ tuning$/ { tried += $2; next } / won by / { won += $2; next }
        / (auto|model|named|by messages)$/ { own += $2 } END { print own + 0, tried + 0, won + 0 }' "$scratch/out")
    own=$1
    tried=$2
    won=$3
}

# expect_won WHAT CALLS [NAME]: native won, or what is named, and all other calls, of so many, were the trial's.
expect_won() {
    { [ "$won" -ge $(($2 / 2)) ] && [ $((own + tried + won)) -eq "$2" ] && grep -q " ${3-native} won by " "$scratch/out"; } ||
        fail "$1: $own own, $tried tried and $won won calls of $2: $(cat "$scratch/out")"
}

# expect_stayed WHAT CALLS TRIED: all calls but at most so many were auto's own.
expect_stayed() {
    { [ "$won" -eq 0 ] && [ "$tried" -le "$3" ] && [ $((own + tried)) -eq "$2" ]; } ||
        fail "$1: $own own, $tried tried and $won won calls of $2: $(cat "$scratch/out")"
}

# Vectors are long: in a short call the last rank of all may find everything done, and then is as fast as native.
for counts in 20000 "17000 20000"; do
    # shellcheck disable=SC2086 # the words
    calls=$((2000 * $(echo $counts | wc -w)))
    run_beside "by messages: $counts" 2 "messages 2000" "$counts" FAST_FROM=1
    expect_won "by messages: $counts" $calls
    run_beside "native is slow" 2 "messages 2000" "$counts" FAST_SLEEPS=10
    expect_stayed "native is slow" $calls 12 # two batches of five pairs, and a warm-up before each
done
# A machine of more cores is made up, so that ranks do not seem to share any.
rows=$(yes 0-31 | head -n 17 | paste -sd,)
tools=:$programs/.libs/fake_machine.so
run_beside "17 ranks" 17 "shm 1000" 20000 FAST_FROM=1 CORES_NUMBER=32 CORES_CPUS="$rows" ALLREDUCE_WAIT=yield
expect_won "17 ranks" 999 # the first one is left to the MPI library
run_beside "by messages, on one core" 2 "messages 2000" 1000 FAST_FROM=1 CORES_NUMBER=1 CORES_CPUS=0,0
expect_stayed "by messages, on one core" 2000 0
tools=
run_beside "17 ranks on a few cores" 17 "shm 2000" 100 FAST_FROM=1
expect_stayed "17 ranks on a few cores" 1999 0

# Where auto was measured, what is named, and what is to stay as it is.
run_beside "shared memory" 2 "shm 2000" 1000 FAST_FROM=1
expect_stayed "shared memory" 2000 0
run_beside "alone" 1 "messages 2000" 1000 FAST_FROM=1
expect_stayed "alone" 2000 0
# A machine file says that the network has much bandwidth, but long messages are slow.  So formulas propose one message
# of the whole vector, and in the third place two of its halves.
cat >"$scratch/machine" <<'END'
node     ranks 2  latency 50us  bandwidth 10GB/s
network  latency 100us  bandwidth 10GB/s
END
slow="SLOW_FROM=1500 FAST_SLEEPS=100 ALLREDUCE_MODEL=$scratch/machine"
# shellcheck disable=SC2086 # the words
run_beside "long messages are slow" 2 "messages 300" 2000 $slow
expect_won "long messages are slow" 300 rhd
for setting in TUNE=off DETERMINISM=run; do
    # shellcheck disable=SC2086 # the words
    run_beside "long messages are slow: $setting" 2 "messages 50" 2000 $slow ALLREDUCE_$setting
    expect_stayed "long messages are slow: $setting" 50 0
done
tools=:$programs/.libs/fake_machine.so
for mode in rivals crowded; do
    # shellcheck disable=SC2086 # the words
    run_beside "on one core: $mode" 2 "messages 300" 2000 $slow CORES_NUMBER=1 CORES_CPUS=0,0 ALLREDUCE_TUNE=$mode
    [ $mode = crowded ] || expect_stayed "on one core: $mode" 300 0
    [ $mode = rivals ] || expect_won "on one core: $mode" 300 rhd
done
tools=
if [ "$AR_MPI_FAMILY" = mpich ]; then
    # shellcheck disable=SC2086 # the words
    run_beside "two nodes" 2 "messages 300" 2000 $slow MPIR_CVAR_NUM_CLIQUES=2
    expect_won "two nodes" 300 rhd
fi

for setting in TUNE=off ALGO=butterfly ALGO_LIST=butterfly,rhd DETERMINISM=run; do
    run_beside "$setting" 2 "messages 2000" 1000 FAST_FROM=1 "ALLREDUCE_$setting"
    expect_stayed "$setting" 2000 0
done
exit $failed
