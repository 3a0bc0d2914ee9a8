#include <config.h>

#include "communicator/job.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/report.h"

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
    char version[VERSION_ROOM] = "";
    int length;
    size_t i = 0;
    PMPI_Get_library_version(version, &length);
    while (i < sizeof marks / sizeof marks[0] && !strstr(version, marks[i].mark))
        i++;
    /* Any other library is trusted. */
    if (i == sizeof marks / sizeof marks[0] || strcmp(marks[i].family, AR_MPI_FAMILY) == 0)
        return;
    ar_say("this build is for " AR_MPI_FAMILY ", but the program runs with %.*s: "
           "preload the build for that MPI",
           (int)strcspn(version, ",\n"), version);
    _exit(2);
}

void
ar_job_end(MPI_Comm comm, bool is_speaker)
{
    int initialized = 0, found;
    PMPI_Initialized(&initialized);
    if (is_speaker) {
        /* The launcher may end the job before it has passed on what is still in its pipes. */
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
