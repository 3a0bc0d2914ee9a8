/* Coherent caches: MESI, one line at a time.  Counts the lines that move from one core's cache to
 * another's, by the level of the machine at which they do.
 *
 * A core that reads a line which it does not have gets it from a core that has it and shares a
 * cache with it, or else from the core that wrote it last.  A write makes the writer the only core
 * that has the line. */
#ifndef COHERENCE_H
#define COHERENCE_H

#include "model/machine.h"

struct coherence {
    const struct ar_machine *machine;
    int ncores;
    size_t nlines;
    char *state; /* of each line and core: 'M', 'E', 'S' or 'I' */
    int *writer; /* of each line: who wrote it last; -1: nobody */
    size_t moved[AR_MACHINE_DOMAINS];
    size_t taken_back; /* copies that a write has ended */
};

/* Aborts without memory. */
void coherence_init(struct coherence *c, const struct ar_machine *machine, int ncores,
                    size_t nlines);
void coherence_fini(struct coherence *c);

void coherence_read(struct coherence *c, int core, size_t line);
void coherence_write(struct coherence *c, int core, size_t line);
char coherence_state(const struct coherence *c, int core, size_t line);

#endif
