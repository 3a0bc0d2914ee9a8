/* 2-D mesh: one half of the vector is reduced along the rows and then the columns,
 * the other half along the columns and then the rows, at the same time; then both
 * are gathered the same ways back.
 *
 * Rows and columns are lines, without a link between their ends.  Every message goes to a
 * neighbour on the mesh.  A row is a node where the node map makes a grid.  Grid and ranks left
 * over: cart.h.  Along a line a block moves for each of its ranks: it is built from both ends
 * towards its owner, and goes back to both.  All four links of a rank work.
 *
 * Rounds 4 (max(X, Y) - 1); each rank sends n(XY-1)/(XY) elements to reduce and, as
 * blocks leave their owner to both sides, up to n(X+1)(Y+1)/(XY) to gather; no scratch.
 * Ranks left over fold first and unfold last: 2 rounds where there is at most one per place, and n
 * elements sent more, for the ranks concerned.
 * Needs a commutative op; any p >= 1 and any n >= 0.
 * Source: Ying et al., Image classification at supercomputer scale,
 * arXiv 1811.06992, 2018 (halves of the vector along both dimensions at once).
 */
#include "algorithms/algorithms.h"
#include "algorithms/cart.h"

/* Round k of a reduce-scatter on a line, not ended: part j flows from both ends to member j.
 * Rightwards member i sends part j > i, with the contributions of members 0..i, in round
 * i + (size-1-j): the furthest first, and all parts arrive in the last round.  Leftwards it is the
 * mirror image. */
static void
reduce_round(struct ar_schedule *s, struct ar_loop line, struct ar_span span, enum ar_buffer have,
             int k)
{
    const int n = line.size, me = line.me, last = n - 1;
    const int right = me + last - k, left = me - last + k; /* what it sends there */
    if (k >= last)
        return;
    if (right <= last)
        ar_send(s, line.right, ar_region_in(me == 0 ? have : AR_OUT, ar_subspan(span, n, right)));
    if (left >= 0)
        ar_send(s, line.left, ar_region_in(me == last ? have : AR_OUT, ar_subspan(span, n, left)));
    if (me > 0 && right - 1 <= last)
        ar_recv_combine(s, line.left, ar_subspan(span, n, right - 1), have, AR_RECEIVED_FIRST);
    if (me < last && left + 1 >= 0)
        ar_recv_combine(s, line.right, ar_subspan(span, n, left + 1),
                        me > 0 && left + 1 == me ? AR_OUT : have, AR_LOCAL_FIRST);
}

/* Round k of an allgather on a line: parts leave in the order of their distance. */
static void
gather_round(struct ar_schedule *s, struct ar_loop line, struct ar_span span, int k)
{
    const int n = line.size, me = line.me, last = n - 1;
    if (k >= last)
        return;
    if (me < last && me - k >= 0)
        ar_send(s, line.right, ar_out(ar_subspan(span, n, me - k)));
    if (me > 0 && me + k <= last)
        ar_send(s, line.left, ar_out(ar_subspan(span, n, me + k)));
    if (me - k - 1 >= 0)
        ar_recv(s, line.left, ar_out(ar_subspan(span, n, me - k - 1)));
    if (me + k + 1 <= last)
        ar_recv(s, line.right, ar_out(ar_subspan(span, n, me + k + 1)));
}

/* A half of the vector: the lines that it moves along, one after the other, what moves there, and
 * where this rank's contribution to it is. */
struct half {
    struct ar_loop lines[2];
    struct ar_span spans[2];
    enum ar_buffer have;
};

static void
move_blocks(struct ar_schedule *s, struct half halves[2], int rounds)
{
    for (int phase = 0; phase < 2; phase++)
        for (int k = 0; k < rounds; k++) {
            for (int i = 0; i < 2; i++)
                reduce_round(s, halves[i].lines[phase], halves[i].spans[phase],
                             phase > 0 && halves[i].lines[0].size > 1 ? AR_OUT : halves[i].have, k);
            ar_end_round(s);
        }
    for (int phase = 1; phase >= 0; phase--)
        for (int k = 0; k < rounds; k++) {
            for (int i = 0; i < 2; i++)
                gather_round(s, halves[i].lines[phase], halves[i].spans[phase], k);
            ar_end_round(s);
        }
}

static struct half
half_make(struct ar_span all, struct ar_loop first, struct ar_loop second, enum ar_buffer have)
{
    return (struct half){{first, second}, {all, ar_subspan(all, first.size, first.me)}, have};
}

static void
on_cart(struct ar_schedule *s, const struct ar_cart *cart, enum ar_buffer have)
{
    const struct ar_span all = ar_whole(s->count);
    const struct ar_loop row = ar_cart_loop(cart, 0), column = ar_cart_loop(cart, 1);
    struct half halves[] = {half_make(ar_subspan(all, 2, 0), row, column, have),
                            half_make(ar_subspan(all, 2, 1), column, row, have)};

    move_blocks(s, halves, (row.size > column.size ? row.size : column.size) - 1);
}

int
ar_mesh2d(struct ar_schedule *s, int rank, int nranks, size_t count, const struct ar_params *params)
{
    const struct ar_cart cart = ar_cart_make(rank, nranks, params, 2, 2);
    (void)count;

    const enum ar_buffer have = ar_cart_fold(s, &cart);
    if (rank == cart.first)
        on_cart(s, &cart, have);
    ar_cart_unfold(s, &cart);
    return ar_schedule_finish(s);
}
