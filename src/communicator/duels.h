/* The course of online tuning for one kind of call: the choice of the moment (the incumbent) has
 * duels with its rivals, in turns: a call each and a first judgement, then the rest of
 * AR_DUEL_CALLS and the verdict; who wins twice stays.  All of it follows from counts of calls and
 * from times that the ranks agreed on, so all ranks do the same without asking.  No MPI, no clock.
 *
 * A call goes like this:
 *
 *     choice = ar_duels_turn(d);
 *     wanted = ar_duels_counts(d);
 *     ... the call, in ns ...
 *     if (wanted && ar_duels_note(d, ns)) {
 *         times = ar_duels_summarize(d);
 *         ... the ranks agree on each number: the least of medians, the greatest of the others ...
 *         ar_duels_judge(d, &times);
 *     }
 */
#ifndef AR_DUELS_H
#define AR_DUELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AR_DUEL_CALLS 5 /* of each side; odd */

/* Of all kinds of calls of a communicator: what trials may cost.  All but own_agree_ns is agreed.
 */
struct ar_budget {
    int percent; /* of the time in allreduce */
    int64_t time_ns, spent_ns;
    int64_t agree_ns;     /* what an agreement takes */
    int64_t own_agree_ns; /* of the last one, on this rank */
};

/* What a rank contributes to an agreement.  Of medians the least of all ranks counts: in a program
 * whose ranks come at different times that is the last one's, and the others' have their waiting
 * in them; in a loop of calls all ranks take as long. */
struct ar_duel_times {
    int64_t median_ns[2]; /* of the incumbent, and of the rival */
    int64_t call_ns;      /* the incumbent's median again, of which the greatest counts: what calls
                             take, waiting and all */
    int64_t noise;        /* thousandths: how far the rival's least is below its median */
    int64_t spent_ns;     /* by the rival, in all calls */
    int64_t agree_ns;     /* by the agreement before */
};

enum ar_duels_state { AR_MEASURING, AR_WAITING, AR_DUELLING, AR_SETTLED, AR_LOOKING };

struct ar_duels {
    struct ar_budget *budget;
    enum ar_duels_state state;
    size_t n; /* choices */
    size_t first, incumbent, rival;
    size_t tried;
    double gain;                     /* over the first incumbent, by the duels that were won */
    int64_t incumbent_ns, call_ns;   /* agreed */
    uint64_t calls, accounted, wake; /* so many so far; in the budget; when there is something to
                                        do */
    int warm_ups;                    /* calls of this duel that do not count */
    int taken[2];                    /* times of the incumbent, and of the rival */
    int64_t ns[2][AR_DUEL_CALLS];
    int64_t spent_ns;
    bool has_won; /* the rival, once */
    int drifts;   /* looks in a row that saw one */
};

/* Of choices 0 .. n-1, the first of which is the incumbent. */
void ar_duels_init(struct ar_duels *d, struct ar_budget *budget, size_t n);

/* The choice that runs the next call. */
size_t ar_duels_turn(const struct ar_duels *d);

/* Counts a call to come; is its time wanted? */
bool ar_duels_counts(struct ar_duels *d);

/* Takes the time of a call whose time was wanted; do the ranks have to agree now? */
bool ar_duels_note(struct ar_duels *d, int64_t ns);

struct ar_duel_times ar_duels_summarize(struct ar_duels *d);

/* What follows from the times that were agreed on.  True where all has been tried: the incumbent
 * stays, until it drifts. */
bool ar_duels_judge(struct ar_duels *d, const struct ar_duel_times *times);

#endif
