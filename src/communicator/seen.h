/* Which kinds of calls a communicator has had. */
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

#endif
