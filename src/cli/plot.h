/* Plots of what depends on the size of the message: lines through points, with a logarithmic scale
 * on both axes, drawn as SVG into a page. */
#ifndef AR_PLOT_H
#define AR_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/html.h"

enum ar_plot_style {
    AR_PLOT_MARKED, /* a line with a mark at each point */
    AR_PLOT_DASHED  /* a dashed line without: a bound, something expected */
};

struct ar_plot_series;

/* All but the first three members zero is a plot without points. */
struct ar_plot {
    const char *title, *y_title; /* the title may be empty */
    size_t series_most;          /* later series are left out; 0: all are drawn */
    struct ar_plot_series *series;
    size_t nseries;
    bool out_of_memory; /* a point is missing */
};

/* Adds a point to the series that is called so, and makes the series where there is none.  A point
 * that is not finite, or not above 0, is left out. */
void ar_plot_add(struct ar_plot *plot, const char *series, enum ar_plot_style style, double bytes,
                 double y);

/* Draws the plot above a caption, or nothing where there is no point, and frees what it owns.  The
 * points of a series are joined from left to right. */
void ar_plot_put(struct ar_html *page, struct ar_plot *plot, const char *caption);

#endif
