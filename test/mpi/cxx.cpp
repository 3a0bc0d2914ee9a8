// A C++ program: std::vector, std::complex and a bool.
#include <complex>
#include <cstdio>
#include <mpi.h>
#include <vector>

int
main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, nranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    const double ranksum = nranks * (nranks - 1) / 2;

    const std::vector<std::complex<double>> in(1000, {double(rank), double(-rank)});
    std::vector<std::complex<double>> out(in.size());
    MPI_Allreduce(in.data(), out.data(), int(in.size()), MPI_CXX_DOUBLE_COMPLEX, MPI_SUM,
                  MPI_COMM_WORLD);
    bool right = true;
    for (const auto &z : out)
        right = right && z == std::complex<double>(ranksum, -ranksum);
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_CXX_BOOL, MPI_LAND, MPI_COMM_WORLD);
    if (!right)
        std::fprintf(stderr, "rank %d: wrong\n", rank);
    MPI_Finalize();
    return right ? 0 : 1;
}
