/* The report: equal kinds of calls add up, the heaviest comes first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/report.h"

/* The report as text; the caller frees it. */
static char *
printed(const char *title)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    assert_non_null(to);
    ar_report_print(to, title);
    assert_int_equal(fclose(to), 0);
    return text;
}

static void
an_empty_report_prints_nothing(void **state)
{
    (void)state;
    ar_report_add("ring", "named", (struct ar_tally){.bytes = 8, .ns = 1}); /* no calls */
    char *text = printed("title");
    assert_string_equal(text, "");
    free(text);
}

static void
calls_of_a_kind_add_up_and_the_longest_time_comes_first(void **state)
{
    (void)state;
    char reason[] = "named";
    ar_report_add("ring", reason, (struct ar_tally){1, 100, 1000000});
    ar_report_add("native", "op does not commute", (struct ar_tally){3, 10, 500000});
    ar_report_add("butterfly", "auto", (struct ar_tally){2, 5, 2000000});
    ar_report_add("ring", "auto", (struct ar_tally){4, 1, 500000});
    memset(reason, 'x', 5); /* both names were copied */
    ar_report_add("ring", "named", (struct ar_tally){2, 50, 2000000});
    char *text = printed("title");
    assert_string_equal(text, "liballreduce: title\n"
                              "liballreduce:      calls          bytes           ms  ran           "
                              "                   why\n"
                              "liballreduce:          3            150        3.000  ring          "
                              "                   named\n"
                              "liballreduce:          2              5        2.000  butterfly     "
                              "                   auto\n"
                              "liballreduce:          4              1        0.500  ring          "
                              "                   auto\n"
                              "liballreduce:          3             10        0.500  native        "
                              "                   op does not commute\n");
    free(text);
}

/* What ar_say writes to the standard error, up to room - 1 bytes. */
static size_t
said(char *text, size_t room, const char *word)
{
    int ends[2], saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    ar_say("%s", word);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(ends[1]);
    const ssize_t n = read(ends[0], text, room - 1);
    close(ends[0]);
    assert_true(n >= 0);
    text[n] = '\0';
    return (size_t)n;
}

static void
a_word_is_one_line(void **state)
{
    char text[4096], longer[3000];
    (void)state;
    said(text, sizeof text, "hello");
    assert_string_equal(text, "liballreduce: hello\n");

    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    const size_t n = said(text, sizeof text, longer);
    assert_in_range(n, 500, 1024);
    assert_int_equal(text[n - 1], '\n');
    assert_int_equal(text[n - 2], 'a');
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_report_prints_nothing),
        cmocka_unit_test(calls_of_a_kind_add_up_and_the_longest_time_comes_first),
        cmocka_unit_test(a_word_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
