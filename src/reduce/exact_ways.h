/* The two ways of exact sums.
 *
 * Where all numbers of a block fit a few words of evenly spaced parts, the floating-point unit cuts
 * numbers and puts sums together, and vector instructions do it.  Adding 1.5 2^52 u to a double
 * below 2^51 u rounds it to a multiple of u, and leaves that multiple in the low bits of the sum.
 * Subtracting again gives the part as a double, and what remains of the number is exact (Dekker's
 * splitting, as in the pre-rounding of Demmel and Nguyen, "Fast Reproducible Floating-Point
 * Summation", ARITH 21, 2013).  The way back is the same: a part's integer is added to the bits of
 * 1.5 2^52 u.
 *
 * In any other window, and with special values, integer instructions cut each number into digits,
 * as many words as the window takes.
 */
#ifndef AR_EXACT_WAYS_H
#define AR_EXACT_WAYS_H

#include <stdbool.h>

#include "reduce/exact.h"
#include "reduce/isa.h"

/* --- the grid --- */

#define AR_EXACT_PARTS 3

/* Number = sum of part[k] u[k], part 0 the lowest. */
struct ar_exact_grid {
    int words;                    /* of a number; 0: the block does not fit */
    int parts;                    /* as many as words, or two in one word */
    int bits;                     /* u[k + 1] is 2^bits u[k] */
    double magic[AR_EXACT_PARTS]; /* 1.5 2^52 u[k] */
};

/* The grid for a window; words is 0 where there is none. */
struct ar_exact_grid ar_exact_grid_of(struct ar_window window, int nranks);

/* The range of some numbers: the largest magnitude, and the smallest power of two among the
 * numbers' lowest bits, both as bits of the numbers' own format.  If all numbers are 0, most is 0
 * and least exceeds that of any number. */
struct ar_extent {
    uint64_t most, least;
};

/* The window of such numbers.  Where the largest is an infinity or NaN only special is right. */
struct ar_window ar_extent_window(enum ar_exact_format format, struct ar_extent extent);

/* Numbers may lie anywhere in memory.  The processor must round to nearest and flush nothing to 0.
 * encode and decode have a function for each number of words, from 1 on. */
struct ar_exact_kernels {
    struct ar_extent (*measure)(const void *numbers, size_t count);
    void (*encode[AR_EXACT_PARTS])(int64_t *words, const void *numbers, size_t count,
                                   const struct ar_exact_grid *grid);
    void (*decode[AR_EXACT_PARTS])(void *numbers, const int64_t *words, size_t count,
                                   const struct ar_exact_grid *grid);
};

extern const struct ar_exact_kernels ar_exact_kernels_base[AR_EXACT_FORMATS];
extern const struct ar_exact_kernels ar_exact_kernels_avx2[AR_EXACT_FORMATS];
extern const struct ar_exact_kernels ar_exact_kernels_avx512[AR_EXACT_FORMATS];

const struct ar_exact_kernels *ar_exact_kernels_get(enum ar_isa isa, enum ar_exact_format format);

/* --- digits --- */

/* Bits of a word, so that nranks of them, of either sign, stay below 2^63. */
int ar_digits_bits(int nranks);

/* As those of exact.h. */
struct ar_window ar_digits_window(enum ar_exact_format format, const void *numbers, size_t count);
size_t ar_digits_words(struct ar_window window, int nranks);
void ar_digits_encode(enum ar_exact_format format, int64_t *words, const void *numbers,
                      size_t count, struct ar_window window, int nranks);
void ar_digits_decode(enum ar_exact_format format, void *numbers, int64_t *words, size_t count,
                      struct ar_window window, int nranks);

#endif
