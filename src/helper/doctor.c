/* allreduce doctor: what is wrong with a set-up, and what to do about it. */
#include <config.h>

#include "helper/doctor.h"

#include <argp.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "config/rank.h"

void
ar_find(struct ar_findings *findings, enum ar_severity verdict, const char *check,
        const char *advice, const char *text, ...)
{
    char *told = NULL;
    va_list values;
    va_start(values, text);
    const int length = vasprintf(&told, text, values);
    va_end(values);
    struct ar_finding *const grown =
        realloc(findings->finding, (findings->n + 1) * sizeof *findings->finding);
    if (!grown || length < 0) {
        fprintf(stderr, "allreduce doctor: out of memory\n");
        exit(AR_EXIT_FAILED);
    }
    findings->finding = grown;
    findings->finding[findings->n++] = (struct ar_finding){verdict, check, told, advice};
}

/* --- what is printed --- */

const char *
ar_severity_name(enum ar_severity verdict)
{
    static const char *const names[] = {
        [AR_SEVERITY_OK] = "ok",
        [AR_SEVERITY_NOTE] = "note",
        [AR_SEVERITY_WARNING] = "warning",
        [AR_SEVERITY_WRONG] = "wrong",
    };
    return names[verdict];
}

enum ar_severity
ar_severity_worst(const struct ar_findings *findings)
{
    enum ar_severity worst = AR_SEVERITY_OK;
    for (size_t i = 0; i < findings->n; i++)
        if (findings->finding[i].verdict > worst)
            worst = findings->finding[i].verdict;
    return worst;
}

/* All but the first `told`.  Flushed, since MPI may end the process before more is found. */
static void
print_text(const struct ar_findings *findings, size_t told)
{
    static const enum ar_color colors[] = {AR_COLOR_GOOD, AR_COLOR_TITLE, AR_COLOR_WARNING,
                                           AR_COLOR_BAD};
    for (size_t i = told; i < findings->n; i++) {
        const struct ar_finding *const f = &findings->finding[i];
        printf("%s%-7s%s  %-9s  %s\n", ar_color_begin(stdout, colors[f->verdict]),
               ar_severity_name(f->verdict), ar_color_end(stdout), f->check, f->text);
        if (f->advice)
            printf("%20s-> %s\n", "", f->advice);
    }
    fflush(stdout);
}

/* --- command line --- */

struct request {
    bool is_json;
    const char *program; /* NULL: none */
};

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    struct request *const request = state->input;
    switch (key) {
    case 'j':
        ar_cli_need_jansson("doctor --json");
        request->is_json = true;
        return 0;
    case ARGP_KEY_ARG:
        request->program = value;
        state->next = state->argc; /* the rest is the program's */
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int
ar_cli_doctor(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"json", 'j', NULL, 0, "Print JSON", 0},
        {0},
    };
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "[PROGRAM [ARGUMENT...]]",
        .doc = "Look for what is wrong with a set-up, and say what to do about it: settings, the "
               "library and the program; under mpiexec, as in mpiexec -n 4 allreduce doctor ./app, "
               "also the launcher, the binding of ranks, and what nodes share. The program is "
               "examined, but not run. The exit status is 1 if something is wrong.",
    };
    struct request request = {false, NULL};
    struct ar_findings findings = {NULL, 0};
    struct ar_launcher launcher;
    int status = AR_EXIT_DONE;
    const bool in_job = ar_launcher_find(&launcher, NULL), speaks = ar_rank_in_job() == 0;
    ar_cli_mute_others();
    ar_cli_parse_alone(&argp, ARGP_IN_ORDER, argc, argv, &request);
    ar_cli_part();
    if (speaks)
        ar_doctor_examine_process(&findings, request.program);
    const size_t told = findings.n;
    if (speaks && !request.is_json)
        print_text(&findings, 0);
    if (in_job)
        ar_doctor_examine_job(&findings);
    if (speaks && request.is_json)
        status = ar_findings_print_json(&findings) ? AR_EXIT_FAILED : AR_EXIT_DONE;
    else if (speaks)
        print_text(&findings, told);
    if (ar_severity_worst(&findings) == AR_SEVERITY_WRONG)
        status = AR_EXIT_FAILED;
    for (size_t i = 0; i < findings.n; i++)
        free(findings.finding[i].text);
    free(findings.finding);
    if (in_job)
        MPI_Finalize();
    return status;
}
