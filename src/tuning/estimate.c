#include "tuning/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COVERED 0.95

/* The probability that n coins show n/2 heads, rounded down. */
static double
middle_of(size_t n)
{
    double p = 1;
    for (size_t i = 1; i <= n / 2; i++)
        p *= (double)(2 * i - 1) / (double)(2 * i);
    return n % 2 ? p * (double)n / (double)(n + 1) : p;
}

/* From the middle outwards: k heads are as likely as n-k. */
bool
ar_median_interval(size_t *low, size_t *high, size_t n)
{
    size_t k = n / 2;
    double p = middle_of(n), covered = n % 2 ? 2 * p : p;
    while (covered < COVERED && k > 1) {
        p *= (double)k / (double)(n - k + 1);
        k--;
        covered += 2 * p;
    }
    if (k < 1 || covered < COVERED)
        return false;
    *low = k - 1;
    *high = n - k;
    return true;
}

static int
compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value that so many quarters of all are below. */
static double
quartile(const double *sorted, size_t n, size_t quarters)
{
    const size_t below = (n - 1) * quarters / 4;
    const double above = (double)((n - 1) * quarters % 4) / 4;
    return above > 0 ? sorted[below] * (1 - above) + sorted[below + 1] * above : sorted[below];
}

struct ar_estimate
ar_estimate_make(double *values, size_t n)
{
    size_t low, high;
    qsort(values, n, sizeof *values, compare_doubles);
    const double median = quartile(values, n, 2);
    const bool is_sure = ar_median_interval(&low, &high, n);
    return (struct ar_estimate){
        .median = median,
        .low = is_sure ? values[low] : NAN,
        .high = is_sure ? values[high] : NAN,
        .spread = n < 2 ? NAN : (quartile(values, n, 3) - quartile(values, n, 1)) / 2 / median};
}

bool
ar_estimates_are_sure(const struct ar_estimate *a, const struct ar_estimate *b)
{
    return !isnan(a->low) && !isnan(b->low);
}

bool
ar_estimates_tie(const struct ar_estimate *a, const struct ar_estimate *b)
{
    return a->low <= b->high && b->low <= a->high;
}

/* --- the values of a candidate --- */

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
