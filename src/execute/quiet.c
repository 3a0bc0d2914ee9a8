#include <config.h>

#include "execute/quiet.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "execute/group.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Of MPI_COMM_WORLD, which several threads may have quiet at once; under the lock. */
static int sections;
static MPI_Errhandler worlds;

/* Another thread may have set a handler meanwhile, which stays. */
static void
restore(MPI_Comm comm, MPI_Errhandler *users)
{
    MPI_Errhandler now;
    PMPI_Comm_get_errhandler(comm, &now);
    if (now == MPI_ERRORS_RETURN)
        PMPI_Comm_set_errhandler(comm, *users);
    PMPI_Errhandler_free(&now);
    PMPI_Errhandler_free(users);
}

/* In MPICH a communicator that was given no handler has that of MPI_COMM_WORLD at the time of an
 * error, but says MPI_ERRORS_ARE_FATAL.  That cannot be restored, so the world is silenced instead.
 * What the program has itself made fatal stays so then. */
static bool
follows_world(MPI_Errhandler users)
{
    return users == MPI_ERRORS_ARE_FATAL && strcmp(AR_MPI_FAMILY, "mpich") == 0 &&
           ar_world_is_there();
}

/* Several threads may be in such a section. */
static void
silence_world(void)
{
    pthread_mutex_lock(&lock);
    if (sections++ == 0) {
        PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &worlds);
        PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    }
    pthread_mutex_unlock(&lock);
}

void
ar_quiet_begin(struct ar_quiet *quiet, MPI_Comm comm)
{
    quiet->comm = comm;
    if (comm != MPI_COMM_WORLD) {
        PMPI_Comm_get_errhandler(comm, &quiet->users);
        if (!follows_world(quiet->users)) {
            PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
            return;
        }
        PMPI_Errhandler_free(&quiet->users);
        quiet->comm = MPI_COMM_WORLD;
    }
    silence_world();
}

void
ar_quiet_end(struct ar_quiet *quiet)
{
    if (quiet->comm != MPI_COMM_WORLD) {
        restore(quiet->comm, &quiet->users);
        return;
    }
    pthread_mutex_lock(&lock);
    if (--sections == 0)
        restore(MPI_COMM_WORLD, &worlds);
    pthread_mutex_unlock(&lock);
}
