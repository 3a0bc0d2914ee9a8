#include "communicator/written_files.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "communicator/decide.h"
#include "config/input.h"
#include "execute/group.h"
#include "report/say.h"
#include "select/number.h"
#include "select/written_read.h"

#define PROOF_WORK  ((size_t)1000000) /* less than a second */
#define TEXT_MOST   ((size_t)16 << 20)
#define REASON_TEXT 1024

/* What became of a file. */
enum state { PROVED, ABSENT, OF_OTHERS, REFUTED, LONG };

/* --- what this process has read --- */

/* A text, kept until the process ends: programs may make communicators as long as they run, and
 * records keep the row's name. */
struct text {
    struct text *next;
    char *text;
    enum state state; /* PROVED, REFUTED or LONG */
    struct ar_written_row row;
};

static struct text *texts;
static pthread_mutex_t texts_lock = PTHREAD_MUTEX_INITIALIZER;

/* given: the proof of another rank, who has told what there is to tell; NULL: it is proved here.
 * NULL without memory. */
static const struct text *
examine(const char *text, const char *path, const struct ar_written_proof *given)
{
    char reason[REASON_TEXT];
    struct ar_text why;
    struct text *const made = calloc(1, sizeof *made);
    char *const copy = strdup(text);
    ar_text_init(&why, reason, sizeof reason);
    const int error = made && copy ? ar_written_row_read(&made->row, text, given, PROOF_WORK, &why)
                                   : AR_ERR_MEMORY;
    if (error == AR_ERR_MEMORY) {
        free(copy);
        free(made);
        return NULL;
    }
    if (error == AR_ERR_PARAM)
        ar_say("%s: it would take more than a second to prove: native", path);
    else if (error)
        ar_say("%s: %s: native", path, reason);
    made->state = error == AR_ERR_PARAM ? LONG : error ? REFUTED : PROVED;
    made->text = copy;
    made->next = texts;
    texts = made;
    return made;
}

/* Texts are compared, since other files may have the same hash. */
static const struct text *
find_text(const char *text, const char *path, const struct ar_written_proof *given)
{
    pthread_mutex_lock(&texts_lock);
    const struct text *found = texts;
    while (found && strcmp(found->text, text) != 0)
        found = found->next;
    if (!found)
        found = examine(text, path, given);
    pthread_mutex_unlock(&texts_lock);
    return found;
}

/* --- what the ranks have --- */

/* What whoever has the file tells the others. */
struct message {
    enum state state;
    int length; /* of the text; 0: there is nothing to read */
    struct ar_written_proof proof;
};

/* The text of the file if it is there, the caller's to free; else NULL. */
static char *
read_file(const char *path)
{
    char reason[REASON_TEXT] = "", *text = NULL;
    struct ar_text why;
    FILE *const file = ar_input_open(path);
    if (!file)
        return NULL;
    ar_text_init(&why, reason, sizeof reason);
    if (ar_input_text(&text, file, TEXT_MOST, &why) == AR_ERR_SYNTAX)
        ar_say("%s:%s", path, reason);
    fclose(file);
    return text;
}

/* Reads it on this rank, and proves it. */
static char *
read_first(struct message *m, const char *path, int nranks)
{
    char *const text = read_file(path);
    const struct text *const found = text ? find_text(text, path, NULL) : NULL;
    *m = (struct message){.state = ABSENT};
    if (!found)
        return text;
    m->state = found->state != PROVED                ? found->state
               : found->row.written.nranks == nranks ? PROVED
                                                     : OF_OTHERS;
    m->length = m->state == PROVED ? (int)strlen(text) : 0;
    m->proof = found->row.proof;
    return text;
}

/* The message is rank 0's or, if that one has no file, that of the lowest rank that has.  *text is
 * the caller's to free. */
static int
exchange(struct ar_communicator *c, MPI_Comm comm, const char *path, struct message *m, char **text)
{
    int root = 0;
    *text = c->rank == 0 ? read_first(m, path, c->nranks) : NULL;
    int error = PMPI_Bcast(m, (int)sizeof *m, MPI_BYTE, 0, comm);
    if (!error && m->state == ABSENT) {
        root = access(path, R_OK) ? c->nranks : c->rank;
        error = ar_reduce_all(&root, 1, MPI_INT, MPI_MIN, comm);
        if (error || root == c->nranks)
            return error;
        free(*text);
        *text = c->rank == root ? read_first(m, path, c->nranks) : NULL;
        error = PMPI_Bcast(m, (int)sizeof *m, MPI_BYTE, root, comm);
    }
    if (error || m->state != PROVED)
        return error;
    if (c->rank != root)
        *text = calloc((size_t)m->length + 1, 1);
    return *text ? PMPI_Bcast(*text, m->length, MPI_CHAR, root, comm) : MPI_ERR_NO_MEM;
}

/* --- on a communicator --- */

/* A file that a choice has named: few, since each stands in a clause. */
struct ar_written_file {
    struct ar_written_file *next;
    char name[AR_FILE_TEXT];
    const struct ar_written_row *row; /* of this process; NULL: there is none */
    char reason[64];                  /* why not */
};

static void
write_reason(struct ar_written_file *file, enum state state, int nranks)
{
    static const char *const reasons[] = {
        [PROVED] = "",
        [ABSENT] = "no such schedule file",
        [REFUTED] = "schedule is refuted",
        [LONG] = "schedule is not proved in time",
    };
    if (state == OF_OTHERS)
        snprintf(file->reason, sizeof file->reason, "schedule is not for %d rank%s", nranks,
                 ar_plural((size_t)nranks));
    else
        snprintf(file->reason, sizeof file->reason, "%s", reasons[state]);
}

static void
tell_absent(const char *path)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        ar_say("%s: no rank has this file: native", path);
}

/* NULL with *error. */
static const struct ar_written_file *
find_file(struct ar_communicator *c, MPI_Comm comm, const char *name, int *error)
{
    char path[AR_WRITTEN_PATH], *text = NULL;
    struct message m = {.state = ABSENT};
    struct ar_written_file *file = c->choice.files;
    while (file && strcmp(file->name, name) != 0)
        file = file->next;
    if (file)
        return file;
    *error = exchange(c, comm, ar_written_path(path, name, c->nranks), &m, &text);
    const struct text *const found =
        !*error && m.state == PROVED ? find_text(text, path, &m.proof) : NULL;
    file = calloc(1, sizeof *file);
    free(text);
    if (!*error && (!file || (m.state == PROVED && !found)))
        *error = MPI_ERR_NO_MEM;
    if (*error) {
        free(file);
        return NULL;
    }
    memcpy(file->name, name, strlen(name));
    file->row = found ? &found->row : NULL;
    if (m.state == ABSENT && strstr(name, "%n"))
        m.state = OF_OTHERS;
    write_reason(file, m.state, c->nranks);
    file->next = c->choice.files;
    c->choice.files = file;
    if (m.state == ABSENT && c->rank == 0)
        tell_absent(path);
    return file;
}

int
ar_written_settle(struct ar_communicator *c, MPI_Comm comm, struct ar_decision *d)
{
    int error = MPI_SUCCESS;
    const struct ar_written_file *const file = find_file(c, comm, d->choice.params.file, &error);
    if (!file)
        return error;
    /* What is summed exactly comes out the same however it is combined. */
    const enum ar_determinism keeps =
        d->key.keeps == AR_DETERMINISM_ORDER ? AR_DETERMINISM_NONE : d->key.keeps;
    const char *const reason = !file->row ? file->reason
                               : !d->key.commutative && !file->row->row.keeps_order
                                   ? ar_reason_no_commute
                               : file->row->row.keeps < keeps ? ar_reason_determinism
                                                              : NULL;
    if (reason) {
        d->choice = (struct ar_choice){.kind = AR_CHOICE_NATIVE};
        d->reason = reason;
        return MPI_SUCCESS;
    }
    d->choice.algorithm = &file->row->row;
    d->choice.params.written = file->row;
    return MPI_SUCCESS;
}

void
ar_written_forget(struct ar_communicator *c)
{
    for (struct ar_written_file *file = c->choice.files, *next; file; file = next) {
        next = file->next;
        free(file);
    }
    c->choice.files = NULL;
}
