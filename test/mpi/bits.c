/* The bits of rounded results, for ALLREDUCE_DETERMINISM.
 *
 * usage: bits TYPE OP COUNT/ORDER/CLAUSES...
 *   TYPE: float, double, float_complex or double_complex; OP: sum, prod or user (a sum of the
 *     program's own)
 *   ORDER: how the ranks are numbered: same, reversed or shuffled
 *   CLAUSES: what the program chooses for the communicator; may be empty
 *
 * For each of the last arguments, one of the processes prints a line: a hash of the bits, of
 * PERIOD elements that the vector repeats, or of a shorter one; or "places differ" where equal
 * operands gave other bits in another place.  Operands belong to processes, whatever their rank.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_check.h"

#define PERIOD 64

/* Of magnitudes so different that any order rounds in its own way. */
static double
operand(int process, int i)
{
    uint64_t x = (uint64_t)(process * PERIOD + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return ldexp((double)(int64_t)x, (int)(x % 24) - 70);
}

static void
add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < *count; i++)
        if (*type == MPI_DOUBLE)
            ((double *)inout)[i] = ((double *)in)[i] + ((double *)inout)[i];
        else
            ((float *)inout)[i] = ((float *)in)[i] + ((float *)inout)[i];
}

static uint64_t
hash(const unsigned char *bytes, size_t n)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < n; i++)
        h = (h ^ bytes[i]) * UINT64_C(1099511628211);
    return h;
}

static int
number_in(const char *order, int process, int nranks)
{
    if (strcmp(order, "reversed") == 0)
        return nranks - process;
    return strcmp(order, "shuffled") == 0 ? process * 5 % 7 : process;
}

/* Ranks in this order, with this choice. */
static MPI_Comm
make_comm(const char *order, const char *clauses)
{
    MPI_Comm ordered, comm;
    MPI_Info info;
    int process, nranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    MPI_Comm_split(MPI_COMM_WORLD, 0, number_in(order, process, nranks), &ordered);
    MPI_Info_create(&info);
    if (*clauses)
        MPI_Info_set(info, "allreduce_algo", clauses);
    MPI_Comm_dup_with_info(ordered, info, &comm);
    MPI_Info_free(&info);
    MPI_Comm_free(&ordered);
    return comm;
}

static void
report(const char *result, size_t size, int count)
{
    for (int i = PERIOD; i < count; i++)
        if (memcmp(result + (size_t)i * size, result + (size_t)(i % PERIOD) * size, size) != 0) {
            printf("places differ\n");
            return;
        }
    printf("%016llx\n", (unsigned long long)hash((const unsigned char *)result,
                                                 (size_t)(count < PERIOD ? count : PERIOD) * size));
}

static const struct kind {
    const char *name;
    size_t size;    /* of a number */
    size_t numbers; /* of an element */
} kinds[] = {
    {"float", sizeof(float), 1},
    {"double", sizeof(double), 1},
    {"float_complex", sizeof(float), 2},
    {"double_complex", sizeof(double), 2},
};

static const struct kind *
kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    MPI_Abort(MPI_COMM_WORLD, 64);
    return NULL;
}

static MPI_Datatype
type_of(const struct kind *kind)
{
    if (kind->numbers == 2)
        return kind->size == sizeof(double) ? MPI_C_DOUBLE_COMPLEX : MPI_C_FLOAT_COMPLEX;
    return kind->size == sizeof(double) ? MPI_DOUBLE : MPI_FLOAT;
}

static void
fill(char *buffer, const struct kind *kind, int count)
{
    int process;
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    for (size_t i = 0; i < (size_t)count * kind->numbers; i++) {
        const double wide = operand(process, (int)(i % (PERIOD * kind->numbers)));
        const float narrow = (float)wide;
        memcpy(buffer + i * kind->size, kind->size == sizeof wide ? (const void *)&wide : &narrow,
               kind->size);
    }
}

static void
reduce(const struct kind *kind, MPI_Op op, int count, MPI_Comm comm)
{
    const size_t size = kind->size * kind->numbers;
    const struct check_comm c = check_describe(comm, "comm");
    char *const buffer = malloc((size_t)count * size);
    if (!buffer)
        abort();
    fill(buffer, kind, count);
    MPI_Allreduce(MPI_IN_PLACE, buffer, count, type_of(kind), op, comm);
    check_same_bits(&c, buffer, (size_t)count * size, "result");
    if (c.rank == 0)
        report(buffer, size, count);
    free(buffer);
}

int
main(int argc, char **argv)
{
    MPI_Op user;
    check_begin(&argc, &argv);
    MPI_Op_create(add, 0, &user);
    for (int i = 3; i < argc; i++) {
        char order[16] = "", clauses[128] = "";
        int count = 0;
        if (sscanf(argv[i], "%d/%15[a-z]/%127s", &count, order, clauses) < 2)
            MPI_Abort(MPI_COMM_WORLD, 64);
        MPI_Comm comm = make_comm(order, clauses);
        reduce(kind_named(argv[1]),
               strcmp(argv[2], "sum") == 0    ? MPI_SUM
               : strcmp(argv[2], "prod") == 0 ? MPI_PROD
                                              : user,
               count, comm);
        MPI_Comm_free(&comm);
    }
    MPI_Op_free(&user);
    return check_end();
}
