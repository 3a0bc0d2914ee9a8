/* The resources of a process, as one line of a CSV file for each time they are recorded: what grows
 * there leaks. */
#ifndef RESOURCES_H
#define RESOURCES_H

#include <stdbool.h>

/* Opens PREFIX-RANK.csv and writes its header.  Collective over MPI_COMM_WORLD, like all functions
 * here. */
void resources_open(const char *prefix);

/* Writes a line for the calls made so far.  is_bare: the program has nothing of its own under way.
 * Then context ids are counted, by creating and freeing as many communicators as the MPI library
 * provides. */
void resources_take(unsigned calls, bool is_bare);

void resources_close(void);

#endif
