/* Every count, type and op gives the exact result, in place or not, and nothing
 * beside the result is written; on sub-communicators of all sizes too; and
 * rounded sums have the same bits on all ranks.
 *
 * usage: values [sizes | communicators]
 *   sizes: also sub-communicators of 1 to 9 ranks (of 16)
 *   communicators: also reversed, odd and even, duplicate and single-rank ones
 */
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_check.h"

/* An element type; values are small integers, so that all results are exact.
 * where is the location of pair types. */
struct kind {
    const char *name;
    MPI_Datatype type;
    size_t size;
    void (*put)(void *buffer, size_t i, long value, int where);
    bool (*is)(const void *buffer, size_t i, long value, int where);
};

#define DEFINE_KIND(word, ctype)                                                                   \
    static void put_##word(void *buffer, size_t i, long value, int where)                          \
    {                                                                                              \
        (void)where;                                                                               \
        ((ctype *)buffer)[i] = (ctype)value;                                                       \
    }                                                                                              \
    static bool is_##word(const void *buffer, size_t i, long value, int where)                     \
    {                                                                                              \
        (void)where;                                                                               \
        return ((const ctype *)buffer)[i] == (ctype)value;                                         \
    }

DEFINE_KIND(int, int)
DEFINE_KIND(long, long)
DEFINE_KIND(uchar, unsigned char)
DEFINE_KIND(float, float)
DEFINE_KIND(double, double)

static void
put_complex(void *buffer, size_t i, long value, int where)
{
    (void)where;
    ((double complex *)buffer)[i] = (double)value * (1 + 2 * I);
}

static bool
is_complex(const void *buffer, size_t i, long value, int where)
{
    (void)where;
    return ((const double complex *)buffer)[i] == (double)value * (1 + 2 * I);
}

struct int_pair {
    int value;
    int where;
};

struct double_pair {
    double value;
    int where;
};

#define DEFINE_PAIR(word)                                                                          \
    static void put_##word(void *buffer, size_t i, long value, int where)                          \
    {                                                                                              \
        struct word *element = (struct word *)buffer + i;                                          \
        element->value = value;                                                                    \
        element->where = where;                                                                    \
    }                                                                                              \
    static bool is_##word(const void *buffer, size_t i, long value, int where)                     \
    {                                                                                              \
        const struct word *element = (const struct word *)buffer + i;                              \
        return element->value == value && element->where == where;                                 \
    }

DEFINE_PAIR(int_pair)
DEFINE_PAIR(double_pair)

/* An op on the integers; values are base .. base + range - 1. */
struct op {
    const char *name;
    MPI_Op op;
    long base;
    long range;
    long (*fold)(long a, long b);
};

#define DEFINE_OP(word, expression)                                                                \
    static long word(long a, long b)                                                               \
    {                                                                                              \
        return expression;                                                                         \
    }

DEFINE_OP(sum, a + b)
DEFINE_OP(product, a *b)
DEFINE_OP(largest, a > b ? a : b)
DEFINE_OP(smallest, a < b ? a : b)
DEFINE_OP(both, a &&b)
DEFINE_OP(either, a || b)
DEFINE_OP(differing, !a != !b)
DEFINE_OP(bits_of_both, a &b)
DEFINE_OP(bits_of_either, a | b)
DEFINE_OP(differing_bits, a ^ b)

enum kind_id { INT, LONG, UCHAR, FLOAT, DOUBLE, COMPLEX, INT_PAIR, DOUBLE_PAIR, KINDS };
enum op_id { SUM, PROD, MAX, MIN, LAND, LOR, LXOR, BAND, BOR, BXOR, MINLOC, MAXLOC, OPS };

static struct kind kinds[KINDS];
static struct op ops[OPS];

static void
fill_tables(void)
{
    const struct kind all_kinds[KINDS] = {
        [INT] = {"int", MPI_INT, sizeof(int), put_int, is_int},
        [LONG] = {"long", MPI_LONG, sizeof(long), put_long, is_long},
        [UCHAR] = {"unsigned char", MPI_UNSIGNED_CHAR, 1, put_uchar, is_uchar},
        [FLOAT] = {"float", MPI_FLOAT, sizeof(float), put_float, is_float},
        [DOUBLE] = {"double", MPI_DOUBLE, sizeof(double), put_double, is_double},
        [COMPLEX] = {"double complex", MPI_C_DOUBLE_COMPLEX, sizeof(double complex), put_complex,
                     is_complex},
        [INT_PAIR] = {"2int", MPI_2INT, sizeof(struct int_pair), put_int_pair, is_int_pair},
        [DOUBLE_PAIR] = {"double_int", MPI_DOUBLE_INT, sizeof(struct double_pair), put_double_pair,
                         is_double_pair},
    };
    const struct op all_ops[OPS] = {
        [SUM] = {"SUM", MPI_SUM, 0, 7, sum},
        [PROD] = {"PROD", MPI_PROD, 1, 2, product},
        [MAX] = {"MAX", MPI_MAX, 0, 97, largest},
        [MIN] = {"MIN", MPI_MIN, 3, 97, smallest},
        [LAND] = {"LAND", MPI_LAND, 0, 29, both},
        [LOR] = {"LOR", MPI_LOR, 0, 2, either},
        [LXOR] = {"LXOR", MPI_LXOR, 0, 5, differing},
        [BAND] = {"BAND", MPI_BAND, 0, 127, bits_of_both},
        [BOR] = {"BOR", MPI_BOR, 0, 127, bits_of_either},
        [BXOR] = {"BXOR", MPI_BXOR, 0, 127, differing_bits},
        [MINLOC] = {"MINLOC", MPI_MINLOC, 0, 11, smallest},
        [MAXLOC] = {"MAXLOC", MPI_MAXLOC, 0, 11, largest},
    };
    memcpy(kinds, all_kinds, sizeof kinds);
    memcpy(ops, all_ops, sizeof ops);
}

static const struct {
    enum kind_id kind;
    enum op_id op;
} cases[] = {
    {DOUBLE, SUM},      {INT, PROD},  {UCHAR, BXOR},  {FLOAT, MAX}, {LONG, BAND},
    {COMPLEX, SUM},     {INT, LXOR},  {UCHAR, SUM},   {FLOAT, SUM}, {INT_PAIR, MINLOC},
    {LONG, MIN},        {INT, LAND},  {DOUBLE, PROD}, {UCHAR, MAX}, {DOUBLE_PAIR, MAXLOC},
    {INT, SUM},         {LONG, BOR},  {FLOAT, PROD},  {INT, LOR},   {DOUBLE, MIN},
    {INT_PAIR, MAXLOC}, {UCHAR, MIN}, {INT, MAX},     {LONG, SUM},  {DOUBLE_PAIR, MINLOC},
    {INT, BXOR},
};
#define CASES (sizeof cases / sizeof cases[0])

/* One call and what it must give. */
struct trial {
    const struct check_comm *comm;
    const struct kind *kind;
    const struct op *op;
    size_t count;
    bool in_place;
};

#define PERIOD 101 /* of the values along the vector: prime, unlike any block's length */

static long
value_of(const struct trial *t, int rank, size_t i)
{
    const unsigned long mixed = (i % PERIOD) * (unsigned long)(rank + 2) + 5 * (unsigned long)rank;
    return t->op->base + (long)((mixed ^ mixed >> 2) % (unsigned long)t->op->range);
}

static long
expect(const struct trial *t, size_t i, int *where)
{
    long result = value_of(t, 0, i);
    for (int rank = 1; rank < t->comm->nranks; rank++)
        result = t->op->fold(result, value_of(t, rank, i));
    *where = 0;
    while (*where < t->comm->nranks - 1 && value_of(t, *where, i) != result)
        ++*where;
    return result;
}

static void
tell(const struct trial *t, size_t i, const char *what)
{
    check_fail("%s of %d ranks, rank %d: %zu x %s, %s%s: element %zu %s", t->comm->name,
               t->comm->nranks, t->comm->rank, t->count, t->kind->name, t->op->name,
               t->in_place ? " in place" : "", i, what);
}

static void
compare_result(const struct trial *t, const void *result)
{
    long expected[PERIOD];
    int where[PERIOD];
    for (size_t i = 0; i < PERIOD && i < t->count; i++)
        expected[i] = expect(t, i, &where[i]);
    for (size_t i = 0; i < t->count; i++)
        if (!t->kind->is(result, i, expected[i % PERIOD], where[i % PERIOD])) {
            tell(t, i, "is wrong");
            return;
        }
}

static void
compare_input(const struct trial *t, const void *input)
{
    for (size_t i = 0; i < t->count; i++)
        if (!t->kind->is(input, i, value_of(t, t->comm->rank, i), t->comm->rank)) {
            tell(t, i, "of the send buffer was changed");
            return;
        }
}

static void
run_trial(const struct trial *t)
{
    const size_t bytes = t->count * t->kind->size;
    void *in = check_buffer(bytes), *out = check_buffer(bytes);
    void *mine = t->in_place ? out : in;
    for (size_t i = 0; i < t->count; i++)
        t->kind->put(mine, i, value_of(t, t->comm->rank, i), t->comm->rank);
    MPI_Allreduce(t->in_place ? MPI_IN_PLACE : in, out, (int)t->count, t->kind->type, t->op->op,
                  t->comm->comm);
    compare_result(t, out);
    if (!t->in_place)
        compare_input(t, in);
    check_guards(in, t->kind->name);
    check_guards(out, t->kind->name);
    check_release(in);
    check_release(out);
}

static void
run_case(const struct check_comm *c, size_t count, size_t i)
{
    const struct kind *kind = &kinds[cases[i % CASES].kind];
    const struct op *op = &ops[cases[i % CASES].op];
    run_trial(&(struct trial){c, kind, op, count, false});
    run_trial(&(struct trial){c, kind, op, count, true});
}

/* Every count with so many cases, and so that every case has its turn. */
static void
check_counts(const struct check_comm *c, int cases_per_count)
{
    static const size_t counts[] = {1,  2,  3,  4,  5,   6,   7,   8,    9,    12,  16,
                                    17, 24, 33, 65, 100, 250, 513, 1023, 2000, 4099};
    size_t turn = 0;
    run_trial(&(struct trial){c, &kinds[DOUBLE], &ops[SUM], 0, false});
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
        for (int i = 0; i < cases_per_count; i++)
            run_case(c, counts[k], turn++);
}

static void
check_long_vectors(const struct check_comm *c)
{
    run_case(c, 70001, 0);
    run_case(c, 1, 1);
    run_case(c, 66000, 2);
    run_case(c, 300001, 3);
}

/* Several sums, compared at once: native collectives take long where ranks
 * outnumber cores. */
static void
check_rounded_sums(const struct check_comm *c)
{
    static const size_t counts[] = {1, 17, 5003};
    static float in[5003], out[3][5003];
    for (size_t i = 0; i < 5003; i++)
        in[i] = 1.0F / (float)(3 + c->rank + (int)i % 1000);
    for (size_t k = 0; k < 3; k++)
        MPI_Allreduce(in, out[k], (int)counts[k], MPI_FLOAT, MPI_SUM, c->comm);
    check_same_bits(c, out, sizeof out, "rounded float sums");
}

static void
check_comm(MPI_Comm comm, const char *name, int cases_per_count)
{
    struct check_comm c = check_describe(comm, name);
    check_counts(&c, cases_per_count);
    check_rounded_sums(&c);
}

static void
check_and_free(MPI_Comm comm, const char *name)
{
    check_comm(comm, name, 3);
    MPI_Comm_free(&comm);
}

static MPI_Comm
split(const struct check_comm *world, int color, int key)
{
    MPI_Comm comm;
    MPI_Comm_split(world->comm, color, key, &comm);
    return comm;
}

/* Three partitions of 16 ranks hold communicators of 1 to 9. */
static void
check_sizes(const struct check_comm *world)
{
    static const int partitions[][6] = {{9, 7}, {8, 6, 2}, {5, 4, 3, 1, 3}};
    for (size_t i = 0; i < sizeof partitions / sizeof partitions[0]; i++) {
        int part = 0, end = partitions[i][0];
        while (world->rank >= end)
            end += partitions[i][++part];
        check_and_free(split(world, part, world->rank), "part");
    }
}

static void
check_communicators(const struct check_comm *world)
{
    MPI_Comm copy;
    check_and_free(split(world, 0, -world->rank), "reversed");
    check_and_free(split(world, world->rank % 2, world->rank), "odd or even");
    check_and_free(split(world, world->rank == 0, world->rank), "first or others");
    MPI_Comm_dup(world->comm, &copy);
    check_and_free(copy, "duplicate");
    check_comm(MPI_COMM_SELF, "self", 3);
}

int
main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    fill_tables();
    struct check_comm world = check_describe(MPI_COMM_WORLD, "world");
    /* On 16 ranks a call takes long, and every case has its turn on their parts. */
    const bool has_parts = argc > 1 && strcmp(argv[1], "sizes") == 0;
    check_comm(world.comm, world.name, has_parts ? 1 : 3);
    check_long_vectors(&world);
    if (has_parts) {
        if (world.nranks == 16)
            check_sizes(&world);
        else
            check_fail("sizes: needs 16 ranks");
    } else if (argc > 1) {
        check_communicators(&world);
    }
    return check_end();
}
