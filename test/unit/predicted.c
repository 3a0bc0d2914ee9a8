#include "predicted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

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
