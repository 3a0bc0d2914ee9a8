#!/bin/sh
# mpi4py, whichever MPI it was built for: its arrays are summed by the engine for that MPI.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=60
export ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring
sums=${srcdir:-.}/test/mpi/sums.py

# The first of these that has it: another Python than Debian's may come first, which does not see Debian's packages.
find_module() {
    for python in python3 /usr/bin/python3; do
        module=$("$python" -c 'import importlib.util; print(importlib.util.find_spec("mpi4py.MPI").origin)' 2>/dev/null) && return
    done
    return 1
}

find_module || {
    echo "no Python here has mpi4py"
    exit 77
}
needed=$(readelf -d "$module" | sed -n 's/.*(NEEDED).*\[\(libmpi[^]]*\)\]/\1/p')

tried=
for folder in $(mpi_folders); do
    use_mpi_of "$folder" all || continue
    case $AR_MPI_FAMILY:$needed in
    mpich:libmpich.so.12 | mpich:libmpi.so.12 | openmpi:libmpi.so.40) ;;
    *) continue ;;
    esac
    tried=$AR_MPI_FAMILY
    expect_engine "mpi4py of $AR_MPI_FAMILY" 4 launch 2 LD_PRELOAD="$library" "$python" "$sums"
    expect_engine "mpi4py of $AR_MPI_FAMILY, allreduce run" 4 launch 2 ./allreduce run "$python" "$sums"
done
[ -n "$tried" ] || {
    echo "$module needs $needed, for which this build has no engine"
    exit 77
}
exit $failed
