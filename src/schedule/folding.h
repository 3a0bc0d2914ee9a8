/* Folding: which recv_reduce steps may combine what they receive as it comes, rather than in the
 * local part of the round.  Pure. */
#ifndef AR_FOLDING_H
#define AR_FOLDING_H

#include "schedule/schedule.h"

/* When a recv_reduce may combine: only at the end of the round; as messages come, unless IN and OUT
 * are the same memory; or as messages come in any case.  Each value allows more than the one
 * before. */
enum ar_folding { AR_FOLD_LATE, AR_FOLD_UNLESS_IN_PLACE, AR_FOLD_AT_ONCE };

/* Sets folding[i], an enum ar_folding, for each step i of s; LATE for what is not a recv_reduce.
 * Any of the steps of a round that may fold can do so, in any order, whether or not the others
 * do.  No other step of the round touches what they write, or writes what they read. */
void ar_folding_find(unsigned char *folding, const struct ar_schedule *s);

#endif
