#include "config.h"

#include "cli/specimen.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define PERIOD 4099
#define PARTS  2 /* of an element: real and imaginary, value and index */

/* --- elements --- */

enum number { NONE, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, LONG_DOUBLE };

/* What the parts of an element are; the second stands behind the first as in a struct. */
static const enum number shapes[AR_CLASSES][PARTS] = {
    [AR_I8] = {I8},
    [AR_I16] = {I16},
    [AR_I32] = {I32},
    [AR_I64] = {I64},
    [AR_U8] = {U8},
    [AR_U16] = {U16},
    [AR_U32] = {U32},
    [AR_U64] = {U64},
    [AR_F32] = {F32},
    [AR_F64] = {F64},
    [AR_LONG_DOUBLE] = {LONG_DOUBLE},
    [AR_COMPLEX_F32] = {F32, F32},
    [AR_COMPLEX_F64] = {F64, F64},
    [AR_COMPLEX_LONG_DOUBLE] = {LONG_DOUBLE, LONG_DOUBLE},
    [AR_PAIR_F32_INT] = {F32, I32},
    [AR_PAIR_F64_INT] = {F64, I32},
    [AR_PAIR_LONG_INT] = {sizeof(long) == 8 ? I64 : I32, I32},
    [AR_PAIR_INT_INT] = {I32, I32},
    [AR_PAIR_SHORT_INT] = {I16, I32},
    [AR_PAIR_LONG_DOUBLE_INT] = {LONG_DOUBLE, I32},
    [AR_PAIR_F32_F32] = {F32, F32},
    [AR_PAIR_F64_F64] = {F64, F64},
};

/* Every number of these types is a long double, on machines where that has 64 bits of
 * mantissa or more. */
#define NUMBERS(X)                                                                                 \
    X(I8, int8_t)                                                                                  \
    X(I16, int16_t)                                                                                \
    X(I32, int32_t)                                                                                \
    X(I64, int64_t)                                                                                \
    X(U8, uint8_t)                                                                                 \
    X(U16, uint16_t)                                                                               \
    X(U32, uint32_t)                                                                               \
    X(U64, uint64_t)                                                                               \
    X(F32, float)                                                                                  \
    X(F64, double)                                                                                 \
    X(LONG_DOUBLE, long double)

static size_t
number_bytes(enum number number)
{
#define CASE(name, type)                                                                           \
    case name:                                                                                     \
        return sizeof(type);
    switch (number) {
        NUMBERS(CASE)
    default:
        return 0;
    }
#undef CASE
}

static long double
load(enum number number, const char *at)
{
#define CASE(name, type)                                                                           \
    case name:                                                                                     \
        return *(const type *)(const void *)at;
    switch (number) {
        NUMBERS(CASE)
    default:
        return 0;
    }
#undef CASE
}

static void
store(enum number number, char *at, long double value)
{
#define CASE(name, type)                                                                           \
    case name:                                                                                     \
        *(type *)(void *)at = (type)value;                                                         \
        break;
    switch (number) {
        NUMBERS(CASE)
    default:
        break;
    }
#undef CASE
}

/* --- numbers with twice the digits --- */

/* The unevaluated sum of two numbers, the second below the last digit of the first. */
struct precise {
    long double high, low;
};

/* |a| >= |b| (Dekker 1971). */
static struct precise
fast_sum(long double a, long double b)
{
    const long double sum = a + b;
    return (struct precise){sum, b - (sum - a)};
}

static struct precise
add(struct precise x, struct precise y)
{
    const long double sum = x.high + y.high; /* Knuth's two-sum */
    const long double of_y = sum - x.high;
    const long double error = (x.high - (sum - of_y)) + (y.high - of_y);
    return fast_sum(sum, error + x.low + y.low);
}

static struct precise
multiply(struct precise x, struct precise y)
{
    const long double product = x.high * y.high;
    const long double error = fmal(x.high, y.high, -product);
    return fast_sum(product, error + x.high * y.low + x.low * y.high);
}

static struct precise
negate(struct precise x)
{
    return (struct precise){-x.high, -x.low};
}

/* --- the specimen --- */

struct ar_specimen {
    int nranks;
    const enum number *shape;
    size_t second;  /* offset of the second part */
    size_t element; /* bytes from one element to the next */
    enum ar_class class;
    enum ar_op op;
    MPI_Op handle;
    MPI_Datatype type;
    struct {
        char *mine;                /* PERIOD elements */
        struct precise *reduction; /* PARTS for each of PERIOD elements */
        double largest;            /* of the reduction */
    } kinds[AR_SPECIMEN_KINDS];
};

static bool is_complex(enum ar_class class)
{
    return class == AR_COMPLEX_F32 || class == AR_COMPLEX_F64 || class == AR_COMPLEX_LONG_DOUBLE;
}

/* Do results depend on the order of operands? */
static bool
rounds(const struct ar_specimen *s)
{
    return (s->op == AR_SUM || s->op == AR_PROD) &&
           (s->shape[0] == F32 || s->shape[0] == F64 || s->shape[0] == LONG_DOUBLE);
}

/* SplitMix64 (Steele, Lea & Flood 2014) of what names a number. */
static uint64_t
random_bits(enum ar_specimen_kind kind, int rank, size_t i, int part)
{
    uint64_t x = ((uint64_t)rank * PERIOD + i) * (PARTS * AR_SPECIMEN_KINDS) +
                 (uint64_t)(part * AR_SPECIMEN_KINDS + (int)kind) + 1;
    x *= UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static long double
rounded_value(const struct ar_specimen *s, int rank, size_t i, int part)
{
    const long double unit = ldexpl(random_bits(AR_SPECIMEN_ROUNDED, rank, i, part), -64);
    if (s->op == AR_SUM)
        return unit;
    return part == 0 ? 0.75L + unit / 2 : unit / 2 - 0.25L;
}

/* Powers of two of either sign; of a complex number one part, the other is 0. */
static long double
exact_factor(const struct ar_specimen *s, int rank, size_t i, int part)
{
    static const long double factors[] = {1, -1, 2, 0.5L};
    const uint64_t bits = random_bits(AR_SPECIMEN_EXACT, rank, i, 0);
    if (is_complex(s->class) && part != (int)(bits >> 8 & 1))
        return 0;
    return factors[bits & 3];
}

/* A number that summed over all ranks does not leave its type: MPIs differ in what becomes of
 * one that does (Open MPI's vectors saturate). */
static uint64_t
addend(const struct ar_specimen *s, int part, uint64_t bits)
{
    const size_t bytes = number_bytes(s->shape[part]);
    const uint64_t largest = bytes == 1 ? INT8_MAX : bytes == 2 ? INT16_MAX : INT32_MAX;
    const uint64_t share = largest / (uint64_t)s->nranks;
    if (share == 0) /* a few of many ranks add 1 */
        return bits % (uint64_t)s->nranks < largest / 2;
    return bits % (share < 101 ? share + 1 : 101);
}

static long double
exact_value(const struct ar_specimen *s, int rank, size_t i, int part)
{
    const bool logical = s->op == AR_LAND || s->op == AR_LOR || s->op == AR_LXOR;
    const bool located = s->op == AR_MAXLOC || s->op == AR_MINLOC;
    if (s->op == AR_PROD && rounds(s))
        return exact_factor(s, rank, i, part);
    if (located && part == 1)
        return rank;
    const uint64_t bits = random_bits(AR_SPECIMEN_EXACT, rank, i, part);
    if (s->op == AR_SUM)
        return addend(s, part, bits);
    if (s->op == AR_PROD)
        return bits % 101 | 1; /* odd: the product never vanishes */
    return bits % (logical ? 2 : 101);
}

/* Makes PERIOD elements of a rank. */
static void
make(const struct ar_specimen *s, enum ar_specimen_kind kind, int rank, char *elements)
{
    const bool rounded = kind == AR_SPECIMEN_ROUNDED && rounds(s);
    for (size_t i = 0; i < PERIOD; i++)
        for (int part = 0; part < PARTS; part++)
            store(s->shape[part], elements + i * s->element + (part ? s->second : 0),
                  rounded ? rounded_value(s, rank, i, part) : exact_value(s, rank, i, part));
}

static long double
part_of(const struct ar_specimen *s, const char *elements, size_t i, int part)
{
    return load(s->shape[part], elements + i * s->element + (part ? s->second : 0));
}

/* x = x op y for one element. */
static void
combine(const struct ar_specimen *s, struct precise *x, const struct precise *y)
{
    if (s->op == AR_SUM) {
        x[0] = add(x[0], y[0]);
        x[1] = add(x[1], y[1]);
    } else if (is_complex(s->class)) {
        const struct precise real = add(multiply(x[0], y[0]), negate(multiply(x[1], y[1])));
        x[1] = add(multiply(x[0], y[1]), multiply(x[1], y[0]));
        x[0] = real;
    } else {
        x[0] = multiply(x[0], y[0]);
    }
}

static void
decode(const struct ar_specimen *s, struct precise *numbers, const char *elements)
{
    for (size_t i = 0; i < PERIOD; i++)
        for (int part = 0; part < PARTS; part++)
            numbers[PARTS * i + (size_t)part] = (struct precise){part_of(s, elements, i, part), 0};
}

/* Both have room for PERIOD elements. */
static void
reduce_rounded(const struct ar_specimen *s, enum ar_specimen_kind kind, char *elements,
               struct precise *reduction)
{
    make(s, kind, 0, elements);
    decode(s, reduction, elements);
    for (int rank = 1; rank < s->nranks; rank++) {
        make(s, kind, rank, elements);
        for (size_t i = 0; i < PERIOD; i++) {
            const struct precise y[PARTS] = {{part_of(s, elements, i, 0), 0},
                                             {part_of(s, elements, i, 1), 0}};
            combine(s, &reduction[PARTS * i], y);
        }
    }
}

/* By the MPI library, in rank order; sum has room for PERIOD elements, too. */
static void
reduce_exact(const struct ar_specimen *s, enum ar_specimen_kind kind, char *elements, char *sum)
{
    make(s, kind, s->nranks - 1, sum);
    for (int rank = s->nranks - 2; rank >= 0; rank--) {
        make(s, kind, rank, elements);
        MPI_Reduce_local(elements, sum, PERIOD, s->type, s->handle);
    }
}

static int
prepare(struct ar_specimen *s, enum ar_specimen_kind kind, int rank)
{
    char *elements = calloc(PERIOD, s->element), *sum = calloc(PERIOD, s->element);
    s->kinds[kind].mine = calloc(PERIOD, s->element);
    s->kinds[kind].reduction = calloc(PERIOD, PARTS * sizeof(struct precise));
    int status = AR_EXIT_FAILED;
    if (!elements || !sum || !s->kinds[kind].mine || !s->kinds[kind].reduction)
        goto out;
    make(s, kind, rank, s->kinds[kind].mine);
    if (rounds(s)) {
        reduce_rounded(s, kind, elements, s->kinds[kind].reduction);
    } else {
        reduce_exact(s, kind, elements, sum);
        decode(s, s->kinds[kind].reduction, sum);
    }
    for (size_t i = 0; i < (size_t)PERIOD * PARTS; i++)
        s->kinds[kind].largest =
            fmax(s->kinds[kind].largest, fabs((double)s->kinds[kind].reduction[i].high));
    status = AR_EXIT_DONE;
out:
    free(elements);
    free(sum);
    return status;
}

/* Where a struct has its second part. */
static size_t
second_offset(const enum number *shape)
{
    const size_t first = number_bytes(shape[0]), second = number_bytes(shape[1]);
    return second ? (first + second - 1) / second * second : 0;
}

int
ar_specimen_create(struct ar_specimen **made, struct ar_named *type, enum ar_op op, int rank,
                   int nranks)
{
    if (type->candidates.n == 0) {
        if (rank == 0)
            fprintf(stderr, "allreduce: how this MPI represents numbers of the type is not known "
                            "here: take another type\n");
        return AR_EXIT_FAILED;
    }
    struct ar_specimen *s = calloc(1, sizeof *s);
    int status = s ? AR_EXIT_DONE : AR_EXIT_FAILED;
    if (s) {
        s->class = type->candidates.class[0];
        s->shape = shapes[s->class];
        s->nranks = nranks;
        s->second = second_offset(s->shape);
        s->element = (size_t)type->geometry.extent;
        s->op = op;
        s->handle = ar_op_handle(op);
        s->type = type->geometry.type;
    }
    for (int kind = 0; kind < AR_SPECIMEN_KINDS && !status; kind++)
        status = prepare(s, (enum ar_specimen_kind)kind, rank);
    if (status) {
        fprintf(stderr, "allreduce: out of memory\n");
        ar_specimen_destroy(s);
    } else {
        *made = s;
    }
    return status;
}

void
ar_specimen_destroy(struct ar_specimen *s)
{
    for (int kind = 0; s && kind < AR_SPECIMEN_KINDS; kind++) {
        free(s->kinds[kind].mine);
        free(s->kinds[kind].reduction);
    }
    free(s);
}

void
ar_specimen_fill(const struct ar_specimen *s, enum ar_specimen_kind kind, void *elements,
                 size_t count)
{
    for (size_t done = 0; done < count; done += PERIOD) {
        const size_t n = count - done < PERIOD ? count - done : PERIOD;
        memcpy((char *)elements + done * s->element, s->kinds[kind].mine, n * s->element);
    }
}

/* The larger of two distances, where a NaN is the largest. */
static double
worse(double most, long double difference)
{
    if (isnan(difference))
        return INFINITY;
    return fmax(most, (double)fabsl(difference));
}

static double
relative(const struct ar_specimen *s, enum ar_specimen_kind kind, double difference)
{
    return s->kinds[kind].largest > 0 ? difference / s->kinds[kind].largest : difference;
}

double
ar_specimen_error(const struct ar_specimen *s, enum ar_specimen_kind kind, const void *elements,
                  size_t count)
{
    const struct precise *const reduction = s->kinds[kind].reduction;
    double most = 0;
    for (size_t i = 0, k = 0; i < count; i++, k = k + 1 < PERIOD ? k + 1 : 0)
        for (int part = 0; part < PARTS && s->shape[part] != NONE; part++) {
            const struct precise right = reduction[PARTS * k + (size_t)part];
            most = worse(most, (part_of(s, elements, i, part) - right.high) - right.low);
        }
    return relative(s, kind, most);
}

double
ar_specimen_distance(const struct ar_specimen *s, enum ar_specimen_kind kind, const void *a,
                     const void *b, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        for (int part = 0; part < PARTS && s->shape[part] != NONE; part++)
            most = worse(most, part_of(s, a, i, part) - part_of(s, b, i, part));
    return relative(s, kind, most);
}
