/* How the proof works.  Every element of every buffer holds a value: which
 * element of the vector it is about, and an expression over ranks.  Expressions
 * are hash-consed (the same operands give the same number), so that "the same
 * expression" is "the same number".  The ranks run their schedules with every
 * send synchronous: a rank leaves a round when all its messages have met their
 * counterpart.  Rounds only ever wait, and matching is by order alone, so one
 * run stands for every interleaving: where this one ends, all end, and alike.
 *
 * The checker walks and pairs by itself, without schedule/walk.h: it could not prove code that it
 * shared with the executor and the model.
 */
#include "schedule/checker.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/expressions.h"
#include "schedule/flights.h"
#include "schedule/folding.h"
#include "schedule/form.h"
#include "schedule/grow.h"
#include "schedule/queues.h"

#define UNDEFINED AR_EXPRESSION_NONE
#define NO_STEP   AR_NO_STEP

struct value {
    uint32_t element;
    uint32_t expression; /* UNDEFINED: none */
};

struct rank_state {
    const struct ar_schedule *schedule;
    struct value *in, *out, *tmp;
    struct value **landing; /* of each step: what a recv_reduce received and has not folded yet */
    size_t round;
    size_t begin;   /* the first step of the round */
    size_t *next;   /* of each step that waits: the next of its queue, or NO_STEP */
    size_t waiting; /* messages of the round that have not met */
    size_t stuck;   /* at the end: the first step that waits forever; NO_STEP: none */
};

struct check {
    struct ar_verdict *verdict;
    const struct ar_schedule *schedules;
    int nranks;
    bool in_place;
    int error;
    const unsigned char *const *folding; /* NULL: every recv_reduce combines in the local part */
    struct rank_state *ranks;
    struct ar_expressions expressions;
    uint32_t *expected; /* of rank 0's elements, when IN and OUT were apart; NULL: not known */
    struct ar_queues queues;
    struct ar_flight *flights; /* of the round that is entered */
    size_t flights_room;
    int *ready; /* ranks whose round is complete */
    int nready;
};

/* Rounds and steps are counted from 1, as figures do. */
static void __attribute__((format(printf, 4, 5)))
refute(struct check *c, int rank, size_t step, const char *format, ...)
{
    if (c->error)
        return;
    c->error = AR_ERR_PROOF;
    c->verdict->rank = rank;
    c->verdict->step = step;
    char *const text = c->verdict->text;
    int n = snprintf(text, AR_VERDICT_TEXT, "rank %d", rank);
    if (step != NO_STEP) {
        const struct ar_schedule *const s = c->schedules + rank;
        size_t round = 0;
        while (round < s->nrounds && s->round_end[round] <= step)
            round++;
        n += snprintf(text + n, AR_VERDICT_TEXT - (size_t)n, " round %zu step %zu", round + 1,
                      step - (round ? s->round_end[round - 1] : 0) + 1);
    }
    n += snprintf(text + n, AR_VERDICT_TEXT - (size_t)n, ": ");
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, AR_VERDICT_TEXT - (size_t)n, format, args);
    va_end(args);
}

static void
out_of_memory(struct check *c)
{
    if (!c->error)
        c->error = AR_ERR_MEMORY;
}

/* --- regions --- */

static struct value *
storage(struct rank_state *r, struct ar_region region)
{
    struct value *base[] = {[AR_IN] = r->in, [AR_OUT] = r->out, [AR_TMP] = r->tmp};
    return base[region.buffer] + region.offset;
}

static bool
overlap(struct rank_state *r, struct ar_region x, struct ar_region y)
{
    const struct value *xs = storage(r, x), *ys = storage(r, y);
    return x.length > 0 && y.length > 0 && xs < ys + y.length && ys < xs + x.length;
}

/* The same elements, or none in common? */
static bool
same_or_apart(struct rank_state *r, struct ar_region x, struct ar_region y)
{
    return storage(r, x) == storage(r, y) || !overlap(r, x, y);
}

static bool
all_defined(const struct value *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v[i].expression == UNDEFINED)
            return false;
    return true;
}

/* Does step i combine what it receives as it comes? */
static bool
folds_at_once(const struct check *c, int rank, size_t i)
{
    return c->folding && c->ranks[rank].schedule->steps[i].kind == AR_RECV_REDUCE &&
           c->folding[rank][i] >= (c->in_place ? AR_FOLD_AT_ONCE : AR_FOLD_UNLESS_IN_PLACE);
}

/* --- the local part of a round --- */

/* dst = left op right, element by element; dst may be either. */
static void
fold(struct check *c, int rank, size_t step, struct value *dst, const struct value *left,
     const struct value *right, size_t n)
{
    for (size_t i = 0; i < n && !c->error; i++) {
        if (left[i].expression == UNDEFINED || right[i].expression == UNDEFINED)
            refute(c, rank, step, "combines something undefined");
        else if (left[i].element != right[i].element)
            refute(c, rank, step, "combines element %u with element %u", left[i].element,
                   right[i].element);
        else
            dst[i] = (struct value){left[i].element,
                                    ar_expressions_combine(&c->expressions, left[i].expression,
                                                           right[i].expression, rank, step)};
        if (!c->error && dst[i].expression == UNDEFINED)
            out_of_memory(c);
    }
}

static void
undefine(struct value *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i].expression = UNDEFINED;
}

static void
run_copy(struct check *c, int rank, size_t i, const struct ar_step *step)
{
    struct rank_state *r = &c->ranks[rank];
    if (!same_or_apart(r, step->dst, step->a))
        refute(c, rank, i, "copies between regions that overlap");
    else if (!all_defined(storage(r, step->a), step->a.length))
        refute(c, rank, i, "copies something undefined");
    else
        memmove(storage(r, step->dst), storage(r, step->a), step->a.length * sizeof(struct value));
}

static void
run_reduce(struct check *c, int rank, size_t i, const struct ar_step *step)
{
    struct rank_state *r = &c->ranks[rank];
    if (!same_or_apart(r, step->dst, step->a) || !same_or_apart(r, step->dst, step->b) ||
        overlap(r, step->a, step->b)) {
        refute(c, rank, i, "reduces regions that overlap");
        return;
    }
    struct value *dst = storage(r, step->dst), *b = storage(r, step->b);
    bool spoils_b = dst == storage(r, step->a);
    if (spoils_b && step->b.buffer == AR_IN)
        refute(c, rank, i, "reduces into its first operand with IN as the second");
    fold(c, rank, i, dst, storage(r, step->a), b, step->dst.length);
    if (spoils_b)
        undefine(b, step->b.length);
}

static void
run_fold(struct check *c, int rank, size_t i, const struct ar_step *step,
         const struct value *received)
{
    struct rank_state *r = &c->ranks[rank];
    const struct value *local = storage(r, step->a);
    if (!same_or_apart(r, step->dst, step->a))
        refute(c, rank, i, "folds between regions that overlap");
    else if (step->order == AR_LOCAL_FIRST)
        fold(c, rank, i, storage(r, step->dst), local, received, step->dst.length);
    else
        fold(c, rank, i, storage(r, step->dst), received, local, step->dst.length);
    free(r->landing[i]);
    r->landing[i] = NULL;
}

static void
end_round(struct check *c, int rank)
{
    struct rank_state *r = &c->ranks[rank];
    const struct ar_schedule *s = r->schedule;
    for (; r->begin < s->round_end[r->round] && !c->error; r->begin++) {
        const struct ar_step *step = &s->steps[r->begin];
        if (step->kind == AR_COPY)
            run_copy(c, rank, r->begin, step);
        else if (step->kind == AR_REDUCE)
            run_reduce(c, rank, r->begin, step);
        else if (step->kind == AR_RECV_REDUCE && !folds_at_once(c, rank, r->begin))
            run_fold(c, rank, r->begin, step, r->landing[r->begin]);
    }
    r->round++;
}

/* --- messages --- */

static void
meet(struct check *c, int rank)
{
    if (--c->ranks[rank].waiting == 0)
        c->ready[c->nready++] = rank;
}

static void
deliver(struct check *c, int from, size_t send, int to, size_t recv)
{
    struct rank_state *source = &c->ranks[from], *target = &c->ranks[to];
    const struct ar_step *out = &source->schedule->steps[send];
    const struct ar_step *in = &target->schedule->steps[recv];
    size_t n = out->a.length;
    if (in->dst.length != n) {
        refute(c, to, recv, "receives %zu elements where rank %d sends %zu", in->dst.length, from,
               n);
        return;
    }
    const struct value *data = storage(source, out->a);
    if (!all_defined(data, n))
        refute(c, from, send, "sends something undefined");
    struct value *place = storage(target, in->dst);
    const bool folds = folds_at_once(c, to, recv);
    if (in->kind == AR_RECV_REDUCE && !folds)
        target->landing[recv] = place = malloc(n * sizeof *place);
    if (!place) {
        out_of_memory(c);
        return;
    }
    if (folds)
        run_fold(c, to, recv, in, data);
    else
        memcpy(place, data, n * sizeof *place);
    meet(c, from);
    meet(c, to);
}

/* Step i of rank meets the first that waits for it, or waits: messages match in order.  What waits
 * belongs to the round that its rank is in, since a round ends when all its messages have met. */
static void
post(struct check *c, int rank, size_t i)
{
    const struct ar_step *const step = &c->ranks[rank].schedule->steps[i];
    const bool is_send = step->kind == AR_SEND;
    struct ar_queue *q = ar_queues_find(&c->queues, step->peer, rank, !is_send);
    if (q && q->head != NO_STEP) {
        const size_t j = q->head;
        q->head = c->ranks[step->peer].next[j];
        if (is_send)
            deliver(c, rank, i, step->peer, j);
        else
            deliver(c, step->peer, j, rank, i);
        return;
    }
    q = ar_queues_find(&c->queues, rank, step->peer, is_send);
    if (q)
        ar_queue_append(q, c->ranks[rank].next, i);
    else
        out_of_memory(c);
}

static bool
is_message(const struct ar_step *step)
{
    return step->kind == AR_SEND || step->kind == AR_RECV || step->kind == AR_RECV_REDUCE;
}

/* Notes what the steps of a round use while messages are in flight. */
static size_t
list_flights(struct check *c, int rank, size_t first, size_t end)
{
    struct rank_state *const r = &c->ranks[rank];
    size_t n = 0;
    for (size_t i = first; i < end; i++) {
        const struct ar_step *const step = &r->schedule->steps[i];
        const bool folds = folds_at_once(c, rank, i);
        const struct ar_region uses[] = {step->dst, step->a};
        const bool is_used[] = {step->kind == AR_RECV || folds,
                                step->kind == AR_SEND ||
                                    (folds && storage(r, step->a) != storage(r, step->dst))};
        struct ar_flight *const flights =
            ar_grow(c->flights, n + 2, &c->flights_room, sizeof *flights);
        if (!flights) {
            out_of_memory(c);
            return 0;
        }
        c->flights = flights;
        for (int k = 0; k < 2; k++)
            if (is_used[k] && uses[k].length > 0)
                flights[n++] = (struct ar_flight){storage(r, uses[k]),
                                                  storage(r, uses[k]) + uses[k].length, k == 0, i};
    }
    return n;
}

/* No region that a message writes is used by another. */
static void
check_hazards(struct check *c, int rank, size_t first, size_t end)
{
    size_t writer, other;
    const size_t n = list_flights(c, rank, first, end); /* which may move them */
    if (ar_flights_collide(c->flights, n, &writer, &other))
        refute(c, rank, writer, "receives into what step %zu of the round uses", other - first + 1);
}

static void
enter_round(struct check *c, int rank)
{
    struct rank_state *r = &c->ranks[rank];
    const struct ar_schedule *s = r->schedule;
    if (r->round == s->nrounds)
        return;
    const size_t end = s->round_end[r->round];
    check_hazards(c, rank, r->begin, end);
    r->waiting = 1; /* this function itself, so that the round ends once */
    for (size_t i = r->begin; i < end; i++)
        r->waiting += is_message(&s->steps[i]);
    for (size_t i = r->begin; i < end && !c->error; i++)
        if (is_message(&s->steps[i]))
            post(c, rank, i);
    if (!c->error)
        meet(c, rank);
}

/* Finds out, when nothing goes on, which steps wait. */
static void
find_stuck(struct check *c)
{
    for (int rank = 0; rank < c->nranks; rank++)
        c->ranks[rank].stuck = NO_STEP;
    for (size_t i = 0; i < c->queues.slots; i++) {
        const struct ar_queue *const q = &c->queues.of[i];
        if (q->rank >= 0 && q->head < c->ranks[q->rank].stuck)
            c->ranks[q->rank].stuck = q->head;
    }
}

#define HOPS_TOLD 4

/* Who waits for whom, from this rank on, until one has ended or comes again. */
static void
tell_waits(struct check *c, int rank)
{
    char chain[HOPS_TOLD * 40] = "";
    const size_t first = c->ranks[rank].stuck;
    const struct ar_step *const step = &c->schedules[rank].steps[first];
    size_t length = 0;
    int at = step->peer;
    for (int hop = 0; at != rank && hop < c->nranks && c->ranks[at].stuck != NO_STEP; hop++) {
        at = c->schedules[at].steps[c->ranks[at].stuck].peer;
        if (hop < HOPS_TOLD)
            length += (size_t)snprintf(chain + length, sizeof chain - length,
                                       ", which waits for rank %d", at);
    }
    refute(c, rank, first, "waits forever to %s rank %d%s%s",
           step->kind == AR_SEND ? "send to" : "receive from", step->peer, chain,
           c->ranks[at].stuck == NO_STEP ? ", which has ended: a message without counterpart"
                                         : ": a deadlock");
}

static void
run(struct check *c)
{
    for (int rank = 0; rank < c->nranks && !c->error; rank++)
        enter_round(c, rank);
    while (c->nready > 0 && !c->error) {
        int rank = c->ready[--c->nready];
        end_round(c, rank);
        if (!c->error)
            enter_round(c, rank);
    }
    if (!c->error)
        find_stuck(c);
    for (int rank = 0; rank < c->nranks && !c->error; rank++)
        if (c->ranks[rank].stuck != NO_STEP)
            tell_waits(c, rank);
}

/* --- the result --- */

/* Every rank stands once in this rank's element i. */
static void
count_ranks(struct check *c, int rank, size_t i)
{
    struct ar_miscount miscount;
    const uint32_t expression = c->ranks[rank].out[i].expression;
    if (ar_expression_count(&c->expressions, expression, &miscount)) {
        out_of_memory(c);
    } else if (miscount.rank >= 0 && miscount.is_twice) {
        const struct ar_expression at = ar_expression_of(&c->expressions, miscount.at);
        refute(c, at.rank, at.step, "combines the contribution of rank %d twice, for element %zu",
               miscount.rank, i);
    } else if (miscount.rank >= 0) {
        refute(c, rank, NO_STEP, "ends without the contribution of rank %d to element %zu",
               miscount.rank, i);
    }
}

/* Each rank's element i is combined like rank 0's, which a wrong one explains better. */
static void
compare_ranks(struct check *c, size_t i)
{
    const uint32_t expected = c->ranks[0].out[i].expression;
    for (int rank = 0; rank < c->nranks && !c->error; rank++) {
        const struct value v = c->ranks[rank].out[i];
        if (v.expression == UNDEFINED)
            refute(c, rank, NO_STEP, "leaves element %zu of OUT undefined", i);
        else if (v.element != i)
            refute(c, rank, NO_STEP, "ends with element %u instead of element %zu", v.element, i);
        else if (v.expression != expected) {
            count_ranks(c, 0, i);
            count_ranks(c, rank, i);
            refute(c, rank, NO_STEP, "combines element %zu differently from rank 0", i);
        }
    }
    if (!c->error && c->expected && expected != c->expected[i])
        refute(c, 0, NO_STEP, "combines element %zu in place differently from apart", i);
}

static void
judge(struct check *c)
{
    struct ar_verdict *const v = c->verdict;
    const struct value *const out = c->ranks[0].out;
    for (size_t i = 0; i < c->schedules->count && !c->error; i++) {
        compare_ranks(c, i);
        if (!c->error && (i == 0 || out[i].expression != out[i - 1].expression))
            count_ranks(c, 0, i);
        if (c->error)
            return;
        const struct ar_expression x = ar_expression_of(&c->expressions, out[i].expression);
        v->in_rank_order &= x.ordered;
        v->alike &= out[i].expression == out[0].expression;
        v->depth = x.depth > v->depth ? x.depth : v->depth;
        v->expression = i == 0 ? x.hash : v->expression;
        v->expressions = v->expressions * UINT64_C(0x9e3779b97f4a7c15) + x.hash;
    }
}

/* Everything that the proof takes for granted. */
static void
check_form(struct check *c)
{
    for (int rank = 0; rank < c->nranks && !c->error; rank++) {
        size_t step = NO_STEP;
        const char *const flaw =
            ar_schedule_find_flaw(&c->schedules[rank], rank, c->nranks, c->schedules->count, &step);
        if (flaw)
            refute(c, rank, step, "%s", flaw);
    }
}

/* --- set-up --- */

static bool
start_rank(struct check *c, int rank, const struct ar_schedule *s)
{
    struct rank_state *r = &c->ranks[rank];
    size_t n = s->count;
    r->schedule = s;
    r->in = malloc((2 * n + s->tmp_length + 1) * sizeof *r->in);
    r->landing = calloc(s->nsteps + 1, sizeof(struct value *));
    r->next = malloc((s->nsteps + 1) * sizeof *r->next);
    if (!r->in || !r->landing || !r->next)
        return false;
    r->out = c->in_place ? r->in : r->in + n;
    r->tmp = r->in + 2 * n;
    undefine(r->in, 2 * n + s->tmp_length);
    for (size_t i = 0; i < n; i++)
        r->in[i] = (struct value){(uint32_t)i, (uint32_t)rank};
    return true;
}

static bool
start(struct check *c)
{
    const size_t n = (uint32_t)c->nranks; /* gcc -flto takes size_t for huge */
    c->ranks = calloc(n, sizeof *c->ranks);
    c->ready = malloc(n * sizeof *c->ready);
    if (!c->ranks || !c->ready)
        return false;
    for (int rank = 0; rank < c->nranks; rank++)
        if (!start_rank(c, rank, &c->schedules[rank]))
            return false;
    return true;
}

/* Frees what belongs to one run. */
static void
stop(struct check *c)
{
    for (int rank = 0; c->ranks && rank < c->nranks; rank++) {
        struct rank_state *r = &c->ranks[rank];
        for (size_t i = 0; r->landing && i < r->schedule->nsteps; i++)
            free(r->landing[i]);
        free(r->landing);
        free(r->next);
        free(r->in);
    }
    free(c->ranks);
    free(c->ready);
    ar_queues_fini(&c->queues);
    c->ranks = NULL;
    c->ready = NULL;
    c->nready = 0;
}

static void
prove(struct check *c, bool in_place)
{
    struct ar_verdict *const v = c->verdict;
    *v = (struct ar_verdict){.in_rank_order = true, .alike = true};
    c->in_place = in_place;
    check_form(c);
    if (!c->error && !start(c))
        out_of_memory(c);
    if (!c->error)
        run(c);
    if (!c->error)
        judge(c);
}

static int
finish(struct check *c)
{
    stop(c);
    ar_expressions_fini(&c->expressions);
    free(c->expected);
    free(c->flights);
    return c->error;
}

int
ar_check_folded(struct ar_verdict *verdict, const struct ar_schedule *schedules,
                const unsigned char *const *folding, int nranks, bool in_place)
{
    struct check c = {.verdict = verdict,
                      .schedules = schedules,
                      .nranks = nranks,
                      .folding = folding,
                      .expressions.nranks = nranks};
    prove(&c, in_place);
    return finish(&c);
}

int
ar_check(struct ar_verdict *verdict, const struct ar_schedule *schedules, int nranks, bool in_place)
{
    return ar_check_folded(verdict, schedules, NULL, nranks, in_place);
}

int
ar_check_both(struct ar_verdict *verdict, const struct ar_schedule *schedules, int nranks)
{
    struct check c = {
        .verdict = verdict, .schedules = schedules, .nranks = nranks, .expressions.nranks = nranks};
    prove(&c, false);
    if (!c.error) {
        c.expected = malloc((schedules->count + 1) * sizeof *c.expected);
        if (!c.expected)
            out_of_memory(&c);
        for (size_t i = 0; c.expected && i < schedules->count; i++)
            c.expected[i] = c.ranks[0].out[i].expression;
    }
    stop(&c);
    if (!c.error)
        prove(&c, true);
    return finish(&c);
}
