#include "tuning/estimate.h"

#include <math.h>
#include <stdlib.h>

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
