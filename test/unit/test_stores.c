/* When ranks write past their caches, which calls try it together, and what later communicators
 * know of it: src/communicator/ways.h. */
#include "communicator/ways.h"

#include <stdlib.h>
#include <string.h>

#include "communicator/decide.h"
#include "execute/node_plan.h"
#include "reduce/copy.h"
#include "unit.h"

static struct ar_config config;
static struct ar_communicator communicator = {.config = &config};
static struct ar_node node;
static const struct ar_crowd apart = {2, 2}, sharing = {3, 2};

static struct ar_decision
decision_of(size_t bytes, bool by_slots)
{
    struct ar_decision d;
    memset(&d, 0, sizeof d);
    d.key.count = bytes;
    d.key.size = 1;
    d.node = by_slots ? &node : NULL;
    return d;
}

static void
settle(struct ar_stores *stores, const struct ar_decision *d, struct ar_crowd crowd)
{
    memset(stores, 0, sizeof *stores);
    ar_copy_settle_stores(stores, &communicator, d, crowd, true);
}

static struct ar_stores
stores_of(const struct ar_decision *d, struct ar_crowd crowd)
{
    struct ar_stores stores;
    settle(&stores, d, crowd);
    return stores; /* those of a pick would refer to what is gone */
}

/* From now on the calls are those of another communicator. */
static void
change_communicator(void)
{
    free(communicator.choice.trials[0]);
    free(communicator.choice.trials[1]);
    communicator.choice.trials[0] = communicator.choice.trials[1] = NULL;
}

static int
begin(void **state)
{
    (void)state;
    config.streaming = AR_STREAMING_AUTO;
    change_communicator();
    return 0;
}

static int
end(void **state)
{
    (void)state;
    change_communicator();
    return 0;
}

static void
short_vectors_and_shared_cores_are_not_tried(void **state)
{
    const struct ar_decision few = decision_of(2047, true), enough = decision_of(2048, true);
    (void)state;
    assert_int_equal(stores_of(&few, apart).streaming, AR_STREAMING_NEVER);
    assert_int_equal(stores_of(&enough, sharing).streaming, AR_STREAMING_NEVER);
    assert_int_equal(stores_of(&enough, apart).streaming,
                     ar_copy_can_stream() ? AR_STREAMING_AUTO : AR_STREAMING_NEVER);
}

static void
what_is_asked_for_is_done_for_all(void **state)
{
    const struct ar_decision few = decision_of(8, false);
    (void)state;
    config.streaming = AR_STREAMING_ALWAYS;
    assert_int_equal(stores_of(&few, sharing).streaming,
                     ar_copy_can_stream() ? AR_STREAMING_ALWAYS : AR_STREAMING_NEVER);
    config.streaming = AR_STREAMING_NEVER;
    assert_int_equal(stores_of(&few, apart).streaming, AR_STREAMING_NEVER);
}

static void
long_vectors_have_short_trials(void **state)
{
    const struct ar_decision below = decision_of(AR_TRIAL_LONG - 1, true),
                             from = decision_of(AR_TRIAL_LONG, true);
    (void)state;
    if (!ar_copy_can_stream())
        skip();
    assert_false(stores_of(&below, apart).trial->is_long);
    assert_true(stores_of(&from, apart).trial->is_long);
}

/* A program whose calls all have other counts makes a plan for each. */
static void
calls_of_about_the_same_size_have_one_trial(void **state)
{
    const struct ar_decision d = decision_of(16384, true), alike = decision_of(24575, true),
                             longer = decision_of(24576, true), sent = decision_of(16384, false),
                             longest = decision_of((size_t)1 << 40, true),
                             longer_still = decision_of((size_t)1 << 60, true);
    (void)state;
    if (!ar_copy_can_stream())
        skip();
    const struct ar_trial *const trial = stores_of(&d, apart).trial;
    assert_non_null(trial);
    assert_ptr_equal(stores_of(&alike, apart).trial, trial);
    assert_ptr_not_equal(stores_of(&longer, apart).trial, trial);
    assert_ptr_not_equal(stores_of(&sent, apart).trial, trial);
    assert_ptr_equal(stores_of(&longest, apart).trial, stores_of(&longer_still, apart).trial);
}

/* A trial of d's calls has found that way, and more calls have followed. */
static void
learn(const struct ar_decision *d, unsigned best)
{
    const struct ar_stores stores = stores_of(d, apart);
    stores.trial->ncalls = 64;
    stores.trial->best = best;
    ar_copy_learn(&communicator, d, &stores);
    change_communicator();
}

static void
later_communicators_begin_with_what_was_found(void **state)
{
    const struct ar_decision d = decision_of(16384, true), alike = decision_of(20000, true),
                             longer = decision_of(32768, true), sent = decision_of(16384, false);
    (void)state;
    if (!ar_copy_can_stream())
        skip();
    assert_int_equal(stores_of(&d, apart).trial->best, AR_STORES_CACHED);
    learn(&d, AR_TRIAL_STREAMED);
    assert_int_equal(stores_of(&d, apart).trial->best, AR_TRIAL_STREAMED);
    change_communicator();
    assert_int_equal(stores_of(&alike, apart).trial->best, AR_TRIAL_STREAMED);
    assert_int_equal(stores_of(&longer, apart).trial->best, AR_STORES_CACHED);
    assert_int_equal(stores_of(&sent, apart).trial->best, AR_STORES_CACHED);
    learn(&d, AR_STORES_CACHED);
    assert_int_equal(stores_of(&alike, apart).trial->best, AR_STORES_CACHED);
}

static void
nothing_is_learned_before_the_trial_is_over(void **state)
{
    const struct ar_decision d = decision_of(8192, true);
    const struct ar_stores stores = stores_of(&d, apart);
    (void)state;
    if (!ar_copy_can_stream())
        skip();
    stores.trial->best = AR_TRIAL_STREAMED;
    ar_copy_learn(&communicator, &d, &stores);
    change_communicator();
    assert_int_equal(stores_of(&d, apart).trial->best, AR_STORES_CACHED);
}

/* Calls that go past the caches, of 100 by a pick. */
static int
count_streamed(struct ar_stores *stores)
{
    int n = 0;
    for (int call = 0; call < 100; call++) {
        ar_stores_begin(stores, 65536);
        n += stores->is_streamed;
        ar_stores_end(stores);
    }
    return n;
}

/* A measurement of few calls begins no trial. */
static void
what_is_measured_in_few_calls_goes_the_way_that_was_found(void **state)
{
    struct ar_decision d = decision_of(65536, true);
    struct ar_stores stores;
    (void)state;
    if (!ar_copy_can_stream())
        skip();
    learn(&d, AR_TRIAL_STREAMED);
    d.key.pick = 1;
    d.is_brief = true;
    settle(&stores, &d, apart);
    assert_int_equal(count_streamed(&stores), 100);
}

/* Calls of several algorithms take turns, each with a trial of its own. */
static void
what_is_measured_in_many_calls_has_its_own_trial(void **state)
{
    struct ar_decision d = decision_of(65536, true);
    struct ar_stores stores;
    (void)state;
    if (!ar_copy_can_stream())
        skip();
    learn(&d, AR_STORES_CACHED);
    d.key.pick = 1;
    settle(&stores, &d, apart);
    assert_ptr_equal(stores.trial, &stores.own);
    assert_null(communicator.choice.trials[true]);
    assert_true(count_streamed(&stores) >= 4);
}

static void
a_decision_tells_whether_it_tries(void **state)
{
    struct ar_node_plan plan;
    struct ar_decision d = decision_of(65536, true);
    (void)state;
    if (!ar_copy_can_stream())
        skip();
    assert_false(ar_copy_is_trying(&d));
    memset(&plan, 0, sizeof plan);
    d.node_plan = &plan;
    assert_false(ar_copy_is_trying(&d));
    plan.stores = stores_of(&d, apart);
    assert_false(ar_copy_is_trying(&d));
    ar_stores_begin(&plan.stores, 65536);
    ar_stores_end(&plan.stores);
    assert_true(ar_copy_is_trying(&d));
    count_streamed(&plan.stores);
    assert_false(ar_copy_is_trying(&d));
}

/* A trial that is stopped has found nothing, whatever its first calls took. */
static void
a_trial_is_stopped(void **state)
{
    struct ar_node_plan plan;
    struct ar_decision d = decision_of(65536, true);
    (void)state;
    if (!ar_copy_can_stream())
        skip();
    learn(&d, AR_TRIAL_STREAMED);
    d.key.pick = 1;
    memset(&plan, 0, sizeof plan);
    d.node_plan = &plan;
    settle(&plan.stores, &d, apart);
    for (int call = 0; call < 7; call++) {
        ar_stores_begin(&plan.stores, 65536);
        ar_stores_end(&plan.stores);
    }
    assert_true(ar_copy_is_trying(&d));
    assert_int_equal(plan.stores.trial->best, AR_STORES_CACHED);
    ar_copy_stop_trying(&d);
    assert_false(ar_copy_is_trying(&d));
    assert_int_equal(count_streamed(&plan.stores), 100);
}

static void
what_can_not_stream_has_no_trial(void **state)
{
    const struct ar_decision d = decision_of(4096, true);
    struct ar_stores stores = stores_of(&d, apart);
    (void)state;
    stores.can = false;
    for (int call = 0; call < 20; call++) {
        ar_stores_begin(&stores, 4096);
        assert_false(stores.is_streamed);
        ar_stores_end(&stores);
    }
    assert_true(!stores.trial || stores.trial->ncalls == 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(short_vectors_and_shared_cores_are_not_tried, begin, end),
        cmocka_unit_test_setup_teardown(what_is_asked_for_is_done_for_all, begin, end),
        cmocka_unit_test_setup_teardown(long_vectors_have_short_trials, begin, end),
        cmocka_unit_test_setup_teardown(calls_of_about_the_same_size_have_one_trial, begin, end),
        cmocka_unit_test_setup_teardown(later_communicators_begin_with_what_was_found, begin, end),
        cmocka_unit_test_setup_teardown(nothing_is_learned_before_the_trial_is_over, begin, end),
        cmocka_unit_test_setup_teardown(what_is_measured_in_few_calls_goes_the_way_that_was_found,
                                        begin, end),
        cmocka_unit_test_setup_teardown(what_is_measured_in_many_calls_has_its_own_trial, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_decision_tells_whether_it_tries, begin, end),
        cmocka_unit_test_setup_teardown(a_trial_is_stopped, begin, end),
        cmocka_unit_test_setup_teardown(what_can_not_stream_has_no_trial, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
