/* The text of the parameter levels, and of ALLREDUCE_LEVELS.  Pure.
 *
 *   levels = auto | flat | number { separator number }
 *          | { number separator } name { separator name }
 *   name   = l3 | numa | socket (each once, in any order)
 *
 * Numbers count ranks, and ascend; before names they cut the ranks that share the innermost of
 * these.  In a parameter the separator is +, since commas separate parameters; the variable may
 * have either. */
#ifndef AR_NODE_LEVELS_H
#define AR_NODE_LEVELS_H

#include "algorithms/domains.h"
#include "select/words.h"

#define AR_LEVELS_TEXT 80 /* room for any levels */

/* False, with *levels untouched, if the word is something else. */
bool ar_levels_parse(struct ar_levels *levels, struct ar_word word);

/* Adds what is allowed in place of word, which does not parse: what the rule that it breaks allows,
 * if it breaks just one, else all that is allowed, with the name that may be meant. */
void ar_levels_tell(struct ar_text *why, struct ar_word word);

/* As parse reads it, with +. */
void ar_levels_print(struct ar_text *t, const struct ar_levels *levels);

#endif
