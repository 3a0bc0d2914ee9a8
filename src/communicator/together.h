/* All ranks ask the model together: they wait for its advice anyway. */
#ifndef AR_TOGETHER_H
#define AR_TOGETHER_H

#include "communicator/communicator.h"
#include "tuning/advise.h"

/* ar_advise, its tasks shared out among the ranks of c, whose engine is ready; ranks without memory
 * give no help.  *request is alike on all ranks.  Rank 0 gets *advice, and in *error what ar_advise
 * returns.  Collective over c's ranks.  MPI_SUCCESS or an error of MPI's. */
int ar_advise_together(const struct ar_communicator *c, const struct ar_advice_request *request,
                       struct ar_advice *advice, int *error);

#endif
