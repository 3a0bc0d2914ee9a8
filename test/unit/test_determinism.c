/* What the rows of the registry say of their bits is proved: by the checker's expressions, for
 * numbers of ranks, counts, placements and parameters of every kind. */

#include "algorithms/registry.h"
#include "schedule/checker.h"
#include "setting.h"
#include "unit.h"

#define RANKS_MAX 24
#define COUNTS    5

static struct ar_verdict
check(const struct setting *setting, size_t count)
{
    struct ar_schedule *all = schedules_emit(setting, count);
    struct ar_verdict verdict;
    if (ar_check(&verdict, all, setting->nranks, false))
        fail_msg("%s, %zu elements: %s", setting->text, count, verdict.text);
    schedules_free(all, setting->nranks);
    return verdict;
}

/* Blocks empty, of one element, and of some. */
static size_t
count_at(int nranks, int i)
{
    const size_t p = (size_t)nranks, counts[COUNTS] = {1, p - 1, p, p + 1, 3 * p + 2};
    return counts[i];
}

static void
for_each_trial(bool (*concerns)(const struct ar_algorithm *), void (*look)(const struct setting *))
{
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (int nranks = 2; concerns(ar_algorithm_at(row)) && nranks <= RANKS_MAX; nranks++)
            for (size_t k = 0; k < setting_count(ar_algorithm_at(row)); k++) {
                setting_vary(&setting, ar_algorithm_at(row), nranks, PLACE_UNKNOWN, k);
                look(&setting);
            }
}

/* --- placement --- */

static bool
keeps_placement(const struct setting *setting)
{
    return ar_algorithm_keeps(setting->row, &setting->params) >= AR_DETERMINISM_PLACEMENT;
}

/* Equal steps on all ranks: equal expressions, of every element. */
static void
assert_same_steps(const struct setting *a, const struct setting *b, size_t count)
{
    struct ar_schedule *x = schedules_emit(a, count), *y = schedules_emit(b, count);
    for (int r = 0; r < a->nranks; r++) {
        if (x[r].nsteps != y[r].nsteps)
            fail_msg("%s: other steps", b->text);
        for (size_t i = 0; i < x[r].nsteps; i++) {
            const struct ar_step *s = &x[r].steps[i], *t = &y[r].steps[i];
            if (s->kind != t->kind || s->order != t->order || s->peer != t->peer ||
                s->dst.offset != t->dst.offset || s->dst.length != t->dst.length ||
                s->a.offset != t->a.offset || s->b.offset != t->b.offset)
                fail_msg("%s: step %zu of rank %d is another", b->text, i, r);
        }
    }
    schedules_free(x, a->nranks);
    schedules_free(y, a->nranks);
}

static void
rows_that_keep_placement_ignore_nodes(void **state)
{
    (void)state;
    struct setting plain, placed;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (int nranks = 2; nranks <= RANKS_MAX; nranks++)
            for (int place = 1; place < PLACE_KINDS; place++)
                for (size_t k = 0; k < setting_count(ar_algorithm_at(row)); k++) {
                    setting_vary(&plain, ar_algorithm_at(row), nranks, PLACE_UNKNOWN, k);
                    setting_vary(&placed, ar_algorithm_at(row), nranks, (enum placement)place, k);
                    if (keeps_placement(&placed))
                        assert_same_steps(&plain, &placed, count_at(nranks, 4));
                }
}

/* What statistics show of a parameter that does not fit is what runs. */
static void
a_parameter_that_is_fitted_keeps_its_steps(void **state)
{
    (void)state;
    struct setting given, fitted;
    int n = 0;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (int nranks = 2; nranks <= RANKS_MAX; nranks++)
            for (size_t k = 0; k < setting_count(ar_algorithm_at(row)); k++) {
                setting_vary(&given, ar_algorithm_at(row), nranks, PLACE_UNKNOWN, k);
                setting_vary(&fitted, ar_algorithm_at(row), nranks, PLACE_UNKNOWN, k);
                if (!ar_algorithm_fit(fitted.row, &fitted.params, nranks))
                    continue;
                assert_same_steps(&given, &fitted, count_at(nranks, 4));
                assert_null(ar_algorithm_fit(fitted.row, &fitted.params, nranks));
                n++;
            }
    assert_true(n > 100);
}

/* --- size --- */

static bool
keeps_size(const struct ar_algorithm *row)
{
    return ar_algorithm_keeps(row, NULL) >= AR_DETERMINISM_SIZE;
}

static void
look_at_sizes(const struct setting *setting)
{
    if (ar_algorithm_keeps(setting->row, &setting->params) < AR_DETERMINISM_SIZE)
        return;
    const struct ar_verdict one = check(setting, 1);
    for (int i = 0; i < COUNTS; i++) {
        const struct ar_verdict v = check(setting, count_at(setting->nranks, i));
        if (!v.alike || v.expression != one.expression)
            fail_msg("%s, %zu elements: the size changes the bits", setting->text,
                     count_at(setting->nranks, i));
    }
}

static void
rows_that_keep_size_combine_all_elements_alike(void **state)
{
    (void)state;
    for_each_trial(keeps_size, look_at_sizes);
}

/* --- families --- */

static bool
has_family(const struct ar_algorithm *row)
{
    return row->family != AR_FAMILY_OWN;
}

static uint64_t expression_of[AR_FAMILIES][RANKS_MAX + 1];

static void
look_at_family(const struct setting *setting)
{
    const enum ar_family family = ar_algorithm_family(setting->row, &setting->params);
    uint64_t *known = &expression_of[family][setting->nranks];
    const struct ar_verdict v = check(setting, 1);
    if (family == AR_FAMILY_OWN)
        return;
    if (*known == 0)
        *known = v.expression;
    if (*known != v.expression)
        fail_msg("%s is not of the family %s", setting->text, ar_family_names[family]);
}

static void
rows_of_a_family_share_one_expression(void **state)
{
    (void)state;
    for_each_trial(has_family, look_at_family);
    for (int family = 1; family < AR_FAMILIES; family++)
        assert_int_not_equal(expression_of[family][RANKS_MAX], 0);
    assert_true(expression_of[AR_FAMILY_FOLD][4] != expression_of[AR_FAMILY_DOUBLING][4]);
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        if (has_family(ar_algorithm_at(row)))
            assert_true(keeps_size(ar_algorithm_at(row)));
}

/* --- and what they do not say --- */

static void
the_checker_tells_rows_that_keep_less(void **state)
{
    (void)state;
    const char *const known[] = {"ring", "torus2d"};
    struct setting setting;
    setting_default(&setting, ar_algorithm_find(known[0], 4), 5, PLACE_UNKNOWN);
    assert_false(check(&setting, 10).alike); /* the checker can tell */
    setting_default(&setting, ar_algorithm_find(known[1], 7), 12, PLACE_CONTIGUOUS);
    const uint64_t placed = check(&setting, 24).expression;
    setting_default(&setting, ar_algorithm_find(known[1], 7), 12, PLACE_SINGLES);
    assert_true(check(&setting, 24).expression != placed);
    /* A ring by node combines in other orders on other placements, and promises no more. */
    setting_default(&setting, ar_algorithm_find(known[0], 4), 6, PLACE_IN_TURN);
    const uint64_t by_rank = check(&setting, 1).expression;
    setting.params.order = AR_RING_BY_NODE;
    assert_true(check(&setting, 1).expression != by_rank);
    assert_int_equal(ar_algorithm_keeps(setting.row, &setting.params), AR_DETERMINISM_RUN);
    assert_int_equal(ar_algorithm_keeps(setting.row, NULL), AR_DETERMINISM_PLACEMENT);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_that_keep_placement_ignore_nodes),
        cmocka_unit_test(a_parameter_that_is_fitted_keeps_its_steps),
        cmocka_unit_test(rows_that_keep_size_combine_all_elements_alike),
        cmocka_unit_test(rows_of_a_family_share_one_expression),
        cmocka_unit_test(the_checker_tells_rows_that_keep_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
