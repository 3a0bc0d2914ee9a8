/* The median of what was timed. */
#ifndef MEDIAN_H
#define MEDIAN_H

#include <stdlib.h>

static int
compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of the n numbers at x, which it sorts. */
static inline double
median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, compare);
    return x[n / 2];
}

#endif
