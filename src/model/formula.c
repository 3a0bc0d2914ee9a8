#include "model/formula.h"

#include <math.h>
#include <stdlib.h>

#include "algorithms/card.h"
#include "algorithms/nodes.h"
#include "schedule/grow.h"
#include "schedule/walk.h"

/* Of the network, and inside a node. */
enum { LEVELS = AR_LINK_KINDS - AR_LINK_LEVEL };

/* What one round takes of each link that a node's ranks share, for each byte of the vector, in ns;
 * and a rank's port. */
struct links {
    double port, memory, card_out, card_in, host, level[LEVELS];
};

struct adding {
    struct ar_formula *formula;
    const struct ar_choice *choice;
    const struct ar_network *network;
    size_t count;
    double sharers;      /* of a core, for each rank that is added; 0: nobody waits for a core */
    double weight;       /* ranks for which the one that is added stands */
    struct links *links; /* of the node's rounds */
    size_t room, links_room;
    size_t begin;         /* of the node's rounds */
    size_t first_nrounds; /* of the first rank */
};

static void
most(double *x, double y)
{
    *x = y > *x ? y : *x;
}

/* The busiest of ports, memory, cards and links. */
static double
busiest_of(const struct links *l)
{
    double wire = l->port;
    most(&wire, l->memory);
    most(&wire, l->card_out);
    most(&wire, l->card_in);
    most(&wire, l->host);
    for (int k = 0; k < LEVELS; k++)
        most(&wire, l->level[k]);
    return wire;
}

/* Adds a message, a part of the vector, to the links of levels on its way.  All nodes' messages are
 * taken to be spread evenly over a level's links. */
static void
add_levels(struct links *links, const struct ar_network *net, const struct ar_way *way, double part)
{
    const size_t *const first = &net->first[AR_LINK_LEVEL];
    for (int i = 0; i < way->n; i++) {
        const struct ar_way_link *const link = &way->links[i];
        int l = 0;
        if (link->link < first[0])
            continue;
        while (link->link >= first[l + 1])
            l++;
        links->level[l] += part * link->per_byte * net->nnodes / (double)(first[l + 1] - first[l]);
    }
}

/* A rank's part of a round. */
struct own {
    double overhead, reduction, card_out, card_in;
};

/* Adds a message, which a rank sends (is_out) or receives. */
static void
add_message(struct ar_formula_round *round, struct links *links, struct own *own,
            const struct adding *a, int from, int to, double part, bool is_out)
{
    const struct ar_network *const net = a->network;
    const struct ar_machine *const m = net->machine;
    const double all = a->weight * part;
    const struct ar_travel *const travel = ar_network_travel(net, from, to);
    const bool is_far = travel == &m->network;
    struct ar_way way;
    ar_network_way(net, &way, from, to, to);
    own->overhead += travel->overhead;
    most(&round->stream, part * way.stream);
    most(&round->latency[is_far], way.latency);
    most(&round->handshake[is_far], travel->handshake);
    most(&round->longest[is_far], part);
    if (is_out)
        add_levels(links, net, &way, all);
    if (!is_far) {
        *(is_out ? &own->card_out : &own->card_in) += part * travel->per_byte;
        links->memory += is_out ? all * m->memory_per_byte : 0;
        return;
    }
    *(is_out ? &links->card_out : &links->card_in) += all * m->network.per_byte;
    if (is_out || ar_network_host(net, from) != ar_network_host(net, to))
        links->host += all * m->host_per_byte * m->host_nodes;
}

/* Adds round k of a rank's schedule to that of its node. */
static void
add_round(struct adding *a, const struct ar_schedule *s, size_t k)
{
    const struct ar_network *const net = a->network;
    struct ar_formula *const f = a->formula;
    struct ar_formula_round *const round = &f->rounds[a->begin + k];
    struct links *const links = &a->links[k];
    struct own own = {0};
    size_t received = 0, sent = 0;
    for (size_t i = ar_round_begin(s, k); i < s->round_end[k]; i++) {
        const struct ar_step *const x = &s->steps[i];
        const bool receives = ar_step_receives(x), sends = x->kind == AR_SEND;
        const double part = (double)(sends ? x->a.length : x->dst.length) / (double)a->count;
        if (sends)
            add_message(round, links, &own, a, s->rank, x->peer, part, true);
        else if (receives)
            add_message(round, links, &own, a, x->peer, s->rank, part, false);
        received += receives;
        sent += sends;
        if (x->kind == AR_REDUCE || x->kind == AR_RECV_REDUCE)
            own.reduction += part * net->machine->reduce_per_byte;
        if (x->kind == AR_COPY)
            own.reduction += part * net->machine->copy_per_byte;
    }
    most(&round->overhead, own.overhead);
    most(&round->reduction, own.reduction);
    round->turns += a->sharers * a->weight * own.overhead;
    round->turns_per_byte += a->sharers * a->weight * own.reduction;
    most(&links->port, own.card_out);
    most(&links->port, own.card_in);
    f->ports = received > f->ports ? received : f->ports;
    f->is_regular &= received > 0 && sent > 0;
}

/* Room for so many rounds of the node, all 0 at first. */
static int
grow(struct adding *a, size_t nrounds)
{
    struct ar_formula *const f = a->formula;
    if (nrounds <= f->nrounds - a->begin)
        return AR_OK;
    struct ar_formula_round *const rounds =
        ar_grow(f->rounds, a->begin + nrounds, &a->room, sizeof *rounds);
    f->rounds = rounds ? rounds : f->rounds;
    struct links *const links = ar_grow(a->links, nrounds, &a->links_room, sizeof *links);
    a->links = links ? links : a->links;
    if (!rounds || !links)
        return AR_ERR_MEMORY;
    for (; f->nrounds < a->begin + nrounds; f->nrounds++) {
        rounds[f->nrounds] = (struct ar_formula_round){0};
        links[f->nrounds - a->begin] = (struct links){0};
    }
    return AR_OK;
}

static int
add_rank(struct adding *a, int rank)
{
    struct ar_formula *const f = a->formula;
    struct ar_schedule s;
    int error = ar_algorithm_emit(a->choice->algorithm, &s, rank, a->network->nranks, a->count,
                                  &a->choice->params);
    if (error)
        return error;
    error = grow(a, s.nrounds);
    if (!error) {
        a->first_nrounds = a->first_nrounds ? a->first_nrounds : s.nrounds;
        f->is_regular &= s.nrounds == a->first_nrounds;
        f->steps += s.nsteps;
        for (size_t k = 0; k < s.nrounds; k++)
            add_round(a, &s, k);
    }
    ar_schedule_fini(&s);
    return error;
}

/* Adds the links of the node's rounds up, and begins with the next node. */
static void
end_node(struct adding *a)
{
    struct ar_formula *const f = a->formula;
    struct links total = {0};
    for (size_t k = 0; k < f->nrounds - a->begin; k++) {
        const struct links *const l = &a->links[k];
        f->rounds[a->begin + k].wire = busiest_of(l);
        total.port += l->port;
        total.memory += l->memory;
        total.card_out += l->card_out;
        total.card_in += l->card_in;
        total.host += l->host;
        for (int i = 0; i < LEVELS; i++)
            total.level[i] += l->level[i];
    }
    f->nodes[f->nnodes++] = (struct ar_formula_node){f->nrounds, busiest_of(&total)};
    a->begin = f->nrounds;
}

/* All ranks of a node; or where that would be too many steps, the first one, and the one in the
 * middle, which stands for the others: rows in which so many ranks have so much to do have no
 * leaders. */
static int
add_node(struct adding *a, int node, size_t most_steps)
{
    const struct ar_node_index *const index = a->choice->params.node_index;
    const int *const rank = index->ranks + index->first[node];
    const int ranks = index->first[node + 1] - index->first[node];
    const size_t before = a->formula->steps;
    a->sharers = a->network->crowd / ranks;
    a->weight = 1;
    int error = add_rank(a, rank[0]);
    const bool are_many = (a->formula->steps - before) * (size_t)ranks > most_steps;
    if (are_many && ranks > 1 && !error) {
        a->weight = ranks - 1;
        error = add_rank(a, rank[ranks / 2]);
    }
    for (int i = 1; i < ranks && !are_many && !error; i++)
        error = add_rank(a, rank[i]);
    end_node(a);
    return error;
}

/* Bytes between which a card's time is taken to be a straight line. */
#define CARD_SHORT 8.0
#define CARD_LONG  1048576.0

/* Rounds do not tell how long the chain is of which they are links, where ranks do not keep step.
 * The row's card does, on a network as fast as the fastest messages here.  No card knows of levels
 * inside nodes; with these, the card is that of the row between nodes. */
static void
add_chain(struct ar_formula *f, const struct ar_choice *choice, const struct ar_network *network)
{
    const struct ar_machine *const m = network->machine;
    const struct ar_params *params = &choice->params;
    const struct ar_algorithm *row = choice->algorithm;
    const bool shares = network->nranks > network->nnodes;
    const double near = m->node.latency + m->node.overhead;
    const double far = m->network.latency + m->network.overhead;
    const double per_byte =
        shares ? fmin(m->node.per_byte, m->network.per_byte) : m->network.per_byte;
    const struct ar_rates rates = {.a = shares ? fmin(near, far) : far,
                                   .B = per_byte > 0 ? 1 / per_byte : INFINITY,
                                   .C = m->reduce_per_byte};
    int p = network->nranks, lanes = 1;
    if (ar_algorithm_has_levels_in_nodes(row) && params->grouping) {
        lanes = params->node_index->most;
        p = network->nnodes;
        row = ar_params_inter(params);
        params = &row->defaults;
    }
    const double least = ar_card_value(row, AR_CARD_TIME, params, p, CARD_SHORT / lanes, &rates);
    const double most_ns = ar_card_value(row, AR_CARD_TIME, params, p, CARD_LONG / lanes, &rates);
    f->chain_per_byte = (most_ns - least) / (CARD_LONG - CARD_SHORT);
    f->chain = least - CARD_SHORT * f->chain_per_byte;
}

bool
ar_formula_is_long(const struct ar_choice *choice, int nranks, double bytes, size_t rounds)
{
    return ar_card_value(choice->algorithm, AR_CARD_ROUNDS, &choice->params, nranks, bytes, NULL) >
           (double)rounds;
}

void
ar_formula_init_card(struct ar_formula *f, const struct ar_choice *choice,
                     const struct ar_network *network)
{
    *f = (struct ar_formula){.nnodes = 0};
    add_chain(f, choice, network);
}

int
ar_formula_init(struct ar_formula *f, const struct ar_choice *choice, const struct ar_network *net,
                size_t count, size_t most_steps)
{
    struct adding a = {.formula = f, .choice = choice, .network = net, .count = count};
    const int nodes[AR_FORMULA_NODES] = {net->nnodes / 2, 0, net->nnodes - 1};
    size_t longest = 0; /* steps of a node */
    int error = AR_OK;
    *f = (struct ar_formula){.is_regular = true};
    for (int i = 0; i < AR_FORMULA_NODES && !error; i++) {
        const size_t before = f->steps;
        const bool is_known = (i > 0 && nodes[i] == nodes[0]) || (i > 1 && nodes[i] == nodes[1]);
        if (before + longest > most_steps)
            break;
        error = is_known ? AR_OK : add_node(&a, nodes[i], most_steps);
        longest = f->steps - before > longest ? f->steps - before : longest;
    }
    if (!f->is_regular)
        add_chain(f, choice, net);
    free(a.links);
    if (error)
        ar_formula_fini(f);
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
ar_formula_init_rank(struct ar_formula *f, const struct ar_choice *choice,
                     const struct ar_network *net, size_t count)
{
    struct adding a = {.formula = f, .choice = choice, .network = net, .count = count, .weight = 1};
    const struct ar_nodes nodes = ar_nodes_make(net->nranks / 2, net->nranks, &choice->params);
    const int place = middle_of(net->machine, nodes.local_size);
    *f = (struct ar_formula){.is_regular = true};
    const int error = add_rank(&a, ar_nodes_rank(&nodes, nodes.mine, place));
    end_node(&a);
    add_chain(f, choice, net);
    free(a.links);
    if (error)
        ar_formula_fini(f);
    return error;
}

void
ar_formula_fini(struct ar_formula *f)
{
    free(f->rounds);
    f->rounds = NULL;
}

/* --- its value --- */

static double
latency_of(const struct ar_formula_round *r, const struct ar_machine *m, double bytes)
{
    const struct ar_travel *const travels[] = {&m->node, &m->network};
    double latency = 0;
    for (int is_far = 0; is_far < 2; is_far++) {
        const bool asks = r->longest[is_far] * bytes > (double)travels[is_far]->eager_bytes;
        most(&latency, r->latency[is_far] + (asks ? r->handshake[is_far] : 0));
    }
    return latency;
}

struct ar_formula_time
ar_formula_at(const struct ar_formula *f, const struct ar_machine *machine, double bytes,
              double irregular)
{
    struct ar_formula_time slowest = {.busy = 0};
    size_t k = 0;
    for (int node = 0; node < f->nnodes; node++) {
        struct ar_moment all = {0};
        double rank = 0;
        for (; k < f->nodes[node].end; k++) {
            const struct ar_formula_round *const r = &f->rounds[k];
            const double reduction = r->reduction * bytes, alone = r->overhead + reduction;
            const double turns = r->turns + r->turns_per_byte * bytes;
            const double own = turns > alone ? turns : alone;
            const double latency = latency_of(r, machine, bytes);
            const double wire = (r->wire > r->stream ? r->wire : r->stream) * bytes;
            all.at += own + latency + wire;
            all.parts[AR_PART_OVERHEAD] += r->overhead;
            all.parts[AR_PART_LATENCY] += latency;
            all.parts[AR_PART_REDUCTION] += reduction;
            all.parts[AR_PART_WAITING] += own - alone;
            all.parts[AR_PART_WIRE] += wire;
            rank += own;
        }
        if (all.at > slowest.segment.at)
            slowest.segment = all;
        most(&slowest.busy, f->nodes[node].busiest * bytes);
        most(&slowest.busy, rank);
    }
    const double chain = f->chain + f->chain_per_byte * bytes;
    const double waits = f->is_regular ? 1 : irregular;
    const double end = fmax(slowest.segment.at, chain) * waits;
    slowest.segment.parts[AR_PART_WAITING] += end - slowest.segment.at;
    slowest.segment.at = end;
    slowest.busy *= waits;
    return slowest;
}

struct ar_moment
ar_moment_follow(struct ar_moment segment, double busy, size_t nsegments, int window)
{
    const double n = (double)nsegments;
    struct ar_moment end = segment;
    end.at = fmax(segment.at + busy * (n - 1), segment.at * n / window);
    for (int i = 0; i < AR_PARTS && segment.at > 0; i++)
        end.parts[i] *= end.at / segment.at;
    return end;
}

/* --- groups --- */

int
ar_formula_group(struct ar_formula_levels *levels, struct ar_choice *choice,
                 const struct ar_machine *machine, const struct ar_node_index *index, int nranks)
{
    struct ar_params *const params = &choice->params;
    const enum ar_levels_kind kind = params->levels.kind;
    levels->of = NULL;
    if (!ar_algorithm_has_levels_in_nodes(choice->algorithm) || params->grouping ||
        kind == AR_LEVELS_AUTO || kind == AR_LEVELS_FLAT)
        return AR_OK;
    int *const of = malloc(AR_DOMAINS * (size_t)nranks * sizeof *of);
    if (!of)
        return AR_ERR_MEMORY;
    if (!params->domains) {
        ar_machine_domains(&levels->domains, of, machine, index, nranks);
        params->domains = &levels->domains;
    }
    if (ar_algorithm_group(&levels->grouping, NULL, choice->algorithm, params, nranks)) {
        free(of);
        return AR_ERR_MEMORY;
    }
    levels->of = of;
    params->grouping = &levels->grouping;
    return AR_OK;
}

void
ar_formula_ungroup(struct ar_formula_levels *levels)
{
    if (levels->of)
        ar_grouping_fini(&levels->grouping);
    free(levels->of);
}
