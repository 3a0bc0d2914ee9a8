/* On one node auto by the model is not slower than flat, and advises only what is a candidate. */
#include <stdio.h>
#include <stdlib.h>

#include "predicted.h"
#include "select/names.h"
#include "tuning/advise.h"
#include "unit.h"

#define ELEMENT_BYTES 8
#define BYTES_MOST    ((size_t)1 << 20)
#define SLOWER        1.021 /* a change must be worth 2 % */

/* Nodes about as two EPYCs are, whose caches have so many ranks: of most numbers of ranks the
 * groups are unequal, so that no one list of levels is good for all. */
static struct ar_machine
with_caches_of(int ranks)
{
    char text[1024], problem[AR_MACHINE_PROBLEM];
    struct ar_machine machine;
    snprintf(text, sizeof text,
             "rank  reduction 20GB/s  copy 20GB/s  access 10ns  ahead 4\n"
             "node  ranks 96  cores 96  latency 300ns  bandwidth 8GB/s  overhead 100ns  "
             "memory 348GB/s\n"
             "level l3      ranks %d  latency  25ns  serve 20ns  bandwidth 41GB/s  cache 16M  "
             "link 23GB/s\n"
             "level socket  ranks 48  latency 110ns  serve 20ns  bandwidth  9GB/s\n"
             "level node    ranks 96  latency 220ns  serve 20ns  bandwidth  5GB/s\n"
             "network  latency 1us  bandwidth 12.5GB/s  overhead 250ns  eager 64K\n",
             ranks);
    if (ar_machine_parse(&machine, text, problem))
        fail_msg("%s", problem);
    return machine;
}

static double
time_of_choice(const struct ar_machine *machine, const struct ar_choice *choice, int nranks,
               size_t bytes)
{
    const struct ar_question question = {.machine = machine,
                                         .choice = choice,
                                         .nranks = nranks,
                                         .count = bytes / ELEMENT_BYTES,
                                         .element_bytes = ELEMENT_BYTES,
                                         .scratch_bytes = SIZE_MAX,
                                         .most_steps = STEPS};
    struct ar_prediction prediction;
    assert_int_equal(ar_predict(&prediction, &question), AR_OK);
    return prediction.end.at;
}

/* What is advised for so many bytes, which must be a candidate for them. */
static const struct ar_choice *
advised(const struct ar_advice *advice, const struct ar_candidate_list *list, size_t bytes)
{
    size_t i = 0;
    int entry = 0;
    while (advice->entries[entry].bytes < bytes)
        entry++;
    while (i < list->n &&
           !ar_choice_equals(&list->of[i].choice, &advice->entries[entry].best[0].choice))
        i++;
    assert_true(i < list->n);
    assert_true(ar_candidate_fits(&list->of[i], bytes));
    return &advice->entries[entry].best[0].choice;
}

/* Asks for advice, and lists its candidates, which are the caller's to fini. */
static void
ask(struct ar_advice *advice, struct ar_candidate_list *list, struct ar_advice_request request)
{
    request.scratch_bytes = (size_t)64 << 20;
    assert_int_equal(ar_advise(advice, &request), AR_OK);
    assert_true(advice->n > 0);
    assert_int_equal(ar_advise_candidates(list, &request, SIZE_MAX), AR_OK);
}

/* Returns for how many sizes anything but the usual levels is advised. */
static int
expect_no_slower_than_flat(const struct ar_machine *machine, int nranks)
{
    int *const node_of = ar_machine_place(machine, nranks);
    const struct ar_advice_request request = {
        .machine = machine, .node_of = node_of, .nranks = nranks, .shares_memory = true};
    struct ar_candidate_list list;
    struct ar_advice advice;
    struct ar_choice flat = ar_choice_default(ar_algorithm_find("shm", 3));
    int n = 0;
    flat.params.levels.kind = AR_LEVELS_FLAT;
    ask(&advice, &list, request);
    for (size_t bytes = ELEMENT_BYTES; bytes <= BYTES_MOST; bytes *= 2) {
        const struct ar_choice *const choice = advised(&advice, &list, bytes);
        const double time = time_of_choice(machine, choice, nranks, bytes),
                     beside = time_of_choice(machine, &flat, nranks, bytes);
        if (time > SLOWER * beside)
            fail_msg("%d ranks, %zu bytes: %g ns, flat %g", nranks, bytes, time, beside);
        advised(&advice, &list, bytes + bytes / 2);
        n += choice->params.levels.kind != AR_LEVELS_AUTO;
    }
    ar_candidates_fini(&list);
    free(node_of);
    return n;
}

static void
auto_is_not_slower_than_flat(void **state)
{
    static const int nranks[] = {7, 10, 14, 17, 18};
    int n = 0;
    (void)state;
    for (int ranks = 4; ranks <= 16; ranks *= 4) {
        const struct ar_machine machine = with_caches_of(ranks);
        for (size_t k = 0; k < sizeof nranks / sizeof nranks[0]; k++)
            n += expect_no_slower_than_flat(&machine, nranks[k]);
    }
    assert_true(n > 0);
}

/* The time that is predicted for what is advised for so many bytes. */
static double
advised_ns(const struct ar_machine *machine, int nranks, size_t bytes)
{
    int *const node_of = ar_machine_place(machine, nranks);
    const struct ar_advice_request request = {
        .machine = machine, .node_of = node_of, .nranks = nranks};
    struct ar_candidate_list list;
    struct ar_advice advice;
    ask(&advice, &list, request);
    struct ar_choice choice = *advised(&advice, &list, bytes);
    choice.params.node_of = node_of;
    const double ns = time_of_choice(machine, &choice, nranks, bytes);
    ar_candidates_fini(&list);
    free(node_of);
    return ns;
}

/* All of them would take too many steps, and no sample stands for them. */
static void
many_ranks_may_leave_the_last_node_half_full(void **state)
{
    const struct ar_machine machine = with_caches_of(16);
    (void)state;
    const int nranks = 96 * 64 - 48;
    const size_t bytes = (size_t)32 << 10;
    const double ns = advised_ns(&machine, nranks, bytes),
                 known = time_of(&machine, "two_level(inter=butterfly,lanes=all,levels=4+16+48+96)",
                                 nranks, bytes);
    if (ns > 1.25 * known)
        fail_msg("%g ns is advised, and %g is known", ns, known);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_is_not_slower_than_flat),
        cmocka_unit_test(many_ranks_may_leave_the_last_node_half_full)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
