#!/bin/sh
# Loaded into programs that know nothing of it, by every usual way, the library says
# nothing and does its work.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# expect_silence WHAT: nothing was printed.
expect_silence() {
    if [ -s "$scratch/out" ]; then
        fail "$1 printed:"
        cat "$scratch/out"
    fi
}

expect_ok "/bin/true" env LD_PRELOAD="$library" ALLREDUCE_ALGO=ring ALLREDUCE_VERBOSE=1 /bin/true
expect_silence "/bin/true"
expect_ok "a shell with a bad setting" env LD_PRELOAD="$library" ALLREDUCE_ALGO=nonsense sh -c :
expect_silence "a shell with a bad setting"

expect_ok "silent" preload 2 ALLREDUCE_ALGO=ring "$programs/few_calls"
expect_silence "a program without ALLREDUCE_VERBOSE"

# In the launcher's own environment, so in its helpers too.  The launcher's own tool for
# time-outs must not be the one that is preloaded.
# shellcheck disable=SC2086
expect_row "LD_PRELOAD for the launcher" ring 4 timeout -k 5 $limit env LD_PRELOAD="$library" \
    ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring $MPIEXEC -n 2 "$programs/few_calls"
[ "$(grep -c -v '^liballreduce:' "$scratch/out")" -eq 0 ] || fail "more than the summary was printed"

export ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring
case $AR_MPI_FAMILY in
mpich) options="-genv LD_PRELOAD $library" ;;
openmpi) options="-x LD_PRELOAD=$library -x ALLREDUCE_VERBOSE -x ALLREDUCE_ALGO" ;;
*) options="env LD_PRELOAD=$library" ;;
esac
# shellcheck disable=SC2086
expect_row "the launcher's option" ring 4 timeout -k 5 $limit $MPIEXEC -n 2 $options "$programs/few_calls"

exit $failed
