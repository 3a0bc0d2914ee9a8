/* Which kinds of calls have been seen, and which come often. */
#include "communicator/seen.h"

#include <string.h>

#include "unit.h"

static uint64_t
kind_of(uint64_t i)
{
    return (i * UINT64_C(0x9e3779b97f4a7c15)) | 1;
}

static void
each_kind_is_new_once(void **state)
{
    static struct ar_seen seen;
    bool forgets;
    (void)state;
    for (uint64_t i = 0; i < AR_SEEN_MOST; i++) {
        assert_false(ar_seen_note(&seen, kind_of(i), &forgets));
        assert_false(forgets);
        for (uint64_t k = 0; k <= i; k++)
            assert_true(ar_seen_note(&seen, kind_of(k), &forgets));
    }
}

static void
one_too_many_makes_all_others_new(void **state)
{
    static struct ar_seen seen;
    bool forgets;
    (void)state;
    for (uint64_t i = 0; i < AR_SEEN_MOST; i++)
        ar_seen_note(&seen, kind_of(i), &forgets);
    assert_false(ar_seen_note(&seen, kind_of(AR_SEEN_MOST), &forgets));
    assert_true(forgets);
    assert_true(ar_seen_note(&seen, kind_of(AR_SEEN_MOST), &forgets));
    assert_false(forgets);
    assert_false(ar_seen_note(&seen, kind_of(0), &forgets));
    assert_false(forgets);
}

static void
kinds_that_fall_together_are_told_apart(void **state)
{
    static struct ar_seen seen;
    bool forgets;
    (void)state;
    for (uint64_t i = 1; i <= AR_SEEN_MOST; i++)
        assert_false(ar_seen_note(&seen, i, &forgets));
    for (uint64_t i = 1; i <= AR_SEEN_MOST; i++)
        assert_true(ar_seen_note(&seen, i, &forgets));
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_is_new_once),
        cmocka_unit_test(one_too_many_makes_all_others_new),
        cmocka_unit_test(kinds_that_fall_together_are_told_apart),
        cmocka_unit_test(what_comes_often_is_known_from_then_on),
        cmocka_unit_test(what_is_known_changes_nothing),
        cmocka_unit_test(what_comes_once_does_not_hide_what_comes_often),
        cmocka_unit_test(of_many_alike_few_come_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
