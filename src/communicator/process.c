#include <config.h>

#include "communicator/process.h"

#include <dlfcn.h>
#include <fenv.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "communicator/communicator.h"
#include "communicator/tuned_rules.h"
#include "config/files.h"
#include "config/rank.h"
#include "config/variables.h"
#include "execute/group.h"
#include "execute/progress.h"
#include "record/deadline.h"
#include "record/statistics.h"
#include "record/timeline.h"
#include "report/say.h"
#include "select/foreign.h"

static struct ar_config *config; /* from this process's environment; NULL: no memory */
static atomic_int closed;        /* no bool: RISC-V exchanges words, and bytes only by libatomic */
static pid_t pid; /* of the process that was set up: not of its children; 0: none was */
static bool is_fault_tolerant;
static int world_size;
static int world_rank = -1; /* -1: no MPI_COMM_WORLD (sessions), or not yet */

static int
own_rank(void)
{
    return world_rank >= 0 ? world_rank : ar_rank_in_job();
}

/* Whoever comes from another library may mean its algorithm of that name. */
static void
tell_namesakes(const struct ar_rules *rules)
{
    char text[AR_CONFIG_PROBLEM];
    struct ar_text t;
    ar_text_init(&t, text, sizeof text);
    for (size_t i = 0; i < rules->nclauses && t.length == 0; i++)
        if (rules->clauses[i].choice.kind == AR_CHOICE_ALGORITHM)
            ar_text_namesakes(&t, rules->clauses[i].choice.algorithm);
    if (t.length > 0)
        ar_say("ALLREDUCE_ALGO: %s", text);
    if (rules->has_intel_ids)
        ar_say("ALLREDUCE_ALGO: " AR_INTEL_PRESETS);
}

/* Whoever comes from another library may expect its setting to count. */
static void
tell_unused(void)
{
    const char *name, *advice;
    size_t i = 0;
    while ((name = ar_config_next_unused(config, &i, &advice)))
        ar_say("%s is set but not used for MPI_Allreduce; %s", name, advice);
}

/* What of this process's settings has no effect, or not that which one may expect; once. */
static void
tell_settings(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (!config || atomic_flag_test_and_set(&told))
        return;
    if (config->tuned) /* elsewhere, which is not an error */
        ar_provenance_check(config->tuned, world_size);
    tell_unused();
    if (*config->strange)
        ar_say("warning: ignored, because this library has no such variable: %s; see allreduce(7)",
               config->strange);
    if (config->verbose > 0 && config->rules[AR_SOURCE_ALGO])
        tell_namesakes(config->rules[AR_SOURCE_ALGO]);
    if (config->tune_dump && config->tune != AR_TUNE_ONLINE)
        ar_say("warning: ALLREDUCE_TUNE_DUMP writes nothing without ALLREDUCE_TUNE=online");
}

/* Writes the rules to the file if this is rank 0, and else to one of its own. */
static void
dump_rules(void)
{
    char path[PATH_MAX + 32];
    if (own_rank() == 0)
        snprintf(path, sizeof path, "%s", config->tune_dump);
    else
        ar_stats_file_of_rank(path, sizeof path, config->tune_dump, own_rank());
    ar_tuned_rules_write(path, world_size);
}

/* Writes what this process counted and what it tuned, once each. */
static void
finish(bool is_together)
{
    static atomic_flag dumped = ATOMIC_FLAG_INIT;
    fenv_t environment; /* the program may trap what numbers that are printed do */
    feholdexcept(&environment);
    if (ar_statistics_speaks())
        tell_settings();
    ar_statistics_end(is_together);
    ar_timeline_end(is_together);
    if (config && config->tune == AR_TUNE_ONLINE && config->tune_dump && ar_statistics_speaks() &&
        !atomic_flag_test_and_set(&dumped))
        dump_rules();
    fesetenv(&environment);
}

void
ar_process_close(bool is_together)
{
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (finalized || atomic_exchange(&closed, 1))
        return;
    ar_communicators_stop(); /* also where only other ranks were set up: what follows is MPI's */
    if (pid == 0)
        return;
    if (world_rank < 0)
        ar_world_find(&world_rank, &world_size);
    is_together = is_together && !ar_job_is_fault_tolerant(); /* nobody waits for the dead */
    finish(is_together);
    ar_communicators_close(is_together);
}

/* Delete callback of MPI_COMM_SELF, for programs whose MPI_Finalize does not call ours:
 * MPI_Finalize runs such callbacks first of all.  Other libraries have them, too, and ranks may
 * wait for each other there in an order that differs between ranks. */
static int
at_finalize(MPI_Comm self, int keyval, void *value, void *extra)
{
    (void)self;
    (void)keyval;
    (void)value;
    (void)extra;
    ar_process_close(false);
    return MPI_SUCCESS;
}

bool
ar_process_exit(void)
{
    if (pid != 0 && !atomic_load(&closed) && pid == getpid())
        finish(false);
    return pid != 0;
}

/* The threads that start here inherit a floating-point environment without traps. */
static void
set_up(void)
{
    int keyval;
    fenv_t environment;
    feholdexcept(&environment);
    ar_job_check_family();
    const bool *const is_enabled = dlsym(RTLD_DEFAULT, "ompi_ftmpi_enabled"); /* since 5.0 */
    is_fault_tolerant = is_enabled && *is_enabled;
    ar_world_find(&world_rank, &world_size);
    config = ar_config_from_environment(own_rank());
    ar_communicators_open(config);
    if (world_rank >= 0 &&
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &keyval, NULL) == MPI_SUCCESS)
        PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, &config);
    char foreign[512];
    if (world_rank >= 0 && ar_rank_in_job() == 0 &&
        ar_launcher_splits(AR_MPI_FAMILY, world_size, foreign, sizeof foreign))
        ar_say("warning: %s", foreign);
    if (own_rank() == 0) /* others may have to speak, but know it only at the end */
        tell_settings();
    ar_statistics_begin(config);
    ar_deadline_start(config ? &config->timeout : NULL, own_rank());
    pid = getpid();
    fesetenv(&environment);
}

void
ar_process_begin(void)
{
    /* Other threads wait here for calls of MPI.  These are local, and MPI holds no lock of its own
     * in the callbacks from which such a thread may come. */
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!ar_communicators_are_stopped())
        pthread_once(&once, set_up);
}

/* --- the job --- */

/* The larger of all families' MPI_MAX_LIBRARY_VERSION_STRING: ours need not be the one at hand. */
#define VERSION_ROOM 8192

void
ar_job_check_family(void)
{
    static const struct {
        const char *mark;
        const char *family;
    } marks[] = {
        {"Open MPI", "openmpi"},
        {"MPICH", "mpich"},
        {"MVAPICH", "mpich"},
        {"Intel(R) MPI", "mpich"},
    };
    static char version[VERSION_ROOM]; /* one thread is here; its stack may be small */
    int length;
    size_t i = 0;
    if (strcmp(AR_MPI_FAMILY, "abi") == 0) /* any library may have it, and the stub has looked */
        return;
    PMPI_Get_library_version(version, &length);
    while (i < sizeof marks / sizeof marks[0] && !strstr(version, marks[i].mark))
        i++;
    /* Any other library is trusted. */
    if (i == sizeof marks / sizeof marks[0] || strcmp(marks[i].family, AR_MPI_FAMILY) == 0)
        return;
    ar_say("this build is for " AR_MPI_FAMILY
           ", but the program runs with %.*s: preload the build for that MPI",
           (int)strcspn(version, ",\n"), version);
    _exit(2);
}

bool
ar_job_is_fault_tolerant(void)
{
    return is_fault_tolerant;
}

void
ar_job_end(MPI_Comm comm, bool is_speaker)
{
    if (is_speaker) {
        /* The launcher may end the job before it has passed on what is still in its pipes. */
        nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
        PMPI_Abort(ar_world_is_there() ? MPI_COMM_WORLD : comm, 2);
    }
    /* MPICH ends the ranks of another communicator than the world by messages, which they must look
     * for. */
    for (;;) {
        ar_progress(comm);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

void
ar_job_end_without_memory(MPI_Comm comm, const char *something)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    ar_say("rank %d has no memory for %s, and the other ranks already wait for it: the job ends",
           rank, something);
    ar_job_end(comm, true);
}
