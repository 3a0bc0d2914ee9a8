#include "tuning/values.h"

#include <stdlib.h>
#include <string.h>

void
ar_values_add(struct ar_values *values, double seconds)
{
    if (values->n == AR_VALUES_MAX)
        memmove(&values->seconds[0], &values->seconds[1],
                (size_t)--values->n * sizeof values->seconds[0]);
    values->seconds[values->n++] = seconds;
}

static int
compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The time that so many quarters of all values are below. */
static double
quartile(const struct ar_values *values, int quarters)
{
    struct ar_values sorted = *values;
    const int last = sorted.n - 1;
    qsort(sorted.seconds, (size_t)sorted.n, sizeof sorted.seconds[0], compare_doubles);
    const int below = last * quarters / 4;
    const double above = last * quarters % 4 / 4.0;
    return above > 0 ? sorted.seconds[below] * (1 - above) + sorted.seconds[below + 1] * above
                     : sorted.seconds[below];
}

double
ar_values_least(const struct ar_values *values)
{
    return quartile(values, 0);
}

double
ar_values_median(const struct ar_values *values)
{
    return quartile(values, 2);
}

double
ar_values_noise(const struct ar_values *values)
{
    return (quartile(values, 3) - quartile(values, 1)) / 2 / quartile(values, 2);
}

double
ar_values_won(const struct ar_values *a, const struct ar_values *b, double margin)
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
