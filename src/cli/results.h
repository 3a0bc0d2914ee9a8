/* What a bench has measured, and its formats.  No MPI once it is collected. */
#ifndef AR_RESULTS_H
#define AR_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/measurement.h"

/* What was measured of one variant at one size. */
struct ar_result {
    enum ar_measured_kind kind;
    enum ar_place place;
    size_t bytes; /* of the message */
    size_t count; /* elements */
    char *label;
    char *ran;          /* what was executed; "" for what is not ours */
    const char *reason; /* why that; "" likewise */
    double median_us, average_us, least_us, most_us;
    double times_native;  /* native's median by this one */
    double algorithm_gbs; /* bytes per median time, in 10^9 bytes per second */
    double bus_gbs;       /* the same x 2(p-1)/p: what a rank sends and receives at least */
    double error;         /* as in struct ar_measured */
    double from_native;
    bool wrong;
};

struct ar_results {
    int nranks;
    int cpus;
    int repetitions;
    bool places_differ;  /* there are results in place and out of place */
    size_t rotate_bytes; /* 0: the same buffers all the time */
    const char *type;    /* "MPI_FLOAT"; borrowed, like op */
    const char *op;
    char mpi[128];          /* the MPI library and its version */
    struct ar_result *rows; /* owned */
    size_t n;
};

/* Did an algorithm run just as it was named?  Else ran and reason are worth telling. */
bool ar_result_is_as_named(const struct ar_result *row);

/* "out" or "in". */
const char *ar_place_name(enum ar_place place);

/* Appends a row for each variant of a measurement that has just run.  An enum ar_exit,
 * having said why. */
int ar_results_add(struct ar_results *results, const struct ar_measurement *m,
                   const struct ar_workload *work);
void ar_results_fini(struct ar_results *results);

/* Both print the rows from first on to stdout, under a head where that is row 0. */
void ar_results_print_text(const struct ar_results *results, size_t first);
void ar_results_print_csv(const struct ar_results *results, size_t first);

/* All to stdout, as one object.  An enum ar_exit, having said why. */
int ar_results_print_json(const struct ar_results *results);

/* All into a page, with plots; command is what a reader types to repeat it.  An enum ar_exit,
 * having said why. */
int ar_results_page(const struct ar_results *results, const char *path, const char *command);

/* The fastest of the rows of the same size and place as row i, the exchange left out. */
size_t ar_results_fastest(const struct ar_results *results, size_t i);

#endif
