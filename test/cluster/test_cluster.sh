#!/bin/sh
# Every algorithm gives exact results on hosts that share nothing but a network, and a cluster leaves
# nothing behind.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

cluster=${srcdir:-.}/test/cluster/cluster

# On the hosts that $shape says, whatever the number of ranks asked for.
launch() {
    shift
    # shellcheck disable=SC2086 # several options
    timeout -k 5 $limit "$cluster" $shape -- env "$@"
}

limit=30
shape='--hosts 2'
launch 2 true >"$scratch/out" 2>&1
status=$?
[ $status -ne 77 ] || {
    cat "$scratch/out"
    exit 77
}
[ $status -eq 0 ] || fail "true ends with $status"

# All rows in a few runs: each has some of the sizes.
for shape in '--hosts 4 --rate 100mbit' '--hosts 3 --ranks 2 --cyclic' '--hosts 4 --ranks 3 --uneven --rate 10gbit'; do
    rows | paste -d ' ' - - - - - - - - - - >"$scratch/groups"
    while read -r group; do
        # shellcheck disable=SC2086 # names have no blanks
        expect_rows "$shape" 3 "$programs/values" $group
    done <"$scratch/groups"
done

# Where nodes share the cores of one host, rules stand that nobody measures: in a ring messages of 16 KiB.
# A machine of 2 cores is made up.
shape='--hosts 3 --ranks 2'
launch 0 LD_PRELOAD="$programs/.libs/fake_machine.so:$library" CORES_NUMBER=2 ALLREDUCE_VERBOSE=1 "$programs/few_calls" >"$scratch/out" 2>&1 </dev/null
grep -q 'auto on 6 ranks of several nodes that share cores, by built-in rules: .*(inter=ring,segment=96K,window=4)' \
    "$scratch/out" || fail "no rules for hosts that share cores: $(cat "$scratch/out")"

# The longest eager message is found, whatever the MPI library is told: both are told of messages
# that are too long from 8 KiB on.
shape='--hosts 2'
launch 0 ./allreduce model >"$scratch/out" 2>&1 </dev/null
{ grep -q '^network.*  eager [0-9]*K' "$scratch/out" && ! grep -q '^network.*  eager 4K' "$scratch/out"; } ||
    fail "the usual eager messages: $(cat "$scratch/out")"
launch 0 UCX_RNDV_THRESH=8192 OMPI_MCA_btl_tcp_eager_limit=8192 ./allreduce model >"$scratch/out" 2>&1 </dev/null
grep -q '^network.*  eager 4K' "$scratch/out" || fail "short eager messages: $(cat "$scratch/out")"

# MPICH's launcher at times mixes what ranks ended with into its status.
shape='--hosts 2 --ranks 2'
for _ in 1 2 3; do
    launch 4 sh -c 'exit 3' >"$scratch/out" 2>&1
    status=$?
    [ $status -ne 3 ] || break
done
[ $status -eq 3 ] || fail "a program that exits with 3: $status"

# Killed, it takes all of its processes along.  No other program sleeps for so long.
name="sleep 9$$"
# shellcheck disable=SC2086 # a command with its argument
"$cluster" --hosts 2 --direct -- $name &
for _ in $(seq 300); do
    pgrep -x -f "$name" >/dev/null && break
    sleep 0.1
done
pgrep -x -f "$name" >/dev/null || fail "a cluster's program did not begin"
kill -KILL $!
wait $! 2>/dev/null
for _ in $(seq 100); do
    pgrep -f "$name\$" >/dev/null || break
    sleep 0.1
done
! pgrep -f "$name\$" >/dev/null || fail "a killed cluster goes on"

# Bad words are told and end with 2.
for words in '--hosts 1 -- true' '--ranks none -- true' '--rate 1 -- true' '--hosts 2' '--what -- true' '--cyclic --uneven -- true'; do
    # shellcheck disable=SC2086 # several words
    "$cluster" $words >"$scratch/out" 2>&1
    status=$?
    told=$(wc -l <"$scratch/out")
    [ "$status,$told" = 2,1 ] || fail "$words: status $status, $told lines: $(cat "$scratch/out")"
done
exit $failed
