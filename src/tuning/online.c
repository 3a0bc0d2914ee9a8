#include "tuning/online.h"

#include <stdint.h>

#define QUICK_CALLS  1    /* of each side before the first judgement */
#define CHECK_CALLS  2000 /* between looks for drift, at least */
#define DRIFT_FACTOR 3    /* /2: so much slower or faster, twice in a row, is one */
#define NONE         SIZE_MAX

/* Enough calls come before the first agreement, which costs about a call. */
void
ar_online_init(struct ar_online *o, struct ar_budget *budget, int nranks)
{
    *o = (struct ar_online){
        .budget = budget, .nranks = nranks, .rival = NONE, .is_timing = true, .warm_ups = 1};
    o->wake = (uint64_t)(100 / budget->percent);
}

int
ar_online_enter(struct ar_online *o, const struct ar_candidate_list *list, size_t first)
{
    o->list = list;
    o->first = o->incumbent = first;
    return ar_elimination_init(&o->search, &ar_by_calls, list, first);
}

void
ar_online_fini(struct ar_online *o)
{
    ar_elimination_fini(&o->search);
}

bool
ar_online_is_trying(const struct ar_online *o)
{
    return o->is_timing && o->rival != NONE;
}

bool
ar_online_is_settled(const struct ar_online *o)
{
    return o->incumbent_ns > 0 && o->rival == NONE;
}

/* Whose turn it is: 1 for the rival's.  Which side begins a pair follows the sequence of Thue and
 * Morse, which has no period.  Lengths of a program's calls often have one, so that otherwise one
 * side might get the short ones. */
static int
side_of(const struct ar_online *o)
{
    if (!ar_online_is_trying(o))
        return 0;
    if (o->warm_ups > 0)
        return 1;
    if (o->taken[0] != o->taken[1])
        return o->taken[1] < o->taken[0];
    return __builtin_parity((unsigned)(o->values[1].n + o->taken[0]));
}

size_t
ar_online_turn(const struct ar_online *o)
{
    return side_of(o) ? o->rival : o->incumbent;
}

bool
ar_online_counts(struct ar_online *o)
{
    return ++o->calls >= o->wake;
}

/* --- times --- */

/* Of an odd number of times, or of none: 0. */
static int64_t
median(const int64_t *ns, int n)
{
    struct ar_values values = {.n = 0};
    for (int i = 0; i < n; i++)
        ar_values_add(&values, (double)ns[i]);
    return n > 0 ? (int64_t)ar_values_median(&values) : 0;
}

struct ar_online_times
ar_online_summarize(const struct ar_online *o)
{
    struct ar_online_times times = {.call_ns = median(o->ns[0], o->taken[0]),
                                    .spent_ns = o->spent_ns,
                                    .agree_ns = o->budget->own_agree_ns};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < o->taken[side]; i++)
            times.pairs[side][i] = o->ns[side][i];
    return times;
}

/* --- what comes next --- */

/* Waits until the budget covers the rival's next calls, even if it is half as fast or, where it is
 * not known to win anywhere, even if its ranks work one after the other. */
static void
wait_for_rival(struct ar_online *o)
{
    struct ar_budget *const b = o->budget;
    const bool may_be_slow = !o->list->of[o->rival].is_usual && o->nranks > 2;
    const int64_t excess = may_be_slow ? (o->nranks - 1) * o->call_ns : o->call_ns;
    const int64_t wanted = (QUICK_CALLS + 1) * excess + b->agree_ns;
    const int64_t missing = wanted - (b->time_ns / 100 * b->percent - b->spent_ns);
    const int64_t a_call = o->call_ns * b->percent / 100 + 1;
    o->wake = o->calls + (uint64_t)(missing > 0 ? missing / a_call + 1 : 1);
    o->is_timing = false;
}

static void
begin(struct ar_online *o, int warm_ups)
{
    o->is_timing = true;
    o->warm_ups = warm_ups;
    o->taken[0] = o->taken[1] = 0;
    o->spent_ns = 0;
}

/* Looks for drift are far enough apart not to be felt. */
static void
rest(struct ar_online *o)
{
    const int64_t calls = 1000 * o->budget->agree_ns / (o->call_ns + 1);
    o->is_timing = false;
    o->wake = o->calls + (uint64_t)(calls > CHECK_CALLS ? calls : CHECK_CALLS);
}

/* The next rival; true: there is none. */
static bool
go_on(struct ar_online *o)
{
    const size_t next = ar_elimination_next(&o->search);
    o->rival = next < o->list->n ? next : NONE;
    o->values[0].n = o->values[1].n = 0;
    if (o->rival != NONE)
        wait_for_rival(o);
    else
        rest(o);
    return ar_online_is_settled(o);
}

static bool
end_measuring(struct ar_online *o, int64_t median_ns, int64_t call_ns)
{
    o->incumbent_ns = median_ns + 1;
    o->call_ns = call_ns + 1;
    o->gain = 1;
    o->tried = 1;
    o->first = o->incumbent;
    ar_elimination_restart(&o->search, o->incumbent);
    ar_elimination_note(&o->search, o->incumbent, 1);
    return go_on(o);
}

static void
end_look(struct ar_online *o, int64_t now)
{
    const int64_t then = o->incumbent_ns;
    const bool has_drifted = 2 * now > DRIFT_FACTOR * then || 2 * then > DRIFT_FACTOR * now;
    o->drifts = has_drifted ? o->drifts + 1 : 0;
    rest(o);
    if (has_drifted)
        o->wake = o->calls + CHECK_CALLS;
    if (o->drifts == 2) { /* from the beginning */
        begin(o, 0);
        o->incumbent_ns = 0;
        o->wake = 0;
        o->drifts = 0;
    }
}

/* Is the rival out by these pairs?  So slow that more calls would be wasted, or unable to win
 * its share of all pairs. */
static bool
is_out(const struct ar_elimination_rule *rule, const struct ar_values values[2])
{
    const int n = values[1].n;
    const double won = ar_values_won(&values[1], &values[0], rule->margin) * n;
    if (ar_values_median(&values[1]) > rule->factors[0] * ar_values_median(&values[0]))
        return true;
    return n >= AR_ONLINE_BATCH && won + AR_ONLINE_PAIRS - n < rule->share * AR_ONLINE_PAIRS;
}

/* Judges the rival by the pairs that are agreed on so far.  Called after the first call of each,
 * which counts in the batch again, after the first batch, and after the second. */
static bool
judge_rival(struct ar_online *o, const struct ar_online_times *times)
{
    struct ar_values values[2] = {o->values[0], o->values[1]};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < o->taken[side]; i++)
            ar_values_add(&values[side], (double)times->pairs[side][i] + 1);
    const bool out = is_out(o->search.rule, values);
    if (!out && o->taken[1] < AR_ONLINE_BATCH)
        return false; /* on with it */
    const int64_t excess = times->spent_ns - (o->taken[1] + 1) * times->call_ns;
    o->budget->spent_ns += excess > 0 ? excess : 0;
    if (!out && values[1].n < AR_ONLINE_PAIRS) {
        o->values[0] = values[0];
        o->values[1] = values[1];
        wait_for_rival(o);
        return false;
    }
    const double ratio = ar_values_median(&values[1]) / ar_values_median(&values[0]);
    o->tried++;
    ar_elimination_note(&o->search, o->rival, ratio / o->gain);
    if (!out) { /* the rival takes the incumbent's place */
        o->incumbent = o->search.incumbent = o->rival;
        o->incumbent_ns = (int64_t)((double)o->incumbent_ns * ratio) + 1;
        o->call_ns = (int64_t)((double)o->call_ns * ratio) + 1;
        o->gain /= ratio;
    }
    return go_on(o);
}

bool
ar_online_judge(struct ar_online *o, const struct ar_online_times *times)
{
    const int64_t median_ns = median(times->pairs[0], o->taken[0]);
    o->budget->spent_ns += times->agree_ns;
    o->budget->agree_ns = times->agree_ns;
    if (ar_online_is_trying(o))
        return judge_rival(o, times);
    if (!ar_online_is_settled(o))
        return end_measuring(o, median_ns, times->call_ns);
    end_look(o, median_ns);
    return false;
}

/* --- calls --- */

static void
account(struct ar_online *o)
{
    o->budget->time_ns += (int64_t)(o->calls - o->accounted) * o->call_ns;
    o->accounted = o->calls;
}

/* Ends a warm-up, or takes a time.  Is the batch complete? */
static bool
take(struct ar_online *o, int64_t ns)
{
    const int side = side_of(o);
    const bool tries = ar_online_is_trying(o);
    o->spent_ns += side ? ns : 0;
    if (o->warm_ups > 0 && side == tries)
        o->warm_ups--;
    else
        o->ns[side][o->taken[side]++] = ns;
    if (!tries)
        return o->taken[0] == AR_ONLINE_BATCH;
    return o->taken[0] == o->taken[1] &&
           ((o->taken[0] == QUICK_CALLS && o->values[1].n == 0) || o->taken[0] == AR_ONLINE_BATCH);
}

bool
ar_online_note(struct ar_online *o, int64_t ns)
{
    account(o);
    if (o->is_timing)
        return take(o, ns);
    if (ar_online_is_settled(o)) {
        begin(o, 0);
        return false;
    }
    wait_for_rival(o);
    if (o->wake == o->calls + 1)
        begin(o, 1);
    return false;
}
