/* The counts, the timeline and the trace, against what one can work out by hand. */
#include <stdlib.h>
#include <string.h>

#include "algorithms/registry.h"
#include "schedule/checker.h"
#include "schedule/cost.h"
#include "schedule/figure.h"
#include "schedule/unit_times.h"
#include "unit.h"

#define RANKS_MAX 64

struct ranks {
    struct ar_schedule schedules[RANKS_MAX];
    int nranks;
};

static void
ranks_init(struct ranks *ranks, const char *name, int nranks, size_t count)
{
    const struct ar_algorithm *row = ar_algorithm_find(name, strlen(name));
    assert_non_null(row);
    ranks->nranks = nranks;
    for (int r = 0; r < nranks; r++)
        assert_int_equal(ar_algorithm_emit(row, &ranks->schedules[r], r, nranks, count, NULL),
                         AR_OK);
}

static void
ranks_fini(struct ranks *ranks)
{
    for (int r = 0; r < ranks->nranks; r++)
        ar_schedule_fini(&ranks->schedules[r]);
}

static struct ar_cost
cost_of(const char *name, int nranks, size_t count)
{
    struct ranks ranks;
    struct ar_cost cost;
    ranks_init(&ranks, name, nranks, count);
    assert_int_equal(ar_cost_count(&cost, ranks.schedules, nranks), AR_OK);
    ranks_fini(&ranks);
    return cost;
}

static void
ring_costs_what_its_card_says(void **state)
{
    (void)state;
    for (size_t p = 2; p <= 16; p++) {
        const size_t n = 3 * p;
        const struct ar_cost cost = cost_of("ring", (int)p, n);
        assert_int_equal(cost.rounds, 2 * (p - 1));
        assert_int_equal(cost.sent.most, 2 * n * (p - 1) / p);
        assert_int_equal(cost.sent.total, 2 * n * (p - 1));
        assert_int_equal(cost.received.total, cost.sent.total);
        assert_int_equal(cost.reduced.most, n * (p - 1) / p);
        assert_int_equal(cost.copied.total, 0);
        assert_int_equal(cost.scratch.most, 3);
        assert_int_equal(cost.messages.most, 2 * (p - 1));
    }
}

static void
butterfly_costs_what_its_card_says(void **state)
{
    (void)state;
    assert_int_equal(cost_of("butterfly", 8, 5).rounds, 3);
    assert_int_equal(cost_of("butterfly", 8, 5).sent.most, 15);
    assert_int_equal(cost_of("butterfly", 11, 5).rounds, 5);
    assert_int_equal(cost_of("butterfly", 1, 5).rounds, 0);
    assert_int_equal(cost_of("butterfly", 1, 5).copied.most, 5);
}

/* Rank 0 gets one element from each of the others in one round. */
static void
make_funnel(struct ranks *ranks, int nranks)
{
    ranks->nranks = nranks;
    for (int r = 0; r < nranks; r++) {
        struct ar_schedule *s = &ranks->schedules[r];
        ar_schedule_init(s, r, nranks, 1);
        for (int peer = 1; r == 0 && peer < nranks; peer++)
            ar_recv_reduce(s, peer, ar_out(ar_whole(1)),
                           peer == 1 ? ar_in(ar_whole(1)) : ar_out(ar_whole(1)), AR_LOCAL_FIRST);
        if (r > 0)
            ar_send(s, 0, ar_in(ar_whole(1)));
        assert_int_equal(ar_schedule_finish(s), AR_OK);
    }
}

static void
a_message_without_counterpart_is_refused(void **state)
{
    (void)state;
    struct ranks ranks;
    struct ar_unit_times t;
    make_funnel(&ranks, 3);
    ar_send(&ranks.schedules[2], 1, ar_in(ar_whole(1)));
    ar_schedule_finish(&ranks.schedules[2]);
    assert_int_equal(ar_unit_times_init(&t, ranks.schedules, 3), AR_ERR_PROOF);
    ranks_fini(&ranks);
}

/* Each waits for the other before it sends. */
static void
a_deadlock_is_refused(void **state)
{
    (void)state;
    struct ranks ranks = {.nranks = 2};
    struct ar_unit_times t;
    for (int r = 0; r < 2; r++) {
        struct ar_schedule *s = &ranks.schedules[r];
        ar_schedule_init(s, r, 2, 1);
        ar_recv(s, 1 - r, ar_out(ar_whole(1)));
        ar_end_round(s);
        ar_send(s, 1 - r, ar_in(ar_whole(1)));
        assert_int_equal(ar_schedule_finish(s), AR_OK);
    }
    assert_int_equal(ar_unit_times_init(&t, ranks.schedules, 2), AR_ERR_PROOF);
    ranks_fini(&ranks);
}

static void
no_row_beats_a_bound(void **state)
{
    (void)state;
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        for (int p = 2; p <= 33; p++) {
            const size_t n = 4 * (size_t)p;
            const struct ar_cost cost = cost_of(ar_algorithm_at(i)->name, p, n);
            assert_true(cost.rounds >= ar_bound_rounds(p, cost.ports));
            assert_true((double)cost.sent.most >= ar_bound_sent(p, n));
            assert_true((double)cost.reduced.most >= ar_bound_reduced(p, n));
            assert_int_equal(cost.sent.total, cost.received.total);
        }
}

static void
the_bound_on_rounds_is_a_logarithm(void **state)
{
    (void)state;
    assert_int_equal(ar_bound_rounds(1, 1), 0);
    assert_int_equal(ar_bound_rounds(8, 1), 3);
    assert_int_equal(ar_bound_rounds(9, 1), 4);
    assert_int_equal(ar_bound_rounds(9, 2), 2);
    assert_int_equal(ar_bound_rounds(9, 8), 1);
    assert_int_equal(cost_of("ring", 5, 9).ports, 1);
}

static void
ranks_hold_what_the_ring_leaves_them(void **state)
{
    (void)state;
    struct ranks ranks;
    struct ar_holdings trace;
    ranks_init(&ranks, "ring", 4, 4);
    assert_int_equal(ar_holdings_init(&trace, ranks.schedules, 4), AR_OK);
    ar_holdings_advance(&trace, 3); /* the reduce-scatter */
    for (int r = 0; r < 4; r++)
        for (size_t block = 0; block < 4; block++) {
            const int whole = block == (size_t)(r + 1) % 4;
            assert_int_equal(ar_holdings_is_live(&trace, r, AR_OUT, block), whole);
            assert_int_equal(ar_holdings_is_live(&trace, r, AR_IN, block), 0);
            assert_int_equal(trace.holders[r].memory[AR_OUT][block].ranks == 15, whole);
        }
    ar_holdings_fini(&trace);
    ranks_fini(&ranks);
}

static void
a_figure_has_a_limit(void **state)
{
    (void)state;
    struct ar_schedule *schedules = calloc(AR_HOLDINGS_RANKS_MAX + 1, sizeof *schedules);
    assert_non_null(schedules);
    assert_int_equal(ar_figure_print(stdout, schedules, AR_HOLDINGS_RANKS_MAX + 1), AR_ERR_PARAM);
    free(schedules);
}

static void
the_checker_tells_whether_elements_are_combined_alike(void **state)
{
    (void)state;
    struct ranks ranks;
    struct ar_verdict verdict;
    ranks_init(&ranks, "butterfly", 6, 24);
    assert_int_equal(ar_check(&verdict, ranks.schedules, 6, 0), AR_OK);
    assert_true(verdict.alike);
    ranks_fini(&ranks);
    ranks_init(&ranks, "ring", 6, 24);
    assert_int_equal(ar_check(&verdict, ranks.schedules, 6, 0), AR_OK);
    assert_false(verdict.alike);
    ranks_fini(&ranks);
}

/* A serial sum of p numbers has p-1 additions one after the other, and a tree ceil(log2 p). */
static void
the_checker_tells_how_deep_a_sum_is(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int nranks;
        uint32_t depth;
    } cases[] = {{"ring", 4, 3},         {"ring", 5, 4},      {"ring", 1, 0},
                 {"butterfly", 8, 3},    {"butterfly", 5, 3}, {"reduce_bcast", 8, 3},
                 {"reduce_bcast", 5, 3}, {"star", 5, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ranks ranks;
        struct ar_verdict verdict;
        ranks_init(&ranks, cases[i].name, cases[i].nranks, 24);
        assert_int_equal(ar_check(&verdict, ranks.schedules, cases[i].nranks, 0), AR_OK);
        assert_int_equal(verdict.depth, cases[i].depth);
        ranks_fini(&ranks);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ring_costs_what_its_card_says),
        cmocka_unit_test(butterfly_costs_what_its_card_says),
        cmocka_unit_test(a_message_without_counterpart_is_refused),
        cmocka_unit_test(a_deadlock_is_refused),
        cmocka_unit_test(no_row_beats_a_bound),
        cmocka_unit_test(the_bound_on_rounds_is_a_logarithm),
        cmocka_unit_test(ranks_hold_what_the_ring_leaves_them),
        cmocka_unit_test(a_figure_has_a_limit),
        cmocka_unit_test(the_checker_tells_whether_elements_are_combined_alike),
        cmocka_unit_test(the_checker_tells_how_deep_a_sum_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
