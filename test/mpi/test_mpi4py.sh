#!/bin/sh
# mpi4py, whichever MPI it was built for: its arrays are summed by the engine for that MPI.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=60
export ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring
cat >"$scratch/sums.py" <<'EOF'
from array import array
from mpi4py import MPI

comm = MPI.COMM_WORLD
for count in 1, 10, 1000, 20000:
    mine = array("d", range(comm.rank, comm.rank + count))
    sums = array("d", bytes(8 * count))
    comm.Allreduce([mine, MPI.DOUBLE], [sums, MPI.DOUBLE], op=MPI.SUM)
    for i in 0, count // 2, count - 1:
        if sums[i] != comm.size * i + comm.size * (comm.size - 1) / 2:
            raise SystemExit("element %d of %d is %g" % (i, count, sums[i]))
EOF

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
    expect_engine "mpi4py of $AR_MPI_FAMILY" 4 launch 2 LD_PRELOAD="$library" "$python" "$scratch/sums.py"
    expect_engine "mpi4py of $AR_MPI_FAMILY, allreduce run" 4 launch 2 ./allreduce run "$python" "$scratch/sums.py"
done
[ -n "$tried" ] || {
    echo "$module needs $needed, for which this build has no engine"
    exit 77
}
exit $failed
