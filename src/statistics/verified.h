/* How many calls were verified, and what came of it.  Of this process; thread-safe. */
#ifndef AR_VERIFIED_H
#define AR_VERIFIED_H

enum ar_verified {
    AR_VERIFIED_RIGHT,
    AR_VERIFIED_BY_RANKS, /* the same bits on all ranks; nothing is known of other orders */
    AR_VERIFIED_USERS,    /* the same, but not the native ones, of an op that may round */
    AR_VERIFIED_WRONG,
    AR_VERIFIED_UNLIKE, /* not run: the ranks differ in the size of their message, or in the op */
    AR_VERIFIED_NOT,    /* for lack of memory, or of a way to compare */
    AR_VERIFIED_KINDS
};

/* How many of the kind there were before. */
unsigned long ar_verified_count(enum ar_verified kind);

/* Says in a line what came of all. */
void ar_verified_say(void);

#endif
