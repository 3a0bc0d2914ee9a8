/* Whom a run waits for, told by another thread while the run goes on.
 *
 * What is read meanwhile changes all the time, without a lock that would cost the run something:
 * the answer may be of no single moment.  All that is read lives as long as the run and its plan,
 * to which the caller sees, and no number that is read leads out of them.
 */
#ifndef AR_AWAITED_H
#define AR_AWAITED_H

/* Marks of a rank. */
enum ar_awaited {
    AR_AWAITED_GIVING = 1, /* this rank waits for what that one has to give */
    AR_AWAITED_TAKING = 2, /* that one has not yet taken all that this one gives */
    AR_AWAITED_COMING = 4  /* nothing of that one has come to this call */
};

#endif
