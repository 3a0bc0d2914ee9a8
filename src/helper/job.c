/* What the subcommands share that run in MPI. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "config/output.h"
#include "config/variables.h"
#include "execute/group.h"
#include "execute/shared.h"
#include "helper/job.h"
#include "report/clock.h"
#include "report/say.h"
#include "report/table.h"
#include "schedule/grow.h"

#define TERMINAL_SECONDS 0.1 /* between two lines */
#define PLAIN_SECONDS    5.0
#define KNOWN            0.02       /* the part behind which the time left is worth telling */
#define LEAST_NS         200000000U /* ticks tell nothing of less */

/* --- the command line --- */

void
ar_option_type(struct argp_state *state, size_t *row, const char *name)
{
    char why[AR_PROBLEM_TEXT];
    struct ar_text t;
    ar_text_init(&t, why, sizeof why);
    if (!ar_type_find(row, name, &t))
        argp_error(state, "--type: %s", why);
}

void
ar_option_op(struct argp_state *state, enum ar_op *op, const char *name)
{
    char why[AR_PROBLEM_TEXT];
    struct ar_text t;
    ar_text_init(&t, why, sizeof why);
    if (!ar_op_by_name(op, name, &t))
        argp_error(state, "--op: %s", why);
}

/* --- the ranks --- */

char *
ar_cli_command(int nranks, int argc, char **argv)
{
    char *text = NULL;
    size_t length;
    FILE *const to = open_memstream(&text, &length);
    if (!to)
        return NULL;
    fprintf(to, "mpiexec -n %d %s", nranks, argv[0]);
    for (int i = 1; i < argc; i++) {
        const char *const quote = strpbrk(argv[i], " ;()*") ? "'" : "";
        fprintf(to, " %s%s%s", quote, argv[i], quote);
    }
    if (fclose(to)) {
        free(text);
        return NULL;
    }
    ar_name_clean(text);
    return text;
}

int
ar_cli_check_ranks(const char *command, int nranks)
{
    if (nranks > 1)
        return AR_EXIT_DONE;
    fprintf(stderr,
            "allreduce %s: there is only one rank, but at least two are needed: mpiexec -n 2 "
            "allreduce %s, with the mpiexec of this MPI library\n",
            command, command);
    return AR_EXIT_USAGE;
}

void
ar_cli_start_measuring(const char *command)
{
    Dl_info ours;
    int rank;
    const bool is_preloaded = dladdr(dlsym(RTLD_DEFAULT, "allreduce_version"), &ours);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int first = is_preloaded ? rank : INT_MAX;
    /* No allreduce: where only some ranks have the library preloaded, these would wait for ever. */
    ar_reduce_all(&first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == INT_MAX)
        return;
    if (first == rank)
        fprintf(stderr,
                "allreduce %s: %s is loaded into this process and would run the calls that are to "
                "be native; take it out of LD_PRELOAD or /etc/ld.so.preload\n",
                command, ours.dli_fname);
    MPI_Finalize();
    exit(AR_EXIT_FAILED);
}

int
ar_cli_check_output(const char *option, const char *path, int rank)
{
    const int error = rank == 0 && path ? ar_output_check(path) : 0;
    int status = error ? AR_EXIT_FAILED : AR_EXIT_DONE;
    if (error)
        fprintf(stderr, "allreduce %s: cannot write %s: %s\n", option, path, strerror(error));
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

int
ar_cli_fit_sizes(struct ar_sizes *sizes, const char *command, const size_t *rows, size_t n,
                 int rank)
{
    char text[AR_PROBLEM_TEXT];
    struct ar_text word;
    size_t least = SIZE_MAX, whole = 1; /* whole: elements of each type */
    for (size_t i = 0; i < n; i++) {
        const size_t size = ar_named_at(rows[i])->geometry.size;
        least = size < least ? size : least;
        const size_t one = whole;
        while (whole % size != 0)
            whole += one;
    }
    ar_text_init(&word, text, sizeof text);
    const int error = ar_sizes_fit(sizes, whole, least * INT_MAX, &word);
    if (rank == 0 && word.length > 0)
        fprintf(stderr, "allreduce %s: --sizes: %s\n", command, text);
    return error ? AR_EXIT_USAGE : AR_EXIT_DONE;
}

static struct {
    char **texts;
    size_t n, room;
} warnings;

void
ar_cli_warn(const char *command, const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "allreduce %s: warning: %s\n", command, text);
    warnings.texts = ar_cli_need_memory(
        ar_grow(warnings.texts, warnings.n + 1, &warnings.room, sizeof *warnings.texts));
    warnings.texts[warnings.n++] = ar_cli_need_memory(strdup(text));
}

const char *
ar_cli_warning(size_t i)
{
    return i < warnings.n ? warnings.texts[i] : NULL;
}

void *
ar_cli_need_memory(void *memory)
{
    if (!memory) {
        ar_say("out of memory");
        MPI_Abort(MPI_COMM_WORLD, AR_EXIT_FAILED);
        abort();
    }
    return memory;
}

void
ar_cli_meet_asleep(void)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    MPI_Request request;
    int is_done = 0;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    for (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE); !is_done;
         MPI_Test(&request, &is_done, MPI_STATUS_IGNORE))
        nanosleep(&pause, NULL);
}

char *
ar_cli_share(char *text)
{
    unsigned long length = text ? strlen(text) + 1 : 0;
    MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    if (length > 0 && !text)
        text = ar_cli_need_memory(malloc(length));
    MPI_Bcast(text, (int)length, MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
}

void
ar_cli_warn_of_settings(const char *command)
{
    static const char *const followed[] = {"ALLREDUCE_TIMEOUT", NULL};
    char names[1024];
    struct ar_text t;
    ar_text_init(&t, names, sizeof names);
    for (const struct ar_variable *v = ar_variables; v < ar_variables + AR_VARIABLES; v++)
        if (ar_variable_value(v) != v->fallback && ar_word_among(ar_word_of(v->name), followed) < 0)
            ar_text_add(&t, "%s%s", t.length > 0 ? ", " : "", v->name);
    if (t.length > 0)
        ar_cli_warn(command, "set, but without effect on what is measured here: %s", names);
}

/* --- Ctrl-C --- */

static volatile sig_atomic_t came;
static const char *said; /* when it comes; NULL: nothing */

static void
note(int number)
{
    const int error = errno;
    (void)number;
    if (!came && said && write(STDERR_FILENO, said, strlen(said)) < 0)
        said = NULL;
    came = 1;
    errno = error;
}

/* A second signal does not end the process either: a launcher passes on what the terminal has sent
 * to the rank already.  Launchers themselves end the job at the second. */
void
ar_interrupt_watch(const char *text)
{
    said = text;
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool
ar_interrupt_came(void)
{
    return came;
}

/* --- how far a long run is --- */

static double
now(void)
{
    return (double)ar_clock_system_ns() * 1e-9;
}

void
ar_progress_begin(struct ar_progress *progress, const char *command, bool speaks)
{
    const double begun = now();
    *progress = (struct ar_progress){command, speaks, begun, begun, 0};
}

double
ar_progress_elapsed(const struct ar_progress *progress)
{
    return now() - progress->begun;
}

void
ar_progress_tell(struct ar_progress *progress, double done, const char *what, ...)
{
    const bool is_terminal = progress->speaks && isatty(STDERR_FILENO);
    const double elapsed = ar_progress_elapsed(progress);
    double seconds = done > KNOWN ? elapsed * (1 - done) / done : INFINITY;
    char text[128], left[48] = "";
    va_list args;
    if (!progress->speaks ||
        now() - progress->said < (is_terminal ? TERMINAL_SECONDS : PLAIN_SECONDS))
        return;
    progress->said = now();
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    if (progress->budget > 0)
        seconds = fmin(seconds, progress->budget - elapsed);
    if (seconds > 0 && isfinite(seconds))
        snprintf(left, sizeof left, ", about %.0f s left", seconds);
    fprintf(stderr,
            is_terminal ? "\r\033[Kallreduce %s: %s; %.0f s%s" : "allreduce %s: %s; %.0f s%s\n",
            progress->command, text, elapsed, left);
    fflush(stderr);
}

void
ar_progress_clear(const struct ar_progress *progress)
{
    if (progress->speaks && isatty(STDERR_FILENO))
        fprintf(stderr, "\r\033[K");
}

/* --- others --- */

/* Seconds of CPUs that this process took. */
static double
own_seconds(void)
{
    struct rusage use = {0};
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

/* The ranks under one kernel, whose ticks are those of all of them.  MPI may be told to take the
 * ranks of a machine for those of several nodes (MPIR_CVAR_NOLOCAL), and containers look like
 * some. */
static MPI_Comm
join_machine(uint64_t boot)
{
    MPI_Comm machine;
    int rank, nranks, first = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    uint64_t *const boot_of = ar_cli_need_memory(malloc((size_t)nranks * sizeof *boot_of));
    MPI_Allgather(&boot, (int)sizeof boot, MPI_BYTE, boot_of, (int)sizeof boot, MPI_BYTE,
                  MPI_COMM_WORLD);
    while (boot_of[first] != boot)
        first++;
    free(boot_of);
    MPI_Comm_split(MPI_COMM_WORLD, first, rank, &machine);
    return machine;
}

void
ar_others_begin(struct ar_others *others)
{
    const uint64_t boot = ar_boot_hash();
    struct ar_cpus mine;
    int on_node;
    ar_cpus_of_thread(&mine);
    others->node = join_machine(boot);
    MPI_Comm_rank(others->node, &on_node);
    MPI_Allreduce(mine.word, others->cpus.word, (int)sizeof mine.word, MPI_BYTE, MPI_BOR,
                  others->node);
    others->from = on_node == 0 && boot ? ar_cpu_ticks_read(&others->cpus) : NULL;
    others->own = own_seconds();
    others->since_ns = ar_clock_system_ns();
}

/* How many CPUs others kept busy, on the node's first rank; 0 elsewhere, and where nothing tells.
 */
static double
busy_cpus(const struct ar_others *others, double ranks_seconds)
{
    const uint64_t ns = ar_clock_system_ns() - others->since_ns;
    struct ar_cpu_ticks *const to =
        others->from && ns >= LEAST_NS ? ar_cpu_ticks_read(&others->cpus) : NULL;
    const double busy =
        to ? ar_cpu_ticks_others(others->from, to, ranks_seconds, (double)ns * 1e-9) : 0;
    free(to);
    return busy;
}

void
ar_others_end(struct ar_others *others, const char *command)
{
    struct {
        double cpus;
        int rank;
    } busiest;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(others->node); /* who waits for late ranks takes a CPU for that, too */
    double own = own_seconds() - others->own;
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_SUM, others->node);
    busiest.cpus = busy_cpus(others, own);
    busiest.rank = rank;
    MPI_Allreduce(MPI_IN_PLACE, &busiest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    if (rank == 0 && busiest.cpus > AR_QUIET_CPUS)
        ar_cli_warn(command,
                    "other processes kept %.2f CPUs busy on rank %d's node: ranks waited for them, "
                    "and times are too long",
                    busiest.cpus, busiest.rank);
    free(others->from);
    MPI_Comm_free(&others->node);
}
