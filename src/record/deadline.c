#include <config.h>

#include "record/deadline.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "execute/group.h"
#include "execute/key.h"
#include "execute/wait.h"
#include "record/thread.h"
#include "reduce/named.h"
#include "report/say.h"
#include "select/number.h"

/* The thread looks so many times in a timeout, and counts time by its looks, so that a process that
 * is stopped or is in a debugger is not late for that reason. */
#define LOOKS 10

/* How many lines are said of one call: one at the timeout, and one at twice that time. */
#define LINES_MAX 2

#define LINE_TEXT 960 /* what ar_say takes */

/* What is kept of a communicator, as an attribute. */
struct place {
    unsigned long long calls;
    int rank;
    int nranks;
    int *in_job; /* each rank's number in MPI_COMM_WORLD; NULL: not known.  Owned */
};

struct ar_deadline_call {
    struct ar_deadline_call *next; /* of all there are; kept for later calls */
    bool is_taken;                 /* by a thread */
    bool is_under_way;
    unsigned long long begun; /* at which look */
    unsigned lines;           /* said of it */
    enum ar_deadline_stage stage;
    const struct ar_deadline_run *run; /* at RUNS */
    unsigned long long count;
    size_t size;         /* of an element; 0: not known */
    struct place *place; /* NULL: not known */
    unsigned long long number;
    char name[MPI_MAX_OBJECT_NAME]; /* of the communicator */
};

atomic_bool ar_deadline_may_watch = true;
__thread struct ar_deadline_call *ar_deadline_own __attribute__((tls_model("initial-exec")));

static struct ar_timeout_setting setting;
static int own_rank; /* in the job */

/* While the thread holds it, no call goes on to a step that would free what the thread looks at. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ar_deadline_call *calls; /* all; under the lock, with what is in them */
static unsigned long long looks;       /* under the lock, too */

/* --- a line --- */

static void
add_awaited(struct ar_text *text, const struct ar_deadline_call *call)
{
    static const struct {
        enum ar_awaited mark;
        const char *text;
    } kinds[] = {
        {AR_AWAITED_GIVING, "; it waits for "},
        {AR_AWAITED_TAKING, "; its messages are not received by "},
        {AR_AWAITED_COMING, "; not in the call yet: "},
    };
    const struct place *const p = call->place;
    unsigned any = 0;
    unsigned char *const marks =
        p && call->stage == AR_DEADLINE_RUNS ? calloc((size_t)p->nranks, 1) : NULL;
    if (!marks) {
        ar_text_add(text, "; it is not known for which ranks it waits");
        return;
    }
    if (call->run->p2p)
        ar_p2p_awaited(call->run->p2p, marks);
    else
        ar_node_awaited(call->run->node, marks);
    const struct ar_ranks ranks = {p->nranks, marks, p->in_job};
    for (int i = 0; i < p->nranks; i++)
        any |= marks[i];
    if (any == 0)
        ar_text_add(text, "; it waits for no rank at this moment");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!(any & kinds[i].mark))
            continue;
        ar_text_add(text, "%s", kinds[i].text);
        ar_ranks_print(text, &ranks, (unsigned char)kinds[i].mark);
        if (!ranks.names) /* the numbers are the communicator's */
            ar_text_add(text, " of the communicator");
    }
    free(marks);
}

static void
write_line(struct ar_text *text, const struct ar_deadline_call *call)
{
    static const char *const stages[] = {
        [AR_DEADLINE_CHOOSES] = "in set-up",
        [AR_DEADLINE_JOINS] = "in the set-up of the communicator",
        [AR_DEADLINE_NATIVE] = "native",
        [AR_DEADLINE_CHECKS] = "after what ran",
    };
    char choice[AR_CHOICE_TEXT];
    const struct place *const p = call->place;
    const unsigned long long ms = (unsigned long long)setting.ms * call->lines;
    const bool is_whole = ms % 1000 == 0;
    ar_text_add(text, "ALLREDUCE_TIMEOUT: rank %d has been in ", own_rank);
    if (p) {
        ar_text_add(text, "call %llu on ", call->number);
        ar_text_escape(text, (struct ar_word){call->name, strlen(call->name)});
        ar_text_add(text, "%s as rank %d of %d",
                    call->name[0] ? "" : "a communicator without a name", p->rank, p->nranks);
    } else {
        ar_text_add(text, "a call");
    }
    ar_text_add(text, " for %llu %s: count %llu", is_whole ? ms / 1000 : ms, is_whole ? "s" : "ms",
                call->count);
    if (call->size > 0)
        ar_text_add(text, ", %llu byte%s", call->count * call->size,
                    ar_plural(call->count * call->size));
    if (call->stage == AR_DEADLINE_RUNS)
        ar_text_add(text, ", by %s", ar_choice_print(call->run->choice, choice, sizeof choice));
    else
        ar_text_add(text, ", %s", stages[call->stage]);
    add_awaited(text, call);
}

/* --- the thread --- */

/* Says the line of one call that is due for it; false if none is. */
static bool
say_one(void)
{
    char line[LINE_TEXT];
    struct ar_text text;
    ar_text_init(&text, line, sizeof line);
    pthread_mutex_lock(&lock);
    struct ar_deadline_call *call = calls;
    while (call && !(call->is_under_way && call->lines < LINES_MAX &&
                     looks - call->begun > (call->lines + 1ULL) * LOOKS))
        call = call->next;
    if (call) {
        call->lines++;
        write_line(&text, call);
    }
    pthread_mutex_unlock(&lock);
    if (call) /* not under the lock: who reads our stderr may be slow */
        ar_say("%s", line);
    return call;
}

/* Is a call under way of which a line was said? */
static bool
is_any_late(void)
{
    bool is_late = false;
    pthread_mutex_lock(&lock);
    for (const struct ar_deadline_call *call = calls; call; call = call->next)
        is_late |= call->is_under_way && call->lines > 0;
    pthread_mutex_unlock(&lock);
    return is_late;
}

static void
sleep_ms(unsigned ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&pause, NULL); /* SMPI has a macro of this name, which takes no braces with commas */
}

/* The lines of other ranks come through first.  Then the lowest of the ranks whose time is up
 * speaks and ends, whereupon the launcher ends the others. */
#define END_MS    1000
#define TURN_MS   250
#define LAST_TURN 8

/* Ends the job by a signal, unless what is late has ended after all.  The thread may not call
 * MPI_Abort in a program of one thread, and MPI might be locked. */
static void
end_job(void)
{
    sleep_ms(END_MS + TURN_MS * (unsigned)(own_rank < LAST_TURN ? own_rank : LAST_TURN));
    if (!is_any_late())
        return;
    ar_say("ALLREDUCE_TIMEOUT: rank %d ends the job", own_rank);
    signal(SIGABRT, SIG_DFL);
    abort();
}

static void *
serve(void *unused)
{
    (void)unused;
    for (;;) {
        sleep_ms(setting.ms / LOOKS);
        pthread_mutex_lock(&lock);
        looks++;
        pthread_mutex_unlock(&lock);
        while (say_one())
            continue;
        if (setting.action == AR_TIMEOUT_ABORT && is_any_late())
            end_job();
    }
    return NULL;
}

/* --- communicators --- */

static MPI_Comm_delete_attr_function leave_place;
static struct ar_key key = {MPI_COMM_NULL_COPY_FN, leave_place, 0};

/* Delete callback of a place. */
static int
leave_place(MPI_Comm comm, int keyval, void *place, void *extra)
{
    struct place *const p = place;
    (void)comm;
    (void)keyval;
    (void)extra;
    pthread_mutex_lock(&lock);
    for (struct ar_deadline_call *call = calls; call; call = call->next)
        if (call->place == p) {
            call->place = NULL;
            call->is_under_way = false;
        }
    pthread_mutex_unlock(&lock);
    free(p->in_job);
    free(p);
    ar_key_leave(&key);
    return MPI_SUCCESS;
}

/* The place of comm, made at its first call; NULL where that fails. */
static struct place *
place_of(MPI_Comm comm)
{
    struct place *p = NULL;
    int found = 0;
    if (ar_world_has_ended() || ar_key_get(&key, comm, &p, &found))
        return NULL;
    if (found)
        return p;
    p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    PMPI_Comm_rank(comm, &p->rank);
    PMPI_Comm_size(comm, &p->nranks);
    p->in_job = ar_world_ranks(comm, p->nranks);
    if (ar_key_set(&key, comm, p) == MPI_SUCCESS)
        return p;
    free(p->in_job);
    free(p);
    return NULL;
}

/* --- a call --- */

void
ar_deadline_start(const struct ar_timeout_setting *asked, int rank)
{
    int error = 0;
    if (asked)
        setting = *asked;
    own_rank = rank;
    if (setting.ms > 0)
        error = ar_thread_start(serve);
    if (error)
        ar_say("ALLREDUCE_TIMEOUT: cannot start its thread");
    if (setting.ms == 0 || error)
        atomic_store(&ar_deadline_may_watch, false);
}

void
ar_deadline_begin(MPI_Count count, MPI_Datatype type)
{
    if (!ar_deadline_watches())
        return;
    const struct ar_named *const named = ar_named_find(type);
    struct ar_deadline_call *call = ar_deadline_own;
    pthread_mutex_lock(&lock);
    if (!call) { /* one that is not in use, or else a new one */
        call = calls;
        while (call && call->is_taken)
            call = call->next;
    }
    if (!call) {
        call = calloc(1, sizeof *call);
        if (call) {
            call->next = calls;
            calls = call;
        }
    }
    if (call)
        *call = (struct ar_deadline_call){
            .next = call->next,
            .is_taken = true,
            .is_under_way = true,
            .begun = looks,
            .stage = AR_DEADLINE_CHOOSES,
            .count = (unsigned long long)count,
            .size = named ? named->geometry.size : 0,
        };
    pthread_mutex_unlock(&lock);
    ar_deadline_own = call;
}

void
ar_deadline_meet(MPI_Comm comm, enum ar_deadline_stage stage)
{
    struct ar_deadline_call *const call = ar_deadline_own;
    struct place *const place = place_of(comm);
    char name[MPI_MAX_OBJECT_NAME] = "";
    int length;
    PMPI_Comm_get_name(comm, name, &length);
    pthread_mutex_lock(&lock);
    call->stage = stage;
    call->place = place;
    call->number = place ? ++place->calls : 0;
    memcpy(call->name, name, sizeof name);
    pthread_mutex_unlock(&lock);
}

void
ar_deadline_note(enum ar_deadline_stage stage, const struct ar_deadline_run *run)
{
    struct ar_deadline_call *const call = ar_deadline_own;
    pthread_mutex_lock(&lock);
    call->stage = stage;
    call->run = run;
    if (run && call->size == 0)
        call->size = run->reduction->size;
    pthread_mutex_unlock(&lock);
}

/* A call that MPI took without our help has a number, too, since users count it. */
void
ar_deadline_end(MPI_Comm comm, int error)
{
    if (ar_deadline_own && !error && !ar_deadline_own->place && comm != MPI_COMM_NULL)
        ar_deadline_meet(comm, AR_DEADLINE_CHECKS);
    ar_deadline_leave();
}

void
ar_deadline_leave(void)
{
    if (!ar_deadline_own)
        return;
    pthread_mutex_lock(&lock);
    ar_deadline_own->is_under_way = ar_deadline_own->is_taken = false;
    pthread_mutex_unlock(&lock);
    ar_deadline_own = NULL;
}
