/* Ctrl-C in a long run: what was measured is kept. */
#ifndef AR_INTERRUPT_H
#define AR_INTERRUPT_H

#include <stdbool.h>

/* From now on SIGINT and SIGTERM, which launchers pass on to the ranks or send themselves when they
 * are interrupted, only leave a mark.  Called once, behind MPI_Init. */
void ar_interrupt_watch(void);

/* Has this rank got one?  Others may not have: ranks agree before they act on it. */
bool ar_interrupt_came(void);

#endif
