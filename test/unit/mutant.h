/* Mutants of the order of a schedule's steps and rounds, many of which are correct. */
#ifndef MUTANT_H
#define MUTANT_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/schedule.h"

enum mutant { DOUBLE, EXCHANGE, EARLIER, LATER, EXCHANGE_ROUNDS, JOIN_ROUNDS, UNSENT, MUTANTS };

extern const char *const mutant_names[]; /* index = enum mutant */

/* Adds the step to the schedule's current round. */
void mutant_emit(struct ar_schedule *s, const struct ar_step *step);

/* Makes a mutant of step k of s, or of the round that it begins: UNSENT lacks the step, which its
 * peer has to lack as well.  False, with nothing to free, if there is none or the builder refuses
 * it. */
bool mutant_of_order(struct ar_schedule *mutant, const struct ar_schedule *s, size_t k,
                     enum mutant how);

#endif
