/* allreduce bench: times algorithms side by side in one run. */
#include "config.h"

#include "cli/bench.h"

#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/registry.h"
#include "cli/cli.h"
#include "cli/operand.h"

/* --- who takes part --- */

static int
enter_named(struct ar_contest *contest, const char *list)
{
    char *copy = strdup(list), *rest = copy;
    int status = copy ? AR_EXIT_DONE : AR_EXIT_FAILED;
    for (char *text = strtok_r(copy, ";", &rest); text && !status;
         text = strtok_r(NULL, ";", &rest))
        status = ar_contest_add(contest, text, text);
    free(copy);
    return status;
}

static int
enter_all(struct ar_contest *contest)
{
    int status = AR_EXIT_DONE;
    for (size_t i = 0; ar_algorithm_at(i) && !status; i++)
        status = ar_contest_add(contest, ar_algorithm_at(i)->name, ar_algorithm_at(i)->name);
    return status;
}

/* Those of one size: only a preset's differ. */
static int
enter(struct ar_contest *contest, const struct ar_bench *bench, size_t count)
{
    int status = AR_EXIT_DONE;
    if (bench->preset == AR_PRESET_COURSE) {
        ar_contest_clear(contest);
        status = ar_course_enter(contest, count);
    } else if (contest->nentrants == 2) {
        status = bench->algorithms ? enter_named(contest, bench->algorithms) : enter_all(contest);
        if (!status && (bench->exchange || bench->html) && contest->nranks > 1)
            status = ar_contest_add_exchange(contest);
    }
    return status;
}

/* --- the run --- */

static int
count_of(size_t *count, const struct ar_contest *contest, size_t bytes)
{
    *count = bytes / contest->reduction.size;
    if (*count >= 1 && *count <= INT_MAX)
        return AR_EXIT_DONE;
    if (contest->rank == 0)
        fprintf(stderr, "allreduce bench: --sizes: %zu bytes: allowed here: %zu to %zu\n", bytes,
                contest->reduction.size, contest->reduction.size * INT_MAX);
    return AR_EXIT_USAGE;
}

/* What can be printed as soon as it is known. */
static void
print(const struct ar_results *results, size_t first, const struct ar_bench *bench)
{
    if (bench->format == AR_BENCH_CSV)
        ar_results_print_csv(results, first);
    else if (bench->format == AR_BENCH_TEXT && bench->preset == AR_PRESET_COURSE)
        ar_course_print(results, first);
    else if (bench->format == AR_BENCH_TEXT)
        ar_results_print_text(results, first);
}

static int
run_place(struct ar_results *results, struct ar_contest *contest, const struct ar_bench *bench,
          size_t count, enum ar_place place)
{
    const struct ar_contest_round round = {.count = count,
                                           .place = place,
                                           .repetitions = bench->repetitions,
                                           .seconds = bench->seconds,
                                           .rotate_bytes = bench->rotate_bytes};
    const size_t first = results->n;
    const int wrong = ar_contest_run(contest, &round);
    const int status = ar_results_add(results, contest, &round);
    if (!status && contest->rank == 0)
        print(results, first, bench);
    return status ? status : wrong;
}

static int
run(struct ar_results *results, struct ar_contest *contest, const struct ar_bench *bench)
{
    int status = AR_EXIT_DONE, worst = AR_EXIT_DONE;
    for (size_t i = 0; i < bench->sizes.n && !status; i++) {
        size_t count;
        status = count_of(&count, contest, bench->sizes.bytes[i]);
        if (!status)
            status = enter(contest, bench, count);
        for (int place = AR_OUT_OF_PLACE; place <= AR_IN_PLACE && !status; place++)
            if (bench->places & 1u << place)
                worst |= run_place(results, contest, bench, count, (enum ar_place)place);
    }
    return status ? status : worst;
}

/* --- before and after --- */

/* Better told before the run than behind it. */
static int
check_page(const char *path)
{
    FILE *const file = fopen(path, "a");
    if (!file) {
        fprintf(stderr, "allreduce bench: --html: cannot write %s: %s\n", path, strerror(errno));
        return AR_EXIT_FAILED;
    }
    fclose(file);
    return AR_EXIT_DONE;
}

/* What only rank 0 can see, told to all. */
static int
check_outputs(const struct ar_bench *bench, int rank)
{
    int status = rank == 0 && bench->html ? check_page(bench->html) : AR_EXIT_DONE;
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

static int
check_operands(const struct ar_bench *bench, int rank)
{
    char why[AR_PROBLEM_TEXT];
    struct ar_text t;
    struct ar_named *const type = ar_named_at(bench->type);
    ar_text_init(&t, why, sizeof why);
    if (!type)
        ar_text_add(&t, "this MPI has no %s", ar_named_name(bench->type));
    if (type && ar_type_takes(type, ar_named_name(bench->type), bench->op, &t))
        return AR_EXIT_DONE;
    if (rank == 0)
        fprintf(stderr, "allreduce bench: %s\n", why);
    return AR_EXIT_USAGE;
}

/* The first line of what the MPI library says of itself. */
static void
name_mpi(char *name, size_t room)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    snprintf(name, room, "%.*s", (int)strcspn(version, "\n,"), version);
    for (char *c = name; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
}

static int
measure(struct ar_results *results, const struct ar_bench *bench)
{
    struct ar_contest contest;
    int status = ar_contest_init(&contest, ar_named_at(bench->type), bench->op);
    *results = (struct ar_results){.nranks = contest.nranks,
                                   .cpus = ar_contest_cpus(),
                                   .repetitions = bench->repetitions,
                                   .places_differ = bench->places == (AR_PLACES_OUT | AR_PLACES_IN),
                                   .rotate_bytes = bench->rotate_bytes,
                                   .type = ar_named_name(bench->type),
                                   .op = ar_op_name(bench->op)};
    name_mpi(results->mpi, sizeof results->mpi);
    if (!status)
        status = run(results, &contest, bench);
    ar_contest_fini(&contest);
    return status;
}

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
    fclose(to);
    return text;
}

/* What is written when all is known. */
static int
publish(const struct ar_results *results, const struct ar_bench *bench, const char *command)
{
    int status = AR_EXIT_DONE;
    if (bench->format == AR_BENCH_JSON)
        status |= ar_results_print_json(results);
    if (bench->html)
        status |= ar_results_page(results, bench->html, command);
    return status;
}

int
ar_cli_bench(int argc, char **argv)
{
    struct ar_bench bench;
    struct ar_results results = {0};
    int rank;
    int status = ar_bench_read(&bench, argc, argv);
    if (status)
        return status;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    status = check_outputs(&bench, rank);
    if (!status)
        status = check_operands(&bench, rank);
    if (!status)
        status = measure(&results, &bench);
    MPI_Finalize();
    char *const command = ar_cli_command(results.nranks, argc, argv);
    if (rank == 0 && results.n > 0)
        status |= publish(&results, &bench, command ? command : "");
    free(command);
    ar_results_fini(&results);
    ar_bench_fini(&bench);
    return status;
}
