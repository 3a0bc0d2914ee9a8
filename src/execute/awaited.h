/* Whom a run waits for, found by another thread while the run goes on.
 *
 * That thread reads what the run changes meanwhile, without a lock, which would slow the run down:
 * what it finds need not have been true at any one moment.  The caller keeps the run and its plan
 * alive, which own all that is read, and no number that is read leads out of them.
 */
#ifndef AR_AWAITED_H
#define AR_AWAITED_H

/* Marks of a rank. */
enum ar_awaited {
    AR_AWAITED_GIVING = 1, /* this rank waits for what that rank has to give */
    AR_AWAITED_TAKING = 2, /* that rank has not yet taken all that this one gives */
    AR_AWAITED_COMING = 4  /* nothing of that rank has come to this call */
};

#endif
