#include <config.h> /* strdup */

#include "model/placement.h"

#include <stdio.h>
#include <stdlib.h>

#include "algorithms/nodes.h"
#include "schedule/error.h"
#include "schedule/grow.h"
#include "select/number.h"

#define BLANKS    " \t\r"
#define FORMS     "HOST, or HOST:N or HOST slots=N for N ranks in a row"
#define NAME_MOST 255 /* letters of a host's name */

enum manner { BLOCK, CYCLIC };
static const char *const manners[] = {"block", "cyclic", NULL};

void
ar_placement_fini(struct ar_placement *p)
{
    free(p->node_of);
    *p = (struct ar_placement){.nranks = 0};
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
};

struct reader {
    int line; /* that is read, from 1 on */
    struct ar_text *why;
    struct host *of; /* owned; in the order of the file */
    size_t n, room;
};

static int
refuse(struct reader *in, struct ar_word word, const char *allowed)
{
    ar_text_add(in->why, "%d: ", in->line);
    ar_text_quote(in->why, word);
    ar_text_add(in->why, "; allowed: %s", allowed);
    return AR_ERR_SYNTAX;
}

/* Adds n ranks. */
static int
add(struct reader *in, struct ar_word name, int n)
{
    if (in->n + (size_t)n > AR_PLACEMENT_RANKS_MAX) {
        ar_text_add(in->why, "%d: more than %d ranks", in->line, AR_PLACEMENT_RANKS_MAX);
        return AR_ERR_SYNTAX;
    }
    struct host *const of = ar_grow(in->of, in->n + (size_t)n, &in->room, sizeof *of);
    if (!of)
        return AR_ERR_MEMORY;
    in->of = of;
    for (int i = 0; i < n; i++, in->n++)
        of[in->n] = (struct host){name, (int)in->n};
    return AR_OK;
}

static bool
is_name(struct ar_word word)
{
    bool is_good = word.length > 0 && word.length <= NAME_MOST;
    for (size_t i = 0; i < word.length; i++)
        is_good &= ar_is_name_char(word.at[i]);
    return is_good;
}

/* "HOST", "HOST:N" or "HOST slots=N": a line without its end, which holds more than blanks and a
 * comment. */
static int
read_line(struct reader *in, const char *line)
{
    static const char slots[] = "slots=";
    const struct ar_word name = ar_word_next(&line, ":" BLANKS);
    int n = 1;
    if (!is_name(name))
        return refuse(in, name, FORMS);
    line += strspn(line, BLANKS);
    const bool has_slots = strncmp(line, slots, strlen(slots)) == 0;
    if (*line == ':' || has_slots) {
        line += has_slots ? strlen(slots) : 1;
        const struct ar_word ranks = ar_word_next(&line, BLANKS);
        if (!ar_word_int(ranks, 1, AR_PLACEMENT_RANKS_MAX, &n))
            return refuse(in, ranks, "a number of ranks from 1 on, as in HOST:4");
        line += strspn(line, BLANKS);
    }
    return *line ? refuse(in, ar_word_of(line), "only " FORMS) : add(in, name, n);
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

/* By name, and by rank where that is the same. */
static int
compare_hosts(const void *x, const void *y)
{
    const struct host *const a = x, *const b = y;
    const size_t length = a->name.length < b->name.length ? a->name.length : b->name.length;
    const int order = memcmp(a->name.at, b->name.at, length);
    if (order != 0)
        return order;
    if (a->name.length != b->name.length)
        return a->name.length < b->name.length ? -1 : 1;
    return a->rank - b->rank;
}

/* Numbers the nodes by their first ranks. */
static void
number_nodes(struct ar_placement *p, struct reader *in)
{
    int first = 0, *const node_of = p->node_of;
    qsort(in->of, in->n, sizeof *in->of, compare_hosts);
    for (size_t i = 0; i < in->n; i++) {
        const struct host *const host = &in->of[i];
        if (i == 0 || host->name.length != host[-1].name.length ||
            memcmp(host->name.at, host[-1].name.at, host->name.length) != 0)
            first = host->rank;
        node_of[host->rank] = first;
    }
    for (int r = 0; r < p->nranks; r++) /* first ranks come before the others of their nodes */
        node_of[r] = node_of[r] == r ? p->nnodes++ : node_of[node_of[r]];
}

int
ar_placement_parse_hosts(struct ar_placement *p, const char *text, struct ar_text *why)
{
    struct reader in = {.why = why};
    char *const copy = strdup(text);
    int error = copy ? read_lines(&in, copy) : AR_ERR_MEMORY;
    *p = (struct ar_placement){.nranks = (int)in.n};
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
    free(in.of);
    free(copy);
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
