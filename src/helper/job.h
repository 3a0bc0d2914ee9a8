/* What the subcommands share that run inside a job. */
#ifndef AR_HELPER_JOB_H
#define AR_HELPER_JOB_H

#include <argp.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/cli.h"
#include "helper/cpu_ticks.h"
#include "helper/operand.h"
#include "select/sizes.h"

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
 * follow.  These measure with configurations of their own, and only what belongs to the process
 * counts. */
void ar_cli_warn_of_settings(const char *command);

/* Says on stderr "allreduce COMMAND: warning: " and the rest, and keeps the rest for pages and
 * JSON: ar_cli_warning(0) is the first of them on this rank, and behind the last there is NULL. */
__attribute__((format(printf, 2, 3))) void ar_cli_warn(const char *command, const char *format,
                                                       ...);
const char *ar_cli_warning(size_t i);

/* Returns memory; where it is NULL a message says so, and the job ends: the other ranks would wait.
 */
void *ar_cli_need_memory(void *memory) __attribute__((returns_nonnull));

/* A barrier of MPI_COMM_WORLD whose ranks sleep while they wait. */
void ar_cli_meet_asleep(void);

/* Gives rank 0's text (malloced; NULL: it has none) to the other ranks of MPI_COMM_WORLD, which
 * pass NULL; returns it, for each to free.  Collective; a lack of memory ends the job. */
char *ar_cli_share(char *text);

/* --- Ctrl-C in a long run: what was measured is kept --- */

/* From now on SIGINT and SIGTERM, which launchers pass on to the ranks or send themselves when they
 * are interrupted, only leave a mark; the first one also writes the text to stderr, if there is
 * one. Called once, behind MPI_Init; the text must stay. */
void ar_interrupt_watch(const char *text);

/* Has this rank got one?  Others may not have: ranks agree before they act on it. */
bool ar_interrupt_came(void);

/* --- how far a long run is ---
 *
 * On stderr: on a terminal in one line that is written again and again; elsewhere, as under most
 * launchers, in a line every few seconds. */

struct ar_progress {
    const char *command; /* "bench" */
    bool speaks;         /* rank 0, unless it was told to be quiet */
    double begun, said;  /* seconds of a clock */
    double budget;       /* seconds in all, a bound of the time left; 0: there is none */
};

void ar_progress_begin(struct ar_progress *progress, const char *command, bool speaks);

/* Seconds since it began. */
double ar_progress_elapsed(const struct ar_progress *progress);

/* done, from 0 to 1, tells how much time is left; what is under way. */
__attribute__((format(printf, 3, 4))) void ar_progress_tell(struct ar_progress *progress,
                                                            double done, const char *what, ...);

/* Takes the line from the terminal, before something else is written. */
void ar_progress_clear(const struct ar_progress *progress);

/* --- do others use the ranks' cores while they measure? ---
 *
 * CPU time counts, not context switches: ranks that share cores switch, too, and an involuntary
 * switch does not tell for whom.  What these ranks did themselves is subtracted from what all
 * processes, and other virtual machines, did on the CPUs of a node's ranks.  A node is what one
 * kernel runs, whatever MPI takes for nodes.  Interrupts do not count: they are those of the ranks'
 * messages as a rule. */

/* A look that has begun. */
struct ar_others {
    MPI_Comm node;
    struct ar_cpus cpus;       /* of all its ranks */
    struct ar_cpu_ticks *from; /* on the node's first rank; NULL: the system does not tell */
    double own;                /* seconds of this process so far */
    uint64_t since_ns;
};

/* Collective over MPI_COMM_WORLD. */
void ar_others_begin(struct ar_others *others);

/* The same, and frees what begin took.  Rank 0 warns on stderr where others kept more than
 * AR_QUIET_CPUS busy on some node in all that time. */
void ar_others_end(struct ar_others *others, const char *command);

#endif
