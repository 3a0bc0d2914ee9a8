#include "report/watchdog.h"

#include <stdlib.h>
#include <string.h>

#include "select/number.h"

/* Times are known to 1/16 each, and a table of few calls to less. */
#define TIMES_LEAST 1.5
#define CALLS_LEAST 64 /* of a rank */

#define REDUCE_BCAST "reduce_bcast"

/* 0: too little is known. */
static uint64_t
own_ns(const struct ar_row *row)
{
    const uint64_t ranks = row->ranks > 1 ? (uint64_t)row->ranks : 1;
    const bool says_enough = row->key.entry == AR_ENTRY_ALLREDUCE && row->key.nranks > 1 &&
                             row->counts.calls >= CALLS_LEAST * ranks;
    return says_enough ? ar_row_own_ns(row) : 0;
}

/* Does quick do at least as much as slow, so that slow should not take longer? */
static bool
does_as_much(const struct ar_row *quick, const struct ar_row *slow)
{
    const struct ar_row_key *q = &quick->key, *s = &slow->key;
    if (strcmp(q->type, s->type) != 0 || strcmp(q->op, s->op) != 0)
        return false;
    if (q->nranks == s->nranks && q->bin == s->bin)
        return strncmp(q->ran, REDUCE_BCAST, strlen(REDUCE_BCAST)) == 0 &&
               strncmp(s->ran, REDUCE_BCAST, strlen(REDUCE_BCAST)) != 0;
    if (q->nranks == s->nranks)
        return q->bin == s->bin + 1;
    return q->bin == s->bin && q->nranks >= s->nranks - 1;
}

static struct ar_alarm
look_at(const struct ar_table *table, const struct ar_row *slow)
{
    struct ar_alarm worst = {.slow = slow};
    const double ns = (double)own_ns(slow);
    for (size_t i = 0; i < table->nrows; i++) {
        const struct ar_row *const quick = &table->rows[i];
        const uint64_t quick_ns = own_ns(quick);
        if (quick_ns == 0 || !does_as_much(quick, slow) || ns < worst.times * (double)quick_ns)
            continue;
        worst.quick = quick;
        worst.times = ns / (double)quick_ns;
    }
    return worst;
}

static int
worse_first(const void *a, const void *b)
{
    const double x = ((const struct ar_alarm *)a)->times, y = ((const struct ar_alarm *)b)->times;
    return (x < y) - (x > y);
}

size_t
ar_watchdog_look(const struct ar_table *table, struct ar_alarm *alarms, size_t room)
{
    size_t n = 0;
    for (size_t i = 0; i < table->nrows && room > 0; i++) {
        const struct ar_alarm alarm = look_at(table, &table->rows[i]);
        if (alarm.times < TIMES_LEAST || (n == room && alarm.times <= alarms[n - 1].times))
            continue;
        n += n < room;
        alarms[n - 1] = alarm;
        qsort(alarms, n, sizeof *alarms, worse_first);
    }
    return n;
}

static void
add_row(struct ar_text *t, const struct ar_row *row)
{
    char size[AR_SIZE_TEXT], time[AR_NUMBER_TEXT];
    ar_text_add(t, "%s from %s on %d rank%s by %s (%s)", row->key.op,
                ar_size_print(ar_size_bin_first(row->key.bin), size, sizeof size), row->key.nranks,
                ar_plural((size_t)row->key.nranks), row->key.ran,
                ar_time_print((double)ar_row_own_ns(row), time, sizeof time));
}

char *
ar_alarm_print(const struct ar_alarm *alarm, char *text, size_t room)
{
    const struct ar_row_key *const key = &alarm->slow->key;
    char first[AR_SIZE_TEXT], last[AR_SIZE_TEXT], times[AR_NUMBER_TEXT];
    struct ar_text t;
    ar_text_init(&t, text, room);
    add_row(&t, alarm->slow);
    ar_text_add(&t, " takes %s times as long as ",
                ar_number_print(alarm->times, times, sizeof times));
    add_row(&t, alarm->quick);
    ar_size_print(ar_size_bin_first(key->bin), first, sizeof first);
    ar_size_print(ar_size_bin_last(key->bin), last, sizeof last);
    /* A rule where another algorithm did better; else where to look. */
    if (strcmp(alarm->quick->key.ran, key->ran) == 0)
        ar_text_add(&t, "; to compare algorithms: mpiexec -n %d allreduce bench --sizes %s",
                    key->nranks, first);
    else
        ar_text_add(&t, "; a rule that may help: %s:%s-%s@%d", alarm->quick->key.ran, first, last,
                    key->nranks);
    return text;
}
