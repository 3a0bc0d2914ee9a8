/* Exact sums of floating-point numbers, by sums of integers.
 *
 * A finite number is an integer times a power of two.  Given the highest and the lowest bit that
 * any of p ranks' numbers has (a window), each number becomes a few words of so many bits that p
 * of them add up without overflow; the words of all ranks are summed one by one, by any allreduce
 * of 64-bit integers in any order; and the sum of the numbers is read from them, rounded
 * once to the nearest, ties to even.  So the result depends on nothing but the numbers: it is the
 * correctly rounded sum.  The idea is Kulisch's long accumulator, cut to the bits in use.
 *
 * A sum that is zero is +0.  With an infinity among the numbers the sum is that infinity;
 * with both, or a NaN, it is a NaN, always the same.  No floating-point
 * instruction is used: neither rounding mode nor flushing of small numbers changes anything.
 */
#ifndef AR_EXACT_H
#define AR_EXACT_H

#include <stddef.h>
#include <stdint.h>

enum ar_exact_format { AR_EXACT_FLOAT, AR_EXACT_DOUBLE, AR_EXACT_FORMATS };

/* What the numbers of a block occupy.  Three int32_t: the ranks' windows are joined by the
 * maximum of each. */
struct ar_window {
    int32_t top;     /* all numbers are below 2^top; AR_WINDOW_EMPTY: all are zero */
    int32_t bottom;  /* and multiples of 2^-bottom; the same */
    int32_t special; /* 1: there is an infinity or NaN; else 0 */
};
#define AR_WINDOW_EMPTY   INT32_MIN
#define AR_WINDOW_NUMBERS 3

/* The most ranks whose words add up. */
#define AR_EXACT_RANKS_MAX (1 << 20)

/* The window of count numbers, anywhere in memory. */
struct ar_window ar_window_of(enum ar_exact_format format, const void *numbers, size_t count);

/* The window of all numbers there are. */
struct ar_window ar_window_whole(enum ar_exact_format format);

/* Words that a number takes in a (joined) window; 0 where all are zero. */
size_t ar_exact_words(struct ar_window window, int nranks);

/* words[k * count + i] is word k of numbers[i]. */
void ar_exact_encode(enum ar_exact_format format, int64_t *words, const void *numbers, size_t count,
                     struct ar_window window, int nranks);

/* The numbers of the summed words, which are overwritten. */
void ar_exact_decode(enum ar_exact_format format, void *numbers, int64_t *words, size_t count,
                     struct ar_window window, int nranks);

#endif
