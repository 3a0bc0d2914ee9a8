/* The program's own communication that is under way while ranks are inside MPI_Allreduce. */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "mpi_check.h"

enum traffic_kind {
    TRAFFIC_ISEND,      /* a ring of messages, received at once */
    TRAFFIC_LATE_ISEND, /* whose receives are posted only when they are met */
    TRAFFIC_ISSEND,
    TRAFFIC_IBARRIER,
    TRAFFIC_IALLREDUCE,
    TRAFFIC_IBCAST,
    TRAFFIC_PUT, /* a passive epoch: a lock, a put, an accumulate */
    TRAFFIC_GET,
    TRAFFIC_KINDS
};

/* Each kind may be under way once; put and get share a window, so one of them. */
struct traffic {
    enum traffic_kind kind;
    struct check_comm c;
    unsigned salt; /* what is sent is made of it */
    int length;    /* ints */
    bool is_met;
    int *sent, *received;   /* owned */
    MPI_Request request[2]; /* what is sent, or all; what is received */
};

/* A window on each rank of the world, and its end.  Collective over it. */
void traffic_open(void);
void traffic_close(void);

const char *traffic_name(enum traffic_kind kind);

/* Begins it on all ranks of c, an intracommunicator that outlives it; of length ints or, in
 * windows, of one. */
void traffic_begin(struct traffic *p, enum traffic_kind kind, const struct check_comm *c,
                   int length, unsigned salt);

/* Completes what needs no more of the other ranks than that they have begun and make progress; any
 * ranks may.  The others may be inside MPI_Allreduce meanwhile. */
void traffic_meet(struct traffic *p);

/* Completes it, met before or not, and fails if what came is wrong.  All ranks. */
void traffic_end(struct traffic *p);

#endif
