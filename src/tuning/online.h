/* The search by the calls of a program, for one kind of call.  The choice of the moment, the
 * incumbent, is compared with its rivals in turns.  A call each and a first judgement come first,
 * then more of AR_ONLINE_PAIRS pairs of calls, in two batches.  Which rival comes next, and which
 * are left out, is decided by the elimination (ar_by_calls).  All of it follows from counts of
 * calls and from times that the ranks agreed on, so all ranks do the same without asking.  No
 * clock.  Pure.
 *
 * A call goes like this:
 *
 *     choice = ar_online_turn(o);
 *     wanted = ar_online_counts(o);
 *     ... the call, in ns ...
 *     if (wanted && ar_online_note(o, ns)) {
 *         times = ar_online_summarize(o);
 *         ... the ranks agree on each number: the least of pairs, the greatest of the others ...
 *         ar_online_judge(o, &times);
 *     }
 */
#ifndef AR_ONLINE_H
#define AR_ONLINE_H

#include "tuning/elimination.h"

#define AR_ONLINE_BATCH 5 /* pairs between two agreements; odd */
#define AR_ONLINE_PAIRS (2 * AR_ONLINE_BATCH)

/* What trials may cost, for all kinds of calls of a communicator.  All but own_agree_ns is agreed.
 */
struct ar_budget {
    int percent; /* of the time in allreduce */
    int64_t time_ns, spent_ns;
    int64_t agree_ns;     /* what an agreement takes */
    int64_t own_agree_ns; /* of the last one, on this rank */
};

/* What a rank contributes to an agreement.  The least time of all ranks counts for a call: where
 * ranks come at different times that is the time of the last one, and the others' times contain
 * their waiting.  In a loop of calls all ranks take equally long. */
struct ar_online_times {
    int64_t pairs[2][AR_ONLINE_BATCH]; /* of the incumbent, and of the rival */
    int64_t call_ns;  /* the incumbent's median, of which the greatest counts: what calls take,
                         waiting and all */
    int64_t spent_ns; /* by the rival, in all calls of the batch */
    int64_t agree_ns; /* by the agreement before */
};

struct ar_online {
    struct ar_budget *budget;
    const struct ar_candidate_list *list;
    int nranks;
    struct ar_elimination search;
    bool is_timing; /* calls are timed: the incumbent and its rival, or the incumbent alone.
                       Otherwise wake tells when that begins */
    size_t first, incumbent, rival; /* rival: SIZE_MAX where there is none */
    size_t tried;
    double gain;                     /* over the first incumbent, as far as pairs were won */
    int64_t incumbent_ns, call_ns;   /* agreed; 0: not known yet */
    uint64_t calls, accounted, wake; /* so many so far; in the budget; when there is something to
                                        do */
    int warm_ups;                    /* calls of this batch that do not count */
    int taken[2];                    /* times of the incumbent, and of the rival */
    int64_t ns[2][AR_ONLINE_BATCH];
    int64_t spent_ns;
    struct ar_values values[2]; /* agreed, of the batches before: as taken */
    int drifts;                 /* looks in a row that saw one */
};

/* Begins to measure what runs now. */
void ar_online_init(struct ar_online *o, struct ar_budget *budget, int nranks);

/* The candidates, which must outlive o, of which first runs now; before the first judgement.  AR_OK
 * or AR_ERR_MEMORY. */
int ar_online_enter(struct ar_online *o, const struct ar_candidate_list *list, size_t first);
void ar_online_fini(struct ar_online *o);

/* Is the next call a part of a trial?  Otherwise the incumbent runs it. */
bool ar_online_is_trying(const struct ar_online *o);

/* Has all been tried? */
bool ar_online_is_settled(const struct ar_online *o);

/* The candidate that runs the next call. */
size_t ar_online_turn(const struct ar_online *o);

/* Counts a call to come; is its time wanted? */
bool ar_online_counts(struct ar_online *o);

/* Takes the time of a call whose time was wanted; do the ranks have to agree now? */
bool ar_online_note(struct ar_online *o, int64_t ns);

struct ar_online_times ar_online_summarize(const struct ar_online *o);

/* What follows from the times that were agreed on.  True where all has been tried: the incumbent
 * stays, until it drifts. */
bool ar_online_judge(struct ar_online *o, const struct ar_online_times *times);

#endif
