/* Numbers and times as people read them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#include <math.h>

#include "select/number.h"

struct told {
    double x;
    const char *text;
};

static void
expect(char *(*print)(double x, char *text, size_t room), const struct told *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[AR_NUMBER_TEXT];
        assert_string_equal(print(cases[i].x, text, sizeof text), cases[i].text);
    }
}

static void
a_number_has_three_digits_that_count(void **state)
{
    static const struct told cases[] = {
        {0, "0"},
        {1, "1.00"},
        {1.2345, "1.23"},
        {9.996, "10.0"},
        {12.345, "12.3"},
        {99.96, "100"},
        {123.4, "123"},
        {999.4, "999"},
        {999.6, "1000"},
        {12345.6, "12300"},
        {-98765.4, "-98800"},
        {0.12345, "0.123"},
        {0.01234, "0.0123"},
        {0.0001234, "0.000123"},
        {1.594e-10, "1.59e-10"},
        {-1.2345, "-1.23"},
        {INFINITY, "-"},
        {NAN, "-"},
    };
    (void)state;
    expect(ar_number_print, cases, sizeof cases / sizeof cases[0]);
}

/* Whatever the size: what is read back is within half of the last of three digits. */
static void
no_number_is_far_from_its_text(void **state)
{
    (void)state;
    for (int i = -1200; i <= 1200; i++) {
        const double x = exp(i * 0.0173);
        char text[AR_NUMBER_TEXT];
        const double read = strtod(ar_number_print(x, text, sizeof text), NULL);
        if (fabs(read - x) > 0.00501 * x)
            fail_msg("%g is %s", x, text);
    }
}

static void
a_time_has_the_unit_that_fits(void **state)
{
    static const struct told cases[] = {
        {0, "0 us"},        {1.59469e-7, "0 us"}, {0.012, "0.0120 ns"}, {999, "999 ns"},
        {999.6, "1.00 us"}, {1234, "1.23 us"},    {999499, "999 us"},   {999600, "1.00 ms"},
        {1.2e8, "120 ms"},  {1.5e9, "1.50 s"},    {3.6e12, "3600 s"},   {-1234, "-1.23 us"},
        {INFINITY, "-"},    {NAN, "-"},
    };
    (void)state;
    expect(ar_time_print, cases, sizeof cases / sizeof cases[0]);
}

static void
a_rate_has_the_unit_that_fits(void **state)
{
    static const struct told cases[] = {
        {12.34, "12.3 GB/s"}, {1234, "1230 GB/s"},      {0.9996, "1.00 GB/s"},
        {0.5, "500 MB/s"},    {0.0000267, "26.7 kB/s"}, {2.4e-7, "240 B/s"},
        {0, "0 B/s"},         {INFINITY, "-"},          {NAN, "-"},
    };
    (void)state;
    expect(ar_rate_print, cases, sizeof cases / sizeof cases[0]);
}

static void
bytes_have_three_digits_and_a_unit(void **state)
{
    static const struct {
        double bytes;
        const char *text;
    } cases[] = {
        {0, "0"},         {8, "8"},       {999, "999"},
        {1000, "0.977K"}, {1536, "1.5K"}, {1023488, "0.976M"},
        {1048576, "1M"},  {4e8, "381M"},  {NAN, "-"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[AR_NUMBER_TEXT];
        assert_string_equal(ar_bytes_print(cases[i].bytes, text, sizeof text), cases[i].text);
    }
}

static void
a_part_is_a_whole_number_of_percent(void **state)
{
    static const struct told cases[] = {
        {0, "0"},       {0.004, "0"},    {0.3612, "36"},
        {9.994, "999"}, {36.99, "3700"}, {3698.59, "370000"},
        {-0.25, "-25"}, {INFINITY, "-"}, {NAN, "-"},
    };
    (void)state;
    expect(ar_percent_print, cases, sizeof cases / sizeof cases[0]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_has_three_digits_that_count),
        cmocka_unit_test(no_number_is_far_from_its_text),
        cmocka_unit_test(a_time_has_the_unit_that_fits),
        cmocka_unit_test(a_rate_has_the_unit_that_fits),
        cmocka_unit_test(a_part_is_a_whole_number_of_percent),
        cmocka_unit_test(bytes_have_three_digits_and_a_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
