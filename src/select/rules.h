/* Rules as they are stored, for those who build and print them.  Pure. */
#ifndef AR_RULES_H
#define AR_RULES_H

#include "select/select.h"

struct ar_clause {
    struct ar_choice choice;
    size_t first; /* of its conditions */
    size_t nconditions;
    struct ar_traits traits;
    int line;
    int column;
};

struct ar_rules {
    struct ar_clause *clauses; /* owned */
    size_t nclauses;
    size_t clauses_room;
    struct ar_condition *conditions; /* owned; of all clauses */
    size_t nconditions;
    size_t conditions_room;
};

struct ar_rules *ar_rules_create(void); /* NULL without memory */

/* Appends a clause without conditions, and a condition to the last clause.
 * AR_OK or AR_ERR_MEMORY. */
int ar_rules_add_clause(struct ar_rules *rules, const struct ar_choice *choice, int line,
                        int column);
int ar_rules_add_condition(struct ar_rules *rules, const struct ar_condition *condition);

/* Does clause i match? */
bool ar_rules_clause_matches(const struct ar_rules *rules, size_t i,
                             const struct ar_request *request);

#endif
