/* The ranks as a grid of one or more dimensions.  Pure.
 *
 * Positions count the grid's places, the first dimension fastest.  The dimensions
 * are
 *   - the parameter dims, each cut to what the ones before leave, and one more for
 *     what is left over, if the algorithm can have one more;
 *   - else, where there are several nodes with several ranks each and all have
 *     equally many: the ranks of a node by the nodes, wherever the ranks are;
 *   - else as nearly equal as can be: divisors of nranks if no dimension is more
 *     than four times another, otherwise rounded-down roots.
 * The grid may have fewer places than there are ranks: then nranks are cut into runs of
 * neighbours, as many as places and equal to within one.  The first of each run stands on the
 * grid for all of it. */
#ifndef AR_CART_H
#define AR_CART_H

#include <stdbool.h>

#include "algorithms/nodes.h"
#include "algorithms/phases.h"
#include "algorithms/registry.h"

struct ar_cart {
    struct ar_nodes nodes;
    bool by_node; /* dims are ranks of a node, nodes */
    int ndims;
    int dims[AR_DIMS_MAX];
    int size;     /* places */
    int position; /* of the emitting rank's run */
    int first;    /* first rank of the run: the one that is on the grid */
    int run;      /* ranks of the run */
};

/* With ndims dimensions where it is free to choose, with at most most of them
 * where params->dims says (further ones count into the last);
 * 2 <= ndims <= most <= AR_DIMS_MAX. */
struct ar_cart ar_cart_make(int rank, int nranks, const struct ar_params *params, int ndims,
                            int most);

/* Makes params->dims those of the grid, which has at most most dimensions, except for the one that
 * is left over.  Does that change them? */
bool ar_cart_fit(struct ar_params *params, int nranks, int most);

/* Emits the folding of the run into its first rank, along a binomial tree.
 * Returns where the contribution is from then on. */
enum ar_buffer ar_cart_fold(struct ar_schedule *s, const struct ar_cart *cart);

/* Emits the sending of OUT to the other ranks of the run. */
void ar_cart_unfold(struct ar_schedule *s, const struct ar_cart *cart);

/* The ring or line along a dimension through the emitting rank, which is on the
 * grid; of size 1 for a dimension that the grid does not have. */
struct ar_loop ar_cart_loop(const struct ar_cart *cart, int dim);

/* Emits an allreduce: the fold, a reduce-scatter round the ring along each
 * dimension in turn, each on the part that the one before left, an allgather along
 * them in reverse, and the unfolding. */
void ar_cart_rings(struct ar_schedule *s, const struct ar_cart *cart);

#endif
