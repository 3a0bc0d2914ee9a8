/* What allreduce tune has measured so far, in a file beside its output. */
#include "config.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/tune.h"
#include "report/report.h"

/* The whole file, ended by NUL; malloced.  NULL without one.  A state of another machine or job
 * does not count, and is removed. */
static char *
read_state(const char *path, const char *job)
{
    struct stat about;
    const size_t length = strlen(job);
    FILE *const from = fopen(path, "r");
    char *text = NULL;
    if (from && fstat(fileno(from), &about) == 0)
        text = calloc(1, (size_t)about.st_size + 1);
    if (text)
        fread(text, 1, (size_t)about.st_size, from);
    if (from)
        fclose(from);
    if (text && (strncmp(text, job, length) != 0 || text[length] != '\n')) {
        free(text);
        text = NULL;
        unlink(path);
    }
    return text;
}

/* A line that was cut off when the job was killed is ended here, so that it does not count. */
static FILE *
open_state(const char *path, const char *job, const char *text)
{
    const size_t length = text ? strlen(text) : 0;
    FILE *const to = fopen(path, "a");
    if (!to)
        ar_say("allreduce tune: %s: %s", path, strerror(errno));
    else if (length == 0)
        fprintf(to, "%s\n", job);
    else if (text[length - 1] != '\n')
        fputc('\n', to);
    return to;
}

void
ar_tune_state_open(struct ar_tune_state *state, const struct ar_tune *tune, const char *job)
{
    int rank;
    *state = (struct ar_tune_state){0};
    if (!tune->output)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        snprintf(state->path, sizeof state->path, "%s.state", tune->output);
        state->text = read_state(state->path, job);
        state->to = open_state(state->path, job, state->text);
    }
    state->text = ar_cli_share(state->text);
}

void
ar_tune_state_close(struct ar_tune_state *state, bool is_done)
{
    if (state->to)
        fclose(state->to);
    if (is_done)
        unlink(state->path);
    free(state->text);
}

/* --- visits, a line each --- */

void
ar_tune_state_save(const struct ar_tune_state *state, const char *type,
                   const struct ar_study *study)
{
    const struct ar_study_size *const size = study->now;
    char label[AR_CHOICE_TEXT];
    if (!state->to)
        return;
    fprintf(state->to, "%s\t%zu\t%d", type, size->bytes, study->pass);
    for (size_t i = 0; i < size->list.n; i++)
        if (ar_study_has(size, i))
            fprintf(state->to, "\t%s\t%.17g",
                    ar_choice_print(&size->list.of[i].choice, label, sizeof label),
                    size->seconds[i]);
    fputc('\n', state->to);
    fflush(state->to);
}

/* Is at, behind the visit's name, a line of all candidates that are in, and of no others? */
static bool
take_line(struct ar_study_size *size, const char *at)
{
    char label[AR_CHOICE_TEXT];
    for (size_t i = 0; i < size->list.n; i++) {
        if (!ar_study_has(size, i))
            continue;
        const size_t length =
            strlen(ar_choice_print(&size->list.of[i].choice, label, sizeof label));
        char *end;
        if (*at != '\t' || strncmp(at + 1, label, length) != 0 || at[1 + length] != '\t')
            return false;
        size->seconds[i] = strtod(at + length + 2, &end);
        if (!(size->seconds[i] > 0))
            return false;
        at = end;
    }
    return *at == '\n';
}

bool
ar_tune_state_recall(const struct ar_tune_state *state, const char *type,
                     const struct ar_study *study)
{
    char name[128];
    const size_t length =
        (size_t)snprintf(name, sizeof name, "\n%s\t%zu\t%d", type, study->now->bytes, study->pass);
    for (const char *at = state->text; at && (at = strstr(at, name)); at += length)
        if (take_line(study->now, at + length))
            return true;
    return false;
}
