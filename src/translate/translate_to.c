/* From rules to settings: the rules are asked wherever their answer may change. */
#include <stdlib.h>
#include <string.h>

#include "select/names.h"
#include "translate/translate.h"

static int
compare_sizes(const void *x, const void *y)
{
    const size_t a = *(const size_t *)x, b = *(const size_t *)y;
    return a < b ? -1 : a > b;
}

/* Where the answer may change, ascending; the first is least.  Malloced, or NULL. */
static size_t *
edges_of(const struct ar_rules *rules, bool of_ranks, size_t least, size_t *n)
{
    size_t *const edges = calloc(2 * rules->nconditions + 1, sizeof *edges);
    if (!edges)
        return NULL;
    *n = 0;
    edges[(*n)++] = least;
    for (size_t k = 0; k < rules->nconditions; k++) {
        const struct ar_condition *const c = &rules->conditions[k];
        const size_t from = of_ranks ? c->ranks_min : c->bytes_min;
        const size_t to = of_ranks ? c->ranks_max : c->bytes_max;
        if (from > least)
            edges[(*n)++] = from;
        if (to != SIZE_MAX && to + 1 > least)
            edges[(*n)++] = to + 1;
    }
    qsort(edges, *n, sizeof *edges, compare_sizes);
    size_t kept = 1;
    for (size_t i = 1; i < *n; i++)
        if (edges[i] != edges[kept - 1])
            edges[kept++] = edges[i];
    *n = kept;
    return edges;
}

/* An answer in the library's words. */
struct answer {
    const struct ar_counterpart *is; /* NULL: the library decides */
    size_t segment;                  /* bytes; 0: not told */
};

static struct answer
answer_of(struct ar_translator *x, const struct ar_rules *rules, size_t bytes, size_t nranks)
{
    const struct ar_request request = {
        .bytes = bytes, .nranks = (int)nranks, .commutative = true, .shares_memory = true};
    const struct ar_clause *const clause = ar_rules_match(rules, &request);
    char text[AR_CHOICE_TEXT], usual[AR_CHOICE_TEXT];
    struct answer a = {0};
    if (!clause || clause->choice.kind == AR_CHOICE_NATIVE)
        return a;
    ar_choice_print(&clause->choice, text, sizeof text);
    if (clause->choice.kind == AR_CHOICE_ALGORITHM)
        a.is = ar_counterpart_of(x->library, &clause->choice);
    if (!a.is) {
        ar_translator_note(x, "%s has no counterpart in %s, which then decides by itself", text,
                           ar_library_titles[x->library]);
        return a;
    }
    if (ar_openmpi_takes_segment(a.is))
        a.segment = clause->choice.params.segment_bytes;
    const struct ar_choice as_usual = ar_choice_default(clause->choice.algorithm);
    if (strcmp(text, a.is->choice) != 0 &&
        strcmp(text, ar_choice_print(&as_usual, usual, sizeof usual)) != 0)
        ar_translator_note(x, "%s becomes %s's %s, without its parameters%s", text,
                           ar_library_titles[x->library], a.is->name,
                           a.segment ? " except the segment" : "");
    if (a.is->note)
        ar_translator_note(x, "%s is %s's %s: %s", text, ar_library_titles[x->library], a.is->name,
                           a.is->note);
    return a;
}

/* What the library is told for these sizes and ranks. */
static void
write_answer(struct ar_translator *x, struct answer a, struct ar_bounds sizes,
             struct ar_bounds ranks)
{
    const char *const title = a.is ? a.is->name : "ignore";
    const bool is_all = ranks.min <= 1 && ranks.max == SIZE_MAX;
    switch (x->library) {
    case AR_LIBRARY_INTEL:
        fprintf(x->text, "%d:", a.is ? a.is->id : 0);
        ar_translator_write_range(x, sizes);
        if (!is_all)
            fputc('@', x->text), ar_translator_write_range(x, ranks);
        fputc(';', x->text);
        break;
    case AR_LIBRARY_OPENMPI:
        fprintf(x->text, "%zu %d 0 %zu # %s\n", sizes.min, a.is ? a.is->id : 0, a.segment, title);
        break;
    case AR_LIBRARY_UCC:
        if (!a.is)
            break;
        sizes.max += sizes.max != SIZE_MAX; /* its ranges end before their end */
        fputs("allreduce:", x->text);
        ar_translator_write_range(x, sizes);
        if (!is_all)
            fputs(":[", x->text), ar_translator_write_range(x, ranks), fputc(']', x->text);
        fprintf(x->text, ":@%s#", a.is->name);
        break;
    case AR_LIBRARY_ONECCL:
        if (!a.is)
            break;
        fprintf(x->text, "%s%s:%zu-", ftell(x->text) > 0 ? ";" : "", a.is->name, sizes.min);
        if (sizes.max == SIZE_MAX)
            fputs("max", x->text);
        else
            fprintf(x->text, "%zu", sizes.max);
        break;
    default:
        fputs(a.is ? a.is->name : x->library == AR_LIBRARY_MPICH ? "auto" : "", x->text);
    }
}

/* The answers for one range of ranks; equal ones that follow each other are one.  Returns how many
 * there are, and writes them if asked to. */
static size_t
write_answers(struct ar_translator *x, const struct ar_rules *rules, const size_t *edges, size_t n,
              struct ar_bounds ranks, bool writes)
{
    size_t count = 0, first = 0;
    struct answer a = answer_of(x, rules, edges[0], ranks.min);
    for (size_t i = 1; i <= n; i++) {
        const struct answer b = i < n ? answer_of(x, rules, edges[i], ranks.min) : a;
        if (i < n && a.is == b.is && a.segment == b.segment)
            continue;
        const struct ar_bounds sizes = {edges[first], i < n ? edges[i] - 1 : SIZE_MAX};
        if (writes)
            write_answer(x, a, sizes, ranks);
        count++;
        first = i;
        a = b;
    }
    return count;
}

static bool
depends_on_ranks(const struct ar_clause *clause)
{
    for (size_t i = 0; i < clause->nconditions; i++)
        if (clause->conditions[i].ranks_min > 1 || clause->conditions[i].ranks_max != SIZE_MAX)
            return true;
    return false;
}

/* Refuses rules that the library has no words for. */
static int
check_rules(struct ar_translator *x, const struct ar_rules *rules)
{
    const bool takes_one = x->library == AR_LIBRARY_MPICH || x->library == AR_LIBRARY_NCCL;
    const struct ar_clause *culprit = NULL;
    for (size_t i = 0, written = 0; i < rules->nclauses && !culprit; i++) {
        if (ar_rules_is_pair(rules, i))
            continue; /* the second is what has a counterpart */
        if (rules->clauses[i].traits.asks ||
            (takes_one && (written > 0 || rules->nconditions > 0)) ||
            (x->library == AR_LIBRARY_ONECCL && depends_on_ranks(&rules->clauses[i])))
            culprit = &rules->clauses[i];
        written++;
    }
    if (!culprit)
        return AR_OK;
    ar_text_add(&x->why,
                takes_one ? "%s's variable names one algorithm for all sizes and ranks"
                : x->library == AR_LIBRARY_ONECCL ? "%s's rules can depend only on sizes"
                                                  : "%s's rules can depend only on sizes and ranks",
                ar_library_titles[x->library]);
    x->problem->line = culprit->line;
    x->problem->column = culprit->column;
    return AR_ERR_SYNTAX;
}

int
ar_translate_to(struct ar_translation *t, enum ar_foreign library, const struct ar_rules *rules,
                struct ar_problem *problem)
{
    const bool is_file = library == AR_LIBRARY_OPENMPI;
    struct ar_translator x;
    size_t nranks = 0, nsizes = 0;
    size_t *const ranks = edges_of(rules, true, 1, &nranks);
    size_t *const sizes = edges_of(rules, false, 0, &nsizes);
    int error = ar_translator_begin(&x, t, library, "", problem) && ranks && sizes
                    ? check_rules(&x, rules)
                    : AR_ERR_MEMORY;
    if (!error && is_file)
        fprintf(x.text, "1 # collectives\n2 # allreduce\n%zu # sizes of communicators\n", nranks);
    for (size_t i = 0; i < nranks && !error; i++) {
        const struct ar_bounds r = {ranks[i], i + 1 < nranks ? ranks[i + 1] - 1 : SIZE_MAX};
        if (is_file)
            fprintf(x.text,
                    "%zu # ranks or more\n%zu # sizes: bytes, algorithm, topology, segment\n",
                    r.min, write_answers(&x, rules, sizes, nsizes, r, false));
        write_answers(&x, rules, sizes, nsizes, r, true);
    }
    free(ranks);
    free(sizes);
    return ar_translator_end(&x, error);
}
