#include "tuning/candidates.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/grow.h"
#include "select/names.h"

/* All lists below are in the grammar of rules.  The algorithms that tend to win, in the order in
 * which to try them: */
static const char usual_text[] = "shm; two_level; butterfly; rhd; ring; "
                                 "ring(segment=1M,window=2):2M-inf; knomial; star:0-1K@3-8;"
                                 "bidirectional_ring:256K-inf; native";

/* What an algorithm of two levels is tried with: a lane for every rank, or one lane, which comes
 * first where the vector is short, since lanes without elements are no different to the model. */
static const char levels_text[] = "two_level(inter=butterfly,lanes=1); two_level(inter=butterfly);"
                                  "two_level(inter=rhd);       two_level(inter=rhd,lanes=1);"
                                  "two_level(inter=circulant); two_level(inter=circulant,lanes=1);"
                                  "two_level(inter=ring);      two_level(inter=ring,lanes=1)";

/* On nodes of so many ranks, on average, it is also tried with groups inside them.  These are made
 * by number: they hold whatever ranks are bound to, and keep what a promise of bits needs. */
static const char grouped_text[] = "two_level(inter=butterfly,levels=4+16+64);"
                                   "two_level(inter=circulant,levels=4+16+64)";
#define GROUPED_RANKS 8

/* What is tried where ranks are not placed in blocks: their neighbours are on other nodes. */
static const char scattered_text[] = "ring(order=node); bidirectional_ring(order=node):256K-inf";

/* Variants with the sizes and ranks that they suit. */
static const char variants_text[] = "knomial(radix=2):0-64K@3-inf;"
                                    "knomial(radix=3):0-64K@3-inf;"
                                    "knomial(radix=8):0-64K@8-inf;"
                                    "rhd(halvings=1):0-inf@4-inf;"
                                    "rhd(halvings=2):0-inf@8-inf;"
                                    "rhd(halvings=3):0-inf@16-inf;"
                                    "rhd(halvings=4):0-inf@32-inf;"
                                    "shm(whole=inf):1K-64K;"
                                    "shm(whole=1):1K-64K;"
                                    "shm(segment=16K):64K-inf;"
                                    "shm(segment=64K):256K-inf";

/* Variants where the model knows what shared memory takes.  shm itself goes by groups that suit
 * most numbers of ranks; others may suit this one. */
static const char inside_text[] = "shm(levels=flat):0-inf@3-64;"
                                  "shm(levels=2+4):0-2K@5-64;"
                                  "shm(levels=2+8):0-2K@9-64";

/* What messages of at least two segments are cut into, unless they go through shared memory.  A row
 * with an open window keeps it: a pipeline wants many segments.  The others get none of 16K, which
 * cost more messages than they overlap: on 4 hosts at 1 Gbit/s rhd took 2.5 times as long in them,
 * where the model had promised a gain. */
static const struct {
    size_t bytes;
    int window;
    bool is_for_open;
} segments[] = {{(size_t)16 << 10, 4, true},   {(size_t)64 << 10, 4, false},
                {(size_t)256 << 10, 4, false}, {(size_t)1 << 20, 2, false},
                {(size_t)1 << 20, 4, false},   {(size_t)4 << 20, 2, false}};

bool
ar_choice_equals(const struct ar_choice *a, const struct ar_choice *b)
{
    char x[AR_CHOICE_TEXT], y[AR_CHOICE_TEXT];
    return a->kind == b->kind && a->algorithm == b->algorithm &&
           a->params.segment_bytes == b->params.segment_bytes && /* mostly this tells */
           strcmp(ar_choice_print(a, x, sizeof x), ar_choice_print(b, y, sizeof y)) == 0;
}

bool
ar_candidate_fits(const struct ar_candidate *c, size_t bytes)
{
    return c->bytes_min <= bytes && bytes <= c->bytes_max;
}

static size_t
find(const struct ar_candidate_list *list, const struct ar_choice *choice)
{
    size_t i = 0;
    while (i < list->n && !ar_choice_equals(&list->of[i].choice, choice))
        i++;
    return i;
}

/* The first candidate with the algorithm of the choice; list->n where there is none. */
static size_t
find_root(const struct ar_candidate_list *list, const struct ar_choice *choice)
{
    size_t i = 0;
    while (i < list->n && (list->of[i].choice.kind != choice->kind ||
                           list->of[i].choice.algorithm != choice->algorithm))
        i++;
    return i;
}

/* Unless it is there. */
static int
append(struct ar_candidate_list *list, const struct ar_candidate *candidate)
{
    if (find(list, &candidate->choice) < list->n)
        return AR_OK;
    struct ar_candidate *const of = ar_grow(list->of, list->n + 1, &list->room, sizeof *of);
    if (!of)
        return AR_ERR_MEMORY;
    list->of = of;
    of[list->n++] = *candidate;
    return AR_OK;
}

int
ar_candidates_add(struct ar_candidate_list *list, size_t *i, const struct ar_choice *choice)
{
    const size_t root = find_root(list, choice);
    const struct ar_candidate candidate = {*choice, root, root == list->n, true, 0, SIZE_MAX};
    const int error = append(list, &candidate);
    if (!error)
        *i = find(list, choice);
    return error;
}

/* What a list is made for. */
struct making {
    struct ar_candidate_list *list;
    const struct ar_request *request;
    const bool *allowed;
};

static bool
may_try(const struct making *m, const struct ar_candidate *c)
{
    return (m->request->bytes == SIZE_MAX || ar_candidate_fits(c, m->request->bytes)) &&
           (c->choice.kind == AR_CHOICE_NATIVE ||
            ar_auto_may_select(&c->choice, m->request, m->allowed));
}

/* Appends the clauses of a text as roots or as variants of the roots that are there. */
static int
append_clauses(const struct making *m, const char *text, bool are_roots, bool are_usual)
{
    const size_t ranks = (size_t)m->request->nranks;
    const struct ar_condition always = {0, SIZE_MAX, 0, SIZE_MAX};
    struct ar_problem problem;
    struct ar_rules *rules;
    int error = ar_rules_parse(&rules, text, &problem);
    if (error)
        return AR_ERR_MEMORY;
    for (size_t i = 0; i < rules->nclauses && !error; i++) {
        const struct ar_clause *const clause = &rules->clauses[i];
        const struct ar_choice *const choice = &clause->choice;
        const struct ar_condition *const when = clause->nconditions ? clause->conditions : &always;
        const size_t root = are_roots ? m->list->n : find_root(m->list, choice);
        const struct ar_candidate c = {.choice = *choice,
                                       .root = root,
                                       .is_first = are_roots,
                                       .is_usual = are_usual,
                                       .bytes_min = when->bytes_min,
                                       .bytes_max = when->bytes_max};
        if ((are_roots || root < m->list->n) && when->ranks_min <= ranks &&
            ranks <= when->ranks_max && may_try(m, &c))
            error = append(m->list, &c);
    }
    ar_rules_destroy(rules);
    return error;
}

/* Appends a choice as a root, for messages of two short segments and longer ones if it is a
 * pipeline.  An algorithm of two levels stands for what levels_text says. */
static int
append_first(const struct making *m, const struct ar_choice *choice, bool is_usual)
{
    const struct ar_request *const r = m->request;
    const size_t root = find_root(m->list, choice);
    const bool is_pipeline =
        choice->kind == AR_CHOICE_ALGORITHM && choice->params.window == AR_WINDOW_AUTO;
    const size_t least = root < m->list->n ? 2 * choice->params.segment_bytes
                         : is_pipeline     ? 2 * segments[0].bytes
                                           : 0;
    const struct ar_candidate c = {*choice, root, true, is_usual, least, SIZE_MAX};
    if (!may_try(m, &c) ||
        (is_pipeline && r->nranks == 2)) /* both send all that they have anyway */
        return AR_OK;
    if (choice->kind != AR_CHOICE_ALGORITHM || !(choice->algorithm->takes & AR_TAKES_INTER))
        return append(m->list, &c);
    if (r->nodes <= 1 || r->nodes == (size_t)r->nranks)
        return AR_OK;
    const int error = append_clauses(m, levels_text, true, is_usual);
    return error || (size_t)r->nranks < GROUPED_RANKS * r->nodes
               ? error
               : append_clauses(m, grouped_text, true, is_usual);
}

static int
append_roots(const struct making *m)
{
    struct ar_problem problem;
    struct ar_rules *usual;
    if (ar_rules_parse(&usual, usual_text, &problem))
        return AR_ERR_MEMORY;
    int error = AR_OK;
    for (size_t i = 0; i < usual->nclauses && !error; i++)
        if (ar_clause_matches(&usual->clauses[i], m->request))
            error = append_first(m, &usual->clauses[i].choice, true);
    ar_rules_destroy(usual);
    if (!error && m->request->is_scattered)
        error = append_clauses(m, scattered_text, true, true);
    for (size_t i = 0; i < ar_algorithm_count() && !error; i++) {
        const struct ar_choice choice = ar_choice_default(ar_algorithm_at(i));
        if (find_root(m->list, &choice) == m->list->n)
            error = append_first(m, &choice, false);
    }
    return error;
}

static int
append_segments(const struct making *m, size_t root)
{
    const struct ar_candidate uncut = m->list->of[root];
    int error = AR_OK;
    if (uncut.root != root || uncut.choice.kind != AR_CHOICE_ALGORITHM ||
        uncut.choice.algorithm->shares_memory)
        return AR_OK;
    for (size_t k = 0; k < sizeof segments / sizeof segments[0] && !error; k++) {
        const bool is_open = uncut.choice.params.window == AR_WINDOW_AUTO;
        struct ar_candidate cut = uncut;
        if (segments[k].is_for_open && !is_open)
            continue;
        cut.choice.params.segment_bytes = segments[k].bytes;
        if (!is_open)
            cut.choice.params.window = segments[k].window;
        cut.is_first = false;
        cut.bytes_min = 2 * segments[k].bytes;
        cut.bytes_max = SIZE_MAX;
        if (may_try(m, &cut))
            error = append(m->list, &cut);
    }
    return error;
}

int
ar_candidates_init(struct ar_candidate_list *list, const struct ar_request *request,
                   const bool *allowed)
{
    const struct making m = {list, request, allowed};
    *list = (struct ar_candidate_list){NULL, 0, 0};
    int error = append_roots(&m);
    const size_t nroots = list->n;
    if (!error)
        error = append_clauses(&m, variants_text, false, true);
    if (!error && request->knows_lines)
        error = append_clauses(&m, inside_text, false, true);
    for (size_t i = 0; i < nroots && !error; i++)
        error = append_segments(&m, i);
    if (error)
        ar_candidates_fini(list);
    return error;
}

void
ar_candidates_fini(struct ar_candidate_list *list)
{
    free(list->of);
    *list = (struct ar_candidate_list){NULL, 0, 0};
}
