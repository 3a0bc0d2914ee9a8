#include "cli/passes.h"

#include <stdlib.h>
#include <string.h>

void
ar_passes_add(struct ar_passes *passes, double seconds)
{
    if (passes->n == AR_PASSES_MAX)
        memmove(&passes->seconds[0], &passes->seconds[1],
                (size_t)--passes->n * sizeof passes->seconds[0]);
    passes->seconds[passes->n++] = seconds;
}

static int
compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The time that so many quarters of all passes are below. */
static double
quartile(const struct ar_passes *passes, int quarters)
{
    struct ar_passes sorted = *passes;
    const int last = sorted.n - 1;
    qsort(sorted.seconds, (size_t)sorted.n, sizeof sorted.seconds[0], compare_doubles);
    const int below = last * quarters / 4;
    const double above = last * quarters % 4 / 4.0;
    return above > 0 ? sorted.seconds[below] * (1 - above) + sorted.seconds[below + 1] * above
                     : sorted.seconds[below];
}

double
ar_passes_least(const struct ar_passes *passes)
{
    return quartile(passes, 0);
}

double
ar_passes_median(const struct ar_passes *passes)
{
    return quartile(passes, 2);
}

double
ar_passes_noise(const struct ar_passes *passes)
{
    return (quartile(passes, 3) - quartile(passes, 1)) / 2 / quartile(passes, 2);
}

double
ar_passes_won(const struct ar_passes *a, const struct ar_passes *b, double margin)
{
    const int n = a->n < b->n ? a->n : b->n;
    int wins = 0;
    for (int i = 1; i <= n; i++)
        wins += b->seconds[b->n - i] > a->seconds[a->n - i] * (1 + margin);
    return n > 0 ? (double)wins / n : 0;
}

/* SplitMix64.  Source: Steele, Lea & Flood, OOPSLA 2014. */
static uint64_t
next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

void
ar_shuffle(size_t *order, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        const size_t j = (size_t)(next_random(&seed) % (i + 1));
        order[i] = order[j];
        order[j] = i;
    }
}
