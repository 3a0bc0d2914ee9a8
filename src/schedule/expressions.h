/* Expressions over ranks, such as (0 op 1) op 2, each of which has one number: the same operands
 * give the same number.  Pure. */
#ifndef AR_EXPRESSIONS_H
#define AR_EXPRESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AR_EXPRESSION_NONE UINT32_MAX

/* Of an expression that combines two others. */
struct ar_expression {
    uint32_t left, right; /* AR_EXPRESSION_NONE: a rank's own */
    uint32_t leaves;      /* how often ranks stand in it; saturating */
    uint32_t depth;       /* the most ops from it down to a rank's own, which has 0 */
    uint32_t first, last;
    bool ordered; /* the leaves are first, first+1, ..., last */
    int rank;     /* who combined it first, in which of its steps */
    size_t step;
    uint64_t hash; /* the same for the same expression, whatever numbers others have */
};

/* A number below nranks is that rank's own contribution. */
struct ar_expressions {
    int nranks;
    struct ar_expression *nodes; /* of the numbers from nranks on; owned */
    uint32_t n, room;
    uint32_t *table; /* by the hash of the operands; a power of two of slots; owned */
    uint32_t slots;
};

/* All zero but for nranks: none.  Nothing else is to be done before the first use. */
void ar_expressions_fini(struct ar_expressions *e);

/* The number of left op right, which rank combines in this step of its schedule.
 * AR_EXPRESSION_NONE without memory. */
uint32_t ar_expressions_combine(struct ar_expressions *e, uint32_t left, uint32_t right, int rank,
                                size_t step);

struct ar_expression ar_expression_of(const struct ar_expressions *e, uint32_t expression);

/* What does not stand in an expression exactly once. */
struct ar_miscount {
    int rank;      /* whose contribution; -1: each stands there once */
    bool is_twice; /* it stands there twice, else not at all */
    uint32_t at;   /* twice: the expression that combines it with itself */
};

/* AR_OK, AR_ERR_MEMORY. */
int ar_expression_count(const struct ar_expressions *e, uint32_t expression,
                        struct ar_miscount *miscount);

#endif
