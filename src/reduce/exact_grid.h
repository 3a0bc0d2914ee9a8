/* Exact sums where all numbers of a block fit a few words of evenly spaced parts: then the
 * floating-point unit cuts numbers and puts sums together, and vector instructions do it.
 *
 * Adding 1.5 2^52 u to a double below 2^51 u rounds it to a multiple of u, and leaves that multiple
 * in the low bits of the sum; subtracting again gives the part as a double, and
 * what remains of the number is exact (Dekker's splitting, as in the pre-rounding of
 * Demmel and Nguyen, "Fast Reproducible Floating-Point Summation", ARITH 21, 2013).  The way back
 * is the same: a part's integer, added to the bits of 1.5 2^52 u.
 */
#ifndef AR_EXACT_GRID_H
#define AR_EXACT_GRID_H

#include <stdbool.h>

#include "reduce/exact.h"
#include "reduce/isa.h"

#define AR_EXACT_PARTS 3

/* Number = sum of part[k] u[k], part 0 the lowest. */
struct ar_exact_grid {
    int words;                    /* of a number; 0: the block does not fit */
    int parts;                    /* as many as words, or two in one word */
    int bits;                     /* u[k + 1] is 2^bits u[k] */
    double magic[AR_EXACT_PARTS]; /* 1.5 2^52 u[k] */
};

/* The grid for a window, if any: words tells. */
struct ar_exact_grid ar_exact_grid_of(struct ar_window window, int nranks);

/* What numbers occupy, by their magnitude as bits, of the numbers' own format: of the largest, and
 * of the smallest among their lowest bits; most is 0 and least greater than any where all are 0. */
struct ar_extent {
    uint64_t most, least;
};

/* special if the largest is no number; whether all else that it says holds is open then. */
struct ar_window ar_extent_window(enum ar_exact_format format, struct ar_extent extent);

/* Numbers lie anywhere in memory; rounding must be to nearest and nothing flushed to 0. */
struct ar_exact_kernels {
    struct ar_extent (*measure)(const void *numbers, size_t count);
    void (*encode)(int64_t *words, const void *numbers, size_t count,
                   const struct ar_exact_grid *grid);
    void (*decode)(void *numbers, const int64_t *words, size_t count,
                   const struct ar_exact_grid *grid);
};

extern const struct ar_exact_kernels ar_exact_kernels_base[AR_EXACT_FORMATS];
extern const struct ar_exact_kernels ar_exact_kernels_avx2[AR_EXACT_FORMATS];
extern const struct ar_exact_kernels ar_exact_kernels_avx512[AR_EXACT_FORMATS];

const struct ar_exact_kernels *ar_exact_kernels_get(enum ar_isa isa, enum ar_exact_format format);

#endif
