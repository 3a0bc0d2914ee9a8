/* Threads of ours beside the program's. */
#ifndef AR_THREAD_H
#define AR_THREAD_H

/* Runs serve(NULL), which neither returns nor calls MPI, on a thread that handles none of the
 * program's signals.  0, or an error number. */
int ar_thread_start(void *(*serve)(void *));

/* From now on the signal makes a thread of ours call write, also while the program hangs in MPI;
 * write calls no MPI.  A handler that is already there is called as well; one that comes later
 * replaces ours.  To be called once. */
void ar_thread_write_at(int signal, void (*write)(void));

#endif
