/* Which kinds of calls have been seen. */
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_is_new_once),
        cmocka_unit_test(one_too_many_makes_all_others_new),
        cmocka_unit_test(kinds_that_fall_together_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
