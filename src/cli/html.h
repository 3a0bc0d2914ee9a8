/* An HTML page of our own look in one file: style and pictures inside, light or
 * dark as the reader's system is, nothing from the network.
 *
 * All texts are escaped here.  Errors of writing are kept by the stream and told by
 * ar_html_close. */
#ifndef AR_HTML_H
#define AR_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "config/output.h"

struct ar_html {
    FILE *file; /* that of output */
    const char *path;
    struct ar_output output;
    const char *titles; /* of the open table's columns; borrowed */
    const char *title;  /* of the next cell's column, in titles */
};

/* Creates the file and begins the page.  An enum ar_exit; on failure says on
 * stderr that path cannot be written, and there is nothing to close. */
int ar_html_open(struct ar_html *page, const char *path, const char *title);

/* Ends the page.  An enum ar_exit, having said why it failed. */
int ar_html_close(struct ar_html *page);

/* Ends the page without writing it. */
void ar_html_drop(struct ar_html *page);

/* Letters of text, with those escaped that mean something to HTML or XML. */
void ar_html_escape(FILE *to, const char *text, size_t length);

void ar_html_heading(struct ar_html *page, const char *text);
void ar_html_paragraph(struct ar_html *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What a reader in a hurry should read: a paragraph in larger type. */
void ar_html_verdict(struct ar_html *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Text in fixed width, lines kept: commands, settings. */
void ar_html_code(struct ar_html *page, const char *text);

/* A table.  Titles of columns have '|' between them; a '>' before a title sets the column's cells
 * right, as for numbers, and a '~' lets their lines break, as for names of any length.  Cells come
 * row by row, a row ends by itself after the last column, and the table must end at the end of a
 * row.  titles are borrowed until then. */
void ar_html_table_begin(struct ar_html *page, const char *titles);
void ar_html_table_end(struct ar_html *page);

void ar_html_cell(struct ar_html *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A cell with a name, which may be long, and a note in small type below it; no note where that is
 * empty. */
void ar_html_cell_noted(struct ar_html *page, const char *text, const char *note);

/* A cell that draws the reader's eye: something is wrong. */
void ar_html_cell_alarm(struct ar_html *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A cell over a bar that fills share (cut to 0..1) of it. */
void ar_html_cell_bar(struct ar_html *page, double share, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- plots (plot.c) of what depends on the size of the message: lines through points, with a
 * logarithmic scale on both axes --- */

enum ar_plot_style {
    AR_PLOT_MARKED, /* a line with a mark at each point */
    AR_PLOT_DASHED  /* a dashed line without: a bound, something expected */
};

struct ar_plot_point {
    size_t series; /* its number */
    double bytes, y;
};

/* What is not named here zero is a plot without points. */
struct ar_plot {
    const char *title, *y_title; /* the title may be empty */
    struct ar_plot_series *series;
    size_t nseries;
    struct ar_plot_point *points;
    size_t npoints;
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
