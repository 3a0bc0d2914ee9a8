#include "report/rank_rows.h"

#include <stdlib.h>
#include <string.h>

#include "report/sites.h"
#include "schedule/grow.h"

void
ar_rank_rows_fini(struct ar_rank_rows *rows)
{
    free(rows->rows);
    *rows = (struct ar_rank_rows){0};
}

static void
add_numbers(struct ar_rank_row *sum, const struct ar_rank_row *row)
{
    sum->calls += row->calls;
    sum->bytes += row->bytes;
    sum->ns += row->ns;
    sum->wait_ns = ar_known_sum(sum->wait_ns, row->wait_ns);
    sum->setup_ns += row->setup_ns;
    sum->compared += row->compared;
    sum->first += row->first;
    sum->last += row->last;
    sum->late += row->late;
    sum->late_ns += row->late_ns;
}

/* Looks from the end, where ranks come that a tree hands over. */
struct ar_rank_row *
ar_rank_rows_add(struct ar_rank_rows *rows, const struct ar_rank_row *row)
{
    size_t i = rows->n;
    while (i > 0 && rows->rows[i - 1].rank > row->rank)
        i--;
    if (i > 0 && rows->rows[i - 1].rank == row->rank) {
        add_numbers(&rows->rows[i - 1], row);
        return &rows->rows[i - 1];
    }
    struct ar_rank_row *const grown =
        ar_grow(rows->rows, rows->n + 1, &rows->room, sizeof *rows->rows);
    if (!grown)
        return NULL;
    rows->rows = grown;
    memmove(&grown[i + 1], &grown[i], (rows->n - i) * sizeof *grown);
    rows->n++;
    grown[i] = *row;
    return &grown[i];
}

static int
compare_ranks(const void *a, const void *b)
{
    const struct ar_rank_row *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static struct ar_rank_row *
find(const struct ar_rank_rows *rows, int rank)
{
    const struct ar_rank_row key = {.rank = rank};
    return rows->n ? bsearch(&key, rows->rows, rows->n, sizeof key, compare_ranks) : NULL;
}

static void
count_call(struct ar_rank_rows *rows, const struct ar_arrival *call)
{
    struct ar_rank_row *const first = find(rows, call->first), *const last = find(rows, call->last);
    if (first)
        first->first++;
    if (last)
        last->last++;
    if (last && ar_arrival_is_late(call)) {
        last->late++;
        last->late_ns += call->most_ns - call->least_ns;
    }
}

void
ar_rank_rows_count(struct ar_rank_rows *rows, const struct ar_arrivals_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        for (int k = 0;
             ar_arrivals_are_complete(&list->items[i]) && k < ar_arrivals_kept(&list->items[i]);
             k++)
            count_call(rows, &list->items[i].call[k]);
}

int
ar_rank_rows_hosts(const struct ar_rank_rows *rows)
{
    int hosts = 0;
    for (size_t i = 0; i < rows->n; i++) {
        size_t k = i;
        while (k > 0 && strcmp(rows->rows[k - 1].host, rows->rows[i].host) != 0)
            k--;
        hosts += k == 0;
    }
    return hosts;
}

static int
later_first(const void *a, const void *b)
{
    const struct ar_rank_row *x = a, *y = b;
    if (x->late != y->late)
        return x->late < y->late ? 1 : -1;
    if (x->last != y->last)
        return x->last < y->last ? 1 : -1;
    return compare_ranks(x, y);
}

size_t
ar_rank_rows_pick(const struct ar_rank_rows *rows, struct ar_rank_row *picked, size_t room)
{
    struct ar_rank_row *const all = calloc(rows->n + 1, sizeof *all);
    const size_t n = !all ? 0 : rows->n < room ? rows->n : room;
    if (n > 0) {
        memcpy(all, rows->rows, rows->n * sizeof *all);
        qsort(all, rows->n, sizeof *all, later_first);
        memcpy(picked, all, n * sizeof *picked);
        qsort(picked, n, sizeof *picked, compare_ranks);
    }
    free(all);
    return n;
}
