/* allreduce list: the registry as a table. */
#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/registry.h"
#include "cli/cli.h"
#include "select/select.h"

#define CELL_ROOM 320

/* Formats for people leave out what explain shows. */
enum shown { EVERYWHERE, IN_MARKDOWN, IN_RECORDS };

struct table_column {
    const char *title;
    enum shown shown; /* IN_MARKDOWN: and in records; IN_RECORDS: only CSV and JSON */
    size_t offset;    /* of the text in the row; COMPUTED: it has none */
};

enum format { TEXT, CSV, JSON, MARKDOWN, NAMES };

void
ar_cli_print_parameters(char *text, size_t room, const struct ar_algorithm *row)
{
    const struct ar_choice choice = {AR_CHOICE_ALGORITHM, row, row->defaults};
    char printed[AR_CHOICE_TEXT];
    ar_choice_print(&choice, printed, sizeof printed);
    const char *open = strchr(printed, '(');
    if (open)
        snprintf(text, room, "%.*s", (int)strcspn(open + 1, ")"), open + 1);
    else /* the printer leaves out what goes without saying */
        snprintf(text, room, "%s%s", row->takes & AR_TAKES_DIMS ? "dims=auto" : "",
                 row->takes & AR_TAKES_HALVINGS ? "halvings=all" : "");
}

/* --- cells --- */

#define COMPUTED SIZE_MAX

#define TEXT_OF(member) offsetof(struct ar_algorithm, member)

static const struct table_column columns[] = {
    {"name", EVERYWHERE, TEXT_OF(name)},
    {"title", IN_RECORDS, TEXT_OF(title)},
    {"aliases", EVERYWHERE, TEXT_OF(aliases)},
    {"intel", EVERYWHERE, COMPUTED},
    {"order", EVERYWHERE, COMPUTED},
    {"parameters", EVERYWHERE, COMPUTED},
    {"needs", IN_MARKDOWN, TEXT_OF(needs)},
    {"rounds", IN_MARKDOWN, TEXT_OF(rounds)},
    {"bytes", IN_MARKDOWN, TEXT_OF(bytes)},
    {"time", IN_RECORDS, TEXT_OF(cost)},
    {"bits", EVERYWHERE, COMPUTED},
    {"family", IN_MARKDOWN, COMPUTED},
    {"source", EVERYWHERE, TEXT_OF(source)},
};

enum { NCOLUMNS = sizeof columns / sizeof columns[0] };

/* row NULL: the title. */
static void
fill_cell(char text[CELL_ROOM], int column, const struct ar_algorithm *row)
{
    const struct table_column *const c = &columns[column];
    const char *is = c->title;
    if (row && c->offset != COMPUTED)
        is = *(const char *const *)(const void *)((const char *)row + c->offset);
    else if (row && strcmp(c->title, "order") == 0)
        is = row->keeps_order ? "any op" : "commutative";
    else if (row && strcmp(c->title, "bits") == 0)
        is = ar_determinism_names[ar_algorithm_keeps(row)];
    else if (row && strcmp(c->title, "family") == 0)
        is = ar_family_names[row->family];
    else if (row)
        is = "";
    snprintf(text, CELL_ROOM, "%s", is);
    if (row && strcmp(c->title, "parameters") == 0)
        ar_cli_print_parameters(text, CELL_ROOM, row);
    else if (row && strcmp(c->title, "intel") == 0 && row->intel_id)
        snprintf(text, CELL_ROOM, row->intel_id_last ? "%d-%d" : "%d", row->intel_id,
                 row->intel_id_last);
}

/* --- formats --- */

static int
column_width(int column)
{
    size_t width = strlen(columns[column].title);
    for (size_t i = 0; i < ar_algorithm_count(); i++) {
        char text[CELL_ROOM];
        fill_cell(text, column, ar_algorithm_at(i));
        width = strlen(text) > width ? strlen(text) : width;
    }
    return (int)width;
}

/* In quotes, each of the special letters behind an escape. */
static void
print_quoted(const char *text, const char *special, char escape)
{
    putchar('"');
    for (; *text; text++)
        if (strchr(special, *text))
            printf("%c%c", escape, *text);
        else
            putchar(*text);
    putchar('"');
}

/* row NULL: the head.  The registry's texts are printable ASCII. */
static void
print_line(enum format format, const struct ar_algorithm *row)
{
    const enum shown most = format == TEXT       ? EVERYWHERE
                            : format == MARKDOWN ? IN_MARKDOWN
                                                 : IN_RECORDS;
    for (int c = 0; c < NCOLUMNS; c++) {
        const bool last = c + 1 == NCOLUMNS;
        char text[CELL_ROOM];
        if (columns[c].shown > most)
            continue;
        fill_cell(text, c, row);
        if (format == TEXT) {
            printf("%-*s%s", last ? 0 : column_width(c), text, last ? "\n" : "  ");
        } else if (format == MARKDOWN) {
            printf("| %s %s", text, last ? "|\n" : "");
        } else if (format == CSV) {
            print_quoted(text, "\"", '"');
            putchar(last ? '\n' : ',');
        } else {
            printf("%s\"%s\": ", c ? ", " : "  {", columns[c].title);
            print_quoted(text, "\"\\", '\\');
            printf("%s", last ? "}" : "");
        }
    }
}

static void
print_table(enum format format)
{
    const size_t n = ar_algorithm_count();
    if (format == TEXT)
        printf("%s", ar_color_begin(stdout, AR_COLOR_TITLE));
    if (format == JSON)
        printf("[\n");
    else
        print_line(format, NULL);
    if (format == TEXT)
        printf("%s", ar_color_end(stdout));
    for (int c = 0; c < NCOLUMNS && format == MARKDOWN; c++)
        if (columns[c].shown <= IN_MARKDOWN)
            printf("|---%s", c + 1 < NCOLUMNS ? "" : "|\n");
    for (size_t i = 0; i < n; i++) {
        print_line(format, ar_algorithm_at(i));
        if (format == JSON)
            printf("%s\n", i + 1 < n ? "," : "");
    }
    printf("%s", format == JSON ? "]\n" : "");
}

/* --- command line --- */

static const struct argp_option options[] = {
    {"csv", 'c', NULL, 0, "Print comma-separated values", 0},
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {"markdown", 'm', NULL, 0, "Print a Markdown table", 0},
    {"names", 'n', NULL, 0, "Print the names alone, one a line", 0},
    {0},
};

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    enum format *format = state->input;
    switch (key) {
    case 'c':
        *format = CSV;
        return 0;
    case 'j':
        *format = JSON;
        return 0;
    case 'm':
        *format = MARKDOWN;
        return 0;
    case 'n':
        *format = NAMES;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected '%s'; type allreduce explain %s to see one algorithm", value,
                   value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int
ar_cli_list(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .doc = "The algorithms that ALLREDUCE_ALGO can name, in a table.",
    };
    enum format format = TEXT;
    argp_parse(&argp, argc, argv, 0, NULL, &format);
    for (size_t i = 0; i < ar_algorithm_count() && format == NAMES; i++)
        printf("%s\n", ar_algorithm_at(i)->name);
    if (format != NAMES)
        print_table(format);
    return fflush(stdout) == 0 ? AR_EXIT_DONE : AR_EXIT_FAILED;
}
