# Sums by mpi4py, all of them exact.
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
