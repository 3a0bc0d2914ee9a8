/* What a process holds of the system, a line of a CSV file for each moment at which it is asked:
 * what grows there leaks. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdbool.h>

/* Opens PREFIX-RANK.csv and writes its head.  Collective over MPI_COMM_WORLD, as all here. */
void sample_open(const char *prefix);

/* A line, of calls made so far.  is_bare: the program has nothing of its own under way; context ids
 * are counted then, which makes and frees as many communicators as the MPI library gives. */
void sample_take(unsigned calls, bool is_bare);

void sample_close(void);

#endif
