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

struct point {
    double x, y;
};

struct ar_plot_series {
    char *title;
    enum ar_plot_style style;
    struct point *points;
    size_t n;
};

/* --- what is drawn --- */

/* The series that is called so, made where there is none; NULL where it is left out, and without
 * memory. */
static struct ar_plot_series *
find_series(struct ar_plot *plot, const char *title, enum ar_plot_style style)
{
    for (size_t i = 0; i < plot->nseries; i++)
        if (strcmp(plot->series[i].title, title) == 0)
            return &plot->series[i];
    if (plot->series_most && plot->nseries == plot->series_most)
        return NULL;
    struct ar_plot_series *const more =
        realloc(plot->series, (plot->nseries + 1) * sizeof *plot->series);
    char *const copy = strdup(title);
    if (more)
        plot->series = more;
    if (!more || !copy) {
        plot->out_of_memory = true;
        free(copy);
        return NULL;
    }
    more[plot->nseries] = (struct ar_plot_series){.title = copy, .style = style};
    return &more[plot->nseries++];
}

void
ar_plot_add(struct ar_plot *plot, const char *series, enum ar_plot_style style, double bytes,
            double y)
{
    if (!isfinite(bytes) || !isfinite(y) || bytes <= 0 || y <= 0)
        return;
    struct ar_plot_series *const s = find_series(plot, series, style);
    if (!s)
        return;
    struct point *const more = realloc(s->points, (s->n + 1) * sizeof *s->points);
    if (!more) {
        plot->out_of_memory = true;
        return;
    }
    s->points = more;
    s->points[s->n++] = (struct point){bytes, y};
}

static int
compare_points(const void *a, const void *b)
{
    const double x = ((const struct point *)a)->x, y = ((const struct point *)b)->x;
    return (x > y) - (x < y);
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

/* The edges leave some room around the points, so that a single point has an area too. */
static struct frame
find_frame(FILE *to, const struct ar_plot *plot)
{
    const int key = (int)plot->nseries * KEY_LINE;
    struct frame f = {to, key > AREA_HEIGHT ? key : AREA_HEIGHT, INFINITY, 0, INFINITY, 0};
    for (size_t k = 0; k < plot->nseries; k++)
        for (size_t i = 0; i < plot->series[k].n; i++) {
            const struct point at = plot->series[k].points[i];
            f.x_least = fmin(f.x_least, at.x / 1.25);
            f.x_most = fmax(f.x_most, at.x * 1.25);
            f.y_least = fmin(f.y_least, at.y / 1.25);
            f.y_most = fmax(f.y_most, at.y * 1.25);
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
            if (value < f->y_least || value > f->y_most)
                continue;
            fprintf(f->to, "<path class=\"grid\" d=\"M%d %.1fh%d\"/>\n", LEFT, y, AREA_WIDTH);
            snprintf(text, sizeof text, "%g", value);
            put_text(f, LEFT - 8, y + 4, "end", text);
        }
}

/* The line, its marks and its entry in the key. */
static void
put_series(const struct frame *f, const struct ar_plot_series *s, size_t number)
{
    const char *const colour = colours[number % NCOLOURS], *const mark = marks[number % NMARKS];
    const int x = LEFT + AREA_WIDTH + 20, y = TOP + 10 + KEY_LINE * (int)number;
    const bool dashed = s->style == AR_PLOT_DASHED;
    fprintf(f->to, "<g stroke=\"%s\" fill=\"%s\"><path class=\"line\" d=\"", colour,
            number / NCOLOURS % 2 ? "none" : colour);
    for (size_t i = 0; i < s->n; i++)
        fprintf(f->to, "%c%.1f %.1f", i ? 'L' : 'M', x_of(f, s->points[i].x),
                y_of(f, s->points[i].y));
    fprintf(f->to, "M%d %dh%d\"%s/>\n", x, y, KEY_SAMPLE,
            dashed ? " stroke-dasharray=\"6 4\"" : "");
    for (size_t i = 0; i < s->n && !dashed; i++)
        fprintf(f->to, "<path class=\"mark\" d=\"M%.1f %.1f%s\"/>\n", x_of(f, s->points[i].x),
                y_of(f, s->points[i].y), mark);
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
    fprintf(to, "<svg viewBox=\"0 0 %.0f %d\" role=\"img\">\n",
            LEFT + AREA_WIDTH + KEY_SAMPLE + 40 + LETTER_WIDTH * (double)letters,
            TOP + f.height + BELOW);
    put_text(&f, LEFT + AREA_WIDTH / 2.0, TOP - 18, "middle", plot->title);
    put_grid(&f);
    fprintf(to, "<path class=\"axes\" d=\"M%d %dv%dh%d\"/>\n", LEFT, TOP, f.height, AREA_WIDTH);
    put_text(&f, LEFT + AREA_WIDTH / 2.0, TOP + f.height + 42, "middle", "bytes of the message");
    fprintf(to, "<g transform=\"translate(18 %d) rotate(-90)\">", TOP + f.height / 2);
    put_text(&f, 0, 0, "middle", plot->y_title);
    fputs("</g>\n", to);
    for (size_t i = 0; i < plot->nseries; i++)
        put_series(&f, &plot->series[i], i);
    fputs("</svg>\n", to);
}

void
ar_plot_put(struct ar_html *page, struct ar_plot *plot, const char *caption)
{
    for (size_t i = 0; i < plot->nseries; i++)
        qsort(plot->series[i].points, plot->series[i].n, sizeof(struct point), compare_points);
    if (plot->out_of_memory) {
        ar_html_paragraph(page, "%s (out of memory)", caption);
    } else if (plot->nseries > 0) {
        fputs("<figure>\n", page->file);
        put_picture(page->file, plot);
        fputs("<figcaption>", page->file);
        ar_html_escape(page->file, caption, strlen(caption));
        fputs("</figcaption>\n</figure>\n", page->file);
    }
    for (size_t i = 0; i < plot->nseries; i++) {
        free(plot->series[i].title);
        free(plot->series[i].points);
    }
    free(plot->series);
    plot->series = NULL;
    plot->nseries = 0;
}
