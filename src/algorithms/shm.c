/* Shared memory: the ranks of a node write their vectors where all can read them, level by level of
 * the node: first the ranks that share a cache, say, exchange among themselves, then those groups
 * exchange, and so on.  Flat, all ranks are one group.
 *
 * A short vector is combined by every rank, all of it: on each level a rank reads one rank of each
 * other group.  Of a long one each rank combines a share on each level, which is a part of its
 * share on the level below, so that the ranks of a group work on all of the vector at once.  The
 * results go back the same way, but those of level 1 go to all its ranks at once if they are long,
 * or if there are just two levels, of equal groups.  A share that has become short is no longer cut
 * if the groups that it was cut in are equal: from that level on each rank combines all of what it
 * holds.
 *
 * The schedule says this in messages: what a rank writes is sent to all that read it.  The executor
 * (execute/node.c) replaces the messages by loads and stores where the ranks share memory.  There
 * nothing is moved into slots of TMP; they only stand for what others have stored.  So no level
 * reuses the slots of the level below for shares of another length: the executor would first have
 * to load what they stand for.
 *
 * A vector of up to whole_bytes is short; a schedule knows no types, so that here an element counts
 * as a byte.
 *
 * Rounds 2 at most, short 1, on each level.  Flat, sent per rank 2n(p-1)/p elements, short (p-1)n;
 * scratch n, by levels less than 2n, short pn.
 * Any op where the groups are of neighbours: operands are combined in rank order, from the last to
 * the first on each level, and alike for every element in either form: its sum depends neither on n
 * nor on its place.  Any p >= 1 and any n >= 0.
 * Source: the flat shared-memory collectives of Graham & Shipman, EuroPVM/MPI 2008, LNCS
 * 5205:130-140; levels as in Jain, Kaleem, Balmana et al., Framework for scalable intra-node
 * collective operations using shared memory, SC 2018.
 */
#include "algorithms/algorithms.h"
#include "algorithms/grouping.h"
#include "algorithms/shares.h"

#include <stdbool.h>

#define AT_ONCE_MOST 24 /* ranks of a group of level 1 that read all results at once */

/* What one rank sees. */
struct view {
    struct ar_shares shares;
    size_t tmp; /* where the slots of the level begin in TMP */
};

/* Unit i of a group: in TMP, what this rank combines of its share. */
static struct ar_region
slot(const struct view *v, struct ar_span mine, int i)
{
    return ar_tmp((struct ar_span){v->tmp + (size_t)i * mine.length, mine.length});
}

/* A part of that. */
static struct ar_region
part_of_slot(const struct view *v, struct ar_span mine, int i, struct ar_span part)
{
    const size_t from = v->tmp + (size_t)i * mine.length + part.offset - mine.offset;
    return ar_tmp((struct ar_span){from, part.length});
}

/* Combines the units' vectors into OUT, from the last to the first.  Each is in its slot, but that
 * of unit own is in have (its slot, too, if that is TMP).  The running result stands in the last
 * unit's slot, and goes to OUT with the first unit.  Returns where the result is: have if there is
 * one unit. */
static enum ar_buffer
combine(struct ar_schedule *s, const struct view *v, int units, int own, enum ar_buffer have,
        struct ar_span mine)
{
    const int last = units - 1;
    const struct ar_region kept = have == AR_TMP ? slot(v, mine, own) : ar_region_in(have, mine);
    for (int i = last - 1; i >= 0; i--)
        ar_reduce(s, i == 0 ? ar_out(mine) : slot(v, mine, last),
                  i == own ? kept : slot(v, mine, i),
                  i == last - 1 && own == last ? kept : slot(v, mine, last));
    ar_end_round(s);
    return units > 1 ? AR_OUT : have;
}

/* The units of this rank's group on a level: how many, and the number of its own. */
static int
count_units(const struct view *v, int level, int *own)
{
    const struct ar_shares *const of = &v->shares;
    const int begin = ar_shares_begin(of, level, of->me), end = ar_shares_end(of, level, of->me);
    int units = 0;
    for (int unit = begin; unit < end; unit = ar_shares_end(of, level - 1, unit), units++)
        if (unit == ar_shares_begin(of, level - 1, of->me))
            *own = units;
    return units;
}

/* From each other unit, a rank reads all that the rank with its own number there, modulo the unit's
 * size, holds.  It begins with its own unit's neighbour, so that not all begin with the same rank.
 * held: the span that this rank and those hold, in have.  Returns where the result is. */
static enum ar_buffer
exchange_whole(struct ar_schedule *s, const struct view *v, int level, struct ar_span held,
               enum ar_buffer have)
{
    const struct ar_shares *const of = &v->shares;
    const int begin = ar_shares_begin(of, level, of->me), end = ar_shares_end(of, level, of->me);
    const int own_begin = ar_shares_begin(of, level - 1, of->me),
              own_end = ar_shares_end(of, level - 1, of->me);
    const int number = of->me - own_begin, own_size = own_end - own_begin;
    int own = 0, units = count_units(v, level, &own);
    for (int k = 1, unit = own_end; k < units; k++, unit = ar_shares_end(of, level - 1, unit)) {
        unit = unit == end ? begin : unit;
        const int size = ar_shares_end(of, level - 1, unit) - unit;
        for (int i = number; i < size; i += own_size)
            ar_send(s, ar_shares_rank(of, unit + i), ar_region_in(have, held));
        ar_recv(s, ar_shares_rank(of, unit + number % size), slot(v, held, (own + k) % units));
    }
    return combine(s, v, units, own, have, held);
}

/* Each rank reads of all others of its group what they have of its share. */
static enum ar_buffer
reduce_scatter(struct ar_schedule *s, const struct view *v, int level, enum ar_buffer have)
{
    const struct ar_shares *const of = &v->shares;
    const int begin = ar_shares_begin(of, level, of->me),
              size = ar_shares_end(of, level, of->me) - begin;
    const int own_begin = ar_shares_begin(of, level - 1, of->me),
              own_end = ar_shares_end(of, level - 1, of->me);
    const struct ar_span held = ar_shares_span(of, level - 1, of->me),
                         mine = ar_shares_span(of, level, of->me);
    const struct ar_span kept = ar_span_common(held, mine);
    const bool has_all = kept.length == mine.length;
    int own = 0;
    const int units = count_units(v, level, &own);
    for (int k = 1, unit = own; k < size; k++) {
        const int i = begin + (of->me - begin + k) % size;
        const bool is_near = i >= own_begin && i < own_end;
        const struct ar_span theirs = ar_shares_span(of, level - 1, i),
                             share = ar_shares_span(of, level, i);
        unit = i == begin ? 0 : unit + (i == ar_shares_begin(of, level - 1, i));
        if (!is_near || ar_span_common(share, theirs).length < share.length)
            ar_send(s, ar_shares_rank(of, i), ar_region_in(have, ar_span_common(held, share)));
        if (!is_near || !has_all)
            ar_recv(s, ar_shares_rank(of, i),
                    part_of_slot(v, mine, unit, ar_span_common(theirs, mine)));
    }
    if (!has_all)
        ar_copy(s, part_of_slot(v, mine, own, kept), ar_region_in(have, kept));
    return combine(s, v, units, own, has_all ? have : AR_TMP, mine);
}

/* Each rank reads from the others of its group what it needs of the share that it had on level
 * below.  It begins with the next unit, at the rank with its own number there, and ends with its
 * own unit.  So the ranks of a unit begin with different ranks: where they share a cache, each
 * brings other lines, and later finds there those that the others have brought. */
static void
allgather(struct ar_schedule *s, const struct view *v, int level, int below)
{
    const struct ar_shares *const of = &v->shares;
    const int begin = ar_shares_begin(of, level, of->me), end = ar_shares_end(of, level, of->me);
    const int own = ar_shares_begin(of, level - 1, of->me);
    const struct ar_span mine = ar_shares_span(of, level, of->me),
                         held = ar_shares_span(of, below, of->me);
    int unit = own;
    do {
        const int next = ar_shares_end(of, level - 1, unit);
        unit = next == end ? begin : next;
        const int size = ar_shares_end(of, level - 1, unit) - unit;
        for (int i = 0; i < size; i++) {
            const int other = unit + (of->me - own + i) % size;
            if (other == of->me)
                continue;
            ar_send(s, ar_shares_rank(of, other),
                    ar_out(ar_span_common(mine, ar_shares_span(of, below, other))));
            ar_recv(s, ar_shares_rank(of, other),
                    ar_out(ar_span_common(ar_shares_span(of, level, other), held)));
        }
    } while (unit != own);
    ar_end_round(s);
}

/* The level for whose share a rank reads the results of a level: usually the level below.  Those of
 * level 1 are read for the whole vector at once if its groups are not large, so that no rank has to
 * store again what it has read there.  With short results there is little to store, and waiting for
 * so many ranks takes longer where levels are above or groups are unequal.  In place nothing would
 * be gained, since a rank that gives takes each line itself. */
static int
level_below(const struct view *v, int level, const struct ar_params *params)
{
    const struct ar_shares *const of = &v->shares;
    const int size = ar_shares_end(of, level, of->me) - ar_shares_begin(of, level, of->me);
    const struct ar_grouping *const g = of->grouping;
    const bool is_last = g && g->nlevels == level + 1 && ar_grouping_is_even(g);
    const bool is_good = size <= AT_ONCE_MOST && params->copy != AR_COPY_IN_PLACE &&
                         (is_last || of->count / (size_t)size > params->whole_bytes);
    return level == 1 && is_good ? -1 : level - 1;
}

/* Ranks of each group of the level below; 0: these, or groups inside them, are of unequal size, so
 * that ranks with the same number in their groups need not hold the same share. */
static size_t
count_holders(const struct view *v, int level)
{
    if (level == 0)
        return 1;
    const struct ar_grouping *const g = v->shares.grouping;
    return g && ar_grouping_is_even_below(g, level) ? (size_t)g->level[level - 1].end[0] : 0;
}

/* Does each rank hold at most so much before a level, and the same as others with its number? */
static bool
goes_whole(const struct view *v, int level, size_t most)
{
    const size_t holders = count_holders(v, level);
    return holders > 0 && (v->shares.count + holders - 1) / holders <= most;
}

int
ar_shm(struct ar_schedule *s, int rank, int nranks, size_t count, const struct ar_params *params)
{
    const struct ar_grouping *const g = params->grouping;
    struct view v = {ar_shares_of_all(g, rank, nranks, count), 0};
    const int nlevels = g ? g->nlevels : 1;
    enum ar_buffer have = AR_IN;
    int sliced = 0; /* levels */

    if (nranks == 1)
        ar_copy(s, ar_out(ar_whole(count)), ar_in(ar_whole(count)));
    while (sliced < nlevels && !goes_whole(&v, sliced, params->whole_bytes))
        sliced++;
    for (int level = 0; level < sliced; level++) {
        have = reduce_scatter(s, &v, level, have);
        v.tmp = s->tmp_length;
    }
    for (int level = sliced; level < nlevels; level++)
        have =
            exchange_whole(s, &v, level, ar_shares_span(&v.shares, sliced - 1, v.shares.me), have);
    for (int level = sliced - 1, below; level >= 0; level = below) {
        below = level_below(&v, level, params);
        allgather(s, &v, level, below);
    }
    return ar_schedule_finish(s);
}
