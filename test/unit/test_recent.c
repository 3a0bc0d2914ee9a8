/* Which calls are known from the last ones. */
#include "communicator/recent.h"

#include "unit.h"

/* Decisions are told apart by where they are. */
static char decisions[2 * AR_RECENT_CALLS];

static struct ar_decision *
decision(size_t i)
{
    return (struct ar_decision *)(void *)&decisions[i];
}

static void
add(struct ar_recents *recents, size_t count, MPI_Op op, size_t i)
{
    const struct ar_recent call = {count, {.op = op, .type = MPI_DOUBLE}, decision(i)};
    ar_recent_add(recents, &call);
}

/* The number of the decision of a call; -1: it is not known. */
static int
find(struct ar_recents *recents, size_t count, MPI_Op op)
{
    const struct ar_recent *const call = ar_recent_find(recents, op, MPI_DOUBLE, count);
    return call ? (int)((char *)call->decision - decisions) : -1;
}

static void
the_last_few_calls_are_known(void **state)
{
    struct ar_recents recents = {.last = 0};
    (void)state;
    for (size_t i = 0; i < 2 * AR_RECENT_CALLS; i++) {
        assert_int_equal(find(&recents, 10 + i, MPI_SUM), -1);
        add(&recents, 10 + i, MPI_SUM, i);
        for (size_t k = 0; k <= i; k++)
            assert_int_equal(find(&recents, 10 + k, MPI_SUM),
                             k + AR_RECENT_CALLS > i ? (int)k : -1);
    }
}

static void
a_call_that_was_found_stays_when_one_is_added(void **state)
{
    struct ar_recents recents = {.last = 0};
    (void)state;
    for (size_t i = 0; i < AR_RECENT_CALLS; i++)
        add(&recents, 10 + i, MPI_SUM, i);
    for (size_t i = 0; i < AR_RECENT_CALLS; i++) {
        assert_int_equal(find(&recents, 10, MPI_SUM), 0);
        add(&recents, 20 + i, MPI_SUM, AR_RECENT_CALLS + i);
        assert_int_equal(find(&recents, 10, MPI_SUM), 0);
    }
}

static void
another_op_type_or_count_is_another_call(void **state)
{
    struct ar_recents recents = {.last = 0};
    (void)state;
    add(&recents, 10, MPI_SUM, 0);
    assert_int_equal(find(&recents, 10, MPI_MAX), -1);
    assert_int_equal(find(&recents, 11, MPI_SUM), -1);
    assert_null(ar_recent_find(&recents, MPI_SUM, MPI_FLOAT, 10));
    assert_int_equal(find(&recents, 10, MPI_SUM), 0);
}

static void
a_call_that_is_decided_anew_is_known_once(void **state)
{
    struct ar_recents recents = {.last = 0};
    (void)state;
    add(&recents, 10, MPI_SUM, 0);
    add(&recents, 20, MPI_SUM, 1);
    add(&recents, 10, MPI_SUM, 2);
    assert_int_equal(find(&recents, 10, MPI_SUM), 2);
    ar_recent_forget(&recents, decision(2));
    assert_int_equal(find(&recents, 10, MPI_SUM), -1);
    assert_int_equal(find(&recents, 20, MPI_SUM), 1);
}

/* Calls of several ops may share one. */
static void
a_decision_that_goes_takes_its_calls_along(void **state)
{
    struct ar_recents recents = {.last = 0};
    (void)state;
    add(&recents, 10, MPI_SUM, 0);
    add(&recents, 10, MPI_MAX, 0);
    add(&recents, 20, MPI_SUM, 1);
    ar_recent_forget(&recents, decision(0));
    assert_int_equal(find(&recents, 10, MPI_SUM), -1);
    assert_int_equal(find(&recents, 10, MPI_MAX), -1);
    assert_int_equal(find(&recents, 20, MPI_SUM), 1);
    ar_recent_forget(&recents, NULL);
    assert_int_equal(find(&recents, 20, MPI_SUM), -1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_few_calls_are_known),
        cmocka_unit_test(a_call_that_was_found_stays_when_one_is_added),
        cmocka_unit_test(another_op_type_or_count_is_another_call),
        cmocka_unit_test(a_call_that_is_decided_anew_is_known_once),
        cmocka_unit_test(a_decision_that_goes_takes_its_calls_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
