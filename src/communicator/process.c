#include <config.h>

#include "communicator/process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "communicator/communicator.h"
#include "communicator/provenance.h"
#include "communicator/state.h"
#include "communicator/statistics.h"
#include "communicator/tuned_rules.h"
#include "report/report.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct ar_process process;
static atomic_bool closed;
static pid_t pid; /* of the process that was set up: not of its children; 0: none was */
static int world_size;
static int world_rank = -1; /* -1: there is no MPI_COMM_WORLD (sessions) */

bool
ar_process_is_closed(void)
{
    return atomic_load_explicit(&closed, memory_order_relaxed);
}

/* By rank 0 alone, once. */
static void
dump_tuned(void)
{
    static atomic_flag dumped = ATOMIC_FLAG_INIT;
    const struct ar_config *const config = process.config;
    if (config && config->tune == AR_TUNE_ONLINE && config->tune_dump && world_rank == 0 &&
        !atomic_flag_test_and_set(&dumped))
        ar_tuned_rules_write(config->tune_dump, world_size);
}

void
ar_process_close(enum ar_close how)
{
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (pid == 0 || finalized || atomic_exchange(&closed, true))
        return;
    ar_statistics_end(how);
    dump_tuned();
    ar_communicators_close(how);
}

/* Of MPI_COMM_SELF, for programs whose MPI_Finalize passes us by.  Other libraries have such
 * callbacks, too, in which ranks may wait for each other, and their order is not the same on all.
 */
static int
at_finalize(MPI_Comm self, int keyval, void *value, void *extra)
{
    (void)self;
    (void)keyval;
    (void)value;
    (void)extra;
    ar_process_close(AR_CLOSE_ALONE);
    return MPI_SUCCESS;
}

/* For programs that leave without MPI_Finalize, and for sessions, which have no end
 * that we could see.  After all that the program itself does at its exit, maybe
 * MPI_Finalize; so not by atexit. */
__attribute__((destructor)) static void
at_exit(void)
{
    if (pid != 0 && !ar_process_is_closed() && pid == getpid()) {
        ar_statistics_end(AR_CLOSE_ALONE);
        dump_tuned();
    }
}

/* MPI_Finalize runs the delete callbacks of MPI_COMM_SELF first of all. */
static void
watch_finalize(void)
{
    int initialized = 0, keyval;
    PMPI_Initialized(&initialized);
    if (!initialized)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &keyval, NULL) == MPI_SUCCESS)
        PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, &process);
}

/* The larger of all families' MPI_MAX_LIBRARY_VERSION_STRING: ours need not be the
 * one at hand. */
#define VERSION_ROOM 8192

/* By what the version says; a library that is none of these is taken on trust. */
static const char *
family_of(const char *version)
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
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (strstr(version, marks[i].mark))
            return marks[i].family;
    return AR_MPI_FAMILY;
}

void
ar_process_check_family(void)
{
    char version[VERSION_ROOM] = "";
    int length;
    PMPI_Get_library_version(version, &length);
    if (strcmp(family_of(version), AR_MPI_FAMILY) == 0)
        return;
    ar_say("this build is for " AR_MPI_FAMILY ", but the program runs with %.*s: "
           "preload the build for that MPI",
           (int)strcspn(version, ",\n"), version);
    _exit(2);
}

void
ar_process_end_job(MPI_Comm comm, bool is_speaker)
{
    int initialized = 0, found;
    PMPI_Initialized(&initialized);
    if (is_speaker) {
        /* A launcher that is told to end the job may do so before it has passed on what stands in
         * its pipes. */
        nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
        PMPI_Abort(initialized ? MPI_COMM_WORLD : comm, 2);
    }
    /* MPICH ends the ranks of another communicator than the world by messages, which they must look
     * for. */
    for (;;) {
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &found, MPI_STATUS_IGNORE);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* Rules that were tuned elsewhere are no error; told once a job. */
static void
check_rules(void)
{
    if (world_rank != 0 || !process.config || !process.config->tuned)
        return;
    ar_provenance_check(process.config->tuned, world_size);
}

static void
set_up(void)
{
    ar_process_check_family();
    process.config = ar_config_from_environment();
    process.error = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ar_communicator_delete_callback,
                                            &process.keyval, NULL);
    watch_finalize();
    check_rules();
    ar_statistics_begin(process.config, world_rank);
    pid = getpid();
}

const struct ar_process *
ar_process_get(void)
{
    pthread_once(&once, set_up);
    return &process;
}
