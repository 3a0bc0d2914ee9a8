/* What no allreduce should do, seen in the statistics: be slower than a reduce with a broadcast,
 * than one of twice the length, or than one on more ranks (or one less).  Pure. */
#ifndef AR_WATCHDOG_H
#define AR_WATCHDOG_H

#include "report/table.h"

#define AR_ALARM_TEXT  512
#define AR_ALARMS_TOLD 5 /* in what is read at leisure */

struct ar_alarm {
    const struct ar_row *slow;
    const struct ar_row *quick; /* that it should not be slower than */
    double times;               /* slower, at least 1.5 */
};

/* The worst first, each slow row once; returns how many, at most room.  Times are those of calls
 * where nobody is late, of rows with at least 64 calls of a rank.  What reduce_bcast takes is known
 * only where it ran. */
size_t ar_watchdog_look(const struct ar_table *table, struct ar_alarm *alarms, size_t room);

/* One line: what, how much, and the rule that would mend it; returns text. */
char *ar_alarm_print(const struct ar_alarm *alarm, char *text, size_t room);

#endif
