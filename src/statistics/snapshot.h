/* Statistics of a running program, at a signal. */
#ifndef AR_SNAPSHOT_H
#define AR_SNAPSHOT_H

/* From now on the signal makes a thread of ours call write, also while the program
 * hangs in MPI: the thread itself calls no MPI.  A handler that is there already is
 * called as well; one that comes later replaces ours.  To be called once. */
void ar_snapshot_at(int signal, void (*write)(void));

#endif
