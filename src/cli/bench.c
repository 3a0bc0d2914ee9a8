/* allreduce bench: times algorithms side by side in one run. */
#include <argp.h>
#include <config.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/registry.h"
#include "cli/cli.h"
#include "cli/contest.h"
#include "report/report.h"
#include "select/select.h"

struct options {
    const char *algorithms; /* ';' between choices; NULL: all */
    const char *sizes;      /* ',' between sizes */
    double seconds;         /* for each size */
    int repetitions;
    bool csv;
};

static const struct argp_option table[] = {
    {"algo", 'a', "LIST", 0,
     "Algorithms beside native and MPI_Reduce+MPI_Bcast, ';' between them, with parameters in "
     "parentheses (default: every one)",
     0},
    {"sizes", 's', "LIST", 0, "Message sizes in bytes, ',' between them (default: 8,4K,64K,1M)", 0},
    {"time", 't', "SECONDS", 0, "Time for each size (default: 2)", 0},
    {"repetitions", 'r', "N", 0, "Batches of which the median counts (default: 11)", 0},
    {"csv", 'c', NULL, 0, "One line per size and algorithm, for programs", 0},
    {0},
};

static error_t
parse(int key, char *argument, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 'a':
        o->algorithms = argument;
        return 0;
    case 's':
        o->sizes = argument;
        return 0;
    case 't':
        o->seconds = atof(argument);
        if (!(o->seconds > 0))
            argp_error(state, "--time wants a number of seconds above 0, not '%s'", argument);
        return 0;
    case 'r':
        o->repetitions = atoi(argument);
        if (o->repetitions < 1)
            argp_error(state, "--repetitions wants a number from 1 on, not '%s'", argument);
        return 0;
    case 'c':
        o->csv = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "bench takes no argument '%s'; name algorithms by --algo", argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    table,
    parse,
    NULL,
    "Times every algorithm beside the MPI library's own allreduce, interleaved in one run: float, "
    "MPI_SUM, medians of the slowest rank's time. Start it with mpiexec.",
    NULL,
    NULL,
    NULL};

static int
add_named(struct ar_contest *contest, const char *list)
{
    char *copy = strdup(list), *rest = copy;
    int error = copy ? 0 : 1;
    for (char *name = strtok_r(copy, ";", &rest); name && !error; name = strtok_r(NULL, ";", &rest))
        error = ar_contest_add(contest, name);
    free(copy);
    return error;
}

static int
add_all(struct ar_contest *contest)
{
    int error = 0;
    for (size_t i = 0; ar_algorithm_at(i) && !error; i++)
        error = ar_contest_add(contest, ar_algorithm_at(i)->name);
    return error;
}

static void
print_row(const struct ar_contest *contest, size_t bytes, size_t i, const struct options *o)
{
    const struct ar_entrant *e = &contest->entrants[i];
    const double native = contest->entrants[0].median;
    const char *quote = strchr(e->label, ',') ? "\"" : "";
    char size[AR_SIZE_TEXT];
    if (o->csv)
        printf("%d,%zu,%s%s%s,%.3f,%.3f,%.3f,%.3f,%s\n", contest->nranks, bytes, quote, e->label,
               quote, e->median * 1e6, e->least * 1e6, e->most * 1e6, native / e->median,
               e->wrong ? "wrong" : "right");
    else
        printf("%8s  %-36s %12.2f %12.2f %9.2f%s\n", ar_size_print(bytes, size, sizeof size),
               e->label, e->median * 1e6, e->least * 1e6, native / e->median,
               e->wrong ? "  WRONG RESULT" : "");
}

static void
print_head(const struct ar_contest *contest, const struct options *o)
{
    if (o->csv) {
        printf("ranks,bytes,algorithm,median_us,min_us,max_us,times_native,result\n");
        return;
    }
    printf("float SUM, %d ranks on %d cpus, %d batches; us a call of the slowest rank\n",
           contest->nranks, ar_contest_cpus(), o->repetitions);
    printf("%8s  %-36s %12s %12s %9s\n", "size", "algorithm", "median", "min", "x native");
}

static int
run_sizes(struct ar_contest *contest, const struct options *o)
{
    const char *text = o->sizes;
    int wrong = 0;
    if (contest->rank == 0)
        print_head(contest, o);
    while (*text) {
        size_t bytes;
        if (ar_size_parse(&bytes, text, &text) || (*text && *text != ',') || bytes < 4) {
            if (contest->rank == 0)
                ar_say("--sizes: '%s' is no list of sizes from 4 bytes on, such as 8,64K,1M",
                       o->sizes);
            return 2;
        }
        text += *text == ',';
        wrong |= ar_contest_run(contest, bytes / sizeof(float), o->repetitions, o->seconds);
        for (size_t i = 0; contest->rank == 0 && i < contest->nentrants; i++)
            print_row(contest, bytes, i, o);
        fflush(stdout);
    }
    return wrong;
}

int
ar_cli_bench(int argc, char **argv)
{
    struct options o = {.sizes = "8,4K,64K,1M", .seconds = 2, .repetitions = 11};
    struct ar_contest contest;
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    MPI_Init(&argc, &argv);
    int status = ar_contest_init(&contest);
    if (!status)
        status = o.algorithms ? add_named(&contest, o.algorithms) : add_all(&contest);
    if (!status)
        status = run_sizes(&contest, &o);
    ar_contest_fini(&contest);
    MPI_Finalize();
    return status;
}
