/* Plots: series of points drawn as an SVG by gnuplot, which runs as a child and
 * leaves no file behind. */
#ifndef AR_PLOT_H
#define AR_PLOT_H

#include <stdbool.h>
#include <stddef.h>

enum ar_plot_scale {
    AR_PLOT_LINEAR, /* from 0, or below where a point is */
    AR_PLOT_LOG,    /* leaves out what is not above 0 */
    AR_PLOT_BYTES   /* as AR_PLOT_LOG, labelled 8, 1K, 64K, ... */
};

struct ar_plot_axis {
    const char *label;
    enum ar_plot_scale scale;
};

enum ar_plot_style {
    AR_PLOT_MARKED, /* a line with a mark at each point */
    AR_PLOT_DASHED  /* a dashed line without: a bound, something expected */
};

/* Points are joined in their order; one that is not finite, or that an axis
 * leaves out, is skipped. */
struct ar_plot_series {
    const char *title;
    enum ar_plot_style style;
    size_t n;
    const double *x, *y; /* n each */
};

struct ar_plot {
    const char *title;
    struct ar_plot_axis x, y;
    size_t nseries;
    const struct ar_plot_series *series;
};

/* True if gnuplot is there; else says on stderr which package to install.
 * command begins that line: "allreduce report". */
bool ar_plot_available(const char *command);

/* Draws.  *svg becomes the text of an <svg> element, to be put into HTML and to be
 * freed; an empty text where there is no point to draw.  Texts may hold any
 * character.  An enum ar_exit; says why it failed. */
int ar_plot_draw(char **svg, const struct ar_plot *plot);

#endif
