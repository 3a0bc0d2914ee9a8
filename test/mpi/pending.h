/* The program's own communication that is under way while ranks are inside MPI_Allreduce. */
#ifndef PENDING_H
#define PENDING_H

#include "mpi_check.h"

enum pending_kind {
    PENDING_ISEND,      /* a ring of messages, received at once */
    PENDING_LATE_ISEND, /* whose receives are posted only when they are met */
    PENDING_ISSEND,
    PENDING_IBARRIER,
    PENDING_IALLREDUCE,
    PENDING_IBCAST,
    PENDING_PUT, /* a passive epoch: a lock, a put, an accumulate */
    PENDING_GET,
    PENDING_KINDS
};

/* Each kind may be under way once; put and get share a window, so one of them. */
struct pending {
    enum pending_kind kind;
    struct check_comm c;
    unsigned salt; /* what is sent is made of it */
    int length;    /* ints */
    bool is_met;
    int *sent, *received;   /* owned */
    MPI_Request request[2]; /* what is sent, or all; what is received */
};

/* A window on each rank of the world, and its end.  Collective over it. */
void pending_open(void);
void pending_close(void);

const char *pending_name(enum pending_kind kind);

/* Begins it on all ranks of c, an intracommunicator that outlives it; of length ints or, in
 * windows, of one. */
void pending_begin(struct pending *p, enum pending_kind kind, const struct check_comm *c,
                   int length, unsigned salt);

/* Completes what needs no more of the other ranks than that they have begun and make progress; any
 * ranks may.  The others may be inside MPI_Allreduce meanwhile. */
void pending_meet(struct pending *p);

/* Completes it, met before or not, and fails if what came is wrong.  All ranks. */
void pending_end(struct pending *p);

#endif
