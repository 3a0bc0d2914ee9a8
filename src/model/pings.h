/* How messages travel between two ranks: which messages are played, and what follows from the time
 * that they take.  Pure. */
#ifndef AR_PINGS_H
#define AR_PINGS_H

#include <stdbool.h>

#include "model/machine.h"

/* Bytes of a message. */
#define AR_PING_SHORT  8
#define AR_PING_MIDDLE 65536
#define AR_PING_LONG   (8 * AR_PING_MIDDLE)

/* Messages one way, at most. */
#define AR_PING_TRAIN 16 /* short ones */
#define AR_PING_ROW   3  /* long ones */

/* Where a message of AR_PING_MIDDLE bytes takes longer, long ones would take too long. */
#define AR_PING_SLOW_NS 2e6

/* Of loops, in ns. */
struct ar_ping_times {
    double least, median, mean;
};

/* Who plays.  Both ranks measure at once, and what the clock of one of them says counts, the
 * server's.  Each function returns 0, or an error that ends the measurement on both ranks. */
struct ar_pings {
    void *with; /* is passed to the functions */

    /* Loops of n messages of so many bytes from the server, and a short one back. */
    int (*play)(void *with, struct ar_ping_times *times, int bytes, int n, int loops);

    /* *is, alike on both ranks: does a send of so many bytes complete before its receive is posted?
     */
    int (*is_eager)(void *with, bool *is, int bytes);

    /* The server tells the other rank. */
    int (*tell)(void *with, bool *what);

    int effort;      /* 1 takes some milliseconds; n repeats everything n times */
    bool is_near;    /* both are on one node */
    bool is_crowded; /* ranks share cores */
};

/* Sets *travel on the server, but for stream_per_byte.  eager_bytes and handshake stay as they are
 * where all messages are eager, and within a node, where schedules send none.  0, or the players'
 * error. */
int ar_pings_measure(struct ar_travel *travel, const struct ar_pings *pings);

/* What n ranks share, in ns for each byte, where pairs of them hinder each other; else 0.  of: the
 * times in which each pair exchanges a row of long messages while all do.  alone: ns a byte of one
 * pair.  is_near: the ranks of a pair are on one node. */
double ar_pings_shared(const struct ar_ping_times *of, double alone, int n, bool is_near);

#endif
