/* The program: what the simulator runs, made of the schedules of the ranks.  Pure.
 *
 * Where the schedules and the machine look alike from several ranks, one of them stands for all:
 * the ranks r, r + n, r + 2n, ... or r xor n, r xor 2n, ... behave alike, and only the first n, the
 * sample, are simulated.  A message to a rank outside the sample is then received by the rank of
 * the sample that stands for it.
 */
#ifndef AR_PROGRAM_H
#define AR_PROGRAM_H

#include <stddef.h>

#include "algorithms/registry.h"

enum ar_symmetry {
    AR_SYMMETRY_NONE,
    AR_SYMMETRY_TURN, /* adding n modulo nranks */
    AR_SYMMETRY_FLIP  /* xor with a multiple of n; n and nranks are powers of two */
};

/* Which ranks are simulated. */
struct ar_sample {
    enum ar_symmetry symmetry;
    int nranks;
    int size; /* ranks 0 .. size-1 are simulated; nranks without symmetry */
};

struct ar_program_message {
    int from, to;  /* from is in the sample, to may be outside it */
    size_t length; /* elements */
};

struct ar_program_round {
    size_t first_send; /* in messages; up to the next round's */
    size_t first_receive;
    size_t reduced, copied; /* elements */
};

struct ar_program {
    struct ar_sample sample;
    size_t *first_round;             /* of each rank of the sample, size + 1 entries */
    struct ar_program_round *rounds; /* of rank after rank, and one past the end */
    size_t nrounds;
    struct ar_program_message *messages; /* in the order in which they are sent */
    size_t *receives;                    /* messages in the order in which they are received */
    size_t nmessages;
    size_t nsteps; /* of the schedules of all ranks of the sample */
};

/* The rank of the sample that stands for rank. */
int ar_sample_rank(const struct ar_sample *sample, int rank);

/* Emits what the ranks of the sample do on count elements and pairs their messages.  AR_OK, and the
 * program is the caller's to fini; AR_ERR_PROOF where sends and receives do not pair: the ranks are
 * not alike, or the algorithm is broken; AR_ERR_PARAM where there are more than most steps;
 * AR_ERR_MEMORY; other errors of ar_algorithm_emit. */
int ar_program_init(struct ar_program *program, const struct ar_sample *sample,
                    const struct ar_algorithm *row, const struct ar_params *params, size_t count,
                    size_t most);
void ar_program_fini(struct ar_program *program);

/* Sets *sample, whose nranks is given, to the smallest sample (unit ranks, or two, four, eight, ...
 * times as many) whose ranks others all over were found to act like.  Only some of the others are
 * looked at, and their steps are added to *steps.  AR_OK, also where there is no such symmetry and
 * *sample stays as it is; errors of ar_algorithm_emit. */
int ar_sample_find(struct ar_sample *sample, size_t *steps, int unit,
                   const struct ar_algorithm *row, const struct ar_params *params, size_t count);

#endif
