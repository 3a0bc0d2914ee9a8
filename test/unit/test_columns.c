/* The columns of a table are stated once, and text, Markdown, CSV and JSON are made from that. */
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/columns.h"

static const struct row {
    const char *name, *note;
    uint64_t calls, ns, bytes;
    double us, gbs;
    int is_set;
} rows[] = {
    {"a", "", 12345, 1500000, 65536, 1.5, 12.345, 1},
    {"comma, \"quote\"", NULL, AR_UNKNOWN, AR_UNKNOWN, AR_UNKNOWN, NAN, INFINITY, 0},
    {"", "last", 0, 0, 0, 0, 0, -1},
};

enum { NROWS = sizeof rows / sizeof rows[0] };

static void
state_row(struct ar_columns *c, const void *table, size_t i)
{
    const struct row *const row = &((const struct row *)table)[i];
    ar_column_count(c, "calls", AR_NUMBER, "   calls", row->calls);
    ar_column_text(c, "name", "name", row->name);
    ar_column_count(c, "ns", AR_NS_MS, "    ms", row->ns);
    ar_column_count(c, "least_ns", AR_NS_US, "    us", row->ns);
    ar_column_count(c, "bytes", AR_BYTES, "bytes", row->bytes);
    ar_column_real(c, "us", AR_US, "us", row->us);
    ar_column_real(c, "gbs", AR_GBS, "rate", row->gbs);
    ar_column_shown(c, "twice", " twice", row->name);
    ar_column_text(c, "note", "note", row->note);
    ar_column_words(c, "words", "words", "for people");
    ar_column_flag(c, "is_set", row->is_set);
    FILE *const json = ar_column_json(c, "list");
    if (json)
        fputs("[1, 2]", json);
}

/* Expects what is written of the table. */
static void
expect(struct ar_columns columns, const char *expected)
{
    char *text = NULL;
    size_t length;
    columns.to = open_memstream(&text, &length);
    columns.row = state_row;
    columns.table = rows;
    assert_non_null(columns.to);
    ar_columns_write(columns);
    assert_int_equal(fclose(columns.to), 0);
    assert_string_equal(text, expected);
    free(text);
}

static void
text_shows_the_columns_of_a_view_below_each_other(void **state)
{
    (void)state;
    expect((struct ar_columns){.n = NROWS, .view = "name calls ns least_ns note"},
           "name              calls     ms     us  note\n"
           "a                 12345   1.50   1500\n"
           "comma, \"quote\"        -      -      -  -\n"
           "                      0      0      0  last\n");
    expect((struct ar_columns){.n = NROWS, .view = "us gbs bytes words"},
           "  us      rate bytes  words\n"
           "1.50 12.3 GB/s   64K  for people\n"
           "   -         -     -  for people\n"
           "   0     0 B/s     0  for people\n");
}

static void
text_has_a_prefix_and_a_word_for_what_is_empty(void **state)
{
    (void)state;
    expect((struct ar_columns){.n = NROWS,
                               .view = "calls note",
                               .prefix = "# ",
                               .empty = "none",
                               .colors = {"<", ">"}},
           "<#    calls  note\n>#    12345  none\n#        -  -\n#        0  last\n");
}

static void
rows_from_a_later_one_have_no_head(void **state)
{
    (void)state;
    expect((struct ar_columns){.n = NROWS, .first = 2, .view = "calls note"}, "       0  last\n");
    expect((struct ar_columns){.format = AR_COLUMNS_MARKDOWN, .n = 1, .first = 1, .view = "calls"},
           "");
}

static void
without_rows_csv_alone_has_a_head(void **state)
{
    (void)state;
    expect((struct ar_columns){.view = "calls note"}, "");
    expect((struct ar_columns){.format = AR_COLUMNS_CSV},
           "calls,name,ns,least_ns,bytes,us,gbs,note\n");
    expect((struct ar_columns){.format = AR_COLUMNS_JSON}, "[\n]\n");
    expect((struct ar_columns){.format = AR_COLUMNS_JSON_LINES}, "");
}

static void
markdown_shows_a_view(void **state)
{
    (void)state;
    expect((struct ar_columns){.format = AR_COLUMNS_MARKDOWN, .n = 1, .view = "name bytes"},
           "| name | bytes |\n|---|---|\n| a | 64K |\n");
}

static void
csv_has_all_digits_and_quotes_what_needs_it(void **state)
{
    (void)state;
    expect((struct ar_columns){.format = AR_COLUMNS_CSV, .n = NROWS},
           "calls,name,ns,least_ns,bytes,us,gbs,note\n"
           "12345,a,1500000,1500000,65536,1.5,12.345,\n"
           ",\"comma, \"\"quote\"\"\",,,,,inf,\n"
           "0,,0,0,0,0,0,last\n");
}

static void
json_has_null_for_what_is_not_known(void **state)
{
    static const char second[] =
        "{\"calls\": null, \"name\": \"comma, \\\"quote\\\"\", \"ns\": null, \"least_ns\": null, "
        "\"bytes\": null, \"us\": null, \"gbs\": null, \"note\": null, \"is_set\": false, "
        "\"list\": [1, 2]}",
                      third[] = "{\"calls\": 0, \"name\": \"\", \"ns\": 0, \"least_ns\": 0, "
                                "\"bytes\": 0, \"us\": 0, \"gbs\": 0, \"note\": \"last\", "
                                "\"is_set\": null, \"list\": [1, 2]}";
    char lines[1000];
    (void)state;
    snprintf(lines, sizeof lines, "%s\n%s\n", second, third);
    expect((struct ar_columns){.format = AR_COLUMNS_JSON_LINES, .n = NROWS, .first = 1}, lines);
    snprintf(lines, sizeof lines, "[\n  %s,\n  %s\n]\n", second, third);
    expect((struct ar_columns){.format = AR_COLUMNS_JSON, .n = NROWS, .first = 1}, lines);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_shows_the_columns_of_a_view_below_each_other),
        cmocka_unit_test(text_has_a_prefix_and_a_word_for_what_is_empty),
        cmocka_unit_test(rows_from_a_later_one_have_no_head),
        cmocka_unit_test(without_rows_csv_alone_has_a_head),
        cmocka_unit_test(markdown_shows_a_view),
        cmocka_unit_test(csv_has_all_digits_and_quotes_what_needs_it),
        cmocka_unit_test(json_has_null_for_what_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
