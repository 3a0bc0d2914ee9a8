/* Pages: what is put in comes out once, and escaped. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/page.h"
#include "report/json.h"
#include "unit.h"

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

static bool
print_hostile_text(const void *what)
{
    printf("<b>%s & \"c\"\n", (const char *)what);
    return true;
}

static bool
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
    return true;
}

static bool
fail_to_print(const void *what)
{
    printf("%s", (const char *)what);
    return false;
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
        cmocka_unit_test(a_page_has_the_document_and_the_text_and_neither_can_end_its_element),
        cmocka_unit_test(a_page_that_cannot_be_made_is_an_error_and_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
