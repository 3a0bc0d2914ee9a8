/* Passes: what wins, and what only seems to. */
#include <math.h>
#include <stdlib.h>

#include "tuning/estimate.h"
#include "unit.h"

#define PASSES 11

static struct ar_values
passes_of(const double *seconds, int n)
{
    struct ar_values passes = {.n = 0};
    for (int i = 0; i < n; i++)
        ar_values_add(&passes, seconds[i]);
    return passes;
}

/* So many us in the passes whose number is a multiple of three, and so many in the others: as on
 * two cores, which four ranks share in one of three ways. */
static struct ar_values
of_two_states(double first, double others)
{
    struct ar_values passes = {.n = 0};
    for (int i = 0; i < PASSES; i++)
        ar_values_add(&passes, 1e-6 * (i % 3 == 0 ? first : others) * (1 + 0.001 * (i % 2)));
    return passes;
}

static void
quartiles_are_those_of_the_sorted_times(void **state)
{
    const double seconds[] = {5, 1, 4, 2, 3};
    const struct ar_values passes = passes_of(seconds, 5);
    const struct ar_values even = passes_of(seconds, 4);
    const struct ar_values one = passes_of(seconds, 1);
    (void)state;
    assert_true(ar_values_least(&passes) == 1);
    assert_true(ar_values_median(&passes) == 3);
    assert_true(ar_values_estimate(&passes).spread == 1.0 / 3); /* 2 to 4 */
    assert_true(ar_values_median(&even) == 3);                  /* between 2 and 4 */
    assert_true(ar_values_median(&one) == 5);
    assert_true(isnan(ar_values_estimate(&one).spread));
}

static void
passes_won_are_counted_by_pairs(void **state)
{
    const double slow[] = {10, 10, 20, 10}, fast[] = {9, 9, 19, 11};
    const struct ar_values a = passes_of(slow, 4), b = passes_of(fast, 4);
    (void)state;
    assert_true(ar_values_won(&b, &a, 0) == 0.75);
    assert_true(ar_values_won(&a, &b, 0) == 0.25);
    assert_true(ar_values_won(&a, &a, 0) == 0);
}

static void
a_pass_is_won_by_more_than_the_margin(void **state)
{
    const double slow[] = {10, 10, 10, 10}, fast[] = {9, 9, 9, 9};
    const struct ar_values a = passes_of(slow, 4), b = passes_of(fast, 4);
    (void)state;
    assert_true(ar_values_won(&b, &a, 0.1) == 1);
    assert_true(ar_values_won(&b, &a, 0.12) == 0);
}

static void
what_wins_in_one_state_of_the_machine_is_no_winner(void **state)
{
    const struct ar_values circulant = of_two_states(134, 84), rhd = of_two_states(92, 118);
    const struct ar_values best = of_two_states(80, 80);
    (void)state;
    assert_true(ar_values_won(&rhd, &circulant, 0.02) < 0.5);
    assert_true(ar_values_won(&circulant, &rhd, 0.02) < 0.75);
    assert_true(ar_values_won(&best, &rhd, 0.02) == 1);
}

static void
who_came_later_is_compared_in_the_passes_that_both_saw(void **state)
{
    const double early[] = {1, 1, 1, 10, 10}, late[] = {9, 9};
    const struct ar_values a = passes_of(early, 5), b = passes_of(late, 2);
    const struct ar_values none = {.n = 0};
    (void)state;
    assert_true(ar_values_won(&b, &a, 0.05) == 1);
    assert_true(ar_values_won(&none, &a, 0.05) == 0);
    assert_true(ar_values_won(&a, &none, 0.05) == 0);
}

static void
the_oldest_pass_is_forgotten_when_there_are_too_many(void **state)
{
    struct ar_values passes = {.n = 0};
    (void)state;
    for (int i = 0; i <= AR_VALUES_MAX; i++)
        ar_values_add(&passes, i);
    assert_int_equal(passes.n, AR_VALUES_MAX);
    assert_true(ar_values_least(&passes) == 1);
}

static void
a_shuffle_has_each_place_once_and_follows_its_seed(void **state)
{
    enum { N = 20 };
    size_t a[N], b[N], c[N];
    int seen[N] = {0}, same = 0;
    (void)state;
    ar_shuffle(a, N, 1);
    ar_shuffle(b, N, 1);
    ar_shuffle(c, N, 2);
    for (int i = 0; i < N; i++) {
        seen[a[i]]++;
        same += a[i] == c[i];
    }
    for (int i = 0; i < N; i++)
        assert_int_equal(seen[i], 1);
    assert_memory_equal(a, b, sizeof a);
    assert_true(same < N);
}

static void
a_gain_is_that_of_pairs(void **state)
{
    static const double slow[] = {9, 5, 50, 7, 8, 10, 6}, fast[] = {3, 48, 5, 6, 8, 4};
    const struct ar_values a = passes_of(fast, 6), b = passes_of(slow, 7);
    const struct ar_values none = passes_of(slow, 0);
    (void)state;
    const struct ar_estimate gain = ar_values_gain(&a, &b); /* of 2 2 2 2 2 2 */
    assert_true(gain.median == 2 && gain.low == 2 && gain.high == 2);
    assert_true(ar_values_gain(&b, &a).high == -2);
    assert_true(isnan(ar_values_gain(&a, &none).median));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quartiles_are_those_of_the_sorted_times),
        cmocka_unit_test(passes_won_are_counted_by_pairs),
        cmocka_unit_test(a_pass_is_won_by_more_than_the_margin),
        cmocka_unit_test(what_wins_in_one_state_of_the_machine_is_no_winner),
        cmocka_unit_test(who_came_later_is_compared_in_the_passes_that_both_saw),
        cmocka_unit_test(the_oldest_pass_is_forgotten_when_there_are_too_many),
        cmocka_unit_test(a_gain_is_that_of_pairs),
        cmocka_unit_test(a_shuffle_has_each_place_once_and_follows_its_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
