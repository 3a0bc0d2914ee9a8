#include "select/trials.h"

#include <stdlib.h>
#include <string.h>

#include "select/names.h"
#include "select/rules.h"

/* In the grammar of rules; of these every clause that matches is tried. */
static const char few_text[] = "shm;"
                               "two_level:nodes=2-inf;"
                               "butterfly:0-64K;"
                               "rhd:1K-inf@3-inf;"
                               "ring:32K-inf@3-inf;"
                               "ring(segment=1M,window=2):2M-inf;"
                               "knomial(radix=4):0-8K@4-inf;"
                               "star:0-1K@3-8;"
                               "bidirectional_ring:256K-inf@3-inf;"
                               "native";

static const char variants_text[] = "knomial(radix=3):0-64K@3-inf;"
                                    "knomial(radix=4):0-64K@4-inf;"
                                    "knomial(radix=8):0-64K@8-inf;"
                                    "shm(whole=inf):1K-64K;"
                                    "shm(whole=1):1K-64K;"
                                    "shm(segment=16K):64K-inf;"
                                    "shm(segment=64K):256K-inf";

/* Segments that any other row may have: a fraction of the message, several in flight. */
static const struct {
    size_t bytes;
    int window;
} segments[] = {{(size_t)16 << 10, 4},
                {(size_t)64 << 10, 4},
                {(size_t)256 << 10, 2},
                {(size_t)1 << 20, 2},
                {(size_t)4 << 20, 2}};

static int
append(struct ar_trial_list *list, const struct ar_choice *choice)
{
    char text[AR_CHOICE_TEXT], other[AR_CHOICE_TEXT];
    ar_choice_print(choice, text, sizeof text);
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(ar_choice_print(&list->choices[i], other, sizeof other), text) == 0)
            return AR_OK;
    struct ar_choice *const more = reallocarray(list->choices, list->n + 1, sizeof *more);
    if (!more)
        return AR_ERR_MEMORY;
    list->choices = more;
    more[list->n++] = *choice;
    return AR_OK;
}

static bool
may_try(const struct ar_choice *choice, const struct ar_request *request, const bool *allowed)
{
    return choice->kind != AR_CHOICE_ALGORITHM ||
           ar_auto_may_pick(choice->algorithm, request, allowed);
}

/* Of row, or of all rows where that is NULL. */
static int
append_clauses(struct ar_trial_list *list, const char *text, const struct ar_request *request,
               const bool *allowed, const struct ar_algorithm *row)
{
    struct ar_problem problem;
    struct ar_rules *rules;
    int error = ar_rules_parse(&rules, text, &problem);
    if (error)
        return AR_ERR_MEMORY;
    for (size_t i = 0; i < ar_rules_count(rules) && !error; i++) {
        const struct ar_choice *const choice = ar_rules_choice(rules, i);
        if ((!row || choice->algorithm == row) && may_try(choice, request, allowed) &&
            ar_rules_clause_matches(rules, i, request))
            error = append(list, choice);
    }
    ar_rules_destroy(rules);
    return error;
}

static int
append_segments(struct ar_trial_list *list, const struct ar_request *request,
                const struct ar_algorithm *row)
{
    int error = AR_OK;
    for (size_t i = 0; i < sizeof segments / sizeof segments[0] && !error; i++) {
        struct ar_choice choice = ar_choice_default(row);
        choice.params.segment_bytes = segments[i].bytes;
        choice.params.window = segments[i].window;
        if (segments[i].bytes <= request->bytes / 2)
            error = append(list, &choice);
    }
    return error;
}

static int
append_all(struct ar_trial_list *list, const struct ar_request *request, const bool *allowed)
{
    const struct ar_choice native = ar_choice_of(AR_CHOICE_NATIVE);
    int error = append(list, &native);
    for (size_t i = 0; i < ar_algorithm_count() && !error; i++) {
        const struct ar_choice choice = ar_choice_default(ar_algorithm_at(i));
        if (may_try(&choice, request, allowed))
            error = append(list, &choice);
    }
    return error;
}

static int
append_variants(struct ar_trial_list *list, const struct ar_request *request, const bool *allowed,
                const struct ar_algorithm *row)
{
    int error = append_clauses(list, variants_text, request, allowed, row);
    if (!error && !row->shares_memory)
        error = append_segments(list, request, row);
    return error;
}

static int
append_auto(struct ar_trial_list *list, const struct ar_request *request, const bool *allowed)
{
    struct ar_choice choice;
    const int error = ar_auto_choose(&choice, request, allowed);
    return error ? error : append(list, &choice);
}

int
ar_trials_list(struct ar_trial_list *list, enum ar_trials which, const struct ar_request *request,
               const bool *allowed, const struct ar_algorithm *row)
{
    int error;
    *list = (struct ar_trial_list){NULL, 0};
    if (which == AR_TRIALS_VARIANTS) {
        error = append_variants(list, request, allowed, row);
    } else {
        error = append_auto(list, request, allowed);
        if (!error)
            error = which == AR_TRIALS_FEW ? append_clauses(list, few_text, request, allowed, NULL)
                                           : append_all(list, request, allowed);
    }
    if (error)
        ar_trials_fini(list);
    return error;
}

void
ar_trials_fini(struct ar_trial_list *list)
{
    free(list->choices);
    *list = (struct ar_trial_list){NULL, 0};
}
