/* The links of a machine, and the way of a message through them.  Pure. */
#ifndef AR_NETWORK_H
#define AR_NETWORK_H

#include <stddef.h>

#include "model/machine.h"

#define AR_WAY_MAX 256 /* links of one way */

enum ar_link_kind {
    AR_LINK_PORT_OUT, /* of a rank, to its node */
    AR_LINK_PORT_IN,
    AR_LINK_MEMORY, /* of a node */
    AR_LINK_CARD_OUT,
    AR_LINK_CARD_IN,
    AR_LINK_HOST,  /* the cores of a host, where they limit messages between nodes */
    AR_LINK_LEVEL, /* of the network */
    AR_LINK_DOMAIN = AR_LINK_LEVEL + AR_MACHINE_LEVELS, /* into what ranks of a node share */
    AR_LINK_KINDS = AR_LINK_DOMAIN + AR_MACHINE_DOMAINS
};

struct ar_link {
    double per_byte;
    double free_at; /* when the last message has gone through */
    double busy;    /* time spent on messages */
};

/* Which links there are.  Their numbers are those of kind after kind, from first[kind] on. */
struct ar_network {
    const struct ar_machine *machine; /* borrowed */
    const int *node_of;               /* of each rank; borrowed */
    int nranks;
    int nnodes;
    int nhosts;
    double crowd; /* ranks on a core, on the fullest host; 1 where each has its own */
    size_t first[AR_LINK_KINDS + 1];
    int units[AR_MACHINE_LEVELS];    /* switches, torus nodes, or routers and groups */
    struct ar_link *links;           /* owned */
    int domains[AR_MACHINE_DOMAINS]; /* of the fullest node, on each level */
    int *domain_of; /* owned: on each level, of rank after rank; NULL with fewer than two levels */
    struct ar_travel inside[AR_MACHINE_DOMAINS]; /* a node, by the level that both ranks share */
};

/* A link, and what a byte of the message takes there. */
struct ar_way_link {
    size_t link;
    double per_byte;
};

/* A message's way. */
struct ar_way {
    double latency;
    double per_byte; /* through the narrowest link, or stream if that is more */
    double stream;   /* of one message, however few others there are */
    int n;
    struct ar_way_link links[AR_WAY_MAX];
};

/* Ranks 0 .. nranks-1 on nodes as node_of says; those of a node follow each other on its cores.
 * What the machine says of messages in a node is about ranks that share its innermost level.
 * Where ranks share less, a message waits longer for two lines, the one that tells of it and the
 * first with its data.  A byte of it takes as much longer as a byte of lines does.  AR_OK;
 * AR_ERR_MEMORY; AR_ERR_PARAM where a torus has fewer places than there are nodes. */
int ar_network_init(struct ar_network *network, const struct ar_machine *machine,
                    const int *node_of, int nranks);
void ar_network_fini(struct ar_network *network);

/* How many links there are. */
size_t ar_network_links(const struct ar_network *network);

/* The host of a rank. */
int ar_network_host(const struct ar_network *network, int rank);

/* Makes all links free, and never busy before. */
void ar_network_reset(struct ar_network *network);

/* The way of a message from a rank to another one.  Where ranks stand for others, receiver stands
 * for to, and the card is that of its node. */
void ar_network_way(const struct ar_network *network, struct ar_way *way, int from, int to,
                    int receiver);

/* How messages travel from a rank to another: as within a node, by what both share there, or as
 * between nodes. */
const struct ar_travel *ar_network_travel(const struct ar_network *network, int from, int to);

/* The link that was busy longest, and what a link is, such as "card of node 3, out". */
size_t ar_network_busiest(const struct ar_network *network);
void ar_network_name(const struct ar_network *network, size_t link, char *text, size_t room);

#endif
