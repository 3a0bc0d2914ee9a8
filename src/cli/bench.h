/* allreduce bench: what was asked for. */
#ifndef AR_BENCH_H
#define AR_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/measurement.h"
#include "cli/results.h"
#include "cli/sizes.h"

enum ar_bench_format { AR_BENCH_TEXT, AR_BENCH_CSV, AR_BENCH_JSON };

enum ar_preset { AR_PRESET_NONE, AR_PRESET_COURSE };

enum ar_places { AR_PLACES_OUT = 1, AR_PLACES_IN = 2 }; /* bits, 1 << enum ar_place */

struct ar_bench {
    const char *algorithms; /* ';' between choices; NULL: all */
    struct ar_sizes sizes;  /* owned */
    double seconds;         /* for each size */
    int repetitions;
    size_t type; /* row of ar_named_at */
    enum ar_op op;
    unsigned places; /* enum ar_places */
    size_t rotate_bytes;
    bool exchange;
    enum ar_preset preset;
    enum ar_bench_format format;
    const char *html; /* file, or NULL */
};

/* Reads the command line as ar_cli_parse does; the caller frees what it owns. */
void ar_bench_read(struct ar_bench *bench, int argc, char **argv);
void ar_bench_fini(struct ar_bench *bench);

/* Adds what --preset=course compares on count elements: star, circle, recursive, butterfly
 * and ring, each with the vector cut into p, 4p and 5p slices.  An enum ar_exit. */
int ar_preset_add(struct ar_measurement *m, size_t count);

/* Prints the rows from first on, all of one size and place, as --preset=course shows them. */
void ar_preset_print(const struct ar_results *results, size_t first);

#endif
