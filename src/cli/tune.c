/* allreduce tune: finds the fastest choice for each size, and writes rules; or checks rules. */
#include "config.h"

#include "cli/tune.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/operand.h"
#include "communicator/provenance.h"

#define BAR 24 /* characters */

/* --- visits --- */

static double
seconds_left(const struct ar_progress *progress)
{
    const double rest = progress->all.tune->budget - (MPI_Wtime() - progress->begun);
    const double least = progress->all.tune->budget / 20;
    double left = rest > least ? rest : least;
    MPI_Bcast(&left, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return left;
}

/* On a terminal alone. */
static void
show_progress(const struct ar_progress *progress, const char *what)
{
    const size_t filled = BAR * progress->visits / progress->total_visits;
    if (progress->rank != 0 || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r[%.*s%*s] %zu of %zu, %s, %.0f of %.0f s   ", (int)filled,
            "########################", (int)(BAR - filled), "", progress->visits,
            progress->total_visits, what, MPI_Wtime() - progress->begun,
            progress->all.tune->budget);
    if (progress->visits == progress->total_visits)
        fprintf(stderr, "\r%78s\r", "");
    fflush(stderr);
}

static int
visit(const struct ar_progress *progress, struct ar_study *study, const struct ar_visit *v,
      const struct ar_tune_state *state, const char *type)
{
    struct ar_study_size *const size = &study->sizes[v->size];
    int status = AR_EXIT_DONE;
    if (!ar_tune_state_recall(state, type, size, v->pass)) {
        /* types to come get as much as this one */
        const size_t rest = progress->total_visits - progress->visits;
        const size_t own = ar_study_visits(study) - v->number;
        const double seconds = seconds_left(progress) * (double)own / (double)rest;
        status = ar_study_measure(study, v, ar_study_share(study, v, seconds));
        if (!status)
            ar_tune_state_save(state, type, size, v->pass);
    }
    if (!status)
        ar_study_advance(study, v);
    return status;
}

int
ar_tune_run(struct ar_progress *progress, struct ar_study *study, const struct ar_tune_state *state,
            const char *type)
{
    char text[AR_SIZE_TEXT];
    struct ar_visit v;
    int status = AR_EXIT_DONE;
    while (!status && ar_study_next(study, &v)) {
        show_progress(progress, ar_size_print(study->sizes[v.size].bytes, text, sizeof text));
        status = visit(progress, study, &v, state, type);
        progress->visits++;
    }
    show_progress(progress, "");
    return status;
}

/* --- tuning --- */

static void
print_finding(const struct ar_finding *f, const char *type)
{
    char size[AR_SIZE_TEXT], choice[AR_CHOICE_TEXT];
    printf("%-20s %8s %10.2f us +-%2.0f%%  %6.2f x native  %s\n", type,
           ar_size_print(f->bytes, size, sizeof size), f->time.seconds * 1e6, f->time.noise * 100,
           f->native.seconds / f->time.seconds, ar_choice_print(&f->choice, choice, sizeof choice));
}

/* What is not to leave: what the first type has, and for that what auto picks. */
static int
keep(struct ar_study *study, const struct ar_findings *all, size_t type)
{
    int status = AR_EXIT_DONE;
    for (size_t i = 0; i < study->nsizes && !status; i++) {
        struct ar_choice choice;
        if (type > 0)
            choice = ar_findings_at(all, 0, i)->choice;
        else if (ar_auto_choose(&choice, &study->sizes[i].request, NULL))
            status = AR_EXIT_FAILED;
        if (!status)
            status = ar_study_keep(study, i, &choice);
    }
    return status;
}

/* Neighbours are alike where that costs nothing: the first type's sizes prefer what the one before
 * has. */
static void
conclude(const struct ar_progress *progress, const struct ar_study *study, size_t type)
{
    const struct ar_findings *const all = &progress->all;
    for (size_t i = 0; i < study->nsizes; i++) {
        struct ar_finding *const found = ar_findings_at(all, type, i);
        ar_study_find(found, study, i,
                      type == 0 && i > 0 ? &ar_findings_at(all, 0, i - 1)->choice : NULL);
        if (progress->rank == 0 && all->tune->output)
            print_finding(found, ar_named_name(all->tune->types[type]));
    }
    fflush(stdout);
}

static int
tune_type(struct ar_progress *progress, const struct ar_tune_state *state, size_t type)
{
    const struct ar_tune *const tune = progress->all.tune;
    struct ar_measurement m;
    struct ar_study study = {0};
    int status = ar_measurement_init(&m, ar_named_at(tune->types[type]), tune->op);
    if (!status)
        status = ar_study_init(&study, &m, &progress->all.places, tune->sizes.bytes, tune->sizes.n);
    if (!status)
        status = keep(&study, &progress->all, type);
    if (!status)
        progress->total_visits = progress->visits + (tune->ntypes - type) * ar_study_visits(&study);
    if (!status)
        status = ar_tune_run(progress, &study, state, ar_named_name(tune->types[type]));
    if (!status)
        conclude(progress, &study, type);
    ar_study_fini(&study);
    ar_measurement_fini(&m);
    return status;
}

static int
write_result(const struct ar_progress *progress, const char *command)
{
    const struct ar_findings *const all = &progress->all;
    if (progress->rank != 0)
        return AR_EXIT_DONE;
    if (!ar_findings_write(all, command)) {
        fprintf(stderr, "allreduce tune: cannot write %s: %s\n",
                all->tune->output ? all->tune->output : "stdout", strerror(errno));
        return AR_EXIT_FAILED;
    }
    ar_tune_state_forget(all->tune);
    if (all->tune->output)
        printf("wrote %s: ALLREDUCE_RULES=%s\n", all->tune->output, all->tune->output);
    return AR_EXIT_DONE;
}

static int
tune(struct ar_progress *progress, const char *command)
{
    struct ar_findings *const all = &progress->all;
    struct ar_tune_state state;
    char job[2 * AR_PROVENANCE_TEXT];
    int status = AR_EXIT_DONE;
    all->of = calloc(all->tune->ntypes * all->tune->sizes.n, sizeof *all->of);
    if (!all->of)
        return AR_EXIT_FAILED;
    ar_findings_describe(all, job, sizeof job);
    ar_tune_state_open(&state, all->tune, job);
    for (size_t t = 0; t < all->tune->ntypes && !status; t++)
        status = tune_type(progress, &state, t);
    ar_tune_state_close(&state);
    if (!status)
        status = write_result(progress, command);
    free(all->of);
    return status;
}

/* --- both --- */

static int
check_operands(const struct ar_tune *tune, int rank)
{
    char why[AR_PROBLEM_TEXT];
    struct ar_text t;
    ar_text_init(&t, why, sizeof why);
    for (size_t i = 0; i < tune->ntypes; i++) {
        const char *const name = ar_named_name(tune->types[i]);
        struct ar_named *const type = ar_named_at(tune->types[i]);
        if (!type)
            ar_text_add(&t, "this MPI has no %s", name);
        if (type && ar_type_takes(type, name, tune->op, &t))
            continue;
        if (rank == 0)
            fprintf(stderr, "allreduce tune: %s\n", why);
        return AR_EXIT_USAGE;
    }
    return AR_EXIT_DONE;
}

/* Better told before the run than behind it; only rank 0 can see. */
static int
check_output(const struct ar_tune *tune, int rank)
{
    int status = AR_EXIT_DONE;
    FILE *const file = rank == 0 && tune->output ? fopen(tune->output, "a") : NULL;
    if (rank == 0 && tune->output && !file) {
        fprintf(stderr, "allreduce tune: cannot write %s: %s\n", tune->output, strerror(errno));
        status = AR_EXIT_FAILED;
    }
    if (file)
        fclose(file);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return status;
}

int
ar_cli_tune(int argc, char **argv)
{
    struct ar_tune options = {0};
    struct ar_progress progress = {.all = {.tune = &options}};
    int status = ar_tune_read(&options, argc, argv);
    if (status)
        return status;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &progress.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &progress.all.nranks);
    progress.begun = MPI_Wtime();
    progress.all.places = ar_study_places();
    status = check_operands(&options, progress.rank);
    if (!status)
        status = check_output(&options, progress.rank);
    char *const command = ar_cli_command(progress.all.nranks, argc, argv);
    if (!status)
        status = options.check ? ar_tune_check(&progress) : tune(&progress, command ? command : "");
    free(command);
    MPI_Finalize();
    ar_tune_fini(&options);
    return status;
}
