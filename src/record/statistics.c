#include <config.h>

#include "record/statistics.h"

#include <errno.h>
#include <fenv.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/files.h"
#include "config/output.h"
#include "config/rank.h"
#include "cores/cpus.h"
#include "execute/group.h"
#include "record/comm_names.h"
#include "record/gather.h"
#include "record/thread.h"
#include "report/clock.h"
#include "report/say.h"
#include "report/watchdog.h"
#include "select/words.h"

/* Where this process runs, what it is, and with which MPI library. */
struct self {
    struct ar_rank_row rank; /* without numbers */
    char command[1024];      /* the command line; a longer one is cut */
    char library[256];       /* the first line of what the MPI library says of itself */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const struct ar_config *config; /* this process's own; NULL: nothing was asked for */
    atomic_int world_rank;          /* -1: there is no world, or not yet.  See find_world */
    int world_size;                 /* 0: the same */
    uint64_t begun_ns;
    struct self self;              /* where anything is recorded */
    int most_ranks;                /* of any communicator that records for it.  Under the lock */
    struct ar_table passed_on;     /* of this rank's own, gathered elsewhere.  Under the lock */
    struct ar_table gathered;      /* by this rank, in a program without a world */
    struct ar_recorder *recorders; /* of all communicators.  Under the lock */
    struct ar_table gone;          /* of recorders that are no more.  Under the lock */
    struct ar_recorder *stateless; /* calls without a state.  Under the lock */
    char path[PATH_MAX];           /* of ALLREDUCE_STATS; "": no file.  Written under the lock */
    atomic_bool world_records;     /* all ranks of the world are known to record for the file */
    bool verifies;                 /* ALLREDUCE_VERIFY asks for it */
    atomic_bool met_lower;         /* ranks, on a communicator */
    atomic_bool met_higher;        /* on one where none is lower */
    atomic_int ended;              /* exchanged, so a word: see process.c */
} all = {.world_rank = -1};

/* Words with blanks between them, as the kernel has them: with a zero byte behind each. */
static void
read_command(char *command, size_t room)
{
    FILE *const file = fopen("/proc/self/cmdline", "re");
    const size_t n = file ? fread(command, 1, room - 1, file) : 0;
    if (file)
        fclose(file);
    command[n] = '\0';
    for (size_t i = 0; i + 1 < n; i++)
        if (command[i] == '\0')
            command[i] = ' ';
}

static void
read_library(char *library, size_t room)
{
    static char version[MPI_MAX_LIBRARY_VERSION_STRING]; /* for a small stack; one thread is here */
    int length;
    PMPI_Get_library_version(version, &length);
    snprintf(library, room, "%.*s", (int)strcspn(version, "\n"), version);
    for (char *tab = library; (tab = strchr(tab, '\t'));)
        *tab = ' ';
}

/* rank: in the job. */
static void
describe(struct self *self, int rank)
{
    struct ar_cpus cpus;
    struct ar_text text;
    memset(self, 0, sizeof *self);
    self->rank.rank = rank;
    gethostname(self->rank.host, sizeof self->rank.host - 1);
    ar_cpus_of_thread(&cpus);
    ar_text_init(&text, self->rank.cpus, sizeof self->rank.cpus);
    ar_cpus_print(&text, &cpus);
    read_command(self->command, sizeof self->command);
    read_library(self->library, sizeof self->library);
}

/* Is there a world?  It is asked again as long as there is none: a program of sessions may call
 * MPI_Init later, even behind the first allreduce of some ranks and before that of others, and all
 * of them are to know the same when they gather. */
static bool
find_world(void)
{
    int rank = atomic_load(&all.world_rank), size = 0;
    if (rank >= 0)
        return true;
    ar_world_find(&rank, &size);
    if (rank < 0)
        return false;
    pthread_mutex_lock(&lock);
    all.world_size = size;
    pthread_mutex_unlock(&lock);
    atomic_store(&all.world_rank, rank);
    return true;
}

static int
own_rank(void)
{
    const int rank = atomic_load(&all.world_rank);
    return rank >= 0 ? rank : ar_rank_in_job();
}

static void
meet(MPI_Comm comm)
{
    int nranks;
    PMPI_Comm_size(comm, &nranks);
    if (nranks > 1 && own_rank() != 0 && !atomic_load(&all.met_lower))
        atomic_store(ar_comm_has_lower(comm) ? &all.met_lower : &all.met_higher, true);
}

bool
ar_statistics_speaks(void)
{
    return own_rank() == 0 || (atomic_load(&all.met_higher) && !atomic_load(&all.met_lower));
}

static bool
wants_records(const struct ar_config *config)
{
    return config && (config->verbose > 0 || config->stats_file);
}

/* For a communicator of so many ranks, or for none yet: 0.  Several communicators may have agreed
 * on different files; the first one counts. */
static void
use_file(const char *file, int nranks)
{
    pthread_mutex_lock(&lock);
    if (!all.path[0])
        ar_stats_file_path(all.path, sizeof all.path, file);
    if (nranks > all.most_ranks)
        all.most_ranks = nranks;
    pthread_mutex_unlock(&lock);
}

static void
prepare_once(void)
{
    ar_clock_start();
    describe(&all.self, own_rank());
}

/* Called again where the settings of rank 0 count for all. */
static void
prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_once);
}

/* --- recorders and what has none --- */

/* The program may have named it since. */
static void
rename_recorder(struct ar_recorder *recorder)
{
    char name[AR_COMM_TEXT];
    if (recorder->comm == MPI_COMM_NULL)
        return;
    ar_comm_name_get(name, recorder->comm);
    pthread_mutex_lock(&lock);
    memcpy(recorder->name, name, sizeof name);
    pthread_mutex_unlock(&lock);
}

/* That of one, or of all.  No MPI is called under the lock, which a callback of MPI's takes.  None
 * of them goes meanwhile: one that is being named is not freed, and all are asked for when MPI
 * ends, and no other thread calls it. */
void
ar_statistics_rename(MPI_Comm comm)
{
    pthread_mutex_lock(&lock);
    struct ar_recorder *r = all.recorders;
    while (r && comm != MPI_COMM_NULL && r->comm != comm)
        r = r->next;
    pthread_mutex_unlock(&lock);
    for (; r; r = comm == MPI_COMM_NULL ? r->next : NULL)
        rename_recorder(r);
}

/* A name is kept only here, so that of a program which renames a communicator again and again only
 * the last one is.  Under the lock. */
static void
collect_recorder(const struct ar_recorder *recorder, struct ar_table *table)
{
    ar_recorder_collect(recorder, ar_comm_name_keep(recorder->name), table);
}

struct ar_recorder *
ar_statistics_attach(const struct ar_config *config, MPI_Comm comm, uint64_t setup_ns)
{
    const struct ar_config *const settings = config ? config : all.config;
    meet(comm);
    if (!wants_records(settings))
        return NULL;
    prepare();
    struct ar_recorder *const recorder = ar_recorder_create();
    if (recorder) {
        recorder->setup_ns = setup_ns;
        recorder->comm = comm;
        recorder->id = settings->stats_file ? ar_gather_id(comm) : 0;
        PMPI_Comm_size(comm, &recorder->nranks);
        rename_recorder(recorder);
        pthread_mutex_lock(&lock);
        recorder->next = all.recorders;
        if (recorder->next)
            recorder->next->previous = recorder;
        all.recorders = recorder;
        pthread_mutex_unlock(&lock);
    }
    if (!settings->stats_file)
        return recorder;
    int nranks = 0, result = MPI_UNEQUAL;
    PMPI_Comm_size(comm, &nranks);
    use_file(settings->stats_file, nranks);
    if (config && find_world() && PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result) == MPI_SUCCESS &&
        result != MPI_UNEQUAL)
        atomic_store(&all.world_records, true);
    return recorder;
}

void
ar_statistics_detach(struct ar_recorder *recorder)
{
    if (!recorder)
        return;
    if (!atomic_load(&all.ended))
        rename_recorder(recorder);
    pthread_mutex_lock(&lock);
    *(recorder->previous ? &recorder->previous->next : &all.recorders) = recorder->next;
    if (recorder->next)
        recorder->next->previous = recorder->previous;
    collect_recorder(recorder, &all.gone);
    ar_recorder_collect_arrivals(recorder, own_rank(), &all.gone.arrivals);
    pthread_mutex_unlock(&lock);
    ar_recorder_destroy(recorder);
}

void
ar_statistics_count(enum ar_entry entry, const char *reason, MPI_Comm comm, MPI_Datatype type,
                    MPI_Op op, uint64_t count, const struct ar_caller *caller)
{
    int nranks = 0;
    uint64_t bytes;
    char name[AR_COMM_TEXT] = "", type_name[AR_NAME_TEXT] = "", op_name[AR_NAME_TEXT] = "";
    if (!all.stateless)
        return;
    if (comm != MPI_COMM_NULL) {
        PMPI_Comm_size(comm, &nranks);
        ar_comm_name_get(name, comm);
    }
    struct ar_record_key key =
        ar_record_native_key(nranks, type, op, AR_PLACE_UNKNOWN, count, &bytes);
    if (nranks > 0)
        ar_record_names(type_name, op_name, key.type, key.op);
    pthread_mutex_lock(&lock);
    key.label =
        ar_recorder_label(all.stateless, entry, ar_comm_name_keep(name), "", "native", reason);
    struct ar_record *const record =
        ar_recorder_find_named(all.stateless, &key, type_name, op_name);
    if (record) {
        ar_record_pass(record, bytes);
        ar_recorder_note_site(all.stateless, record, caller, bytes, 0);
    }
    pthread_mutex_unlock(&lock);
}

/* --- what was verified --- */

static atomic_ulong verified[AR_VERIFIED_KINDS];

unsigned long
ar_verified_count(enum ar_verified kind)
{
    return atomic_fetch_add_explicit(&verified[kind], 1, memory_order_relaxed);
}

static void
say_verified(void)
{
    const unsigned long users = atomic_load(&verified[AR_VERIFIED_USERS]);
    const unsigned long unlike = atomic_load(&verified[AR_VERIFIED_UNLIKE]);
    char doubts[256];
    struct ar_text text;
    ar_text_init(&text, doubts, sizeof doubts);
    /* These are told although no result of ours is known to be wrong. */
    if (users > 0)
        ar_text_add(
            &text,
            ", %lu with user-defined ops differ from the native allreduce (possibly by rounding)",
            users);
    if (unlike > 0)
        ar_text_add(&text, ", %lu were not alike on all ranks", unlike);
    ar_say(
        "ALLREDUCE_VERIFY: %lu calls of rank %d agree with the native allreduce, %lu only between "
        "the ranks, %lu are wrong, %lu could not be compared%s",
        atomic_load(&verified[AR_VERIFIED_RIGHT]), own_rank(),
        atomic_load(&verified[AR_VERIFIED_BY_RANKS]), atomic_load(&verified[AR_VERIFIED_WRONG]),
        atomic_load(&verified[AR_VERIFIED_NOT]), doubts);
}

/* --- the end --- */

/* As one rank's table, with a row for that rank. */
static void
collect(struct ar_table *table)
{
    pthread_mutex_lock(&lock);
    for (const struct ar_recorder *r = all.recorders; r; r = r->next)
        collect_recorder(r, table);
    ar_table_merge(table, &all.gone);
    if (all.stateless)
        collect_recorder(all.stateless, table);
    pthread_mutex_unlock(&lock);
    ar_table_add_rank(table, &all.self.rank);
}

/* While no calls are made. */
static void
collect_arrivals(struct ar_arrivals_list *list)
{
    pthread_mutex_lock(&lock);
    for (const struct ar_recorder *r = all.recorders; r; r = r->next)
        ar_recorder_collect_arrivals(r, own_rank(), list);
    pthread_mutex_unlock(&lock);
}

static void
print(const struct ar_table *rest)
{
    const int verbose = all.config ? all.config->verbose : 0, rank = own_rank();
    char title[128], *text = NULL;
    size_t length;
    struct ar_table *table = &all.passed_on;
    FILE *to;
    if (verbose < 1 || (verbose < 2 && !ar_statistics_speaks()))
        return;
    snprintf(title, sizeof title, "%s for %s, calls of rank %d", PACKAGE_VERSION, AR_MPI_FAMILY,
             rank);
    pthread_mutex_lock(&lock);
    ar_table_merge(table, rest);
    to = open_memstream(&text, &length);
    if (to)
        ar_table_write_brief(to, table, title);
    pthread_mutex_unlock(&lock);
    if (to && fclose(to) == 0)
        ar_say_lines(text, length);
    free(text);
}

/* Where rank 0 called allreduces of other kinds alone, the user is told why there is nothing to
 * see.
 */
static void
say_none(const struct ar_table *table)
{
    const struct ar_table *const tables[] = {table, &all.passed_on};
    uint64_t calls[AR_ENTRIES] = {0};
    char others[128];
    struct ar_text t;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < tables[k]->nrows; i++)
            calls[tables[k]->rows[i].key.entry] += tables[k]->rows[i].counts.calls;
    ar_text_init(&t, others, sizeof others);
    for (int i = 0; i < AR_ENTRIES; i++)
        if (calls[i] > 0)
            ar_text_add(&t, "%s%s (%" PRIu64 ")", t.length ? ", " : "", ar_entry_names[i],
                        calls[i]);
    if (calls[AR_ENTRY_ALLREDUCE] == 0 && t.length > 0)
        ar_say("no call of %s on rank 0; it called %s, which the library counts and leaves to the "
               "MPI library",
               ar_entry_names[AR_ENTRY_ALLREDUCE], others);
}

/* Writes the table of so many ranks to the file, or to one for this rank alone. */
enum name { NAME_OF_ALL, NAME_OF_RANK };

static void
write_file(struct ar_table *table, enum name name, int ranks)
{
    char path[PATH_MAX + 32], when[AR_DATE_TEXT];
    const struct ar_run run = {
        .version = PACKAGE_VERSION,
        .family = AR_MPI_FAMILY,
        .library = all.self.library,
        .program = program_invocation_short_name,
        .command = all.self.command,
        .when = ar_clock_date(when, true),
        .elapsed_ns = ar_clock_system_ns() - all.begun_ns,
        .nranks = all.world_size,
        .ranks = ranks,
        .rank = name == NAME_OF_RANK && ranks == 1 ? own_rank() : -1,
    };
    struct ar_output output;
    if (name == NAME_OF_ALL)
        snprintf(path, sizeof path, "%s", all.path);
    else
        ar_stats_file_of_rank(path, sizeof path, all.path, own_rank());
    ar_table_sort(table);
    int error = ar_output_begin(&output, path);
    if (!error) {
        if (ar_stats_file_is_json(all.path))
            ar_table_write_json(output.file, table, &run);
        else
            ar_table_write_text(output.file, table, &run);
        error = ar_output_end(&output);
    }
    if (error)
        ar_say("ALLREDUCE_STATS: cannot write '%s': %s", path, strerror(error));
}

/* On a thread of its own: no MPI. */
static void
write_snapshot(void)
{
    struct ar_table table = {0};
    collect(&table);
    write_file(&table, NAME_OF_RANK, 1);
    ar_table_fini(&table);
}

bool
ar_statistics_are_parted(void)
{
    return all.path[0] && !find_world();
}

static bool
has_most_ranks(int nranks)
{
    pthread_mutex_lock(&lock);
    const bool has_most = nranks >= all.most_ranks;
    pthread_mutex_unlock(&lock);
    return has_most;
}

/* As collect, but what is in the table is then passed on, to be gathered.  Other threads may be in
 * calls: these only add to their recorders, and so nothing of theirs is lost or counted twice.
 * Without a world no arrivals are compared: no communicator has an id. */
static void
take(struct ar_table *table)
{
    pthread_mutex_lock(&lock);
    for (struct ar_recorder *r = all.recorders; r; r = r->next)
        ar_recorder_take(r, ar_comm_name_keep(r->name), table);
    ar_table_merge(table, &all.gone);
    ar_table_fini(&all.gone);
    if (all.stateless)
        ar_recorder_take(all.stateless, ar_comm_name_keep(all.stateless->name), table);
    ar_table_add_rank(table, &all.self.rank);
    ar_table_merge(&all.passed_on, table);
    pthread_mutex_unlock(&lock);
}

/* Writes what the ranks of the table have gathered, and what this rank gathered before: it may do
 * so several times, from the same ranks, and on several threads. */
static void
write_gathered(const struct ar_table *table, enum name name, int ranks)
{
    static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&writing);
    for (size_t i = 0; i < table->nrows; i++) {
        struct ar_row *const sum = ar_table_add(&all.gathered, &table->rows[i]);
        if (sum && sum->ranks > table->rows[i].ranks)
            sum->ranks = table->rows[i].ranks;
    }
    for (size_t i = 0; i < table->sites.n; i++) {
        struct ar_site_row *const sum =
            ar_site_rows_add(&all.gathered.sites, &table->sites.rows[i]);
        if (sum && sum->ranks > table->sites.rows[i].ranks)
            sum->ranks = table->sites.rows[i].ranks;
    }
    for (size_t i = 0; i < table->ranks.n; i++)
        ar_rank_rows_add(&all.gathered.ranks, &table->ranks.rows[i]);
    all.gathered.lost += table->lost;
    write_file(&all.gathered, name, ranks);
    pthread_mutex_unlock(&writing);
}

void
ar_statistics_part(MPI_Comm comm)
{
    struct ar_table table = {0};
    int rank, nranks;
    fenv_t environment;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &nranks);
    if (!ar_all(comm, has_most_ranks(nranks)))
        return;
    feholdexcept(&environment);
    ar_statistics_rename(comm);
    take(&table);
    if (ar_gather(&table, own_rank(), comm) && rank == 0)
        write_gathered(&table, own_rank() == 0 ? NAME_OF_ALL : NAME_OF_RANK, nranks);
    fesetenv(&environment);
    ar_table_fini(&table);
}

#define ALARMS_SAID 3

void
ar_statistics_end(bool is_together)
{
    struct ar_table table = {0};
    struct ar_alarm alarms[ALARMS_SAID];
    if (atomic_exchange(&all.ended, 1))
        return;
    if (is_together)
        ar_statistics_rename(MPI_COMM_NULL);
    collect(&table);
    collect_arrivals(&table.arrivals);
    print(&table);
    if (wants_records(all.config) && own_rank() == 0)
        say_none(&table);
    if (all.verifies && ar_statistics_speaks())
        say_verified();
    const bool gathers = all.path[0] && is_together && atomic_load(&all.world_records);
    if (gathers && ar_gather(&table, own_rank(), MPI_COMM_WORLD)) {
        if (own_rank() == 0)
            write_gathered(&table, NAME_OF_ALL, all.world_size);
    } else if (gathers || (all.path[0] && table.nrows > 0)) {
        write_file(&table, NAME_OF_RANK, 1);
    }
    const size_t n = wants_records(all.config) && ar_statistics_speaks()
                         ? ar_watchdog_look(&table, alarms, ALARMS_SAID)
                         : 0;
    for (size_t i = 0; i < n; i++) {
        char text[AR_ALARM_TEXT];
        ar_say("watchdog: %s", ar_alarm_print(&alarms[i], text, sizeof text));
    }
    ar_table_fini(&table);
}

/* --- the beginning --- */

void
ar_statistics_begin(const struct ar_config *config)
{
    find_world();
    all.begun_ns = ar_clock_system_ns();
    all.verifies = config && config->verify.every > 0;
    if (!wants_records(config))
        return;
    prepare();
    all.config = config;
    all.stateless = ar_recorder_create();
    if (config->stats_file)
        use_file(config->stats_file, 0);
    if (config->stats_signal && config->stats_file)
        ar_thread_write_at(config->stats_signal, write_snapshot);
}
