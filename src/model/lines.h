/* Cache lines that ranks take from each other's areas or buffers (schedule/accesses.h).  Pure.
 *
 * Each flag has a line of its own.  What is stored for it stands there too where it is at most
 * AR_TINY_BYTES bytes, else in lines of its own.
 *
 * For each chunk a rank stores into its own lines, which takes them back from those who read them
 * before; then every reader takes each line that it reads once.  It comes from the owner, or, where
 * the first level of the machine has a cache, from that cache once a rank of it has taken the line.
 * What a rank looks at before the flag is raised does not count.
 *
 * In place a rank's IN and OUT are lines, too, each from a line's beginning on.  Before the call
 * the program writes both.  A rank that gives takes each line from the receiver, and after the call
 * the receiver's program takes it back.  So the counts are those of the whole turn.  They are exact
 * where no line has results of three ranks, and no rank reads in OUT of another one what it then
 * gives it: on two ranks, and on more, flat, if slices are whole lines. */
#ifndef AR_LINES_H
#define AR_LINES_H

#include <stddef.h>

#include "model/machine.h"
#include "schedule/accesses.h"

/* The lines of an owner's flag that a place in its area is in: 0 is the flag's own.  Of a buffer
 * the first line is 1.  n may be 0. */
struct ar_lines {
    size_t first, n;
};

struct ar_lines ar_lines_of(const struct ar_access_place *place, size_t length,
                            size_t element_bytes);

/* What tells them from other lines of the owner: the flag, or a negative number for each buffer. */
int ar_lines_flag(const struct ar_access_place *place);

/* The innermost level of the machine that both ranks are in; -1 for a rank and itself. */
int ar_lines_level(const struct ar_machine *machine, int rank, int other);

/* Do ranks that share the innermost level share a cache? */
bool ar_lines_are_shared(const struct ar_machine *machine);

/* Lines that move for one chunk, by the level of the machine on which they do: all[], and of the
 * rank that takes most of all levels together, most[].  AR_OK; AR_ERR_MEMORY. */
struct ar_lines_count {
    size_t all[AR_MACHINE_DOMAINS];
    size_t most[AR_MACHINE_DOMAINS];
};

int ar_lines_count(struct ar_lines_count *count, const struct ar_machine *machine,
                   const struct ar_accesses *ranks, int nranks, size_t element_bytes);

#endif
