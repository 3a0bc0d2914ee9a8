/* Exact sums of floating-point numbers, by sums of integers.
 *
 * A finite number is an integer times a power of two.  First the ranks agree on a window: the
 * highest and the lowest bit that any of their numbers has.  Then each number becomes a few integer
 * words, of so few bits each that the words of all ranks add up without overflow.  Any allreduce of
 * 64-bit integers adds them, in any order.  At last the sum is read from the words and rounded
 * once, to the nearest, ties to even.  The result is the correctly rounded sum, and depends on
 * nothing but the numbers.  The idea is Kulisch's long accumulator, cut to the bits in use.
 *
 * A sum that is zero is +0.  With an infinity among the numbers the sum is that infinity; with
 * both, or a NaN, it is a NaN, always the same.  Neither the program's rounding mode nor its
 * flushing of small numbers changes anything.
 */
#ifndef AR_EXACT_H
#define AR_EXACT_H

#include <stddef.h>
#include <stdint.h>

enum ar_exact_format { AR_EXACT_FLOAT, AR_EXACT_DOUBLE, AR_EXACT_FORMATS };

/* The bits that the numbers of a block occupy.  The ranks' windows are joined by the maximum of
 * each of the three int32_t. */
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

/* The window that holds every number of the format. */
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
