/* The elimination: how a search finds the best of its candidates.  It asks for one value after the
 * other, and drops candidates until one is left:
 *
 *     while ((i = ar_elimination_next(e)) < e->n)
 *         ar_elimination_note(e, i, what the measure says of candidate i);
 *     best = ar_elimination_winner(e);
 *
 * The roots begin.  Candidates that are much slower than the leader leave; variants of the
 * fastest roots enter and face the same.  What differs between measures is how much one
 * value says, so there are two rules.  The clock gives many noisy values, and all candidates have
 * one in each pass (ar_by_clock).  Calls of a program are dear, so each candidate has one turn, in
 * which the caller compares it with the incumbent in pairs (ar_by_calls).
 *
 * The error is known:
 *
 * - A candidate leaves after pass k only if each of its k values is more than factors[k-1] times
 *   the leader's median.  If disturbances slow a value down by that much with probability q, each
 *   independently, a candidate as fast as the leader leaves at that point with probability at most
 *   q^k.  Here k counts its own values; variants have fewer.
 * - One that is no faster than the incumbent by the rule's margin wins each pair with probability
 *   1/2 at most, and so replaces it with the probability that chance wins that share of the pairs:
 *   11.3 % for ar_by_clock (8 of 11), 1.1 % for ar_by_calls (9 of 10).  Then it loses little.
 *
 * The effort is bounded: ar_by_clock takes rule->passes values of each candidate, ar_by_calls one.
 * The order depends on the values alone, so that ranks that note the same values
 * do the same.  Pure. */
#ifndef AR_ELIMINATION_H
#define AR_ELIMINATION_H

#include "tuning/candidates.h"
#include "tuning/estimate.h"

#define AR_FACTORS_MAX 6

struct ar_elimination_rule {
    int passes;   /* in all */
    int nfactors; /* passes after which the slow leave; after the others none does */
    double factors[AR_FACTORS_MAX]; /* so many times as slow as the leader is too slow */
    size_t finalists;               /* that go on after the last of these, beside the incumbent */
    int vary_after;                 /* passes after which variants enter */
    size_t varied;                  /* of how many roots; those of the incumbent's enter, too */
    bool repeats;                   /* each pass asks all candidates that are in, else new ones */
    double margin, share;           /* of pairs, by which a winner must be faster */
};

extern const struct ar_elimination_rule ar_by_clock, ar_by_calls;

struct ar_standing {
    size_t root;
    bool is_first;
    bool stays; /* it is never dropped; nor is the incumbent */
    enum { AR_STANDS_ABSENT, AR_STANDS_IN, AR_STANDS_OUT } state;
    bool is_measured;        /* in this pass; or at all, where none repeats another */
    double least, likely;    /* the least of its values, and their median */
    struct ar_values values; /* those of the finals, once these have begun */
};

struct ar_elimination {
    const struct ar_elimination_rule *rule;
    struct ar_standing *of; /* owned; as in the list of candidates */
    size_t n;
    size_t incumbent; /* it stays, however slow; n: there is none */
    int pass;         /* complete ones */
};

/* AR_OK, or AR_ERR_MEMORY with nothing to fini. */
int ar_elimination_init(struct ar_elimination *e, const struct ar_elimination_rule *rule,
                        const struct ar_candidate_list *list, size_t incumbent);
void ar_elimination_fini(struct ar_elimination *e);

/* From the beginning, with another incumbent. */
void ar_elimination_restart(struct ar_elimination *e, size_t incumbent);

/* Candidate i, which is first, is measured in all passes, however slow; beside the finalists. */
void ar_elimination_keep(struct ar_elimination *e, size_t i);

/* Candidate i takes no part. */
void ar_elimination_exclude(struct ar_elimination *e, size_t i);

/* The candidate to measure next; e->n: the search is over.  Asked again without a note, it says the
 * same. */
size_t ar_elimination_next(struct ar_elimination *e);

/* A value of candidate i. */
void ar_elimination_note(struct ar_elimination *e, size_t i, double value);

/* The fastest candidate that is in, other than beside; e->n: there is none with a time. */
size_t ar_elimination_fastest(const struct ar_elimination *e, size_t beside);

/* Is a, which is in, faster than b by margin, in that share of the pairs? */
bool ar_elimination_beats(const struct ar_elimination *e, size_t a, size_t b, double margin,
                          double share);

/* The fastest, where it beats the incumbent by the rule's margin and share; else the incumbent. */
size_t ar_elimination_winner(const struct ar_elimination *e);

#endif
