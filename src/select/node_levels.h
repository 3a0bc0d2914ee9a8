/* The text of the parameter levels, and of ALLREDUCE_LEVELS.  Pure.
 *
 *   levels = auto | flat | number { separator number } | { number separator } name { separator name
 * } name   = l3 | numa | socket (each once, in any order)
 *
 * Numbers are of ranks and ascend; before names they cut what shares the innermost of these.  A
 * parameter has + for the separator, since commas part parameters; the variable may have either. */
#ifndef AR_NODE_LEVELS_H
#define AR_NODE_LEVELS_H

#include "algorithms/domains.h"
#include "select/words.h"

#define AR_LEVELS_TEXT 80 /* room for any levels */

/* False, with *levels untouched, if the word is something else. */
bool ar_levels_parse(struct ar_levels *levels, struct ar_word word);

/* Adds what is allowed in place of word, which does not parse: of what it breaks, if that is one
 * rule, else in all, with the name that may be meant. */
void ar_levels_tell(struct ar_text *why, struct ar_word word);

/* As parse reads it, with +. */
void ar_levels_print(struct ar_text *t, const struct ar_levels *levels);

#endif
