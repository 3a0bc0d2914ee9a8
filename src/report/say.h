/* Every line that we print, and sets of ranks as short texts.  Pure: no MPI.  Thread-safe. */
#ifndef AR_SAY_H
#define AR_SAY_H

#include <stddef.h>

#include "select/words.h"

/* One line on stderr, "liballreduce: ..." with a newline, in one write. */
void ar_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whole lines on stderr.  By its descriptor, as ar_say: the program may have made the stream wide,
 * and then nothing can be printed on it. */
void ar_say_lines(const char *text, size_t length);

/* Ranks of a communicator, of which some bear a mark. */
struct ar_ranks {
    int nranks;
    const unsigned char *marks; /* of each rank: bits */
    const int *names;           /* what each is called; NULL: by its number */
};

/* Adds the ranks that bear the mark, as in "rank 3" or "ranks 0-2, 5".  Of many runs it names the
 * first ones and the number of the remaining ranks; without any rank it adds nothing.  Returns how
 * many ranks there are. */
int ar_ranks_print(struct ar_text *text, const struct ar_ranks *ranks, unsigned char mark);

#endif
