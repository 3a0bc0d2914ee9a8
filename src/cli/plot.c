#include "config.h"

#include "cli/html.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "select/select.h"

/* In pixels. */
#define LEFT         80
#define TOP          40
#define BELOW        56 /* the area of the plot */
#define AREA_WIDTH   560
#define AREA_HEIGHT  320 /* at least */
#define KEY_LINE     22
#define KEY_SAMPLE   30
#define LETTER_WIDTH 7.5
#define PAGE_WIDTH   960 /* the width of a picture in a page */
#define LEAST_SCALE  0.75

#define NARROW      2.5 /* decades along an axis of which 2 and 5 are labelled too */
#define LABELS_MOST 10  /* of sizes */

/* To be read on white and on near black. */
static const char *const colours[] = {"#3b7dd8", "#e0702a", "#2a9d5c", "#c8508c", "#8a63d2",
                                      "#b8860b", "#1f9aa8", "#d04545", "#7a8a99", "#6b8e23"};

/* Paths around the point: disc, square, triangle, diamond, cross, plus. */
static const char *const marks[] = {
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "m-3.5-3.5h7v7h-7z",
    "m0-5l4.5 8.5h-9z",
    "m0-5l5 5-5 5-5-5z",
    "m-4-4l8 8m0-8l-8 8",
    "m-5 0h10m-5-5v10",
};

enum {
    NCOLOURS = sizeof colours / sizeof colours[0],
    NMARKS = sizeof marks / sizeof marks[0],
};

struct ar_plot_series {
    char *title;
    enum ar_plot_style style;
};

/* --- what is drawn --- */

/* False without memory. */
static bool
add_series(struct ar_plot *plot, const char *title, enum ar_plot_style style)
{
    struct ar_plot_series *const more =
        realloc(plot->series, (plot->nseries + 1) * sizeof *plot->series);
    if (!more)
        return false;
    plot->series = more;
    more[plot->nseries] = (struct ar_plot_series){strdup(title), style};
    return more[plot->nseries].title && ++plot->nseries;
}

void
ar_plot_add(struct ar_plot *plot, const char *series, enum ar_plot_style style, double bytes,
            double y)
{
    size_t k = 0;
    if (!isfinite(bytes) || !isfinite(y) || bytes <= 0 || y <= 0)
        return;
    while (k < plot->nseries && strcmp(plot->series[k].title, series) != 0)
        k++;
    struct ar_plot_point *const more =
        realloc(plot->points, (plot->npoints + 1) * sizeof *plot->points);
    if (more)
        plot->points = more;
    if (more && (k < plot->nseries || add_series(plot, series, style)))
        more[plot->npoints++] = (struct ar_plot_point){k, bytes, y};
    else
        plot->out_of_memory = true;
}

/* Series by series, from left to right. */
static int
compare_points(const void *a, const void *b)
{
    const struct ar_plot_point *const x = a, *const y = b;
    return x->series != y->series ? (x->series > y->series) - (x->series < y->series)
                                  : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* --- the picture --- */

/* Where the area of the plot lies, and the values at its edges. */
struct frame {
    FILE *to;
    int height;
    double x_least, x_most, y_least, y_most;
};

static double
x_of(const struct frame *f, double value)
{
    return LEFT + AREA_WIDTH * log(value / f->x_least) / log(f->x_most / f->x_least);
}

static double
y_of(const struct frame *f, double value)
{
    return TOP + f->height * log(f->y_most / value) / log(f->y_most / f->y_least);
}

/* The nearest grid line that is not above value; its digit is 1, 2 or 5. */
static double
line_below(double value)
{
    const double power = pow(10, floor(log10(value)));
    const double digits = value / power;
    return (digits < 2 ? 1 : digits < 5 ? 2 : 5) * power;
}

/* The edges leave some room around the points, so that a single point has an area, too.  If there
 * would be few grid lines between them, the edges are grid lines themselves, since values cannot be
 * read from a single line. */
static struct frame
find_frame(FILE *to, const struct ar_plot *plot)
{
    const int key = (int)plot->nseries * KEY_LINE;
    struct frame f = {to, key > AREA_HEIGHT ? key : AREA_HEIGHT, INFINITY, 0, INFINITY, 0};
    for (size_t i = 0; i < plot->npoints; i++) {
        const struct ar_plot_point at = plot->points[i];
        f.x_least = fmin(f.x_least, at.bytes / 1.25);
        f.x_most = fmax(f.x_most, at.bytes * 1.25);
        f.y_least = fmin(f.y_least, at.y / 1.25);
        f.y_most = fmax(f.y_most, at.y * 1.25);
    }
    if (f.x_most < 4 * f.x_least) {
        f.x_least = exp2(floor(log2(f.x_least)));
        f.x_most = exp2(ceil(log2(f.x_most)));
    }
    if (f.y_most < 10 * f.y_least) {
        f.y_least = line_below(f.y_least);
        f.y_most = 1 / line_below(1 / f.y_most); /* 1, 1/5, 1/2 are grid lines, too */
    }
    return f;
}

static void
put_text(const struct frame *f, double x, double y, const char *anchor, const char *text)
{
    fprintf(f->to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    ar_html_escape(f->to, text, strlen(text));
    fputs("</text>\n", f->to);
}

/* Lines and labels: sizes at powers of two; the other axis at 1, 10, 100, ... and where these are
 * few also at 2, 5, 20, 50, ... */
static void
put_grid(const struct frame *f)
{
    const int first = (int)fmax(0, ceil(log2(f->x_least))), last = (int)floor(log2(f->x_most));
    const int bottom = TOP + f->height, step = (last - first) / LABELS_MOST + 1;
    const int nfactors = log10(f->y_most / f->y_least) < NARROW ? 3 : 1;
    char text[AR_SIZE_TEXT > 32 ? AR_SIZE_TEXT : 32];
    for (int i = first; i <= last && i < 63; i += step) {
        const double x = x_of(f, ldexp(1, i));
        fprintf(f->to, "<path class=\"grid\" d=\"M%.1f %dV%d\"/>\n", x, TOP, bottom);
        put_text(f, x, bottom + 18, "middle", ar_size_print((size_t)1 << i, text, sizeof text));
    }
    for (int i = (int)floor(log10(f->y_least)); i <= (int)log10(f->y_most) + 1; i++)
        for (int k = 0; k < nfactors; k++) {
            const double value = (const double[]){1, 2, 5}[k] * pow(10, i), y = y_of(f, value);
            if (value < f->y_least * (1 - 1e-9) || value > f->y_most * (1 + 1e-9))
                continue;
            fprintf(f->to, "<path class=\"grid\" d=\"M%d %.1fh%d\"/>\n", LEFT, y, AREA_WIDTH);
            snprintf(text, sizeof text, "%.*f", i < 0 ? -i : 0, value);
            put_text(f, LEFT - 8, y + 4, "end", text);
        }
}

/* The line through n points, its marks and its entry in the key. */
static void
put_series(const struct frame *f, const struct ar_plot_series *s, size_t number,
           const struct ar_plot_point *points, size_t n)
{
    const char *const colour = colours[number % NCOLOURS], *const mark = marks[number % NMARKS];
    const int x = LEFT + AREA_WIDTH + 20, y = TOP + 10 + KEY_LINE * (int)number;
    const bool dashed = s->style == AR_PLOT_DASHED;
    fprintf(f->to, "<g stroke=\"%s\" fill=\"%s\"><path class=\"line\" d=\"", colour,
            number / NCOLOURS % 2 ? "none" : colour);
    for (size_t i = 0; i < n; i++)
        fprintf(f->to, "%c%.1f %.1f", i ? 'L' : 'M', x_of(f, points[i].bytes),
                y_of(f, points[i].y));
    fprintf(f->to, "M%d %dh%d\"%s/>\n", x, y, KEY_SAMPLE,
            dashed ? " stroke-dasharray=\"6 4\"" : "");
    for (size_t i = 0; i < n && !dashed; i++)
        fprintf(f->to, "<path class=\"mark\" d=\"M%.1f %.1f%s\"/>\n", x_of(f, points[i].bytes),
                y_of(f, points[i].y), mark);
    if (!dashed)
        fprintf(f->to, "<path d=\"M%d %d%s\"/>\n", x + KEY_SAMPLE / 2, y, mark);
    fputs("</g>\n", f->to);
    put_text(f, x + KEY_SAMPLE + 10, y + 4, "start", s->title);
}

static void
put_picture(FILE *to, const struct ar_plot *plot)
{
    const struct frame f = find_frame(to, plot);
    size_t letters = 0;
    for (size_t i = 0; i < plot->nseries; i++)
        letters = strlen(plot->series[i].title) > letters ? strlen(plot->series[i].title) : letters;
    const double width = LEFT + AREA_WIDTH + KEY_SAMPLE + 40 + LETTER_WIDTH * (double)letters;
    fprintf(to, "<svg viewBox=\"0 0 %.0f %d\" style=\"min-width:%.0fpx\" role=\"img\">\n", width,
            TOP + f.height + BELOW, fmin(LEAST_SCALE * width, PAGE_WIDTH));
    put_text(&f, LEFT + AREA_WIDTH / 2.0, TOP - 18, "middle", plot->title);
    put_grid(&f);
    fprintf(to, "<path class=\"axes\" d=\"M%d %dv%dh%d\"/>\n", LEFT, TOP, f.height, AREA_WIDTH);
    put_text(&f, LEFT + AREA_WIDTH / 2.0, TOP + f.height + 42, "middle", "bytes of the message");
    fprintf(to, "<g transform=\"translate(18 %d) rotate(-90)\">", TOP + f.height / 2);
    put_text(&f, 0, 0, "middle", plot->y_title);
    fputs("</g>\n", to);
    for (size_t first = 0, end; first < plot->npoints; first = end) {
        const size_t k = plot->points[first].series;
        for (end = first; end < plot->npoints && plot->points[end].series == k;)
            end++;
        put_series(&f, &plot->series[k], k, &plot->points[first], end - first);
    }
    fputs("</svg>\n", to);
}

void
ar_plot_put(struct ar_html *page, struct ar_plot *plot, const char *caption)
{
    if (plot->npoints > 0)
        qsort(plot->points, plot->npoints, sizeof *plot->points, compare_points);
    if (plot->out_of_memory) {
        ar_html_paragraph(page, "%s (out of memory)", caption);
    } else if (plot->nseries > 0) {
        fputs("<figure>\n", page->file);
        put_picture(page->file, plot);
        fputs("<figcaption>", page->file);
        ar_html_escape(page->file, caption, strlen(caption));
        fputs("</figcaption>\n</figure>\n", page->file);
    }
    for (size_t i = 0; i < plot->nseries; i++)
        free(plot->series[i].title);
    free(plot->series);
    free(plot->points);
    *plot = (struct ar_plot){.title = plot->title, .y_title = plot->y_title};
}
