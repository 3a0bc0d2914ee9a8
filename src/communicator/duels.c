#include <config.h>

#include "communicator/duels.h"

#include <stdlib.h>

#define QUICK_CALLS  1    /* of each side before the first judgement */
#define QUICK_FACTOR 3    /* /2: who is slower by more is out at once */
#define MARGIN_LEAST 50   /* thousandths that a winner must be faster by */
#define MARGIN_MOST  500  /* however much noise there is */
#define CHECK_CALLS  2000 /* between looks for drift, at least */
#define DRIFT_FACTOR 3    /* /2: so much slower or faster, twice in a row, is one */

static int64_t
earned(const struct ar_budget *budget)
{
    return budget->time_ns / 100 * budget->percent;
}

/* The first agreement costs about a call, so enough of these come before it. */
void
ar_duels_init(struct ar_duels *d, struct ar_budget *budget, size_t n)
{
    *d = (struct ar_duels){.budget = budget, .n = n, .warm_ups = 1};
    d->wake = (uint64_t)(100 / budget->percent);
}

size_t
ar_duels_turn(const struct ar_duels *d)
{
    const bool rivals_turn = d->state == AR_DUELLING && d->taken[1] <= d->taken[0];
    return rivals_turn ? d->rival : d->incumbent;
}

bool
ar_duels_counts(struct ar_duels *d)
{
    return ++d->calls >= d->wake;
}

/* --- times --- */

static int
compare_ns(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct ar_duel_times
ar_duels_summarize(struct ar_duels *d)
{
    struct ar_duel_times times = {.spent_ns = d->spent_ns, .agree_ns = d->budget->own_agree_ns};
    for (int side = 0; side < 2; side++) {
        const int n = d->taken[side];
        qsort(d->ns[side], (size_t)n, sizeof d->ns[side][0], compare_ns);
        times.median_ns[side] = n ? d->ns[side][n / 2] : 0;
    }
    times.call_ns = times.median_ns[0];
    if (times.median_ns[1] > 0)
        times.noise = 1000 - 1000 * d->ns[1][0] / times.median_ns[1];
    return times;
}

/* --- what comes next --- */

static void
account(struct ar_duels *d)
{
    d->budget->time_ns += (int64_t)(d->calls - d->accounted) * d->call_ns;
    d->accounted = d->calls;
}

/* Waits until there is enough for the rival's next calls, should it be half as fast. */
static void
wait_for(struct ar_duels *d, int calls)
{
    const int64_t wanted = calls * d->call_ns + d->budget->agree_ns;
    const int64_t missing = wanted - (earned(d->budget) - d->budget->spent_ns);
    const int64_t a_call = d->call_ns * d->budget->percent / 100 + 1;
    d->wake = d->calls + (uint64_t)(missing > 0 ? missing / a_call + 1 : 1);
    d->state = AR_WAITING;
}

static void
begin(struct ar_duels *d, enum ar_duels_state state, int warm_ups)
{
    d->state = state;
    d->warm_ups = warm_ups;
    d->taken[0] = d->taken[1] = 0;
    d->spent_ns = 0;
}

/* Looks for drift are far enough apart not to be felt. */
static void
rest(struct ar_duels *d)
{
    const int64_t calls = 1000 * d->budget->agree_ns / (d->call_ns + 1);
    d->state = AR_SETTLED;
    d->wake = d->calls + (uint64_t)(calls > CHECK_CALLS ? calls : CHECK_CALLS);
}

/* The next rival, or the end. */
static bool
go_on(struct ar_duels *d)
{
    d->has_won = false;
    d->rival++;
    d->rival += d->rival == d->first;
    if (d->rival < d->n)
        wait_for(d, QUICK_CALLS + 1);
    else
        rest(d);
    return d->state == AR_SETTLED;
}

static bool
end_measuring(struct ar_duels *d, const struct ar_duel_times *times)
{
    d->incumbent_ns = times->median_ns[0] + 1;
    d->call_ns = times->call_ns + 1;
    d->gain = 1;
    d->tried = 1;
    d->first = d->incumbent;
    d->rival = SIZE_MAX; /* before 0 */
    return go_on(d);
}

static bool
end_look(struct ar_duels *d, const struct ar_duel_times *times)
{
    const int64_t now = times->median_ns[0], then = d->incumbent_ns;
    const bool drifted = 2 * now > DRIFT_FACTOR * then || 2 * then > DRIFT_FACTOR * now;
    d->drifts = drifted ? d->drifts + 1 : 0;
    rest(d);
    if (drifted)
        d->wake = d->calls + CHECK_CALLS;
    if (d->drifts == 2) { /* from the beginning */
        begin(d, AR_MEASURING, 0);
        d->wake = d->drifts = 0;
    }
    return false;
}

static bool
wins(const struct ar_duel_times *times)
{
    const int64_t own = times->median_ns[0], rivals = times->median_ns[1];
    const int64_t margin = times->noise < MARGIN_LEAST  ? MARGIN_LEAST
                           : times->noise > MARGIN_MOST ? MARGIN_MOST
                                                        : times->noise;
    return rivals * (1000 + margin) < own * 1000;
}

/* After the first judgement, and after the last.  To win once is chance. */
static bool
judge_duel(struct ar_duels *d, const struct ar_duel_times *times)
{
    const bool is_last = d->taken[0] == AR_DUEL_CALLS;
    const int64_t own = times->median_ns[0], rivals = times->median_ns[1];
    const bool is_hopeless = 2 * rivals > QUICK_FACTOR * own;
    if (!is_last && !is_hopeless)
        return false; /* on with it */
    const int64_t excess = times->spent_ns - (d->taken[1] + 1) * times->call_ns;
    if (excess > 0)
        d->budget->spent_ns += excess;
    const bool has_won = is_last && wins(times);
    if (has_won && !d->has_won) {
        d->has_won = true;
        wait_for(d, QUICK_CALLS + 1);
        return false;
    }
    d->tried++;
    if (has_won) {
        d->incumbent = d->rival;
        d->call_ns = d->call_ns * (rivals + 1) / (own + 1) + 1;
        d->incumbent_ns = rivals + 1;
        d->gain *= (double)own / (double)(rivals + 1);
    }
    return go_on(d);
}

bool
ar_duels_judge(struct ar_duels *d, const struct ar_duel_times *times)
{
    d->budget->spent_ns += times->agree_ns;
    d->budget->agree_ns = times->agree_ns;
    switch (d->state) {
    case AR_MEASURING:
        return end_measuring(d, times);
    case AR_LOOKING:
        return end_look(d, times);
    default:
        return judge_duel(d, times);
    }
}

/* --- calls --- */

/* Ends a warm-up, or takes a time. */
static void
take(struct ar_duels *d, int side, int64_t ns)
{
    if (d->warm_ups > 0 && side == (d->state == AR_DUELLING))
        d->warm_ups--;
    else
        d->ns[side][d->taken[side]++] = ns;
}

bool
ar_duels_note(struct ar_duels *d, int64_t ns)
{
    account(d);
    switch (d->state) {
    case AR_WAITING:
        wait_for(d, QUICK_CALLS + 1);
        if (d->wake == d->calls + 1)
            begin(d, AR_DUELLING, 1);
        return false;
    case AR_SETTLED:
        begin(d, AR_LOOKING, 0);
        return false;
    case AR_DUELLING: {
        const int side = d->taken[1] <= d->taken[0];
        d->spent_ns += side ? ns : 0;
        take(d, side, ns);
        return d->taken[0] == d->taken[1] &&
               (d->taken[0] == QUICK_CALLS || d->taken[0] == AR_DUEL_CALLS);
    }
    default:
        take(d, 0, ns);
        return d->taken[0] == AR_DUEL_CALLS;
    }
}
