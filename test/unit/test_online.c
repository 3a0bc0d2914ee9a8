/* Online tuning on invented times: who wins, what it costs, and what makes it begin again. */
#include <stdio.h>

#include "tuning/online.h"
#include "unit.h"

#define CHOICES 5
#define USUAL   4 /* of them; the last may be very slow */
#define RANKS   8
#define PERCENT 2

/* A kind of call, and what has become of it. */
static struct world {
    struct ar_budget budget;
    struct ar_online online;
    const int64_t *ns; /* a call of each choice */
    int64_t agree_ns;
    int64_t noise;              /* calls are slower by up to so many thousandths */
    int period;                 /* every so manieth call is half as long; 0: none */
    int64_t total_ns, ideal_ns; /* of all calls and agreements; of the calls without trials */
    int64_t calls, agreements, restarts;
} w;

static void
begin_with(struct world *at, const int64_t *ns, int percent, size_t n)
{
    static struct ar_candidate candidates[CHOICES];
    static struct ar_candidate_list list = {.of = candidates};
    for (size_t i = 0; i < n; i++)
        candidates[i] = (struct ar_candidate){.root = i, .is_first = true, .is_usual = i < USUAL};
    list.n = n;
    ar_online_fini(&at->online);
    *at = (struct world){.budget = {.percent = percent}, .ns = ns, .agree_ns = ns[0]};
    ar_online_init(&at->online, &at->budget, RANKS);
    assert_int_equal(ar_online_enter(&at->online, &list, 0), AR_OK);
}

static void
begin(struct world *at, const int64_t *ns, int percent)
{
    begin_with(at, ns, percent, CHOICES);
}

static void
agree(struct world *at)
{
    const bool was_settled = ar_online_is_settled(&at->online);
    const struct ar_online_times times = ar_online_summarize(&at->online);
    at->budget.own_agree_ns = at->agree_ns;
    at->total_ns += at->agree_ns;
    at->agreements++;
    ar_online_judge(&at->online, &times);
    at->restarts += was_settled && !ar_online_is_settled(&at->online);
}

static void
run(struct world *at, int calls)
{
    for (int i = 0; i < calls; i++) {
        const size_t choice = ar_online_turn(&at->online);
        const int64_t slower = at->noise * (at->calls++ * 7919 % 101) / 100;
        const bool is_short = at->period > 0 && at->calls % at->period == 0;
        const int64_t ns = at->ns[choice] * (1000 + slower) / (is_short ? 2000 : 1000);
        const bool is_wanted = ar_online_counts(&at->online);
        at->total_ns += ns;
        at->ideal_ns += at->ns[at->online.incumbent];
        if (is_wanted && ar_online_note(&at->online, ns))
            agree(at);
    }
}

static void
the_fastest_wins_and_stays(void **state)
{
    static const int64_t ns[CHOICES] = {1000, 1200, 700, 900, 500};
    (void)state;
    begin(&w, ns, PERCENT);
    run(&w, 20000);
    assert_int_equal(w.online.incumbent, 4);
    assert_int_equal(w.online.tried, CHOICES);
    assert_true(ar_online_is_settled(&w.online));
    assert_true(w.online.gain > 1.9 && w.online.gain < 2.1);
}

static void
a_rival_within_the_noise_does_not_win(void **state)
{
    static const int64_t ns[CHOICES] = {1000, 980, 970, 990, 960};
    (void)state;
    begin(&w, ns, PERCENT);
    run(&w, 20000);
    assert_int_equal(w.online.incumbent, 0);
    assert_int_equal(w.online.tried, CHOICES);
}

static void
a_rival_that_varies_wins_by_more_than_it_varies(void **state)
{
    static const int64_t ns[CHOICES] = {1000, 930, 1500, 1500, 1500};
    static const int64_t fast[CHOICES] = {1000, 500, 1500, 1500, 1500};
    (void)state;
    begin(&w, ns, PERCENT);
    w.noise = 400;
    run(&w, 20000);
    assert_int_equal(w.online.incumbent, 0);
    begin(&w, fast, PERCENT);
    w.noise = 400;
    run(&w, 20000);
    assert_int_equal(w.online.incumbent, 1);
}

/* Nobody gets the short calls of a program whose calls alternate. */
static void
no_side_gets_the_short_calls(void **state)
{
    static const int64_t same[CHOICES] = {1000, 1000, 1000, 1000, 1000};
    static const int64_t slow[CHOICES] = {1000, 1300, 1300, 1300, 1300};
    static const int64_t fast[CHOICES] = {1000, 300, 1300, 1300, 1300};
    (void)state;
    for (int period = 2; period <= 8; period++)
        for (int first = 0; first < period; first++) {
            begin(&w, same, PERCENT);
            w.period = period;
            run(&w, 20000);
            assert_int_equal(w.online.incumbent, 0);
            begin(&w, slow, PERCENT);
            w.period = period;
            w.calls = first;
            run(&w, 20000);
            assert_int_equal(w.online.incumbent, 0);
            begin(&w, fast, PERCENT);
            w.period = period;
            w.calls = first;
            run(&w, 20000);
            assert_int_equal(w.online.incumbent, 1);
        }
}

/* As fast as the incumbent but for one duel. */
static void
to_win_once_is_chance(void **state)
{
    static const int64_t usual[CHOICES] = {1000, 1000, 1000, 1000, 1000};
    static const int64_t lucky[CHOICES] = {1000, 500, 1000, 1000, 1000};
    (void)state;
    begin(&w, usual, PERCENT);
    while (!ar_online_is_trying(&w.online))
        run(&w, 1);
    w.ns = lucky;
    while (ar_online_is_trying(&w.online))
        run(&w, 1);
    assert_int_equal(w.online.incumbent, 0);
    w.ns = usual;
    run(&w, 20000);
    assert_int_equal(w.online.incumbent, 0);
    assert_int_equal(w.online.tried, CHOICES);
}

static void
few_calls_are_left_alone(void **state)
{
    static const int64_t ns[CHOICES] = {1000, 500, 500, 500, 500};
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
    assert_true(w.online.tried == CHOICES);
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
    (void)state;
    begin(&w, ns, PERCENT);
    run(&w, 50000); /* two calls of 1 ms are earned in 100,000 calls of 1 us */
    assert_int_equal(w.online.tried, 2);
    run(&w, 100000);
    assert_int_equal(w.online.tried, CHOICES);
}

static void
a_drift_begins_again_and_finds_what_is_fastest_now(void **state)
{
    static const int64_t before[CHOICES] = {1000, 1200, 500, 900, 1100};
    static const int64_t after[CHOICES] = {1000, 1200, 2000, 900, 400};
    (void)state;
    begin(&w, before, PERCENT);
    run(&w, 20000);
    assert_int_equal(w.online.incumbent, 2);
    w.ns = after;
    run(&w, 30000);
    assert_int_equal(w.restarts, 1);
    assert_int_equal(w.online.incumbent, 4);
    assert_int_equal(w.online.tried, CHOICES);
}

static void
becoming_faster_is_a_drift_too(void **state)
{
    static const int64_t before[CHOICES] = {1000, 1200, 1300, 1400, 1100};
    static const int64_t after[CHOICES] = {500, 1200, 1300, 200, 1100};
    (void)state;
    begin(&w, before, PERCENT);
    run(&w, 20000);
    w.ns = after;
    run(&w, 40000);
    assert_int_equal(w.restarts, 1);
    assert_int_equal(w.online.incumbent, 3);
}

static void
what_is_slow_for_a_while_is_no_drift(void **state)
{
    static const int64_t usual[CHOICES] = {1000, 1200, 1300, 1400, 1100};
    static const int64_t disturbed[CHOICES] = {9000, 9000, 9000, 9000, 9000};
    (void)state;
    begin(&w, usual, PERCENT);
    while (!ar_online_is_settled(&w.online) || !w.online.is_timing)
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
    (void)state;
    begin_with(&w, ns, PERCENT, 1);
    run(&w, 1000);
    assert_true(ar_online_is_settled(&w.online));
    assert_int_equal(w.online.incumbent, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_wins_and_stays),
        cmocka_unit_test(a_rival_within_the_noise_does_not_win),
        cmocka_unit_test(a_rival_that_varies_wins_by_more_than_it_varies),
        cmocka_unit_test(no_side_gets_the_short_calls),
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
