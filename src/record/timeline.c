#include <config.h>

#include "record/timeline.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/files.h"
#include "config/output.h"
#include "config/rank.h"
#include "execute/group.h"
#include "record/clocks.h"
#include "record/comm_names.h"
#include "report/clock.h"
#include "report/say.h"

struct ar_timeline {
    struct ar_timeline *next;
    MPI_Comm comm; /* MPI_COMM_NULL: it was freed */
    struct ar_trace_log log;
    struct ar_trace_kind *kinds; /* owned */
    struct ar_events events;
    uint32_t first, last; /* which calls are kept */
    uint32_t calls;       /* so far */
    bool has_log;         /* its log has been paid for */
    atomic_bool is_busy;  /* a call that is kept is under way */
    uint64_t since_ns;    /* of the set-up before the first call */
    uint64_t begun_ns;    /* the call under way */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    struct ar_timeline *timelines; /* of all communicators.  Under the lock */
    int made;                      /* by this process as rank 0.  Under the lock */
    int world_rank, world_size;    /* -1 and 0: there is no world */
    char path[PATH_MAX];           /* "": none.  Under the lock */
    atomic_size_t left_bytes;      /* of the memory for events */
    atomic_ullong lost;            /* calls */
    bool is_claimed;               /* by a communicator, for has_world.  Under the lock */
    bool has_world;                /* a communicator of all ranks in their order is traced */
    struct ar_clock_offset *begin; /* offsets when that was set up; rank 0's */
    atomic_int ended;              /* exchanged, so a word: see process.c */
    atomic_bool closes;            /* no further call is kept */
} all = {.world_rank = -1};

/* --- the beginning --- */

/* Several communicators may have agreed on different settings; the first one counts. */
static void
begin_once(const struct ar_trace_setting *setting, int nranks)
{
    int world_rank = -1, world_size = 0;
    ar_world_find(&world_rank, &world_size);
    pthread_mutex_lock(&lock);
    if (!all.path[0]) {
        all.world_rank = world_rank;
        all.world_size = world_size;
        const int ranks = all.world_size > 0 ? all.world_size : nranks;
        atomic_store(&all.left_bytes, setting->memory_bytes / (size_t)ranks);
        ar_stats_file_path(all.path, sizeof all.path, setting->file);
    }
    pthread_mutex_unlock(&lock);
}

/* On rank 0 of the world: whether comm is the first communicator of all ranks, in their order. */
static bool
is_first_of_all(MPI_Comm comm)
{
    int result = MPI_UNEQUAL;
    if (all.world_rank != 0 || PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result) != MPI_SUCCESS ||
        (result != MPI_IDENT && result != MPI_CONGRUENT))
        return false;
    pthread_mutex_lock(&lock);
    const bool is_first = !all.is_claimed;
    all.is_claimed = true;
    pthread_mutex_unlock(&lock);
    return is_first;
}

/* Makes an id that is the same on all ranks and belongs to no other communicator.  *compares tells
 * whether clocks are to be compared here, for the first time.  Rank 0 decides both: threads may set
 * up several communicators at a time, in a different order on each rank. */
static int
make_id(int id[2], bool *compares, MPI_Comm comm)
{
    int said[3] = {all.world_rank, 0, is_first_of_all(comm)};
    pthread_mutex_lock(&lock);
    said[1] = all.made++;
    pthread_mutex_unlock(&lock);
    const int error = PMPI_Bcast(said, 3, MPI_INT, 0, comm);
    id[0] = said[0];
    id[1] = said[1];
    *compares = !error && said[2];
    return error;
}

/* Collective over comm. */
static void
compare_clocks(MPI_Comm comm)
{
    MPI_Comm own;
    if (!ar_comm_own(&own, comm))
        return;
    if (all.world_rank == 0)
        all.begin = calloc((size_t)all.world_size, sizeof *all.begin);
    all.has_world = ar_clocks_compare(all.begin, own);
    PMPI_Comm_free(&own);
}

int
ar_timeline_attach(struct ar_timeline **made, const struct ar_config *config, MPI_Comm comm,
                   uint64_t since_ns)
{
    int id[2], nranks;
    bool compares;
    *made = NULL;
    if (!config->trace.file)
        return MPI_SUCCESS;
    PMPI_Comm_size(comm, &nranks);
    begin_once(&config->trace, nranks);
    const int error = make_id(id, &compares, comm);
    if (compares)
        compare_clocks(comm);
    struct ar_timeline *const t = error ? NULL : calloc(1, sizeof *t);
    if (!t)
        return error;
    t->comm = comm;
    t->log.id[0] = id[0];
    t->log.id[1] = id[1];
    t->log.nranks = nranks;
    PMPI_Comm_rank(comm, &t->log.rank);
    ar_comm_name_get(t->log.name, comm);
    t->events.left_bytes = &all.left_bytes;
    t->first = (uint32_t)config->trace.first;
    t->last = (uint32_t)config->trace.last;
    t->since_ns = since_ns;
    pthread_mutex_lock(&lock);
    struct ar_timeline **last = &all.timelines;
    while (*last)
        last = &(*last)->next;
    *last = t;
    pthread_mutex_unlock(&lock);
    *made = t;
    return MPI_SUCCESS;
}

void
ar_timeline_detach(struct ar_timeline *timeline)
{
    if (!timeline)
        return;
    if (!atomic_load(&all.ended))
        ar_comm_name_get(timeline->log.name, timeline->comm);
    pthread_mutex_lock(&lock);
    timeline->comm = MPI_COMM_NULL;
    if (timeline->events.n == 0) {
        struct ar_timeline **at = &all.timelines;
        while (*at != timeline)
            at = &(*at)->next;
        *at = timeline->next;
        free(timeline->events.events);
        free(timeline->kinds);
        free(timeline);
    }
    pthread_mutex_unlock(&lock);
}

/* --- calls --- */

/* As ar_timeline_arrive. */
static struct ar_events *
begin_call(struct ar_timeline *t)
{
    struct ar_events *const events = &t->events;
    const uint64_t now = ar_clock_system_ns();
    t->calls++;
    t->begun_ns = t->calls == 1 ? t->since_ns : now;
    if (t->calls < t->first || t->calls > t->last)
        return NULL;
    if (!t->has_log && !events->is_full) {
        t->has_log = ar_events_afford(events, sizeof t->log);
        events->is_full = !t->has_log;
    }
    ar_events_begin(events, t->calls);
    if (t->calls == 1)
        ar_events_note(events, (struct ar_event){.kind = AR_EVENT_SETUP,
                                                 .begin_ns = t->begun_ns,
                                                 .end_ns = now,
                                                 .peer = -1});
    if (events->is_full) {
        ar_events_drop(events);
        atomic_fetch_add(&all.lost, 1);
        return NULL;
    }
    return events;
}

/* Either this call sees that the timelines close, or who closes them sees that it is under way. */
struct ar_events *
ar_timeline_arrive(struct ar_timeline *t)
{
    atomic_store(&t->is_busy, true);
    struct ar_events *const events = atomic_load(&all.closes) ? NULL : begin_call(t);
    if (!events)
        atomic_store(&t->is_busy, false);
    return events;
}

/* The number of the kind in the timeline; false where there is no room for a new one. */
static bool
find_kind(struct ar_timeline *t, const struct ar_trace_kind *kind, uint32_t *number)
{
    const size_t n = t->log.nkinds;
    for (*number = 0; *number < n; ++*number)
        if (memcmp(&t->kinds[*number], kind, sizeof *kind) == 0)
            return true;
    if (!ar_events_afford(&t->events, sizeof *kind))
        return false;
    struct ar_trace_kind *const kinds = realloc(t->kinds, (n + 1) * sizeof *kinds);
    if (!kinds)
        return false;
    t->kinds = kinds;
    kinds[t->log.nkinds++] = *kind;
    return true;
}

void
ar_timeline_leave(struct ar_timeline *t, const struct ar_trace_kind *kind, uint64_t bytes,
                  uint64_t left_ns)
{
    struct ar_event event = {.kind = AR_EVENT_CALL,
                             .begin_ns = t->begun_ns,
                             .end_ns = left_ns,
                             .bytes = bytes,
                             .peer = -1};
    t->events.is_full = t->events.is_full || !find_kind(t, kind, &event.step);
    ar_events_note(&t->events, event);
    if (t->events.is_full) {
        ar_events_drop(&t->events);
        atomic_fetch_add(&all.lost, 1);
    }
    atomic_store(&t->is_busy, false);
}

void
ar_timeline_drop(struct ar_timeline *t)
{
    ar_events_drop(&t->events);
    atomic_store(&t->is_busy, false);
}

/* --- the end --- */

#define PATIENCE_MS 100 /* with a call that another thread is in while the process exits */

/* The parts of one rank, or of all, one after the other; owned. */
struct parts {
    struct ar_trace_rank *ranks;
    struct ar_trace_log *logs;
    struct ar_trace_kind *kinds;
    struct ar_event *events;
    size_t nranks, nlogs, nkinds, nevents;
};

static void
free_parts(struct parts *parts)
{
    free(parts->ranks);
    free(parts->logs);
    free(parts->kinds);
    free(parts->events);
}

/* The number of events of calls that have ended.  If a call under way does not end, nothing more is
 * noted in its log, so that the events can be read. */
static size_t
freeze(struct ar_timeline *t)
{
    const struct timespec ms = {.tv_nsec = 1000000};
    for (int i = 0; i < PATIENCE_MS && atomic_load(&t->is_busy); i++)
        nanosleep(&ms, NULL);
    if (!atomic_load(&t->is_busy))
        return t->events.n;
    __atomic_store_n(&t->events.is_full, true, __ATOMIC_SEQ_CST);
    nanosleep(&ms, NULL); /* an event that is being noted is noted by then */
    return t->events.call_begin;
}

/* Of this rank.  Under the lock.  False without memory. */
static bool
collect(struct parts *own, bool is_together)
{
    for (struct ar_timeline *t = all.timelines; t; t = t->next) {
        t->log.nevents = is_together ? t->events.n : freeze(t);
        own->nlogs += t->log.nevents > 0;
        own->nkinds += t->log.nevents > 0 ? t->log.nkinds : 0;
        own->nevents += t->log.nevents;
    }
    own->nranks = 1;
    own->ranks = calloc(1, sizeof *own->ranks);
    own->logs = malloc((own->nlogs + 1) * sizeof *own->logs);
    own->kinds = malloc((own->nkinds + 1) * sizeof *own->kinds);
    own->events = malloc((own->nevents + 1) * sizeof *own->events);
    if (!own->ranks || !own->logs || !own->kinds || !own->events)
        return false;
    struct ar_trace_log *log = own->logs;
    struct ar_trace_kind *kinds = own->kinds;
    struct ar_event *events = own->events;
    for (const struct ar_timeline *t = all.timelines; t; t = t->next) {
        if (t->log.nevents == 0)
            continue;
        *log++ = t->log;
        memcpy(kinds, t->kinds, t->log.nkinds * sizeof *kinds);
        memcpy(events, t->events.events, t->log.nevents * sizeof *events);
        kinds += t->log.nkinds;
        events += t->log.nevents;
    }
    own->ranks->rank = all.world_rank >= 0 ? all.world_rank : ar_rank_in_job();
    gethostname(own->ranks->host, sizeof own->ranks->host - 1);
    own->ranks->nlogs = own->nlogs;
    own->ranks->lost = atomic_load(&all.lost);
    return true;
}

/* Brings n things of a size from each rank to rank 0, where *n becomes how many these are and the
 * result is the caller's to free.  NULL on the other ranks, and where memory or MPI failed; all
 * ranks go on alike.  Collective over comm. */
static void *
gather(size_t *n, const void *own, size_t size, MPI_Comm comm)
{
    const int bytes = (int)(*n * size);
    int rank, nranks, sum = 0, *at = NULL;
    bool is_done = false;
    char *of_all = NULL;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &nranks);
    if (rank == 0)
        at = malloc(2 * (size_t)nranks * sizeof *at);
    if (!ar_all(comm, rank > 0 || at)) {
        free(at);
        return NULL;
    }
    int *const lengths = rank == 0 ? at + nranks : NULL;
    const int error = PMPI_Gather(&bytes, 1, MPI_INT, lengths, 1, MPI_INT, 0, comm);
    for (int i = 0; i < nranks && rank == 0 && !error; i++) {
        at[i] = sum;
        sum += lengths[i];
    }
    if (rank == 0)
        of_all = malloc((size_t)sum + 1);
    if (ar_all(comm, !error && (rank > 0 || of_all)))
        is_done = PMPI_Gatherv(own, bytes, MPI_BYTE, of_all, lengths, at, MPI_BYTE, 0, comm) ==
                  MPI_SUCCESS;
    free(at);
    if (!is_done) {
        free(of_all);
        return NULL;
    }
    *n = (size_t)sum / size;
    return of_all;
}

/* True on rank 0, which has the parts of all ranks then.  Collective over comm. */
static bool
gather_parts(struct parts *sum, const struct parts *own, MPI_Comm comm)
{
    *sum = *own;
    sum->ranks = gather(&sum->nranks, own->ranks, sizeof *own->ranks, comm);
    sum->logs = gather(&sum->nlogs, own->logs, sizeof *own->logs, comm);
    sum->kinds = gather(&sum->nkinds, own->kinds, sizeof *own->kinds, comm);
    sum->events = gather(&sum->nevents, own->events, sizeof *own->events, comm);
    return sum->ranks && sum->logs && sum->kinds && sum->events;
}

/* Sets all times to rank 0's clock. */
static void
set_clocks(struct parts *sum, const struct ar_clock_offset *end)
{
    const struct ar_trace_log *log = sum->logs;
    struct ar_event *event = sum->events;
    for (size_t r = 0; r < sum->nranks; r++) {
        const struct ar_clock_offset *const from = &all.begin[r], *const to = &end[r];
        struct ar_trace_rank *const rank = &sum->ranks[r];
        rank->error_ns = from->error_ns > to->error_ns ? from->error_ns : to->error_ns;
        for (uint64_t l = 0; l < rank->nlogs; l++, log++)
            for (uint64_t i = 0; i < log->nevents; i++, event++) {
                event->begin_ns = ar_clock_of_first(from, to, event->begin_ns);
                event->end_ns = ar_clock_of_first(from, to, event->end_ns);
            }
    }
}

static void
write_file(const struct parts *parts, const char *path)
{
    char when[AR_DATE_TEXT];
    const struct ar_run run = {.version = PACKAGE_VERSION,
                               .family = AR_MPI_FAMILY,
                               .program = program_invocation_short_name,
                               .when = ar_clock_date(when, true),
                               .nranks = all.world_size,
                               .ranks = (int)parts->nranks};
    const struct ar_trace trace = {parts->ranks, parts->nranks, parts->logs, parts->kinds,
                                   parts->events};
    struct ar_output output;
    int error = ar_output_begin(&output, path);
    if (!error && !ar_trace_write(output.file, &trace, &run)) {
        ar_output_drop(&output);
        error = ENOMEM;
    } else if (!error) {
        error = ar_output_end(&output);
    }
    if (error)
        ar_say("ALLREDUCE_TRACE: cannot write '%s': %s", path, strerror(error));
}

/* Collective over the world. */
static void
write_together(const struct parts *own)
{
    struct ar_clock_offset *end = NULL;
    struct parts sum = {0};
    MPI_Comm comm;
    if (!ar_comm_own(&comm, MPI_COMM_WORLD))
        return;
    if (all.world_rank == 0)
        end = calloc((size_t)all.world_size, sizeof *end);
    const bool is_compared = ar_clocks_compare(end, comm);
    const bool is_gathered = is_compared && gather_parts(&sum, own, comm);
    PMPI_Comm_free(&comm);
    if (is_gathered) {
        set_clocks(&sum, end);
        write_file(&sum, all.path);
    } else if (all.world_rank == 0) {
        ar_say("ALLREDUCE_TRACE: '%s' is not written: out of memory, or MPI failed", all.path);
    }
    free_parts(&sum);
    free(end);
}

/* The calls of this rank alone, by its own clock. */
static void
write_own(const struct parts *own)
{
    char path[PATH_MAX + 32];
    ar_stats_file_of_rank(path, sizeof path, all.path, own->ranks->rank);
    own->ranks->error_ns = UINT64_MAX;
    write_file(own, path);
}

void
ar_timeline_end(bool is_together)
{
    struct parts own = {0};
    if (!all.path[0] || atomic_exchange(&all.ended, 1))
        return;
    for (struct ar_timeline *t = all.timelines; t && is_together; t = t->next)
        if (t->comm != MPI_COMM_NULL)
            ar_comm_name_get(t->log.name, t->comm);
    atomic_store(&all.closes, true);
    pthread_mutex_lock(&lock);
    const bool is_collected = collect(&own, is_together);
    pthread_mutex_unlock(&lock);
    if (is_together && all.has_world && ar_all(MPI_COMM_WORLD, is_collected))
        write_together(&own);
    else if (is_collected && own.nevents > 0)
        write_own(&own);
    free_parts(&own);
}
