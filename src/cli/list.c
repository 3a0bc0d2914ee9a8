/* allreduce list: the registry as a table. */
#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/registry.h"
#include "cli/cli.h"
#include "report/columns.h"
#include "select/foreign.h"
#include "select/names.h"

void
ar_cli_print_parameters(char *text, size_t room, const struct ar_algorithm *row)
{
    struct ar_text t;
    ar_text_init(&t, text, room);
    ar_params_print_defaults(&t, row);
}

static void
state_row(struct ar_columns *c, const void *table, size_t i)
{
    const struct ar_algorithm *const row = ar_algorithm_at(i);
    char parameters[1000], elsewhere[1000], intel[32] = "";
    struct ar_text t, ids;
    (void)table;
    ar_cli_print_parameters(parameters, sizeof parameters, row);
    ar_text_init(&t, elsewhere, sizeof elsewhere);
    ar_text_elsewhere(&t, row);
    ar_text_namesakes(&t, row);
    ar_text_init(&ids, intel, sizeof intel);
    ar_text_intel_ids(&ids, row);
    ar_column_text(c, "name", "name", row->name);
    ar_column_text(c, "title", NULL, row->title);
    ar_column_text(c, "aliases", "aliases", row->aliases);
    ar_column_text(c, "intel", "intel", intel);
    ar_column_text(c, "order", "order", row->keeps_order ? "any op" : "commutative");
    ar_column_text(c, "parameters", "parameters", parameters);
    ar_column_text(c, "needs", "needs", row->needs);
    ar_column_text(c, "rounds", "rounds", row->card[AR_CARD_ROUNDS]);
    ar_column_text(c, "bytes", "bytes", row->card[AR_CARD_SENT]);
    ar_column_text(c, "reduced", NULL, row->card[AR_CARD_REDUCED]);
    ar_column_text(c, "scratch", "scratch", row->card[AR_CARD_SCRATCH]);
    ar_column_text(c, "time", NULL, row->card[AR_CARD_TIME]);
    ar_column_text(c, "where", "where", row->where ? row->where : "");
    ar_column_text(c, "bits", "bits", ar_determinism_names[ar_algorithm_keeps(row, NULL)]);
    ar_column_text(c, "family", "family", ar_family_names[row->family]);
    ar_column_text(c, "source", "source", row->source);
    ar_column_text(c, "elsewhere", "elsewhere", elsewhere);
}

/* Formats for people leave out what explain shows. */
static void
print_table(enum ar_columns_format format)
{
    ar_columns_write((struct ar_columns){
        .to = stdout,
        .format = format,
        .row = state_row,
        .n = ar_algorithm_count(),
        .view = format == AR_COLUMNS_TEXT
                    ? "name aliases intel order parameters bits source elsewhere"
                    : "name aliases intel order parameters needs rounds bytes scratch where bits "
                      "family source elsewhere",
        .colors = {ar_color_begin(stdout, AR_COLOR_TITLE), ar_color_end(stdout)}});
}

/* --- command line --- */

static const struct argp_option options[] = {
    {"csv", 'c', NULL, 0, "Print comma-separated values", 0},
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {"markdown", 'm', NULL, 0, "Print a Markdown table", 0},
    {"names", 'n', NULL, 0, "Print only the names, one per line", 0},
    {0},
};

struct request {
    enum ar_columns_format format;
    bool names; /* alone */
};

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    struct request *const request = state->input;
    if (strchr("cjmn", key) && (request->names || request->format != AR_COLUMNS_TEXT))
        argp_error(state, "give one of --csv, --json, --markdown and --names");
    switch (key) {
    case 'c':
        request->format = AR_COLUMNS_CSV;
        return 0;
    case 'j':
        request->format = AR_COLUMNS_JSON;
        return 0;
    case 'm':
        request->format = AR_COLUMNS_MARKDOWN;
        return 0;
    case 'n':
        request->names = true;
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
    struct request request = {.format = AR_COLUMNS_TEXT};
    ar_cli_parse_alone(&argp, 0, argc, argv, &request);
    for (size_t i = 0; i < ar_algorithm_count() && request.names; i++)
        printf("%s\n", ar_algorithm_at(i)->name);
    if (!request.names)
        print_table(request.format);
    return AR_EXIT_DONE;
}
