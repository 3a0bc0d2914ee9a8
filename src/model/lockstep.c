#include "model/lockstep.h"

#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "schedule/grow.h"
#include "schedule/walk.h"

#define NODES_LOOKED_AT 3

/* Of the network, and inside a node. */
enum { LEVELS = AR_LINK_KINDS - AR_LINK_LEVEL };

/* What one round takes of a node's ranks, in ns. */
struct round {
    double overhead, latency, reduction; /* the longest of a rank */
    double turns;  /* of a core, that all who share it do one after the other */
    double stream; /* the longest message alone */
    double port;   /* the busiest of a rank's */
    double memory, card_out, card_in, level[LEVELS]; /* of the node */
    double host;                                     /* of the node's share of it */
};

struct sum {
    const struct ar_question *question;
    const struct ar_network *network;
    size_t count;
    double element_bytes;
    struct round *rounds; /* of the ranks of one node */
    double sharers;       /* of a core, for each rank that is added; 0: nobody waits for a core */
    size_t nrounds, room;
    size_t first_nrounds; /* of the first rank */
    struct ar_lockstep *answer;
};

static void
most(double *x, double y)
{
    *x = y > *x ? y : *x;
}

/* The time that the busiest of ports, memory, cards and links needs. */
static double
wire_of(const struct round *r)
{
    double wire = r->port;
    most(&wire, r->stream);
    most(&wire, r->memory);
    most(&wire, r->card_out);
    most(&wire, r->card_in);
    most(&wire, r->host);
    for (int l = 0; l < LEVELS; l++)
        most(&wire, r->level[l]);
    return wire;
}

/* Adds a message to the links of levels on its way.  All nodes' messages are taken to be spread
 * evenly over a level's links. */
static void
add_links(struct round *node, const struct ar_network *net, const struct ar_way *way, double bytes)
{
    const size_t *const first = &net->first[AR_LINK_LEVEL];
    for (int i = 0; i < way->n; i++) {
        const struct ar_way_link *const link = &way->links[i];
        int l = 0;
        if (link->link < first[0])
            continue;
        while (link->link >= first[l + 1])
            l++;
        node->level[l] += bytes * link->per_byte * net->nnodes / (double)(first[l + 1] - first[l]);
    }
}

/* Adds a message to the round of the node and of its rank, which sends it (is_out) or receives it.
 */
static void
add_message(struct round *node, struct round *rank, const struct ar_network *net, int from, int to,
            double bytes, bool is_out)
{
    const struct ar_machine *const m = net->machine;
    const struct ar_travel *const travel = ar_network_travel(net, from, to);
    struct ar_way way;
    ar_network_way(net, &way, from, to, to);
    rank->overhead += travel->overhead;
    most(&rank->stream, bytes * way.stream);
    most(&rank->latency,
         way.latency + (bytes <= (double)travel->eager_bytes ? 0 : travel->handshake));
    if (is_out)
        add_links(node, net, &way, bytes);
    if (travel != &m->network) {
        *(is_out ? &rank->card_out : &rank->card_in) += bytes * travel->per_byte;
        node->memory += is_out ? bytes * m->memory_per_byte : 0;
        return;
    }
    *(is_out ? &node->card_out : &node->card_in) += bytes * m->network.per_byte;
    if (is_out || ar_network_host(net, from) != ar_network_host(net, to))
        node->host += bytes * m->host_per_byte * m->host_nodes;
}

/* Adds round k of a rank's schedule to that of its node. */
static void
add_round(struct sum *t, const struct ar_schedule *s, size_t k)
{
    const struct ar_network *const net = t->network;
    struct round *const node = &t->rounds[k];
    struct round rank = {0};
    size_t received = 0, sent = 0;
    for (size_t i = ar_round_begin(s, k); i < s->round_end[k]; i++) {
        const struct ar_step *const x = &s->steps[i];
        const bool receives = ar_step_receives(x);
        const double bytes =
            t->element_bytes * (double)(x->kind == AR_SEND ? x->a.length : x->dst.length);
        if (x->kind == AR_SEND)
            add_message(node, &rank, net, s->rank, x->peer, bytes, true);
        else if (receives)
            add_message(node, &rank, net, x->peer, s->rank, bytes, false);
        received += receives;
        sent += x->kind == AR_SEND;
        if (x->kind == AR_REDUCE || x->kind == AR_RECV_REDUCE)
            rank.reduction += bytes * net->machine->reduce_per_byte;
        if (x->kind == AR_COPY)
            rank.reduction += bytes * net->machine->copy_per_byte;
    }
    most(&node->overhead, rank.overhead);
    most(&node->latency, rank.latency);
    most(&node->reduction, rank.reduction);
    node->turns += t->sharers * (rank.overhead + rank.reduction);
    most(&node->stream, rank.stream);
    most(&node->port, rank.card_out);
    most(&node->port, rank.card_in);
    t->answer->ports = received > t->answer->ports ? received : t->answer->ports;
    t->answer->regular &= received > 0 && sent > 0;
}

static int
add_rank(struct sum *t, int rank)
{
    const struct ar_question *const q = t->question;
    struct ar_schedule s;
    int error =
        ar_algorithm_emit(q->choice->algorithm, &s, rank, q->nranks, t->count, &q->choice->params);
    if (error)
        return error;
    struct round *const rounds = ar_grow(t->rounds, s.nrounds, &t->room, sizeof *rounds);
    if (!rounds && s.nrounds > 0)
        error = AR_ERR_MEMORY;
    if (!error) {
        t->rounds = rounds;
        for (; t->nrounds < s.nrounds; t->nrounds++)
            t->rounds[t->nrounds] = (struct round){0};
        t->first_nrounds = t->first_nrounds ? t->first_nrounds : s.nrounds;
        t->answer->regular &= s.nrounds == t->first_nrounds;
        t->answer->steps += s.nsteps;
        for (size_t k = 0; k < s.nrounds; k++)
            add_round(t, &s, k);
    }
    ar_schedule_fini(&s);
    return error;
}

/* Adds the rounds up; the answer is that of the slowest node. */
static void
add_up(struct sum *t)
{
    struct ar_moment all = {0};
    struct round total = {0};
    double rank = 0;
    for (size_t k = 0; k < t->nrounds; k++) {
        const struct round *const r = &t->rounds[k];
        const double alone = r->overhead + r->reduction;
        const double own = r->turns > alone ? r->turns : alone;
        all.at += own + r->latency + wire_of(r);
        all.parts[AR_PART_OVERHEAD] += r->overhead;
        all.parts[AR_PART_LATENCY] += r->latency;
        all.parts[AR_PART_REDUCTION] += r->reduction;
        all.parts[AR_PART_WAITING] += own - alone;
        all.parts[AR_PART_WIRE] += wire_of(r);
        rank += own;
        total.port += r->port;
        total.memory += r->memory;
        total.card_out += r->card_out;
        total.card_in += r->card_in;
        total.host += r->host;
        for (int l = 0; l < LEVELS; l++)
            total.level[l] += r->level[l];
    }
    if (all.at > t->answer->segment.at)
        t->answer->segment = all;
    most(&t->answer->busy, wire_of(&total));
    most(&t->answer->busy, rank);
}

int
ar_lockstep(struct ar_lockstep *answer, const struct ar_question *q, const struct ar_network *net,
            size_t count, double element_bytes, size_t most_steps)
{
    struct sum t = {q, net, count, element_bytes, .answer = answer};
    const int nodes[NODES_LOOKED_AT] = {net->nnodes / 2, 0, net->nnodes - 1};
    size_t longest = 0; /* steps of a node */
    int error = AR_OK;
    *answer = (struct ar_lockstep){.regular = true};
    for (int i = 0; i < NODES_LOOKED_AT && !error; i++) {
        const size_t before = answer->steps;
        if (before + longest > most_steps)
            break;
        int ranks = 0;
        t.nrounds = 0;
        for (int rank = 0; rank < net->nranks; rank++)
            ranks += net->node_of[rank] == nodes[i];
        t.sharers = net->crowd / ranks;
        for (int rank = 0; rank < net->nranks && !error; rank++)
            if (net->node_of[rank] == nodes[i])
                error = add_rank(&t, rank);
        longest = answer->steps - before > longest ? answer->steps - before : longest;
        add_up(&t);
    }
    free(t.rounds);
    return error;
}

/* The place on its node of a rank whose neighbours are near: in the midst of the node, and there of
 * the innermost domain that has a midst. */
static int
middle_of(const struct ar_machine *m, int ranks)
{
    const int middle = ranks / 2;
    int l = 0;
    while (l < m->ndomains - 1 && m->domains[l].ranks < 3)
        l++;
    if (l >= m->ndomains - 1)
        return middle;
    const int inner = m->domains[l].ranks, place = middle - middle % inner + inner / 2;
    return place + 1 < ranks ? place : middle;
}

int
ar_lockstep_rank(struct ar_lockstep *answer, const struct ar_question *q,
                 const struct ar_network *net, size_t count, double element_bytes)
{
    struct sum t = {q, net, count, element_bytes, .answer = answer};
    const struct ar_nodes nodes = ar_nodes_make(q->nranks / 2, q->nranks, &q->choice->params);
    *answer = (struct ar_lockstep){.regular = true};
    const int place = middle_of(q->machine, nodes.local_size);
    const int error = add_rank(&t, ar_nodes_rank(&nodes, nodes.mine, place));
    add_up(&t);
    free(t.rounds);
    return error;
}
