/* NOLINT below, since clang's analyzer takes 128-bit integers for shorter ones. */
#include "reduce/exact_ways.h"

#include <stdbool.h>
#include <string.h>

/* --- floating-point numbers as bits --- */

struct layout {
    int mantissa_bits; /* stored ones */
    int exponent_bits;
    int lowest; /* exponent of the least bit of all */
};

static inline struct layout
layout_of(enum ar_exact_format format)
{
    return format == AR_EXACT_FLOAT ? (struct layout){23, 8, -149} : (struct layout){52, 11, -1074};
}

static inline uint64_t
load(enum ar_exact_format format, const void *numbers, size_t i)
{
    uint32_t narrow;
    uint64_t wide;
    if (format == AR_EXACT_FLOAT) {
        memcpy(&narrow, (const char *)numbers + i * sizeof narrow, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, (const char *)numbers + i * sizeof wide, sizeof wide);
    return wide;
}

static inline void
store(enum ar_exact_format format, void *numbers, size_t i, uint64_t bits)
{
    const uint32_t narrow = (uint32_t)bits;
    if (format == AR_EXACT_FLOAT)
        memcpy((char *)numbers + i * sizeof narrow, &narrow, sizeof narrow);
    else
        memcpy((char *)numbers + i * sizeof bits, &bits, sizeof bits);
}

/* (-1)^negative mantissa 2^exponent. */
struct parts {
    uint64_t mantissa;
    int exponent;
    bool negative, special; /* special: an infinity where the mantissa is 0, else NaN */
};

static inline struct parts
split(struct layout l, uint64_t bits)
{
    const uint64_t implicit = UINT64_C(1) << l.mantissa_bits, stored = bits & (implicit - 1);
    const int biased = (int)(bits >> l.mantissa_bits) & ((1 << l.exponent_bits) - 1);
    return (struct parts){
        .mantissa = biased > 0 && biased < (1 << l.exponent_bits) - 1 ? stored | implicit : stored,
        .exponent = l.lowest + (biased > 0 ? biased - 1 : 0),
        .negative = bits >> (l.mantissa_bits + l.exponent_bits),
        .special = biased == (1 << l.exponent_bits) - 1,
    };
}

static inline uint64_t
infinity(struct layout l)
{
    return ((UINT64_C(1) << l.exponent_bits) - 1) << l.mantissa_bits;
}

static inline int
width(unsigned __int128 x)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
    const uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* --- windows --- */

static inline struct ar_window
window_of(enum ar_exact_format format, const void *numbers, size_t count)
{
    const struct layout l = layout_of(format);
    struct ar_window w = {AR_WINDOW_EMPTY, AR_WINDOW_EMPTY, 0};
    for (size_t i = 0; i < count; i++) {
        const struct parts x = split(l, load(format, numbers, i));
        w.special |= x.special;
        if (x.special || x.mantissa == 0)
            continue;
        const int top = x.exponent + width(x.mantissa);
        const int bottom = -(x.exponent + __builtin_ctzll(x.mantissa));
        w.top = top > w.top ? top : w.top;
        w.bottom = bottom > w.bottom ? bottom : w.bottom;
    }
    return w;
}

struct ar_window
ar_digits_window(enum ar_exact_format format, const void *numbers, size_t count)
{
    return format == AR_EXACT_FLOAT ? window_of(AR_EXACT_FLOAT, numbers, count)
                                    : window_of(AR_EXACT_DOUBLE, numbers, count);
}

struct ar_window
ar_window_whole(enum ar_exact_format format)
{
    const struct layout l = layout_of(format);
    return (struct ar_window){l.lowest + (1 << l.exponent_bits) - 2 + l.mantissa_bits, -l.lowest,
                              1};
}

int
ar_digits_bits(int nranks)
{
    return 63 - width((unsigned)nranks);
}

/* Words for the digits alone. */
static size_t
digits_of(struct ar_window w, int nranks)
{
    const int bits = ar_digits_bits(nranks);
    return w.top == AR_WINDOW_EMPTY ? 0 : (size_t)((w.top + w.bottom + bits - 1) / bits);
}

size_t
ar_digits_words(struct ar_window window, int nranks)
{
    return digits_of(window, nranks) + (window.special != 0);
}

/* --- to words --- */

/* The last word counts infinities of either sign and NaN, where there are any. */
#define COUNT_BITS 21
enum special { POSITIVE, NEGATIVE, NOT_A_NUMBER };

/* n / bits is n * reciprocal >> RECIPROCAL_BITS, for all n below 2^12. */
#define RECIPROCAL_BITS 24

/* Sets the digits of a finite number in words that are count apart. */
static inline void
put_digits(int64_t *words, size_t count, struct parts x, int bottom, int bits, uint32_t reciprocal)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    const int drop = __builtin_ctzll(x.mantissa);
    const uint32_t place = (uint32_t)(x.exponent + drop + bottom);
    const uint32_t k = place * reciprocal >> RECIPROCAL_BITS;
    unsigned __int128 rest = (unsigned __int128)(x.mantissa >> drop)
                             << (place - k * (uint32_t)bits);
    for (int64_t *word = words + k * count; rest; word += count) {
        const int64_t digit = (int64_t)((uint64_t)rest & mask);
        *word = x.negative ? -digit : digit;
        rest >>= bits;
    }
}

static inline void
encode(enum ar_exact_format format, int64_t *words, const void *numbers, size_t count,
       struct ar_window window, int nranks)
{
    const struct layout l = layout_of(format);
    const size_t digits = digits_of(window, nranks);
    const int bits = ar_digits_bits(nranks);
    const uint32_t reciprocal =
        ((UINT32_C(1) << RECIPROCAL_BITS) + (uint32_t)bits - 1) / (uint32_t)bits;
    memset(words, 0, digits * count * sizeof *words);
    for (size_t i = 0; i < count; i++) {
        const struct parts x = split(l, load(format, numbers, i));
        const enum special which = x.mantissa ? NOT_A_NUMBER : x.negative ? NEGATIVE : POSITIVE;
        if (window.special)
            words[digits * count + i] = x.special ? INT64_C(1) << (COUNT_BITS * which) : 0;
        if (!x.special && x.mantissa)
            put_digits(words + i, count, x, window.bottom, bits, reciprocal);
    }
}

void
ar_digits_encode(enum ar_exact_format format, int64_t *words, const void *numbers, size_t count,
                 struct ar_window window, int nranks)
{
    if (format == AR_EXACT_FLOAT)
        encode(AR_EXACT_FLOAT, words, numbers, count, window, nranks);
    else
        encode(AR_EXACT_DOUBLE, words, numbers, count, window, nranks);
}

/* --- from words --- */

/* Makes all digits non-negative; returns what is carried out of the highest. */
static inline int64_t
carry(int64_t *words, size_t count, size_t digits, int bits)
{
    const int64_t mask = (INT64_C(1) << bits) - 1;
    int64_t over = 0;
    for (size_t k = 0; k < digits; k++) {
        const int64_t sum = words[k * count] + over;
        words[k * count] = sum & mask;
        over = sum >> bits; /* towards minus infinity */
    }
    return over;
}

/* Rounds mantissa 2^exponent, and a little more if sticky, to the nearest, ties to even.  The
 * exponent is not less than the lowest. */
static inline uint64_t
round_to(struct layout l, unsigned __int128 mantissa, int exponent, bool sticky)
{
    const int drop = width(mantissa) - (l.mantissa_bits + 1);
    uint64_t kept = (uint64_t)mantissa;
    if (drop > 0) {
        const unsigned __int128 one = 1, half = one << (drop - 1);
        const unsigned __int128 rest = mantissa & ((one << drop) - 1);
        kept = (uint64_t)(mantissa >> drop);
        exponent += drop;
        kept += rest > half || (rest == half && (sticky || (kept & 1)));
    }
    const int top = exponent + width(kept); /* the number is below 2^top */
    const int biased = top - l.mantissa_bits - l.lowest;
    if (biased <= 0) /* below the normal numbers; exact */
        return kept << (exponent - l.lowest);
    if (biased >= (1 << l.exponent_bits) - 1)
        return infinity(l);
    const int shift = l.mantissa_bits + 1 - width(kept);
    const uint64_t stored = shift >= 0 ? kept << shift : kept >> -shift; /* what falls is 0 */
    return ((uint64_t)biased << l.mantissa_bits) |
           (stored & ((UINT64_C(1) << l.mantissa_bits) - 1));
}

/* Enough of a mantissa to round it, given whether anything is below. */
#define ENOUGH_BITS 64

static inline uint64_t
read_number(struct layout l, int64_t *words, size_t count, size_t digits, struct ar_window window,
            int bits)
{
    int64_t over = carry(words, count, digits, bits);
    const bool negative = over < 0;
    const uint64_t sign = (uint64_t)negative << (l.mantissa_bits + l.exponent_bits);
    if (negative) {
        /* The highest digit was -1 or so: what is below it takes part in the negation. */
        for (size_t k = 0; k < digits; k++)
            words[k * count] = -words[k * count];
        over = carry(words, count, digits, bits) - over;
    }
    unsigned __int128 mantissa = (uint64_t)over;
    bool sticky = false;
    size_t k = digits;
    while (k > 0 && width(mantissa) < ENOUGH_BITS)
        mantissa = mantissa << bits | (uint64_t)words[--k * count];
    if (mantissa == 0) /* also if all are infinities or NaN: the window has no bottom then */
        return sign;
    const int exponent = (int)k * bits - window.bottom;
    while (k > 0 && !sticky)
        sticky = words[--k * count] != 0;
    return sign | round_to(l, mantissa, exponent, sticky);
}

/* The bits of a sum with so many infinities and NaN. */
static inline uint64_t
special_sum(struct layout l, int64_t counts)
{
    const uint64_t mask = (UINT64_C(1) << COUNT_BITS) - 1, all = (uint64_t)counts;
    const bool positive = all & mask, negative = all >> COUNT_BITS & mask;
    if (all >> (COUNT_BITS * NOT_A_NUMBER) || (positive && negative))
        return infinity(l) | UINT64_C(1) << (l.mantissa_bits - 1);
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
    return (uint64_t)negative << (l.mantissa_bits + l.exponent_bits) | infinity(l);
}

static inline void
decode(enum ar_exact_format format, void *numbers, int64_t *words, size_t count,
       struct ar_window window, int nranks)
{
    const struct layout l = layout_of(format);
    const size_t digits = digits_of(window, nranks);
    const int bits = ar_digits_bits(nranks);
    for (size_t i = 0; i < count; i++) {
        const int64_t counts = window.special ? words[digits * count + i] : 0;
        store(format, numbers, i,
              counts ? special_sum(l, counts)
                     : read_number(l, words + i, count, digits, window, bits));
    }
}

void
ar_digits_decode(enum ar_exact_format format, void *numbers, int64_t *words, size_t count,
                 struct ar_window window, int nranks)
{
    if (format == AR_EXACT_FLOAT)
        decode(AR_EXACT_FLOAT, numbers, words, count, window, nranks);
    else
        decode(AR_EXACT_DOUBLE, numbers, words, count, window, nranks);
}
