/* Links that messages share: each of those in a link gets an equal part of it.  Pure.
 *
 * A link keeps a time of its own, which passes more slowly the more messages it carries: at
 * the real one's pace divided by their number.  In that time a message takes as long as it would
 * alone, so that whoever enters changes nobody's end.
 */
#ifndef AR_SHARE_H
#define AR_SHARE_H

#include <stdbool.h>
#include <stddef.h>

/* A message in a link. */
struct ar_share_part {
    double end;     /* in the link's own time */
    size_t message; /* the caller's */
    size_t next;    /* that ends no earlier; 0: none.  Of one unused: another such */
};

struct ar_share_link {
    double own, at; /* the link's own time, at this real one */
    double due;     /* real time when the next message is through; INFINITY: there is none */
    size_t nparts;
    size_t first; /* in parts, 0: none */
};

struct ar_share {
    struct ar_share_link *links; /* owned */
    struct ar_share_part *parts; /* owned; number 0 is not used */
    size_t nparts, room;
    size_t unused;
};

/* AR_OK, and the share is the caller's to fini; AR_ERR_MEMORY. */
int ar_share_init(struct ar_share *share, size_t nlinks);
void ar_share_fini(struct ar_share *share);

/* A message enters a link that it would take alone for so long, in ns.  Its links' due changes.
 * AR_OK; AR_ERR_MEMORY. */
int ar_share_enter(struct ar_share *share, size_t link, double now, double alone, size_t message);

/* Takes a message that is through out of the link; its due changes.  False: there is none by now.
 */
bool ar_share_leave(struct ar_share *share, size_t link, double now, size_t *message);

#endif
