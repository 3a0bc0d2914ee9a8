/* The program: what the simulator runs, made of the schedules of the ranks.  Pure.
 *
 * Where the schedules and the machine look alike from several ranks, one of them stands
 * for all: the ranks r, r + n, r + 2n, ... or r xor n, r xor 2n, ... behave alike, and only
 * the first n are run.  A message to another rank is then one to that rank's representative.
 */
#ifndef AR_PROGRAM_H
#define AR_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms/registry.h"

enum ar_symmetry {
    AR_SYMMETRY_NONE,
    AR_SYMMETRY_TURN, /* adding n modulo nranks */
    AR_SYMMETRY_FLIP  /* xor with a multiple of n; n and nranks are powers of two */
};

/* Which ranks are run. */
struct ar_cast {
    enum ar_symmetry symmetry;
    int nranks;
    int nactors; /* ranks 0 .. nactors-1 are run; nranks without symmetry */
};

struct ar_program_message {
    int from, to; /* from is an actor; to the rank that it sends to */
    uint32_t sender_round, receiver_round;
    size_t length; /* elements */
};

struct ar_program_round {
    size_t first_send; /* in messages; up to the next round's */
    size_t first_receive;
    size_t reduced, copied; /* elements */
};

struct ar_program {
    struct ar_cast cast;
    size_t *first_round;             /* of each actor, nactors + 1 entries */
    struct ar_program_round *rounds; /* of actor after actor, and one past the end */
    size_t nrounds;
    struct ar_program_message *messages; /* in the order in which they are sent */
    size_t *receives;                    /* messages in the order in which they are received */
    size_t nmessages;
};

/* The representative of a rank. */
int ar_cast_actor(const struct ar_cast *cast, int rank);

/* The rank that is to actor as rank b is to rank a: as seen from where a is. */
int ar_cast_seen(const struct ar_cast *cast, int a, int b, int actor);

/* Emits what the actors do on count elements and pairs their messages.  AR_OK, and the program
 * is the caller's to fini; AR_ERR_PROOF where sends and receives do not pair: the ranks are not
 * alike, or the algorithm is broken; AR_ERR_PARAM above most steps; AR_ERR_MEMORY; other errors
 * of ar_algorithm_emit. */
int ar_program_init(struct ar_program *program, const struct ar_cast *cast,
                    const struct ar_algorithm *row, const struct ar_params *params, size_t count,
                    size_t most);
void ar_program_fini(struct ar_program *program);

/* Cuts the cast to the fewest actors of whom ranks all over are found to do the same: unit, or
 * two, four, eight of them.  Only samples are looked at.  AR_OK, whether or not there is such a
 * symmetry; errors of ar_algorithm_emit. */
int ar_cast_find(struct ar_cast *cast, int unit, const struct ar_algorithm *row,
                 const struct ar_params *params, size_t count);

#endif
