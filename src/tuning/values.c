#include "tuning/values.h"

#include <math.h>
#include <string.h>

void
ar_values_add(struct ar_values *values, double seconds)
{
    if (values->n == AR_VALUES_MAX)
        memmove(&values->seconds[0], &values->seconds[1],
                (size_t)--values->n * sizeof values->seconds[0]);
    values->seconds[values->n++] = seconds;
}

double
ar_values_least(const struct ar_values *values)
{
    double least = values->seconds[0];
    for (int i = 1; i < values->n; i++)
        least = values->seconds[i] < least ? values->seconds[i] : least;
    return least;
}

struct ar_estimate
ar_values_estimate(const struct ar_values *values)
{
    struct ar_values sorted = *values;
    return ar_estimate_make(sorted.seconds, (size_t)sorted.n);
}

double
ar_values_median(const struct ar_values *values)
{
    return ar_values_estimate(values).median;
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

struct ar_estimate
ar_values_gain(const struct ar_values *a, const struct ar_values *b)
{
    const int n = a->n < b->n ? a->n : b->n;
    struct ar_values gains = {.n = n};
    for (int i = 1; i <= n; i++)
        gains.seconds[n - i] = b->seconds[b->n - i] - a->seconds[a->n - i];
    return n > 0 ? ar_values_estimate(&gains) : (struct ar_estimate){NAN, NAN, NAN, NAN};
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
