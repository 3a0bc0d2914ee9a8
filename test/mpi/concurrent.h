/* Threads of a process that make calls at the same time. */
#ifndef CONCURRENT_H
#define CONCURRENT_H

/* Four threads take so many steps each.  They make calls on a communicator of all ranks, and on
 * others, of all ranks or of some, that they create and free meanwhile, several at a time.  Returns
 * how many calls this rank made.  Collective over MPI_COMM_WORLD, which meanwhile only the calling
 * thread may use; needs MPI_THREAD_MULTIPLE. */
unsigned long concurrent_run(int steps);

#endif
