/* A schedule inside another: an allreduce of some of the ranks on a part of the vector. */
#ifndef AR_EMBED_H
#define AR_EMBED_H

#include "schedule/schedule.h"

/* Where the inner one stands in the outer one. */
struct ar_place {
    int (*rank_of)(const void *layout, int i); /* outer rank of the inner rank i */
    const void *layout;                        /* borrowed */
    enum ar_buffer have;                       /* IN or OUT: where its IN is */
    struct ar_span span;                       /* of IN and OUT: its elements */
};

/* Appends inner, of one of the ranks that place knows and of place.span.length elements, to s: its
 * rounds are rounds of s, its OUT is s's, and its TMP lies at the beginning of s's.  Ends the round
 * under way first.  Errors as the emitters', and AR_ERR_STEP where inner is of another length. */
void ar_embed(struct ar_schedule *s, const struct ar_schedule *inner, struct ar_place place);

#endif
