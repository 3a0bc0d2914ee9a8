/* A list of message sizes, as in "8,4K,64K-16M".  No MPI. */
#ifndef AR_SIZES_H
#define AR_SIZES_H

#include <stdbool.h>
#include <stddef.h>

#include "select/select.h"

#define AR_FACTOR_MAX 1024 /* from one size of a range to the next */

struct ar_sizes {
    size_t *bytes; /* owned */
    size_t n;
    bool are_ours; /* nobody asked for them: one that is less than an element becomes an element */
};

/* Parses sizes and ranges with commas between them; a range a-b is a, a x factor, ... and
 * b (factor >= 2).  On success *sizes is the caller's to fini, and not empty.
 * AR_ERR_SYNTAX with *problem filled; AR_ERR_MEMORY. */
int ar_sizes_parse(struct ar_sizes *sizes, const char *text, size_t factor,
                   struct ar_problem *problem);

/* Rounds each down to whole elements of so many bytes, and leaves out those that are there already;
 * word gets how many these are.  AR_ERR_SYNTAX, with word telling why, where one is less than an
 * element or more than most. */
int ar_sizes_fit(struct ar_sizes *sizes, size_t element_bytes, size_t most, struct ar_text *word);

/* Puts them in ascending order. */
void ar_sizes_sort(struct ar_sizes *sizes);

void ar_sizes_fini(struct ar_sizes *sizes);

#endif
