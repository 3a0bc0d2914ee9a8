#include "report/timed.h"

#include <stdlib.h>
#include <string.h>

bool
ar_row_is_plain(const struct ar_row *row)
{
    static const char device[] = "device memory";
    const struct ar_row_key *const key = &row->key;
    return key->entry == AR_ENTRY_ALLREDUCE && key->nranks > 1 &&
           strcmp(key->type, "derived") != 0 && strcmp(key->op, "user") != 0 &&
           strcmp(key->reason, "intercommunicator") != 0 &&
           strncmp(key->reason, device, strlen(device)) != 0;
}

static bool
is_sample(struct ar_timed *sample, const struct ar_row *row)
{
    *sample = (struct ar_timed){.row = row};
    if (!ar_row_is_plain(row) || row->key.nodes < 1 || !ar_row_size(&sample->bytes, row))
        return false;
    sample->own_ns = ar_row_own_ns(row);
    return sample->own_ns > 0;
}

int
ar_timed_compare_kinds(const struct ar_timed *a, const struct ar_timed *b)
{
    const struct ar_row_key *const x = &a->row->key, *const y = &b->row->key;
    const int types = strcmp(x->type, y->type), ops = types ? types : strcmp(x->op, y->op);
    if (ops || x->place != y->place)
        return ops ? ops : x->place < y->place ? -1 : 1;
    return (x->nodes > y->nodes) - (x->nodes < y->nodes);
}

static int
compare(const void *left, const void *right)
{
    const struct ar_timed *const a = left, *const b = right;
    const int kinds = ar_timed_compare_kinds(a, b);
    if (kinds || a->row->key.nranks != b->row->key.nranks)
        return kinds ? kinds : a->row->key.nranks < b->row->key.nranks ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    if (a->own_ns != b->own_ns)
        return a->own_ns < b->own_ns ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

struct ar_timed *
ar_timed_make(size_t *n, const struct ar_table *table)
{
    struct ar_timed *const samples = malloc((table->nrows + 1) * sizeof *samples);
    *n = 0;
    for (size_t i = 0; samples && i < table->nrows; i++)
        *n += is_sample(&samples[*n], &table->rows[i]);
    if (samples)
        qsort(samples, *n, sizeof *samples, compare);
    return samples;
}

size_t
ar_timed_end(const struct ar_timed *samples, size_t n, size_t first)
{
    size_t end = first;
    while (end < n && samples[end].bytes == samples[first].bytes &&
           samples[end].row->key.nranks == samples[first].row->key.nranks &&
           ar_timed_compare_kinds(&samples[end], &samples[first]) == 0)
        end++;
    return end;
}
