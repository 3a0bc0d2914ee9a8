/* Operands of measured calls: types and ops by name, operands for every rank and whether a result
 * is their reduction, and the buffers that hold them. */
#ifndef AR_OPERAND_H
#define AR_OPERAND_H

#include <stdbool.h>
#include <stddef.h>

#include "reduce/compare.h"
#include "reduce/named.h"
#include "select/words.h"

/* --- types and ops as a user writes them: MPI_FLOAT or float, MPI_SUM or sum --- */

/* The row of a type, for ar_named_at.  False, with why telling what is wrong and what is
 * allowed. */
bool ar_type_find(size_t *row, const char *name, struct ar_text *why);

/* The op; false with why, as above. */
bool ar_op_by_name(enum ar_op *op, const char *name, struct ar_text *why);

/* Does this MPI have the types of n rows, and do they take op?  Rank 0 says why not, for a
 * subcommand.  Needs an initialised MPI.  An enum ar_exit. */
int ar_operands_check(const char *command, const size_t *rows, size_t n, enum ar_op op, int rank);

/* --- operands of any named type, and results ---
 *
 * Operands are pseudo-random and repeat along the vector with a period that is prime and short.
 * It is prime so that no block and no segment fits it, and short so that each rank computes the
 * reduction by itself. */

struct ar_judge;

/* For the operands of rank among nranks.  r is copied.  An enum ar_exit; rank 0 says why it failed:
 * no representation of the type is known here, or memory ran out. */
int ar_judge_create(struct ar_judge **made, const struct ar_reduction *r, int rank, int nranks);
void ar_judge_destroy(struct ar_judge *judge);

/* The rank's operands. */
void ar_judge_fill(const struct ar_judge *judge, void *elements, size_t count);

/* Are elements a reduction of all ranks' operands?  Rounded sums and products may differ from the
 * reduction in rank order by the bound that ALLREDUCE_VERIFY has (reduce/compare.h); all else,
 * complex products too, must be exact. */
bool ar_judge_is_right(struct ar_judge *judge, const void *elements, size_t count);

/* How far a is from b, or where that is NULL from a reduction in long double, at the worst element:
 * relative to the largest element of that reduction; INFINITY where there is a NaN.  0 for
 * integers. */
double ar_judge_distance(const struct ar_judge *judge, const void *a, const void *b, size_t count);

/* --- the vectors of measured calls, in the same buffers again and again or walking through more
 * than the caches hold --- */

struct ar_buffers {
    size_t slots, slot_bytes, next;
    char *in, *out; /* slots of each */
    char *native;   /* its result, one slot */
};

/* Makes as many slots for vectors of so many bytes as have at least rotate_bytes in all.  Aborts
 * without memory. */
void ar_buffers_init(struct ar_buffers *b, size_t bytes, size_t rotate_bytes);
void ar_buffers_fini(struct ar_buffers *b);

/* Fills what timed calls reduce: count elements of the judge's in each slot of in, and zeros in
 * out.  In place, a result is the next call's input, and only zeros do not grow. */
void ar_buffers_fill(const struct ar_buffers *b, const struct ar_judge *judge, size_t count,
                     bool is_in_place);

/* Writes and reads all words of a buffer, or reads them, as a program would that makes its input
 * or takes its result.  What is in it stays. */
void ar_buffer_use(char *buffer, size_t bytes, bool writes);

#endif
