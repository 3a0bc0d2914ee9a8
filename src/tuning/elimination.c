#include "tuning/elimination.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* After pass 4 variants have one value where the others have four, so that the limit is wider again
 * then. */
const struct ar_elimination_rule ar_by_clock = {
    .passes = 17,
    .nfactors = 6,
    .factors = {4, 2, 1.6, 1.8, 1.5, 1.3},
    .finalists = 6,
    .vary_after = 3,
    .varied = 3,
    .repeats = true,
    .margin = 0.02,
    .share = 2.0 / 3,
};

const struct ar_elimination_rule ar_by_calls = {
    .passes = 2,
    .nfactors = 1,
    .factors = {1.5},
    .finalists = SIZE_MAX,
    .vary_after = 1,
    .varied = 3,
    .margin = 0.05,
    .share = 0.85,
};

void
ar_elimination_restart(struct ar_elimination *e, size_t incumbent)
{
    for (size_t i = 0; i < e->n; i++) {
        struct ar_standing *const entry = &e->of[i];
        entry->state = entry->is_first || i == incumbent ? AR_STANDS_IN : AR_STANDS_ABSENT;
        entry->is_measured = false;
        entry->least = entry->likely = INFINITY;
        entry->values.n = 0;
    }
    e->incumbent = incumbent;
    e->pass = 0;
}

int
ar_elimination_init(struct ar_elimination *e, const struct ar_elimination_rule *rule,
                    const struct ar_candidate_list *list, size_t incumbent)
{
    struct ar_standing *const entries = calloc(list->n + 1, sizeof *entries);
    if (!entries)
        return AR_ERR_MEMORY;
    *e = (struct ar_elimination){.rule = rule, .of = entries, .n = list->n};
    for (size_t i = 0; i < list->n; i++) {
        entries[i].root = list->of[i].root;
        entries[i].is_first = list->of[i].is_first;
    }
    ar_elimination_restart(e, incumbent);
    return AR_OK;
}

void
ar_elimination_fini(struct ar_elimination *e)
{
    free(e->of);
    *e = (struct ar_elimination){0};
}

void
ar_elimination_keep(struct ar_elimination *e, size_t i)
{
    e->of[i].stays = true;
}

void
ar_elimination_exclude(struct ar_elimination *e, size_t i)
{
    e->of[i].state = AR_STANDS_OUT;
}

/* --- values --- */

void
ar_elimination_note(struct ar_elimination *e, size_t i, double value)
{
    struct ar_standing *const entry = &e->of[i];
    ar_values_add(&entry->values, value);
    entry->least = ar_values_least(&entry->values);
    entry->likely = ar_values_median(&entry->values);
    entry->is_measured = true;
}

size_t
ar_elimination_fastest(const struct ar_elimination *e, size_t beside)
{
    size_t best = e->n;
    for (size_t i = 0; i < e->n; i++)
        if (i != beside && e->of[i].state == AR_STANDS_IN && e->of[i].likely < INFINITY &&
            (best == e->n || e->of[i].likely < e->of[best].likely))
            best = i;
    return best;
}

bool
ar_elimination_beats(const struct ar_elimination *e, size_t a, size_t b, double margin,
                     double share)
{
    return e->of[a].state == AR_STANDS_IN &&
           ar_values_won(&e->of[a].values, &e->of[b].values, margin) >= share;
}

size_t
ar_elimination_winner(const struct ar_elimination *e)
{
    const size_t best = ar_elimination_fastest(e, e->n), incumbent = e->incumbent;
    if (incumbent == e->n || best == e->n)
        return best;
    return ar_elimination_beats(e, best, incumbent, e->rule->margin, e->rule->share) ? best
                                                                                     : incumbent;
}

/* --- passes --- */

/* How many are faster, or as fast and before it. */
static size_t
place_of(const struct ar_elimination *e, size_t i)
{
    size_t place = 0;
    for (size_t k = 0; k < e->n; k++)
        place += e->of[k].state == AR_STANDS_IN && (e->of[k].likely < e->of[i].likely ||
                                                    (k < i && e->of[k].likely <= e->of[i].likely));
    return place;
}

/* Places change while some leave, but not those of the finalists. */
static void
drop_slow(struct ar_elimination *e)
{
    const size_t leader = ar_elimination_fastest(e, e->n);
    const size_t most = e->pass == e->rule->nfactors ? e->rule->finalists : SIZE_MAX;
    if (leader == e->n)
        return;
    const double limit = e->rule->factors[e->pass - 1] * e->of[leader].likely;
    for (size_t i = 0; i < e->n; i++)
        if (e->of[i].state == AR_STANDS_IN && i != e->incumbent && !e->of[i].stays &&
            (e->of[i].least > limit || place_of(e, i) >= most))
            e->of[i].state = AR_STANDS_OUT;
}

static void
enter_variants(struct ar_elimination *e)
{
    const size_t kept = e->incumbent < e->n ? e->of[e->incumbent].root : e->n;
    for (size_t i = 0; i < e->n; i++) {
        const size_t root = e->of[i].root;
        if (e->of[i].state == AR_STANDS_ABSENT &&
            (root == kept ||
             (e->of[root].state == AR_STANDS_IN && place_of(e, root) < e->rule->varied)))
            e->of[i].state = AR_STANDS_IN;
    }
}

static void
end_pass(struct ar_elimination *e)
{
    const struct ar_elimination_rule *const rule = e->rule;
    e->pass++;
    if (e->pass <= rule->nfactors)
        drop_slow(e);
    if (e->pass == rule->vary_after)
        enter_variants(e);
    for (size_t i = 0; i < e->n && rule->repeats && e->pass < rule->passes; i++) {
        e->of[i].is_measured = false;
        if (e->pass == rule->nfactors && e->of[i].state == AR_STANDS_IN)
            e->of[i].values.n = 0;
    }
}

static size_t
first_unmeasured(const struct ar_elimination *e)
{
    size_t i = 0;
    while (i < e->n && (e->of[i].state != AR_STANDS_IN || e->of[i].is_measured))
        i++;
    return i;
}

size_t
ar_elimination_next(struct ar_elimination *e)
{
    size_t i = first_unmeasured(e);
    while (i == e->n && e->pass < e->rule->passes) {
        end_pass(e);
        i = first_unmeasured(e);
    }
    return i;
}
