/* A machine: what messages and reductions take there.  Pure.
 *
 * Ranks share nodes, and nodes share a network.  A message between ranks of a node goes out of one
 * rank's port and into the other's, and through the node's memory, which all messages of the node
 * share.  A message between nodes goes through their network cards, which all ranks of a node
 * share, and through the links that the shape of the network has between them.  Links carry
 * messages one after the other, as they are sent.
 *
 * Ranks may be more than the cores of their host, which is a node, or several nodes where these are
 * containers or virtual machines.  What a rank does itself then waits for a core, and the cores of
 * such a host move the messages inside its nodes, too.
 *
 * Times are in nanoseconds, here and wherever no other unit is named.  A bandwidth is kept as the
 * time that a byte takes, 0 where it is without limit.
 */
#ifndef AR_MACHINE_H
#define AR_MACHINE_H

#include <stddef.h>

#include "algorithms/nodes.h"
#include "select/words.h"

#define AR_MACHINE_TITLE   80
#define AR_MACHINE_PROBLEM 320
#define AR_MACHINE_LEVELS  4
#define AR_MACHINE_DIMS    4
#define AR_MACHINE_DOMAINS 5 /* AR_LEVELS_MAX */
#define AR_MACHINE_NAME    16

/* How messages travel, within a node or between nodes. */
struct ar_travel {
    double latency;         /* from when a byte leaves to when it arrives */
    double overhead;        /* of a rank's time, for each message it sends and each it receives */
    double per_byte;        /* through a rank's port (node), a node's card (network) */
    size_t eager_bytes;     /* longer messages wait for the receiver, and for the handshake */
    double handshake;       /* usually two latencies: one to ask, one to answer */
    double stream_per_byte; /* of one message, however few there are */
};

enum ar_shape {
    AR_SHAPE_SWITCHES, /* a tree of switches, level 0 the lowest; none: all nodes are alike */
    AR_SHAPE_TORUS,    /* level 0 is a link: messages go along dimension 0 first */
    AR_SHAPE_DRAGONFLY /* level 0: from router to router of a group, level 1: of group to group */
};

/* Links of one kind. */
struct ar_level {
    int nodes;       /* below one switch or router */
    double latency;  /* that crossing the level, or each link of a torus, adds */
    double per_byte; /* up from a switch, and down to it; through a link each way */
};

/* What so many consecutive ranks of a node share: a cache, a NUMA node, a socket.  The times are
 * those of loads and stores of memory that they map together.  Messages between ranks that do not
 * share the first domain take longer than the node says, by latency, per_byte and link_per_byte
 * (ar_network_init). */
struct ar_machine_domain {
    char name[AR_MACHINE_NAME];
    int ranks;              /* a multiple of those of the domain inside */
    double latency;         /* of a cache line, from the cache of one of them to another's core */
    double per_byte;        /* of lines that a rank takes from another one, while all ranks do so */
    double serve;           /* what each further reader of the same line waits for the one before */
    double link_per_byte;   /* into one such domain from without, for all its ranks together */
    double memory_per_byte; /* of one such domain's memory, for all its ranks together */
    size_t cache_bytes;     /* that they share: of the innermost; 0: none */
};

struct ar_machine {
    char title[AR_MACHINE_TITLE];
    double reduce_per_byte; /* of the result */
    double copy_per_byte;
    double access; /* of a rank's time, for each flag that it awaits or raises, and for each load,
                      store or combination of elements in shared memory */
    int ahead;     /* flags in a row that a rank's core looks at before the first has come; 0: 1 */
    int ranks_per_node;
    int cores_per_node;   /* 0: not said */
    int host_nodes;       /* so many nodes are one host and share its cores; 0: each is one */
    int host_cores;       /* where host_nodes is set */
    double host_per_byte; /* that its cores take for messages between nodes, all together; for those
                             inside nodes they take what memory_per_byte says */
    int ndomains;         /* 0: what shared memory takes is not known */
    struct ar_machine_domain
        domains[AR_MACHINE_DOMAINS]; /* the innermost first; the last is the node */
    struct ar_travel node;
    double memory_per_byte; /* of a node, for all its messages together; where nodes share a host,
                               while all of them move such messages */
    struct ar_travel network;
    enum ar_shape shape;
    int nlevels;
    struct ar_level levels[AR_MACHINE_LEVELS];
    int ndims; /* of a torus */
    int dims[AR_MACHINE_DIMS];
    int routers; /* of a group of a dragonfly */
};

/* A machine with one rank per node, and nothing but latency, bandwidth and reduction. */
struct ar_machine ar_machine_flat(double latency, double per_byte, double reduce_per_byte);

/* The cores that the nodes of a host share; 0: each rank has one. */
int ar_machine_cores(const struct ar_machine *machine);

/* The node of each rank where ranks fill node after node, machine->ranks_per_node on each.
 * Malloced, nranks entries; NULL without memory. */
int *ar_machine_place(const struct ar_machine *machine, int nranks);

/* What ranks share, by those of the machine's levels that have the name of one of ours; what it has
 * no level for, all ranks of a node share.  The ranks of each node in the index, or of the one node
 * where index is NULL, are on consecutive cores.  of: AR_DOMAINS * nranks entries, which *domains
 * borrows. */
void ar_machine_domains(struct ar_domains *domains, int *of, const struct ar_machine *machine,
                        const struct ar_node_index *index, int nranks);

/* Reads a machine file's text; allreduce-machine(5) has its format.  AR_OK; AR_ERR_SYNTAX, and
 * problem tells line and column, what is wrong and what is allowed. */
int ar_machine_parse(struct ar_machine *machine, const char *text,
                     char problem[AR_MACHINE_PROBLEM]);

/* What a number with its unit measures: nanoseconds, or bytes a second. */
enum ar_measure { AR_MEASURE_TIME, AR_MEASURE_RATE };

/* Reads "1.5us" or "12.5GB/s" as machine files have them: units are spelled exactly.  AR_OK;
 * AR_ERR_SYNTAX, and why gets "cannot be ..." and what is allowed. */
int ar_measure_parse(double *value, enum ar_measure measure, struct ar_word word,
                     struct ar_text *why);

/* The text of a file that parses back to the same machine, to within the digits printed.  Machines
 * are printed that were measured: their nodes are alike.  Malloced; NULL without memory. */
char *ar_machine_print(const struct ar_machine *machine);

#endif
