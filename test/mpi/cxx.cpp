// A C++ program: std::vector, std::complex and a bool; with an argument also an error handler that
// throws, out of a call and out of the end of a communicator, on one rank.
#include <complex>
#include <cstdio>
#include <mpi.h>
#include <unistd.h>
#include <vector>

static void
throw_error(MPI_Comm *, int *error, ...)
{
    throw *error;
}

// Deeper on the stack than what was left.
static bool
sums_are_right(int nranks)
{
    volatile char deep[32768];
    int one = 1, all = 0;
    deep[0] = deep[sizeof deep - 1] = 0;
    PMPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all == nranks + deep[0];
}

static bool
go_on_after_exceptions(int rank, int nranks)
{
    MPI_Errhandler handler;
    bool right = true;
    MPI_Comm_create_errhandler(throw_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int turn = 0; turn < 2; turn++) {
        int one = 1, all, caught = 0;
        MPI_Comm world = MPI_COMM_WORLD;
        try {
            if (rank == 0 && turn == 0)
                MPI_Allreduce(&one, &all, -1, MPI_INT, MPI_SUM, world);
            else if (rank == 0)
                MPI_Comm_free(&world);
        } catch (int) {
            caught = 1;
        }
        right = right && caught == (rank == 0) && sums_are_right(nranks);
    }
    if (rank == 0)
        sleep(2); // in which a call that was left may seem late
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Errhandler_free(&handler);
    return right;
}

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
    if (argc > 1)
        right = go_on_after_exceptions(rank, nranks) && right;
    if (!right)
        std::fprintf(stderr, "rank %d: wrong\n", rank);
    MPI_Finalize();
    return right ? 0 : 1;
}
