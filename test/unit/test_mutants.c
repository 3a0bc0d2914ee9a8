/* Each step of each row's schedules, spoilt in every way we know: the checker
 * refutes the mutant, or the mutant is right.
 *
 * A second opinion says which mutants are right: an interpreter that runs the
 * schedules on numbers.  A value is a sum of weights, one for each rank and
 * element, which is right only if every rank stands in it once, and a hash of
 * how the operands were combined, which is the same on all ranks only if they
 * would have the same bits.  It walks and pairs for itself, by neither schedule/walk.h nor the
 * checker: a proof that shared its walk with what it proves would share its mistake.
 *
 * Mutants that may be right, if the interpreter says so:
 *   - a flip of a recv_reduce's operands, in rows that do not promise rank order:
 *     where a partial result is made on one rank alone and handed on from there,
 *     all ranks still agree;
 *   - in rows that do promise it, a flip where nobody ends with what is combined: the interpreter
 *     gives the same results with garbage in its place.  One choice has such steps, as many as
 *     were counted by hand, and no other has any;
 *   - a region moved or taken from another buffer: where a rank receives again
 *     what it has (broadcast by scatter and allgather), what lands beside its place
 *     may be mended by the next message, and where OUT was copied from IN either
 *     may be read.
 * A step dropped or shortened and a message to another peer are always refuted.
 *
 * Then the order of steps and rounds is changed: a step is doubled, swapped with its neighbour or
 * moved to the round before or after; two rounds are swapped, or joined so that no rank waits
 * between them; or a message is dropped by both its sender and its receiver.  Many of these mutants
 * are correct.  Where the checker says so, the interpreter must agree, and so must that of
 * disorder.h in the orders that it tries. */
#include <stdlib.h>
#include <string.h>

#include "algorithms/registry.h"
#include "disorder.h"
#include "mutant.h"
#include "schedule/checker.h"
#include "setting.h"
#include "unit.h"

#define RANKS_MAX     9
#define QUEUE_MAX     256
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* --- the interpreter --- */

struct value {
    uint64_t sum;
    uint64_t hash;
};

struct message {
    struct value *data; /* owned */
    size_t length;
};

struct process {
    const struct ar_schedule *schedule;
    struct value *in, *out, *tmp; /* in owned, the others inside */
    size_t round;
    bool sent; /* this round's sends are done */
};

struct machine {
    int nranks;
    const struct ar_step *spoilt; /* a step whose result is garbage; NULL: none */
    struct process process[RANKS_MAX];
    struct message queue[RANKS_MAX][RANKS_MAX][QUEUE_MAX]; /* from, to */
    size_t sent[RANKS_MAX][RANKS_MAX], received[RANKS_MAX][RANKS_MAX];
    bool wrong;
};

static uint64_t
mix(uint64_t a, uint64_t b)
{
    uint64_t h = (a * UINT64_C(0x9e3779b97f4a7c15)) ^ (b + UINT64_C(0x7f4a7c159e3779b9));
    h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
    return h ^ h >> 32;
}

static struct value
contribution(int rank, size_t element)
{
    const uint64_t weight = mix((uint64_t)rank + 1, element + 1);
    return (struct value){weight, weight};
}

static struct value
combined(struct value left, struct value right)
{
    return (struct value){left.sum + right.sum, mix(left.hash, right.hash)};
}

static struct value *
at(struct process *p, struct ar_region region)
{
    struct value *base[] = {[AR_IN] = p->in, [AR_OUT] = p->out, [AR_TMP] = p->tmp};
    return base[region.buffer] + region.offset;
}

static void
post_sends(struct machine *m, int rank, size_t first, size_t end)
{
    struct process *p = &m->process[rank];
    for (size_t i = first; i < end; i++) {
        const struct ar_step *step = &p->schedule->steps[i];
        if (step->kind != AR_SEND)
            continue;
        size_t *n = &m->sent[rank][step->peer];
        assert_true(*n < QUEUE_MAX);
        struct message *message = &m->queue[rank][step->peer][(*n)++];
        message->length = step->a.length;
        message->data = malloc(message->length * sizeof *message->data);
        assert_non_null(message->data);
        memcpy(message->data, at(p, step->a), message->length * sizeof *message->data);
    }
    p->sent = true;
}

static bool
is_receive(const struct ar_step *step)
{
    return step->kind == AR_RECV || step->kind == AR_RECV_REDUCE;
}

static bool
all_arrived(const struct machine *m, int rank, size_t first, size_t end)
{
    size_t expected[RANKS_MAX] = {0};
    for (size_t i = first; i < end; i++) {
        const struct ar_step *step = &m->process[rank].schedule->steps[i];
        if (is_receive(step) &&
            m->received[step->peer][rank] + ++expected[step->peer] > m->sent[step->peer][rank])
            return false;
    }
    return true;
}

/* Messages match in the order of the steps; recv and recv_reduce count alike. */
static const struct message *
message_of(struct machine *m, int rank, size_t first, size_t i)
{
    const struct ar_step *const steps = m->process[rank].schedule->steps;
    size_t n = m->received[steps[i].peer][rank];
    for (size_t k = first; k < i; k++)
        n += is_receive(&steps[k]) && steps[k].peer == steps[i].peer;
    return &m->queue[steps[i].peer][rank][n];
}

static void
receive(struct machine *m, int rank, size_t first, size_t number)
{
    struct process *p = &m->process[rank];
    const struct ar_step *const step = &p->schedule->steps[number];
    const struct message *message = message_of(m, rank, first, number);
    struct value *dst = at(p, step->dst);
    m->wrong |= message->length != step->dst.length;
    for (size_t i = 0; i < message->length && !m->wrong; i++) {
        if (step->kind == AR_RECV)
            dst[i] = message->data[i];
        else if (step->order == AR_LOCAL_FIRST)
            dst[i] = combined(at(p, step->a)[i], message->data[i]);
        else
            dst[i] = combined(message->data[i], at(p, step->a)[i]);
        if (step == m->spoilt)
            dst[i] = contribution(2 * RANKS_MAX, i);
    }
}

static void
run_local(struct process *p, const struct ar_step *step)
{
    for (size_t i = 0; i < step->dst.length; i++) {
        struct value *dst = at(p, step->dst) + i;
        if (step->kind == AR_COPY)
            *dst = at(p, step->a)[i];
        else if (step->kind == AR_REDUCE)
            *dst = combined(at(p, step->a)[i], at(p, step->b)[i]);
    }
}

/* The receives first, then what works on them, in the order of the steps. */
static void
finish_round(struct machine *m, int rank, size_t first, size_t end)
{
    struct process *p = &m->process[rank];
    const struct ar_step *steps = p->schedule->steps;
    for (size_t i = first; i < end; i++)
        if (steps[i].kind == AR_RECV && !m->wrong)
            receive(m, rank, first, i);
    for (size_t i = first; i < end; i++) {
        if (steps[i].kind == AR_RECV_REDUCE && !m->wrong)
            receive(m, rank, first, i);
        else if (steps[i].kind == AR_COPY || steps[i].kind == AR_REDUCE)
            run_local(p, &steps[i]);
    }
    for (size_t i = first; i < end; i++)
        if (is_receive(&steps[i]))
            m->received[steps[i].peer][rank]++;
    p->round++;
    p->sent = false;
}

static bool
advance(struct machine *m, int rank)
{
    struct process *p = &m->process[rank];
    const struct ar_schedule *s = p->schedule;
    if (p->round == s->nrounds)
        return false;
    const size_t first = p->round ? s->round_end[p->round - 1] : 0;
    const size_t end = s->round_end[p->round];
    const bool had_sent = p->sent;
    if (!had_sent)
        post_sends(m, rank, first, end);
    if (!all_arrived(m, rank, first, end))
        return !had_sent;
    finish_round(m, rank, first, end);
    return true;
}

static void
start(struct machine *m, const struct ar_schedule *all, int nranks, bool in_place)
{
    m->nranks = nranks; /* the messages of the queues are many, and are not reset */
    m->spoilt = NULL;
    m->wrong = false;
    memset(m->process, 0, sizeof m->process);
    memset(m->sent, 0, sizeof m->sent);
    memset(m->received, 0, sizeof m->received);
    for (int rank = 0; rank < nranks; rank++) {
        struct process *p = &m->process[rank];
        const size_t n = all[rank].count, room = 2 * n + all[rank].tmp_length;
        p->schedule = &all[rank];
        p->in = calloc(room + 1, sizeof *p->in);
        assert_non_null(p->in);
        p->out = in_place ? p->in : p->in + n;
        p->tmp = p->in + 2 * n;
        for (size_t i = 0; i < room; i++) /* garbage behind IN */
            p->in[i] = contribution(i < n ? rank : RANKS_MAX + rank, i);
    }
}

static bool
is_right(const struct machine *m)
{
    bool right = !m->wrong;
    for (int rank = 0; rank < m->nranks; rank++) {
        const struct process *p = &m->process[rank];
        right &= p->round == p->schedule->nrounds;
        for (int peer = 0; peer < m->nranks; peer++)
            right &= m->sent[rank][peer] == m->received[rank][peer];
        for (size_t i = 0; i < p->schedule->count; i++) {
            uint64_t sum = 0;
            for (int r = 0; r < m->nranks; r++)
                sum += contribution(r, i).sum;
            right &= p->out[i].sum == sum && p->out[i].hash == m->process[0].out[i].hash;
        }
    }
    return right;
}

static void
stop(struct machine *m)
{
    for (int from = 0; from < m->nranks; from++) {
        free(m->process[from].in);
        for (int to = 0; to < m->nranks; to++)
            for (size_t i = 0; i < m->sent[from][to]; i++)
                free(m->queue[from][to][i].data);
    }
}

/* Do all ranks end with the sum, and alike, although a step that receives stores garbage (NULL:
 * none does)? */
static bool
computes_without(const struct ar_step *spoilt, const struct ar_schedule *all, int nranks,
                 bool in_place)
{
    static struct machine m;
    start(&m, all, nranks, in_place);
    m.spoilt = spoilt;
    for (bool moved = true; moved && !m.wrong;) {
        moved = false;
        for (int rank = 0; rank < nranks; rank++)
            moved |= advance(&m, rank);
    }
    const bool right = is_right(&m);
    stop(&m);
    return right;
}

static bool
computes(const struct ar_schedule *all, int nranks, bool in_place)
{
    return computes_without(NULL, all, nranks, in_place);
}

/* Does nothing that a rank ends with come from what the step stores? */
static bool
is_superseded(const struct ar_step *step, const struct ar_schedule *all, int nranks)
{
    return computes_without(step, all, nranks, false) && computes_without(step, all, nranks, true);
}

/* --- the mutants --- */

enum mutation {
    DROP,
    OTHER_PEER,
    DST_UP,
    DST_DOWN,
    A_UP,
    A_DOWN,
    B_UP,
    B_DOWN,
    A_FROM_OTHER_BUFFER,
    DST_TO_OTHER_BUFFER,
    SHORTEN,
    FLIP,
    MUTATIONS
};

static const char *const mutation_names[] = {
    "drop", "other peer", "dst up",         "dst down",         "a up",    "a down",
    "b up", "b down",     "a from another", "dst into another", "shorten", "flip"};

static bool
move_up(struct ar_region *region)
{
    region->offset++;
    return region->length > 0;
}

static bool
move_down(struct ar_region *region)
{
    return region->length > 0 && region->offset-- > 0;
}

/* IN <-> OUT for what is read, OUT <-> TMP for what is written. */
static bool
change_buffer(struct ar_region *region, enum ar_buffer x, enum ar_buffer y)
{
    const bool known = region->buffer == x || region->buffer == y;
    region->buffer = region->buffer == x ? y : x;
    return known && region->length > 0;
}

static bool
shorten(struct ar_step *step)
{
    struct ar_region *regions[] = {&step->dst, &step->a, &step->b};
    for (size_t i = 0; i < LENGTH(regions); i++)
        regions[i]->length -= regions[i]->length > 0;
    return true;
}

static bool
change_peer(struct ar_step *step, int rank, int nranks)
{
    if (step->peer < 0 || nranks < 3)
        return false;
    do
        step->peer = (step->peer + 1) % nranks;
    while (step->peer == rank);
    return true;
}

/* False if the step has nothing to mutate so. */
static bool
mutate(struct ar_step *step, enum mutation mutation, int rank, int nranks)
{
    switch (mutation) {
    case OTHER_PEER:
        return change_peer(step, rank, nranks);
    case DST_UP:
        return move_up(&step->dst);
    case DST_DOWN:
        return move_down(&step->dst);
    case A_UP:
        return move_up(&step->a);
    case A_DOWN:
        return move_down(&step->a);
    case B_UP:
        return move_up(&step->b);
    case B_DOWN:
        return move_down(&step->b);
    case A_FROM_OTHER_BUFFER:
        return change_buffer(&step->a, AR_IN, AR_OUT);
    case DST_TO_OTHER_BUFFER:
        return change_buffer(&step->dst, AR_OUT, AR_TMP);
    case SHORTEN:
        return shorten(step);
    case FLIP:
        step->order = step->order == AR_LOCAL_FIRST ? AR_RECEIVED_FIRST : AR_LOCAL_FIRST;
        return step->kind == AR_RECV_REDUCE;
    default:
        return mutation == DROP;
    }
}

/* s with step k in another form, or without it (NULL); false if the builder
 * already refuses it. */
static bool
rebuild(struct ar_schedule *mutant, const struct ar_schedule *s, size_t k,
        const struct ar_step *other)
{
    ar_schedule_init(mutant, s->rank, s->nranks, s->count);
    for (size_t i = 0, round = 0; i < s->nsteps; i++) {
        if (i != k)
            mutant_emit(mutant, &s->steps[i]);
        else if (other)
            mutant_emit(mutant, other);
        if (i + 1 == s->round_end[round]) {
            ar_end_round(mutant);
            round++;
        }
    }
    return ar_schedule_finish(mutant) == AR_OK;
}

struct census {
    size_t mutants;
    size_t right;
    size_t flips;      /* of the right ones */
    size_t superseded; /* of the flips: of what nobody ends with, in rows that promise rank order */
};

/* The one choice whose ranks combine what they do not use: who has no partner gets the result of
 * the last block's first rank instead. */
static bool
combines_in_vain(const struct setting *setting)
{
    return (setting->row->takes & AR_TAKES_UNPAIRED) &&
           setting->params.unpaired == AR_UNPAIRED_COPY &&
           (setting->nranks & (setting->nranks - 1)) != 0;
}

static bool
may_be_right(const struct setting *setting, enum mutation mutation)
{
    if (mutation == FLIP)
        return !ar_algorithm_keeps_order(setting->row, &setting->params) ||
               combines_in_vain(setting);
    return mutation != DROP && mutation != OTHER_PEER && mutation != SHORTEN;
}

/* Refuted with IN and OUT apart or in place, or out of an order that is promised? */
static bool
is_refuted(const struct setting *setting, const struct ar_schedule *all)
{
    for (int in_place = 0; in_place < 2; in_place++) {
        struct ar_verdict verdict;
        if (ar_check(&verdict, all, setting->nranks, in_place) ||
            (ar_algorithm_keeps_order(setting->row, &setting->params) && !verdict.in_rank_order))
            return true;
    }
    return false;
}

/* all holds the mutant of a step of this rank. */
static void
judge(struct census *census, const struct setting *setting, const struct ar_schedule *all, int rank,
      size_t step, enum mutation mutation)
{
    const bool keeps_order = ar_algorithm_keeps_order(setting->row, &setting->params);
    census->mutants++;
    if (is_refuted(setting, all))
        return;
    if (!may_be_right(setting, mutation))
        fail_msg("%s: rank %d step %zu, %s: not refuted", setting->text, rank, step,
                 mutation_names[mutation]);
    if (!computes(all, setting->nranks, false) || !computes(all, setting->nranks, true))
        fail_msg("%s: rank %d step %zu, %s: not refuted, and computes something wrong",
                 setting->text, rank, step, mutation_names[mutation]);
    if (mutation == FLIP && keeps_order &&
        !is_superseded(&all[rank].steps[step], all, setting->nranks))
        fail_msg("%s: rank %d step %zu, %s: not refuted, and what it combines is used",
                 setting->text, rank, step, mutation_names[mutation]);
    census->right++;
    census->flips += mutation == FLIP;
    census->superseded += mutation == FLIP && keeps_order;
}

static void
try_mutants(struct census *census, const struct setting *setting, size_t count)
{
    if (setting_is_left_out(setting))
        return;
    struct ar_schedule *all = schedules_emit(setting, count);
    assert_true(computes(all, setting->nranks, false));
    assert_true(computes(all, setting->nranks, true));
    for (int rank = 0; rank < setting->nranks; rank++) {
        const struct ar_schedule original = all[rank];
        for (size_t i = 0; i < original.nsteps; i++) {
            for (int mutation = 0; mutation < MUTATIONS; mutation++) {
                struct ar_step step = original.steps[i];
                if (!mutate(&step, (enum mutation)mutation, rank, setting->nranks))
                    continue;
                if (rebuild(&all[rank], &original, i, mutation == DROP ? NULL : &step))
                    judge(census, setting, all, rank, i, (enum mutation)mutation);
                ar_schedule_fini(&all[rank]);
            }
        }
        all[rank] = original;
    }
    schedules_free(all, setting->nranks);
}

static void
assert_few_are_right(const struct census *census)
{
    print_message("%zu mutants; right: %zu flips (%zu superseded), %zu others\n", census->mutants,
                  census->flips, census->superseded, census->right - census->flips);
    assert_true((census->right - census->flips) * 100 < census->mutants);
}

static void
mutants_of_every_row_are_refuted(void **state)
{
    (void)state;
    struct census census = {0, 0, 0, 0};
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++) {
        for (int nranks = 2; nranks <= RANKS_MAX; nranks++) {
            setting_default(&setting, ar_algorithm_at(row), nranks, PLACE_UNKNOWN);
            try_mutants(&census, &setting, (size_t)nranks + 1);
        }
    }
    assert_few_are_right(&census);
    assert_true(census.mutants > 500 * ar_algorithm_count());
}

static void
mutants_with_every_parameter_are_refuted(void **state)
{
    (void)state;
    struct census census = {0, 0, 0, 0};
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++) {
        for (size_t i = 0; i < setting_count(ar_algorithm_at(row)); i++) {
            for (int nranks = 5; nranks <= RANKS_MAX; nranks++) {
                setting_vary(&setting, ar_algorithm_at(row), nranks, PLACE_IN_TURN, i);
                try_mutants(&census, &setting, 11);
            }
        }
    }
    assert_few_are_right(&census);
}

/* How many results of recv_reduces nobody ends with. */
static size_t
count_superseded(const struct setting *setting)
{
    struct ar_schedule *const all = schedules_emit(setting, 11);
    size_t n = 0;
    for (int rank = 0; rank < setting->nranks; rank++)
        for (size_t i = 0; i < all[rank].nsteps; i++)
            n += all[rank].steps[i].kind == AR_RECV_REDUCE &&
                 is_superseded(&all[rank].steps[i], all, setting->nranks);
    schedules_free(all, setting->nranks);
    return n;
}

/* Counted by hand.  On 5 ranks, ranks 1, 2 and 3 get the result from rank 0.  So what they combine
 * at distance 2 is in vain, and so is what 1 and 3 have combined for that at distance 1. */
static void
only_a_butterfly_that_copies_combines_in_vain(void **state)
{
    static const size_t known[RANKS_MAX + 1] = {[3] = 1, [5] = 5, [6] = 2, [7] = 2, [9] = 17};
    struct setting setting;
    (void)state;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (size_t i = 0; i < setting_count(ar_algorithm_at(row)); i++)
            for (int nranks = 2; nranks <= RANKS_MAX; nranks++) {
                setting_vary(&setting, ar_algorithm_at(row), nranks, PLACE_IN_TURN, i);
                const bool is_in_halves = setting.params.exchange == AR_EXCHANGE_HALVES;
                const size_t n = count_superseded(&setting);
                const size_t most = combines_in_vain(&setting) ? known[nranks] : 0;
                if (n > most || (n < most && !is_in_halves))
                    fail_msg("%s: %zu results are superseded, not %zu", setting.text, n, most);
            }
}

/* --- mutants of the order --- */

struct tally {
    size_t mutants[MUTANTS], right[MUTANTS];
};

static bool
is_right_in_disorder(const struct setting *setting, const struct ar_schedule *all)
{
    static uint64_t seed = 1;
    for (int i = 0; i < 2; i++) {
        const struct disorder d = {all,   setting->nranks,
                                   i % 2, ar_algorithm_keeps_order(setting->row, &setting->params),
                                   NULL,  seed++};
        if (disorder_run(&d))
            return false;
    }
    return true;
}

static void
judge_order(struct tally *tally, const struct setting *setting, const struct ar_schedule *all,
            int rank, size_t step, enum mutant how)
{
    tally->mutants[how]++;
    if (is_refuted(setting, all))
        return;
    tally->right[how]++;
    if (!computes(all, setting->nranks, false) || !computes(all, setting->nranks, true) ||
        !is_right_in_disorder(setting, all))
        fail_msg("%s: rank %d step %zu, %s: not refuted, and computes something wrong",
                 setting->text, rank, step, mutant_names[how]);
}

/* The peer's step that receives what step k of s sends. */
static size_t
receiver_of(const struct ar_schedule *s, size_t k, const struct ar_schedule *peer)
{
    size_t n = 0, i = 0;
    for (size_t j = 0; j < k; j++)
        n += s->steps[j].kind == AR_SEND && s->steps[j].peer == peer->rank;
    for (; i < peer->nsteps; i++)
        if (is_receive(&peer->steps[i]) && peer->steps[i].peer == s->rank && n-- == 0)
            break;
    assert_true(i < peer->nsteps);
    return i;
}

static void
try_unsent(struct tally *tally, const struct setting *setting, struct ar_schedule *all, int rank,
           size_t k)
{
    const int peer = all[rank].steps[k].peer;
    const struct ar_schedule sender = all[rank], receiver = all[peer];
    if (mutant_of_order(&all[rank], &sender, k, UNSENT) &&
        mutant_of_order(&all[peer], &receiver, receiver_of(&sender, k, &receiver), UNSENT))
        judge_order(tally, setting, all, rank, k, UNSENT);
    ar_schedule_fini(&all[rank]);
    ar_schedule_fini(&all[peer]);
    all[rank] = sender;
    all[peer] = receiver;
}

static void
try_orders(struct tally *tally, const struct setting *setting, size_t count)
{
    if (setting_is_left_out(setting))
        return;
    struct ar_schedule *all = schedules_emit(setting, count);
    for (int rank = 0; rank < setting->nranks; rank++) {
        const struct ar_schedule original = all[rank];
        for (size_t i = 0; i < original.nsteps; i++) {
            for (int how = 0; how < UNSENT; how++) {
                if (!mutant_of_order(&all[rank], &original, i, (enum mutant)how)) {
                    all[rank] = original;
                    continue;
                }
                judge_order(tally, setting, all, rank, i, (enum mutant)how);
                ar_schedule_fini(&all[rank]);
                all[rank] = original;
            }
            if (original.steps[i].kind == AR_SEND)
                try_unsent(tally, setting, all, rank, i);
        }
    }
    schedules_free(all, setting->nranks);
}

static void
print_tally(const struct tally *tally)
{
    size_t mutants = 0, right = 0;
    for (int how = 0; how < MUTANTS; how++) {
        print_message("%s: %zu mutants, right: %zu\n", mutant_names[how], tally->mutants[how],
                      tally->right[how]);
        assert_true(tally->mutants[how] > tally->right[how]);
        mutants += tally->mutants[how];
        right += tally->right[how];
    }
    print_message("%zu mutants, right: %zu\n", mutants, right);
}

static void
mutants_of_the_order_are_refuted(void **state)
{
    (void)state;
    struct tally tally = {{0}, {0}};
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (int nranks = 2; nranks <= RANKS_MAX; nranks++) {
            setting_default(&setting, ar_algorithm_at(row), nranks, PLACE_UNKNOWN);
            try_orders(&tally, &setting, (size_t)nranks + 1);
        }
    print_tally(&tally);
}

/* On 5 and 8 ranks; if the variable MUTANTS is "all", on 5 to 9. */
static void
mutants_of_the_order_with_every_parameter_are_refuted(void **state)
{
    const char *const which = getenv("MUTANTS");
    const bool is_all = which && strcmp(which, "all") == 0;
    (void)state;
    struct tally tally = {{0}, {0}};
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (size_t i = 0; i < setting_count(ar_algorithm_at(row)); i++)
            for (int nranks = 5; nranks <= RANKS_MAX; nranks += is_all ? 1 : 3) {
                setting_vary(&setting, ar_algorithm_at(row), nranks, PLACE_IN_TURN, i);
                try_orders(&tally, &setting, 11);
            }
    print_tally(&tally);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_butterfly_that_copies_combines_in_vain),
        cmocka_unit_test(mutants_of_every_row_are_refuted),
        cmocka_unit_test(mutants_with_every_parameter_are_refuted),
        cmocka_unit_test(mutants_of_the_order_are_refuted),
        cmocka_unit_test(mutants_of_the_order_with_every_parameter_are_refuted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
