/* Kernels of exact_ways.h for one instruction set: AR_TABLE, compiled under AR_TARGET.
 * Loops that compilers make vectors of: no branch, and integers of the numbers' own size. */
#include <string.h>

#include "reduce/exact_ways.h"

#define INLINE static inline AR_TARGET __attribute__((always_inline))

INLINE int64_t
bits_of(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE double
number_of(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* --- measure --- */

/* The lowest bit of x is x less rest, which is x without that bit, or 0 if it is the implicit one.
 */
#define MEASURE(name, T, I, mantissa, sign)                                                        \
    static AR_TARGET struct ar_extent name(const void *numbers, size_t count)                      \
    {                                                                                              \
        const AR_ELEMENT(I) *const all = numbers;                                                  \
        const I none = (I) ~(sign);                                                                \
        I most = 0, least = none;                                                                  \
        for (size_t i = 0; i < count; i++) {                                                       \
            const I x = all[i] & (I) ~(sign);                                                      \
            const I rest = x & (mantissa) ? x & (x - 1) : 0;                                       \
            T a, b;                                                                                \
            I low;                                                                                 \
            memcpy(&a, &x, sizeof a);                                                              \
            memcpy(&b, &rest, sizeof b);                                                           \
            a -= b;                                                                                \
            memcpy(&low, &a, sizeof low);                                                          \
            low |= x ? 0 : none; /* low is 0 there */                                              \
            most = x > most ? x : most;                                                            \
            least = low < least ? low : least;                                                     \
        }                                                                                          \
        return (struct ar_extent){(uint64_t)most, (uint64_t)least};                                \
    }

MEASURE(measure_double, double, int64_t, INT64_C(0xfffffffffffff), INT64_MIN)
MEASURE(measure_float, float, int32_t, INT32_C(0x7fffff), INT32_MIN)

/* --- encode --- */

/* Takes from rest the multiple of the part's unit that is nearest. */
INLINE int64_t
cut(double *rest, double magic)
{
    const double sum = *rest + magic;
    *rest -= sum - magic;
    return bits_of(sum) - bits_of(magic);
}

INLINE void
encode_one(int64_t *words, size_t count, double number, const struct ar_exact_grid *grid,
           int nwords, int nparts)
{
    if (nparts == 3)
        words[2 * count] = cut(&number, grid->magic[2]);
    const int64_t high = cut(&number, grid->magic[1]);
    const int64_t low = cut(&number, grid->magic[0]);
    words[0] = nwords == 1 ? low + (int64_t)((uint64_t)high << grid->bits) : low;
    if (nwords > 1)
        words[count] = high;
}

/* --- decode --- */

INLINE double
part_of(int64_t integer, double magic)
{
    return number_of(bits_of(magic) + integer) - magic;
}

/* a + b = *sum + the value. */
INLINE double
add_exactly(double *sum, double a, double b)
{
    const double s = a + b, c = s - a;
    *sum = s;
    return (a - (s - c)) + (b - c);
}

/* a + b rounded to odd: where it is not exact, the neighbour with an odd mantissa.  Rounding that
 * to fewer bits, by two at least, is rounding a + b once. */
INLINE double
add_to_odd(double a, double b)
{
    double sum;
    const double error = add_exactly(&sum, a, b);
    const int64_t bits = bits_of(sum);
    const int64_t away = 1 - 2 * (int64_t)((uint64_t)(bits ^ bits_of(error)) >> 63);
    return number_of(error != 0 && !(bits & 1) ? bits + away : bits);
}

/* Boldo and Melquiond, "Emulation of a FMA and Correctly Rounded Sums", IEEE Trans. Comput. 57(4),
 * 2008: the sum of three, rounded once. */
INLINE double
add_three(double a, double b, double c)
{
    double low, high;
    const double lowest = add_exactly(&low, b, c), middle = add_exactly(&high, a, low);
    return high + add_to_odd(middle, lowest);
}

/* What a word carries to the next one: word - carry 2^bits is in [-2^(bits - 1), 2^(bits - 1)). */
INLINE int64_t
carry_of(int64_t word, int bits)
{
    const uint64_t bias = UINT64_C(1) << 63, half = UINT64_C(1) << (bits - 1);
    return (int64_t)(((uint64_t)word + bias + half) >> bits) - (int64_t)(bias >> bits);
}

/* The sum as one double: rounded to odd where it is to be rounded once more, to a float. */
INLINE double
decode_one(const int64_t *words, size_t count, const struct ar_exact_grid *grid, int nwords,
           int nparts, bool to_odd)
{
    const int64_t carry = carry_of(words[0], grid->bits);
    const int64_t low = words[0] - (int64_t)((uint64_t)carry << grid->bits);
    int64_t high = carry + (nwords > 1 ? words[count] : 0);
    double a = 0;
    if (nparts == 3) {
        const int64_t over = carry_of(high, grid->bits);
        high -= (int64_t)((uint64_t)over << grid->bits);
        a = part_of(words[2 * count] + over, grid->magic[2]);
    }
    const double b = part_of(high, grid->magic[1]), c = part_of(low, grid->magic[0]);
    if (nparts == 3)
        return to_odd ? add_to_odd(a, add_to_odd(b, c)) : add_three(a, b, c);
    return to_odd ? add_to_odd(b, c) : b + c;
}

/* --- by words and parts --- */

#define CODE(name, T, to_odd, nwords, nparts)                                                      \
    static AR_TARGET void encode_##name##_##nwords(int64_t *words, const void *numbers,            \
                                                   size_t count, const struct ar_exact_grid *grid) \
    {                                                                                              \
        const AR_ELEMENT(T) *const all = numbers;                                                  \
        const struct ar_exact_grid g = *grid;                                                      \
        AR_LOOP for (size_t i = 0; i < count; i++)                                                 \
            encode_one(words + i, count, all[i], &g, nwords, nparts);                              \
    }                                                                                              \
    static AR_TARGET void decode_##name##_##nwords(void *numbers, const int64_t *words,            \
                                                   size_t count, const struct ar_exact_grid *grid) \
    {                                                                                              \
        AR_ELEMENT(T) *const all = numbers;                                                        \
        const struct ar_exact_grid g = *grid;                                                      \
        AR_LOOP for (size_t i = 0; i < count; i++) all[i] =                                        \
            (T)decode_one(words + i, count, &g, nwords, nparts, to_odd);                           \
    }

#define CODES(name, T, to_odd)                                                                     \
    CODE(name, T, to_odd, 1, 2)                                                                    \
    CODE(name, T, to_odd, 2, 2)                                                                    \
    CODE(name, T, to_odd, 3, 3)

CODES(float, float, true)
CODES(double, double, false)

const struct ar_exact_kernels AR_TABLE[AR_EXACT_FORMATS] = {
    [AR_EXACT_FLOAT] = {measure_float,
                        {encode_float_1, encode_float_2, encode_float_3},
                        {decode_float_1, decode_float_2, decode_float_3}},
    [AR_EXACT_DOUBLE] = {measure_double,
                         {encode_double_1, encode_double_2, encode_double_3},
                         {decode_double_1, decode_double_2, decode_double_3}},
};
