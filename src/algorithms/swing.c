/* Swing: reduce-scatter and allgather among partners that swing from side to side,
 * at distances 1, 1, 3, 5, 11, 21, ... where halving has 1, 2, 4, 8, 16, 32: on a
 * ring or torus messages cross fewer links.  The bandwidth-optimal variant.
 *
 * In step s an even rank r meets r + rho(s), an odd one r - rho(s), modulo an even
 * q, with rho(s) = 1 - 2 + 4 - ... + (-2)^s.  A block goes to its owner along the
 * tree in which the owner would send it out, the last step first, to whom it has
 * not reached yet: so each rank sends each block of another exactly once.
 *
 * q is p or, where p is odd, p-1: the last rank then sends each block to its owner
 * and has it back from there.  Where q is a power of two the blocks are laid out
 * so that each message is one; elsewhere the blocks of a message are scattered, and
 * each run of them is a message: up to 3q/4 or so in each half of the algorithm.
 *
 * Rounds 2 ceil(log2 q), one more for odd p; sent per rank 2n(q-1)/q elements, for
 * odd p n/q more; no scratch.
 * Needs a commutative op; any p >= 1 and any n >= 0.
 * Source: De Sensi, Bonato, Saam & Hoefler, Swing: short-cutting rings for higher
 * bandwidth allreduce, NSDI 2024.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"

struct swing {
    struct ar_cut cut; /* into q blocks */
    int nsteps;
};

static int
rho(int step)
{
    int sum = 1;
    for (int i = 0; i < step; i++)
        sum = 1 - 2 * sum;
    return sum;
}

static int
partner(struct swing w, int rank, int step)
{
    const int distance = rank % 2 ? -rho(step) : rho(step);
    return (rank + distance + w.cut.parts) % w.cut.parts;
}

/* --- the tree of a block --- */

/* The ranks that a block has come to, sent out by its owner in the steps nsteps-1,
 * ..., step: those at offsets lo .. hi from an even owner that are 0 or rho(step)
 * modulo 2^(step+1); at the mirrored offsets from an odd one. */
struct reach {
    int lo, hi;
    unsigned rho, mask;
};

/* A step moves even offsets by rho and odd ones by -rho: of the outermost ones,
 * which differ in parity, each widens the range on its side. */
static struct reach
reach_from(struct swing w, int step)
{
    struct reach reach = {0, 0, (unsigned)rho(step), (2u << step) - 1};

    for (int i = w.nsteps - 1; i >= step; i--) {
        const int r = rho(i), distance = r < 0 ? -r : r;
        const bool is_first = i == w.nsteps - 1; /* from the owner alone */
        if (!is_first || r < 0)
            reach.lo -= distance;
        if (!is_first || r > 0)
            reach.hi += distance;
    }
    return reach;
}

static bool
has_come(struct swing w, struct reach reach, int block, int rank)
{
    const int offset = block % 2 ? block - rank : rank - block;

    for (int d = offset - 2 * w.cut.parts; d <= reach.hi; d += w.cut.parts)
        if (d >= reach.lo &&
            (((unsigned)d & reach.mask) == 0 || (((unsigned)d - reach.rho) & reach.mask) == 0))
            return true;
    return false;
}

/* --- q is not a power of two: block r is rank r's --- */

/* A step of the reduce-scatter; of the allgather, backwards. */
struct step {
    struct swing swing;
    struct reach before, after; /* after it the block is where before it was not */
};

/* Does rank pass block on to its partner of the step? */
static bool
passes(const struct step *step, int block, int rank)
{
    return has_come(step->swing, step->after, block, rank) &&
           !has_come(step->swing, step->before, block, rank);
}

/* Sets *run to the next run of blocks from *block on that rank passes on, and *block to the one
 * behind it; false if none is left. */
static bool
next_run(const struct step *step, int rank, int *block, struct ar_span *run)
{
    const struct ar_cut cut = step->swing.cut;
    int first;

    for (first = *block; first < cut.parts && !passes(step, first, rank);)
        first++;
    for (*block = first; *block < cut.parts && passes(step, *block, rank);)
        ++*block;
    if (first < cut.parts)
        *run = ar_blocks(cut, first, *block - first);
    return first < cut.parts;
}

static void
reduce_scatter_runs(struct ar_schedule *s, struct swing w, int rank)
{
    for (int i = 0; i < w.nsteps; i++) {
        const struct step step = {w, reach_from(w, i + 1), reach_from(w, i)};
        const int peer = partner(w, rank, i);
        const enum ar_buffer have = i == 0 ? AR_IN : AR_OUT;
        struct ar_span run;

        for (int block = 0; next_run(&step, rank, &block, &run);)
            ar_send(s, peer, ar_region_in(have, run));
        for (int block = 0; next_run(&step, peer, &block, &run);)
            ar_recv_combine(s, peer, run, have, AR_LOCAL_FIRST);
        /* Later steps take from OUT also what the first one neither passes on nor receives. */
        for (int block = 0; i == 0 && block < w.cut.parts; block++)
            if (!passes(&step, block, rank) && !passes(&step, block, peer))
                ar_copy(s, ar_out(ar_block(w.cut, block)), ar_in(ar_block(w.cut, block)));
        ar_end_round(s);
    }
}

static void
allgather_runs(struct ar_schedule *s, struct swing w, int rank)
{
    for (int i = w.nsteps - 1; i >= 0; i--) {
        const struct step step = {w, reach_from(w, i + 1), reach_from(w, i)};
        const int peer = partner(w, rank, i);
        struct ar_span run;

        for (int block = 0; next_run(&step, peer, &block, &run);)
            ar_send(s, peer, ar_out(run));
        for (int block = 0; next_run(&step, rank, &block, &run);)
            ar_recv(s, peer, ar_out(run));
        ar_end_round(s);
    }
}

/* --- q is a power of two: rank r's block is in slot_of(r) --- */

static bool
has_slots(struct swing w)
{
    return w.cut.parts == 1 << w.nsteps;
}

/* The steps in which rank's block travels from rank 0 to it, as bits, the first
 * step's highest.  Then what a rank has not passed on by a step shares all higher
 * bits with its own slot, and its partner's slot differs in that step's bit. */
static int
slot_of(struct swing w, int rank)
{
    int slot = 0;
    for (int i = 0, at = 0; i < w.nsteps; i++) {
        slot *= 2;
        if (!has_come(w, reach_from(w, i + 1), rank, at)) {
            slot++;
            at = partner(w, at, i);
        }
    }
    return slot;
}

/* The n slots that share all bits above n's with rank's; n is a power of two. */
static struct ar_span
slots_around(struct swing w, int rank, int n)
{
    return ar_blocks(w.cut, slot_of(w, rank) & ~(n - 1), n);
}

static void
reduce_scatter_slots(struct ar_schedule *s, struct swing w, int rank)
{
    for (int i = 0, half = w.cut.parts / 2; half > 0; i++, half /= 2) {
        const int peer = partner(w, rank, i);
        const enum ar_buffer have = i == 0 ? AR_IN : AR_OUT;
        ar_send(s, peer, ar_region_in(have, slots_around(w, peer, half)));
        ar_recv_combine(s, peer, slots_around(w, rank, half), have, AR_LOCAL_FIRST);
        ar_end_round(s);
    }
}

static void
allgather_slots(struct ar_schedule *s, struct swing w, int rank)
{
    for (int i = w.nsteps - 1, half = 1; i >= 0; i--, half *= 2) {
        const int peer = partner(w, rank, i);
        ar_send(s, peer, ar_out(slots_around(w, rank, half)));
        ar_recv(s, peer, ar_out(slots_around(w, peer, half)));
        ar_end_round(s);
    }
}

/* --- both --- */

static struct ar_span
block_of(struct swing w, int rank)
{
    return ar_block(w.cut, has_slots(w) ? slot_of(w, rank) : rank);
}

int
ar_swing(struct ar_schedule *s, int rank, int nranks, size_t count, const struct ar_params *params)
{
    const int last = nranks & ~1; /* the rank that stands aside where p is odd */
    struct swing w = {{count, last}, 0};
    (void)params;

    while (last > 1 << w.nsteps)
        w.nsteps++;
    if (rank == last) {
        for (int owner = 0; owner < last; owner++)
            ar_send(s, owner, ar_in(block_of(w, owner)));
        ar_end_round(s);
        for (int owner = 0; owner < last; owner++)
            ar_recv(s, owner, ar_out(block_of(w, owner)));
        return ar_schedule_finish(s);
    }
    (has_slots(w) ? reduce_scatter_slots : reduce_scatter_runs)(s, w, rank);
    if (last < nranks) {
        const struct ar_span mine = block_of(w, rank);
        ar_recv_combine(s, last, mine, AR_OUT, AR_LOCAL_FIRST);
        ar_end_round(s);
        ar_send(s, last, ar_out(mine)); /* beside the allgather's first messages */
    }
    (has_slots(w) ? allgather_slots : allgather_runs)(s, w, rank);
    return ar_schedule_finish(s);
}
