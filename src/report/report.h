/* The report: what ran, how often and why; and every line that we print.
 * Pure: no MPI.  Thread-safe. */
#ifndef AR_REPORT_H
#define AR_REPORT_H

#include <stdint.h>
#include <stdio.h>

/* Calls of one kind. */
struct ar_tally {
    uint64_t calls;
    uint64_t bytes; /* of the message: count x type size, summed over the calls */
    uint64_t ns;    /* spent in the calls; 0 where nobody asked for times */
};

/* Adds to the line of (ran, reason): what was executed, as the grammar writes
 * it, or "native", and why.  Both are copied. */
void ar_report_add(const char *ran, const char *reason, struct ar_tally tally);

/* Prints the table under a title line; the longest time, or else the most calls,
 * first.  Nothing where nothing was added. */
void ar_report_print(FILE *to, const char *title);

/* One line on stderr, "liballreduce: ..." with a newline, in one write. */
void ar_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
