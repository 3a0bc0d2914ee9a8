/* Which way a program's calls take the least time: src/execute/trial.h. */

#include <string.h>

#include "execute/trial.h"
#include "unit.h"

/* Calls of so many ticks each way, up to a number of calls, and what the program does after each;
 * how many of them went which way, and which was the last way. */
struct program {
    struct ar_trial trial;
    uint64_t now;
    size_t bytes;                  /* of a call, where they have several sizes */
    uint64_t after[AR_TRIAL_WAYS]; /* ticks */
    uint64_t calls[AR_TRIAL_WAYS];
    unsigned last;
};

static void
run(struct program *p, unsigned ways, const uint64_t *ticks, uint64_t ncalls)
{
    for (uint64_t i = 0; i < ncalls; i++) {
        const uint64_t now = ar_trial_needs_time(&p->trial) ? p->now : 0;
        const unsigned way = ar_trial_begin(&p->trial, ways, p->trial.best, p->bytes, now);
        assert_true(ways >> way & 1);
        p->now += ticks[way];
        if (ar_trial_needs_time(&p->trial))
            ar_trial_end(&p->trial, p->now);
        p->now += p->after[way];
        p->calls[way]++;
        p->last = way;
    }
}

/* The calls before the first trial; they go one way. */
static void
begin(struct program *p, unsigned ways)
{
    const uint64_t ticks[AR_TRIAL_WAYS] = {1, 1, 1};
    run(p, ways, ticks, ar_trial_fresh(&p->trial));
    assert_int_equal(p->calls[p->last], ar_trial_fresh(&p->trial));
    memset(p->calls, 0, sizeof p->calls);
}

static void
the_fastest_way_is_taken_between_the_trials(void **state)
{
    (void)state;
    for (unsigned ways = 1; ways < 1U << AR_TRIAL_WAYS; ways++)
        for (unsigned i = 0; i < 2 * AR_TRIAL_WAYS; i++) {
            const unsigned fastest = i / 2;
            struct program p = {.now = 12345, .trial.is_long = i % 2};
            uint64_t ticks[AR_TRIAL_WAYS] = {300, 300, 300};
            if (!(ways >> fastest & 1))
                continue;
            ticks[fastest] = fastest == AR_TRIAL_STREAMED ? 280 : 299;
            begin(&p, ways);
            run(&p, ways, ticks, AR_TRIAL_PERIOD);
            for (unsigned way = 0; way < AR_TRIAL_WAYS; way++)
                if (way != fastest)
                    assert_int_equal(p.calls[way], ways >> way & 1 ? ar_trial_calls(&p.trial) : 0);
        }
}

static void
streaming_must_gain_a_sixteenth(void **state)
{
    const unsigned ways = 1U | 1U << AR_TRIAL_STREAMED;
    const uint64_t little[AR_TRIAL_WAYS] = {[0] = 320, [AR_TRIAL_STREAMED] = 302};
    const uint64_t enough[AR_TRIAL_WAYS] = {[0] = 320, [AR_TRIAL_STREAMED] = 300};
    struct program p = {.now = 0}, q = {.now = 0};
    (void)state;
    begin(&p, ways);
    run(&p, ways, little, 20);
    assert_int_equal(p.last, 0);
    begin(&q, ways);
    run(&q, ways, enough, 20);
    assert_int_equal(q.last, AR_TRIAL_STREAMED);
}

static void
what_a_way_leaves_to_the_program_counts(void **state)
{
    const uint64_t ticks[AR_TRIAL_WAYS] = {100, 50};
    struct program p = {.after = {100, 170}}, q = {.after = {100, 140}};
    (void)state;
    begin(&p, 3);
    run(&p, 3, ticks, 20);
    assert_int_equal(p.last, 0);
    begin(&q, 3);
    run(&q, 3, ticks, 20);
    assert_int_equal(q.last, 1);
}

static void
what_takes_the_program_much_longer_does_not(void **state)
{
    const uint64_t ticks[AR_TRIAL_WAYS] = {100, 50};
    struct program p = {.after = {10000, 12000}};
    (void)state;
    begin(&p, 3);
    run(&p, 3, ticks, 20);
    assert_int_equal(p.last, 1);
}

/* Each time, the call is disturbed or what follows it, so that each is undisturbed at times. */
static void
calls_and_what_follows_are_disturbed_alone(void **state)
{
    const uint64_t ticks[AR_TRIAL_WAYS] = {100, 90}, late[AR_TRIAL_WAYS] = {1000, 900};
    struct program p = {.now = 0};
    (void)state;
    begin(&p, 3);
    for (int i = 0; i < 2 * 4; i++) {
        p.after[0] = p.after[1] = i % 2 ? 10 : 1000 + 100 * (uint64_t)(i / 4);
        run(&p, 3, i % 2 ? late : ticks, 1);
    }
    run(&p, 3, ticks, 1);
    assert_int_equal(p.last, 1);
}

static void
each_period_begins_with_a_trial(void **state)
{
    const uint64_t before[AR_TRIAL_WAYS] = {10, 20}, after[AR_TRIAL_WAYS] = {20, 10};
    struct program p = {.now = 0};
    (void)state;
    begin(&p, 3);
    run(&p, 3, before, AR_TRIAL_PERIOD);
    assert_int_equal(p.last, 0);
    run(&p, 3, after, (uint64_t)2 * ar_trial_calls(&p.trial) + 1);
    assert_int_equal(p.last, 1);
}

/* One call in a row that nothing has disturbed is enough; the first one does not count, since it
 * finds what another way has left. */
static void
the_fastest_call_of_a_row_counts(void **state)
{
    const uint64_t slow[AR_TRIAL_WAYS] = {1000, 1000}, fast[AR_TRIAL_WAYS] = {10, 20},
                   sudden[AR_TRIAL_WAYS] = {10, 1};
    (void)state;
    for (int disturbed = 1; disturbed < 4; disturbed++) {
        struct program p = {.now = 0};
        begin(&p, 3);
        run(&p, 3, slow, (uint64_t)disturbed);
        run(&p, 3, fast, (uint64_t)(4 - disturbed));
        run(&p, 3, sudden, 1);
        run(&p, 3, fast, 4);
        assert_int_equal(p.last, 0);
    }
}

/* A way whose calls have so many bytes and take so many ticks, and then another one: which is the
 * faster for calls of several sizes? */
static unsigned
faster_of(size_t bytes, uint64_t ticks, size_t other_bytes, uint64_t other_ticks)
{
    const uint64_t first[AR_TRIAL_WAYS] = {ticks}, second[AR_TRIAL_WAYS] = {0, other_ticks};
    const uint64_t after[AR_TRIAL_WAYS] = {other_ticks, other_ticks};
    struct program p = {.bytes = bytes};
    begin(&p, 3);
    run(&p, 3, first, 4);
    p.bytes = other_bytes;
    run(&p, 3, second, 4);
    run(&p, 3, after, 1);
    return p.last;
}

static void
calls_of_several_sizes_count_by_their_bytes(void **state)
{
    (void)state;
    assert_int_equal(faster_of(4096, 100, 8192, 135), 1);
    assert_int_equal(faster_of(8192, 135, 4096, 100), 0);
}

/* A short call takes little less time than a longer one. */
static void
a_longer_call_is_not_better_since_it_is_longer(void **state)
{
    (void)state;
    assert_int_equal(faster_of(3071, 120, 2048, 100), 1);
    assert_int_equal(faster_of(2048, 100, 3071, 120), 0);
}

/* What comes between them are other calls. */
static void
what_follows_a_call_of_several_sizes_does_not_count(void **state)
{
    const uint64_t ticks[AR_TRIAL_WAYS] = {100, 90};
    struct program p = {.bytes = 4096, .after = {10, 1000}};
    (void)state;
    begin(&p, 3);
    run(&p, 3, ticks, 20);
    assert_int_equal(p.last, 1);
}

static void
between_the_trials_the_way_is_the_one_that_is_said(void **state)
{
    (void)state;
    for (unsigned said = 0; said < AR_TRIAL_WAYS; said++) {
        struct ar_trial trial = {.ncalls = AR_TRIAL_PERIOD};
        assert_int_equal(ar_trial_begin(&trial, 6, said, 0, 0), said > 0 ? said : 1); /* of 1, 2 */
    }
}

static void
a_trial_is_over_when_each_way_has_had_its_calls(void **state)
{
    struct ar_trial trial = {.ncalls = 0};
    (void)state;
    for (uint64_t call = 0; call < 2 * AR_TRIAL_PERIOD; call++) {
        ar_trial_begin(&trial, 3, trial.best, 0, call);
        assert_int_equal(ar_trial_is_over(&trial, 3),
                         call > 4 && (call - 4) % AR_TRIAL_PERIOD >= (uint64_t)2 * 4 + 1);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_way_is_taken_between_the_trials),
        cmocka_unit_test(each_period_begins_with_a_trial),
        cmocka_unit_test(streaming_must_gain_a_sixteenth),
        cmocka_unit_test(what_a_way_leaves_to_the_program_counts),
        cmocka_unit_test(what_takes_the_program_much_longer_does_not),
        cmocka_unit_test(calls_and_what_follows_are_disturbed_alone),
        cmocka_unit_test(the_fastest_call_of_a_row_counts),
        cmocka_unit_test(calls_of_several_sizes_count_by_their_bytes),
        cmocka_unit_test(a_longer_call_is_not_better_since_it_is_longer),
        cmocka_unit_test(what_follows_a_call_of_several_sizes_does_not_count),
        cmocka_unit_test(between_the_trials_the_way_is_the_one_that_is_said),
        cmocka_unit_test(a_trial_is_over_when_each_way_has_had_its_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
