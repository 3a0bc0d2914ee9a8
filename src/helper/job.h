/* What the subcommands share that run inside a job. */
#ifndef AR_HELPER_JOB_H
#define AR_HELPER_JOB_H

#include <argp.h>
#include <stddef.h>

#include "cli/cli.h"
#include "cli/sizes.h"
#include "helper/operand.h"

/* --type, a row for ar_named_at, and --op. */
void ar_option_type(struct argp_state *state, size_t *row, const char *name);
void ar_option_op(struct argp_state *state, enum ar_op *op, const char *name);

/* "mpiexec -n 4 allreduce bench --algo 'ring;shm'", in one line and clean: the caller frees it;
 * NULL without memory. */
char *ar_cli_command(int nranks, int argc, char **argv);

/* Refuses one rank alone, which has nobody to reduce with: each says so, for a launcher of another
 * MPI library starts many such worlds.  An enum ar_exit. */
int ar_cli_check_ranks(const char *command, int nranks);

/* Initializes MPI.  Ends the program on all ranks where liballreduce.so is preloaded into one,
 * whose native calls it would run; the first of these says so. */
void ar_cli_start_measuring(const char *command);

/* ar_sizes_fit for the elements of all n types, rows that this MPI has; rank 0 says what is left
 * out or wrong.  An enum ar_exit. */
int ar_cli_fit_sizes(struct ar_sizes *sizes, const char *command, const size_t *rows, size_t n,
                     int rank);

/* Can the file be written, if path names one?  Better told before the run than after it. Collective
 * over MPI_COMM_WORLD, but only rank 0 looks, and says why not, with what asks for the file.  An
 * enum ar_exit. */
int ar_cli_check_output(const char *option, const char *path, int rank);

/* Names on stderr the variables of allreduce(7) that are set, but that bench and tune do not
 * follow: these measure with configurations of their own, and only what belongs to the process
 * counts. */
void ar_cli_warn_of_settings(const char *command);

/* Returns memory; where it is NULL a message says so, and the job ends: the other ranks would wait.
 */
void *ar_cli_need_memory(void *memory) __attribute__((returns_nonnull));

/* A barrier of MPI_COMM_WORLD whose ranks sleep while they wait. */
void ar_cli_meet_asleep(void);

/* Gives rank 0's text (malloced; NULL: it has none) to the other ranks of MPI_COMM_WORLD, which
 * pass NULL; returns it, for each to free.  Collective; a lack of memory ends the job. */
char *ar_cli_share(char *text);

#endif
