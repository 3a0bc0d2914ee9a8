#include <config.h>

#include "communicator/statistics.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "communicator/gather.h"
#include "communicator/snapshot.h"
#include "communicator/state.h"
#include "communicator/verified.h"
#include "config/files.h"
#include "config/rank.h"
#include "execute/group.h"
#include "report/report.h"
#include "report/watchdog.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const struct ar_config *config; /* this process's own; NULL: nothing was asked for */
    int world_rank;                 /* -1: there is no world */
    int world_size;                 /* 0: the same */
    uint64_t begun_ns;
    int most_ranks;                /* of any communicator that recorded for the file */
    struct ar_table passed_on;     /* of this rank's own, gathered elsewhere */
    struct ar_table gathered;      /* by this rank, in a program without a world */
    struct ar_table gone;          /* of states that are no more.  Under the lock */
    struct ar_recorder *stateless; /* calls without a state.  Under the lock */
    char path[PATH_MAX];           /* of ALLREDUCE_STATS; "": no file.  Written under the lock */
    atomic_bool world_records;     /* all ranks of the world are known to record for the file */
    bool verifies;                 /* ALLREDUCE_VERIFY asks for it */
    atomic_bool ended;
} all = {.world_rank = -1};

static bool
asks(const struct ar_config *config)
{
    return config && (config->verbose > 0 || config->stats_file);
}

/* Several communicators may have agreed on different files: the first counts. */
static void
use_file(const char *file)
{
    pthread_mutex_lock(&lock);
    if (!all.path[0])
        ar_stats_file_path(all.path, sizeof all.path, file);
    pthread_mutex_unlock(&lock);
}

/* Where rank 0's settings count for all, this may not be the first to ask. */
static void
start_clock(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ar_clock_start);
}

/* --- the life of a communicator's recorder --- */

static bool
is_of_all_ranks(MPI_Comm comm)
{
    int result = MPI_UNEQUAL;
    return all.world_rank >= 0 && PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result) == MPI_SUCCESS &&
           result != MPI_UNEQUAL;
}

void
ar_statistics_relabel(struct ar_communicator *c)
{
    if (c->recorder && c->always_native)
        c->native_label = ar_recorder_label(c->recorder, AR_ENTRY_ALLREDUCE,
                                            c->config && !c->config->broken ? "native" : "",
                                            "native", c->always_native);
}

void
ar_statistics_attach(struct ar_communicator *c, MPI_Comm comm, uint64_t setup_ns)
{
    const struct ar_config *config = c->config ? c->config : all.config;
    if (!asks(config))
        return;
    start_clock();
    c->recorder = ar_recorder_create();
    if (c->recorder)
        c->recorder->setup_ns = setup_ns;
    ar_statistics_relabel(c);
    if (!config->stats_file)
        return;
    use_file(config->stats_file);
    if (c->nranks > all.most_ranks)
        all.most_ranks = c->nranks;
    if (c->config && is_of_all_ranks(comm))
        atomic_store(&all.world_records, true);
}

void
ar_statistics_detach(struct ar_communicator *c)
{
    if (!c->recorder)
        return;
    pthread_mutex_lock(&lock);
    ar_recorder_collect(c->recorder, &all.gone);
    pthread_mutex_unlock(&lock);
    ar_recorder_destroy(c->recorder);
    c->recorder = NULL;
}

/* --- records --- */

void
ar_statistics_label(struct ar_communicator *c, struct ar_decision *d)
{
    char requested[AR_CHOICE_TEXT] = "auto", ran[AR_CHOICE_TEXT] = "native";
    if (d->clause)
        ar_choice_print(d->clause, requested, sizeof requested);
    if (d->runner == AR_RUN_EXACT)
        snprintf(ran, sizeof ran, "exact sum");
    else if (d->runner != AR_RUN_NATIVE)
        ar_choice_print(&d->choice, ran, sizeof ran);
    d->label = ar_recorder_label(c->recorder, AR_ENTRY_ALLREDUCE, requested, ran, d->reason);
    d->record = NULL;
}

struct ar_record *
ar_statistics_record(struct ar_communicator *c, struct ar_decision *d, const struct ar_reduction *r)
{
    const struct ar_record_key key = {
        .label = d->label,
        .type = r->named ? r->type : ar_record_type(r->type),
        .op = r->named ? r->op : ar_record_op(r->op),
        .bin = ar_size_bin(d->key.count * d->key.size),
        .nranks = c->nranks,
    };
    if (!d->record || d->record->key.type != key.type || d->record->key.op != key.op)
        d->record = ar_recorder_find(c->recorder, &key);
    return d->record;
}

static uint64_t
message_bytes(MPI_Datatype type, uint64_t count)
{
    int size = 0;
    PMPI_Type_size(type, &size);
    return count * (uint64_t)size;
}

struct ar_record *
ar_statistics_native_record(struct ar_communicator *c, MPI_Datatype type, MPI_Op op, size_t count,
                            uint64_t *bytes)
{
    *bytes = message_bytes(type, count);
    const struct ar_record_key key = {
        .label = c->native_label,
        .type = ar_record_type(type),
        .op = ar_record_op(op),
        .bin = ar_size_bin(*bytes),
        .nranks = c->nranks,
    };
    return ar_recorder_find(c->recorder, &key);
}

/* key without its label. */
static void
count_stateless(enum ar_entry entry, const char *reason, struct ar_record_key *key, uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    key->label = ar_recorder_label(all.stateless, entry, "", "native", reason);
    struct ar_record *record = ar_recorder_find(all.stateless, key);
    if (record)
        ar_record_pass(record, bytes);
    pthread_mutex_unlock(&lock);
}

void
ar_statistics_count(enum ar_entry entry, const char *reason)
{
    struct ar_record_key key = {.type = MPI_DATATYPE_NULL, .op = MPI_OP_NULL};
    if (all.stateless)
        count_stateless(entry, reason, &key, 0);
}

void
ar_statistics_count_message(enum ar_entry entry, const char *reason, MPI_Comm comm,
                            MPI_Datatype type, MPI_Op op, uint64_t count)
{
    if (!all.stateless)
        return;
    const uint64_t bytes = message_bytes(type, count);
    struct ar_record_key key = {
        .type = ar_record_type(type), .op = ar_record_op(op), .bin = ar_size_bin(bytes)};
    PMPI_Comm_size(comm, &key.nranks);
    count_stateless(entry, reason, &key, bytes);
}

/* --- the end --- */

static void
add_rows(struct ar_table *sum, const struct ar_table *table)
{
    for (size_t i = 0; i < table->nrows; i++)
        ar_table_add(sum, &table->rows[i]);
    sum->lost += table->lost;
}

/* As one rank's table. */
static void
collect(struct ar_table *table)
{
    ar_communicators_collect(table);
    pthread_mutex_lock(&lock);
    add_rows(table, &all.gone);
    if (all.stateless)
        ar_recorder_collect(all.stateless, table);
    pthread_mutex_unlock(&lock);
}

static int
own_rank(void)
{
    return all.world_rank >= 0 ? all.world_rank : ar_rank_in_job();
}

static void
print(const struct ar_table *rest)
{
    const int verbose = all.config ? all.config->verbose : 0, rank = own_rank();
    char title[128];
    struct ar_table *table = &all.passed_on;
    if (verbose < 1 || (verbose < 2 && rank != 0))
        return;
    snprintf(title, sizeof title, "%s for %s, calls of rank %d", PACKAGE_VERSION, AR_MPI_FAMILY,
             rank);
    add_rows(table, rest);
    ar_table_write_brief(stderr, table, title);
}

/* False with errno. */
static bool
write_table(const char *path, const struct ar_table *table, const struct ar_run *run)
{
    FILE *to = fopen(path, "w");
    if (!to)
        return false;
    if (ar_stats_file_is_json(all.path))
        ar_table_write_json(to, table, run);
    else
        ar_table_write_text(to, table, run);
    const bool failed = ferror(to);
    return fclose(to) == 0 && !failed;
}

/* Writes the table of so many ranks to the file, or to one for this rank alone. */
enum name { NAME_OF_ALL, NAME_OF_RANK };

static void
write_file(struct ar_table *table, enum name name, int ranks)
{
    char path[PATH_MAX + 32], when[32] = "";
    struct tm tm;
    const time_t now = time(NULL);
    const struct ar_run run = {
        .version = PACKAGE_VERSION,
        .family = AR_MPI_FAMILY,
        .program = program_invocation_short_name,
        .when = when,
        .elapsed_ns = ar_clock_system_ns() - all.begun_ns,
        .nranks = all.world_size,
        .ranks = ranks,
        .rank = name == NAME_OF_RANK && ranks == 1 ? own_rank() : -1,
    };
    if (localtime_r(&now, &tm))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
    snprintf(path, sizeof path, name == NAME_OF_ALL ? "%s" : "%s.rank%d", all.path, own_rank());
    ar_table_sort(table);
    if (!write_table(path, table, &run))
        ar_say("ALLREDUCE_STATS: cannot write '%s': %s", path, strerror(errno));
}

/* On a thread of its own: no MPI. */
static void
write_snapshot(void)
{
    struct ar_table table = {0};
    collect(&table);
    ar_table_sign(&table, own_rank());
    write_file(&table, NAME_OF_RANK, 1);
    ar_table_fini(&table);
}

static void
write_gathered(struct ar_table *table)
{
    if (ar_table_gather(table, MPI_COMM_WORLD)) {
        if (all.world_rank == 0)
            write_file(table, NAME_OF_ALL, all.world_size);
    } else {
        write_file(table, NAME_OF_RANK, 1);
    }
}

/* Forgets what was gathered. */
static void
reset(void)
{
    ar_communicators_reset();
    pthread_mutex_lock(&lock);
    ar_table_fini(&all.gone);
    if (all.stateless)
        ar_recorder_reset(all.stateless);
    pthread_mutex_unlock(&lock);
}

/* Such a program may gather several times, from the same ranks. */
static void
add_gathered(const struct ar_table *table)
{
    for (size_t i = 0; i < table->nrows; i++) {
        struct ar_row *sum = ar_table_add(&all.gathered, &table->rows[i]);
        if (sum && sum->ranks > table->rows[i].ranks)
            sum->ranks = table->rows[i].ranks;
    }
    all.gathered.lost += table->lost;
}

bool
ar_statistics_are_parted(void)
{
    return all.world_rank < 0 && all.path[0];
}

void
ar_statistics_part(MPI_Comm comm)
{
    struct ar_table table = {0};
    const struct ar_communicator *const c = ar_communicator_find(comm);
    if (!c || !c->config || !c->config->stats_file || !ar_all(comm, c->nranks >= all.most_ranks))
        return;
    collect(&table);
    add_rows(&all.passed_on, &table);
    reset();
    ar_table_sign(&table, own_rank());
    if (ar_table_gather(&table, comm) && c->rank == 0) {
        add_gathered(&table);
        write_file(&all.gathered, own_rank() == 0 ? NAME_OF_ALL : NAME_OF_RANK, c->nranks);
    }
    ar_table_fini(&table);
}

#define ALARMS_SAID 3

static void
say_alarms(const struct ar_table *table)
{
    struct ar_alarm alarms[ALARMS_SAID];
    const size_t n = ar_watchdog_look(table, alarms, ALARMS_SAID);
    for (size_t i = 0; i < n; i++) {
        char text[AR_ALARM_TEXT];
        ar_say("watchdog: %s", ar_alarm_print(&alarms[i], text, sizeof text));
    }
}

void
ar_statistics_end(enum ar_close how)
{
    struct ar_table table = {0};
    if (atomic_exchange(&all.ended, true))
        return;
    collect(&table);
    ar_table_sign(&table, own_rank());
    print(&table);
    if (all.verifies && own_rank() == 0)
        ar_verified_say();
    if (all.path[0] && how == AR_CLOSE_TOGETHER && atomic_load(&all.world_records))
        write_gathered(&table);
    else if (all.path[0] && table.nrows > 0)
        write_file(&table, NAME_OF_RANK, 1);
    if (asks(all.config) && own_rank() == 0)
        say_alarms(&table);
    ar_table_fini(&table);
}

/* --- the beginning, which knows of all of the above --- */

void
ar_statistics_begin(const struct ar_config *config, int world_rank)
{
    all.world_rank = world_rank;
    if (world_rank >= 0)
        PMPI_Comm_size(MPI_COMM_WORLD, &all.world_size);
    all.begun_ns = ar_clock_system_ns();
    all.verifies = config && config->verify.every > 0;
    if (!asks(config))
        return;
    start_clock();
    all.config = config;
    all.stateless = ar_recorder_create();
    if (config->stats_file)
        use_file(config->stats_file);
    if (config->stats_signal && config->stats_file)
        ar_snapshot_at(config->stats_signal, write_snapshot);
}
