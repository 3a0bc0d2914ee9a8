#include "predicted.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/bound.h"
#include "unit.h"

struct ar_prediction
predict_placed(const struct ar_machine *machine, const char *text, const int *node_of, int nranks,
               size_t count, size_t steps, double limit)
{
    struct ar_rules *rules;
    struct ar_problem problem;
    struct ar_prediction prediction;
    if (ar_rules_parse(&rules, text, &problem))
        fail_msg("%s: %s", text, problem.text);
    struct ar_choice choice = rules->clauses[0].choice;
    choice.params.node_of = node_of;
    const struct ar_question question = {machine, &choice,  nranks, count,
                                         1,       SIZE_MAX, steps,  limit};
    assert_int_equal(ar_predict(&prediction, &question), AR_OK);
    ar_rules_destroy(rules);
    return prediction;
}

struct ar_prediction
predict_within(const struct ar_machine *machine, const char *text, int nranks, size_t count,
               size_t steps, double limit)
{
    int *node_of = ar_machine_place(machine, nranks);
    const struct ar_prediction prediction =
        predict_placed(machine, text, node_of, nranks, count, steps, limit);
    free(node_of);
    return prediction;
}

struct ar_prediction
predict(const struct ar_machine *machine, const char *text, int nranks, size_t count, size_t steps)
{
    return predict_within(machine, text, nranks, count, steps, 0);
}

double
time_of(const struct ar_machine *machine, const char *text, int nranks, size_t count)
{
    return predict(machine, text, nranks, count, STEPS).end.at;
}

/* Where the machine has levels, these and no messages tell what an algorithm in shared memory takes
 * on one node. */
static bool
is_by_levels(const struct ar_machine *machine, const struct ar_algorithm *algorithm, int nranks)
{
    return machine->ndomains > 0 && algorithm->shares_memory && nranks <= machine->ranks_per_node;
}

void
expect_likely_estimates(const struct ar_machine *machine, int most_ranks)
{
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        for (int p = 4; p <= most_ranks; p += 5)
            for (size_t count = 64; count <= 1 << 20; count <<= 14) {
                const char *const name = ar_algorithm_at(i)->name;
                if (is_by_levels(machine, ar_algorithm_at(i), p))
                    continue;
                const struct ar_prediction all = predict(machine, name, p, count, STEPS);
                const struct ar_prediction estimate =
                    predict_within(machine, name, p, count, 1, DBL_MIN);
                assert_int_equal(estimate.quality, AR_QUALITY_ESTIMATE);
                if (estimate.end.at > 2.05 * all.end.at)
                    fail_msg("%s, %d ranks, %d a node, %zu bytes: estimated %g, is %g", name, p,
                             machine->ranks_per_node, count, estimate.end.at, all.end.at);
            }
}

void
expect_no_row_below_bound(const struct ar_machine *machine, int most_ranks)
{
    static const char *const cuts[] = {"%s", "%s(segment=1K,window=4)"};
    char text[80];
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        for (int p = 2; p <= most_ranks; p++)
            for (size_t bytes = 1; bytes <= 100000; bytes *= 10) {
                if (is_by_levels(machine, ar_algorithm_at(i), p))
                    continue;
                snprintf(text, sizeof text, cuts[bytes > 1000], ar_algorithm_at(i)->name);
                const struct ar_prediction x = predict(machine, text, p, bytes, STEPS);
                int *node_of = ar_machine_place(machine, p);
                const double bound = ar_machine_bound(machine, node_of, p, bytes, x.ports);
                free(node_of);
                assert_true(bound > 0);
                if (x.end.at < bound * (1 - 1e-9))
                    fail_msg("%s, %d ranks, %d a node, %zu bytes: %g, below %g", text, p,
                             machine->ranks_per_node, bytes, x.end.at, bound);
            }
}
