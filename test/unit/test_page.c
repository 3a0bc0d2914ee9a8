/* Pages and plots: what is put in comes out once, and escaped. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/cli.h"
#include "cli/html.h"
#include "cli/plot.h"

static const double sizes[] = {8, 1024, 1048576}, times[] = {1, 10, 100};

/* How often needle stands in text. */
static int
occurrences(const char *text, const char *needle)
{
    int n = 0;
    for (; (text = strstr(text, needle)); text += strlen(needle))
        n++;
    return n;
}

/* The content of a file, which is removed; the caller frees it. */
static char *
taken(const char *path)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 65536);
    assert_non_null(text);
    assert_true(fread(text, 1, 65535, file) > 0);
    fclose(file);
    assert_int_equal(remove(path), 0);
    return text;
}

static void
a_page_escapes_all_texts_and_ends_rows_by_itself(void **state)
{
    static const struct ar_html_column columns[] = {{"<a>", AR_HTML_LEFT}, {"b", AR_HTML_RIGHT}};
    char path[] = "test_page_XXXXXX";
    struct ar_html page;
    (void)state;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(ar_html_open(&page, path, "a < b & \"c\""), AR_EXIT_DONE);
    ar_html_paragraph(&page, "<script>%d", 7);
    ar_html_table_begin(&page, columns, 2);
    ar_html_cell(&page, "%s", "<&>");
    ar_html_cell_bar(&page, 0.5, "%d", 12);
    ar_html_cell_alarm(&page, "no");
    ar_html_cell_bar(&page, 7, "over");
    ar_html_table_end(&page);
    assert_int_equal(ar_html_close(&page), AR_EXIT_DONE);

    char *text = taken(path);
    assert_non_null(strstr(text, "<title>a &lt; b &amp; &quot;c&quot;</title>"));
    assert_non_null(strstr(text, "<p>&lt;script&gt;7</p>"));
    assert_non_null(strstr(text, "<th>&lt;a&gt;</th><th class=\"r\">b</th></tr></thead>"));
    assert_non_null(strstr(text, "<tr><td class=\"\">&lt;&amp;&gt;</td><td class=\"r\" style"));
    assert_non_null(strstr(text, "50.0%"));
    assert_non_null(strstr(text, "100.0%"));
    assert_int_equal(occurrences(text, "<tr>"), 3);
    assert_int_equal(occurrences(text, "</tr>"), 3);
    assert_null(strstr(text, "http"));
    free(text);
}

static void
a_page_that_cannot_be_written_is_an_error(void **state)
{
    struct ar_html page;
    (void)state;
    assert_int_equal(ar_html_open(&page, "/nowhere/page.html", "t"), AR_EXIT_FAILED);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(ar_html_open(&page, "/dev/full", "t"), AR_EXIT_DONE);
        assert_int_equal(ar_html_close(&page), AR_EXIT_FAILED);
    }
}

/* The plot of two series, one of them of n points. */
static char *
drawn(const char *title, const double *y, size_t n)
{
    const struct ar_plot_series series[] = {{title, AR_PLOT_MARKED, n, sizes, y},
                                            {"bound", AR_PLOT_DASHED, 3, sizes, times}};
    const struct ar_plot plot = {.title = title,
                                 .x = {"bytes", AR_PLOT_BYTES},
                                 .y = {"us", AR_PLOT_LOG},
                                 .nseries = 2,
                                 .series = series};
    char *svg = NULL;
    assert_int_equal(ar_plot_draw(&svg, &plot), AR_EXIT_DONE);
    assert_non_null(svg);
    return svg;
}

static void
a_plot_shows_titles_letter_by_letter(void **state)
{
    (void)state;
    if (!ar_plot_available("test_page"))
        skip();
    char *svg = drawn("ring_of '`touch test_page_bad`' \"$x\" @a {^2} \\n <b> & c\n", times, 3);
    assert_memory_equal(svg, "<svg", 4);
    assert_non_null(strstr(svg, "ring_of '`touch test_page_bad`'"));
    assert_non_null(strstr(svg, "@a {^2} \\n &lt;b> &amp; c"));
    assert_non_null(strstr(svg, ">8K<"));
    assert_non_null(strstr(svg, "bound"));
    assert_int_not_equal(access("test_page_bad", F_OK), 0);
    free(svg);
}

static void
a_plot_skips_points_that_an_axis_cannot_show(void **state)
{
    const double some[] = {0, NAN, 3}, none[] = {0, NAN, -INFINITY};
    (void)state;
    if (!ar_plot_available("test_page"))
        skip();
    char *svg = drawn("some", some, 3), *less = drawn("none", none, 3);
    assert_int_equal(occurrences(svg, "<use"), 2 + occurrences(less, "<use"));
    assert_non_null(strstr(less, "bound"));
    free(svg);
    free(less);
}

static void
a_plot_of_nothing_is_empty_and_one_point_is_enough(void **state)
{
    const struct ar_plot_series one = {"one", AR_PLOT_MARKED, 1, sizes, times};
    const struct ar_plot_series none = {"none", AR_PLOT_MARKED, 0, NULL, NULL};
    struct ar_plot plot = {.title = "t",
                           .x = {"x", AR_PLOT_LINEAR},
                           .y = {"y", AR_PLOT_LINEAR},
                           .nseries = 1,
                           .series = &none};
    char *svg;
    (void)state;
    assert_int_equal(ar_plot_draw(&svg, &plot), AR_EXIT_DONE);
    assert_string_equal(svg, "");
    free(svg);
    if (!ar_plot_available("test_page"))
        skip();
    plot.series = &one;
    assert_int_equal(ar_plot_draw(&svg, &plot), AR_EXIT_DONE);
    assert_non_null(strstr(svg, "one"));
    free(svg);
}

static void
a_plot_without_gnuplot_is_an_error(void **state)
{
    char path[4096], *svg;
    const struct ar_plot_series one = {"one", AR_PLOT_MARKED, 1, sizes, times};
    const struct ar_plot plot = {.title = "t",
                                 .x = {"x", AR_PLOT_LINEAR},
                                 .y = {"y", AR_PLOT_LINEAR},
                                 .nseries = 1,
                                 .series = &one};
    (void)state;
    snprintf(path, sizeof path, "%s", getenv("PATH"));
    setenv("PATH", "/nowhere", 1);
    assert_false(ar_plot_available("test_page"));
    assert_int_equal(ar_plot_draw(&svg, &plot), AR_EXIT_FAILED);
    setenv("PATH", path, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_escapes_all_texts_and_ends_rows_by_itself),
        cmocka_unit_test(a_page_that_cannot_be_written_is_an_error),
        cmocka_unit_test(a_plot_shows_titles_letter_by_letter),
        cmocka_unit_test(a_plot_skips_points_that_an_axis_cannot_show),
        cmocka_unit_test(a_plot_of_nothing_is_empty_and_one_point_is_enough),
        cmocka_unit_test(a_plot_without_gnuplot_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
