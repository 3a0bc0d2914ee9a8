/* Pages and plots: what is put in comes out once, and escaped. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/html.h"
#include "cli/page.h"
#include "report/json.h"
#include "unit.h"

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
    char path[] = "test_page_XXXXXX";
    struct ar_html page;
    (void)state;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(ar_html_open(&page, path, "a < b & \"c\""), AR_EXIT_DONE);
    ar_html_paragraph(&page, "<script>%d", 7);
    ar_html_table_begin(&page, "<a>|>b");
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

/* The page that shows a plot of two series, one of them of these three y. */
static char *
drawn(const char *title, const double *y)
{
    char path[] = "test_page_XXXXXX";
    struct ar_html page;
    struct ar_plot plot = {.title = title, .y_title = "us"};
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(ar_html_open(&page, path, "t"), AR_EXIT_DONE);
    for (int i = 0; i < 3; i++) {
        ar_plot_add(&plot, title, AR_PLOT_MARKED, sizes[i], y[i]);
        ar_plot_add(&plot, "bound", AR_PLOT_DASHED, sizes[i], times[i]);
    }
    ar_plot_put(&page, &plot, "caption");
    assert_int_equal(ar_html_close(&page), AR_EXIT_DONE);
    return taken(path);
}

static void
a_plot_shows_titles_letter_by_letter(void **state)
{
    (void)state;
    char *page = drawn("ring_of '`x`' \"$x\" @a {^2} \\n <b> & c\n", times);
    assert_non_null(strstr(page, "<svg"));
    assert_non_null(
        strstr(page, ">ring_of '`x`' &quot;$x&quot; @a {^2} \\n &lt;b&gt; &amp; c\n</text>"));
    assert_non_null(strstr(page, ">8K<"));
    assert_non_null(strstr(page, ">bound</text>"));
    assert_non_null(strstr(page, "<figcaption>caption</figcaption>"));
    free(page);
}

static void
a_plot_skips_points_that_it_cannot_show(void **state)
{
    const double some[] = {0, NAN, 3}, none[] = {0, NAN, -INFINITY};
    const char *const mark = "class=\"mark\"";
    (void)state;
    char *page = drawn("series", some), *less = drawn("series", none);
    assert_int_equal(occurrences(page, mark), 1);
    assert_int_equal(occurrences(less, mark), 0);
    assert_non_null(strstr(page, ">series</text>"));
    assert_non_null(strstr(less, ">bound</text>"));
    free(page);
    free(less);
}

/* A point is on its lines of the grid, and the points of a line are joined from left to right. */
static void
a_plot_has_its_points_where_the_grid_says(void **state)
{
    struct ar_plot plot = {.title = "", .y_title = "us"};
    char *text = NULL;
    size_t length;
    double x, y, other_x, other_y, grid_x, grid_y;
    struct ar_html page = {.file = open_memstream(&text, &length)};
    (void)state;
    assert_non_null(page.file);
    ar_plot_add(&plot, "a", AR_PLOT_MARKED, 64, 100);
    ar_plot_add(&plot, "a", AR_PLOT_MARKED, 8, 1);
    ar_plot_put(&page, &plot, "");
    assert_int_equal(fclose(page.file), 0);
    const char *const line = strstr(text, "class=\"line\" d=\"");
    assert_non_null(line);
    assert_int_equal(
        sscanf(line, "class=\"line\" d=\"M%lf %lfL%lf %lf", &x, &y, &other_x, &other_y), 4);
    assert_true(x < other_x && y > other_y);
    assert_int_equal(sscanf(strstr(text, "\"grid\""), "\"grid\" d=\"M%lf", &grid_x), 1);
    assert_true(fabs(grid_x - x) < 0.11);
    assert_non_null(strstr(text, ">100</text>"));
    assert_int_equal(sscanf(strstr(text, "\"grid\" d=\"M80 "), "\"grid\" d=\"M80 %lf", &grid_y), 1);
    assert_true(fabs(grid_y - y) < 0.11);
    free(text);
}

static void
a_plot_of_nothing_is_empty_and_one_point_is_enough(void **state)
{
    struct ar_plot none = {.title = "t", .y_title = "y"}, one = none;
    char *text = NULL;
    size_t length;
    struct ar_html page = {.file = open_memstream(&text, &length)};
    (void)state;
    assert_non_null(page.file);
    ar_plot_add(&none, "none", AR_PLOT_MARKED, 8, 0);
    ar_plot_put(&page, &none, "caption");
    assert_int_equal(ftell(page.file), 0);
    ar_plot_add(&one, "one", AR_PLOT_MARKED, 12, 1);
    ar_plot_put(&page, &one, "caption");
    assert_int_equal(fclose(page.file), 0);
    assert_non_null(strstr(text, ">one</text>"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    free(text);
}

/* --- pages that are drawn from a document --- */

static int
print_hostile_text(const void *what)
{
    printf("<b>%s & \"c\"\n", (const char *)what);
    return AR_EXIT_DONE;
}

static int
print_hostile_document(const void *what)
{
    struct ar_json json = {.to = stdout};
    ar_json_begin(&json, NULL, '{');
    ar_json_put_text(&json, "a", what);
    ar_json_begin(&json, "b", '[');
    ar_json_put(&json, NULL, "%d", 1);
    ar_json_put(&json, NULL, "[%d,%.1f]", 2, 2.5);
    ar_json_begin(&json, NULL, '{');
    ar_json_end(&json, '}');
    ar_json_end(&json, ']');
    ar_json_put_text(&json, "c", "\"\\");
    ar_json_end(&json, '}');
    return AR_EXIT_DONE;
}

static int
fail_to_print(const void *what)
{
    printf("%s", (const char *)what);
    return AR_EXIT_FAILED;
}

static void
a_page_has_the_document_and_the_text_and_neither_can_end_its_element(void **state)
{
    char path[] = "test_page_XXXXXX";
    (void)state;
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(ar_page_write(path, "explain.js", print_hostile_text, print_hostile_document,
                                   "</script>&@text@\u2028\u2029"),
                     AR_EXIT_DONE);
    char *page = taken(path);
    assert_non_null(strstr(page, ">{\"a\":\"\\u003c/script\\u003e\\u0026@text@\\u2028\\u2029\","
                                 "\"b\":[1,[2,2.5],{}],\"c\":\"\\\"\\\\\"}</script>"));
    assert_non_null(strstr(page, "<pre>&lt;b&gt;&lt;/script&gt;&amp;@text@\u2028\u2029 &amp; "
                                 "&quot;c&quot;\n</pre>"));
    assert_int_equal(occurrences(page, "<script"), 3);
    assert_int_equal(occurrences(page, "</script>"), 3);
    assert_null(strstr(page, "src="));
    free(page);
}

static void
a_page_that_cannot_be_made_is_an_error_and_no_file(void **state)
{
    const char *const path = "test_page_none.html";
    (void)state;
    assert_int_equal(ar_page_write(path, "explain.js", fail_to_print, print_hostile_document, "a"),
                     AR_EXIT_FAILED);
    assert_int_equal(ar_page_write(path, "explain.js", print_hostile_text, fail_to_print, "a"),
                     AR_EXIT_FAILED);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(ar_page_write("/nowhere/page.html", "explain.js", print_hostile_text,
                                   print_hostile_document, "a"),
                     AR_EXIT_FAILED);
    if (access("/dev/full", W_OK) == 0)
        assert_int_equal(ar_page_write("/dev/full", "explain.js", print_hostile_text,
                                       print_hostile_document, "a"),
                         AR_EXIT_FAILED);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_escapes_all_texts_and_ends_rows_by_itself),
        cmocka_unit_test(a_page_that_cannot_be_written_is_an_error),
        cmocka_unit_test(a_plot_shows_titles_letter_by_letter),
        cmocka_unit_test(a_plot_skips_points_that_it_cannot_show),
        cmocka_unit_test(a_plot_has_its_points_where_the_grid_says),
        cmocka_unit_test(a_plot_of_nothing_is_empty_and_one_point_is_enough),
        cmocka_unit_test(a_page_has_the_document_and_the_text_and_neither_can_end_its_element),
        cmocka_unit_test(a_page_that_cannot_be_made_is_an_error_and_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
