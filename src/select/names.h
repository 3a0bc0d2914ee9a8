/* From words to an algorithm and its parameters, and back.  Pure. */
#ifndef AR_NAMES_H
#define AR_NAMES_H

#include <stdbool.h>

#include "select/select.h"
#include "select/words.h"

#define AR_INTEL_ID_MAX 12 /* the last id that I_MPI_ADJUST_ALLREDUCE documents */

/* What ends the name of a file that is not in quotes. */
#define AR_PATH_ENDS " \t\n\v\f\r;:,()#\""

/* The registry's row of a name or alias, '-' read as '_'; NULL if there is none. */
const struct ar_algorithm *ar_name_find(struct ar_word word);

/* Resolves a name, an alias, an Intel id, native or auto, with the row's default
 * parameters.  False, with choice untouched and why telling the reason and what
 * is allowed, if word is none of them or an id without a row. */
bool ar_name_resolve(struct ar_choice *choice, struct ar_word word, struct ar_text *why);

/* Choices for which no parameters were named. */
struct ar_choice ar_choice_of(enum ar_choice_kind kind);
struct ar_choice ar_choice_default(const struct ar_algorithm *row);

/* Sets the parameter called name to value in *params, for row.  *seen starts as 0 and remembers
 * which parameters were set.  Returns NULL, or the offending word (in name or value) with the
 * reason and what is allowed in why. */
const char *ar_params_set(struct ar_params *params, unsigned *seen, const struct ar_algorithm *row,
                          struct ar_word name, struct ar_word value, struct ar_text *why);

/* Adds "(name=value,...)" as ar_choice_print promises, or nothing. */
void ar_params_print(struct ar_text *t, const struct ar_params *params,
                     const struct ar_algorithm *row);

/* Adds "name=value,...": what the row takes, with its defaults.  Sizes and windows that go without
 * saying are left out. */
void ar_params_print_defaults(struct ar_text *t, const struct ar_algorithm *row);

#endif
