/* A row's formula on a machine: the rounds of some ranks added up, as if all ranks kept step and
 * none waited for another.  Each round takes a + b n, where n are the bytes of a segment, and a
 * grows by a handshake where its messages are no longer eager.  Pure. */
#ifndef AR_FORMULA_H
#define AR_FORMULA_H

#include <stdbool.h>

#include "model/simulate.h"
#include "select/select.h"

#define AR_FORMULA_NODES 3

/* One round of a node's ranks, in ns, or ns for each byte of the vector.  Where there are two, the
 * first is of messages inside the node. */
struct ar_formula_round {
    double overhead, latency[2], handshake[2]; /* the longest of a rank */
    double longest[2];                         /* message, as a part of the vector */
    double reduction;                          /* likewise, for each byte */
    double turns, turns_per_byte; /* of a core, that all who share it do one after the other */
    double stream;                /* the longest message alone, for each byte */
    double wire;                  /* the busiest of ports, memory, cards and links, for each byte */
};

struct ar_formula {
    struct ar_formula_round *rounds; /* of node after node; owned */
    size_t nrounds;
    struct ar_formula_node {
        size_t end;     /* of its rounds */
        double busiest; /* of its links in all rounds, for each byte */
    } nodes[AR_FORMULA_NODES];
    int nnodes;                   /* 0: the row's card stands for all */
    double chain, chain_per_byte; /* that it takes at least, since rounds wait for each other */
    bool is_regular; /* the ranks send and receive in each round: so they do keep step */
    size_t ports;    /* messages that a rank receives in one round, at most */
    size_t steps;    /* of the schedules that were added */
};

/* Adds up the ranks of a node in the middle, then of the first and the last node.  A node is left
 * out if with it all would probably make more than most_steps steps.  The schedules are those of
 * count elements, enough for no block to be empty.  The choice's nodes are indexed, and its groups
 * made. AR_OK, and the formula is the caller's to fini; AR_ERR_MEMORY; errors of the algorithm. */
int ar_formula_init(struct ar_formula *f, const struct ar_choice *choice,
                    const struct ar_network *network, size_t count, size_t most_steps);

/* The same by one rank, in the middle of a node and of what its ranks share.  Its time is hardly
 * longer than that of all ranks. */
int ar_formula_init_rank(struct ar_formula *f, const struct ar_choice *choice,
                         const struct ar_network *network, size_t count);

/* Has one rank alone more rounds than these, with a vector of so many bytes?  The row's card says.
 */
bool ar_formula_is_long(const struct ar_choice *choice, int nranks, double bytes, size_t rounds);

/* The row's card, for where schedules are too long. */
void ar_formula_init_card(struct ar_formula *f, const struct ar_choice *choice,
                          const struct ar_network *network);
void ar_formula_fini(struct ar_formula *f);

/* The groups inside nodes by which a choice goes. */
struct ar_formula_levels {
    int *of; /* of the domains; NULL: there are no groups */
    struct ar_domains domains;
    struct ar_grouping grouping;
};

/* Makes them once for all ranks; the choice's parameters get them.  AR_OK; AR_ERR_MEMORY. */
int ar_formula_group(struct ar_formula_levels *levels, struct ar_choice *choice,
                     const struct ar_machine *machine, const struct ar_node_index *index,
                     int nranks);
void ar_formula_ungroup(struct ar_formula_levels *levels);

struct ar_formula_time {
    struct ar_moment segment; /* how long one takes, on the slowest node */
    double busy; /* how long of it the busiest rank, card or link is busy: segments end no closer
                    together */
};

/* The time of a segment of so many bytes, if rows that are not regular take so many times as long
 * as their messages. */
struct ar_formula_time ar_formula_at(const struct ar_formula *f, const struct ar_machine *machine,
                                     double bytes, double irregular);

/* When all segments end if one takes so long and keeps a rank or a link busy for so long.  The
 * others follow as fast as these and the window let them. */
struct ar_moment ar_moment_follow(struct ar_moment segment, double busy, size_t nsegments,
                                  int window);

#endif
