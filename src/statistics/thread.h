/* Threads of ours beside the program's. */
#ifndef AR_THREAD_H
#define AR_THREAD_H

/* Runs serve(NULL), which neither returns nor calls MPI, on a thread that handles no signal of the
 * program's.  0, or an error of errno's kind. */
int ar_thread_start(void *(*serve)(void *));

#endif
