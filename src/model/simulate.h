/* The simulator: when a program ends on a machine, and where its time went.  Pure.
 *
 * It does as the executor does: a round posts its receives, then its sends, and does its local
 * part when all of them are complete.  Up to window segments are in flight, each an instance of
 * the program.  A rank does one thing at a time: an overhead for each message that it sends and
 * each that it has received, copies, reductions.  A short message leaves when its send is
 * posted.  A long one also waits for its receive to be posted, and leaves two latencies after
 * the earlier of the two at the earliest.  A send is complete when the message has left its
 * first link, a receive when the last byte has arrived. */
#ifndef AR_SIMULATE_H
#define AR_SIMULATE_H

#include "model/network.h"
#include "model/program.h"

/* Where time goes. */
enum ar_part {
    AR_PART_LATENCY,
    AR_PART_OVERHEAD,
    AR_PART_WIRE,      /* bytes through the narrowest link of their way */
    AR_PART_WAITING,   /* for a link or a core that others use, or for the rank's own other work */
    AR_PART_REDUCTION, /* and copies */
    AR_PARTS
};

extern const char *const ar_part_names[AR_PARTS];

/* A moment, and how the longest chain of causes that leads to it spent its time. */
struct ar_moment {
    double at; /* the sum of the parts, but for rounding */
    double parts[AR_PARTS];
};

struct ar_simulation {
    const struct ar_program *full; /* of a whole segment */
    const struct ar_program *tail; /* of the last segment where it is shorter; NULL: it is not */
    struct ar_network *network;    /* reset before */
    double element_bytes;          /* may be a fraction, where a program stands for a smaller one */
    size_t nsegments;
    int window;
};

/* Sets ended[i], of nsegments entries, to when segment i has ended on all ranks.  AR_OK;
 * AR_ERR_MEMORY; AR_ERR_PROOF where some wait for ever. */
int ar_simulate(const struct ar_simulation *run, struct ar_moment *ended);

#endif
