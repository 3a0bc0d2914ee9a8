#include "reduce/compare.h"

#include <fenv.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/named.h"

/* --- what numbers an element holds --- */

enum format { INTEGER, FLOAT32, FLOAT64, LONG_FLOAT };

/* That of the numbers in an element; INTEGER also where an element is no number. */
static const enum format formats_of[AR_CLASSES + 1] = {
    [AR_F32] = FLOAT32,
    [AR_F32_SPLIT] = FLOAT32,
    [AR_COMPLEX_F32] = FLOAT32,
    [AR_COMPLEX_F32_SWAPPED] = FLOAT32,
    [AR_PAIR_F32_INT] = FLOAT32,
    [AR_PAIR_F32_F32] = FLOAT32,
    [AR_F64] = FLOAT64,
    [AR_F64_SPLIT] = FLOAT64,
    [AR_COMPLEX_F64] = FLOAT64,
    [AR_COMPLEX_F64_SWAPPED] = FLOAT64,
    [AR_PAIR_F64_INT] = FLOAT64,
    [AR_PAIR_F64_F64] = FLOAT64,
    [AR_LONG_DOUBLE] = LONG_FLOAT,
    [AR_COMPLEX_LONG_DOUBLE] = LONG_FLOAT,
    [AR_COMPLEX_LONG_DOUBLE_PLAIN] = LONG_FLOAT,
    [AR_PAIR_LONG_DOUBLE_INT] = LONG_FLOAT,
};

static const struct format_row {
    size_t size;
    double roundoff;
    double least, most; /* normal numbers; of long double those whose magnitudes a double holds */
    int exponent_max;
} formats[] = {
    [FLOAT32] = {sizeof(float), FLT_EPSILON / 2, FLT_MIN, FLT_MAX, FLT_MAX_EXP},
    [FLOAT64] = {sizeof(double), DBL_EPSILON / 2, DBL_MIN, DBL_MAX, DBL_MAX_EXP},
    [LONG_FLOAT] = {sizeof(long double), (double)(LDBL_EPSILON / 2), DBL_MIN, DBL_MAX, DBL_MAX_EXP},
};

static bool is_complex(enum ar_class class)
{
    return class >= AR_COMPLEX_F32 && class <= AR_COMPLEX_LONG_DOUBLE_PLAIN;
}

void
ar_comparison_init(struct ar_comparison *c, const struct ar_reduction *r)
{
    const struct ar_named *named = ar_named_find(r->type);
    *c = (struct ar_comparison){.class = AR_NO_CLASS, .op = r->which, .size = r->size};
    if (named && named->candidates.n > 0)
        c->class = named->candidates.class[0];
    c->numbers = is_complex(c->class) ? 2 : 1;
    c->number_bytes = formats[formats_of[c->class]].size;
    /* A user's op on integers is associative, as MPI wants it, and so gives the same bits in any
     * order.  MPI_BYTE is not an integer: it may hold anything. */
    if (r->which == AR_OPS)
        c->kind = named && named->geometry.type_class == AR_TYPE_INTEGER ? AR_COMPARE_EXACT
                                                                         : AR_COMPARE_USERS;
    else if (c->class == AR_NO_CLASS || (is_complex(c->class) && c->op != AR_SUM))
        c->kind = AR_COMPARE_NOTHING;
    else
        c->kind = formats_of[c->class] == INTEGER ? AR_COMPARE_EXACT : AR_COMPARE_BOUNDED;
}

/* --- numbers --- */

long double
ar_number_load(const void *at, size_t bytes)
{
    float single;
    double twice;
    long double most;
    if (bytes == sizeof single)
        return *(float *)memcpy(&single, at, sizeof single);
    if (bytes == sizeof twice)
        return *(double *)memcpy(&twice, at, sizeof twice);
    return *(long double *)memcpy(&most, at, sizeof most);
}

static double
magnitude(enum ar_op op, long double x)
{
    switch (op) {
    case AR_SUM:
        return (double)fabsl(x);
    case AR_PROD:
        return isfinite(x) && x != 0 ? abs(ilogbl(x)) + 1 : INFINITY;
    case AR_MAX:
    case AR_MIN:
        return isnan(x) ? INFINITY : 0;
    default: /* of two zeros, too, the first may win or not */
        return isnan(x) || x == 0 ? INFINITY : 0;
    }
}

/* How far apart two results may be.  lesser is the magnitude of the one that is nearer to 0. */
static double
bound(const struct ar_comparison *c, double magnitudes, long double lesser, int nranks)
{
    const struct format_row *format = &formats[formats_of[c->class]];
    const double k = (nranks - 1) * format->roundoff, g = k / (1 - k);
    if (c->kind != AR_COMPARE_BOUNDED)
        return 0;
    if (!isfinite(magnitudes) || k >= 0.25)
        return INFINITY;
    if (c->op == AR_PROD)
        return magnitudes < format->exponent_max - 2 ? 2 * g / (1 - g) * (double)lesser : INFINITY;
    if (c->op != AR_SUM)
        return 0;
    /* A partial sum is at most 1 + g times the true sum of magnitudes, and the true sum is at most
     * 1 / (1 - g) times the computed one.  As long as this does not exceed the format's greatest
     * number, no order overflows.  A processor that flushes small numbers to zero may do so in each
     * addition. */
    if (magnitudes * (1 + g) / (1 - g) > format->most)
        return INFINITY;
    return 2 * g / (1 - g) * magnitudes + 2 * (nranks - 1) * format->least;
}

/* --- elements --- */

void
ar_magnitudes_get(const struct ar_comparison *c, double *magnitudes, const void *packed,
                  size_t count)
{
    const size_t bytes = c->number_bytes;
    fenv_t saved;
    feholdexcept(&saved);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < c->numbers; k++)
            *magnitudes++ = magnitude(
                c->op, ar_number_load((const char *)packed + i * c->size + k * bytes, bytes));
    fesetenv(&saved);
}

static bool
is_alike(const struct ar_comparison *c, const char *a, const char *b, const double *magnitudes,
         int nranks)
{
    const size_t size = c->number_bytes, numbers = c->numbers * size;
    bool anything = false;
    for (size_t k = 0; k < c->numbers && size > 0; k++) {
        const long double x = ar_number_load(a + k * size, size);
        const long double y = ar_number_load(b + k * size, size);
        const double most = bound(c, magnitudes[k], fminl(fabsl(x), fabsl(y)), nranks);
        anything |= most == INFINITY;
        if (x != y && most != INFINITY && !(fabsl(x - y) <= most)) /* true of NaNs */
            return false;
    }
    /* What stands beside the number of a pair must be equal. */
    return anything || memcmp(a + numbers, b + numbers, c->size - numbers) == 0;
}

size_t
ar_packed_differs(const struct ar_comparison *c, const void *a, const void *b,
                  const double *magnitudes, int nranks, size_t count)
{
    size_t i = 0;
    fenv_t saved;
    feholdexcept(&saved);
    while (i < count && is_alike(c, (const char *)a + i * c->size, (const char *)b + i * c->size,
                                 magnitudes + i * c->numbers, nranks))
        i++;
    fesetenv(&saved);
    return i;
}

/* Of a long double's bytes the processor uses those of mantissa, exponent and sign. */
#define LONG_DOUBLE_BYTES (LDBL_MANT_DIG == 64 ? (size_t)10 : sizeof(long double))

void
ar_packed_clean(const struct ar_comparison *c, void *packed, size_t count)
{
    if (formats_of[c->class] != LONG_FLOAT)
        return;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < c->numbers; k++)
            memset((char *)packed + i * c->size + k * sizeof(long double) + LONG_DOUBLE_BYTES, 0,
                   sizeof(long double) - LONG_DOUBLE_BYTES);
}

char *
ar_packed_print(const struct ar_comparison *c, const void *element, char *text, size_t room)
{
    const enum format format = formats_of[c->class];
    const unsigned char *const bytes = element;
    int32_t narrow;
    int64_t wide;
    if (format != INTEGER && is_complex(c->class)) {
        snprintf(text, room, "(%.21Lg, %.21Lg)", ar_number_load(element, c->number_bytes),
                 ar_number_load((const char *)element + c->number_bytes, c->number_bytes));
    } else if (format != INTEGER) {
        snprintf(text, room, "%.21Lg", ar_number_load(element, c->number_bytes));
    } else if (c->class == AR_I32) {
        memcpy(&narrow, element, sizeof narrow);
        snprintf(text, room, "%" PRId32, narrow);
    } else if (c->class == AR_I64) {
        memcpy(&wide, element, sizeof wide);
        snprintf(text, room, "%" PRId64, wide);
    } else {
        size_t length = (size_t)snprintf(text, room, "0x");
        for (size_t i = 0; i < c->size && length + 6 < room; i++)
            length += (size_t)snprintf(text + length, room - length, "%02x", bytes[i]);
        if (length + 6 >= room)
            snprintf(text + length, room - length, "...");
    }
    return text;
}
