/* The search: what is tried is the same whoever measures, and the elimination finds what is fastest
 * with the error and the effort that its header states. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuning/advise.h"
#include "tuning/elimination.h"
#include "unit.h"

static const struct ar_elimination_rule *const rules[] = {&ar_by_clock, &ar_by_calls};
enum { RULES = sizeof rules / sizeof rules[0] };

/* From 0 to 1.  Xorshift64*; Source: Vigna, ACM TOMS 42(4), 2016. */
static double
next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return (double)((*seed * 0x2545f4914f6cdd1dU) >> 11) / (double)((uint64_t)1 << 53);
}

/* --- candidates --- */

static const struct shape {
    int nranks, nodes; /* as many ranks on each */
} shapes[] = {{1, 1}, {2, 1}, {2, 2}, {4, 1}, {8, 2}, {16, 4}, {16, 16}, {60, 5}};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static const size_t sizes[] = {0, 8, 4096, 65536, (size_t)1 << 20, (size_t)16 << 20};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static struct ar_request
request_of(const struct shape *shape, size_t bytes)
{
    return (struct ar_request){.bytes = bytes,
                               .nranks = shape->nranks,
                               .commutative = true,
                               .nodes = (size_t)shape->nodes};
}

static void
expect_same(const struct ar_candidate_list *a, const struct ar_candidate_list *b)
{
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_true(ar_choice_equals(&a->of[i].choice, &b->of[i].choice));
        assert_int_equal(a->of[i].root, b->of[i].root);
    }
}

/* The clock and calls of a program ask for a request's candidates, the model for those of a
 * machine. */
static void
all_measures_try_the_same(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++)
        for (int s = 0; s < SIZES; s++) {
            const struct ar_request request = request_of(&shapes[k], sizes[s]);
            struct ar_machine machine = ar_machine_flat(1000, 1, 1);
            struct ar_candidate_list list, models;
            machine.ranks_per_node = shapes[k].nranks / shapes[k].nodes;
            int *node_of = ar_machine_place(&machine, shapes[k].nranks);
            const struct ar_advice_request advice = {
                .machine = &machine, .node_of = node_of, .nranks = shapes[k].nranks};
            assert_int_equal(ar_candidates_init(&list, &request, NULL), AR_OK);
            assert_int_equal(ar_advise_candidates(&models, &advice, sizes[s]), AR_OK);
            expect_same(&list, &models);
            ar_candidates_fini(&list);
            ar_candidates_fini(&models);
            free(node_of);
        }
}

/* Does the list have this choice, as a root? */
static bool
has_root(const struct ar_candidate_list *list, const char *name)
{
    char text[AR_CHOICE_TEXT];
    for (size_t i = 0; i < list->n; i++)
        if (list->of[i].root == i &&
            strcmp(ar_choice_print(&list->of[i].choice, text, sizeof text), name) == 0)
            return true;
    return false;
}

static void
rings_by_node_are_tried_where_ranks_are_not_in_blocks(void **state)
{
    const int blocks[] = {0, 0, 1, 1}, cyclic[] = {0, 1, 0, 1};
    const struct ar_machine machine = ar_machine_flat(1000, 1, 1);
    struct ar_candidate_list list;
    (void)state;
    for (int is_cyclic = 0; is_cyclic < 2; is_cyclic++) {
        const struct ar_advice_request advice = {
            .machine = &machine, .node_of = is_cyclic ? cyclic : blocks, .nranks = 4};
        assert_int_equal(ar_advise_candidates(&list, &advice, (size_t)1 << 20), AR_OK);
        assert_true(has_root(&list, "ring"));
        assert_int_equal(has_root(&list, "ring(order=node)"), is_cyclic);
        assert_int_equal(has_root(&list, "bidirectional_ring(order=node)"), is_cyclic);
        ar_candidates_fini(&list);
    }
    /* Bits that must not depend on the nodes forbid it. */
    const struct ar_request bound = {.bytes = (size_t)1 << 20,
                                     .nranks = 4,
                                     .commutative = true,
                                     .nodes = 2,
                                     .is_scattered = true,
                                     .keeps = AR_DETERMINISM_PLACEMENT};
    assert_int_equal(ar_candidates_init(&list, &bound, NULL), AR_OK);
    assert_true(has_root(&list, "ring"));
    assert_false(has_root(&list, "ring(order=node)"));
    ar_candidates_fini(&list);
}

/* On nodes of eight ranks and more, also where a rerun must have the same bits. */
static void
groups_inside_nodes_are_tried_where_these_have_many_ranks(void **state)
{
    static const char name[] = "two_level(inter=butterfly,lanes=all,levels=4+16+64)";
    (void)state;
    for (int ranks = 14; ranks <= 16; ranks += 2)
        for (int keeps = 0; keeps <= AR_DETERMINISM_PLACEMENT; keeps++) {
            const struct ar_request request = {.bytes = 4096,
                                               .nranks = ranks,
                                               .commutative = true,
                                               .nodes = 2,
                                               .keeps = (enum ar_determinism)keeps};
            struct ar_candidate_list list;
            assert_int_equal(ar_candidates_init(&list, &request, NULL), AR_OK);
            assert_int_equal(has_root(&list, name), ranks == 16 && keeps <= AR_DETERMINISM_RUN);
            ar_candidates_fini(&list);
        }
}

/* Advice lists what suits any size, and leaves out what does not suit the one at hand. */
static void
a_size_has_what_fits_of_all(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++)
        for (int s = 0; s < SIZES; s++) {
            const struct ar_request request = request_of(&shapes[k], sizes[s]);
            const struct ar_request any = request_of(&shapes[k], SIZE_MAX);
            struct ar_candidate_list list, all;
            size_t n = 0;
            assert_int_equal(ar_candidates_init(&list, &request, NULL), AR_OK);
            assert_int_equal(ar_candidates_init(&all, &any, NULL), AR_OK);
            for (size_t i = 0, at; i < all.n; i++)
                if (ar_candidate_fits(&all.of[i], sizes[s])) {
                    const size_t before = list.n;
                    assert_int_equal(ar_candidates_add(&list, &at, &all.of[i].choice), AR_OK);
                    if (list.n != before) {
                        char text[AR_CHOICE_TEXT];
                        fail_msg("%d ranks, %zu bytes: %s is not listed", shapes[k].nranks,
                                 sizes[s], ar_choice_print(&all.of[i].choice, text, sizeof text));
                    }
                    n++;
                }
            assert_int_equal(n, list.n);
            ar_candidates_fini(&list);
            ar_candidates_fini(&all);
        }
}

static void
candidates_are_what_may_serve_each_once(void **state)
{
    (void)state;
    for (int k = 0; k < SHAPES; k++)
        for (int s = 0; s < SIZES; s++) {
            struct ar_request request = request_of(&shapes[k], sizes[s]);
            struct ar_candidate_list list;
            size_t natives = 0;
            request.shares_memory = shapes[k].nodes == 1;
            request.commutative = k % 2;
            assert_int_equal(ar_candidates_init(&list, &request, NULL), AR_OK);
            for (size_t i = 0; i < list.n; i++) {
                const struct ar_candidate *const c = &list.of[i];
                natives += c->choice.kind == AR_CHOICE_NATIVE;
                assert_true(c->choice.kind == AR_CHOICE_NATIVE ||
                            ar_auto_may_select(&c->choice, &request, NULL));
                assert_true(c->root == i || c->choice.params.segment_bytes <= sizes[s] / 2);
                assert_true(c->root <= i && list.of[c->root].root == c->root);
                assert_true(list.of[c->root].choice.algorithm == c->choice.algorithm);
                for (size_t other = 0; other < i; other++)
                    assert_false(ar_choice_equals(&list.of[other].choice, &c->choice));
            }
            assert_int_equal(natives, 1);
            ar_candidates_fini(&list);
        }
}

/* --- the elimination --- */

/* A measure: times of candidates, and how values differ from them. */
struct measure {
    double times[64];
    double jitter;        /* a value is longer by up to this part */
    double disturbed, by; /* with this probability a value is so many times as long */
    uint64_t seed;
    size_t asked;
};

static struct ar_candidate candidates[64];
static struct ar_candidate_list list = {.of = candidates};

/* So many roots with so many variants each, behind them. */
static void
make_list(size_t nroots, size_t nvariants)
{
    list.n = 0;
    for (size_t i = 0; i < nroots; i++)
        candidates[list.n++] = (struct ar_candidate){.root = i, .is_first = true};
    for (size_t i = 0; i < nroots * nvariants; i++)
        candidates[list.n++] = (struct ar_candidate){.root = i / nvariants};
}

/* Any value that is noted lies between the time and what disturbs it. */
static void
note(struct ar_elimination *e, struct measure *m, size_t i)
{
    const double time = m->times[i];
    m->asked++;
    const double disturbed = next_random(&m->seed) < m->disturbed ? m->by : 1;
    ar_elimination_note(e, i, time * disturbed * (1 + m->jitter * next_random(&m->seed)));
}

/* Who wins. */
static size_t
search(const struct ar_elimination_rule *rule, struct measure *m, size_t incumbent)
{
    struct ar_elimination e;
    m->asked = 0;
    assert_int_equal(ar_elimination_init(&e, rule, &list, incumbent), AR_OK);
    for (size_t i; (i = ar_elimination_next(&e)) < e.n;) {
        assert_int_equal(ar_elimination_next(&e), i);
        note(&e, m, i);
    }
    assert_int_equal(ar_elimination_next(&e), e.n);
    const size_t winner =
        rule == &ar_by_calls ? ar_elimination_fastest(&e, e.n) : ar_elimination_winner(&e);
    ar_elimination_fini(&e);
    return winner;
}

static size_t
fastest_of(const struct measure *m, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        best = m->times[i] < m->times[best] ? i : best;
    return best;
}

static void
without_noise_the_fastest_wins(void **state)
{
    (void)state;
    make_list(20, 0);
    for (uint64_t seed = 1; seed <= 200; seed++)
        for (int r = 0; r < RULES; r++) {
            struct measure m = {.seed = seed};
            for (size_t i = 0; i < list.n; i++)
                m.times[i] = 1 + 5 * next_random(&m.seed);
            assert_int_equal(search(rules[r], &m, list.n), fastest_of(&m, list.n));
        }
}

static void
variants_of_the_fastest_roots_enter(void **state)
{
    (void)state;
    make_list(12, 4);
    for (uint64_t seed = 1; seed <= 200; seed++)
        for (int r = 0; r < RULES; r++) {
            struct measure m = {.seed = seed};
            for (size_t i = 0; i < 12; i++)
                m.times[i] = 1 + 5 * next_random(&m.seed);
            const size_t root = fastest_of(&m, 12);
            for (size_t i = 12; i < list.n; i++)
                m.times[i] = m.times[candidates[i].root];
            const size_t best = 12 + 4 * root + seed % 4;
            m.times[best] *= 0.8;
            assert_int_equal(search(rules[r], &m, list.n), best);
        }
}

static void
a_clear_winner_is_never_lost(void **state)
{
    (void)state;
    make_list(16, 2);
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct measure m = {.seed = seed, .jitter = 0.2, .disturbed = 0.05, .by = 3};
        for (size_t i = 0; i < list.n; i++)
            m.times[i] = 2 + next_random(&m.seed);
        m.times[seed % 16] = 1;
        assert_int_equal(search(&ar_by_clock, &m, list.n), seed % 16);
    }
}

/* The probability that one of two equals, each pair's winner being chance, wins at least share of n
 * pairs. */
static double
error_of_chance(int n, double share)
{
    double ways = 1, all = 0; /* in which k of n pairs are won */
    for (int k = 0; k <= n; k++) {
        all += (double)k >= share * n ? ways : 0;
        ways = ways * (n - k) / (k + 1);
    }
    return ldexp(all, -n);
}

static void
equals_seldom_win_most_pairs(void **state)
{
    (void)state;
    assert_true(error_of_chance(11, 2.0 / 3) == 232.0 / 2048); /* 8 of 11 or more */
    assert_true(error_of_chance(10, 0.85) == 11.0 / 1024);     /* 9 of 10 */
    assert_true(error_of_chance(11, 0.75) == 67.0 / 2048);     /* 9 of 11 */
    assert_true(error_of_chance(7, 0) == 1);
}

/* Two that are equal: in how many of 1000 searches does the second one replace the first? */
static void
an_equal_replaces_the_incumbent_as_seldom_as_stated(void **state)
{
    int replaced = 0;
    (void)state;
    make_list(2, 0);
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct measure m = {.seed = seed, .times = {1, 1}, .jitter = 0.5};
        replaced += search(&ar_by_clock, &m, 0) == 1;
    }
    assert_true(replaced > 0);
    assert_true(replaced <= 1000 * error_of_chance(11, ar_by_clock.share));
}

/* The fastest, disturbed by more than any factor with probability q, leaves before the finals in at
 * most q + q^2 + ... of all searches. */
static void
the_fastest_leaves_as_seldom_as_stated(void **state)
{
    const double q = 0.1;
    int lost = 0;
    (void)state;
    make_list(2, 0);
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct measure m = {.seed = seed * 7919, .times = {1, 0.7}, .disturbed = q, .by = 10};
        lost += search(&ar_by_clock, &m, 0) == 0;
    }
    assert_true(lost > 0);
    assert_true(lost <= 1.25 * 1000 * q / (1 - q)); /* four standard deviations */
}

static void
effort_is_bounded(void **state)
{
    static const size_t values[] = {17, 1}; /* of each candidate */
    (void)state;
    make_list(16, 3);
    for (int r = 0; r < RULES; r++)
        for (uint64_t seed = 1; seed <= 50; seed++) {
            struct measure m = {.seed = seed, .jitter = 3};
            for (size_t i = 0; i < list.n; i++)
                m.times[i] = 1;
            search(rules[r], &m, seed % 16);
            assert_true(m.asked >= 16 && m.asked <= list.n * values[r]);
        }
}

static void
the_incumbent_stays_and_who_is_excluded_is_not_asked(void **state)
{
    struct ar_elimination e;
    (void)state;
    make_list(3, 1);
    assert_int_equal(ar_elimination_init(&e, &ar_by_clock, &list, 2), AR_OK);
    ar_elimination_exclude(&e, 0);
    for (size_t i; (i = ar_elimination_next(&e)) < e.n;) {
        assert_true(i != 0 && i != 3); /* nor its variant */
        ar_elimination_note(&e, i, i == 2 ? 100 : 1);
    }
    assert_int_equal(e.of[2].state, AR_STANDS_IN);
    assert_int_equal(e.of[2].values.n, 11);
    assert_int_equal(e.of[5].state, AR_STANDS_IN); /* its variant entered */
    assert_int_equal(ar_elimination_winner(&e), 1);
    ar_elimination_fini(&e);
}

static void
who_is_kept_comes_to_the_finals_however_slow(void **state)
{
    struct ar_elimination e;
    (void)state;
    make_list(3, 1);
    assert_int_equal(ar_elimination_init(&e, &ar_by_clock, &list, 2), AR_OK);
    ar_elimination_keep(&e, 0);
    for (size_t i; (i = ar_elimination_next(&e)) < e.n;)
        ar_elimination_note(&e, i, i == 0 ? 100 : 1);
    assert_int_equal(e.of[0].state, AR_STANDS_IN);
    assert_int_equal(e.of[0].values.n, 11);
    ar_elimination_fini(&e);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_measures_try_the_same),
        cmocka_unit_test(rings_by_node_are_tried_where_ranks_are_not_in_blocks),
        cmocka_unit_test(groups_inside_nodes_are_tried_where_these_have_many_ranks),
        cmocka_unit_test(a_size_has_what_fits_of_all),
        cmocka_unit_test(candidates_are_what_may_serve_each_once),
        cmocka_unit_test(without_noise_the_fastest_wins),
        cmocka_unit_test(variants_of_the_fastest_roots_enter),
        cmocka_unit_test(a_clear_winner_is_never_lost),
        cmocka_unit_test(equals_seldom_win_most_pairs),
        cmocka_unit_test(an_equal_replaces_the_incumbent_as_seldom_as_stated),
        cmocka_unit_test(the_fastest_leaves_as_seldom_as_stated),
        cmocka_unit_test(effort_is_bounded),
        cmocka_unit_test(the_incumbent_stays_and_who_is_excluded_is_not_asked),
        cmocka_unit_test(who_is_kept_comes_to_the_finals_however_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
