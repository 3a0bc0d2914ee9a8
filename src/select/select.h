/* Selection: from a text of the user's to the algorithm of a call.  Pure.
 *
 *   text       = clause { ';' clause }
 *   clause     = algorithm [ '(' name '=' value { ',' name '=' value } ')' ] [ ':' conditions ]
 *   conditions = condition { ',' condition }
 *   condition  = size | size '-' size, each with an optional '@' ranks | '@' ranks '-' ranks
 *   algorithm  = a name or alias of the registry | an Intel id 0..12 | native | auto
 *   size       = digits [ K | M | G ] (powers of 1024, bytes) | inf
 *
 * Bounds are inclusive, the first clause that matches wins, a clause without
 * conditions matches all.  Blanks around tokens are ignored, case too.
 */
#ifndef AR_SELECT_H
#define AR_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/registry.h"

#define AR_PROBLEM_TEXT 512

/* Why a text was refused: column is 1-based, line too (1 for ALLREDUCE_ALGO). */
struct ar_problem {
    int line;
    int column;
    char text[AR_PROBLEM_TEXT]; /* what is wrong and what is allowed, one line */
};

enum ar_choice_kind { AR_CHOICE_NATIVE, AR_CHOICE_AUTO, AR_CHOICE_ALGORITHM };

/* An algorithm with its parameters resolved (the row's defaults filled in). */
struct ar_choice {
    enum ar_choice_kind kind;
    const struct ar_algorithm *algorithm; /* NULL unless AR_CHOICE_ALGORITHM */
    struct ar_params params;
};

struct ar_rules; /* a parsed text */

/* Parses text as in ALLREDUCE_ALGO.  On success *rules is the caller's to
 * destroy.  AR_ERR_SYNTAX with *problem filled, AR_ERR_MEMORY. An empty or
 * blank text gives rules without clauses. */
int ar_rules_parse(struct ar_rules **rules, const char *text, struct ar_problem *problem);

/* The same for a rules file's text: clauses one a line (or ';'), # comments. */
int ar_rules_parse_lines(struct ar_rules **rules, const char *text, struct ar_problem *problem);

void ar_rules_destroy(struct ar_rules *rules);

/* The first clause that matches a message of bytes on nranks ranks, or NULL.
 * *clause, if not NULL, gets its number from 0. Borrowed from rules. */
const struct ar_choice *ar_rules_match(const struct ar_rules *rules, size_t bytes, int nranks,
                                       size_t *clause);

size_t ar_rules_count(const struct ar_rules *rules);

/* Which rows auto may pick: a comma-separated list of names, aliases or ids;
 * "" allows all.  allowed[i] belongs to ar_algorithm_at(i); room for
 * ar_algorithm_count() entries.  AR_ERR_SYNTAX with *problem filled. */
int ar_algo_list_parse(bool *allowed, const char *text, struct ar_problem *problem);

/* What auto runs for a message of bytes on nranks ranks: the first clause of the
 * built-in rules (ar_auto_rules_text, measured: see doc/performance.md) whose
 * algorithm is allowed (allowed NULL: all) and, if the op does not commute, keeps
 * the order.  Native where none is.  AR_OK or AR_ERR_MEMORY. */
int ar_auto_choose(struct ar_choice *choice, size_t bytes, int nranks, bool commutative,
                   const bool *allowed);

/* The built-in rules in the same grammar. */
const char *ar_auto_rules_text(void);

/* "segmented_ring(segment=64K,window=4)": the choice with the parameters that
 * its row takes, as the grammar reads it.  Returns text. */
char *ar_choice_print(const struct ar_choice *choice, char *text, size_t room);

/* "8", "64K", "1M", "inf" <-> bytes.  Parse: AR_OK or AR_ERR_SYNTAX; *end gets
 * the first character behind the size. */
int ar_size_parse(size_t *bytes, const char *text, const char **end);
char *ar_size_print(size_t bytes, char *text, size_t room);

#endif
