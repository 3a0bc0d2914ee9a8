/* Exact sums in any window, special values included: integer instructions cut each number into
 * digits, as many words as the window takes. */
#ifndef AR_EXACT_DIGITS_H
#define AR_EXACT_DIGITS_H

#include "reduce/exact.h"

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
