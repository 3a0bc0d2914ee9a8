/* Lists of sizes: what is read, and what is refused where. */
#include <stdio.h>
#include <string.h>

#include "schedule/error.h"
#include "select/sizes.h"
#include "unit.h"

/* The list as "8 4096 "; finis it. */
static const char *
written(struct ar_sizes *sizes)
{
    static char all[512];
    all[0] = '\0';
    for (size_t i = 0; i < sizes->n; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%zu ", sizes->bytes[i]);
    ar_sizes_fini(sizes);
    return all;
}

static const char *
read_as(const char *text, size_t factor)
{
    struct ar_sizes sizes;
    struct ar_problem problem;
    assert_int_equal(ar_sizes_parse(&sizes, text, factor, &problem), AR_OK);
    return written(&sizes);
}

static const char *
sorted_as(const char *text)
{
    struct ar_sizes sizes;
    struct ar_problem problem;
    assert_int_equal(ar_sizes_parse(&sizes, text, 8, &problem), AR_OK);
    ar_sizes_sort(&sizes);
    return written(&sizes);
}

/* The list in elements of 4 bytes, up to 100 bytes; word: what must be told. */
static const char *
fit_as(const char *text, const char *word)
{
    struct ar_sizes sizes;
    struct ar_problem problem;
    struct ar_text t;
    assert_int_equal(ar_sizes_parse(&sizes, text, 2, &problem), AR_OK);
    sizes.are_ours = false;
    ar_text_init(&t, problem.text, sizeof problem.text);
    const int error = ar_sizes_fit(&sizes, 4, 100, &t);
    assert_string_equal(problem.text, word);
    if (!error)
        return written(&sizes);
    ar_sizes_fini(&sizes);
    return "refused";
}

static struct ar_problem
problem_of(const char *text)
{
    struct ar_sizes sizes = {NULL};
    struct ar_problem problem;
    assert_int_equal(ar_sizes_parse(&sizes, text, 2, &problem), AR_ERR_SYNTAX);
    assert_null(sizes.bytes);
    assert_non_null(strstr(problem.text, "allowed"));
    return problem;
}

static int
column_of(const char *text)
{
    return problem_of(text).column;
}

static void
sizes_keep_their_order(void **state)
{
    (void)state;
    assert_string_equal(read_as("8", 2), "8 ");
    assert_string_equal(read_as("1M,8,4K", 2), "1048576 8 4096 ");
}

static void
a_range_grows_by_the_factor_and_has_its_end(void **state)
{
    (void)state;
    assert_string_equal(read_as("8-64", 2), "8 16 32 64 ");
    assert_string_equal(read_as("8-63", 2), "8 16 32 63 ");
    assert_string_equal(read_as("8-1M", 8), "8 64 512 4096 32768 262144 1048576 ");
    assert_string_equal(read_as("1K-1K", 2), "1024 ");
    assert_string_equal(read_as("4,1K-1M,5", 32), "4 1024 32768 1048576 5 ");
}

static void
sorted_sizes_ascend(void **state)
{
    (void)state;
    assert_string_equal(sorted_as("8"), "8 ");
    assert_string_equal(sorted_as("64K,8"), "8 65536 ");
    assert_string_equal(sorted_as("1M,8,64K"), "8 65536 1048576 ");
    assert_string_equal(sorted_as("8-4K,512,8,1G"), "8 8 64 512 512 4096 1073741824 ");
}

static void
sizes_are_whole_elements_and_each_is_there_once(void **state)
{
    (void)state;
    assert_string_equal(fit_as("8,4,100", ""), "8 4 100 ");
    assert_string_equal(fit_as("9,4", ""), "8 4 ");
    assert_string_equal(
        fit_as("8,9,4,10", "2 of 4 sizes left out: the same as others in whole elements"), "8 4 ");
    assert_string_equal(fit_as("8,3", "3 bytes is out of range; allowed: 4 to 100"), "refused");
    assert_string_equal(fit_as("8,101", "101 bytes is out of range; allowed: 4 to 100"), "refused");
}

static void
sizes_of_our_own_hold_at_least_an_element(void **state)
{
    struct ar_sizes sizes;
    struct ar_problem problem;
    struct ar_text t;
    (void)state;
    ar_text_init(&t, problem.text, sizeof problem.text);
    assert_int_equal(ar_sizes_parse(&sizes, "2,8", 2, &problem), AR_OK);
    sizes.are_ours = true;
    assert_int_equal(ar_sizes_fit(&sizes, 4, 100, &t), AR_OK);
    assert_string_equal(written(&sizes), "4 8 ");
}

static void
bad_lists_are_refused_at_the_bad_place(void **state)
{
    (void)state;
    assert_int_equal(column_of(""), 1);
    assert_int_equal(column_of("8,"), 3);
    assert_int_equal(column_of("8,,9"), 3);
    assert_int_equal(column_of("8;9"), 2);
    assert_int_equal(column_of("x"), 1);
    assert_int_equal(column_of("8,0"), 3);
    assert_int_equal(column_of("inf"), 1);
    assert_int_equal(column_of("8-"), 3);
    assert_int_equal(column_of("4K,64-8"), 4);
    assert_int_equal(column_of("-8"), 1);
}

static void
assert_told(const char *text, int column, const char *words)
{
    const struct ar_problem problem = problem_of(text);
    if (problem.column != column || !strstr(problem.text, words))
        fail_msg("\"%s\" gave %d: %s", text, problem.column, problem.text);
}

static void
what_is_wrong_with_a_size_is_told(void **state)
{
    (void)state;
    assert_told("8,", 3, "column 3: a size is missing here; allowed: ");
    assert_told("8 16", 2, "a comma is missing here");
    assert_told("1M2M", 3, "a comma is missing here");
    assert_told("8,100T", 6, "'T' is not a unit (K, M or G)");
    assert_told("4Kx-8K", 2, "'Kx' is not a unit");
    assert_told("1.5M", 1, "'1.5M' is not a whole number");
    assert_told("8-abc", 3, "'abc' is not a size");
    assert_told("0", 1, "'0' is out of range; allowed: sizes from 1 byte to 1048576G");
    assert_told("2000000G", 1, "'2000000G' is out of range");
    assert_told("99999999999999999999", 1, "is out of range");
    assert_told("inf", 1, "'inf' is out of range");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_keep_their_order),
        cmocka_unit_test(a_range_grows_by_the_factor_and_has_its_end),
        cmocka_unit_test(sorted_sizes_ascend),
        cmocka_unit_test(sizes_are_whole_elements_and_each_is_there_once),
        cmocka_unit_test(sizes_of_our_own_hold_at_least_an_element),
        cmocka_unit_test(bad_lists_are_refused_at_the_bad_place),
        cmocka_unit_test(what_is_wrong_with_a_size_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
