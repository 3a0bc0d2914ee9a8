#include <config.h> /* _GNU_SOURCE */

#include "model/placement.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/nodes.h"
#include "schedule/error.h"
#include "schedule/grow.h"
#include "select/number.h"

#define BLANKS    " \t\r"
#define FORMS     "HOST, HOST:N or HOST slots=N for N ranks in a row, or rank N=HOST"
#define NAME_MOST 255 /* letters of a host's name */

enum manner { BLOCK, CYCLIC };
static const char *const manners[] = {"block", "cyclic", NULL};

void
ar_placement_fini(struct ar_placement *p)
{
    free(p->node_of);
    *p = (struct ar_placement){.nranks = 0};
}

/* The first ranks have their numbers before the others of their nodes ask for them. */
void
ar_placement_number(int *node_of, int nranks)
{
    int nnodes = 0;
    for (int r = 0; r < nranks; r++)
        node_of[r] = node_of[r] == r ? nnodes++ : node_of[node_of[r]];
}

/* Counts the ranks of the nodes, whose number is known.  AR_OK or AR_ERR_MEMORY. */
static int
count_most(struct ar_placement *p)
{
    int *const ranks = calloc((size_t)p->nnodes, sizeof *ranks);
    for (int r = 0; ranks && r < p->nranks; r++) {
        const int n = ++ranks[p->node_of[r]];
        p->most = n > p->most ? n : p->most;
    }
    free(ranks);
    return ranks ? AR_OK : AR_ERR_MEMORY;
}

/* --- HxR --- */

bool
ar_placement_is_shape(const char *text)
{
    size_t digits = 0;
    while (ar_is_digit(text[digits]))
        digits++;
    return digits > 0 && (text[digits] == 'x' || text[digits] == 'X');
}

int
ar_placement_parse_shape(struct ar_placement *p, const char *text, struct ar_text *why)
{
    const char *at = text;
    const struct ar_word shape = ar_word_next(&at, ",");
    int dims[2], manner = BLOCK;
    if (ar_word_dims(shape, AR_PLACEMENT_RANKS_MAX, dims, 2) != 2 ||
        dims[0] > AR_PLACEMENT_RANKS_MAX / dims[1]) {
        ar_text_quote(why, shape);
        ar_text_add(why, "; allowed: " AR_PLACEMENT_SHAPE ", %d ranks at most",
                    AR_PLACEMENT_RANKS_MAX);
        return AR_ERR_SYNTAX;
    }
    if (*at == ',') {
        at++;
        const struct ar_word word = ar_word_next(&at, "");
        manner = ar_word_among(word, manners);
        if (manner < 0) {
            ar_text_quote(why, word);
            ar_text_add(why, "; allowed: ");
            ar_text_list(why, manners);
            return AR_ERR_SYNTAX;
        }
    }
    *p = (struct ar_placement){.nranks = dims[0] * dims[1], .nnodes = dims[0], .most = dims[1]};
    p->node_of = malloc((size_t)p->nranks * sizeof *p->node_of);
    for (int r = 0; p->node_of && r < p->nranks; r++)
        p->node_of[r] = manner == CYCLIC ? r % p->nnodes : r / p->most;
    return p->node_of ? AR_OK : AR_ERR_MEMORY;
}

/* --- host files --- */

struct host {
    struct ar_word name;
    int rank;
    int line;
};

struct reader {
    int line; /* that is read, from 1 on */
    struct ar_text *why;
    struct host *of; /* owned; in the order of the file */
    size_t n, room;
    char **names; /* owned, and so is each: those that the file has only as part of a group */
    size_t nnames, names_room;
    bool is_numbered; /* by rank N=HOST, as the first line is */
};

static int
refuse(struct reader *in, struct ar_word word, const char *allowed)
{
    ar_text_add(in->why, "%d: ", in->line);
    ar_text_quote(in->why, word);
    ar_text_add(in->why, "; allowed: %s", allowed);
    return AR_ERR_SYNTAX;
}

/* Adds n ranks from rank on. */
static int
add(struct reader *in, struct ar_word name, int rank, int n)
{
    if (in->n + (size_t)n > AR_PLACEMENT_RANKS_MAX) {
        ar_text_add(in->why, "%d: more than %d ranks", in->line, AR_PLACEMENT_RANKS_MAX);
        return AR_ERR_SYNTAX;
    }
    struct host *const of = ar_grow(in->of, in->n + (size_t)n, &in->room, sizeof *of);
    if (!of)
        return AR_ERR_MEMORY;
    in->of = of;
    for (int i = 0; i < n; i++)
        of[in->n++] = (struct host){name, rank + i, in->line};
    return AR_OK;
}

static bool
is_name(struct ar_word word)
{
    bool is_good = word.length > 0 && word.length <= NAME_MOST;
    for (size_t i = 0; i < word.length; i++)
        is_good &= ar_is_name_char(word.at[i]) || word.at[i] == '+'; /* +n0: of Open MPI */
    return is_good;
}

/* "rank N=HOST ...", of which text is what follows the word rank. */
static int
read_numbered(struct reader *in, const char *text)
{
    const struct ar_word number = ar_word_next(&text, "=");
    int rank;
    if (*text != '=' || !ar_word_int(number, 0, AR_PLACEMENT_RANKS_MAX - 1, &rank))
        return refuse(in, number, "a rank's number and '=', as in rank 0=HOST");
    text++;
    text += strspn(text, BLANKS);
    const struct ar_word name = ar_word_next(&text, BLANKS);
    return is_name(name) ? add(in, name, rank, 1) : refuse(in, name, "a host's name");
}

/* Adds n ranks on a host of a group. */
static int
add_numbered(struct reader *in, struct ar_word before, struct ar_word digits, int number,
             struct ar_word behind, int n)
{
    char **const names = ar_grow(in->names, in->nnames + 1, &in->names_room, sizeof *names);
    if (!names)
        return AR_ERR_MEMORY;
    in->names = names;
    if (asprintf(&names[in->nnames], "%.*s%0*d%.*s", (int)before.length, before.at,
                 (int)digits.length, number, (int)behind.length, behind.at) < 0)
        return AR_ERR_MEMORY;
    const struct ar_word name = ar_word_of(names[in->nnames++]);
    return is_name(name) ? add(in, name, (int)in->n, n) : refuse(in, name, FORMS);
}

/* Adds n ranks on each host: a name, or one with numbers and ranges in brackets. */
static int
add_hosts(struct reader *in, struct ar_word name, int n)
{
    const char *const end = name.at + name.length, *at = memchr(name.at, '[', name.length);
    if (!at)
        return is_name(name) ? add(in, name, (int)in->n, n) : refuse(in, name, FORMS);
    const struct ar_word before = {name.at, (size_t)(at - name.at)};
    const char *const close = memchr(at, ']', (size_t)(end - at));
    const struct ar_word behind = {close ? close + 1 : end, close ? (size_t)(end - close) - 1 : 0};
    int first, last, error = AR_OK;
    do {
        at++;
        const struct ar_word from = ar_word_next(&at, "-,]");
        at += *at == '-';
        const struct ar_word to = at[-1] == '-' ? ar_word_next(&at, ",]") : from;
        if (!close || !ar_word_int(from, 0, INT_MAX - 1, &first) ||
            !ar_word_int(to, first, INT_MAX - 1, &last))
            return refuse(in, name, "numbers and ranges in brackets, as in node[01-04,7]");
        for (int i = first; i <= last && !error; i++)
            error = add_numbered(in, before, from, i, behind, n);
    } while (!error && at < close);
    return error;
}

/* "slots=N", which sets *n where that is 0, or what says nothing of who runs where. */
static int
read_option(struct reader *in, int *n, struct ar_word option)
{
    static const char *const others[] = {"max_slots", "slots_max", "binding",
                                         "ifname",    "user",      NULL};
    const char *const equals = memchr(option.at, '=', option.length);
    const size_t length = equals ? (size_t)(equals - option.at) : option.length;
    const struct ar_word name = {option.at, length};
    if (equals && ar_word_among(name, others) >= 0)
        return AR_OK;
    if (!equals || !ar_word_is(name, "slots"))
        return refuse(in, option, "only " FORMS);
    const struct ar_word value = {equals + 1, option.length - length - 1};
    return *n == 0 && ar_word_int(value, 1, AR_PLACEMENT_RANKS_MAX, n)
               ? AR_OK
               : refuse(in, option, "a number of ranks from 1 on, once, as in slots=4");
}

/* "HOST" or "HOST:N", with options behind it. */
static int
read_plain(struct reader *in, const char *text)
{
    const struct ar_word name = ar_word_next(&text, ":" BLANKS);
    int n = 0, error = AR_OK;
    if (*text == ':') {
        text++;
        const struct ar_word ranks = ar_word_next(&text, BLANKS);
        if (!ar_word_int(ranks, 1, AR_PLACEMENT_RANKS_MAX, &n))
            return refuse(in, ranks, "a number of ranks from 1 on, as in HOST:4");
    }
    while (!error && *(text += strspn(text, BLANKS)))
        error = read_option(in, &n, ar_word_next(&text, BLANKS));
    return error ? error : add_hosts(in, name, n > 0 ? n : 1);
}

/* A line without its end, which holds more than blanks and a comment. */
static int
read_line(struct reader *in, const char *line)
{
    const size_t rank = strlen("rank");
    const bool is_numbered =
        strncmp(line, "rank", rank) == 0 && line[rank] && strchr(BLANKS, line[rank]);
    if (in->n == 0)
        in->is_numbered = is_numbered;
    if (is_numbered != in->is_numbered) {
        ar_text_add(in->why, "%d: ", in->line);
        ar_text_quote(in->why, ar_word_of(line));
        ar_text_add(in->why, "; allowed: %s, as in line %d",
                    in->is_numbered ? "rank N=HOST in every line" : "no line with a rank's number",
                    in->of[0].line);
        return AR_ERR_SYNTAX;
    }
    return is_numbered ? read_numbered(in, line + rank) : read_plain(in, line);
}

/* Reads a text, which it cuts into lines. */
static int
read_lines(struct reader *in, char *text)
{
    int error = AR_OK;
    for (char *line = text; line && !error;) {
        char *const end = line + strcspn(line, "\n");
        char *const next = *end ? end + 1 : NULL;
        *end = '\0';
        line[strcspn(line, "#")] = '\0';
        line += strspn(line, BLANKS);
        in->line++;
        if (*line)
            error = read_line(in, line);
        line = next;
    }
    if (!error && in->n == 0) {
        ar_text_add(in->why, " no host in it; allowed in each line: " FORMS);
        error = AR_ERR_SYNTAX;
    }
    return error;
}

static int
compare_ranks(const void *x, const void *y)
{
    const struct host *const a = x, *const b = y;
    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank) : a->line - b->line;
}

static int
compare_names(const void *x, const void *y)
{
    const struct host *const a = x, *const b = y;
    const size_t length = a->name.length < b->name.length ? a->name.length : b->name.length;
    const int order = memcmp(a->name.at, b->name.at, length);
    if (order != 0)
        return order;
    if (a->name.length != b->name.length)
        return a->name.length < b->name.length ? -1 : 1;
    return compare_ranks(x, y);
}

/* Is there each rank from 0 on, once? */
static int
check_ranks(struct reader *in)
{
    qsort(in->of, in->n, sizeof *in->of, compare_ranks);
    for (size_t i = 0; i < in->n; i++) {
        const struct host *const host = &in->of[i];
        const bool is_double = i > 0 && host[-1].rank == host->rank;
        if (host->rank == (int)i)
            continue;
        if (is_double)
            ar_text_add(in->why, "%d: rank %d is also in line %d", host->line, host->rank,
                        host[-1].line);
        else
            ar_text_add(in->why, "%d: rank %d, but no rank %zu", host->line, host->rank, i);
        ar_text_add(in->why, "; allowed: the ranks from 0 on, each once");
        return AR_ERR_SYNTAX;
    }
    return AR_OK;
}

/* Numbers the nodes by their first ranks. */
static void
number_nodes(struct ar_placement *p, struct reader *in)
{
    int first = 0, *const node_of = p->node_of;
    qsort(in->of, in->n, sizeof *in->of, compare_names);
    for (size_t i = 0; i < in->n; i++) {
        const struct host *const host = &in->of[i];
        if (i == 0 || host->name.length != host[-1].name.length ||
            memcmp(host->name.at, host[-1].name.at, host->name.length) != 0)
            first = host->rank;
        node_of[host->rank] = first;
    }
    ar_placement_number(node_of, p->nranks);
    p->nnodes = ar_nodes_count(node_of, p->nranks);
}

int
ar_placement_parse_hosts(struct ar_placement *p, const char *text, struct ar_text *why)
{
    struct reader in = {.why = why};
    char *const copy = strdup(text);
    int error = copy ? read_lines(&in, copy) : AR_ERR_MEMORY;
    *p = (struct ar_placement){.nranks = (int)in.n};
    if (!error)
        error = check_ranks(&in);
    if (!error) {
        p->node_of = calloc(in.n, sizeof *p->node_of);
        error = p->node_of ? AR_OK : AR_ERR_MEMORY;
    }
    if (!error) {
        number_nodes(p, &in);
        error = count_most(p);
    }
    if (error)
        ar_placement_fini(p);
    for (size_t i = 0; i < in.nnames; i++)
        free(in.names[i]);
    free(in.names);
    free(in.of);
    free(copy);
    return error;
}

/* --- who plays whom --- */

int
ar_placement_seat(int *player, const struct ar_placement *p, const int *real_node_of)
{
    struct ar_node_index wanted, real = {0};
    int error = ar_node_index_init(&wanted, p->node_of, p->nranks);
    if (!error)
        error = ar_node_index_init(&real, real_node_of, p->nranks);
    bool *const is_taken = error ? NULL : calloc((size_t)real.count, sizeof *is_taken);
    if (!error && !is_taken)
        error = AR_ERR_MEMORY;
    for (int node = 0; node < wanted.count && !error; node++) {
        const int first = wanted.first[node], size = wanted.first[node + 1] - first;
        int k = 0;
        while (k < real.count && (is_taken[k] || real.first[k + 1] - real.first[k] != size))
            k++;
        if (k == real.count) {
            error = AR_ERR_PARAM;
            break;
        }
        is_taken[k] = true;
        for (int i = 0; i < size; i++)
            player[wanted.ranks[first + i]] = real.ranks[real.first[k] + i];
    }
    free(is_taken);
    ar_node_index_fini(&wanted);
    ar_node_index_fini(&real);
    return error;
}

/* --- in words --- */

#define PRINTED_MOST 16 /* ranks that one can read in a line */

char *
ar_placement_print(const struct ar_placement *p, int nranks, int nnodes,
                   char text[AR_PLACEMENT_TEXT])
{
    struct ar_text t;
    ar_text_init(&t, text, AR_PLACEMENT_TEXT);
    ar_text_add(&t, "%d rank%s", nranks, ar_plural((size_t)nranks));
    if (nnodes > 0)
        ar_text_add(&t, " on %d node%s", nnodes, ar_plural((size_t)nnodes));
    if (p->nnodes < 2)
        return text;
    if (nranks > PRINTED_MOST) {
        if (!ar_nodes_are_blocks(p->node_of, nranks))
            ar_text_add(&t, ", not in blocks");
        return text;
    }
    for (int node = 0; node < p->nnodes; node++) {
        const char *separator = node == 0 ? " (" : " | ";
        for (int r = 0; r < nranks; r++)
            if (p->node_of[r] == node) {
                ar_text_add(&t, "%s%d", separator, r);
                separator = " ";
            }
    }
    ar_text_add(&t, ")");
    return text;
}
