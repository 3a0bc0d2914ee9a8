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

#include "schedule/folding.h"

#define UNDEFINED UINT32_MAX
#define NONE      UINT32_MAX

struct value {
    uint32_t element;
    uint32_t expression; /* < nranks: that rank's own; UNDEFINED; else a node */
};

struct node {
    uint32_t left, right;
    uint32_t leaves; /* saturating */
    uint32_t first, last;
    bool ordered; /* leaves are first, first+1, ..., last */
};

struct rank_state {
    const struct ar_schedule *schedule;
    struct value *in, *out, *tmp;
    struct value **landing; /* of each step: what a recv_reduce received and has not folded yet */
    size_t round;
    size_t begin;   /* the first step of the round */
    size_t posted;  /* past the last step of the round whose message may meet another */
    bool *met;      /* of each step, in a round so far */
    size_t waiting; /* messages of the round that have not met */
};

struct check {
    struct ar_verdict *verdict;
    int nranks;
    bool in_place;
    int error;
    const unsigned char *const *folding; /* NULL: every recv_reduce combines in the local part */
    struct rank_state *ranks;
    struct node *nodes; /* node i has number nranks + i */
    uint32_t nnodes, nodes_room;
    uint32_t *table; /* hash of nodes; a power of two of slots */
    uint32_t slots;
    int *ready; /* ranks whose round is complete */
    int nready;
};

static void
refute(struct check *c, int rank, size_t step, const char *format, ...)
{
    if (c->error)
        return;
    c->error = AR_ERR_PROOF;
    char *text = c->verdict->text;
    int n = snprintf(text, AR_VERDICT_TEXT, "rank %d round %zu step %zu: ", rank,
                     c->ranks[rank].round, step);
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

/* --- expressions --- */

static struct node
node_of(const struct check *c, uint32_t expression)
{
    uint32_t p = (uint32_t)c->nranks;
    if (expression < p)
        return (struct node){NONE, NONE, 1, expression, expression, true};
    return c->nodes[expression - p];
}

static uint32_t
find_slot(const struct check *c, uint32_t left, uint32_t right)
{
    const uint64_t hash = ((uint64_t)left << 32 | right) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)(hash >> 32) & (c->slots - 1);
    while (c->table[i] != NONE &&
           (c->nodes[c->table[i]].left != left || c->nodes[c->table[i]].right != right))
        i = (i + 1) & (c->slots - 1);
    return i;
}

/* Doubles the room for nodes; the table is twice as large as that. */
static bool
grow_nodes(struct check *c)
{
    uint32_t room = c->nodes_room ? 2 * c->nodes_room : 256;
    struct node *nodes = realloc(c->nodes, room * sizeof *nodes);
    if (nodes)
        c->nodes = nodes;
    uint32_t *table = malloc((size_t)2 * room * sizeof *table);
    if (!nodes || !table) {
        free(table);
        out_of_memory(c);
        return false;
    }
    free(c->table);
    c->table = table;
    c->slots = 2 * room;
    c->nodes_room = room;
    memset(table, 0xff, (size_t)c->slots * sizeof *table);
    for (uint32_t i = 0; i < c->nnodes; i++)
        table[find_slot(c, nodes[i].left, nodes[i].right)] = i;
    return true;
}

static uint32_t
combine(struct check *c, uint32_t left, uint32_t right)
{
    if (c->nnodes == c->nodes_room && !grow_nodes(c))
        return UNDEFINED;
    uint32_t slot = find_slot(c, left, right);
    if (c->table[slot] == NONE) {
        struct node l = node_of(c, left), r = node_of(c, right);
        uint64_t leaves = (uint64_t)l.leaves + r.leaves;
        c->nodes[c->nnodes] =
            (struct node){left,    right,  leaves > UINT32_MAX ? UINT32_MAX : (uint32_t)leaves,
                          l.first, r.last, l.ordered && r.ordered && l.last + 1 == r.first};
        c->table[slot] = c->nnodes++;
    }
    return (uint32_t)c->nranks + c->table[slot];
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
                                    combine(c, left[i].expression, right[i].expression)};
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
    source->met[send] = target->met[recv] = true;
    meet(c, from);
    meet(c, to);
}

/* Step i of rank meets the first that waits for it: messages match in order.  What has not met yet
 * belongs to the round that its rank is in, since a round ends when all its messages have met. */
static void
post(struct check *c, int rank, size_t i)
{
    const struct ar_step *step = &c->ranks[rank].schedule->steps[i];
    const struct rank_state *peer = &c->ranks[step->peer];
    const bool is_send = step->kind == AR_SEND;
    for (size_t j = peer->begin; j < peer->posted; j++) {
        const struct ar_step *other = &peer->schedule->steps[j];
        if (other->peer != rank || peer->met[j] || (other->kind == AR_SEND) == is_send)
            continue;
        if (is_send)
            deliver(c, rank, i, step->peer, j);
        else
            deliver(c, step->peer, j, rank, i);
        return;
    }
}

static bool
is_message(const struct ar_step *step)
{
    return step->kind == AR_SEND || step->kind == AR_RECV || step->kind == AR_RECV_REDUCE;
}

/* Does the step write its dst, or read its a, while messages are in flight? */
static bool
writes_in_flight(const struct check *c, int rank, size_t i)
{
    return c->ranks[rank].schedule->steps[i].kind == AR_RECV || folds_at_once(c, rank, i);
}

static bool
reads_in_flight(const struct check *c, int rank, size_t i)
{
    return c->ranks[rank].schedule->steps[i].kind == AR_SEND || folds_at_once(c, rank, i);
}

static void
check_hazards(struct check *c, int rank, size_t first, size_t end)
{
    struct rank_state *r = &c->ranks[rank];
    const struct ar_step *steps = r->schedule->steps;
    for (size_t i = first; i < end; i++)
        for (size_t j = first; writes_in_flight(c, rank, i) && j < end; j++)
            if (j != i &&
                ((reads_in_flight(c, rank, j) && overlap(r, steps[i].dst, steps[j].a)) ||
                 (writes_in_flight(c, rank, j) && overlap(r, steps[i].dst, steps[j].dst))))
                refute(c, rank, i, "receives into what step %zu of the round uses", j);
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
    for (r->posted = r->begin; r->posted < end && !c->error; r->posted++)
        if (is_message(&s->steps[r->posted]))
            post(c, rank, r->posted);
    if (!c->error)
        meet(c, rank);
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
    for (int rank = 0; rank < c->nranks && !c->error; rank++)
        if (c->ranks[rank].round < c->ranks[rank].schedule->nrounds)
            refute(c, rank, 0, "waits forever: a deadlock, or a message without counterpart");
}

/* --- the result --- */

/* Marks the leaves below expression; false if one was marked already. */
static bool
mark_leaves(const struct check *c, uint32_t expression, bool *seen)
{
    if (expression < (uint32_t)c->nranks) {
        bool again = seen[expression];
        seen[expression] = true;
        return !again;
    }
    struct node n = node_of(c, expression);
    return mark_leaves(c, n.left, seen) && mark_leaves(c, n.right, seen);
}

/* The same for the same expression, whatever numbers its nodes have. */
static uint64_t
hash_expression(const struct check *c, uint32_t expression)
{
    if (expression < (uint32_t)c->nranks)
        return expression;
    const struct node n = node_of(c, expression);
    const uint64_t left = hash_expression(c, n.left), right = hash_expression(c, n.right);
    return (left * UINT64_C(0x9e3779b97f4a7c15) ^ (right + (left >> 29))) *
               UINT64_C(0xd6e8feb86659fd93) +
           1;
}

static void
judge_element(struct check *c, size_t i, bool *seen, uint32_t *proved)
{
    const struct value expected = c->ranks[0].out[i];
    for (int rank = 0; rank < c->nranks; rank++) {
        const struct value v = c->ranks[rank].out[i];
        if (v.expression == UNDEFINED)
            refute(c, rank, 0, "leaves element %zu of OUT undefined", i);
        else if (v.element != i)
            refute(c, rank, 0, "ends with element %u instead of element %zu", v.element, i);
        else if (v.expression != expected.expression)
            refute(c, rank, 0, "combines element %zu differently from rank 0", i);
    }
    if (c->error || expected.expression == *proved)
        return;
    memset(seen, 0, (size_t)c->nranks * sizeof *seen);
    if (node_of(c, expected.expression).leaves != (uint32_t)c->nranks ||
        !mark_leaves(c, expected.expression, seen))
        refute(c, 0, 0, "element %zu does not hold every rank exactly once", i);
    c->verdict->in_rank_order &= node_of(c, expected.expression).ordered;
    c->verdict->alike &= expected.expression == c->ranks[0].out[0].expression;
    *proved = expected.expression;
}

static void
judge(struct check *c)
{
    bool *seen = malloc((size_t)c->nranks * sizeof *seen);
    if (!seen) {
        out_of_memory(c);
        return;
    }
    uint32_t proved = UNDEFINED;
    for (size_t i = 0; i < c->ranks[0].schedule->count && !c->error; i++)
        judge_element(c, i, seen, &proved);
    uint32_t last = UNDEFINED;
    uint64_t h = 0;
    for (size_t i = 0; i < c->ranks[0].schedule->count && !c->error; i++) {
        const uint32_t expression = c->ranks[0].out[i].expression;
        if (expression != last)
            h = hash_expression(c, expression);
        last = expression;
        if (i == 0)
            c->verdict->expression = h;
        c->verdict->expressions = c->verdict->expressions * UINT64_C(0x9e3779b97f4a7c15) + h;
    }
    free(seen);
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
    r->met = calloc(s->nsteps + 1, sizeof *r->met);
    if (!r->in || !r->landing || !r->met)
        return false;
    r->out = c->in_place ? r->in : r->in + n;
    r->tmp = r->in + 2 * n;
    undefine(r->in, 2 * n + s->tmp_length);
    for (size_t i = 0; i < n; i++)
        r->in[i] = (struct value){(uint32_t)i, (uint32_t)rank};
    return true;
}

static bool
start(struct check *c, const struct ar_schedule *schedules)
{
    const size_t n = (uint32_t)c->nranks; /* gcc -flto takes size_t for huge */
    c->ranks = calloc(n, sizeof *c->ranks);
    c->ready = malloc(n * sizeof *c->ready);
    if (!c->ranks || !c->ready)
        return false;
    for (int rank = 0; rank < c->nranks; rank++)
        if (!start_rank(c, rank, &schedules[rank]))
            return false;
    return true;
}

static void
stop(struct check *c)
{
    for (int rank = 0; c->ranks && rank < c->nranks; rank++) {
        struct rank_state *r = &c->ranks[rank];
        for (size_t i = 0; r->landing && i < r->schedule->nsteps; i++)
            free(r->landing[i]);
        free(r->landing);
        free(r->met);
        free(r->in);
    }
    free(c->ranks);
    free(c->ready);
    free(c->nodes);
    free(c->table);
}

int
ar_check_folded(struct ar_verdict *verdict, const struct ar_schedule *schedules,
                const unsigned char *const *folding, int nranks, bool in_place)
{
    struct check c = {
        .verdict = verdict, .nranks = nranks, .in_place = in_place, .folding = folding};
    verdict->text[0] = '\0';
    verdict->in_rank_order = true;
    verdict->alike = true;
    verdict->expression = verdict->expressions = 0;
    if (!start(&c, schedules))
        out_of_memory(&c);
    if (!c.error)
        run(&c);
    if (!c.error)
        judge(&c);
    stop(&c);
    return c.error;
}

int
ar_check(struct ar_verdict *verdict, const struct ar_schedule *schedules, int nranks, bool in_place)
{
    return ar_check_folded(verdict, schedules, NULL, nranks, in_place);
}
