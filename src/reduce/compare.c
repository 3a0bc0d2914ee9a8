#include "reduce/compare.h"

#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/named.h"

/* --- what numbers an element holds --- */

enum format { INTEGER, FLOAT32, FLOAT64, LONG_FLOAT };

static enum format format_of(enum ar_class class)
{
    switch (class) {
    case AR_F32:
    case AR_F32_SPLIT:
    case AR_COMPLEX_F32:
    case AR_COMPLEX_F32_SWAPPED:
    case AR_PAIR_F32_INT:
    case AR_PAIR_F32_F32:
        return FLOAT32;
    case AR_F64:
    case AR_F64_SPLIT:
    case AR_COMPLEX_F64:
    case AR_COMPLEX_F64_SWAPPED:
    case AR_PAIR_F64_INT:
    case AR_PAIR_F64_F64:
        return FLOAT64;
    case AR_LONG_DOUBLE:
    case AR_COMPLEX_LONG_DOUBLE:
    case AR_COMPLEX_LONG_DOUBLE_PLAIN:
    case AR_PAIR_LONG_DOUBLE_INT:
        return LONG_FLOAT;
    default:
        return INTEGER;
    }
}

static const struct format_row {
    size_t size;
    double roundoff;
    double least, most; /* normal; magnitudes are doubles, which bounds those of long double */
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

/* MPI_BYTE is no integer: it may hold anything.  An op on integers that is associative, as MPI
 * wants it, gives the same bits in any order. */
static enum ar_comparable
kind_of_users(const struct ar_named *named)
{
    return named && named->geometry.type_class == AR_TYPE_INTEGER ? AR_COMPARE_EXACT
                                                                  : AR_COMPARE_USERS;
}

static enum ar_comparable
kind_of(enum ar_class class, enum ar_op op)
{
    if (class == AR_NO_CLASS || (is_complex(class) && op != AR_SUM))
        return AR_COMPARE_NOTHING;
    return format_of(class) == INTEGER ? AR_COMPARE_EXACT : AR_COMPARE_BOUNDED;
}

void
ar_comparison_init(struct ar_comparison *c, const struct ar_reduction *r)
{
    const struct ar_named *named = ar_named_find(r->type);
    *c = (struct ar_comparison){.class = AR_NO_CLASS, .op = r->which, .size = r->size};
    if (named && named->candidates.n > 0)
        c->class = named->candidates.class[0];
    c->kind = r->which == AR_OPS ? kind_of_users(named) : kind_of(c->class, c->op);
    c->numbers = is_complex(c->class) ? 2 : 1;
}

/* --- numbers --- */

static long double
load(enum format format, const char *at)
{
    float single;
    double twice;
    long double most;
    switch (format) {
    case FLOAT32:
        memcpy(&single, at, sizeof single);
        return single;
    case FLOAT64:
        memcpy(&twice, at, sizeof twice);
        return twice;
    default:
        memcpy(&most, at, sizeof most);
        return most;
    }
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

/* A processor that flushes what is below the least normal number to 0 may do so in each addition.
 * A partial sum is at most 1 + g times the true sum of magnitudes, and that at most 1 / (1 - g)
 * times the one at hand: up to the format's greatest number no order overflows. */
static double
bound_of_sum(const struct format_row *format, double magnitudes, double g, int nranks)
{
    if (magnitudes * (1 + g) / (1 - g) > format->most)
        return INFINITY;
    return 2 * g / (1 - g) * magnitudes + 2 * (nranks - 1) * format->least;
}

/* How far two results may be apart, of which a is one. */
static double
bound(const struct ar_comparison *c, double magnitudes, long double a, int nranks)
{
    const struct format_row *format = &formats[format_of(c->class)];
    const double k = (nranks - 1) * format->roundoff, g = k / (1 - k);
    if (!isfinite(magnitudes) || k >= 0.25)
        return INFINITY;
    if (c->op == AR_SUM)
        return bound_of_sum(format, magnitudes, g, nranks);
    if (c->op == AR_PROD)
        return magnitudes < format->exponent_max - 2 ? 2 * g / (1 - g) * (double)fabsl(a)
                                                     : INFINITY;
    return 0;
}

static bool
is_within(long double a, long double b, double most)
{
    return a == b || most == INFINITY || fabsl(a - b) <= most;
}

/* --- elements --- */

void
ar_magnitudes_get(const struct ar_comparison *c, double *magnitudes, const void *packed,
                  size_t count)
{
    const enum format format = format_of(c->class);
    fenv_t users;
    feholdexcept(&users);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < c->numbers; k++)
            *magnitudes++ = magnitude(
                c->op, load(format, (const char *)packed + i * c->size + k * formats[format].size));
    fesetenv(&users);
}

/* What stands beside the number of a pair must be equal. */
static bool
same_rest(const struct ar_comparison *c, const char *a, const char *b)
{
    const size_t numbers = c->numbers * formats[format_of(c->class)].size;
    return memcmp(a + numbers, b + numbers, c->size - numbers) == 0;
}

static bool
is_alike(const struct ar_comparison *c, const char *a, const char *b, const double *magnitudes,
         int nranks)
{
    const enum format format = format_of(c->class);
    bool anything = false;
    for (size_t k = 0; k < c->numbers; k++) {
        const long double x = load(format, a + k * formats[format].size);
        const long double y = load(format, b + k * formats[format].size);
        const double most = bound(c, magnitudes[k], x, nranks);
        anything |= most == INFINITY;
        if (!is_within(x, y, most))
            return false;
    }
    return anything || same_rest(c, a, b);
}

size_t
ar_packed_differs(const struct ar_comparison *c, const void *a, const void *b,
                  const double *magnitudes, int nranks, size_t count)
{
    size_t i = 0;
    fenv_t users;
    feholdexcept(&users);
    while (i < count && is_alike(c, (const char *)a + i * c->size, (const char *)b + i * c->size,
                                 magnitudes + i * c->numbers, nranks))
        i++;
    fesetenv(&users);
    return i;
}

/* Of a long double's bytes the processor uses those of mantissa, exponent and sign. */
#define LONG_DOUBLE_BYTES (LDBL_MANT_DIG == 64 ? (size_t)10 : sizeof(long double))

void
ar_packed_clean(const struct ar_comparison *c, void *packed, size_t count)
{
    const size_t numbers = is_complex(c->class) ? 2 : 1;
    if (format_of(c->class) != LONG_FLOAT)
        return;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < numbers; k++)
            memset((char *)packed + i * c->size + k * sizeof(long double) + LONG_DOUBLE_BYTES, 0,
                   sizeof(long double) - LONG_DOUBLE_BYTES);
}

static long long
load_integer(size_t size, const void *at)
{
    int32_t narrow;
    int64_t wide;
    if (size == sizeof narrow) {
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, at, sizeof wide);
    return wide;
}

static void
print_bytes(const struct ar_comparison *c, const unsigned char *element, char *text, size_t room)
{
    size_t length = (size_t)snprintf(text, room, "0x");
    for (size_t i = 0; i < c->size && length + 6 < room; i++)
        length += (size_t)snprintf(text + length, room - length, "%02x", element[i]);
    if (length + 6 >= room)
        snprintf(text + length, room - length, "...");
}

char *
ar_packed_print(const struct ar_comparison *c, const void *element, char *text, size_t room)
{
    const enum format format = format_of(c->class);
    if (format != INTEGER && is_complex(c->class))
        snprintf(text, room, "(%.21Lg, %.21Lg)", load(format, element),
                 load(format, (const char *)element + formats[format].size));
    else if (format != INTEGER)
        snprintf(text, room, "%.21Lg", load(format, element));
    else if (c->class == AR_I32 || c->class == AR_I64)
        snprintf(text, room, "%lld", load_integer(c->size, element));
    else
        print_bytes(c, element, text, room);
    return text;
}
