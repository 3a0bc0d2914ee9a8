#include "model/instep.h"

#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "schedule/walk.h"

#define NODES_LOOKED_AT 3

/* What one round of a node's ranks takes. */
struct step {
    double overhead, latency, reduction;                        /* the longest of a rank */
    double stream;                                              /* the longest message alone, ns */
    double port;                                                /* the busiest of a rank's, ns */
    double memory, card_out, card_in, level[AR_MACHINE_LEVELS]; /* of the node, ns */
};

struct tally {
    const struct ar_question *question;
    const struct ar_network *network;
    size_t count;
    double element_bytes;
    struct step *steps; /* by round */
    size_t nsteps, room;
    size_t ports;
    size_t emitted; /* steps of the schedules looked at */
    size_t nrounds; /* of the first rank looked at */
    bool irregular;
};

static void
most(double *x, double y)
{
    *x = y > *x ? y : *x;
}

static double
narrowest(const struct step *s)
{
    double wire = s->port;
    most(&wire, s->stream);
    most(&wire, s->memory);
    most(&wire, s->card_out);
    most(&wire, s->card_in);
    for (int l = 0; l < AR_MACHINE_LEVELS; l++)
        most(&wire, s->level[l]);
    return wire;
}

static double
time_of(const struct step *s)
{
    return s->overhead + s->latency + s->reduction + narrowest(s);
}

static int
make_room(struct tally *t, size_t rounds)
{
    if (rounds > t->room) {
        struct step *bigger = realloc(t->steps, rounds * sizeof *bigger);
        if (!bigger)
            return AR_ERR_MEMORY;
        t->steps = bigger;
        t->room = rounds;
    }
    if (rounds > t->nsteps)
        memset(t->steps + t->nsteps, 0, (rounds - t->nsteps) * sizeof *t->steps);
    t->nsteps = rounds > t->nsteps ? rounds : t->nsteps;
    return AR_OK;
}

/* The nodes' messages are spread evenly over a level's links. */
static void
add_levels(struct step *step, const struct ar_network *net, const struct ar_way *way, double bytes)
{
    for (int i = 0; i < way->n; i++)
        for (int l = 0; l < net->machine->nlevels; l++) {
            const size_t first = net->first[AR_LINK_LEVEL + l];
            const size_t end = net->first[AR_LINK_LEVEL + l + 1];
            if (way->links[i] >= first && way->links[i] < end)
                step->level[l] += bytes * net->links[way->links[i]].per_byte * net->nnodes /
                                  (double)(end - first);
        }
}

/* Adds a message to the node's round; is_out: the node sends it. */
static void
add_message(struct step *step, struct step *rank, const struct ar_network *net, int from, int to,
            double bytes, bool is_out)
{
    const struct ar_machine *const m = net->machine;
    const struct ar_travel *const travel = ar_network_travel(net, from, to);
    const bool is_eager = bytes <= (double)travel->eager_bytes;
    struct ar_way way;
    ar_network_way(net, &way, from, to, to);
    rank->overhead += travel->overhead;
    most(&rank->stream, bytes * way.stream);
    most(&rank->latency, way.latency + (is_eager ? 0 : travel->handshake));
    if (travel == &m->node) {
        *(is_out ? &rank->card_out : &rank->card_in) += bytes * m->node.per_byte;
        step->memory += is_out ? bytes * m->memory_per_byte : 0;
    } else {
        *(is_out ? &step->card_out : &step->card_in) += bytes * m->network.per_byte;
        if (is_out)
            add_levels(step, net, &way, bytes);
    }
}

static void
add_round(struct tally *t, struct step *step, const struct ar_schedule *s, size_t first, size_t end)
{
    const struct ar_network *const net = t->network;
    const struct ar_machine *const m = net->machine;
    struct step rank = {0};
    size_t received = 0, sent = 0;
    for (size_t i = first; i < end; i++) {
        const struct ar_step *const x = &s->steps[i];
        const double bytes =
            t->element_bytes * (double)(x->kind == AR_SEND ? x->a.length : x->dst.length);
        if (x->kind == AR_SEND)
            add_message(step, &rank, net, s->rank, x->peer, bytes, true);
        else if (x->peer >= 0)
            add_message(step, &rank, net, x->peer, s->rank, bytes, false);
        received += x->kind == AR_RECV || x->kind == AR_RECV_REDUCE;
        sent += x->kind == AR_SEND;
        if (x->kind == AR_REDUCE || x->kind == AR_RECV_REDUCE)
            rank.reduction += bytes * m->reduce_per_byte;
        if (x->kind == AR_COPY)
            rank.reduction += bytes * m->copy_per_byte;
    }
    most(&step->overhead, rank.overhead);
    most(&step->latency, rank.latency);
    most(&step->reduction, rank.reduction);
    most(&step->stream, rank.stream);
    most(&step->port, rank.card_out);
    most(&step->port, rank.card_in);
    t->ports = received > t->ports ? received : t->ports;
    t->irregular |= received == 0 || sent == 0;
}

static int
add_rank(struct tally *t, int rank)
{
    const struct ar_question *const q = t->question;
    struct ar_schedule s;
    int error =
        ar_algorithm_emit(q->choice->algorithm, &s, rank, q->nranks, t->count, &q->choice->params);
    if (error)
        return error;
    error = make_room(t, s.nrounds);
    t->nrounds = t->nrounds ? t->nrounds : s.nrounds;
    t->irregular |= s.nrounds != t->nrounds;
    t->emitted += s.nsteps;
    for (size_t k = 0; k < s.nrounds && !error; k++)
        add_round(t, &t->steps[k], &s, ar_round_begin(&s, k), s.round_end[k]);
    ar_schedule_fini(&s);
    return error;
}

/* Rounds of the same number of a node's ranks are one step. */
static int
add_node(struct tally *t, int node)
{
    int error = AR_OK;
    t->nsteps = 0;
    for (int rank = 0; rank < t->network->nranks && !error; rank++)
        if (t->network->node_of[rank] == node)
            error = add_rank(t, rank);
    return error;
}

static struct ar_moment
sum(const struct tally *t, double *busy)
{
    struct ar_moment all = {0};
    double rank = 0;
    struct step total = {0};
    for (size_t k = 0; k < t->nsteps; k++) {
        const struct step *const s = &t->steps[k];
        all.at += time_of(s);
        all.parts[AR_PART_OVERHEAD] += s->overhead;
        all.parts[AR_PART_LATENCY] += s->latency;
        all.parts[AR_PART_REDUCTION] += s->reduction;
        all.parts[AR_PART_WIRE] += narrowest(s);
        rank += s->overhead + s->reduction;
        total.port += s->port;
        total.memory += s->memory;
        total.card_out += s->card_out;
        total.card_in += s->card_in;
        for (int l = 0; l < AR_MACHINE_LEVELS; l++)
            total.level[l] += s->level[l];
    }
    *busy = narrowest(&total);
    most(busy, rank);
    return all;
}

static void
answer_with(struct ar_instep *answer, const struct tally *t)
{
    double busy;
    const struct ar_moment m = sum(t, &busy);
    if (m.at > answer->segment.at)
        answer->segment = m;
    most(&answer->busy, busy);
    answer->ports = t->ports;
    answer->steps = t->emitted;
    answer->regular = !t->irregular;
}

int
ar_instep(struct ar_instep *answer, const struct ar_question *q, const struct ar_network *net,
          size_t count, double element_bytes)
{
    struct tally t = {
        .question = q, .network = net, .count = count, .element_bytes = element_bytes};
    const int nodes[NODES_LOOKED_AT] = {0, net->nnodes / 2, net->nnodes - 1};
    int error = AR_OK;
    *answer = (struct ar_instep){.busy = 0};
    for (int i = 0; i < NODES_LOOKED_AT && !error; i++) {
        error = add_node(&t, nodes[i]);
        answer_with(answer, &t);
    }
    free(t.steps);
    return error;
}

int
ar_instep_rank(struct ar_instep *answer, const struct ar_question *q, const struct ar_network *net,
               size_t count, double element_bytes)
{
    struct tally t = {
        .question = q, .network = net, .count = count, .element_bytes = element_bytes};
    const struct ar_nodes nodes = ar_nodes_make(q->nranks / 2, q->nranks, &q->choice->params);
    const int error = add_rank(&t, ar_nodes_rank(&nodes, nodes.mine, nodes.local_size / 2));
    *answer = (struct ar_instep){.busy = 0};
    answer_with(answer, &t);
    free(t.steps);
    return error;
}
