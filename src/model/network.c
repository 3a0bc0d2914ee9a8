#include "model/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "schedule/error.h"

/* --- which links there are --- */

static int
groups_of(int n, int size)
{
    return (n + size - 1) / size;
}

static int
product(const int *dims, int n)
{
    int all = 1;
    for (int i = 0; i < n; i++)
        all *= dims[i];
    return all;
}

/* How many switches, torus nodes, routers or groups level l has. */
static int
units_of(const struct ar_network *net, int l)
{
    const struct ar_machine *const m = net->machine;
    return m->shape == AR_SHAPE_TORUS ? product(m->dims, m->ndims)
                                      : groups_of(net->nnodes, m->levels[l].nodes);
}

static size_t
links_of_level(const struct ar_network *net, int l)
{
    const struct ar_machine *const m = net->machine;
    const size_t units = (size_t)net->units[l], routers = (size_t)m->routers;
    if (m->shape == AR_SHAPE_TORUS)
        return units * 2 * (size_t)m->ndims;
    if (m->shape == AR_SHAPE_SWITCHES)
        return 2 * units;
    return l > 0 ? units * units : (size_t)groups_of(net->units[0], m->routers) * routers * routers;
}

static size_t
links_of_domains(const struct ar_network *net, int l)
{
    const bool are_limited = net->domain_of && net->machine->domains[l].link_per_byte > 0;
    return are_limited ? (size_t)net->nnodes * (size_t)net->domains[l] : 0;
}

/* Numbers the links, kind after kind. */
static void
number_links(struct ar_network *net)
{
    const size_t ranks = (size_t)net->nranks, nodes = (size_t)net->nnodes;
    const size_t counts[AR_LINK_LEVEL] = {ranks, ranks, nodes, nodes, nodes, (size_t)net->nhosts};
    size_t n = 0;
    for (int kind = 0; kind < AR_LINK_LEVEL; kind++) {
        net->first[kind] = n;
        n += counts[kind];
    }
    for (int l = 0; l < AR_MACHINE_LEVELS; l++) {
        net->first[AR_LINK_LEVEL + l] = n;
        if (l < net->machine->nlevels) {
            net->units[l] = units_of(net, l);
            n += links_of_level(net, l);
        }
    }
    for (int l = 0; l < AR_MACHINE_DOMAINS; l++) {
        net->first[AR_LINK_DOMAIN + l] = n;
        n += links_of_domains(net, l);
    }
    net->first[AR_LINK_KINDS] = n;
}

static int
host_of_node(const struct ar_network *net, int node)
{
    return net->machine->host_nodes > 0 ? node / net->machine->host_nodes : node;
}

int
ar_network_host(const struct ar_network *net, int rank)
{
    return host_of_node(net, net->node_of[rank]);
}

/* AR_OK; AR_ERR_MEMORY. */
static int
count_hosts(struct ar_network *net)
{
    const int cores = ar_machine_cores(net->machine);
    net->nhosts = host_of_node(net, net->nnodes - 1) + 1;
    net->crowd = 1;
    int *const ranks = calloc((size_t)net->nhosts, sizeof *ranks);
    if (!ranks)
        return AR_ERR_MEMORY;
    for (int r = 0; r < net->nranks && cores > 0; r++) {
        const double crowd = (double)++ranks[ar_network_host(net, r)] / cores;
        net->crowd = crowd > net->crowd ? crowd : net->crowd;
    }
    free(ranks);
    return AR_OK;
}

/* Lines that a message waits for one after the other: that which tells of it, and its first. */
#define LINES_AWAITED 2

/* Where lines of an outer level are said to be faster, its messages take as long as inside. */
static void
set_travels(struct ar_network *net)
{
    const struct ar_machine *const m = net->machine;
    const struct ar_machine_domain *const first = &m->domains[0];
    net->inside[0] = m->node;
    for (int l = 1; l < m->ndomains; l++) {
        struct ar_travel *const travel = &net->inside[l];
        const double later = LINES_AWAITED * fmax(m->domains[l].latency - first->latency, 0);
        const double slower = fmax(m->domains[l].per_byte - first->per_byte, 0);
        *travel = m->node;
        travel->latency += later;
        travel->handshake += 2 * later;
        travel->per_byte += slower;
        travel->stream_per_byte += travel->stream_per_byte > 0 ? slower : 0;
    }
}

/* Finds the domains of each rank, by its place among the ranks of its node.  AR_OK; AR_ERR_MEMORY.
 */
static int
find_domains(struct ar_network *net)
{
    const struct ar_machine *const m = net->machine;
    const size_t levels = (size_t)m->ndomains;
    if (levels < 2)
        return AR_OK;
    int *const ranks = calloc((size_t)net->nnodes, sizeof *ranks);
    net->domain_of = malloc((size_t)net->nranks * levels * sizeof *net->domain_of);
    const bool has_memory = ranks && net->domain_of;
    for (int r = 0; has_memory && r < net->nranks; r++) {
        const int place = ranks[net->node_of[r]]++;
        for (size_t l = 0; l < levels; l++) {
            const int domain = place / m->domains[l].ranks;
            net->domain_of[(size_t)r * levels + l] = domain;
            if (net->domains[l] <= domain)
                net->domains[l] = domain + 1;
        }
    }
    free(ranks);
    return has_memory ? AR_OK : AR_ERR_MEMORY;
}

int
ar_network_init(struct ar_network *net, const struct ar_machine *m, const int *node_of, int nranks)
{
    double per_byte[AR_LINK_KINDS] = {
        [AR_LINK_PORT_OUT] = m->node.per_byte,   [AR_LINK_PORT_IN] = m->node.per_byte,
        [AR_LINK_MEMORY] = m->memory_per_byte,   [AR_LINK_CARD_OUT] = m->network.per_byte,
        [AR_LINK_CARD_IN] = m->network.per_byte, [AR_LINK_HOST] = m->host_per_byte,
    };
    *net = (struct ar_network){.machine = m,
                               .node_of = node_of,
                               .nranks = nranks,
                               .nnodes = ar_nodes_count(node_of, nranks)};
    if (m->shape == AR_SHAPE_TORUS && product(m->dims, m->ndims) < net->nnodes)
        return AR_ERR_PARAM;
    set_travels(net);
    if (!count_hosts(net) && !find_domains(net)) {
        number_links(net);
        net->links = calloc(ar_network_links(net), sizeof *net->links);
    }
    if (!net->links) {
        ar_network_fini(net);
        return AR_ERR_MEMORY;
    }
    for (int l = 0; l < AR_MACHINE_LEVELS; l++)
        per_byte[AR_LINK_LEVEL + l] = m->levels[l].per_byte;
    for (int l = 0; l < AR_MACHINE_DOMAINS; l++)
        per_byte[AR_LINK_DOMAIN + l] = m->domains[l].link_per_byte;
    for (int kind = 0; kind < AR_LINK_KINDS; kind++)
        for (size_t i = net->first[kind]; i < net->first[kind + 1]; i++)
            net->links[i].per_byte = per_byte[kind];
    return AR_OK;
}

size_t
ar_network_links(const struct ar_network *net)
{
    return net->first[AR_LINK_KINDS];
}

void
ar_network_fini(struct ar_network *net)
{
    free(net->links);
    free(net->domain_of);
    net->links = NULL;
    net->domain_of = NULL;
}

void
ar_network_reset(struct ar_network *net)
{
    for (size_t i = 0; i < ar_network_links(net); i++)
        net->links[i].free_at = net->links[i].busy = 0;
}

/* --- ways --- */

/* Adds a link to the way, but not one without limit, which holds nobody up. */
static void
add_at(struct ar_way *way, size_t link, double per_byte)
{
    if (per_byte == 0 || way->n == AR_WAY_MAX)
        return;
    way->links[way->n++] = (struct ar_way_link){link, per_byte};
    way->per_byte = per_byte > way->per_byte ? per_byte : way->per_byte;
}

static void
add(const struct ar_network *net, struct ar_way *way, int kind, size_t i)
{
    const size_t link = net->first[kind] + i;
    add_at(way, link, net->links[link].per_byte);
}

static void
cross_switches(const struct ar_network *net, struct ar_way *way, int from, int to)
{
    const struct ar_machine *const m = net->machine;
    for (int l = 0; l < m->nlevels; l++) {
        const int up = from / m->levels[l].nodes, down = to / m->levels[l].nodes;
        if (up == down)
            return;
        way->latency += m->levels[l].latency;
        add(net, way, AR_LINK_LEVEL + l, 2 * (size_t)up);
        add(net, way, AR_LINK_LEVEL + l, 2 * (size_t)down + 1);
    }
}

/* A message goes the shorter way round along each dimension. */
static void
cross_torus(const struct ar_network *net, struct ar_way *way, int from, int to)
{
    const struct ar_machine *const m = net->machine;
    int stride = 1, at = from;
    for (int d = 0; d < m->ndims; d++) {
        const int size = m->dims[d];
        const int here = from / stride % size, there = to / stride % size;
        const int ahead = (there - here + size) % size;
        const bool back = ahead > size - ahead;
        int x = here;
        for (int i = 0; i < (back ? size - ahead : ahead); i++) {
            way->latency += m->levels[0].latency;
            add(net, way, AR_LINK_LEVEL,
                2 * ((size_t)at * (size_t)m->ndims + (size_t)d) + (back ? 1 : 0));
            at -= x * stride;
            x = (x + (back ? size - 1 : 1)) % size;
            at += x * stride;
        }
        stride *= size;
    }
}

static void
cross_group(const struct ar_network *net, struct ar_way *way, int from, int to)
{
    const struct ar_machine *const m = net->machine;
    if (from == to)
        return;
    way->latency += m->levels[0].latency;
    add(net, way, AR_LINK_LEVEL, (size_t)from * (size_t)m->routers + (size_t)(to % m->routers));
}

/* Router j of a group has the links to groups j, j + routers, ...: this is the shortest way. */
static void
cross_dragonfly(const struct ar_network *net, struct ar_way *way, int from, int to)
{
    const struct ar_machine *const m = net->machine;
    const int out = from / m->levels[0].nodes, in = to / m->levels[0].nodes;
    const int here = out / m->routers, there = in / m->routers;
    if (here == there) {
        cross_group(net, way, out, in);
        return;
    }
    cross_group(net, way, out, here * m->routers + there % m->routers);
    way->latency += m->levels[1].latency;
    add(net, way, AR_LINK_LEVEL + 1, (size_t)here * (size_t)net->units[1] + (size_t)there);
    cross_group(net, way, there * m->routers + here % m->routers, in);
}

/* The domain of a rank on a level, among those of its node. */
static int
domain_of(const struct ar_network *net, int rank, int level)
{
    return net->domain_of[(size_t)rank * (size_t)net->machine->ndomains + (size_t)level];
}

/* The innermost level that two ranks of a node share; 0 where there are none. */
static int
level_of(const struct ar_network *net, int rank, int other)
{
    int level = 0;
    while (level < net->machine->ndomains - 1 &&
           domain_of(net, rank, level) != domain_of(net, other, level))
        level++;
    return level;
}

const struct ar_travel *
ar_network_travel(const struct ar_network *net, int from, int to)
{
    return net->node_of[from] == net->node_of[to] ? &net->inside[level_of(net, from, to)]
                                                  : &net->machine->network;
}

/* What moves the bytes of a message inside a node: its memory or, where nodes share a host, the
 * host's cores, which move the bytes of all its nodes as fast as so many memories would. */
static void
cross_memory(const struct ar_network *net, struct ar_way *way, size_t node)
{
    const struct ar_machine *const m = net->machine;
    if (m->host_nodes > 0)
        add_at(way, net->first[AR_LINK_HOST] + (size_t)host_of_node(net, (int)node),
               m->memory_per_byte / m->host_nodes);
    else
        add(net, way, AR_LINK_MEMORY, node);
}

/* Of the domains' links only those are on the way by which the message comes into one. */
static void
cross_node(const struct ar_network *net, struct ar_way *way, int from, int to,
           const struct ar_travel *travel)
{
    const size_t node = (size_t)net->node_of[to];
    const int level = (int)(travel - net->inside);
    add_at(way, net->first[AR_LINK_PORT_OUT] + (size_t)from, travel->per_byte);
    cross_memory(net, way, node);
    for (int l = 0; l < level; l++)
        if (net->machine->domains[l].link_per_byte > 0)
            add(net, way, AR_LINK_DOMAIN + l,
                node * (size_t)net->domains[l] + (size_t)domain_of(net, to, l));
    add_at(way, net->first[AR_LINK_PORT_IN] + (size_t)to, travel->per_byte);
}

void
ar_network_way(const struct ar_network *net, struct ar_way *way, int from, int to, int receiver)
{
    const int here = net->node_of[from], there = net->node_of[to];
    const struct ar_travel *const travel = ar_network_travel(net, from, to);
    way->n = 0;
    way->per_byte = way->stream = travel->stream_per_byte;
    way->latency = travel->latency;
    if (here == there) {
        cross_node(net, way, from, to, travel);
        return;
    }
    add(net, way, AR_LINK_CARD_OUT, (size_t)here);
    add(net, way, AR_LINK_HOST, (size_t)host_of_node(net, here));
    if (net->machine->shape == AR_SHAPE_TORUS)
        cross_torus(net, way, here, there);
    else if (net->machine->shape == AR_SHAPE_DRAGONFLY)
        cross_dragonfly(net, way, here, there);
    else
        cross_switches(net, way, here, there);
    if (host_of_node(net, here) != host_of_node(net, there))
        add(net, way, AR_LINK_HOST, (size_t)ar_network_host(net, receiver));
    add(net, way, AR_LINK_CARD_IN, (size_t)net->node_of[receiver]);
}

/* --- names --- */

size_t
ar_network_busiest(const struct ar_network *net)
{
    size_t most = 0;
    for (size_t i = 0; i < ar_network_links(net); i++)
        if (net->links[i].busy > net->links[most].busy)
            most = i;
    return most;
}

void
ar_network_name(const struct ar_network *net, size_t link, char *text, size_t room)
{
    static const struct {
        const char *what, *of, *way;
    } names[AR_LINK_LEVEL] = {{"port", "rank", ", out"}, {"port", "rank", ", in"},
                              {"memory", "node", ""},    {"card", "node", ", out"},
                              {"card", "node", ", in"},  {"cores", "host", ""}};
    const struct ar_machine *const m = net->machine;
    const size_t ndims = (size_t)m->ndims, routers = (size_t)m->routers;
    int kind = AR_LINK_KINDS - 1;
    while (link < net->first[kind])
        kind--;
    const size_t i = link - net->first[kind];
    if (kind >= AR_LINK_DOMAIN) {
        const size_t domains = (size_t)net->domains[kind - AR_LINK_DOMAIN];
        snprintf(text, room, "link into %s %zu of node %zu", m->domains[kind - AR_LINK_DOMAIN].name,
                 i % domains, i / domains);
    } else if (kind < AR_LINK_LEVEL)
        snprintf(text, room, "%s of %s %zu%s", names[kind].what, names[kind].of, i,
                 names[kind].way);
    else if (m->shape == AR_SHAPE_TORUS)
        snprintf(text, room, "link of node %zu along dimension %zu, %s", i / 2 / ndims,
                 i / 2 % ndims, i % 2 ? "back" : "ahead");
    else if (m->shape == AR_SHAPE_DRAGONFLY && kind == AR_LINK_LEVEL)
        snprintf(text, room, "link of router %zu to router %zu", i / routers,
                 i / routers / routers * routers + i % routers);
    else if (m->shape == AR_SHAPE_DRAGONFLY)
        snprintf(text, room, "link of group %zu to group %zu",
                 i / (size_t)net->units[kind - AR_LINK_LEVEL],
                 i % (size_t)net->units[kind - AR_LINK_LEVEL]);
    else
        snprintf(text, room, "links %s switch %zu of level %d", i % 2 ? "down to" : "up from",
                 i / 2, kind - AR_LINK_LEVEL + 1);
}
