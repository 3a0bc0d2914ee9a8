#!/bin/sh
# Across nodes auto follows a model of the machine: what a file says, or what it measures; all ranks alike.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=30
cat >"$scratch/machine" <<'END'
title    a test's
node     ranks 2  latency 1us  bandwidth 10GB/s
network  latency 100us  bandwidth 100MB/s
END
echo 'network  latency 1us  bandwidth fast' >"$scratch/bad"

expect_ok "one node" preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_MODEL="$scratch/machine" "$programs/few_calls"
! grep -q 'by a model' "$scratch/out" || fail "one node: there was a model"

expect_ok "one node, no shm" preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO_LIST=ring,rhd ALLREDUCE_MODEL="$scratch/machine" \
    "$programs/few_calls"
if ! grep -q "auto on 2 ranks, by a model of the machine (a test's): " "$scratch/out" || ! grep -q ' model$' "$scratch/out"; then
    fail "one node, no shm: no model"
    cat "$scratch/out"
fi

preload 2 ALLREDUCE_MODEL="$scratch/bad" "$programs/few_calls" >"$scratch/out" 2>&1 </dev/null &&
    fail "a bad file: no error"
grep -q 'ALLREDUCE_MODEL: .*bad:1:33: bandwidth cannot be .fast.; allowed: ' "$scratch/out" || {
    fail "a bad file: not told where"
    cat "$scratch/out"
}

preload 2 ALLREDUCE_MODEL=fat-three "$programs/few_calls" >"$scratch/out" 2>&1 </dev/null && fail "no such file: no error"
grep -q "ALLREDUCE_MODEL: 'fat-three' is neither a file nor one of the installed machines: .*fat-tree" "$scratch/out" || {
    fail "no such file: the installed ones are not told"
    cat "$scratch/out"
}

expect_ok "a rank alone" preload 1 ALLREDUCE_VERBOSE=1 ALLREDUCE_MODEL="$scratch/machine" "$programs/few_calls"
expect_ok "ranks alone" preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_MODEL="$scratch/machine" "$programs/corners" self

# What is measured here parses, and predicts messages.
expect_ok "allreduce model" launch 2 ./allreduce model -o "$scratch/here.machine" --title="$(printf 'ours\nrank')"
[ "$(sed -n 's/^title *//p' "$scratch/here.machine")" = 'ours?rank' ] || fail "a title of two lines: $(cat "$scratch/here.machine")"
./allreduce explain ring -n 2 -s 8 --machine "$scratch/here.machine" >"$scratch/predicted" || fail "it does not predict"
grep '^  time ' "$scratch/predicted" || fail "it predicts no time"

expect_ok "nodes of which rank 0 may have one of its own" launch 3 "$programs/model"

# The rest takes an MPI that treats ranks of one machine as ranks of several.
[ "$AR_MPI_FAMILY" = mpich ] || exit "$failed"
export MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_ODD_EVEN_CLIQUES=1

# expect_model WHAT TEXT VARIABLE=VALUE...
expect_model() {
    what=$1
    text=$2
    shift 2
    expect_ok "$what" preload 4 ALLREDUCE_VERBOSE=1 "$@" "$programs/few_calls"
    if ! grep -q "auto on 4 ranks of several nodes, by a model of the machine ($text): " "$scratch/out" ||
        [ "$(grep -c 'auto on 4' "$scratch/out")" -ne 1 ] || ! grep -q ' model$' "$scratch/out"; then
        fail "$what: not told once, or not used"
        cat "$scratch/out"
    fi
}

expect_model "a file" "a test's" ALLREDUCE_ALGO_LIST=ring,rhd,butterfly ALLREDUCE_MODEL="$scratch/machine"
expect_model "an installed file" "fat tree, 16 ranks per host" ALLREDUCE_ALGO_LIST=ring,rhd,butterfly ALLREDUCE_MODEL=fat-tree
# A machine of more cores is made up: where ranks share cores, nothing is measured.
few=$library
export CORES_NUMBER=32 CORES_CPUS=0-31,0-31,0-31,0-31
library=$programs/.libs/fake_machine.so:$few
expect_model "measured" "measured" ALLREDUCE_ALGO_LIST=ring,rhd,butterfly
! grep -q 'do not commute' "$scratch/out" || fail "measured: rules for ops that nobody used"
expect_ok "an op that does not commute" preload 4 ALLREDUCE_ALGO_LIST=ring,rhd,butterfly ALLREDUCE_VERBOSE=1 "$programs/order"
[ "$(grep -c 'auto on 4 .* (measured), for ops that do not commute: ' "$scratch/out")" -eq 2 ] || { # two communicators
    fail "an op that does not commute: no rules, or more than once for one"
    cat "$scratch/out"
}

export CORES_NUMBER=2 CORES_CPUS=0-1,0-1,0-1,0-1
expect_ok "shared cores" preload 4 ALLREDUCE_ALGO_LIST=^shm ALLREDUCE_VERBOSE=1 "$programs/few_calls"
if ! grep -q 'auto on 4 ranks of several nodes that share cores, by built-in rules: butterfly:' "$scratch/out" ||
    [ "$(grep -c 'auto on 4' "$scratch/out")" -ne 1 ] || ! grep -q ' model$' "$scratch/out"; then
    fail "shared cores: not told once, or not used"
    cat "$scratch/out"
fi
expect_ok "shared cores, an op that does not commute" preload 4 ALLREDUCE_ALGO_LIST=^shm ALLREDUCE_VERBOSE=1 "$programs/order"
! grep -q 'do not commute' "$scratch/out" || fail "shared cores: rules for ops that do not commute"
expect_ok "shared cores and a list" preload 4 ALLREDUCE_ALGO_LIST=ring ALLREDUCE_VERBOSE=1 "$programs/few_calls"
if grep -q 'auto on 4\| butterfly ' "$scratch/out" || ! grep -q ' ring ' "$scratch/out"; then
    fail "shared cores and a list: $(cat "$scratch/out")"
fi
unset CORES_NUMBER CORES_CPUS
library=$few

export ALLREDUCE_ALGO_LIST=^shm

# A job finds what one process alone finds.
rules_of_one() {
    ./allreduce explain auto -n 4 --nodes 2x2,cyclic --machine fat-tree | sed -n 3p
}
expect_model "by four" "fat tree, 16 ranks per host" ALLREDUCE_MODEL=fat-tree
[ -n "$(rules_of_one)" ] || fail "no rules by one process"
grep -qF "(fat tree, 16 ranks per host): $(rules_of_one)" "$scratch/out" || {
    fail "a job and one process differ in what the model says: $(rules_of_one)"
    cat "$scratch/out"
}

# The file is found from another folder, too, and where the program chooses.
mkdir "$scratch/moved"
cp "$scratch/machine" "$scratch/moved/here"
here=$PWD
cd "$scratch/moved" || exit 99
expect_ok "from another folder" preload 4 ALLREDUCE_VERBOSE=1 ALLREDUCE_MODEL=here "$programs/corners" moved
cd "$here" || exit 99
! grep 'warning' "$scratch/out" || fail "from another folder: a file is not found"
grep -q "by a model of the machine (a test's)" "$scratch/out" || fail "from another folder: $(cat "$scratch/out")"

# How a rank waits is its own affair.
unset ALLREDUCE_ALGO_LIST
cat >"$scratch/by_wait" <<'END'
#!/bin/sh
[ "${PMI_RANK:?}" != 0 ] || export ALLREDUCE_WAIT=block
exec "$@"
END
chmod +x "$scratch/by_wait"
expect_ok "one rank waits inside MPI" preload 4 ALLREDUCE_ALGO_LIST=ring,rhd,butterfly \
    "$scratch/by_wait" "$programs/few_calls"

expect_ok "named" preload 4 ALLREDUCE_ALGO=ring ALLREDUCE_VERBOSE=1 ALLREDUCE_MODEL="$scratch/machine" \
    "$programs/few_calls"
! grep -q 'by a model' "$scratch/out" || fail "named: there was a model"
exit "$failed"
