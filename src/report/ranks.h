/* Many ranks in few words.  Pure. */
#ifndef AR_RANKS_H
#define AR_RANKS_H

#include "select/words.h"

/* Ranks of a communicator, of which some bear a mark. */
struct ar_ranks {
    int nranks;
    const unsigned char *marks; /* of each rank: bits */
    const int *names;           /* what each is called; NULL: by its number */
};

/* Adds those that bear the mark: "rank 3", "ranks 0-2, 5", of many runs the first ones and how many
 * more there are; nothing where there are none.  Returns how many there are. */
int ar_ranks_print(struct ar_text *text, const struct ar_ranks *ranks, unsigned char mark);

#endif
