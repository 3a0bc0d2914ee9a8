/* Online tuning on invented times: who wins, what it costs, and what makes it begin again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "communicator/duels.h"

#define CHOICES 5
#define PERCENT 2

/* A kind of call, and what has become of it. */
struct world {
    struct ar_budget budget;
    struct ar_duels duels;
    const int64_t *ns; /* a call of each choice */
    int64_t agree_ns;
    int64_t noise;              /* calls are slower by up to so many thousandths */
    int64_t total_ns, ideal_ns; /* of all calls and agreements; of the calls without trials */
    int64_t calls, agreements, restarts;
};

static void
begin(struct world *w, const int64_t *ns, int percent)
{
    *w = (struct world){.budget = {.percent = percent}, .ns = ns, .agree_ns = ns[0]};
    ar_duels_init(&w->duels, &w->budget, CHOICES);
}

static void
agree(struct world *w)
{
    const enum ar_duels_state before = w->duels.state;
    const struct ar_duel_times times = ar_duels_summarize(&w->duels);
    w->budget.own_agree_ns = w->agree_ns;
    w->total_ns += w->agree_ns;
    w->agreements++;
    ar_duels_judge(&w->duels, &times);
    w->restarts += before == AR_LOOKING && w->duels.state == AR_MEASURING;
}

static void
run(struct world *w, int calls)
{
    for (int i = 0; i < calls; i++) {
        const size_t choice = ar_duels_turn(&w->duels);
        const int64_t slower = w->noise * (w->calls++ * 7919 % 101) / 100;
        const int64_t ns = w->ns[choice] * (1000 + slower) / 1000;
        const bool is_wanted = ar_duels_counts(&w->duels);
        w->total_ns += ns;
        w->ideal_ns += w->ns[w->duels.incumbent];
        if (is_wanted && ar_duels_note(&w->duels, ns))
            agree(w);
    }
}

static void
the_fastest_wins_and_stays(void **state)
{
    static const int64_t ns[CHOICES] = {1000, 1200, 700, 900, 500};
    struct world w;
    (void)state;
    begin(&w, ns, PERCENT);
    run(&w, 20000);
    assert_int_equal(w.duels.incumbent, 4);
    assert_int_equal(w.duels.tried, CHOICES);
    assert_true(w.duels.state == AR_SETTLED || w.duels.state == AR_LOOKING);
    assert_true(w.duels.gain > 1.9 && w.duels.gain < 2.1);
}

static void
a_rival_within_the_noise_does_not_win(void **state)
{
    static const int64_t ns[CHOICES] = {1000, 980, 970, 990, 960};
    struct world w;
    (void)state;
    begin(&w, ns, PERCENT);
    run(&w, 20000);
    assert_int_equal(w.duels.incumbent, 0);
    assert_int_equal(w.duels.tried, CHOICES);
}

static void
a_rival_that_varies_wins_by_more_than_it_varies(void **state)
{
    static const int64_t ns[CHOICES] = {1000, 930, 1500, 1500, 1500};
    static const int64_t fast[CHOICES] = {1000, 500, 1500, 1500, 1500};
    struct world w;
    (void)state;
    begin(&w, ns, PERCENT);
    w.noise = 400;
    run(&w, 20000);
    assert_int_equal(w.duels.incumbent, 0);
    begin(&w, fast, PERCENT);
    w.noise = 400;
    run(&w, 20000);
    assert_int_equal(w.duels.incumbent, 1);
}

/* As fast as the incumbent but for one duel. */
static void
to_win_once_is_chance(void **state)
{
    static const int64_t usual[CHOICES] = {1000, 1000, 1000, 1000, 1000};
    static const int64_t lucky[CHOICES] = {1000, 500, 1000, 1000, 1000};
    struct world w;
    (void)state;
    begin(&w, usual, PERCENT);
    while (w.duels.state != AR_DUELLING)
        run(&w, 1);
    w.ns = lucky;
    while (w.duels.state == AR_DUELLING)
        run(&w, 1);
    assert_int_equal(w.duels.incumbent, 0);
    w.ns = usual;
    run(&w, 20000);
    assert_int_equal(w.duels.incumbent, 0);
    assert_int_equal(w.duels.tried, CHOICES);
}

static void
few_calls_are_left_alone(void **state)
{
    static const int64_t ns[CHOICES] = {1000, 500, 500, 500, 500};
    struct world w;
    (void)state;
    begin(&w, ns, PERCENT);
    run(&w, 100 / PERCENT);
    assert_int_equal(w.agreements, 0);
    assert_int_equal(w.total_ns, w.ideal_ns);
}

/* At every moment: the share of the time, and a duel that was begun (each side's calls and an
 * agreement) beyond it. */
static void
expect_bounded(const int64_t *ns, int percent)
{
    int64_t dearest = 0;
    struct world w;
    for (int i = 0; i < CHOICES; i++)
        dearest = ns[i] > dearest ? ns[i] : dearest;
    begin(&w, ns, percent);
    for (int i = 0; i < 2000; i++) {
        run(&w, 50);
        const int64_t cost = w.total_ns - w.ideal_ns;
        const int64_t bound = w.ideal_ns * percent / 100 + 2 * dearest + 6 * w.agree_ns;
        if (cost > bound)
            fail_msg("%d %%: %lld ns of %lld after %lld calls", percent, (long long)cost,
                     (long long)w.ideal_ns, (long long)w.calls);
    }
    assert_true(w.duels.tried == CHOICES);
}

static void
what_trials_cost_stays_below_the_share(void **state)
{
    static const int64_t near[CHOICES] = {1000, 1100, 1200, 1300, 1400};
    static const int64_t far[CHOICES] = {1000, 3000, 10000, 30000, 20000};
    static const int64_t faster[CHOICES] = {1000, 900, 800, 1100, 600};
    static const int percents[] = {1, 2, 5, 20};
    (void)state;
    for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        expect_bounded(near, percents[i]);
        expect_bounded(far, percents[i]);
        expect_bounded(faster, percents[i]);
    }
}

static void
what_was_accounted_is_what_it_cost(void **state)
{
    static const int64_t ns[CHOICES] = {1000, 1300, 5000, 1200, 1100};
    struct world w;
    (void)state;
    begin(&w, ns, PERCENT);
    run(&w, 100000);
    const int64_t cost = w.total_ns - w.ideal_ns;
    assert_true(w.budget.spent_ns <= cost && w.budget.spent_ns >= cost - 2 * w.agree_ns);
    assert_true(w.budget.time_ns <= w.ideal_ns + w.calls);
    assert_true(w.budget.time_ns >= w.ideal_ns * 9 / 10);
}

static void
a_rival_that_is_dear_makes_the_next_one_wait(void **state)
{
    static const int64_t ns[CHOICES] = {1000, 1000000, 500, 500, 500};
    struct world w;
    (void)state;
    begin(&w, ns, PERCENT);
    run(&w, 50000); /* two calls of 1 ms are earned in 100,000 calls of 1 us */
    assert_int_equal(w.duels.tried, 2);
    run(&w, 100000);
    assert_int_equal(w.duels.tried, CHOICES);
}

static void
a_drift_begins_again_and_finds_what_is_fastest_now(void **state)
{
    static const int64_t before[CHOICES] = {1000, 1200, 500, 900, 1100};
    static const int64_t after[CHOICES] = {1000, 1200, 2000, 900, 400};
    struct world w;
    (void)state;
    begin(&w, before, PERCENT);
    run(&w, 20000);
    assert_int_equal(w.duels.incumbent, 2);
    w.ns = after;
    run(&w, 30000);
    assert_int_equal(w.restarts, 1);
    assert_int_equal(w.duels.incumbent, 4);
    assert_int_equal(w.duels.tried, CHOICES);
}

static void
becoming_faster_is_a_drift_too(void **state)
{
    static const int64_t before[CHOICES] = {1000, 1200, 1300, 1400, 1100};
    static const int64_t after[CHOICES] = {500, 1200, 1300, 200, 1100};
    struct world w;
    (void)state;
    begin(&w, before, PERCENT);
    run(&w, 20000);
    w.ns = after;
    run(&w, 40000);
    assert_int_equal(w.restarts, 1);
    assert_int_equal(w.duels.incumbent, 3);
}

static void
what_is_slow_for_a_while_is_no_drift(void **state)
{
    static const int64_t usual[CHOICES] = {1000, 1200, 1300, 1400, 1100};
    static const int64_t disturbed[CHOICES] = {9000, 9000, 9000, 9000, 9000};
    struct world w;
    (void)state;
    begin(&w, usual, PERCENT);
    while (w.duels.state != AR_LOOKING)
        run(&w, 1);
    w.ns = disturbed;
    run(&w, 100);
    w.ns = usual;
    run(&w, 30000);
    assert_int_equal(w.restarts, 0);
}

static void
choices_that_are_alone_are_settled_at_once(void **state)
{
    static const int64_t ns[CHOICES] = {1000};
    struct world w;
    (void)state;
    begin(&w, ns, PERCENT);
    ar_duels_init(&w.duels, &w.budget, 1);
    run(&w, 1000);
    assert_int_equal(w.duels.state, AR_SETTLED);
    assert_int_equal(w.duels.incumbent, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_wins_and_stays),
        cmocka_unit_test(a_rival_within_the_noise_does_not_win),
        cmocka_unit_test(a_rival_that_varies_wins_by_more_than_it_varies),
        cmocka_unit_test(to_win_once_is_chance),
        cmocka_unit_test(few_calls_are_left_alone),
        cmocka_unit_test(what_trials_cost_stays_below_the_share),
        cmocka_unit_test(what_was_accounted_is_what_it_cost),
        cmocka_unit_test(a_rival_that_is_dear_makes_the_next_one_wait),
        cmocka_unit_test(a_drift_begins_again_and_finds_what_is_fastest_now),
        cmocka_unit_test(becoming_faster_is_a_drift_too),
        cmocka_unit_test(what_is_slow_for_a_while_is_no_drift),
        cmocka_unit_test(choices_that_are_alone_are_settled_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
