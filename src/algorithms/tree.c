#include "algorithms/tree.h"

#include <stdbool.h>

#include "algorithms/patterns.h"

/* --- binomial trees --- */

static int
first_half(int n, enum ar_tree_cut cut)
{
    return cut == AR_TREE_CUT_MIDDLE ? n - n / 2 : ar_pow2_floor(n - 1);
}

static bool
holds(struct ar_range range, int rank)
{
    return rank >= range.first && rank - range.first < range.n;
}

void
ar_tree_init(struct ar_tree *t, int rank, int nranks, int root, enum ar_tree_cut cut)
{
    struct ar_range range = {0, nranks};
    int head = root;

    *t = (struct ar_tree){.parent = -1, .range = range};
    while (range.n > 1) {
        const int half = first_half(range.n, cut);
        const struct ar_range low = {range.first, half};
        const struct ar_range high = {range.first + half, range.n - half};
        const struct ar_range with_head = holds(low, head) ? low : high;
        const struct ar_range other = holds(low, head) ? high : low;

        if (holds(other, rank)) {
            t->parent = head;
            t->range = range = other;
            head = other.first;
            continue;
        }
        if (rank == head) {
            t->child[t->nchildren] = other.first;
            t->child_range[t->nchildren++] = other;
        }
        range = with_head;
    }
}

void
ar_tree_reduce(struct ar_schedule *s, const struct ar_tree *t)
{
    const struct ar_span all = ar_whole(s->count);
    enum ar_buffer have = AR_IN;

    for (int i = t->nchildren - 1; i >= 0; i--) {
        ar_recv_combine(s, t->child[i], all, have, ar_rank_order(s->rank, t->child[i]));
        ar_end_round(s);
        have = AR_OUT;
    }
    if (t->parent >= 0)
        ar_send(s, t->parent, ar_region_in(have, all));
    ar_end_round(s);
}

void
ar_tree_broadcast(struct ar_schedule *s, const struct ar_tree *t)
{
    const struct ar_span all = ar_whole(s->count);

    if (t->parent >= 0)
        ar_recv(s, t->parent, ar_out(all));
    ar_end_round(s);
    for (int i = 0; i < t->nchildren; i++)
        ar_send(s, t->child[i], ar_out(all));
    ar_end_round(s);
}

void
ar_tree_scatter(struct ar_schedule *s, const struct ar_tree *t)
{
    const struct ar_cut cut = {s->count, s->nranks};

    if (t->parent >= 0)
        ar_recv(s, t->parent, ar_out(ar_blocks(cut, t->range.first, t->range.n)));
    ar_end_round(s);
    for (int i = 0; i < t->nchildren; i++)
        ar_send(s, t->child[i],
                ar_out(ar_blocks(cut, t->child_range[i].first, t->child_range[i].n)));
    ar_end_round(s);
}

/* --- binary trees --- */

/* Head of the range in an in-order tree: the median of its ranks of the given
 * parity; without any, the range is one leaf.  -1 without ranks. */
static int
inorder_head(struct ar_range range, int parity)
{
    const int start = range.first + (range.first % 2 != parity);
    const int inner = (range.first + range.n - start + 1) / 2;
    if (range.n == 0)
        return -1;
    return inner > 0 ? start + inner / 2 * 2 : range.first;
}

struct ar_binary
ar_binary_inorder(int rank, int nranks, int parity)
{
    struct ar_range range = {0, nranks};
    int parent = -1;

    for (;;) {
        const int head = inorder_head(range, parity);
        const struct ar_range low = {range.first, head - range.first};
        const struct ar_range high = {head + 1, range.n - low.n - 1};
        if (head == rank)
            return (struct ar_binary){parent, inorder_head(low, parity),
                                      inorder_head(high, parity)};
        parent = head;
        range = rank < head ? low : high;
    }
}

static int
last_of(struct ar_range range)
{
    return range.n > 0 ? range.first + range.n - 1 : -1;
}

struct ar_binary
ar_binary_postorder(int rank, struct ar_range range)
{
    int parent = -1;

    for (;;) {
        const int head = last_of(range);
        const struct ar_range below = {range.first, range.n - 1};
        const struct ar_range left = ar_range_part(below, 2, 0);
        const struct ar_range right = ar_range_part(below, 2, 1);
        if (head == rank)
            return (struct ar_binary){parent, last_of(left), last_of(right)};
        parent = head;
        range = holds(left, rank) ? left : right;
    }
}

enum ar_buffer
ar_binary_combine(struct ar_schedule *s, struct ar_binary node, struct ar_span span)
{
    /* In post-order both children come before the rank: the right one is next to it. */
    const int children[] = {node.right, node.left};
    enum ar_buffer have = AR_IN;

    for (int i = 0; i < 2; i++)
        if (children[i] >= 0) {
            ar_recv_combine(s, children[i], span, have, ar_rank_order(s->rank, children[i]));
            have = AR_OUT;
        }
    return have;
}

void
ar_binary_pass_down(struct ar_schedule *s, struct ar_binary node, struct ar_span span)
{
    if (node.left >= 0)
        ar_send(s, node.left, ar_out(span));
    if (node.right >= 0)
        ar_send(s, node.right, ar_out(span));
}

/* --- ranges that teach each other --- */

struct ar_range
ar_range_part(struct ar_range range, int parts, int i)
{
    const struct ar_span part = ar_block((struct ar_cut){(size_t)range.n, parts}, i);
    return (struct ar_range){range.first + (int)part.offset, (int)part.length};
}

int
ar_radix_parts(int n, int radix)
{
    int length = 1;
    while (length < (n - 1) / radix + 1)
        length *= radix;
    return (n - 1) / length + 1;
}

struct ar_split
ar_split_make(struct ar_range range, int parts, int rank)
{
    struct ar_split split = {range, parts, 0};
    while (!holds(ar_split_part(&split, split.own), rank))
        split.own++;
    return split;
}

struct ar_range
ar_split_part(const struct ar_split *split, int i)
{
    return ar_range_part(split->range, split->parts, i);
}

/* The rank of part from that teaches number j of part to. */
static int
teacher(const struct ar_split *split, int from, int to, int j)
{
    const struct ar_range part = ar_split_part(split, from);
    return part.first + (j < part.n ? j : to % part.n);
}

int
ar_split_teacher(const struct ar_split *split, int i, int rank)
{
    return teacher(split, i, split->own, rank - ar_split_part(split, split->own).first);
}

void
ar_split_teach(struct ar_schedule *s, const struct ar_split *split, int i, struct ar_region region)
{
    const struct ar_range mine = ar_split_part(split, split->own);
    const struct ar_range other = ar_split_part(split, i);
    const int j = s->rank - mine.first;

    if (j < other.n)
        ar_send(s, other.first + j, region);
    if (mine.n < other.n && teacher(split, split->own, i, mine.n) == s->rank)
        ar_send(s, other.first + mine.n, region);
}
