/* What the subcommands share that run in MPI. */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/output.h"
#include "config/variables.h"
#include "execute/group.h"
#include "helper/job.h"
#include "report/say.h"
#include "report/table.h"

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
        fprintf(stderr,
                "allreduce %s: warning: set, but without effect on what is measured here: %s\n",
                command, names);
}
