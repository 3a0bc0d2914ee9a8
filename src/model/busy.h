/* When something is idle that serves one request at a time, a link say.  Pure.
 *
 * Requests may be told in another order than that of their times: a simulation in which one rank
 * goes on, and then another, learns late what the second asked for early.  So idle times before
 * the latest request are remembered, and a request takes what is idle from when it comes, in parts
 * if need be. */
#ifndef AR_BUSY_H
#define AR_BUSY_H

#include <stddef.h>

/* Idle times that are remembered: the latest. */
#define AR_BUSY_IDLE 128

struct ar_busy {
    struct {
        double from, to;
    } idle[AR_BUSY_IDLE]; /* in their order; the last one is without end */
    size_t n;             /* 0: idle from 0 on */
};

/* When a request is done that comes at a time, >= 0, and takes so long, > 0. */
double ar_busy_take(struct ar_busy *busy, double at, double length);

#endif
