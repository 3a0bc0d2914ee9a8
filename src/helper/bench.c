/* allreduce bench: times algorithms side by side in one run. */
#include "config.h"

#include "helper/bench.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/nodes.h"
#include "algorithms/registry.h"
#include "communicator/carrier.h"
#include "communicator/tuned_rules.h"
#include "config/files.h"
#include "config/output.h"
#include "cores/cpus.h"
#include "execute/crowd.h"
#include "execute/group.h"
#include "helper/job.h"

/* --- where the ranks are --- */

/* Rank 0 reads, since a host file may be on its host alone.  An enum ar_exit. */
static int
read_placement(struct ar_placement *p, const char *text, int rank)
{
    char reason[1024];
    struct ar_text why;
    int status = AR_EXIT_DONE;
    ar_text_init(&why, reason, sizeof reason);
    if (rank == 0) {
        const int error = ar_placement_read(p, text, &why);
        if (error)
            fprintf(stderr, "allreduce bench: --nodes: %s\n",
                    error == AR_ERR_MEMORY ? "out of memory" : reason);
        status = error == AR_ERR_MEMORY ? AR_EXIT_FAILED : error ? AR_EXIT_USAGE : AR_EXIT_DONE;
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (status)
        return status;
    int numbers[] = {p->nranks, p->nnodes, p->most};
    MPI_Bcast(numbers, 3, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank > 0) {
        *p = (struct ar_placement){.nranks = numbers[0], .nnodes = numbers[1], .most = numbers[2]};
        p->node_of = ar_cli_need_memory(malloc((size_t)p->nranks * sizeof *p->node_of));
    }
    MPI_Bcast(p->node_of, p->nranks, MPI_INT, 0, MPI_COMM_WORLD);
    return AR_EXIT_DONE;
}

/* Reads text, which rank 0 does, and sees whether the ranks of MPI_COMM_WORLD can play it: as many,
 * on one node, on which other nodes are assumed.  Collective.  An enum ar_exit, having said why;
 * *places is the caller's where it is AR_EXIT_DONE. */
static int
take_places(struct ar_node_places *places, const char *text)
{
    struct ar_placement *const p = &places->placement;
    int rank, nranks, status = AR_EXIT_DONE;
    *places = (struct ar_node_places){.text = text};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (!text)
        return AR_EXIT_DONE;
    status = read_placement(p, text, rank);
    if (status)
        return status;
    if (p->nranks != nranks) {
        if (rank == 0)
            fprintf(stderr,
                    "allreduce bench: --nodes=%s places %d rank%s, but there %s %d: start it with "
                    "mpiexec -n %d\n",
                    text, p->nranks, ar_plural((size_t)p->nranks), nranks == 1 ? "is" : "are",
                    nranks, p->nranks);
        ar_placement_fini(p);
        return AR_EXIT_USAGE;
    }
    int *const real = ar_cli_need_memory(malloc((size_t)nranks * sizeof *real));
    if (ar_carrier_find_nodes(real, MPI_COMM_WORLD, rank, nranks))
        MPI_Abort(MPI_COMM_WORLD, AR_EXIT_FAILED);
    const int nnodes = ar_nodes_count(real, nranks);
    free(real);
    places->is_assumed = p->nnodes > 1;
    if (nnodes == 1)
        return AR_EXIT_DONE;
    if (rank == 0)
        fprintf(stderr,
                "allreduce bench: --nodes=%s needs all ranks on one node, but they are on %d; the "
                "launcher places them there\n",
                text, nnodes);
    ar_placement_fini(p);
    return AR_EXIT_FAILED;
}

const char *
ar_node_places_are(const struct ar_node_places *places)
{
    return !places->text ? NULL : places->is_assumed ? "assumed" : "real";
}

char *
ar_node_places_describe(const struct ar_node_places *places, char text[AR_NODE_PLACES_TEXT])
{
    const struct ar_placement *const p = &places->placement;
    char where[AR_PLACEMENT_TEXT];
    struct ar_text t;
    ar_text_init(&t, text, AR_NODE_PLACES_TEXT);
    ar_text_add(&t, "--nodes=%s: %s", places->text,
                ar_placement_print(p, p->nranks, p->nnodes, where));
    if (places->is_assumed)
        ar_text_add(&t, ", assumed: all ranks are on one node, where the MPI library carries the "
                        "messages between assumed nodes; times say nothing about a network");
    return text;
}

/* --- what is measured --- */

static int
add_all(struct ar_measurement *m, const struct ar_bench *bench)
{
    int status = AR_EXIT_DONE;
    if (bench->algorithms) {
        for (const char *at = bench->algorithms; *at && !status;) {
            const size_t length = ar_bench_first_length(at);
            char *const text = strndup(at, length);
            status = !text ? AR_EXIT_FAILED : *text ? ar_measurement_add(m, text, text) : status;
            free(text);
            at += length + (at[length] == ';');
        }
    } else {
        for (size_t i = 0; ar_algorithm_at(i) && !status; i++)
            status = ar_measurement_add(m, ar_algorithm_at(i)->name, ar_algorithm_at(i)->name);
    }
    if (!status && (bench->exchange || bench->html) && m->nranks > 1)
        status = ar_measurement_add_exchange(m);
    return status;
}

/* --- the run --- */

/* A run under way.  Each size in each place is a table. */
struct run {
    struct ar_results *results;
    struct ar_measurement m;
    const struct ar_bench *bench;
    struct ar_progress progress;
    int tables, all_tables; /* begun; in all */
};

/* The table's share of what is left of the budget; 0: there is no budget; negative: it is over, of
 * which rank 0's clock decides. */
static double
limit_of(const struct run *run)
{
    if (run->bench->budget <= 0)
        return 0;
    double left = run->bench->budget - ar_progress_elapsed(&run->progress);
    MPI_Bcast(&left, 1, MPI_DOUBLE, 0, run->m.comm);
    if (left <= 0)
        return run->tables == 0 ? 1e-9 : -1; /* the first table has its one batch */
    return left / (run->all_tables - run->tables);
}

/* What stdout has. */
static enum ar_columns_format
printed_format(const struct ar_bench *bench)
{
    return bench->output ? AR_COLUMNS_TEXT : bench->format;
}

/* The files have each table as soon as it is measured, for a run may be killed.  That one cannot be
 * written counts at the end. */
static void
print_table(const struct run *run, size_t first)
{
    const struct ar_bench *const bench = run->bench;
    struct ar_results so_far = *run->results;
    so_far.incomplete = "the run goes on";
    ar_progress_clear(&run->progress);
    if (printed_format(bench) != AR_COLUMNS_JSON)
        ar_results_print(stdout, run->results, printed_format(bench), first);
    if (run->tables == run->all_tables)
        return;
    if (bench->output && !ar_output_is_direct(bench->output))
        ar_results_save(&so_far);
    if (bench->html && !ar_output_is_direct(bench->html))
        ar_results_page(&so_far);
}

/* Measures one size in one place, and prints what can be printed as soon as it
 * is known.  Where time is over or the run was interrupted, results tell why. */
static int
run_place(struct run *run, size_t count, enum ar_place place)
{
    struct ar_measurement *const m = &run->m;
    const struct ar_bench *const bench = run->bench;
    const double limit = limit_of(run);
    const double end = bench->budget > 0 ? run->progress.begun + bench->budget : 0;
    const struct ar_workload work = {.count = count,
                                     .place = place,
                                     .repetitions = bench->repetitions,
                                     .seconds = bench->seconds,
                                     .limit = limit,
                                     .deadline_ns = (uint64_t)(end * 1e9),
                                     .rotate_bytes = bench->rotate_bytes,
                                     .settles = true,
                                     .fresh = bench->fresh};
    const size_t first = run->results->n;
    char size[AR_SIZE_TEXT];
    if (limit < 0) {
        run->results->incomplete = "the budget was used up";
        return AR_EXIT_FAILED;
    }
    m->stage = (struct ar_bench_part){&run->progress, (double)run->tables / run->all_tables,
                                      1.0 / run->all_tables, ""};
    snprintf(m->stage.what, sizeof m->stage.what, "table %d of %d: %s, %s", ++run->tables,
             run->all_tables, ar_size_print(count * m->reduction.size, size, sizeof size),
             ar_place_words(place));
    int wrong = ar_measurement_run(m, &work);
    const int status = m->batches > 0 ? ar_results_add(run->results, m, &work) : AR_EXIT_DONE;
    if (m->speaks && !status && m->batches > 0)
        print_table(run, first);
    if (status)
        run->results->incomplete = "memory ran out";
    else if (m->interrupted)
        run->results->incomplete = "it was interrupted";
    else if (m->batches == 0)
        run->results->incomplete = "the budget was used up";
    if (m->batches == 0)
        wrong = AR_EXIT_FAILED;
    return status ? status : m->interrupted ? AR_EXIT_INTERRUPTED : wrong;
}

/* AR_EXIT_FAILED after a wrong result, which stops nothing. */
static int
run_sizes(struct run *run)
{
    const struct ar_bench *const bench = run->bench;
    const size_t size = run->m.reduction.size;
    int worst = AR_EXIT_DONE;
    int status = add_all(&run->m, bench);
    const int places = bench->places == (AR_PLACES_OUT | AR_PLACES_IN) ? 2 : 1;
    run->all_tables = (int)bench->sizes.n * places;
    for (size_t i = 0; i < bench->sizes.n && !status; i++) {
        const size_t count = bench->sizes.bytes[i] / size;
        for (int place = AR_OUT_OF_PLACE; place <= AR_IN_PLACE && !status; place++)
            if (bench->places & 1u << place) {
                status = run_place(run, count, (enum ar_place)place);
                worst |= status == AR_EXIT_FAILED;
                if (status == AR_EXIT_FAILED && !run->results->incomplete)
                    status = AR_EXIT_DONE;
            }
    }
    return status ? status : worst;
}

/* What is missing. */
static void
tell_incomplete(const struct run *run)
{
    const struct ar_results *const results = run->results;
    const int last = results->n > 0 ? results->rows[results->n - 1].batches : 0;
    ar_progress_clear(&run->progress);
    if (!run->m.speaks || !results->incomplete)
        return;
    fprintf(stderr, "allreduce bench: %s in table %d of %d", results->incomplete, run->tables,
            run->all_tables);
    if (run->m.batches > 0 && last < run->bench->repetitions)
        fprintf(stderr, ", which has %d of %d batches", last, run->bench->repetitions);
    fprintf(stderr, "; what was measured is kept\n");
}

/* --- before and after --- */

/* "host, processor" of this rank. */
static void
name_machine(char *name, size_t room)
{
    char host[64] = "", cpu[96];
    gethostname(host, sizeof host - 1);
    ar_provenance_cpu(cpu, sizeof cpu);
    snprintf(name, room, "%s, %s", host, cpu);
}

/* CPUs that the ranks of this rank's node may use, together.  Collective over MPI_COMM_WORLD. */
static int
count_cpus(void)
{
    struct ar_cpus cpus;
    MPI_Comm node;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    ar_cpus_of_thread(&cpus); /* or none */
    ar_reduce_all(&cpus, (int)sizeof cpus, MPI_BYTE, MPI_BOR, node);
    MPI_Comm_free(&node);
    const int n = ar_cpus_count(&cpus);
    return n > 0 ? n : ar_online_cpus();
}

static int
measure(struct ar_results *results, const struct ar_bench *bench,
        const struct ar_node_places *places, const char *command)
{
    struct run run = {.results = results, .bench = bench};
    struct ar_measurement *const m = &run.m;
    int status =
        ar_measurement_init(m, MPI_COMM_WORLD, places, ar_named_at(bench->type), bench->op);
    *results = (struct ar_results){.bench = bench,
                                   .places = places,
                                   .nranks = m->nranks,
                                   .cpus = count_cpus(),
                                   .type = ar_named_name(bench->type),
                                   .op = ar_op_name(bench->op),
                                   .command = command ? command : ""};
    ar_provenance_mpi(results->mpi, sizeof results->mpi);
    name_machine(results->machine, sizeof results->machine);
    ar_progress_begin(&run.progress, "bench", m->speaks && !bench->quiet);
    run.progress.budget = bench->budget;
    if (!status)
        status = run_sizes(&run);
    tell_incomplete(&run);
    if (m->speaks)
        ar_results_warn(results);
    ar_measurement_fini(m);
    return status;
}

/* What is written when all is measured, by rank 0. */
static int
write_all(const struct ar_results *results)
{
    const struct ar_bench *const bench = results->bench;
    int status = AR_EXIT_DONE;
    if (printed_format(bench) == AR_COLUMNS_CSV && results->n == 0)
        ar_results_print(stdout, results, AR_COLUMNS_CSV, 0); /* the head alone */
    if (printed_format(bench) == AR_COLUMNS_JSON)
        ar_results_write_json(stdout, results);
    if (fflush(stdout) || ferror(stdout)) /* which is told at the exit */
        status = AR_EXIT_FAILED;
    if (bench->output && !status)
        status = ar_results_save(results);
    if (bench->html && !status)
        status = ar_results_page(results);
    return status;
}

/* What is said when a signal comes: a call may take longer than the launcher waits. */
static const char *
ending(const struct ar_bench *bench)
{
    return printed_format(bench) != AR_COLUMNS_JSON
               ? "allreduce bench: ends after the call under way\n"
               : "allreduce bench: ends after the call under way and prints the JSON then. If it "
                 "is killed before that, it prints none; --output=FILE has each table as soon as "
                 "it is measured\n";
}

int
ar_cli_bench(int argc, char **argv)
{
    struct ar_bench bench;
    struct ar_results results = {0};
    struct ar_node_places places = {0};
    struct ar_others others;
    int rank, nranks;
    ar_bench_read(&bench, argc, argv);
    ar_cli_start_measuring("bench");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    ar_interrupt_watch(rank == 0 ? ending(&bench) : NULL);
    int status = ar_cli_check_ranks("bench", nranks);
    if (!status)
        status = ar_cli_check_output("bench: --output", bench.output, rank);
    if (!status)
        status = ar_cli_check_output("bench: --html", bench.html, rank);
    if (!status)
        status = ar_operands_check("bench", &bench.type, 1, bench.op, rank);
    if (!status)
        status = ar_cli_fit_sizes(&bench.sizes, "bench", &bench.type, 1, rank);
    if (!status)
        status = take_places(&places, bench.nodes);
    if (!status && rank == 0)
        ar_cli_warn_of_settings("bench");
    char *const command = ar_cli_command(nranks, argc, argv);
    ar_others_begin(&others);
    if (!status)
        status = measure(&results, &bench, &places, command);
    ar_others_end(&others, "bench");
    /* Before MPI_Finalize: an interrupted launcher waits for a moment alone. */
    const bool has_results = results.n > 0 || results.incomplete;
    if (rank == 0 && has_results && write_all(&results))
        status = status ? status : AR_EXIT_FAILED;
    MPI_Finalize();
    free(command);
    ar_results_fini(&results);
    ar_placement_fini(&places.placement);
    ar_bench_fini(&bench);
    return status;
}
