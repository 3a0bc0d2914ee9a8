/* allreduce tune --check: do rules hold? */
#include "config.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/color.h"
#include "cli/tune.h"
#include "config/files.h"

/* The file's clauses as one text, malloced, on all ranks; NULL after rank 0 has said why. */
static char *
read_rules(const struct ar_progress *progress)
{
    char reason[1024], *text = NULL;
    struct ar_text why;
    struct ar_rules *rules = NULL;
    int length = 0;
    ar_text_init(&why, reason, sizeof reason);
    if (progress->rank == 0 &&
        ar_rules_file_read(&rules, NULL, progress->all.tune->check, &why) == AR_OK) {
        text = ar_rules_text(rules);
        length = text ? (int)strlen(text) + 1 : 0;
        ar_rules_destroy(rules);
    } else if (progress->rank == 0) {
        fprintf(stderr, "allreduce tune: --check: %s\n", reason);
    }
    MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (length > 0 && progress->rank > 0)
        text = malloc((size_t)length);
    if (length > 0 && text)
        MPI_Bcast(text, length, MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
}

/* What rules choose.  AR_OK, AR_ERR_SYNTAX or AR_ERR_MEMORY. */
static int
choose(struct ar_choice *choice, const char *text, const struct ar_request *request)
{
    struct ar_problem problem;
    struct ar_rules *rules;
    int error = ar_rules_parse(&rules, text, &problem);
    if (error)
        return error;
    const struct ar_choice *const match = ar_rules_match(rules, request, NULL);
    if (match && match->kind != AR_CHOICE_AUTO)
        *choice = *match;
    else
        error = ar_auto_choose(choice, request, NULL);
    ar_rules_destroy(rules);
    return error;
}

static int
keep(struct ar_study *study, const char *rules)
{
    int status = AR_EXIT_DONE;
    for (size_t i = 0; i < study->nsizes && !status; i++) {
        struct ar_choice choice;
        status = choose(&choice, rules, &study->sizes[i].request) ? AR_EXIT_FAILED : AR_EXIT_DONE;
        if (!status)
            status = ar_study_keep(study, i, &choice);
    }
    return status;
}

static void
print_comparison(const struct ar_finding *f)
{
    char size[AR_SIZE_TEXT], choice[AR_CHOICE_TEXT], next[AR_CHOICE_TEXT];
    const double noise = f->time.noise > f->next_time.noise ? f->time.noise : f->next_time.noise;
    printf("%8s %10.2f  %-28s %10.2f  %-28s %10.2f %5.0f%%  %s%s%s\n",
           ar_size_print(f->bytes, size, sizeof size), f->time.seconds * 1e6,
           ar_choice_print(&f->choice, choice, sizeof choice), f->next_time.seconds * 1e6,
           ar_choice_print(&f->next, next, sizeof next), f->native.seconds * 1e6, noise * 100,
           f->is_beaten ? ar_color_begin(stdout, AR_COLOR_WARNING) : "",
           f->is_beaten ? "SLOWER" : "ok", f->is_beaten ? ar_color_end(stdout) : "");
}

/* The number of sizes where something else is faster. */
static size_t
print_table(const struct ar_study *study)
{
    size_t beaten = 0;
    printf("%8s %10s  %-28s %10s  %-28s %10s %6s\n", "size", "rules us", "ran", "best us",
           "best of all others", "native us", "noise");
    for (size_t i = 0; i < study->nsizes; i++) {
        struct ar_finding found;
        ar_study_compare(&found, study, i);
        print_comparison(&found);
        beaten += found.is_beaten;
    }
    printf("at %zu of %zu sizes %s faster by more than the noise\n", beaten, study->nsizes,
           beaten ? "something else is" : "is anything else");
    return beaten;
}

/* On rank 0; all ranks get the number. */
static int
judge(const struct ar_progress *progress, const struct ar_study *study)
{
    unsigned long beaten = 0;
    if (progress->rank == 0)
        beaten = print_table(study);
    MPI_Bcast(&beaten, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    return beaten ? AR_EXIT_FAILED : AR_EXIT_DONE;
}

static int
measure(struct ar_progress *progress, const char *rules)
{
    const struct ar_tune *const tune = progress->all.tune;
    const struct ar_tune_state none = {0};
    struct ar_measurement m;
    struct ar_study study = {0};
    int status = ar_measurement_init(&m, ar_named_at(tune->types[0]), tune->op);
    if (!status)
        status = ar_study_init(&study, &m, &progress->all.places, tune->sizes.bytes, tune->sizes.n);
    if (!status)
        status = keep(&study, rules);
    progress->total_visits = ar_study_visits(&study);
    if (!status)
        status = ar_tune_run(progress, &study, &none, ar_named_name(tune->types[0]));
    if (!status)
        status = judge(progress, &study);
    ar_study_fini(&study);
    ar_measurement_fini(&m);
    return status;
}

int
ar_tune_check(struct ar_progress *progress)
{
    char *const rules = read_rules(progress);
    if (!rules)
        return AR_EXIT_USAGE;
    const int status = measure(progress, rules);
    free(rules);
    return status;
}
