/* The parameters in parentheses: one table for parser and printer.  Pure. */
#ifndef AR_PARAMS_H
#define AR_PARAMS_H

#include "select/select.h"
#include "select/words.h"

/* Sets the parameter called name to value in *params, for row.  *seen starts as
 * 0 and remembers which parameters were set.  Returns NULL, or the offending
 * word (in name or value) with the reason and what is allowed in why. */
const char *ar_params_set(struct ar_params *params, unsigned *seen, const struct ar_algorithm *row,
                          struct ar_word name, struct ar_word value, struct ar_text *why);

/* Adds "(name=value,...)" as ar_choice_print promises, or nothing. */
void ar_params_print(struct ar_text *t, const struct ar_params *params,
                     const struct ar_algorithm *row);

#endif
