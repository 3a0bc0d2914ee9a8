#include "tuning/advise.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/nodes.h"
#include "config/files.h"
#include "model/formula.h"

/* Between these sizes times are taken to be straight lines.  Twice the length of most segments is
 * among them. */
static const size_t sizes[] = {8,       64,      128,     256,      512,       1024,      2048,
                               4096,    8192,    32768,   65536,    131072,    262144,    524288,
                               1048576, 2097152, 8388608, 33554432, 134217728, 1073741824};
enum { SIZES = sizeof sizes / sizeof sizes[0] };
_Static_assert(SIZES <= AR_ADVICE_MAX, "an entry for each size");

/* Rows in which ranks do not send and receive in each round take about so many times as long as
 * their messages, since ranks wait for each other. */
#define IRREGULAR 1.3

/* An algorithm replaces that of the size before only if it is faster by this factor. */
#define WORTH_A_CHANGE 0.98

/* Longer segments must be faster by this factor to replace shorter ones. */
#define WORTH_LONGER 0.97

#define ELEMENT_BYTES ((size_t)8)

/* So many steps of schedules are added up for a formula.  Where one rank alone has more, as it has
 * with a ring of thousands and two steps in each round, the row's card stands for it. */
#define STEPS_MOST ((size_t)1 << 10)

/* Elements for each rank of a schedule that stands for any length: no block is empty. */
#define ELEMENTS_PER_RANK 16

/* --- the times --- */

struct search {
    const struct ar_advice_request *request;
    struct ar_candidate_list list;
    struct ar_network network;
    struct ar_node_index index;
    struct ar_formula *formulas; /* of each candidate, but for those that differ from an earlier one
                                    only in their segments.  Owned, as what is in them */
    struct ar_moment *times; /* of each candidate at size after size, at INFINITY where it is none;
                                owned */
};

int
ar_advise_candidates(struct ar_candidate_list *list, const struct ar_advice_request *request,
                     size_t bytes)
{
    const size_t nodes = (size_t)ar_nodes_count(request->node_of, request->nranks);
    const struct ar_machine *const m = request->machine;
    const bool is_known = m->ndomains > 0 && request->nranks <= m->ranks_per_node;
    const bool shares_memory = request->shares_memory && nodes == 1 && is_known;
    const struct ar_request call = {.bytes = bytes,
                                    .nranks = request->nranks,
                                    .commutative = !request->in_order,
                                    .nodes = nodes,
                                    .shares_memory = shares_memory,
                                    .knows_lines = shares_memory,
                                    .is_scattered =
                                        !ar_nodes_are_blocks(request->node_of, request->nranks)};
    return ar_candidates_init(list, &call, request->allowed);
}

static struct ar_moment *
time_at(const struct search *s, size_t i, int size)
{
    return &s->times[(size_t)size * s->list.n + i];
}

/* The choice whose schedules are those of a segment of candidate i. */
static struct ar_choice
uncut(const struct search *s, size_t i)
{
    struct ar_choice choice = s->list.of[i].choice;
    choice.params.segment_bytes = choice.params.segments = 0;
    choice.params.window = choice.algorithm->defaults.window;
    return choice;
}

/* The first candidate with the schedules of candidate i. */
static size_t
find_alike(const struct search *s, size_t i)
{
    const struct ar_choice choice = uncut(s, i);
    size_t k = s->list.of[i].root;
    for (; k < i; k++) {
        const bool is_row = s->list.of[k].choice.algorithm == choice.algorithm;
        const struct ar_choice other = is_row ? uncut(s, k) : choice;
        if (is_row && ar_choice_equals(&other, &choice))
            break;
    }
    return k;
}

/* Makes the formula of candidate i. */
static int
make_formula(struct search *s, size_t i)
{
    const struct ar_advice_request *const r = s->request;
    struct ar_formula_levels levels;
    struct ar_choice choice = uncut(s, i);
    choice.params.node_of = r->node_of;
    choice.params.node_index = &s->index;
    const size_t count = (size_t)r->nranks * ELEMENTS_PER_RANK;
    if (ar_formula_is_long(&choice, r->nranks, (double)(count * ELEMENT_BYTES), STEPS_MOST / 2)) {
        ar_formula_init_card(&s->formulas[i], &choice, &s->network);
        return AR_OK;
    }
    int error = ar_formula_group(&levels, &choice, r->machine, &s->index, r->nranks);
    if (!error)
        error = ar_formula_init(&s->formulas[i], &choice, &s->network, count, STEPS_MOST);
    ar_formula_ungroup(&levels);
    return error;
}

/* What candidate i takes, whose formula is f. */
static struct ar_moment
time_by(const struct search *s, size_t i, const struct ar_formula *f, size_t bytes)
{
    const struct ar_advice_request *const r = s->request;
    struct ar_choice choice = s->list.of[i].choice;
    choice.params.node_of = r->node_of;
    choice.params.node_index = &s->index;
    const size_t count = bytes / ELEMENT_BYTES;
    const size_t segment = ar_algorithm_segment(choice.algorithm, &choice.params, r->nranks, count,
                                                ELEMENT_BYTES, r->scratch_bytes);
    const size_t nsegments = (count + segment - 1) / segment;
    const int window = ar_algorithm_window(choice.algorithm, &choice.params, r->nranks);
    const struct ar_formula_time time =
        ar_formula_at(f, r->machine, (double)(segment * ELEMENT_BYTES), IRREGULAR);
    return ar_moment_follow(time.segment, time.busy, nsegments,
                            (size_t)window < nsegments ? window : (int)nsegments);
}

/* In shared memory accesses are simulated. */
static int
predict(struct ar_moment *end, const struct search *s, size_t i, size_t bytes)
{
    struct ar_choice choice = s->list.of[i].choice;
    choice.params.node_of = s->request->node_of;
    const struct ar_question question = {.machine = s->request->machine,
                                         .choice = &choice,
                                         .nranks = s->request->nranks,
                                         .count = bytes / ELEMENT_BYTES,
                                         .element_bytes = ELEMENT_BYTES,
                                         .scratch_bytes = s->request->scratch_bytes};
    struct ar_prediction prediction;
    const int error = ar_predict(&prediction, &question);
    *end = prediction.end;
    return error;
}

/* Has one rank so many steps that nobody would want to wait for it? */
static bool
takes_too_many_steps(const struct search *s, const struct ar_candidate *candidate)
{
    const struct ar_algorithm *const row = candidate->choice.algorithm;
    return row && row->scratch == AR_SCRATCH_RANKS && !row->shares_memory &&
           (size_t)s->request->nranks > STEPS_MOST;
}

/* Native has no formula. */
static int
find_times(struct search *s, size_t i)
{
    const struct ar_candidate *const candidate = &s->list.of[i];
    const bool is_row =
        candidate->choice.kind == AR_CHOICE_ALGORITHM && !takes_too_many_steps(s, candidate);
    const bool is_memory = is_row && candidate->choice.algorithm->shares_memory;
    const size_t alike = is_row && !is_memory ? find_alike(s, i) : i;
    int error = is_row && !is_memory && alike == i ? make_formula(s, i) : AR_OK;
    for (int size = 0; size < SIZES && !error; size++) {
        struct ar_moment *const time = time_at(s, i, size);
        *time = (struct ar_moment){.at = INFINITY};
        if (!is_row || !ar_candidate_fits(candidate, sizes[size]))
            continue;
        if (is_memory)
            error = predict(time, s, i, sizes[size]);
        else
            *time = time_by(s, i, &s->formulas[alike], sizes[size]);
    }
    return error;
}

/* --- what is best --- */

/* The best at a size, or the one before it where that is hardly slower. */
static size_t
winner(const struct search *s, int size, size_t before)
{
    const struct ar_candidate *const of = s->list.of;
    const bool stays = before < s->list.n && ar_candidate_fits(&of[before], sizes[size]);
    size_t best = stays ? before : s->list.n;
    double time = stays ? time_at(s, before, size)->at * WORTH_A_CHANGE : INFINITY;
    for (size_t i = 0; i < s->list.n; i++) {
        const size_t than = best < s->list.n ? of[best].choice.params.segment_bytes : 0;
        const bool is_longer =
            than > 0 && of[i].root == of[best].root && of[i].choice.params.segment_bytes > than;
        if (time_at(s, i, size)->at < time * (is_longer ? WORTH_LONGER : 1)) {
            best = i;
            time = time_at(s, i, size)->at;
        }
    }
    return best;
}

/* Bytes up to which the one candidate is faster, between two sizes; a round number, unless one
 * of them is no candidate there. */
static size_t
crossing(const struct search *s, size_t one, size_t other, int size)
{
    const double lead = time_at(s, other, size - 1)->at - time_at(s, one, size - 1)->at;
    const double lag = time_at(s, one, size)->at - time_at(s, other, size)->at;
    const double from = (double)sizes[size - 1], to = (double)sizes[size];
    double at = sqrt(from * to);
    if (lead >= 0 && lead < INFINITY && lag > 0 && lag < INFINITY)
        at = from + (to - from) * lead / (lead + lag);
    size_t unit = 1;
    while ((double)unit * 16 < at)
        unit *= 2;
    const size_t round = (size_t)(at / (double)unit) * unit;
    const size_t least = s->list.of[other].bytes_min, most = s->list.of[one].bytes_max;
    return round < least ? least - 1 : round > most ? most : round;
}

/* Times that differ by less are of the same schedule under another name, or as good as that. */
#define AS_LONG 1e-6

/* Is there a proposal that takes as long as candidate i? */
static bool
has_as_long(const struct search *s, const struct ar_advice_entry *entry, size_t i, int size)
{
    const double at = time_at(s, i, size)->at;
    bool has = false;
    for (int k = 0; k < entry->n; k++)
        has |= fabs(entry->best[k].time.at - at) <= AS_LONG * at;
    return has;
}

/* The winner at a size, and what comes next. */
static struct ar_advice_entry
entry_of(const struct search *s, size_t first, int size)
{
    struct ar_advice_entry entry = {.bytes = SIZE_MAX, .at = sizes[size]};
    for (size_t next = first; entry.n < AR_PROPOSALS && next < s->list.n;) {
        entry.best[entry.n++] =
            (struct ar_proposal){s->list.of[next].choice, *time_at(s, next, size)};
        next = s->list.n;
        for (size_t i = 0; i < s->list.n; i++)
            if (time_at(s, i, size)->at < INFINITY && !has_as_long(s, &entry, i, size) &&
                (next == s->list.n || time_at(s, i, size)->at < time_at(s, next, size)->at))
                next = i;
    }
    return entry;
}

static bool
proposes_the_same(const struct ar_advice_entry *a, const struct ar_advice_entry *b)
{
    bool is_same = a->n == b->n;
    for (int i = 0; i < a->n && is_same; i++)
        is_same = ar_choice_equals(&a->best[i].choice, &b->best[i].choice);
    return is_same;
}

static void
conclude(struct ar_advice *advice, const struct search *s)
{
    size_t last = s->list.n;
    advice->n = 0;
    for (int size = 0; size < SIZES; size++) {
        const size_t i = winner(s, size, last);
        if (i == s->list.n)
            return;
        struct ar_advice_entry entry = entry_of(s, i, size);
        struct ar_advice_entry *const next = &advice->entries[advice->n];
        entry.is_new_best = i != last;
        if (advice->n == 0 || !proposes_the_same(next - 1, &entry)) {
            if (advice->n > 0)
                next[-1].bytes = crossing(s, last, i, size);
            *next = entry;
            advice->n++;
        }
        last = i;
    }
}

static void
search_fini(struct search *s)
{
    for (size_t i = 0; s->formulas && i < s->list.n; i++)
        ar_formula_fini(&s->formulas[i]);
    free(s->formulas);
    free(s->times);
    ar_network_fini(&s->network);
    ar_node_index_fini(&s->index);
    ar_candidates_fini(&s->list);
}

int
ar_advise(struct ar_advice *advice, const struct ar_advice_request *request)
{
    struct search s = {.request = request};
    int error = ar_advise_candidates(&s.list, request, SIZE_MAX);
    if (!error)
        error = ar_node_index_init(&s.index, request->node_of, request->nranks);
    if (!error)
        error = ar_network_init(&s.network, request->machine, request->node_of, request->nranks);
    if (!error) {
        s.formulas = calloc(s.list.n + 1, sizeof *s.formulas);
        s.times = malloc((s.list.n * SIZES + 1) * sizeof *s.times);
        error = s.formulas && s.times ? AR_OK : AR_ERR_MEMORY;
    }
    for (size_t i = 0; i < s.list.n && !error; i++)
        error = find_times(&s, i);
    if (!error)
        conclude(advice, &s);
    advice->steps = 0;
    for (size_t i = 0; i < s.list.n && !error; i++)
        advice->steps += s.formulas[i].steps;
    search_fini(&s);
    return error;
}

/* Clauses of what stands at this place, 0 for the best. */
static void
write_place(FILE *out, const struct ar_advice *advice, int place)
{
    const struct ar_request any = {.nranks = 0};
    const struct ar_advice_entry *const end = advice->entries + advice->n;
    size_t from = 0;
    for (const struct ar_advice_entry *e = advice->entries; e < end; from = e->bytes + 1, e++) {
        const struct ar_choice *const choice = &e->best[place].choice;
        const bool is_there = place < e->n;
        while (is_there && e + 1 < end && place < e[1].n &&
               ar_choice_equals(&e[1].best[place].choice, choice))
            e++;
        if (is_there && ftell(out) > 0)
            fputs(";", out);
        if (is_there)
            ar_rules_clause_write(out, choice, from, e->bytes, &any, 0);
    }
}

char *
ar_advice_rules(const struct ar_advice *advice, int first, int last)
{
    char *text = NULL;
    size_t length;
    FILE *const out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    for (int place = first; place <= last; place++)
        write_place(out, advice, place);
    const int failed = ferror(out);
    if (fclose(out) || failed) {
        free(text);
        return NULL;
    }
    return text;
}
