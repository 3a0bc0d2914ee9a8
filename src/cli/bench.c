/* allreduce bench: times algorithms side by side in one run. */
#include "config.h"

#include "cli/bench.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/registry.h"
#include "cli/cli.h"

/* --- what is measured --- */

/* Adds what one size compares: only a preset changes that from size to size. */
static int
add_all(struct ar_measurement *m, const struct ar_bench *bench, size_t count)
{
    int status = AR_EXIT_DONE;
    if (bench->course) {
        ar_measurement_clear(m, 2);
        return ar_preset_add(m, count);
    }
    if (m->nmeasured > 2)
        return AR_EXIT_DONE;
    if (bench->algorithms) {
        char *copy = strdup(bench->algorithms), *rest = copy;
        status = copy ? AR_EXIT_DONE : AR_EXIT_FAILED;
        for (char *text = copy ? strtok_r(copy, ";", &rest) : NULL; text && !status;
             text = strtok_r(NULL, ";", &rest))
            status = ar_measurement_add(m, text, text);
        free(copy);
    } else {
        for (size_t i = 0; ar_algorithm_at(i) && !status; i++)
            status = ar_measurement_add(m, ar_algorithm_at(i)->name, ar_algorithm_at(i)->name);
    }
    if (!status && (bench->exchange || bench->html) && m->nranks > 1)
        status = ar_measurement_add_exchange(m);
    return status;
}

/* --- the run --- */

/* Measures one size in one place, and prints what can be printed as soon as it
 * is known. */
static int
run_place(struct ar_results *results, struct ar_measurement *m, const struct ar_bench *bench,
          size_t count, enum ar_place place)
{
    const struct ar_workload work = {.count = count,
                                     .place = place,
                                     .repetitions = bench->repetitions,
                                     .seconds = bench->seconds,
                                     .rotate_bytes = bench->rotate_bytes};
    const size_t first = results->n;
    const int wrong = ar_measurement_run(m, &work);
    const int status = ar_results_add(results, m, &work);
    if (status || m->rank != 0)
        return status ? status : wrong;
    if (bench->format == AR_BENCH_CSV)
        ar_results_print_csv(results, first);
    else if (bench->format == AR_BENCH_TEXT && bench->course)
        ar_preset_print(results, first);
    else if (bench->format == AR_BENCH_TEXT)
        ar_results_print_text(results, first);
    return wrong;
}

static int
run(struct ar_results *results, struct ar_measurement *m, const struct ar_bench *bench)
{
    const size_t size = m->reduction.size;
    int status = AR_EXIT_DONE, worst = AR_EXIT_DONE;
    for (size_t i = 0; i < bench->sizes.n && !status; i++) {
        const size_t bytes = bench->sizes.bytes[i], count = bytes / size;
        if (count < 1 || count > INT_MAX) {
            if (m->rank == 0)
                fprintf(stderr, "allreduce bench: --sizes: %zu bytes: allowed here: %zu to %zu\n",
                        bytes, size, size * INT_MAX);
            return AR_EXIT_USAGE;
        }
        status = add_all(m, bench, count);
        for (int place = AR_OUT_OF_PLACE; place <= AR_IN_PLACE && !status; place++)
            if (bench->places & 1u << place)
                worst |= run_place(results, m, bench, count, (enum ar_place)place);
    }
    return status ? status : worst;
}

/* --- before and after --- */

static int
measure(struct ar_results *results, const struct ar_bench *bench)
{
    struct ar_measurement m;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, status = ar_measurement_init(&m, ar_named_at(bench->type), bench->op);
    *results = (struct ar_results){.bench = bench,
                                   .nranks = m.nranks,
                                   .cpus = ar_measurement_cpus(),
                                   .type = ar_named_name(bench->type),
                                   .op = ar_op_name(bench->op)};
    MPI_Get_library_version(version, &length);
    snprintf(results->mpi, sizeof results->mpi, "%.*s", (int)strcspn(version, "\n,"), version);
    for (char *c = results->mpi; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    if (!status)
        status = run(results, &m, bench);
    ar_measurement_fini(&m);
    return status;
}

int
ar_cli_bench(int argc, char **argv)
{
    struct ar_bench bench;
    struct ar_results results = {0};
    int rank;
    ar_bench_read(&bench, argc, argv);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int status = ar_cli_check_output("bench: --html", bench.html, rank);
    if (!status)
        status = ar_operands_check("bench", &bench.type, 1, bench.op, rank);
    if (!status)
        status = measure(&results, &bench);
    MPI_Finalize();
    char *const command = ar_cli_command(results.nranks, argc, argv);
    if (rank == 0 && results.n > 0 && bench.format == AR_BENCH_JSON)
        status |= ar_results_print_json(&results);
    if (rank == 0 && results.n > 0 && bench.html)
        status |= ar_results_page(&results, bench.html, command ? command : "");
    free(command);
    ar_results_fini(&results);
    ar_bench_fini(&bench);
    return status;
}
