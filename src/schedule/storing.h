/* What each rank's schedule stores for others, and where: of struct ar_accesses.  Pure. */
#ifndef AR_STORING_H
#define AR_STORING_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/accesses.h"
#include "schedule/schedule.h"

/* A stretch of a buffer that a round sends, to anybody; in place all that it sends of OUT. */
struct ar_stored_run {
    size_t round;
    struct ar_region region;
    struct ar_access_place place;
};

/* What a send step sends. */
struct ar_stored_message {
    int to;
    size_t round;
    size_t at; /* number of the step */
    struct ar_region region;
    struct ar_access_place place;
    struct ar_access_place given; /* where it is stored if it is given: in the receiver's OUT */
    bool is_given;
};

/* All that one rank's schedule stores; used again for the next rank's. */
struct ar_storing {
    struct ar_stored_run *runs; /* owned; in the order of the rounds */
    /* Owned; in the order of the rounds, a round's in that of the steps. */
    struct ar_stored_message *messages;
    size_t nruns, nmessages, runs_room, messages_room;
    bool in_place; /* nothing is stored */
    size_t line_length;
    size_t length; /* of the area */
    int nflags;
};

/* Finds all that the schedule stores, in place what it leaves where it is; what was found before is
 * forgotten, and its memory used again.  AR_OK; AR_ERR_MEMORY; AR_ERR_STEP where in place something
 * of TMP is sent. */
int ar_storing_find(struct ar_storing *st, const struct ar_schedule *s);
void ar_storing_fini(struct ar_storing *st);

#endif
