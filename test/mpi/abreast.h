/* Threads of a process that call at the same time. */
#ifndef ABREAST_H
#define ABREAST_H

/* Four threads go so many steps each: calls on a communicator for all of them, and on others, of
 * all ranks or of some, that they make and free meanwhile, several at a time.  Returns how many
 * calls this rank made.  Collective over MPI_COMM_WORLD, of which only the calling thread makes use
 * meanwhile; takes MPI_THREAD_MULTIPLE. */
unsigned long abreast_run(int steps);

#endif
