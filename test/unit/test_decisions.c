/* What a communicator remembers of its calls. */
#include "communicator/decisions.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* --- recent calls --- */

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
find_recent(struct ar_recents *recents, size_t count, MPI_Op op)
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
        assert_int_equal(find_recent(&recents, 10 + i, MPI_SUM), -1);
        add(&recents, 10 + i, MPI_SUM, i);
        for (size_t k = 0; k <= i; k++)
            assert_int_equal(find_recent(&recents, 10 + k, MPI_SUM),
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
        assert_int_equal(find_recent(&recents, 10, MPI_SUM), 0);
        add(&recents, 20 + i, MPI_SUM, AR_RECENT_CALLS + i);
        assert_int_equal(find_recent(&recents, 10, MPI_SUM), 0);
    }
}

static void
another_op_type_or_count_is_another_call(void **state)
{
    struct ar_recents recents = {.last = 0};
    (void)state;
    add(&recents, 10, MPI_SUM, 0);
    assert_int_equal(find_recent(&recents, 10, MPI_MAX), -1);
    assert_int_equal(find_recent(&recents, 11, MPI_SUM), -1);
    assert_null(ar_recent_find(&recents, MPI_SUM, MPI_FLOAT, 10));
    assert_int_equal(find_recent(&recents, 10, MPI_SUM), 0);
}

static void
a_call_that_is_decided_anew_is_known_once(void **state)
{
    struct ar_recents recents = {.last = 0};
    (void)state;
    add(&recents, 10, MPI_SUM, 0);
    add(&recents, 20, MPI_SUM, 1);
    add(&recents, 10, MPI_SUM, 2);
    assert_int_equal(find_recent(&recents, 10, MPI_SUM), 2);
    ar_recent_forget(&recents, decision(2));
    assert_int_equal(find_recent(&recents, 10, MPI_SUM), -1);
    assert_int_equal(find_recent(&recents, 20, MPI_SUM), 1);
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
    assert_int_equal(find_recent(&recents, 10, MPI_SUM), -1);
    assert_int_equal(find_recent(&recents, 10, MPI_MAX), -1);
    assert_int_equal(find_recent(&recents, 20, MPI_SUM), 1);
    ar_recent_forget(&recents, NULL);
    assert_int_equal(find_recent(&recents, 20, MPI_SUM), -1);
}

/* --- kinds of calls --- */

static void
each_eighth_between_powers_of_two_has_one_first_call(void **state)
{
    struct ar_decisions ds = {.plan_bytes = 0};
    (void)state;
    for (size_t power = 8; power < (size_t)1 << 62; power *= 2)
        for (size_t at = power; at < 2 * power; at += power / 8) {
            assert_true(ar_decisions_see(&ds, at));
            assert_false(ar_decisions_see(&ds, at));
            assert_false(ar_decisions_see(&ds, at + power / 8 - 1));
        }
}

static void
each_of_the_shortest_sizes_has_one(void **state)
{
    struct ar_decisions ds = {.plan_bytes = 0};
    (void)state;
    for (size_t bytes = 1; bytes < 16; bytes++)
        assert_true(ar_decisions_see(&ds, bytes));
    for (size_t bytes = 1; bytes < 16; bytes++)
        assert_false(ar_decisions_see(&ds, bytes));
}

static uint64_t
kind_of(uint64_t i)
{
    return (i * UINT64_C(0x9e3779b97f4a7c15)) | 1;
}

static void
what_comes_often_is_known_from_then_on(void **state)
{
    static struct ar_often often;
    (void)state;
    for (uint64_t call = 0; call < 3 * AR_OFTEN_CALLS; call++)
        for (uint64_t i = 1; i <= AR_OFTEN_WAYS; i++)
            assert_int_equal(ar_often_note(&often, kind_of(i)), call >= AR_OFTEN_CALLS);
}

/* Where it need not be noted nothing is missed. */
static void
what_is_known_changes_nothing(void **state)
{
    static struct ar_often often;
    (void)state;
    for (int call = 0; call < AR_OFTEN_CALLS; call++)
        ar_often_note(&often, kind_of(1));
    const struct ar_often before = often;
    assert_true(ar_often_note(&often, kind_of(1)));
    assert_memory_equal(&often, &before, sizeof often);
}

/* Two of three calls are of kinds that never come again. */
static void
what_comes_once_does_not_hide_what_comes_often(void **state)
{
    static struct ar_often often;
    int known = 0;
    (void)state;
    for (uint64_t call = 0; call < 1000; call++) {
        known += ar_often_note(&often, kind_of(1));
        for (uint64_t i = 0; i < 2; i++)
            assert_false(ar_often_note(&often, kind_of(1000 + 2 * call + i)));
    }
    assert_true(known > 900);
}

/* As in a program of many counts, none of which comes more often than the others. */
static void
of_many_alike_few_come_often(void **state)
{
    static struct ar_often often;
    const uint64_t kinds = 20 * AR_OFTEN_SETS * AR_OFTEN_WAYS;
    uint64_t known = 0;
    (void)state;
    for (uint64_t call = 0; call < 100; call++)
        for (uint64_t i = 0; i < kinds; i++)
            known += ar_often_note(&often, kind_of(i));
    assert_int_equal(known, 0);
}

/* --- decisions --- */

/* A new one, for a call of one element of so many bytes. */
static struct ar_decision *
keep(struct ar_decisions *ds, size_t size)
{
    struct ar_decision *const d = calloc(1, sizeof *d);
    assert_non_null(d);
    d->key.count = 1;
    d->key.size = size;
    ar_decisions_keep(ds, d);
    return d;
}

static struct ar_decision *
find(const struct ar_decisions *ds, size_t size)
{
    const struct ar_decision_key key = {.count = 1, .size = size};
    return ar_decisions_find(ds, &key);
}

static void
a_decision_is_found_by_its_key(void **state)
{
    struct ar_decisions ds = {.plan_bytes = 0};
    (void)state;
    assert_null(find(&ds, 8));
    struct ar_decision *const d = keep(&ds, 8);
    assert_ptr_equal(find(&ds, 8), d);
    assert_null(find(&ds, 4));
    ar_decisions_clear(&ds);
    assert_null(find(&ds, 8));
}

static void
one_with_the_same_key_takes_its_place(void **state)
{
    struct ar_decisions ds = {.plan_bytes = 0};
    (void)state;
    ds.ran = keep(&ds, 8);
    ar_recent_add(&ds.recents, &(struct ar_recent){1, {.op = MPI_SUM}, keep(&ds, 4)});
    struct ar_decision *const d = keep(&ds, 8);
    assert_ptr_equal(find(&ds, 8), d);
    assert_null(ds.ran);
    assert_non_null(find(&ds, 4));
    keep(&ds, 4);
    assert_null(ar_recent_find(&ds.recents, MPI_SUM, (MPI_Datatype){0}, 1));
    ar_decisions_clear(&ds);
}

/* As for an exact sum, whose integers have decisions of their own. */
static void
what_ran_last_outlives_what_is_older_than_many(void **state)
{
    struct ar_decisions ds = {.plan_bytes = 0};
    size_t found = 0;
    (void)state;
    keep(&ds, 1);
    ds.ran = keep(&ds, 2);
    for (size_t size = 3; size < 1000; size++)
        keep(&ds, size);
    assert_null(find(&ds, 1));
    assert_ptr_equal(find(&ds, 2), ds.ran);
    for (size_t size = 3; size < 1000; size++)
        found += find(&ds, size) != NULL;
    assert_in_range(found, AR_DECISION_CHAINS, AR_DECISION_CHAINS * AR_DECISION_WAYS);
    ar_decisions_clear(&ds);
    assert_null(ds.ran);
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
        cmocka_unit_test(each_eighth_between_powers_of_two_has_one_first_call),
        cmocka_unit_test(each_of_the_shortest_sizes_has_one),
        cmocka_unit_test(what_comes_often_is_known_from_then_on),
        cmocka_unit_test(what_is_known_changes_nothing),
        cmocka_unit_test(what_comes_once_does_not_hide_what_comes_often),
        cmocka_unit_test(of_many_alike_few_come_often),
        cmocka_unit_test(a_decision_is_found_by_its_key),
        cmocka_unit_test(one_with_the_same_key_takes_its_place),
        cmocka_unit_test(what_ran_last_outlives_what_is_older_than_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
