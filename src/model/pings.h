/* How messages travel between two ranks: which messages are played, and what follows from the time
 * that they take.  Pure. */
#ifndef AR_PINGS_H
#define AR_PINGS_H

#include <stdbool.h>

#include "model/machine.h"

/* Bytes of a message, and messages in a row. */
#define AR_PING_SHORT 8
#define AR_PING_LONG  (256 << 10)
#define AR_PING_TRAIN 16 /* short ones */
#define AR_PING_ROW   3  /* long ones */

/* Where a long message takes longer, no row of them is sent. */
#define AR_PING_SLOW_NS 1e7

/* Who plays.  Both ranks measure at once, and what the clock of one of them says counts, the
 * server's.  Each function returns 0, or an error that ends the measurement on both ranks. */
struct ar_pings {
    void *with; /* is passed to the functions */

    /* Loops of n messages of so many bytes from the server, and a short one back; *ns: the fastest
     * of them. */
    int (*play)(void *with, double *ns, int bytes, int n, int loops);

    /* *is, alike on both ranks: does a send of so many bytes complete before its receive is posted?
     */
    int (*is_eager)(void *with, bool *is, int bytes);

    /* The server tells the other rank. */
    int (*tell)(void *with, bool *what);

    int effort; /* 1 takes some milliseconds and long ones of 1 MiB in all; n repeats all n times */
    bool is_near; /* both are on one node */
};

/* Sets *travel on the server, but for stream_per_byte.  eager_bytes and handshake stay as they are
 * where messages up to 64 KiB are eager, and within a node, where schedules send none.  0, or
 * the players' error. */
int ar_pings_measure(struct ar_travel *travel, const struct ar_pings *pings);

#endif
