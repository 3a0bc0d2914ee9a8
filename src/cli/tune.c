/* allreduce tune: finds the fastest choice for each size, and writes rules; or measures rules. */
#include "config.h"

#include "cli/tune.h"

#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/color.h"
#include "cli/operand.h"
#include "communicator/rules_file.h"
#include "report/report.h"

#define BAR 24 /* characters */

struct course {
    struct ar_findings all;
    int rank;
    double begun;
    size_t done;     /* sizes of all types, found or restored */
    size_t measured; /* those found in this run */
};

/* --- time --- */

/* Rank 0's clock counts. */
static double
seconds_since(double begun)
{
    double elapsed = MPI_Wtime() - begun;
    MPI_Bcast(&elapsed, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return elapsed;
}

/* For the next of so many sizes that are left. */
static double
share_of_budget(const struct course *course, size_t left)
{
    const double rest = course->all.tune->budget - seconds_since(course->begun);
    const double least = course->all.tune->budget / 20;
    return (rest > least ? rest : least) / (double)(left > 0 ? left : 1);
}

/* On a terminal alone. */
static void
show_progress(const struct course *course, size_t total, const char *what)
{
    const size_t filled = total ? BAR * course->done / total : 0;
    if (course->rank != 0 || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r[%.*s%*s] %zu of %zu, %s, %.0f of %.0f s   ", (int)filled,
            "########################", (int)(BAR - filled), "", course->done, total, what,
            MPI_Wtime() - course->begun, course->all.tune->budget);
    if (course->done == total)
        fprintf(stderr, "\r%78s\r", "");
    fflush(stderr);
}

/* --- tuning --- */

static size_t
count_of(const struct ar_contest *contest, size_t bytes)
{
    const size_t count = bytes / contest->reduction.size;
    return count < 1 ? 1 : count > INT_MAX ? INT_MAX : count;
}

static void
print_finding(const struct ar_finding *f, const char *type)
{
    char size[AR_SIZE_TEXT], choice[AR_CHOICE_TEXT];
    printf("%-20s %8s %10.2f us +-%2.0f%%  %6.2f x native  %s\n", type,
           ar_size_print(f->bytes, size, sizeof size), f->time.seconds * 1e6, f->time.noise * 100,
           f->native.seconds / f->time.seconds, ar_choice_print(&f->choice, choice, sizeof choice));
    fflush(stdout);
}

/* What must be beaten: of a type behind the first, what that has; else what the size before has. */
static const struct ar_choice *
preferred(const struct ar_findings *all, size_t type, size_t size)
{
    if (type > 0)
        return &ar_findings_at(all, 0, size)->choice;
    return size > 0 ? &ar_findings_at(all, 0, size - 1)->choice : NULL;
}

static int
tune_size(struct course *course, struct ar_contest *contest, size_t type, size_t size)
{
    struct ar_findings *const all = &course->all;
    const size_t total = all->tune->ntypes * all->tune->sizes.n;
    const size_t bytes = all->tune->sizes.bytes[size];
    struct ar_finding *const found = ar_findings_at(all, type, size);
    char text[AR_SIZE_TEXT];
    if (found->tried > 0)
        return AR_EXIT_DONE;
    show_progress(course, total, ar_size_print(bytes, text, sizeof text));
    int status = ar_study_size(found, contest, count_of(contest, bytes),
                               share_of_budget(course, total - course->done),
                               preferred(all, type, size), &all->places);
    found->bytes = bytes;
    if (status || course->rank != 0)
        return status;
    if (all->tune->output)
        print_finding(found, ar_named_name(all->tune->types[type]));
    if (!ar_findings_save(all, type, size))
        ar_say("allreduce tune: %s.state: %s", all->tune->output, strerror(errno));
    return status;
}

static int
tune_type(struct course *course, size_t type)
{
    struct ar_contest contest;
    int status =
        ar_contest_init(&contest, ar_named_at(course->all.tune->types[type]), course->all.tune->op);
    if (!status)
        ar_study_begin(&contest);
    for (size_t i = 0; i < course->all.tune->sizes.n && !status; i++) {
        status = tune_size(course, &contest, type, i);
        course->done++;
    }
    ar_contest_fini(&contest);
    return status;
}

static int
write_result(const struct course *course, const char *command)
{
    const struct ar_findings *const all = &course->all;
    if (course->rank != 0)
        return AR_EXIT_DONE;
    show_progress(course, course->done, "");
    if (!ar_findings_write(all, command)) {
        fprintf(stderr, "allreduce tune: cannot write %s: %s\n",
                all->tune->output ? all->tune->output : "stdout", strerror(errno));
        return AR_EXIT_FAILED;
    }
    ar_findings_forget(all);
    if (all->tune->output)
        printf("wrote %s: ALLREDUCE_RULES=%s\n", all->tune->output, all->tune->output);
    return AR_EXIT_DONE;
}

static int
tune(struct course *course, const char *command)
{
    struct ar_findings *const all = &course->all;
    int status = AR_EXIT_DONE;
    all->of = calloc(all->tune->ntypes * all->tune->sizes.n, sizeof *all->of);
    if (!all->of)
        return AR_EXIT_FAILED;
    ar_findings_restore(all);
    for (size_t t = 0; t < all->tune->ntypes && !status; t++)
        status = tune_type(course, t);
    if (!status)
        status = write_result(course, command);
    free(all->of);
    return status;
}

/* --- checking --- */

static void
print_comparison(const struct ar_comparison *c, bool slower)
{
    char size[AR_SIZE_TEXT];
    const double noise = c->rules.noise > c->best_time.noise ? c->rules.noise : c->best_time.noise;
    printf("%8s %10.2f  %-28s %10.2f  %-28s %10.2f %5.0f%%  %s%s%s\n",
           ar_size_print(c->bytes, size, sizeof size), c->rules.seconds * 1e6, c->ran,
           c->best_time.seconds * 1e6, c->best, c->native.seconds * 1e6, noise * 100,
           slower ? ar_color_begin(stdout, AR_COLOR_WARNING) : "", slower ? "SLOWER" : "ok",
           slower ? ar_color_end(stdout) : "");
    fflush(stdout);
}

/* Sets *slower to the number of sizes where something else is faster. */
static int
check_sizes(struct course *course, const char *rules, size_t *slower)
{
    const struct ar_sizes *const sizes = &course->all.tune->sizes;
    struct ar_contest contest;
    int status =
        ar_contest_init(&contest, ar_named_at(course->all.tune->types[0]), course->all.tune->op);
    if (!status)
        ar_study_begin(&contest);
    if (course->rank == 0)
        printf("%8s %10s  %-28s %10s  %-28s %10s %6s\n", "size", "rules us", "ran", "best us",
               "best of all others", "native us", "noise");
    for (size_t i = 0; i < sizes->n && !status; i++) {
        struct ar_comparison found;
        show_progress(course, sizes->n, "checking");
        status = ar_study_compare(&found, &contest, rules, count_of(&contest, sizes->bytes[i]),
                                  share_of_budget(course, sizes->n - i), &course->all.places);
        const bool is_slower = !status && ar_timing_is_slower(&found.rules, &found.best_time);
        *slower += is_slower;
        course->done++;
        show_progress(course, sizes->n, "checked");
        if (!status && course->rank == 0)
            print_comparison(&found, is_slower);
    }
    ar_contest_fini(&contest);
    return status;
}

/* The file's clauses as one text, malloced, on all ranks; NULL after rank 0 has said why. */
static char *
read_rules(const struct course *course)
{
    char reason[1024], *text = NULL;
    struct ar_text why;
    struct ar_rules *rules = NULL;
    int length = 0;
    ar_text_init(&why, reason, sizeof reason);
    if (course->rank == 0 &&
        ar_rules_file_read(&rules, NULL, course->all.tune->check, &why) == AR_OK) {
        text = ar_rules_text(rules);
        length = text ? (int)strlen(text) + 1 : 0;
        ar_rules_destroy(rules);
    } else if (course->rank == 0) {
        fprintf(stderr, "allreduce tune: --check: %s\n", reason);
    }
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (length > 0 && course->rank > 0)
        text = malloc((size_t)length);
    if (length > 0 && text)
        MPI_Bcast(text, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
}

static int
check(struct course *course)
{
    size_t slower = 0;
    char *const rules = read_rules(course);
    if (!rules)
        return AR_EXIT_USAGE;
    const int status = check_sizes(course, rules, &slower);
    free(rules);
    if (!status && course->rank == 0)
        printf(slower ? "at %zu of %zu sizes something else is faster by more than the noise\n"
                      : "at %zu of %zu sizes is anything else faster by more than the noise\n",
               slower, course->all.tune->sizes.n);
    return status ? status : slower ? AR_EXIT_FAILED : AR_EXIT_DONE;
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
    struct course course = {.all = {.tune = &options}};
    int status = ar_tune_read(&options, argc, argv);
    if (status)
        return status;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &course.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &course.all.nranks);
    course.begun = MPI_Wtime();
    course.all.places = ar_study_places();
    status = check_operands(&options, course.rank);
    if (!status)
        status = check_output(&options, course.rank);
    char *const command = ar_cli_command(course.all.nranks, argc, argv);
    if (!status)
        status = options.check ? check(&course) : tune(&course, command ? command : "");
    free(command);
    MPI_Finalize();
    ar_tune_fini(&options);
    return status;
}
