/* The executors, with threads of one process instead of ranks. */
#ifndef AR_FUZZ_THREADS_H
#define AR_FUZZ_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms/registry.h"
#include "reduce/reduce.h"

#define AR_THREADS_MAX 8

/* One allreduce of count (>= 1) 64-bit elements on nranks (<= AR_THREADS_MAX) ranks. */
struct threads_job {
    const struct ar_algorithm *algorithm;
    const struct ar_params *params;
    int nranks;
    size_t count;
    bool in_place;
    bool in_order; /* the op does not commute */
    uint64_t seed;
};

/* Runs the job's part of a rank.  in may be out.  False if the executor fails. */
typedef bool threads_part_fn(void *context, const struct threads_job *job, int rank,
                             const struct ar_reduction *r, const char *in, char *out);

/* Runs the part of each rank in a thread of its own.  True if the result is right on all ranks. */
bool threads_run(const struct threads_job *job, threads_part_fn *part, void *context);

/* As the ranks of a node do, by the executor of shm, in chunks of 256 bytes.  True also if all
 * ranks refuse the parameters. */
bool threads_run_node(const struct threads_job *job);

/* By the executor with messages.  The seed decides which of them go through the channel in shared
 * memory, and when those of MPI, which stand in for the MPI library's, are stored, taken and
 * reported. */
bool threads_run_messages(const struct threads_job *job);

#endif
