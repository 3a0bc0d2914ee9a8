/* Times an allreduce on the machine that smpirun simulates: rank 0 prints a line for each size,
 * BYTES,MICROSECONDS,"WHAT RAN".
 *
 *     simulated native|CLAUSES FOLDED BYTES[:HOPELESS]...
 *     simulated rows
 *
 * native is SMPI's own allreduce (--cfg=smpi/coll-selector, smpi/allreduce); CLAUSES as in
 * ALLREDUCE_ALGO.  BYTES are a multiple of 8; who takes longer than HOPELESS microseconds, and
 * is no nearer to it than one size before, is not asked about the sizes that follow.  Below FOLDED
 * bytes every element of every rank's result is checked; from there on SMPI keeps all ranks'
 * buffers in the same memory
 * (--cfg=smpi/auto-shared-malloc-thresh), so that they hold nothing to check, and only time is
 * spent.  A wrong result ends the simulation, but for SMPI's own: some of its algorithms want more
 * elements than ranks, or a power of two of these; MICROSECONDS is "wrong" then.
 * "rows" prints the names of the algorithms.
 *
 * Combining a byte takes a flop, so a host's speed says how many bytes a second a rank combines.
 */
#include <allreduce.h>
#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* As smpi.h declares them.  Weak, so that make check links this without SMPI. */
__attribute__((weak)) void smpi_execute_flops(double flops);
__attribute__((weak)) void *smpi_shared_malloc_intercept(size_t bytes, const char *file, int line);
__attribute__((weak)) void smpi_shared_free(void *bytes);

/* Longer than it takes all ranks to learn when to start. */
#define LEAD_SECONDS 1.0

static bool has_data; /* of this rank: SMPI gives each rank its own */

_Noreturn static void
fail(const char *what)
{
    fprintf(stderr, "simulated: %s\n", what);
    PMPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void
add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const long *from = in;
    long *to = inout;
    (void)type;
    smpi_execute_flops((double)*length * (double)sizeof *to);
    for (int i = 0; has_data && i < *length; i++)
        to[i] += from[i];
}

static long
addend(int rank, size_t i)
{
    return rank + (long)(i % 1009);
}

static void
fill(long *in, size_t count, int rank)
{
    for (size_t i = 0; has_data && i < count; i++)
        in[i] = addend(rank, i);
}

/* Of all ranks; not by an allreduce, which may be what is timed, and wrong. */
static double
largest(double mine)
{
    double largest = 0;
    PMPI_Reduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    PMPI_Bcast(&largest, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return largest;
}

/* On all ranks. */
static bool
is_right(const long *out, size_t count, int nranks)
{
    const long ranks = nranks;
    bool wrong = false;
    for (size_t i = 0; has_data && i < count; i++)
        wrong |= out[i] != ranks * addend(0, i) + ranks * (ranks - 1) / 2;
    return largest(wrong) == 0;
}

/* All ranks return at the same simulated time, to the nanosecond. */
static void
start_together(void)
{
    const double start = largest(PMPI_Wtime());
    const double pause = start + LEAD_SECONDS - PMPI_Wtime();
    const time_t seconds = (time_t)pause;
    const struct timespec rest = {seconds, (long)((pause - (double)seconds) * 1e9)};
    nanosleep(&rest, NULL);
}

struct contest {
    bool is_native;
    MPI_Comm comm;
    MPI_Op op;
    int rank;
    int nranks;
};

/* Ours, and not the fallback, or SMPI's own. */
static const char *
what_ran(const struct contest *contest)
{
    const char *ran = contest->is_native ? "native" : allreduce_last(contest->comm, NULL);
    if (!ran || (!contest->is_native && strcmp(ran, "native") == 0))
        fail("the library ran nothing");
    return ran;
}

/* From the start, which is the same for all, to the last rank's end. */
static double
time_once(const struct contest *contest, const long *in, long *out, size_t count)
{
    start_together();
    const double start = PMPI_Wtime();
    if (contest->is_native)
        PMPI_Allreduce(in, out, (int)count, MPI_LONG, contest->op, contest->comm);
    else
        MPI_Allreduce(in, out, (int)count, MPI_LONG, contest->op, contest->comm);
    return largest(PMPI_Wtime() - start);
}

static void
print(const struct contest *contest, size_t bytes, double seconds, bool right)
{
    const char *ran = what_ran(contest);
    if (!right && !contest->is_native)
        fail("wrong result");
    if (contest->rank != 0)
        return;
    if (right)
        printf("%zu,%.3f,\"%s\"\n", bytes, seconds * 1e6, ran);
    else
        printf("%zu,wrong,\"%s\"\n", bytes, ran);
    fflush(stdout);
}

/* Returns the seconds it took. */
static double
run(const struct contest *contest, size_t bytes)
{
    const size_t count = bytes / sizeof(long);
    /* Only these: the library's own, compiled with SMPI_NO_OVERRIDE_MALLOC, hold what it thinks. */
    long *in = smpi_shared_malloc_intercept(bytes, __FILE__, 1);
    long *out = smpi_shared_malloc_intercept(bytes, __FILE__, 2);
    if (!in || !out)
        fail("no memory");
    fill(in, count, contest->rank);
    const double seconds = time_once(contest, in, out, count);
    print(contest, bytes, seconds, is_right(out, count, contest->nranks));
    smpi_shared_free(in);
    smpi_shared_free(out);
    return seconds;
}

static void
run_sizes(const struct contest *contest, char **sizes, size_t folded)
{
    double before = INFINITY;
    for (bool hopeless = false; *sizes && !hopeless; sizes++) {
        char *rest;
        const size_t bytes = strtoull(*sizes, &rest, 10);
        has_data = bytes < folded;
        const double seconds = run(contest, bytes);
        const double behind = *rest == ':' ? seconds * 1e6 / strtod(rest + 1, NULL) : 0;
        hopeless = behind > 1 && behind >= before;
        before = behind;
    }
}

/* What is made once for a communicator is made now. */
static void
warm_up(const struct contest *contest)
{
    long in = 1, out = 0;
    time_once(contest, &in, &out, 1);
    what_ran(contest);
}

static int
print_rows(void)
{
    const char *name;
    for (unsigned i = 0; (name = allreduce_algorithm_name(i)) != NULL; i++)
        puts(name);
    return PMPI_Finalize();
}

int
main(int argc, char **argv)
{
    struct contest contest = {.comm = MPI_COMM_WORLD};
    MPI_Init(&argc, &argv);
    if (argc == 2 && strcmp(argv[1], "rows") == 0)
        return print_rows();
    if (argc < 4)
        fail("usage: simulated native|CLAUSES FOLDED BYTES[:HOPELESS]...");
    contest.is_native = strcmp(argv[1], "native") == 0;
    MPI_Comm_rank(contest.comm, &contest.rank);
    MPI_Comm_size(contest.comm, &contest.nranks);
    MPI_Op_create(add, 1, &contest.op);
    if (!contest.is_native && allreduce_choose(contest.comm, argv[1]))
        fail("bad clauses");
    warm_up(&contest);
    const size_t folded = strtoull(argv[2], NULL, 10);
    run_sizes(&contest, argv + 3, folded);
    MPI_Op_free(&contest.op);
    MPI_Finalize();
    return 0;
}
