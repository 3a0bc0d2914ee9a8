/* What allreduce tune has measured so far, in a file beside its output. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/output.h"
#include "helper/job.h"
#include "helper/tune.h"
#include "report/say.h"

/* The file begins so: another file of that name is not ours to overwrite. */
#define MARK "# a search of allreduce tune: "

/* Is there something else in the file than the state of a search? */
static bool
is_foreign(int fd)
{
    char begin[sizeof MARK - 1];
    const ssize_t length = pread(fd, begin, sizeof begin, 0);
    return length < 0 || memcmp(begin, MARK, (size_t)length) != 0;
}

/* Why the file cannot be used; NULL: it can.  The lock goes with the process. */
static const char *
find_fault(int fd)
{
    struct stat about;
    if (fstat(fd, &about) || !S_ISREG(about.st_mode))
        return "not a regular file";
    if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return "another search is using it";
    return is_foreign(fd) ? "not the state of a search" : NULL;
}

/* Opens the file for reading and appending.  NULL, having said why.  Follows no link, and waits for
 * nothing. */
static FILE *
open_state(const char *path)
{
    const int fd =
        open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    const char *const fault = fd >= 0 ? find_fault(fd) : NULL;
    FILE *const file = fd >= 0 && !fault ? fdopen(fd, "a+") : NULL;
    if (!file)
        ar_say("allreduce tune: %s: %s: nothing of this search is kept", path,
               fault ? fault : strerror(errno));
    if (!file && fd >= 0)
        close(fd);
    return file;
}

/* The whole file, ended by NUL; malloced.  NULL without one.  A state of another machine or job
 * does not count, and is removed. */
static char *
read_state(FILE *file, const char *job)
{
    const size_t mark = strlen(MARK), length = strlen(job);
    char *text = NULL;
    size_t room = 0;
    if (getdelim(&text, &room, '\0', file) > (ssize_t)mark &&
        strncmp(text + mark, job, length) == 0 && text[mark + length] == '\n')
        return text;
    free(text);
    if (ftruncate(fileno(file), 0))
        ar_say("allreduce tune: the state of another search cannot be removed: %s",
               strerror(errno));
    return NULL;
}

/* A line that was cut off when the job was killed is ended here, so that it does not count. */
static void
begin_state(FILE *to, const char *job, const char *text)
{
    fseek(to, 0, SEEK_END);
    if (!text)
        fprintf(to, MARK "%s\n", job);
    else if (text[strlen(text) - 1] != '\n')
        fputc('\n', to);
}

void
ar_tune_state_open(struct ar_tune_state *state, const struct ar_tune *tune, const char *job)
{
    int rank;
    *state = (struct ar_tune_state){0};
    if (!tune->output || ar_output_is_direct(tune->output))
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        snprintf(state->path, sizeof state->path, "%s.state", tune->output);
        state->to = open_state(state->path);
        if (state->to) {
            state->text = read_state(state->to, job);
            begin_state(state->to, job, state->text);
        }
    }
    state->text = ar_cli_share(state->text);
}

bool
ar_tune_state_is_kept(const struct ar_tune_state *state)
{
    return state->to && !ferror(state->to);
}

void
ar_tune_state_close(struct ar_tune_state *state, bool is_done)
{
    const bool has_failed = state->to && ferror(state->to);
    if (state->to && (fclose(state->to) || has_failed))
        ar_say("allreduce tune: %s: not all of it could be written", state->path);
    if (state->to && is_done)
        unlink(state->path);
    free(state->text);
}

/* --- visits, a line each --- */

static void
save(const struct ar_tune_state *state, const char *name, const struct ar_study *study)
{
    const struct ar_study_size *const size = study->now;
    char label[AR_CHOICE_TEXT];
    if (!state->to)
        return;
    fprintf(state->to, "%s\t%zu\t%d", name, size->bytes, study->pass);
    for (size_t i = 0; i < size->list.n; i++)
        if (ar_study_has(size, i))
            fprintf(state->to, "\t%s\t%.17g",
                    ar_choice_print(&size->list.of[i].choice, label, sizeof label),
                    size->seconds[i]);
    fputc('\n', state->to);
    fflush(state->to);
}

/* Reads the seconds of a line from `at` on, which is after the visit's name.  False unless the line
 * has all candidates that are in, and no others. */
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

/* The seconds of all candidates that are in; false where the visit is not there. */
static bool
recall(const struct ar_tune_state *state, const char *name, const struct ar_study *study)
{
    char begin[128];
    const size_t length = (size_t)snprintf(begin, sizeof begin, "\n%s\t%zu\t%d", name,
                                           study->now->bytes, study->pass);
    for (const char *at = state->text; at && (at = strstr(at, begin)); at += length)
        if (take_line(study->now, at + length))
            return true;
    return false;
}

int
ar_tune_visit(struct ar_study *study, const struct ar_tune_state *state, const char *name,
              const struct ar_progress *clock, double end)
{
    int status = AR_EXIT_DONE;
    if (!recall(state, name, study)) {
        double left = end - ar_progress_elapsed(clock);
        MPI_Bcast(&left, 1, MPI_DOUBLE, 0, study->measurement->comm);
        status = left > 0 ? ar_study_measure(study, left) : AR_EXIT_INTERRUPTED;
        if (!status)
            save(state, name, study);
    }
    if (!status)
        ar_study_advance(study);
    return status;
}
