/* Types and ops by name, as a user writes them: MPI_FLOAT or float, MPI_SUM or sum.
 * Only ar_operands_check needs an initialised MPI. */
#ifndef AR_OPERAND_H
#define AR_OPERAND_H

#include <stdbool.h>
#include <stddef.h>

#include "reduce/named.h"
#include "select/words.h"

/* The row of a type, for ar_named_at.  False, with why telling what is wrong and what is
 * allowed. */
bool ar_type_find(size_t *row, const char *name, struct ar_text *why);

/* The op; false with why, as above. */
bool ar_op_by_name(enum ar_op *op, const char *name, struct ar_text *why);

/* Does this MPI have the types of n rows, and do they take op?  Rank 0 says why not, for a
 * subcommand.  Needs an initialised MPI.  An enum ar_exit. */
int ar_operands_check(const char *command, const size_t *rows, size_t n, enum ar_op op, int rank);

#endif
