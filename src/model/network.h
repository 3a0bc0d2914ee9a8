/* The links of a machine, and the way of a message through them.  Pure. */
#ifndef AR_NETWORK_H
#define AR_NETWORK_H

#include <stdbool.h>
#include <stddef.h>

#include "model/machine.h"

#define AR_WAY_MAX 256 /* links of one way */

enum ar_link_kind {
    AR_LINK_PORT_OUT, /* of a rank, to its node */
    AR_LINK_PORT_IN,
    AR_LINK_MEMORY, /* of a node */
    AR_LINK_CARD_OUT,
    AR_LINK_CARD_IN,
    AR_LINK_LEVEL, /* of the network */
};

struct ar_link {
    double per_byte;
    double free_at; /* when the last message has gone through */
    double busy;    /* time spent on messages */
};

/* Which links there are, by number: those of a kind follow each other. */
struct ar_network {
    const struct ar_machine *machine; /* borrowed */
    const int *node_of;               /* of each rank; borrowed */
    int nranks;
    int nnodes;
    size_t first[AR_LINK_LEVEL + AR_MACHINE_LEVELS + 1];
    int units[AR_MACHINE_LEVELS]; /* switches, torus nodes, or routers and groups */
    struct ar_link *links;        /* owned */
};

/* A message's way. */
struct ar_way {
    double latency;
    double per_byte; /* through the narrowest link, or of a message alone */
    double stream;   /* per_byte of a message alone, that no link's other messages add to */
    int n;
    size_t links[AR_WAY_MAX];
};

/* Ranks 0 .. nranks-1 on nodes as node_of says.  AR_OK; AR_ERR_MEMORY; AR_ERR_PARAM where
 * a torus has fewer places than there are nodes. */
int ar_network_init(struct ar_network *network, const struct ar_machine *machine,
                    const int *node_of, int nranks);
void ar_network_fini(struct ar_network *network);

/* How many there are. */
size_t ar_network_links(const struct ar_network *network);

/* All links free, none was ever busy. */
void ar_network_reset(struct ar_network *network);

/* The way from a rank to another one, whose own links are those of its actor. */
void ar_network_way(const struct ar_network *network, struct ar_way *way, int from, int to,
                    int actor);

/* The travel from a rank to another: within a node, or between nodes. */
const struct ar_travel *ar_network_travel(const struct ar_network *network, int from, int to);

/* The link that was busy longest, and what it is, such as "card of node 3, out". */
size_t ar_network_busiest(const struct ar_network *network);
void ar_network_name(const struct ar_network *network, size_t link, char *text, size_t room);

#endif
