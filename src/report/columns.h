/* Tables.  The columns of a table are stated by one function, each once: its name, its unit, its
 * title for people, and its value in a row.  Text, Markdown, CSV and JSON are made from that. Pure.
 */
#ifndef AR_COLUMNS_H
#define AR_COLUMNS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The first two are for people, and show the columns of a view.  The others are for programs, and
 * have all columns. */
enum ar_columns_format {
    AR_COLUMNS_TEXT,
    AR_COLUMNS_MARKDOWN,
    AR_COLUMNS_CSV,
    AR_COLUMNS_JSON,      /* an array of objects, each on a line */
    AR_COLUMNS_JSON_LINES /* the objects alone */
};

/* What a number counts, for programs; and how people see it. */
enum ar_unit {
    AR_NUMBER, /* of things, or a ratio */
    AR_BYTES,  /* "64K" */
    AR_NS_MS,  /* nanoseconds, which people see as milliseconds */
    AR_NS_US,  /* the same as microseconds */
    AR_US,
    AR_GBS /* 10^9 bytes a second: "1.23 GB/s" */
};

/* A number that is not known, as NAN among reals and NULL among texts: empty in CSV, null in JSON,
 * "-" for people. */
#define AR_UNKNOWN UINT64_MAX

#define AR_COLUMNS_SHOWN 24 /* columns of a view, at most */

/* A table and where it goes.  What the caller leaves out is 0. */
struct ar_columns {
    FILE *to;
    enum ar_columns_format format;
    /* States the columns of row i, by the functions below. */
    void (*row)(struct ar_columns *c, const void *table, size_t i);
    const void *table;
    size_t n;              /* rows */
    size_t first;          /* of them that is written; the head comes only before row 0 */
    const char *view;      /* the names of its columns in their order, with a space between */
    const char *empty;     /* what people see in place of an empty text; NULL: nothing */
    const char *prefix;    /* of the lines of the text; NULL: none */
    const char *colors[2]; /* around the head of the text; NULL: none */

    /* What follows is of columns.c: what is being written. */
    enum { AR_COLUMNS_ROW, AR_COLUMNS_HEAD, AR_COLUMNS_WIDTHS } part;
    const char *wanted; /* where in the view */
    int at;             /* columns of the line so far */
    int spaces;         /* due before the next text of the line */
    int widths[AR_COLUMNS_SHOWN];
};

/* Without rows there is no head but in CSV, where row 0 is called for its names alone. */
void ar_columns_write(struct ar_columns c);

/* The same as a whole output: in JSON as an object of the version of its names, format, and of the
 * rows. */
void ar_columns_write_alone(struct ar_columns c);

/* The columns of a row.  Numbers are right-aligned, and texts left-aligned.  A column is as wide as
 * its longest text, or as its title with the spaces before that.  No view names a column without a
 * title.  Reals are not for what runs in a program, whose locale may write a comma. */
void ar_column_text(struct ar_columns *c, const char *name, const char *title, const char *text);
void ar_column_count(struct ar_columns *c, const char *name, enum ar_unit unit, const char *title,
                     uint64_t number);
void ar_column_real(struct ar_columns *c, const char *name, enum ar_unit unit, const char *title,
                    double number);

/* For people alone: words, and a number in a form of its own. */
void ar_column_words(struct ar_columns *c, const char *name, const char *title, const char *text);
void ar_column_shown(struct ar_columns *c, const char *name, const char *title, const char *text);

/* For JSON alone: what is so, 1, or not, 0; below 0 where it is not known. */
void ar_column_flag(struct ar_columns *c, const char *name, int is_set);

/* Where the caller writes the value in JSON, which alone has the column; NULL in other formats. */
FILE *ar_column_json(struct ar_columns *c, const char *name);

#endif
