/* allreduce list: the registry as a table. */
#include <argp.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/card.h"
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

/* Does the letter stand for a quantity in the formula?  Words are longer than products of these. */
static bool
has_letter(const char *formula, char letter)
{
    for (const char *at = formula; at && *at; at++) {
        size_t length = 0, small = 0;
        for (; isalpha((unsigned char)at[length]); length++)
            small += islower((unsigned char)at[length]) != 0;
        const bool is_word = small == length && (length > 2 || strncmp(at, "at", 2) == 0);
        if (!is_word && memchr(at, letter, length))
            return true;
        at += length > 0 ? length - 1 : 0;
    }
    return false;
}

/* Does the card say itself what the letter is? */
static bool
is_defined(const char *where, char letter)
{
    const char definition[] = {letter, ' ', '=', '\0'};
    return where && strstr(where, definition);
}

void
ar_cli_print_letters(const struct ar_algorithm *row)
{
    static const struct {
        char letter;
        const char *meaning;
    } letters[] = {
        {'p', "ranks"},
        {'n', "the vector's length"},
        {'a', "latency"},
        {'B', "bandwidth"},
        {'C', "time to combine a unit"},
        {'N', "nodes"},
        {'L', "ranks of the largest node"},
        {'K', "lanes"},
        {'X', "rows of the grid"},
        {'Y', "its columns"},
        {'W', "bytes of a short vector"},
        {'k', "radix"},
        {'s', "the sum of the rounds' parts less one"},
        {'t', "most parts of a round"},
    };
    const char *separator = "  letters      ";
    for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++) {
        bool is_there = has_letter(row->where, letters[i].letter);
        for (int line = 0; line < AR_CARD_LINES; line++)
            is_there |= has_letter(row->card[line], letters[i].letter);
        if (!is_there || is_defined(row->where, letters[i].letter))
            continue;
        printf("%s%c %s", separator, letters[i].letter, letters[i].meaning);
        separator = ", ";
    }
    printf("\n");
}

/* The ranks for which the text has numbers in the place of formulas. */
enum { RANKS = 16, PER_NODE = 4, TITLE_TEXT = 45 };

/* A line of the card for a vector of one, on so many ranks and nodes; on one node where ranks share
 * memory. */
static char *
print_value(char text[AR_NUMBER_TEXT], const struct ar_algorithm *row, enum ar_card_line line)
{
    const int elements = 1 << 20;
    int node_of[RANKS];
    struct ar_choice choice = ar_choice_default(row);
    for (int i = 0; i < RANKS; i++)
        node_of[i] = i / PER_NODE;
    if (!row->shares_memory)
        choice.params.node_of = node_of;
    const double value = ar_card_value(row, line, &choice.params, RANKS, elements, NULL);
    return ar_number_print(line == AR_CARD_ROUNDS ? value : value / elements, text, AR_NUMBER_TEXT);
}

/* The first words of the title. */
static char *
print_title(char text[TITLE_TEXT], const char *title)
{
    snprintf(text, TITLE_TEXT, "%s", title);
    if (strlen(title) >= TITLE_TEXT)
        for (char *end = text + TITLE_TEXT - 4; end > text; end--)
            if (*end == ' ' && end[-1] != ',') {
                snprintf(end, 5, " ...");
                break;
            }
    return text;
}

static void
state_row(struct ar_columns *c, const void *table, size_t i)
{
    const struct ar_algorithm *const row = ar_algorithm_at(i);
    char parameters[1000], elsewhere[1000], intel[32] = "", words[TITLE_TEXT],
                                            number[AR_NUMBER_TEXT];
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
    ar_column_words(c, "any", "any op", row->keeps_order ? "yes" : "-");
    ar_column_shown(c, "rounds16", "rounds", print_value(number, row, AR_CARD_ROUNDS));
    ar_column_shown(c, "sent16", " sent", print_value(number, row, AR_CARD_SENT));
    ar_column_words(c, "words", "what it does", print_title(words, row->title));
}

/* The text fits a terminal. */
static void
print_table(enum ar_columns_format format)
{
    ar_columns_write_alone((struct ar_columns){
        .to = stdout,
        .format = format,
        .row = state_row,
        .n = ar_algorithm_count(),
        .view = format == AR_COLUMNS_TEXT
                    ? "name intel any rounds16 sent16 words"
                    : "name aliases intel order parameters needs rounds bytes scratch where bits "
                      "family source elsewhere",
        .colors = {ar_color_begin(stdout, AR_COLOR_TITLE), ar_color_end(stdout)}});
    if (format == AR_COLUMNS_TEXT)
        printf(
            "\nintel: the id in I_MPI_ADJUST_ALLREDUCE; any op: also ops that do not commute\n"
            "rounds, sent: for %d ranks on %d nodes; a rank sends so many lengths of the vector\n"
            "allreduce explain NAME has formulas and a figure; --csv and --markdown all columns\n",
            RANKS, RANKS / PER_NODE);
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
