/* Trees over ranks, and what runs along them.  Pure.
 *
 * In every tree here a subtree holds a range of ranks, so operands can be
 * combined in rank order whatever the root. */
#ifndef AR_TREE_H
#define AR_TREE_H

#include "schedule/schedule.h"

/* Ranks first .. first+n-1. */
struct ar_range {
    int first;
    int n;
};

/* Children a tree that halves ranges of int ranks can have at most. */
#define AR_TREE_CHILDREN 31

/* A rank's place in a binomial tree. */
struct ar_tree {
    int parent;            /* -1 at the root */
    struct ar_range range; /* of this rank's subtree */
    int nchildren;
    int child[AR_TREE_CHILDREN]; /* the one with the largest subtree first */
    struct ar_range child_range[AR_TREE_CHILDREN];
};

/* Where a range of n ranks is cut in two: in the middle (the first half is the
 * longer one), or behind the largest power of two of ranks that is < n. */
enum ar_tree_cut { AR_TREE_CUT_MIDDLE, AR_TREE_CUT_POW2 };

/* Fills in rank's place in the tree that cutting 0..nranks-1 again and again
 * makes.  The head of a range is root where root is in it, else its first rank.  Of the two
 * heads, the one that is not the whole's becomes the other's child.  Height ceil(log2 nranks)
 * for either cut and any root. */
void ar_tree_init(struct ar_tree *t, int rank, int nranks, int root, enum ar_tree_cut cut);

/* Emits the reduction to the root's OUT, in rank order; the same expression
 * whatever the root.  No scratch.  Nothing for one rank alone. */
void ar_tree_reduce(struct ar_schedule *s, const struct ar_tree *t);

/* Emits the broadcast of the root's OUT to OUT of all. */
void ar_tree_broadcast(struct ar_schedule *s, const struct ar_tree *t);

/* Emits the scatter of the root's OUT: rank i ends with at least block i of the
 * vector cut into nranks blocks. */
void ar_tree_scatter(struct ar_schedule *s, const struct ar_tree *t);

/* A rank's place in a binary tree; -1 where there is none. */
struct ar_binary {
    int parent;
    int left;
    int right;
};

/* In-order tree over 0..nranks-1 (left < rank < right) in which only ranks of
 * the given parity (0 even, 1 odd) have children.  The median of them is the root, and so on in
 * both halves.  Height at most ceil(log2(nranks + 1)). */
struct ar_binary ar_binary_inorder(int rank, int nranks, int parity);

/* Post-order tree over a range (left subtree, right subtree, root; the left one
 * the larger).  Height floor(log2 range.n). */
struct ar_binary ar_binary_postorder(int rank, struct ar_range range);

/* Emits one round in which this rank combines its children's contributions and
 * its own, in rank order; returns where the result is: OUT, or IN of a leaf.
 * The caller ends the round. */
enum ar_buffer ar_binary_combine(struct ar_schedule *s, struct ar_binary node, struct ar_span span);

/* Emits the sends of OUT to the children; the caller ends the round. */
void ar_binary_pass_down(struct ar_schedule *s, struct ar_binary node, struct ar_span span);

/* Part i of a range cut into parts ranges whose lengths differ by at most one,
 * the longer ones first. */
struct ar_range ar_range_part(struct ar_range range, int parts, int i);

/* Into how many parts knomial cuts a range of n ranks (n >= 1): as many as it takes for none to be
 * longer than the largest power of the radix below n. */
int ar_radix_parts(int n, int radix);

/* A range whose parts teach each other: each rank of a part has to learn what
 * every other part knows.  Rank number j of a part learns it from number j of the other part.
 * Where the other is shorter (by one), its ranks share the learners that are left over, one of
 * each longer part. */
struct ar_split {
    struct ar_range range;
    int parts;
    int own; /* the part that the emitting rank is in */
};

/* rank: the emitting one, of the range. */
struct ar_split ar_split_make(struct ar_range range, int parts, int rank);

struct ar_range ar_split_part(const struct ar_split *split, int i);

/* The rank of part i that teaches rank, of part own. */
int ar_split_teacher(const struct ar_split *split, int i, int rank);

/* Emits the sends of region to the ranks of part i that this rank teaches. */
void ar_split_teach(struct ar_schedule *s, const struct ar_split *split, int i,
                    struct ar_region region);

#endif
