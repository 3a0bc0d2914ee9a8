/* What statistics say of this process: where it runs, what it is, and with which MPI library. */
#ifndef AR_SELF_H
#define AR_SELF_H

#include "report/rank_rows.h"

struct ar_self {
    struct ar_rank_row rank; /* without numbers */
    char command[1024];      /* the command line; a longer one is cut */
    char library[256];       /* the first line of what the MPI library says of itself */
};

/* At the process's first allreduce; rank: in the job. */
void ar_self_describe(struct ar_self *self, int rank);

#endif
