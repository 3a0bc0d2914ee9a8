/* Selection: from the user's text to the algorithm of a call.  Pure.
 *
 *   text       = clause { ';' clause }
 *   clause     = algorithm [ '(' name '=' value { ',' name '=' value } ')' ] [ ':' conditions ]
 *   conditions = condition { ',' condition }
 *   condition  = size | size '-' size, each with an optional '@' ranks | '@' ranks '-' ranks,
 *                or a trait as in op=sum|max
 *   algorithm  = a name or alias of the registry | an Intel id 0..12 | schedule | native | auto
 *   size       = digits [ K | M | G ] (powers of 1024, bytes; KB and KiB alike) | inf | max
 *   ranks      = digits | inf | max
 *
 * Bounds are inclusive.  The first clause that matches wins, and a clause without
 * conditions matches everything.  Blanks around tokens and case are ignored, and '-'
 * and '_' are equivalent in names.  Empty clauses are skipped, and so is a ':' that
 * nothing follows.  Every row has the parameters segment and window, and others as the
 * row says; native and auto have none.  schedule has a file, whose name may stand in double quotes.
 *
 * A clause matches if one of its sizes does (or it has none) and all of its traits do.
 * A trait is a list of words, separated by '|', or a range:
 *
 *   op      = sum | prod | max | ... | user (any user-defined op)
 *   type    = integer | float | double | long_double | complex | logical | byte | pair | other
 *   inplace = yes (MPI_IN_PLACE on all ranks) | no
 *   commutes = yes | no (whether the op commutes)
 *   block   = the bytes of the message per rank, rounded up: a range of sizes
 *   nodes   = the number of nodes with ranks of the communicator
 *   ppn     = the largest number of its ranks on one node
 *   comm    = its name on its rank 0 at the first call that asks for it, with * and ?
 */
#ifndef AR_SELECT_H
#define AR_SELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/registry.h"
#include "select/traits.h"

#define AR_PROBLEM_TEXT 640
#define AR_CHOICE_TEXT  320 /* room for any choice with all its parameters */
#define AR_SIZE_TEXT    24  /* room for any size */

/* Why a text was refused: column is 1-based, line too (1 for ALLREDUCE_ALGO). */
struct ar_problem {
    int line;
    int column;                 /* of the first character of the offending token */
    char text[AR_PROBLEM_TEXT]; /* what is wrong and what is allowed, one line */
};

enum ar_choice_kind { AR_CHOICE_NATIVE, AR_CHOICE_AUTO, AR_CHOICE_ALGORITHM };

/* An algorithm with its parameters resolved (the row's defaults filled in). */
struct ar_choice {
    enum ar_choice_kind kind;
    const struct ar_algorithm *algorithm; /* NULL unless AR_CHOICE_ALGORITHM */
    struct ar_params params;
};

/* The sizes and ranks that one condition asks for; all bounds are inclusive. */
struct ar_condition {
    size_t bytes_min;
    size_t bytes_max; /* SIZE_MAX: inf */
    size_t ranks_min;
    size_t ranks_max; /* SIZE_MAX: inf */
};

/* Those properties of a call on which a choice may depend.  They are the same on all ranks. */
struct ar_request {
    size_t bytes; /* count x type size */
    int nranks;
    bool commutative;          /* the op */
    bool shares_memory;        /* the ranks are on one node and may share memory */
    enum ar_determinism keeps; /* what the algorithm must keep */
    /* These are set only if the rules ask for them (ar_rules_all_traits). */
    enum ar_op op;
    enum ar_type_class type;
    enum ar_place place; /* in place: on all ranks */
    size_t nodes;        /* 0: unknown */
    size_t per_node;     /* the largest number of ranks on one node; 0: unknown */
    bool is_scattered;   /* the ranks of some node are not consecutive; for searches */
    bool knows_lines;    /* what shared memory takes on this node is known; for searches */
    const char *comm;    /* name; NULL: unknown.  Borrowed */
};

/* One clause; it matches if one of its sizes does, or it has none, and all of its traits do. */
struct ar_clause {
    struct ar_choice choice;
    const struct ar_condition *conditions; /* its sizes, in the rules' conditions */
    size_t nconditions;
    struct ar_traits traits;
    int line, column; /* where it stood in the text, from 1 on */
};

/* A parsed text; read-only. */
struct ar_rules {
    struct ar_clause *clauses; /* owned */
    size_t nclauses, clauses_room;
    struct ar_condition *conditions; /* owned; those of all clauses, in their order */
    size_t nconditions, conditions_room;
    bool has_intel_ids; /* an algorithm is named by Intel's number */
};

/* Parses text as in ALLREDUCE_ALGO.  On success *rules is the caller's to
 * destroy.  AR_ERR_SYNTAX with *problem filled, AR_ERR_MEMORY. An empty or
 * blank text gives rules without clauses. */
int ar_rules_parse(struct ar_rules **rules, const char *text, struct ar_problem *problem);

/* The same for the text of a rules file: clauses on separate lines (or with ';'), # comments. */
int ar_rules_parse_lines(struct ar_rules **rules, const char *text, struct ar_problem *problem);

void ar_rules_destroy(struct ar_rules *rules);

/* Whether clause i and the next one are a single one in the text.  This is so for an Intel id whose
 * first clause is for one node and whose second is for several. */
bool ar_rules_is_pair(const struct ar_rules *rules, size_t i);

/* Whether the clause matches the request. */
bool ar_clause_matches(const struct ar_clause *clause, const struct ar_request *request);

/* The first clause that matches the request, or NULL.  Borrowed from rules. */
const struct ar_clause *ar_rules_match(const struct ar_rules *rules,
                                       const struct ar_request *request);

/* The traits that any clause asks for, as bits of enum ar_trait. */
unsigned ar_rules_all_traits(const struct ar_rules *rules);

/* Canonical text, which ar_rules_parse reads back to the same clauses: names
 * for aliases and ids, parameters in full.  Malloced; NULL without memory. */
char *ar_rules_text(const struct ar_rules *rules);

/* Which rows auto may choose: a comma-separated list of names, aliases, ids or ranges of ids as in
 * 1-4.  '^' in front of one removes it from those before it or, if it is the first, from all; then
 * each must have it.  "" allows all.  allowed[i] belongs to ar_algorithm_at(i); room for
 * ar_algorithm_count() entries.  AR_ERR_SYNTAX with *problem filled. */
int ar_algo_list_parse(bool *allowed, const char *text, struct ar_problem *problem);

/* What auto runs: the first matching clause of the built-in rules whose algorithm
 * is allowed (allowed NULL: all), keeps the order if the op does not commute, keeps what the
 * request says, and shares memory only if the ranks can.  If there is no such clause, it is the
 * first such row of the registry with its defaults, or native if there is none.  AR_OK or
 * AR_ERR_MEMORY.  Thread-safe. */
int ar_auto_select(struct ar_choice *choice, const struct ar_request *request, const bool *allowed);

/* Whether the choice of an algorithm may serve the request and is allowed.  This is the only place
 * that filters what auto and every search may run. */
bool ar_auto_may_select(const struct ar_choice *choice, const struct ar_request *request,
                        const bool *allowed);

/* Whether row is among those allowed; NULL allows all. */
bool ar_auto_allows(const struct ar_algorithm *row, const bool *allowed);

/* Replaces the choice of an algorithm by the nearest one that passes all count elements of size
 * bytes to an op at once.  It has no segments, and its row does not cut the vector (see stand_in
 * in registry.h).  It becomes native if that would take more than scratch_bytes.  Returns true
 * if the choice was changed.  An open window becomes 1, so that one segment has all scratch
 * memory; this does not count as a change. */
bool ar_choice_make_whole(struct ar_choice *choice, int nranks, size_t count, size_t size,
                          size_t scratch_bytes);

/* The built-in rules in the same grammar. */
const char *ar_auto_rules_text(void);

/* "segmented_ring(segment=64K,window=4)": the choice with the parameters of
 * its row, as the grammar reads it.  segment and window are included only if they or
 * the row's defaults differ from one whole message.  Returns text, cut to
 * room; AR_CHOICE_TEXT is enough. */
char *ar_choice_print(const struct ar_choice *choice, char *text, size_t room);

/* "8", "64K", "1M", "inf" <-> bytes.  Parsing returns AR_OK or AR_ERR_SYNTAX.  *end gets the first
 * character after the size.  On an error it is text if there is no size, and the first character
 * after the digits and the unit if the size is too large. */
int ar_size_parse(size_t *bytes, const char *text, const char **end);

/* Is the whole word a size? */
bool ar_size_parse_word(size_t *bytes, struct ar_word word);

char *ar_size_print(size_t bytes, char *text, size_t room);

#endif
