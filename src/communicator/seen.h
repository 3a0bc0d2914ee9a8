/* Which kinds of calls a communicator has had, and how often. */
#ifndef AR_SEEN_H
#define AR_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AR_SEEN_MOST 256

/* All zero: none. */
struct ar_seen {
    uint64_t kind[2 * AR_SEEN_MOST];
    size_t n;
};

/* Has this kind, any number but 0, been noted before?  Now it is.  If there are AR_SEEN_MOST
 * others, these are forgotten first, and *forgets is true: alike on all ranks that have noted the
 * same. */
bool ar_seen_note(struct ar_seen *seen, uint64_t kind, bool *forgets);

#define AR_OFTEN_SETS  16
#define AR_OFTEN_WAYS  4
#define AR_OFTEN_CALLS 16

/* All zero: none. */
struct ar_often {
    uint64_t kind[AR_OFTEN_SETS][AR_OFTEN_WAYS]; /* but for the lowest byte, which counts; 0 there:
                                                    the place is free */
};

/* Notes a call of this kind.  Is it one that has come AR_OFTEN_CALLS times before, and more often
 * than all but a few?  Then this call changes nothing, so that it need not be noted on all ranks.
 */
bool ar_often_note(struct ar_often *often, uint64_t kind);

#endif
