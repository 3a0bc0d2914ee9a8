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

expect_ok "one node" preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_MODEL="$scratch/machine" "$programs/pings"
! grep -q 'by a model' "$scratch/out" || fail "one node: there was a model"

expect_ok "one node, no shm" preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO_LIST=ring,rhd ALLREDUCE_MODEL="$scratch/machine" \
    "$programs/pings"
if ! grep -q "auto on 2 ranks, by a model of the machine (a test's): " "$scratch/out" || ! grep -q ' model$' "$scratch/out"; then
    fail "one node, no shm: no model"
    cat "$scratch/out"
fi

preload 2 ALLREDUCE_MODEL="$scratch/bad" "$programs/pings" >"$scratch/out" 2>&1 </dev/null &&
    fail "a bad file: no error"
grep -q 'ALLREDUCE_MODEL: .*bad:1:33: bandwidth cannot be .fast.; allowed: ' "$scratch/out" || {
    fail "a bad file: not told where"
    cat "$scratch/out"
}

preload 2 ALLREDUCE_MODEL=fat-three "$programs/pings" >"$scratch/out" 2>&1 </dev/null && fail "no such file: no error"
grep -q "ALLREDUCE_MODEL: 'fat-three' is neither a file nor one of the installed machines: .*fat-tree" "$scratch/out" || {
    fail "no such file: the installed ones are not told"
    cat "$scratch/out"
}

expect_ok "a rank alone" preload 1 ALLREDUCE_VERBOSE=1 ALLREDUCE_MODEL="$scratch/machine" "$programs/pings"
expect_ok "ranks alone" preload 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_MODEL="$scratch/machine" "$programs/corners" self

# What is measured here parses, and predicts shared memory.
expect_ok "allreduce model" launch 2 ./allreduce model -o "$scratch/here.machine" --title="$(printf 'ours\nrank')"
[ "$(sed -n 's/^title *//p' "$scratch/here.machine")" = 'ours?rank' ] || fail "a title of two lines: $(cat "$scratch/here.machine")"
if grep -q '^level      node  ranks 2  latency [0-9.]*ns  bandwidth ' "$scratch/here.machine"; then
    ./allreduce explain shm -n 2 -s 8 --machine "$scratch/here.machine" >"$scratch/predicted" || fail "its levels do not predict"
    grep '^  time ' "$scratch/predicted" || fail "its levels predict no time"
    grep -q '^rank .*  access [0-9.]*ns' "$scratch/here.machine" || fail "what an access takes is not measured"
    if grep -q '^level .*  cache .*  memory [0-9.]*[GM]B/s' "$scratch/here.machine"; then
        missing='serve, link'
    else # whose memory matters from which length on, is not known
        missing='serve, link, memory'
        ! grep -q '^level .*  \(cache\|memory\) ' "$scratch/here.machine" || fail "a cache or memory alone"
    fi
    grep -qx "# not measured of level node: $missing" "$scratch/here.machine" || { # a line has one reader here
        fail "it does not say what is not measured"
        cat "$scratch/here.machine"
    }
else
    grep -q 'levels inside a node are not measured, since ' "$scratch/out" || fail "no levels, and no reason"
fi

expect_ok "nodes of which rank 0 may have one of its own" launch 3 "$programs/measured"

# The rest takes an MPI that treats ranks of one machine as ranks of several.
[ "$AR_MPI_FAMILY" = mpich ] || exit "$failed"
export MPIR_CVAR_NUM_CLIQUES=2 MPIR_CVAR_ODD_EVEN_CLIQUES=1

# expect_model WHAT TEXT VARIABLE=VALUE...
expect_model() {
    what=$1
    text=$2
    shift 2
    expect_ok "$what" preload 4 ALLREDUCE_VERBOSE=1 "$@" "$programs/pings"
    if ! grep -q "auto on 4 ranks of several nodes, by a model of the machine ($text): " "$scratch/out" ||
        [ "$(grep -c 'auto on 4' "$scratch/out")" -ne 1 ] || ! grep -q ' model$' "$scratch/out"; then
        fail "$what: not told once, or not used"
        cat "$scratch/out"
    fi
}

expect_model "a file" "a test's" ALLREDUCE_ALGO_LIST=ring,rhd,butterfly ALLREDUCE_MODEL="$scratch/machine"
expect_model "an installed file" "fat tree, 16 ranks per host" ALLREDUCE_ALGO_LIST=ring,rhd,butterfly ALLREDUCE_MODEL=fat-tree
expect_model "measured" "measured" ALLREDUCE_ALGO_LIST=ring,rhd,butterfly
! grep -q 'do not commute' "$scratch/out" || fail "measured: rules for ops that nobody used"
expect_ok "an op that does not commute" preload 4 ALLREDUCE_ALGO_LIST=ring,rhd,butterfly ALLREDUCE_VERBOSE=1 "$programs/order"
[ "$(grep -c 'auto on 4 .* (measured), for ops that do not commute: ' "$scratch/out")" -eq 2 ] || { # two communicators
    fail "an op that does not commute: no rules, or more than once for one"
    cat "$scratch/out"
}

export ALLREDUCE_ALGO_LIST=^shm

# The ranks ask the model together, and one process alone finds the same.
rules_of_one() {
    ./allreduce explain auto -n 4 --nodes 2x2,cyclic --machine fat-tree | sed -n 3p
}
expect_model "by four" "fat tree, 16 ranks per host" ALLREDUCE_MODEL=fat-tree
[ -n "$(rules_of_one)" ] || fail "no rules by one process"
grep -qF "(fat tree, 16 ranks per host): $(rules_of_one)" "$scratch/out" || {
    fail "four ranks and one differ in what the model says: $(rules_of_one)"
    cat "$scratch/out"
}

# A folder that cannot keep the rules is told, whether there are rules or not.
touch "$scratch/file"
for folder in "$scratch/nowhere" "$scratch/file"; do
    expect_ok "no folder for rules" preload 2 ALLREDUCE_CACHE="$folder" "$programs/pings"
    [ "$(grep -c "warning: ALLREDUCE_CACHE: $folder: .*: no rules can be kept" "$scratch/out")" -eq 1 ] ||
        fail "no folder for rules: $(cat "$scratch/out")"
done

# A folder keeps the rules: nothing is measured again.
mkdir "$scratch/cache"
expect_model "a cache, empty" "measured" ALLREDUCE_CACHE="$scratch/cache"
cp "$scratch"/cache/auto-*.rules "$scratch/kept" || fail "a cache: no file, or several"
grep -q '^#! tuned: ranks=4; nodes=2; ops=all; machine=measured; date=' "$scratch/kept" || fail "a cache: no origin"
expect_ok "a cache, full" preload 4 ALLREDUCE_VERBOSE=1 ALLREDUCE_CACHE="$scratch/cache" "$programs/pings"
if grep -q 'by a model' "$scratch/out" || ! grep -q ' model$' "$scratch/out" ||
    ! grep -q 'auto on 4 ranks, by rules from ALLREDUCE_CACHE: ' "$scratch/out"; then
    fail "a cache, full: asked the model again, or not used"
    cat "$scratch/out"
fi
cmp "$scratch"/cache/auto-*.rules "$scratch/kept" || fail "a cache, full: written again"
expect_model "a cache of another machine" "a test's" ALLREDUCE_CACHE="$scratch/cache" ALLREDUCE_MODEL="$scratch/machine"
[ "$(find "$scratch/cache" -type f | wc -l)" = 2 ] || fail "a cache: another machine is no other file"
for kept in "$scratch"/cache/*.rules; do
    echo 'ring:8-x' >"$kept"
done
expect_model "a cache, spoilt" "measured" ALLREDUCE_CACHE="$scratch/cache"
grep -q 'warning: ALLREDUCE_CACHE: .*rules:1:' "$scratch/out" || fail "a cache, spoilt: no warning"
for kept in "$scratch"/cache/*.rules; do # as a file system may leave it whose machine has failed
    head -n 3 "$kept" >"$scratch/cut"
    cp "$scratch/cut" "$kept"
done
expect_model "a cache, cut" "measured" ALLREDUCE_CACHE="$scratch/cache"
grep -q 'warning: ALLREDUCE_CACHE: .*rules: it ends too early: ' "$scratch/out" || fail "a cache, cut: no warning"
grep -q 'inf' "$scratch"/cache/*.rules || fail "a cache, cut: not written again"
for foreign in native auto shm; do # shm is not in the list
    for kept in "$scratch"/cache/*.rules; do
        echo "$foreign" >"$kept"
    done
    expect_model "a cache with $foreign" "measured" ALLREDUCE_CACHE="$scratch/cache"
    grep -q "warning: ALLREDUCE_CACHE: .*rules:1:1: auto cannot choose $foreign here: auto asks" "$scratch/out" || fail "a cache with $foreign: no warning"
done
mkdir "$scratch/ordered"
in_order() {
    expect_ok "$1" preload 4 ALLREDUCE_CACHE="$scratch/ordered" ALLREDUCE_USER_OPS=cut "$programs/order"
}
in_order "ops that do not commute"
for kept in "$scratch"/ordered/*-in-order.rules; do
    echo 'ring' >"$kept"
done
in_order "a cache with ring for ops that do not commute"
grep -q 'auto cannot choose ring here, for ops that do not commute: auto asks' "$scratch/out" || fail "a cache out of order: no warning"
expect_model "no such cache" "measured" ALLREDUCE_CACHE="$scratch/none"
grep -q "warning: ALLREDUCE_CACHE: .*none: No such file or directory: no rules can be kept" "$scratch/out" || fail "no such cache: not told"

# Both are found from another folder, too, and where the program chooses: rules for two shapes of communicators.
mkdir "$scratch/moved"
cp "$scratch/machine" "$scratch/moved/here"
here=$PWD
cd "$scratch/moved" || exit 99
mkdir kept
expect_ok "from another folder" preload 4 ALLREDUCE_VERBOSE=1 ALLREDUCE_CACHE=kept ALLREDUCE_MODEL=here "$programs/corners" moved
cd "$here" || exit 99
! grep 'warning' "$scratch/out" || fail "from another folder: a file is not found"
[ "$(grep -l "machine=a test's" "$scratch"/moved/kept/*.rules | wc -l)" -eq 2 ] ||
    fail "from another folder: $(ls "$scratch/moved/kept") $(cat "$scratch/out")"

# How a rank waits is its own affair.
unset ALLREDUCE_ALGO_LIST
cat >"$scratch/by_wait" <<'END'
#!/bin/sh
[ "${PMI_RANK:?}" != 0 ] || export ALLREDUCE_WAIT=block
exec "$@"
END
chmod +x "$scratch/by_wait"
expect_ok "one rank waits inside MPI" preload 4 ALLREDUCE_ALGO_LIST=ring,rhd,butterfly \
    "$scratch/by_wait" "$programs/pings"

expect_ok "named" preload 4 ALLREDUCE_ALGO=ring ALLREDUCE_VERBOSE=1 ALLREDUCE_MODEL="$scratch/machine" \
    "$programs/pings"
! grep -q 'by a model' "$scratch/out" || fail "named: there was a model"
exit "$failed"
