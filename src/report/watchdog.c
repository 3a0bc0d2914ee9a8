#include "report/watchdog.h"

#include <stdlib.h>
#include <string.h>

#include "report/timed.h"
#include "select/number.h"

/* Times are known to 1/16 each, and a table of few calls to less. */
#define TIMES_LEAST 1.5
#define CALLS_LEAST 64 /* of a rank */

#define REDUCE_BCAST "reduce_bcast"

/* Keeps the samples that tell enough: where ranks share cores, times depend on who runs when.
 * Returns how many there are. */
static size_t
keep_telling(struct ar_timed *samples, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ar_row *const row = samples[i].row;
        const uint64_t ranks = row->ranks > 1 ? (uint64_t)row->ranks : 1;
        if (!row->shares_cores && row->counts.calls >= CALLS_LEAST * ranks)
            samples[kept++] = samples[i];
    }
    return kept;
}

/* worst: the alarm of the slow row so far. */
static void
judge(struct ar_alarm *worst, const struct ar_timed *slow, const struct ar_timed *quick)
{
    const double times = (double)slow->own_ns / (double)quick->own_ns;
    if (times > worst->times)
        *worst = (struct ar_alarm){slow->row, quick->row, times};
}

static bool
is_reduce_bcast(const struct ar_timed *sample)
{
    return strncmp(sample->row->key.ran, REDUCE_BCAST, strlen(REDUCE_BCAST)) == 0;
}

/* Beside reduce_bcast, and beside the next larger size.  worst: by the number of the row. */
static void
look_at_sizes(struct ar_alarm *worst, const struct ar_row *rows, const struct ar_timed *s, size_t n)
{
    for (size_t first = 0, end; first < n; first = end) {
        size_t simple = first;
        end = ar_timed_end(s, n, first);
        while (simple < end && !is_reduce_bcast(&s[simple]))
            simple++;
        const bool has_larger = end < n && ar_timed_compare_kinds(&s[end], &s[first]) == 0 &&
                                s[end].row->key.nranks == s[first].row->key.nranks &&
                                s[end].bytes <= 2 * s[first].bytes;
        for (size_t i = first; i < end; i++) {
            struct ar_alarm *const mine = &worst[s[i].row - rows];
            if (simple < end && !is_reduce_bcast(&s[i]))
                judge(mine, &s[i], &s[simple]);
            if (has_larger)
                judge(mine, &s[i], &s[end]);
        }
    }
}

/* Orders what may be compared on unlike numbers of ranks.  Those beyond a power of two cost many
 * algorithms a round more, so a power of two divides them. */
static int
compare_but_for_ranks(const struct ar_timed *a, const struct ar_timed *b)
{
    const int kinds = ar_timed_compare_kinds(a, b);
    const unsigned x = ar_size_bin((uint64_t)a->row->key.nranks);
    const unsigned y = ar_size_bin((uint64_t)b->row->key.nranks);
    if (kinds || a->bytes != b->bytes)
        return kinds ? kinds : a->bytes < b->bytes ? -1 : 1;
    return (x > y) - (x < y);
}

static int
more_ranks_first(const void *left, const void *right)
{
    const struct ar_timed *const a = left, *const b = right;
    const int order = compare_but_for_ranks(a, b);
    const int x = a->row->key.nranks, y = b->row->key.nranks;
    return order ? order : (x < y) - (x > y);
}

/* Beside the quickest on more ranks.  Sorts the samples. */
static void
look_at_ranks(struct ar_alarm *worst, const struct ar_row *rows, struct ar_timed *s, size_t n)
{
    const struct ar_timed *quick = NULL;
    qsort(s, n, sizeof *s, more_ranks_first);
    for (size_t first = 0, end; first < n; first = end) {
        const struct ar_timed *own = &s[first];
        if (first > 0 && compare_but_for_ranks(&s[first - 1], &s[first]) != 0)
            quick = NULL;
        for (end = first; end < n && more_ranks_first(&s[end], &s[first]) == 0; end++) {
            own = s[end].own_ns < own->own_ns ? &s[end] : own;
            if (quick)
                judge(&worst[s[end].row - rows], &s[end], quick);
        }
        if (!quick || own->own_ns < quick->own_ns)
            quick = own;
    }
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
    size_t n = 0, nsamples = 0;
    struct ar_timed *const samples = ar_timed_make(&nsamples, table);
    struct ar_alarm *const worst = calloc(table->nrows + 1, sizeof *worst);
    if (samples && worst) {
        nsamples = keep_telling(samples, nsamples);
        look_at_sizes(worst, table->rows, samples, nsamples);
        look_at_ranks(worst, table->rows, samples, nsamples);
    }
    for (size_t i = 0; i < table->nrows && worst && room > 0; i++) {
        if (worst[i].times < TIMES_LEAST || (n == room && worst[i].times <= alarms[n - 1].times))
            continue;
        n += n < room;
        alarms[n - 1] = worst[i];
        qsort(alarms, n, sizeof *alarms, worse_first);
    }
    free(samples);
    free(worst);
    return n;
}

static void
add_row(struct ar_text *t, const struct ar_row *row)
{
    char size[AR_ROW_SIZE_TEXT], time[AR_NUMBER_TEXT];
    ar_text_add(t, "%s of %s on %d rank%s by %s (%s)", row->key.op, ar_row_size_print(row, size),
                row->key.nranks, ar_plural((size_t)row->key.nranks), row->key.ran,
                ar_time_print((double)ar_row_own_ns(row), time, sizeof time));
}

char *
ar_alarm_print(const struct ar_alarm *alarm, char *text, size_t room)
{
    const struct ar_row_key *const key = &alarm->slow->key;
    char size[AR_ROW_SIZE_TEXT], times[AR_NUMBER_TEXT];
    struct ar_text t;
    ar_text_init(&t, text, room);
    add_row(&t, alarm->slow);
    ar_text_add(&t, " takes %s times as long as ",
                ar_number_print(alarm->times, times, sizeof times));
    add_row(&t, alarm->quick);
    ar_row_size_print(alarm->slow, size);
    /* A rule where another algorithm did better; else where to look. */
    if (strcmp(alarm->quick->key.ran, key->ran) == 0)
        ar_text_add(&t, "; to compare algorithms: mpiexec -n %d allreduce bench --sizes %s",
                    key->nranks, size);
    else
        ar_text_add(&t, "; a rule that may help: %s:%s@%d", alarm->quick->key.ran, size,
                    key->nranks);
    return text;
}
