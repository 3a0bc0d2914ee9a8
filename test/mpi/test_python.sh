#!/bin/sh
# Python loads a module, and with it an MPI library, where no other module sees its symbols: our library finds it there.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=60
export ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring
command -v python3 >/dev/null || {
    echo "no python3"
    exit 77
}

for folder in $(mpi_folders); do
    use_mpi_of "$folder" test/mpi/plugin.la || continue
    expect_engine "$AR_MPI_FAMILY: a module of Python" 1 launch 2 LD_PRELOAD="$library" \
        python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).plugin_main(0, None))' \
        "$PWD/$folder/test/mpi/.libs/plugin.so"
    # By a handle MPI's functions are those of the MPI library itself, and rank 0 says that none of ours was called.
    for asked in ALLREDUCE_VERBOSE=1 ALLREDUCE_VERBOSE=0\ ALLREDUCE_VERIFY=1 ALLREDUCE_VERBOSE=0\ ALLREDUCE_STATS="$scratch/none" ALLREDUCE_VERBOSE=0; do
        # shellcheck disable=SC2086 # some are two words
        expect_ok "$AR_MPI_FAMILY: by handle, $asked" launch 2 env $asked LD_PRELOAD="$library" python3 -c \
            'import ctypes, sys; mpi = ctypes.CDLL(sys.argv[1]); mpi.MPI_Init(None, None); mpi.MPI_Finalize()' \
            "$PWD/$folder/test/mpi/.libs/plugin.so"
        lines=$(grep -c '^liballreduce: no call of MPI_Allreduce has arrived on rank 0: ' "$scratch/out")
        [ "$lines" -eq "$([ "$asked" = ALLREDUCE_VERBOSE=0 ] && echo 0 || echo 1)" ] || fail "by handle, $asked: $lines lines"
    done
done
exit $failed
