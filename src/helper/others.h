/* Do others use the ranks' cores while they measure?
 *
 * CPU time counts, not context switches: ranks that share cores switch, too, and an involuntary
 * switch does not tell for whom.  What these ranks did themselves is subtracted from what all
 * processes, and other virtual machines, did on the CPUs of a node's ranks.  A node is what one
 * kernel runs, whatever MPI takes for nodes.  Interrupts do not count: they are those of the ranks'
 * messages as a rule. */
#ifndef AR_OTHERS_H
#define AR_OTHERS_H

#include <mpi.h>
#include <stdint.h>

#include "helper/cpu_ticks.h"

/* A look that has begun. */
struct ar_others {
    MPI_Comm node;
    struct ar_cpus cpus;       /* of all its ranks */
    struct ar_cpu_ticks *from; /* on the node's first rank; NULL: the system does not tell */
    double own;                /* seconds of this process so far */
    uint64_t since_ns;
};

/* Collective over MPI_COMM_WORLD. */
void ar_others_begin(struct ar_others *others);

/* The same, and frees what begin took.  Rank 0 warns on stderr where others kept more than
 * AR_QUIET_CPUS busy on some node in all that time. */
void ar_others_end(struct ar_others *others, const char *command);

#endif
