/* Performance guidelines that the statistics violate: an allreduce should not be slower than a
 * reduce with a broadcast, than the next larger one of up to twice the size, or than one on more
 * ranks.  Compared is what is alike otherwise: see timed.h.  Pure. */
#ifndef AR_WATCHDOG_H
#define AR_WATCHDOG_H

#include "report/table.h"

#define AR_ALARM_TEXT  512
#define AR_ALARMS_TOLD 5 /* at most so many in a written report */

struct ar_alarm {
    const struct ar_row *slow;
    const struct ar_row *quick; /* that it should not be slower than */
    double times;               /* slower, at least 1.5 */
};

/* Fills alarms, the worst first and at most room, and returns how many there are; each slow row is
 * in one alarm.  Times are those of calls where no rank is late (ar_row_own_ns), of rows with at
 * least 64 calls per rank, on ranks that share no cores.  Nothing is compared across a power of
 * two in the number of ranks, or without memory.  The time of reduce_bcast is known only where it
 * ran. */
size_t ar_watchdog_look(const struct ar_table *table, struct ar_alarm *alarms, size_t room);

/* One line: what, how much, and the rule that would mend it; returns text. */
char *ar_alarm_print(const struct ar_alarm *alarm, char *text, size_t room);

#endif
