/* The bits of rounded results, for ALLREDUCE_DETERMINISM.
 *
 * usage: rounded_bits rows LEVEL [lacking]
 *   lacking: the library gets no shared memory
 *
 * For auto, and for each row of the registry with each of its parameters that keeps at least the
 * level, a line: what it keeps, the clause, and hashes of a sum and of a sum by an op of our own.
 *
 * usage: rounded_bits TYPE OP COUNT/ORDER/CLAUSES...
 *   TYPE: float, double, float_complex or double_complex; OP: sum, prod or user (a sum of the
 *     program's own)
 *   ORDER: how the ranks are numbered: same, reversed or shuffled
 *   CLAUSES: what the program chooses for the communicator; may be empty
 *
 * For each of the last arguments, one of the processes prints a line: a hash of the bits, of
 * PERIOD elements that the vector repeats, or of a shorter one; or "places differ" where equal
 * operands gave other bits in another place.  Operands belong to processes, whatever their rank.
 */
#include "config.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "mpi_check.h"
#include "select/select.h"

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

/* --- all rows --- */

/* Segments that the scratch memory cuts, that are in flight in greater numbers than shared memory
 * carries, and that are not; then each parameter. */
static const char *const parameters[] = {
    "",
    "segment=inf,window=auto",
    "segment=2K,window=3",
    "segment=n/7,window=auto",
    "segment=8K,window=8",
    "root=1",
    "radix=2",
    "radix=3",
    "dims=2x2",
    "dims=4x1",
    "broadcast=flat",
    "broadcast=binomial",
    "broadcast=scatter_allgather",
    "broadcast=scatter_doubling",
    "allgather=ring",
    "allgather=doubling",
    "reduce_scatter=halving",
    "reduce_scatter=ring",
    "exchange=halves",
    "exchange=halves,unpaired=copy",
    "distance=halving",
    "unpaired=copy",
    "intra=flat",
    "serve=one_by_one",
    "order=node",
    "inter=ring",
    "inter=star,lanes=one",
    "inter=rhd,lanes=2,levels=2",
    "halvings=one",
    "whole=1",
    "whole=inf",
    "levels=2",
    "levels=2,whole=inf",
    "copy=slots",
    "copy=in_place",
};

#define SUMMED  6001
#define BY_USER 601 /* such an op gets all of a vector, unless that takes too much memory */

static uint64_t
hash_of(MPI_Op op, int count, const struct check_comm *c)
{
    double *const buffer = check_buffer((size_t)count * sizeof *buffer);
    fill((char *)buffer, kind_named("double"), count);
    MPI_Allreduce(MPI_IN_PLACE, buffer, count, MPI_DOUBLE, op, c->comm);
    check_same_bits(c, buffer, (size_t)count * sizeof *buffer, "result");
    const uint64_t h = hash((const unsigned char *)buffer, (size_t)count * sizeof *buffer);
    check_release(buffer);
    return h;
}

static void
print_row(const struct check_comm *c, const char *clause, enum ar_determinism keeps, MPI_Op user)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "allreduce_algo", clause);
    MPI_Comm_set_info(c->comm, info);
    MPI_Info_free(&info);
    const uint64_t sum = hash_of(MPI_SUM, SUMMED, c), by_user = hash_of(user, BY_USER, c);
    if (c->rank == 0)
        printf("%s %s %016llx %016llx\n", ar_determinism_names[keeps], clause,
               (unsigned long long)sum, (unsigned long long)by_user);
}

/* A row that does not take the parameters has no such clause. */
static void
print_rows(const char *level)
{
    MPI_Op user;
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "the world");
    enum ar_determinism least = AR_DETERMINISM_NONE;
    while (strcmp(ar_determinism_names[least], level) != 0)
        least++;
    MPI_Op_create(add, 1, &user);
    print_row(&world, "auto", least, user);
    for (size_t row = 0; ar_algorithm_at(row); row++)
        for (size_t i = 0; i < sizeof parameters / sizeof *parameters; i++) {
            char clause[128];
            struct ar_rules *rules = NULL;
            struct ar_problem problem;
            snprintf(clause, sizeof clause, i == 0 ? "%s%s" : "%s(%s)", ar_algorithm_at(row)->name,
                     parameters[i]);
            if (ar_rules_parse(&rules, clause, &problem))
                continue;
            const enum ar_determinism keeps =
                ar_algorithm_keeps(ar_algorithm_at(row), &rules->clauses[0].choice.params);
            if (keeps >= least)
                print_row(&world, clause, keeps, user);
            ar_rules_destroy(rules);
        }
    MPI_Op_free(&user);
}

int
main(int argc, char **argv)
{
    MPI_Op user;
    check_begin(&argc, &argv);
    MPI_Op_create(add, 0, &user);
    if (argc > 2 && strcmp(argv[1], "rows") == 0) {
        if (argc > 3)
            setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
        print_rows(argv[2]);
        argc = 0;
    }
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
