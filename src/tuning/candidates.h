/* Candidates: the choices that a search tries for a call, whatever measures them: the clock
 * (allreduce tune), the calls of a program (ALLREDUCE_TUNE=online) or the model (auto across nodes,
 * allreduce explain --compare).  This is the only place that lists them.  Pure. */
#ifndef AR_CANDIDATES_H
#define AR_CANDIDATES_H

#include "select/select.h"

struct ar_candidate {
    struct ar_choice choice;
    size_t root;                 /* index of the candidate that this is a variant of; or its own */
    bool is_first;               /* it is a root, or is tried as early as these */
    bool is_usual;               /* it tends to win somewhere; others may be very slow */
    size_t bytes_min, bytes_max; /* of the messages for which it is tried */
};

struct ar_candidate_list {
    struct ar_candidate *of; /* owned */
    size_t n;
    size_t room;
};

/* Lists what is tried for the request, each choice once.  First come the roots: the algorithms that
 * may serve it (ar_auto_may_select), those that tend to win before the others, and native.  Their
 * variants, with other parameters and in segments, follow.  An algorithm of two levels is tried
 * only where several nodes have several ranks, and a pipeline for messages of two segments.
 * Groups inside the nodes are tried only where these have eight and more, and a ring by node
 * only where the ranks of a node do not follow each other.  Where the model knows what shared
 * memory takes, shm is also tried flat and by other groups, on up to 64 ranks.  Candidates for
 * which request->bytes is too short or too long are left out; with SIZE_MAX none is, and
 * ar_candidate_fits tells which suit a size.  allowed as in ar_algo_list_parse.  AR_OK, the list
 * being the caller's to fini; or AR_ERR_MEMORY. */
int ar_candidates_init(struct ar_candidate_list *list, const struct ar_request *request,
                       const bool *allowed);
void ar_candidates_fini(struct ar_candidate_list *list);

bool ar_candidate_fits(const struct ar_candidate *candidate, size_t bytes);

/* Finds a choice in the list, or appends it: as a variant of its algorithm's root, if there is one.
 * AR_OK with its index in *i, or AR_ERR_MEMORY. */
int ar_candidates_add(struct ar_candidate_list *list, size_t *i, const struct ar_choice *choice);

/* Do two choices run the same algorithm with the same parameters? */
bool ar_choice_equals(const struct ar_choice *a, const struct ar_choice *b);

#endif
