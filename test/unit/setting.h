/* For tests that walk the registry: the schedules of all ranks, and the
 * parameters worth trying. */
#ifndef SETTING_H
#define SETTING_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/registry.h"

#define SETTING_RANKS_MAX 257
#define SETTING_TEXT      256

/* How ranks may lie on nodes; unknown: no map. */
enum placement {
    PLACE_UNKNOWN,
    PLACE_IN_TURN,    /* 0 1 2 0 1 2 ... */
    PLACE_CONTIGUOUS, /* 0 0 0 0 1 1 1 1 ..., the last node may have fewer */
    PLACE_UNEVEN,     /* nodes of 1, 2, 3, ... ranks */
    PLACE_SINGLES,    /* one rank per node */
    PLACE_TOGETHER,   /* one node */
    PLACE_PAIRS,      /* 0 1 2 ... 0 1 2 ...: two ranks per node, half of all ranks apart */
    PLACE_SCATTERED,  /* nodes of unequal sizes whose ranks lie anywhere */
    PLACE_KINDS
};

/* A row with parameters on so many ranks.  params.node_of may point into it: do
 * not copy. */
struct setting {
    const struct ar_algorithm *row;
    int nranks;
    struct ar_params params;
    int node_of[SETTING_RANKS_MAX];
    char text[SETTING_TEXT]; /* for messages: algorithm, parameters, ranks, placement */
};

/* The row's defaults, with a placement. */
void setting_default(struct setting *setting, const struct ar_algorithm *row, int nranks,
                     enum placement placement);

/* Number i of all combinations of the values worth trying of the parameters that
 * the row takes; i < setting_count(row). */
void setting_vary(struct setting *setting, const struct ar_algorithm *row, int nranks,
                  enum placement placement, size_t i);
size_t setting_count(const struct ar_algorithm *row);

/* How many ranks a walk goes to: most, or what the variable TEST_RANKS says, if that is fewer.  An
 * instrumented program takes minutes for what many ranks do. */
int setting_ranks_to(int most);
bool setting_is_left_out(const struct setting *setting); /* It has more. */

/* The schedules of all ranks; all[rank] is rank's. The test fails if an emitter
 * does. */
struct ar_schedule *schedules_emit(const struct setting *setting, size_t count);
void schedules_free(struct ar_schedule *all, int nranks);

#endif
