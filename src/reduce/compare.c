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

/* What a number can be, as bits. */
enum kind {
    NO_NUMBER = 1,
    INF = 2,
    NEG_INF = 4,
    ZERO = 8,
    NEG_ZERO = 16,
    POSITIVE = 32,
    NEGATIVE = 64
};

#define ANY        127U
#define INFINITIES ((unsigned)(INF | NEG_INF))
#define ZEROS      ((unsigned)(ZERO | NEG_ZERO))

static unsigned
kind_of(long double x)
{
    if (isnan(x))
        return NO_NUMBER;
    const unsigned positive = isinf(x) ? INF : x == 0 ? ZERO : POSITIVE;
    return signbit(x) ? positive << 1 : positive;
}

/* Adds up to what tells how far partial results may be from 1 or 0. */
static double
magnitude(enum ar_op op, long double x)
{
    const bool counts = isfinite(x) && x != 0;
    return !counts ? 0 : op == AR_SUM ? (double)fabsl(x) : op == AR_PROD ? abs(ilogbl(x)) + 1 : 0;
}

/* May a sum or product of numbers with these magnitudes overflow, or a product underflow, in some
 * order?  A partial sum is at most 1 + g times the true sum of magnitudes, and the true sum is at
 * most 1 / (1 - g) times the computed one. */
static bool
may_overflow(const struct ar_comparison *c, double magnitudes, double g)
{
    const struct format_row *format = &formats[formats_of[c->class]];
    return c->op == AR_PROD  ? magnitudes >= format->exponent_max - 2
           : c->op == AR_SUM ? !(magnitudes * (1 + g) / (1 - g) <= format->most)
                             : false;
}

/* How far apart two results of finite numbers may be where nothing overflows.  lesser is the
 * magnitude of the one that is nearer to 0.  A processor that flushes small numbers to zero may do
 * so in each addition. */
static double
bound(const struct ar_comparison *c, double magnitudes, double g, long double lesser, int nranks)
{
    const struct format_row *format = &formats[formats_of[c->class]];
    return c->op == AR_PROD  ? 2 * g / (1 - g) * (double)lesser
           : c->op == AR_SUM ? 2 * g / (1 - g) * magnitudes + 2 * (nranks - 1) * format->least
                             : 0;
}

/* Of finite numbers, some of which may be 0. */
static unsigned
kinds_of_sum(unsigned operands, bool overflows)
{
    const unsigned above = operands & POSITIVE, below = operands & NEGATIVE;
    if (!above && !below) /* an exact sum of zeros is +0 */
        return operands & NEG_ZERO ? ZEROS : ZERO;
    if (!overflows)
        return POSITIVE | NEGATIVE | ZEROS;
    return ZEROS | (above ? POSITIVE | INF : 0U) | (below ? NEGATIVE | NEG_INF : 0U) |
           (above && below ? (unsigned)NO_NUMBER : 0U);
}

/* What the result can be of operands of these kinds, in any order. */
static unsigned
kinds_of_result(enum ar_op op, unsigned operands, bool overflows)
{
    const unsigned infinities = operands & INFINITIES, zeros = operands & ZEROS;
    const unsigned fails = overflows ? NO_NUMBER : 0;
    if (op != AR_SUM && op != AR_PROD)
        return operands; /* beside a NaN, any of them */
    if (operands & NO_NUMBER || (op == AR_PROD ? infinities && zeros : infinities == INFINITIES))
        return NO_NUMBER;
    if (op == AR_SUM)
        return infinities ? infinities | fails : kinds_of_sum(operands, overflows);
    return infinities  ? INFINITIES | fails
           : zeros     ? ZEROS | fails
           : overflows ? ANY
                       : POSITIVE | NEGATIVE;
}

/* --- elements --- */

void
ar_operands_get(const struct ar_comparison *c, struct ar_addends operands, const void *packed,
                size_t count)
{
    const size_t bytes = c->number_bytes;
    fenv_t saved;
    feholdexcept(&saved);
    for (size_t i = 0; i < count * c->numbers; i++) {
        const char *const at =
            (const char *)packed + i / c->numbers * c->size + i % c->numbers * bytes;
        const long double x = bytes > 0 ? ar_number_load(at, bytes) : 0;
        operands.magnitudes[i] = magnitude(c->op, x);
        operands.kinds[i] = (unsigned char)kind_of(x);
    }
    fesetenv(&saved);
}

static bool
are_numbers_alike(const struct ar_comparison *c, long double x, long double y, double magnitudes,
                  unsigned operands, int nranks)
{
    const double k = (nranks - 1) * formats[formats_of[c->class]].roundoff, g = k / (1 - k);
    const bool overflows = k >= 0.25 || may_overflow(c, magnitudes, g);
    const unsigned of_x = kind_of(x), of_y = kind_of(y), both = of_x | of_y;
    if (both & ~kinds_of_result(c->op, operands, overflows))
        return false;
    if (c->op == AR_PROD && !(both & NO_NUMBER) && !signbit(x) != !signbit(y))
        return false;
    return overflows || operands & NO_NUMBER || both == NO_NUMBER || x == y ||
           fabsl(x - y) <= bound(c, magnitudes, g, fminl(fabsl(x), fabsl(y)), nranks);
}

static bool
is_alike(const struct ar_comparison *c, const char *a, const char *b, struct ar_addends operands,
         int nranks)
{
    const size_t size = c->number_bytes, numbers = c->numbers * size;
    const bool is_bounded = c->kind == AR_COMPARE_BOUNDED;
    for (size_t k = 0; k < c->numbers && size > 0; k++) {
        const long double x = ar_number_load(a + k * size, size);
        const long double y = ar_number_load(b + k * size, size);
        if (is_bounded
                ? !are_numbers_alike(c, x, y, operands.magnitudes[k], operands.kinds[k], nranks)
                : x != y)
            return false;
    }
    /* What stands beside the number of a pair must be equal, unless any pair may have won. */
    const bool is_open = operands.kinds[0] & NO_NUMBER || (operands.kinds[0] & ZEROS) == ZEROS;
    return (is_bounded && is_open) || memcmp(a + numbers, b + numbers, c->size - numbers) == 0;
}

size_t
ar_packed_differs(const struct ar_comparison *c, const void *a, const void *b,
                  struct ar_addends operands, int nranks, size_t count)
{
    size_t i = 0;
    fenv_t saved;
    feholdexcept(&saved);
    for (; i < count && is_alike(c, (const char *)a + i * c->size, (const char *)b + i * c->size,
                                 operands, nranks);
         i++) {
        operands.magnitudes += c->numbers;
        operands.kinds += c->numbers;
    }
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
