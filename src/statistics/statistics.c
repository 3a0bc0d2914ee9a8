#include <config.h>

#include "statistics/statistics.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "config/files.h"
#include "config/rank.h"
#include "execute/group.h"
#include "execute/quiet.h"
#include "execute/shared.h"
#include "report/report.h"
#include "report/watchdog.h"
#include "select/words.h"
#include "statistics/thread.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const struct ar_config *config; /* this process's own; NULL: nothing was asked for */
    int world_rank;                 /* -1: there is no world */
    int world_size;                 /* 0: the same */
    uint64_t begun_ns;
    int most_ranks;                /* of any communicator that recorded for the file */
    struct ar_table passed_on;     /* of this rank's own, gathered elsewhere */
    struct ar_table gathered;      /* by this rank, in a program without a world */
    struct ar_recorder *recorders; /* of all communicators.  Under the lock */
    struct ar_table gone;          /* of recorders that are no more.  Under the lock */
    struct ar_recorder *stateless; /* calls without a state.  Under the lock */
    char path[PATH_MAX];           /* of ALLREDUCE_STATS; "": no file.  Written under the lock */
    atomic_bool world_records;     /* all ranks of the world are known to record for the file */
    bool verifies;                 /* ALLREDUCE_VERIFY asks for it */
    atomic_int ended;              /* exchanged, so a word: see process.c */
} all = {.world_rank = -1};

static bool
wants_records(const struct ar_config *config)
{
    return config && (config->verbose > 0 || config->stats_file);
}

/* Several communicators may have agreed on different files; the first one counts. */
static void
use_file(const char *file)
{
    pthread_mutex_lock(&lock);
    if (!all.path[0])
        ar_stats_file_path(all.path, sizeof all.path, file);
    pthread_mutex_unlock(&lock);
}

/* Called again where the settings of rank 0 count for all. */
static void
start_clock(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ar_clock_start);
}

/* --- the names of communicators --- */

/* A program may name thousands of communicators, each in its own way: so many names are told apart
 * in this process, and all further ones are one.  Ranks may see them in different orders, so where
 * tables are put together a name is told apart by all ranks, or by none: a rank tells by a bit for
 * the hash of each name which ones it has not kept.  By chance others have the same bit: where 1000
 * names are not kept, one in 65. */
#define NAMES        64
#define UNKEPT_BYTES 8192
static const char other_names[] = "(others)";
static char names[NAMES][AR_COMM_TEXT];    /* "": none yet.  Under the lock */
static unsigned char unkept[UNKEPT_BYTES]; /* under the lock */
static bool has_unkept;                    /* the same */

/* Cut to room, between characters. */
static void
get_name(char name[AR_COMM_TEXT], MPI_Comm comm)
{
    static const char made_up[] = "MPI COMMUNICATOR "; /* by Open MPI, with a number behind it */
    char whole[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;
    if (PMPI_Comm_get_name(comm, whole, &length) != MPI_SUCCESS ||
        (strncmp(whole, made_up, strlen(made_up)) == 0 && ar_is_digit(whole[strlen(made_up)])))
        *whole = '\0';
    const size_t bytes = strlen(whole);
    size_t end = bytes < AR_COMM_TEXT ? bytes : AR_COMM_TEXT - 1;
    while (end > 0 && ((unsigned char)whole[end] & 0xc0) == 0x80)
        end--;
    snprintf(name, AR_COMM_TEXT, "%.*s", (int)end, whole);
}

/* The bit of a name in a map like unkept. */
static unsigned char *
unkept_byte(unsigned char *map, const char *name, unsigned char *mask)
{
    const uint64_t bit = ar_hash(name) % (8 * UNKEPT_BYTES);
    *mask = (unsigned char)(1U << bit % 8);
    return &map[bit / 8];
}

/* The text that stands for the name from now on.  Under the lock. */
static const char *
keep_name(const char *name)
{
    if (*name == '\0')
        return "";
    for (int i = 0; i < NAMES; i++) {
        if (names[i][0] == '\0')
            snprintf(names[i], sizeof names[i], "%s", name);
        if (strcmp(names[i], name) == 0)
            return names[i];
    }
    unsigned char mask, *const byte = unkept_byte(unkept, name, &mask);
    *byte |= mask;
    has_unkept = true;
    return other_names;
}

static bool
kept_all_names(void)
{
    pthread_mutex_lock(&lock);
    const bool kept_all = !has_unkept;
    pthread_mutex_unlock(&lock);
    return kept_all;
}

/* The program may have named it since. */
static void
rename_recorder(struct ar_recorder *recorder)
{
    char name[AR_COMM_TEXT];
    if (recorder->comm == MPI_COMM_NULL)
        return;
    get_name(name, recorder->comm);
    pthread_mutex_lock(&lock);
    memcpy(recorder->name, name, sizeof name);
    pthread_mutex_unlock(&lock);
}

/* Those of one or of all.  No MPI is called under the lock, which a callback of MPI's takes. */
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

/* --- recorders and what has none --- */

/* Only here is a name kept: of a program that renames a communicator again and again, the last
 * one.  Under the lock. */
static void
collect_recorder(const struct ar_recorder *recorder, struct ar_table *table)
{
    ar_recorder_collect(recorder, keep_name(recorder->name), table);
}

struct ar_recorder *
ar_statistics_attach(const struct ar_config *config, MPI_Comm comm, uint64_t setup_ns)
{
    const struct ar_config *const settings = config ? config : all.config;
    if (!wants_records(settings))
        return NULL;
    start_clock();
    struct ar_recorder *const recorder = ar_recorder_create();
    if (recorder) {
        recorder->setup_ns = setup_ns;
        recorder->comm = comm;
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
    use_file(settings->stats_file);
    PMPI_Comm_size(comm, &nranks);
    if (nranks > all.most_ranks)
        all.most_ranks = nranks;
    if (config && all.world_rank >= 0 &&
        PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result) == MPI_SUCCESS && result != MPI_UNEQUAL)
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
    pthread_mutex_unlock(&lock);
    ar_recorder_destroy(recorder);
}

void
ar_statistics_count(enum ar_entry entry, const char *reason, MPI_Comm comm, MPI_Datatype type,
                    MPI_Op op, uint64_t count)
{
    int nranks = 0;
    uint64_t bytes;
    char name[AR_COMM_TEXT] = "";
    if (!all.stateless)
        return;
    if (comm != MPI_COMM_NULL) {
        PMPI_Comm_size(comm, &nranks);
        get_name(name, comm);
    }
    pthread_mutex_lock(&lock);
    const struct ar_call_label *const label =
        ar_recorder_label(all.stateless, entry, keep_name(name), "", "native", reason);
    struct ar_record *const record =
        ar_recorder_find_native(all.stateless, label, nranks, type, op, count, &bytes);
    if (record)
        ar_record_pass(record, bytes);
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
        ar_text_add(&text,
                    ", %lu of the program's own ops differ from the native allreduce (rounding may "
                    "be why)",
                    users);
    if (unlike > 0)
        ar_text_add(&text, ", %lu were not alike on all ranks", unlike);
    ar_say("ALLREDUCE_VERIFY: %lu calls agree with the native allreduce, %lu between the ranks "
           "alone, %lu are wrong, %lu could not be compared%s",
           atomic_load(&verified[AR_VERIFIED_RIGHT]), atomic_load(&verified[AR_VERIFIED_BY_RANKS]),
           atomic_load(&verified[AR_VERIFIED_WRONG]), atomic_load(&verified[AR_VERIFIED_NOT]),
           doubts);
}

/* --- the tables of all ranks, brought together --- */

static int
own_rank(void)
{
    return all.world_rank >= 0 ? all.world_rank : ar_rank_in_job();
}

#define TAG 0

/* Sends row by row, so that the receiver needs memory only for rows that are new to it. */
static int
send(const struct ar_table *table, int to, MPI_Comm comm)
{
    const uint64_t head[2] = {table->nrows, table->lost};
    int error = PMPI_Send(head, (int)sizeof head, MPI_BYTE, to, TAG, comm);
    for (size_t i = 0; i < table->nrows && !error; i++)
        error = PMPI_Send(&table->rows[i], (int)sizeof table->rows[i], MPI_BYTE, to, TAG, comm);
    return error;
}

static int
receive(struct ar_table *table, int from, MPI_Comm comm)
{
    struct ar_row row;
    uint64_t head[2] = {0, 0};
    int error = PMPI_Recv(head, (int)sizeof head, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE);
    for (uint64_t i = 0; i < head[0] && !error; i++) {
        error = PMPI_Recv(&row, (int)sizeof row, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE);
        if (!error)
            ar_table_add(table, &row);
    }
    table->lost += head[1];
    return error;
}

/* Merges along a binomial tree.  Collective over comm. */
static int
merge(struct ar_table *table, MPI_Comm comm)
{
    int rank, nranks, error = MPI_SUCCESS;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &nranks);
    for (int bit = 1; bit < nranks && !error; bit *= 2) {
        if (rank & bit)
            return send(table, rank - bit, comm);
        if (rank + bit < nranks)
            error = receive(table, rank + bit, comm);
    }
    return error;
}

/* Puts the rows of names that any rank of comm has not kept among the others'; there is such a
 * rank. The table is this rank's.  Collective over comm; without memory calls count as lost. */
static int
agree_on_names(struct ar_table *table, MPI_Comm comm)
{
    unsigned char map[UNKEPT_BYTES], mask;
    struct ar_table agreed = {.lost = table->lost};
    pthread_mutex_lock(&lock);
    memcpy(map, unkept, sizeof map);
    pthread_mutex_unlock(&lock);
    const int error = ar_reduce_all(map, UNKEPT_BYTES, MPI_BYTE, MPI_BOR, comm);
    if (error)
        return error;
    for (size_t i = 0; i < table->nrows; i++) {
        struct ar_row row = table->rows[i];
        if (*row.key.comm && *unkept_byte(map, row.key.comm, &mask) & mask)
            strncpy(row.key.comm, other_names, sizeof row.key.comm); /* zeros behind it */
        ar_table_add(&agreed, &row);
    }
    ar_table_fini(table);
    *table = agreed;
    ar_table_sign(table, own_rank());
    return MPI_SUCCESS;
}

/* Merges the tables of all ranks into that of rank 0, along a tree.  Collective over comm; on the
 * other ranks the table is then that of a part of the ranks.  False, alike on all ranks and with
 * the tables as they were, where MPI has no communicator for it; an error on the way ends in false
 * on the ranks that see it. */
static bool
gather(struct ar_table *table, MPI_Comm comm)
{
    MPI_Comm own; /* since the program may have receives pending on comm */
    struct ar_quiet quiet;
    ar_quiet_begin(&quiet, comm);
    const bool is_made = PMPI_Comm_split(comm, 0, 0, &own) == MPI_SUCCESS;
    int of_all[] = {is_made, kept_all_names()};
    const bool have_all =
        ar_reduce_all(of_all, 2, MPI_INT, MPI_LAND, comm) == MPI_SUCCESS && of_all[0];
    ar_quiet_end(&quiet);
    if (is_made && !have_all)
        PMPI_Comm_free(&own);
    if (!have_all)
        return false;
    int error = of_all[1] ? MPI_SUCCESS : agree_on_names(table, own);
    if (!error)
        error = merge(table, own);
    PMPI_Comm_free(&own);
    return !error;
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
    pthread_mutex_lock(&lock);
    for (const struct ar_recorder *r = all.recorders; r; r = r->next)
        collect_recorder(r, table);
    add_rows(table, &all.gone);
    if (all.stateless)
        collect_recorder(all.stateless, table);
    pthread_mutex_unlock(&lock);
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
    FILE *const to = fopen(path, "w");
    bool failed = !to;
    if (to) {
        if (ar_stats_file_is_json(all.path))
            ar_table_write_json(to, table, &run);
        else
            ar_table_write_text(to, table, &run);
        failed = ferror(to);
        failed |= fclose(to) != 0;
    }
    if (failed)
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

bool
ar_statistics_are_parted(void)
{
    return all.world_rank < 0 && all.path[0];
}

void
ar_statistics_part(MPI_Comm comm)
{
    struct ar_table table = {0};
    int rank, nranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &nranks);
    if (!ar_all(comm, nranks >= all.most_ranks))
        return;
    ar_statistics_rename(comm);
    collect(&table);
    add_rows(&all.passed_on, &table);
    pthread_mutex_lock(&lock); /* what was gathered is forgotten */
    for (struct ar_recorder *r = all.recorders; r; r = r->next)
        ar_recorder_reset(r);
    ar_table_fini(&all.gone);
    if (all.stateless)
        ar_recorder_reset(all.stateless);
    pthread_mutex_unlock(&lock);
    ar_table_sign(&table, own_rank());
    if (gather(&table, comm) && rank == 0) {
        /* Such a program may gather several times, from the same ranks. */
        for (size_t i = 0; i < table.nrows; i++) {
            struct ar_row *const sum = ar_table_add(&all.gathered, &table.rows[i]);
            if (sum && sum->ranks > table.rows[i].ranks)
                sum->ranks = table.rows[i].ranks;
        }
        all.gathered.lost += table.lost;
        write_file(&all.gathered, own_rank() == 0 ? NAME_OF_ALL : NAME_OF_RANK, nranks);
    }
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
    ar_table_sign(&table, own_rank());
    print(&table);
    if (all.verifies && own_rank() == 0)
        say_verified();
    const bool gathers = all.path[0] && is_together && atomic_load(&all.world_records);
    if (gathers && gather(&table, MPI_COMM_WORLD)) {
        if (all.world_rank == 0)
            write_file(&table, NAME_OF_ALL, all.world_size);
    } else if (gathers || (all.path[0] && table.nrows > 0)) {
        write_file(&table, NAME_OF_RANK, 1);
    }
    const size_t n = wants_records(all.config) && own_rank() == 0
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
ar_statistics_begin(const struct ar_config *config, int world_rank)
{
    all.world_rank = world_rank;
    if (world_rank >= 0)
        PMPI_Comm_size(MPI_COMM_WORLD, &all.world_size);
    all.begun_ns = ar_clock_system_ns();
    all.verifies = config && config->verify.every > 0;
    if (!wants_records(config))
        return;
    start_clock();
    all.config = config;
    all.stateless = ar_recorder_create();
    if (config->stats_file)
        use_file(config->stats_file);
    if (config->stats_signal && config->stats_file)
        ar_thread_write_at(config->stats_signal, write_snapshot);
}
