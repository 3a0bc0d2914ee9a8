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
done
exit $failed
