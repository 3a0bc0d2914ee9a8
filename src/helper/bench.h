/* allreduce bench: what was asked for, what was measured, and how it is shown. */
#ifndef AR_BENCH_H
#define AR_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "helper/measurement.h"
#include "report/columns.h"
#include "select/sizes.h"

enum ar_places { AR_PLACES_OUT = 1, AR_PLACES_IN = 2 }; /* bits, 1 << enum ar_place */

struct ar_bench {
    char *algorithms;      /* ';' between choices; NULL: all.  Owned */
    struct ar_sizes sizes; /* owned */
    double seconds;        /* for each size */
    double budget;         /* seconds for all; 0: none */
    int repetitions;
    size_t type; /* row of ar_named_at */
    enum ar_op op;
    unsigned places; /* enum ar_places */
    size_t rotate_bytes;
    bool fresh;
    bool exchange;
    const char *nodes; /* where the ranks are to be; NULL: where they are */
    enum ar_columns_format format;
    const char *output; /* file for the results in that format, or NULL; stdout has the text then */
    const char *html;   /* file of a page, or NULL */
    bool quiet;         /* no progress */
};

/* Reads the command line as ar_cli_parse does; the caller frees what it owns. */
void ar_bench_read(struct ar_bench *bench, int argc, char **argv);
void ar_bench_fini(struct ar_bench *bench);

/* --- where the ranks are --- */

#define AR_NODE_PLACES_TEXT 512

/* What is to be said beside times: where the ranks are, and what is assumed.  Returns text. */
char *ar_node_places_describe(const struct ar_node_places *places, char text[AR_NODE_PLACES_TEXT]);

/* The same for programs: "assumed" or "real"; NULL where the ranks are where they are. */
const char *ar_node_places_are(const struct ar_node_places *places);

/* --- results.  No MPI once they are collected --- */

/* What was measured of one variant at one size. */
struct ar_result {
    enum ar_measured_kind kind;
    enum ar_place place;
    size_t bytes; /* of the message */
    size_t count; /* elements */
    char *label;  /* owned */
    int batches;  /* fewer than asked for where it was cut short */
    struct ar_outcome outcome;
    double times_native;  /* native's median by this one */
    double algorithm_gbs; /* bytes per median time, in 10^9 bytes per second */
    double bus_gbs;       /* the same x 2(p-1)/p: what a rank sends and receives at least */
};

struct ar_results {
    const struct ar_bench *bench;
    const struct ar_node_places *places; /* borrowed */
    int nranks;
    int cpus;
    const char *type; /* "MPI_FLOAT"; borrowed, like op */
    const char *op;
    char mpi[128];          /* the MPI library and its version */
    char machine[192];      /* rank 0's host and its CPU's name */
    struct ar_result *rows; /* owned */
    size_t n;
    const char *command;    /* what a reader types to repeat it.  Borrowed */
    const char *incomplete; /* why not all was measured; NULL: it was.  Borrowed */
};

/* "out of place" or "in place". */
const char *ar_place_words(enum ar_place place);

/* Appends a row for each variant of a measurement that has just run.  An enum ar_exit,
 * having said why. */
int ar_results_add(struct ar_results *results, const struct ar_measurement *m,
                   const struct ar_workload *work);
void ar_results_fini(struct ar_results *results);

/* The rows from first on, as text or CSV, under a head where that is row 0. */
void ar_results_print(FILE *to, const struct ar_results *results, enum ar_columns_format format,
                      size_t first);

/* All as one object. */
void ar_results_write_json(FILE *to, const struct ar_results *results);

/* All into the file that is asked for; or into the page, with plots.  An enum ar_exit, having said
 * why. */
int ar_results_save(const struct ar_results *results);
int ar_results_page(const struct ar_results *results);

/* Where a row stands beside the fastest one of its size and place. */
enum ar_result_order {
    AR_RESULT_FASTEST, /* it has the least median, and an interval */
    AR_RESULT_TIE,     /* its interval overlaps with that of the fastest */
    AR_RESULT_SLOWER,
    AR_RESULT_UNKNOWN, /* one of the two has no interval: too few batches */
    AR_RESULT_NONE     /* the exchange, which is no allreduce */
};
enum ar_result_order ar_results_order(const struct ar_results *results, size_t i);

/* Warns on stderr where the batches of rows are spread by more than AR_SPREAD_WIDE. */
void ar_results_warn(const struct ar_results *results);

/* How long the first choice of the list is: up to a ';' outside of quotes. */
size_t ar_bench_first_length(const char *list);

#endif
