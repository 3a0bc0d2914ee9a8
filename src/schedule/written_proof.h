/* The proof of a schedule that somebody wrote.  Pure. */
#ifndef AR_WRITTEN_PROOF_H
#define AR_WRITTEN_PROOF_H

#include "schedule/cost.h"
#include "schedule/written.h"

#define AR_REFUTED_TEXT 640

/* What was proved for every count. */
struct ar_written_proof {
    bool in_rank_order, alike; /* as of struct ar_verdict */
    struct ar_cost cost;       /* with an element in each block */
};

/* The work of a proof, in blocks that steps name and buffers of ranks hold: a few million take a
 * second. */
size_t ar_written_work(const struct ar_written *w);

/* AR_OK; AR_ERR_PROOF, and why tells the line of the file and what is refuted; AR_ERR_MEMORY. */
int ar_written_prove(struct ar_written_proof *proof, const struct ar_written *w,
                     char why[AR_REFUTED_TEXT]);

#endif
