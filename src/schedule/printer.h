/* The printer: an allreduce as a figure, in ASCII.  Pure but for the FILE.
 *
 *            0      1      2
 *   round 1  |A--->+|B--->+|        rank 0 sends block A to rank 1, which combines it;
 *            |+<----------C|        without the +, the receiver stores what it gets
 *      A     .      01     2        what each rank holds of the block after the round:
 *      B     0      .      12       the ranks whose contributions are in it,
 *      C     02     1      .        all of them, or nothing of use any more (.)
 *
 * Several partial results of one block are parted by a slash, 0..3 stands for
 * 0/1/2/3.  Lifelines marked + or = reduce or copy at home.  2A: two values of A.
 */
#ifndef AR_PRINTER_H
#define AR_PRINTER_H

#include <stdio.h>

#include "schedule/schedule.h"
#include "schedule/trace.h"

/* Prints nranks <= AR_TRACE_RANKS_MAX schedules that ar_check has proved; rounds
 * are counted along the messages that wait for each other.  AR_ERR_PARAM,
 * AR_ERR_MEMORY.  Errors of the file stay in the file (ferror). */
int ar_figure_print(FILE *file, const struct ar_schedule *schedules, int nranks);

#endif
