/* The simulator: when a program ends on a machine, and where its time went.  Pure.
 *
 * As the executor has it, a round posts its receives, then its sends, and when all are
 * complete does its local part; up to window segments are under way, each a run of the program.
 * A rank does one thing at a time: an overhead for each send and each message received, copies,
 * reductions.  A message leaves when it has been posted, a long one when its receive has, too
 * (two latencies later than the post it waited for least); it is complete for its sender when it
 * has left the first link, for its receiver when its last byte has arrived.
 */
#ifndef AR_SIMULATE_H
#define AR_SIMULATE_H

#include "model/network.h"
#include "model/program.h"

/* Where time goes. */
enum ar_part {
    AR_PART_LATENCY,
    AR_PART_OVERHEAD,
    AR_PART_WIRE,      /* bytes through the narrowest link of their way */
    AR_PART_WAITING,   /* for a link that others use, or for the rank's own other work */
    AR_PART_REDUCTION, /* and copies */
    AR_PARTS
};

/* A moment, and how the longest chain of causes that leads to it spent its time. */
struct ar_moment {
    double at; /* the sum of the parts, but for rounding */
    double parts[AR_PARTS];
};

struct ar_trial {
    const struct ar_program *full; /* of a whole segment */
    const struct ar_program *tail; /* of the last segment where it is shorter; NULL: it is not */
    struct ar_network *network;    /* reset before */
    double element_bytes;          /* may be a fraction, where a program stands for a smaller one */
    size_t nsegments;
    int window;
};

/* Runs; ended[i] tells when segment i has ended on all ranks, room for nsegments.  AR_OK;
 * AR_ERR_MEMORY; AR_ERR_PROOF where some wait for ever. */
int ar_simulate(const struct ar_trial *run, struct ar_moment *ended);

#endif
