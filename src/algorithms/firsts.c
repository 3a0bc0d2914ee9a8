#include "algorithms/firsts.h"

#include <stdbool.h>
#include <stdlib.h>

#include "schedule/error.h"

struct keyed {
    uint64_t key;
    int index;
};

static int
compare(const void *x, const void *y)
{
    const struct keyed *const a = x, *const b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->index - b->index;
}

int
ar_firsts_find(int *first, const uint64_t *key, int n)
{
    struct keyed *const sorted = malloc((size_t)n * sizeof *sorted);
    if (!sorted)
        return AR_ERR_MEMORY;
    bool is_sorted = true;
    for (int i = 0; i < n; i++) {
        sorted[i] = (struct keyed){key[i], i};
        is_sorted &= i == 0 || key[i - 1] <= key[i];
    }
    if (!is_sorted) /* where ranks follow each other they are */
        qsort(sorted, (size_t)n, sizeof *sorted, compare);
    for (int i = 0, begin = 0; i < n; i++) {
        begin = sorted[i].key == sorted[begin].key ? begin : i;
        first[sorted[i].index] = sorted[begin].index;
    }
    free(sorted);
    return AR_OK;
}
