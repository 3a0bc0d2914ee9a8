/* allreduce list: the registry as a table. */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/registry.h"
#include "cli/cli.h"
#include "report/json.h"
#include "select/foreign.h"
#include "select/names.h"

#define CELL_ROOM 1000 /* for the longest text of a row */

/* Formats for people leave out what explain shows. */
enum shown { EVERYWHERE, IN_MARKDOWN, IN_RECORDS };

struct table_column {
    const char *title;
    enum shown shown; /* IN_MARKDOWN: and in records; IN_RECORDS: only CSV and JSON */
};

enum format { TEXT, CSV, JSON, MARKDOWN, NAMES };

void
ar_cli_print_parameters(char *text, size_t room, const struct ar_algorithm *row)
{
    struct ar_text t;
    ar_text_init(&t, text, room);
    ar_params_print_defaults(&t, row);
}

/* --- cells --- */

static const struct table_column columns[] = {
    {"name", EVERYWHERE},    {"title", IN_RECORDS},     {"aliases", EVERYWHERE},
    {"intel", EVERYWHERE},   {"order", EVERYWHERE},     {"parameters", EVERYWHERE},
    {"needs", IN_MARKDOWN},  {"rounds", IN_MARKDOWN},   {"bytes", IN_MARKDOWN},
    {"reduced", IN_RECORDS}, {"scratch", IN_MARKDOWN},  {"time", IN_RECORDS},
    {"where", IN_MARKDOWN},  {"bits", EVERYWHERE},      {"family", IN_MARKDOWN},
    {"source", EVERYWHERE},  {"elsewhere", EVERYWHERE},
};

enum { NCOLUMNS = sizeof columns / sizeof columns[0] };

/* row NULL: the title. */
static void
fill_cell(char text[CELL_ROOM], int column, const struct ar_algorithm *row)
{
    char parameters[CELL_ROOM], elsewhere[CELL_ROOM], intel[32] = "";
    struct ar_text t, ids;
    if (!row) {
        snprintf(text, CELL_ROOM, "%s", columns[column].title);
        return;
    }
    ar_cli_print_parameters(parameters, sizeof parameters, row);
    ar_text_init(&t, elsewhere, sizeof elsewhere);
    ar_text_elsewhere(&t, row);
    ar_text_namesakes(&t, row);
    ar_text_init(&ids, intel, sizeof intel);
    ar_text_intel_ids(&ids, row);
    const char *const cells[NCOLUMNS] = {row->name,
                                         row->title,
                                         row->aliases,
                                         intel,
                                         row->keeps_order ? "any op" : "commutative",
                                         parameters,
                                         row->needs,
                                         row->card[AR_CARD_ROUNDS],
                                         row->card[AR_CARD_SENT],
                                         row->card[AR_CARD_REDUCED],
                                         row->card[AR_CARD_SCRATCH],
                                         row->card[AR_CARD_TIME],
                                         row->where ? row->where : "",
                                         ar_determinism_names[ar_algorithm_keeps(row, NULL)],
                                         ar_family_names[row->family],
                                         row->source,
                                         elsewhere};
    snprintf(text, CELL_ROOM, "%s", cells[column]);
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
            ar_cli_print_csv(text);
            putchar(last ? '\n' : ',');
        } else {
            printf("%s\"%s\": ", c ? ", " : "  {", columns[c].title);
            ar_json_string(stdout, text);
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
    {"names", 'n', NULL, 0, "Print only the names, one per line", 0},
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
        argp_error(state, "unexpected argument '%s'; allreduce explain %s shows one algorithm",
                   value, value);
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
        .doc = "List the algorithms that ALLREDUCE_ALGO can name, in a table.",
    };
    enum format format = TEXT;
    ar_cli_parse_alone(&argp, 0, argc, argv, &format);
    for (size_t i = 0; i < ar_algorithm_count() && format == NAMES; i++)
        printf("%s\n", ar_algorithm_at(i)->name);
    if (format != NAMES)
        print_table(format);
    return fflush(stdout) == 0 ? AR_EXIT_DONE : AR_EXIT_FAILED;
}
