#!/bin/sh
# One file is preloaded under any MPI: it finds the MPI library wherever it is, and the engine for it; where there is
# none one rank of each node says so, and all calls are left to MPI.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=60
module=$programs/.libs/plugin.so
export ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring

# A process without MPI loads no engine.
expect_ok "a process without MPI" env LD_PRELOAD="$library" LD_DEBUG=files LD_DEBUG_OUTPUT="$scratch/debug" /bin/true
grep -q liballreduce "$scratch"/debug.* || fail "a process without MPI: the library was not loaded"
! grep -q 'engine-' "$scratch"/debug.* || fail "a process without MPI loads an engine"

# A serial stand-in for MPI is not one: its functions are called as if we were not there.
expect_ok "a serial MPI" env LD_PRELOAD="$library" LD_LIBRARY_PATH="$programs/runtimes" "$programs/runtimes/serial"
[ "$(grep -c '^serial MPI_' "$scratch/out") $(wc -l <"$scratch/out")" = "2 2" ] || fail "a serial MPI: $(cat "$scratch/out")"

expect_row "a module's private MPI" ring 1 preload 2 "$programs/plugin_loader" "$module"

# A relative name, which means another file once the program has gone elsewhere.
mkdir "$scratch/elsewhere"
expect_row "a relative name" ring 1 launch 2 LD_PRELOAD=./.libs/liballreduce.so "$programs/plugin_loader" "$module" "$scratch"

# expect_native WHAT PATTERN LIBRARY: the program runs as without it, and one rank says why.
expect_native() {
    expect_ok "$1" launch 2 LD_PRELOAD="$3" "$programs/few_calls" || return
    [ "$(grep -c "^liballreduce: $2" "$scratch/out") $(wc -l <"$scratch/out")" = "1 1" ] || {
        fail "$1: not told once, or more than that: $2"
        cat "$scratch/out"
    }
}
mkdir "$scratch/alone"
cp "$library" "$scratch/alone/"
expect_native "no engine" "no engine for this MPI: the MPI library is libmpi.*engines are installed for: none" \
    "$scratch/alone/liballreduce.so"

# Each node says so, since another one may have an engine.  What starts the ranks of a node is here a shell for each, in
# whose own environment no rank is.
case $AR_MPI_FAMILY in
openmpi) variable=OMPI_COMM_WORLD_RANK ;;
*) variable=PMI_RANK ;;
esac
cat >"$scratch/node" <<END
#!/bin/sh
rank=\$$variable exec env -u $variable sh -c '$variable=\$rank "\$@"; exit' sh "\$@"
END
# Nor do scripts that start a rank each make several nodes of one.
cat >"$scratch/script" <<'END'
#!/bin/sh
"$@"
exit
END
chmod +x "$scratch/node" "$scratch/script"
# expect_lines LINES WHAT PROGRAM...: ranks without an engine say so in that many lines, whose form the last test checked.
expect_lines() {
    lines=$1
    what=$2
    shift 2
    expect_ok "$what" launch 2 "$@" env LD_PRELOAD="$scratch/alone/liballreduce.so" "$programs/few_calls"
    [ "$(grep -c "^liballreduce: no engine for this MPI: .* by rank [01], and by others on $(uname -n) if they" "$scratch/out")" -eq "$lines" ] ||
        fail "$what: $(cat "$scratch/out")"
}
expect_lines 2 "no engine on two nodes" "$scratch/node"
expect_lines 1 "no engine behind scripts" "$scratch/script"

# A rank that alone has none waits for the others, and they for it; but it says so.
# shellcheck disable=SC2016,SC2086 # MPIEXEC may hold options
timeout -k 1 $((5 * ${PATIENCE:-1})) $MPIEXEC -n 2 sh -c 'LD_PRELOAD=$0
    [ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 ] || LD_PRELOAD=$1
    export LD_PRELOAD && exec "$2"' "$library" "$scratch/alone/liballreduce.so" "$programs/few_calls" >"$scratch/out" 2>&1 </dev/null
[ "$(grep -c "^liballreduce: no engine for this MPI: .* by rank 1, " "$scratch/out")" -eq 1 ] ||
    fail "no engine on rank 1 alone: $(cat "$scratch/out")"

# Engines beside it: the one for this MPI is taken, a broken one is not.
for family in mpich openmpi abi; do
    echo nonsense >"$scratch/alone/engine-$family.so"
done
expect_native "a broken engine" "cannot load $scratch/alone/engine-$AR_MPI_FAMILY.so: .*: mpich, openmpi, abi\." \
    "$scratch/alone/liballreduce.so"
cp ".libs/engine-$AR_MPI_FAMILY.so" "$scratch/alone/"
expect_row "one engine among others" ring 4 launch 2 LD_PRELOAD="$scratch/alone/liballreduce.so" "$programs/few_calls"
cp "$programs/.libs/fake_engine.so" "$scratch/alone/engine-$AR_MPI_FAMILY.so"
expect_native "an engine of another version" "$scratch/alone/engine-$AR_MPI_FAMILY.so has another version, 0.0.0" \
    "$scratch/alone/liballreduce.so"

# A symbol of ours that this MPI has not is as if it were not there.
preload 1 "$programs/stub" >"$scratch/out" 2>&1
case $?:$AR_MPI_FAMILY in
77:*) ;;
0:*) fail "a call that the MPI library has not seems to succeed" ;;
*) grep -q 'has no symbol MPI_Allreduce_c' "$scratch/out" || fail "a missing symbol: $(cat "$scratch/out")" ;;
esac

# The MPI library under the name that most of MPICH's relatives give it, and under that of development versions.
for name in libmpi.so.12 libmpi.so.0; do
    rename_mpich "$programs/few_calls" $name || continue
    expect_row "$name" ring 4 preload 2 LD_LIBRARY_PATH="$scratch" "$scratch/renamed"
    expect_row "$name, by allreduce run" ring 4 launch 2 LD_LIBRARY_PATH="$scratch" ./allreduce run "$scratch/renamed"
done
# And under the one that MPI 5 gives to libraries with its ABI, for which there is a broken engine here.
if rename_mpich "$programs/few_calls" libmpi_abi.so; then
    expect_end "libmpi_abi.so" 0 "cannot load $scratch/alone/engine-abi.so" \
        launch 2 LD_PRELOAD="$scratch/alone/liballreduce.so" LD_LIBRARY_PATH="$scratch" "$scratch/renamed"
fi
exit $failed
