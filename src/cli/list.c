/* allreduce list: the registry as a table. */
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/registry.h"
#include "cli/cli.h"
#include "cli/color.h"
#include "cli/team.h"
#include "select/select.h"

#define CELL_ROOM 320

/* A cell's text; room is CELL_ROOM. */
typedef void cell_fn(char *text, const struct ar_algorithm *row);

/* Formats for people leave out what explain shows. */
enum shown { EVERYWHERE, IN_MARKDOWN, IN_RECORDS };

struct table_column {
    const char *title;
    enum shown shown; /* IN_MARKDOWN: and in records; IN_RECORDS: only CSV and JSON */
    cell_fn *cell;
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

static void
name_cell(char *text, const struct ar_algorithm *row)
{
    snprintf(text, CELL_ROOM, "%s", row->name);
}

static void
aliases_cell(char *text, const struct ar_algorithm *row)
{
    snprintf(text, CELL_ROOM, "%s", row->aliases);
}

static void
intel_cell(char *text, const struct ar_algorithm *row)
{
    text[0] = '\0';
    if (row->intel_id)
        snprintf(text, CELL_ROOM, row->intel_id_last ? "%d-%d" : "%d", row->intel_id,
                 row->intel_id_last);
}

static void
order_cell(char *text, const struct ar_algorithm *row)
{
    snprintf(text, CELL_ROOM, "%s", row->keeps_order ? "any op" : "commutative");
}

static void
parameters_cell(char *text, const struct ar_algorithm *row)
{
    ar_cli_print_parameters(text, CELL_ROOM, row);
}

static void
needs_cell(char *text, const struct ar_algorithm *row)
{
    snprintf(text, CELL_ROOM, "%s", row->needs);
}

static void
rounds_cell(char *text, const struct ar_algorithm *row)
{
    snprintf(text, CELL_ROOM, "%s", row->rounds);
}

static void
bytes_cell(char *text, const struct ar_algorithm *row)
{
    snprintf(text, CELL_ROOM, "%s", row->bytes);
}

static void
time_cell(char *text, const struct ar_algorithm *row)
{
    snprintf(text, CELL_ROOM, "%s", row->cost);
}

static void
title_cell(char *text, const struct ar_algorithm *row)
{
    snprintf(text, CELL_ROOM, "%s", row->title);
}

static void
bits_cell(char *text, const struct ar_algorithm *row)
{
    snprintf(text, CELL_ROOM, "%s", ar_determinism_names[ar_algorithm_keeps(row)]);
}

static void
family_cell(char *text, const struct ar_algorithm *row)
{
    snprintf(text, CELL_ROOM, "%s", ar_family_names[row->family]);
}

static void
source_cell(char *text, const struct ar_algorithm *row)
{
    snprintf(text, CELL_ROOM, "%s", row->source);
}

static const struct table_column columns[] = {
    {"name", EVERYWHERE, name_cell},       {"title", IN_RECORDS, title_cell},
    {"aliases", EVERYWHERE, aliases_cell}, {"intel", EVERYWHERE, intel_cell},
    {"order", EVERYWHERE, order_cell},     {"parameters", EVERYWHERE, parameters_cell},
    {"needs", IN_MARKDOWN, needs_cell},    {"rounds", IN_MARKDOWN, rounds_cell},
    {"bytes", IN_MARKDOWN, bytes_cell},    {"time", IN_RECORDS, time_cell},
    {"bits", EVERYWHERE, bits_cell},       {"family", IN_MARKDOWN, family_cell},
    {"source", EVERYWHERE, source_cell},
};

enum { NCOLUMNS = sizeof columns / sizeof columns[0] };

/* --- formats --- */

static size_t
column_width(int column)
{
    size_t width = strlen(columns[column].title);
    for (size_t i = 0; i < ar_algorithm_count(); i++) {
        char text[CELL_ROOM];
        columns[column].cell(text, ar_algorithm_at(i));
        width = strlen(text) > width ? strlen(text) : width;
    }
    return width;
}

static void
print_padded(int column, const char *text)
{
    if (column + 1 < NCOLUMNS)
        printf("%-*s  ", (int)column_width(column), text);
    else
        printf("%s\n", text);
}

static void
print_csv(int column, const char *text)
{
    printf("%s\"", column ? "," : "");
    for (; *text; text++)
        printf(*text == '"' ? "\"\"" : "%c", *text);
    printf("\"%s", column + 1 < NCOLUMNS ? "" : "\n");
}

static void
print_markdown(int column, const char *text)
{
    printf("| %s %s", text, column + 1 < NCOLUMNS ? "" : "|\n");
}

/* The registry's texts are printable ASCII. */
static void
print_json(int column, const char *text)
{
    printf("%s\"%s\": \"", column ? ", " : "  {", columns[column].title);
    for (; *text; text++)
        printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    printf("\"%s", column + 1 < NCOLUMNS ? "" : "}");
}

static bool
shows(enum format format, int column)
{
    const enum shown most = format == TEXT       ? EVERYWHERE
                            : format == MARKDOWN ? IN_MARKDOWN
                                                 : IN_RECORDS;
    return columns[column].shown <= most;
}

static void
print_row(enum format format, size_t row)
{
    for (int c = 0; c < NCOLUMNS; c++) {
        char text[CELL_ROOM];
        if (!shows(format, c))
            continue;
        columns[c].cell(text, ar_algorithm_at(row));
        if (format == TEXT)
            print_padded(c, text);
        else if (format == CSV)
            print_csv(c, text);
        else if (format == JSON)
            print_json(c, text);
        else
            print_markdown(c, text);
    }
}

static void
print_head(enum format format)
{
    for (int c = 0; c < NCOLUMNS; c++)
        if (!shows(format, c))
            continue;
        else if (format == TEXT)
            print_padded(c, columns[c].title);
        else if (format == CSV)
            print_csv(c, columns[c].title);
        else if (format == MARKDOWN)
            print_markdown(c, columns[c].title);
    for (int c = 0; c < NCOLUMNS && format == MARKDOWN; c++)
        if (shows(format, c))
            printf("|---%s", c + 1 < NCOLUMNS ? "" : "|\n");
    printf("%s", format == JSON ? "[\n" : "");
}

static void
print_table(enum format format)
{
    if (format == TEXT)
        printf("%s", ar_color_begin(stdout, AR_COLOR_TITLE));
    print_head(format);
    if (format == TEXT)
        printf("%s", ar_color_end(stdout));
    for (size_t i = 0; i < ar_algorithm_count(); i++) {
        print_row(format, i);
        if (format == JSON)
            printf("%s\n", i + 1 < ar_algorithm_count() ? "," : "");
    }
    printf("%s", format == JSON ? "]\n" : "");
}

static void
print_names(void)
{
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        printf("%s\n", ar_algorithm_at(i)->name);
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
    if (format == NAMES)
        print_names();
    else
        print_table(format);
    return fflush(stdout) == 0 ? AR_EXIT_DONE : AR_EXIT_FAILED;
}
