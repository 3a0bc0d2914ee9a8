#include <config.h> /* _GNU_SOURCE */

#include "config/rank.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Slurm's come late: a batch script has them, too, and the ranks of any launcher that it calls
 * inherit them.  Hydra is told from others that speak PMI by what it says of the node. */
static const struct {
    const char *in_job;
    const char *on_node;
    const char *size;   /* NULL: none */
    const char *family; /* NULL: it starts several */
    const char *title;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "openmpi",
     "mpirun of Open MPI"},
    {"PALS_RANKID", "PALS_LOCAL_RANKID", NULL, NULL, "mpiexec of HPE"},
    {"FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID", "FLUX_JOB_SIZE", NULL, "flux"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_SIZE", "mpich",
     "mpiexec of MVAPICH"},
    {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE", "mpich", "mpiexec of MPICH (Hydra)"},
    {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS", NULL, "srun"},
    {"PMIX_RANK", "PMIX_LOCAL_RANK", NULL, NULL, "a launcher that speaks PMIx"},
};

enum { NLAUNCHERS = sizeof launchers / sizeof launchers[0] };

/* The whole number that a variable holds, -1 if none. */
static int
number_in(const char *variable)
{
    const char *const value = getenv(variable);
    char *end;
    const long number = value ? strtol(value, &end, 10) : -1;
    return value && *value && *end == '\0' && number >= 0 ? (int)number : -1;
}

int
ar_rank_in_job(void)
{
    int rank = -1;
    for (size_t i = 0; i < NLAUNCHERS && rank < 0; i++)
        rank = number_in(launchers[i].in_job);
    return rank < 0 ? 0 : rank;
}

int
ar_rank_on_node(void)
{
    for (size_t i = 0; i < NLAUNCHERS; i++)
        if (number_in(launchers[i].in_job) >= 0 && number_in(launchers[i].on_node) >= 0)
            return number_in(launchers[i].on_node);
    return ar_rank_in_job();
}

/* --- the first on a node --- */

/* Opens a file in a process's folder of /proc.  NULL if that cannot be read. */
static FILE *
open_about(long pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
    return fopen(path, "re");
}

/* Does the process have this variable with the value that it has here? */
static bool
has_our_value(long pid, const char *variable)
{
    const size_t length = strlen(variable);
    char *entry = NULL;
    size_t room = 0;
    bool has = false;
    FILE *const entries = open_about(pid, "environ");
    while (entries && !has && getdelim(&entry, &room, '\0', entries) > 0)
        has = strncmp(entry, variable, length) == 0 && entry[length] == '=' &&
              strcmp(entry + length + 1, getenv(variable)) == 0;
    free(entry);
    if (entries)
        fclose(entries);
    return has;
}

/* 0 if that cannot be read. */
static long
parent_of(long pid)
{
    char line[128];
    long parent = 0;
    FILE *const lines = open_about(pid, "status");
    while (lines && fgets(line, sizeof line, lines))
        if (strncmp(line, "PPid:", 5) == 0)
            parent = strtol(line + 5, NULL, 10);
    if (lines)
        fclose(lines);
    return parent;
}

/* The process that started the ranks of this node: the nearest ancestor that does not have this
 * rank's number in its environment.  A script that this rank was started by has it, too. */
static long
starter_of(const char *variable)
{
    long pid = getppid();
    while (pid > 0 && has_our_value(pid, variable))
        pid = parent_of(pid);
    return pid;
}

/* Before MPI_Init the ranks of a node have nothing in common but the process that started them.  A
 * lock on that process's folder in /proc belongs to this job and node alone, needs no file of ours,
 * and goes with the process that holds it.  Other users can lock that folder, too, so its folder of
 * descriptors comes first, which they cannot; nor can we, if the starter is another user's, such as
 * root's. */
static int
open_starter(long pid)
{
    static const char *const folders[] = {"/proc/%ld/fd", "/proc/%ld"};
    int folder = -1;
    for (size_t i = 0; i < sizeof folders / sizeof *folders && folder < 0; i++) {
        char path[64];
        snprintf(path, sizeof path, folders[i], pid);
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    return folder;
}

bool
ar_rank_is_first_on_node(void)
{
    size_t i = 0;
    while (i < NLAUNCHERS && number_in(launchers[i].in_job) < 0)
        i++;
    if (i == NLAUNCHERS)
        return true;
    const int folder = open_starter(starter_of(launchers[i].in_job));
    return folder < 0 || flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

/* --- the launcher --- */

/* The socket by which PMI-1 talks to Hydra; -1: there is none. */
static int
pmi_socket(struct stat *about)
{
    const int fd = number_in("PMI_RANK") >= 0 ? number_in("PMI_FD") : -1;
    return fd >= 0 && fstat(fd, about) == 0 && S_ISSOCK(about->st_mode) ? fd : -1;
}

static bool
has_mpi(long pid)
{
    char *line = NULL;
    size_t room = 0;
    bool has = false;
    FILE *const mappings = open_about(pid, "maps");
    while (mappings && !has && getline(&line, &room, mappings) > 0)
        has = strstr(line, "/libmpi") != NULL;
    free(line);
    if (mappings)
        fclose(mappings);
    return has;
}

/* A launcher holds the other end of the socket, and a job started from within a job has another. */
bool
ar_launcher_is_a_rank_s(void)
{
    struct stat ours, its;
    char path[64];
    const int fd = pmi_socket(&ours);
    for (long pid = getppid(); fd >= 0 && pid > 0; pid = parent_of(pid)) {
        snprintf(path, sizeof path, "/proc/%ld/fd/%d", pid, fd);
        if (stat(path, &its) || its.st_dev != ours.st_dev || its.st_ino != ours.st_ino)
            return false;
        if (has_mpi(pid))
            return true;
    }
    return false;
}

void
ar_launcher_end_job(int status)
{
    struct stat about;
    const int to = pmi_socket(&about);
    if (to >= 0)
        dprintf(to, "cmd=abort exitcode=%d\n", status);
}

bool
ar_launcher_find(struct ar_launcher *launcher, const char *mpi_family)
{
    bool is_found = false, was_sure = false;
    for (size_t i = 0; i < NLAUNCHERS; i++) {
        if (number_in(launchers[i].in_job) < 0)
            continue;
        const char *const family = launchers[i].family;
        const int ranks = launchers[i].size ? number_in(launchers[i].size) : 0;
        const bool is_sure = !family || number_in(launchers[i].on_node) >= 0;
        const bool is_wanted = is_sure && mpi_family && family && strcmp(family, mpi_family) == 0;
        if (was_sure && !is_wanted)
            continue;
        *launcher =
            (struct ar_launcher){is_sure ? launchers[i].title : "a launcher that speaks PMI",
                                 is_sure ? family : NULL, launchers[i].size, ranks > 0 ? ranks : 0};
        is_found = true;
        was_sure = is_sure;
        if (is_wanted)
            break;
    }
    return is_found;
}

bool
ar_launcher_splits(const char *mpi_family, int world, char *text, size_t room)
{
    struct ar_launcher launcher;
    const bool is_openmpi = strcmp(mpi_family, "openmpi") == 0;
    const bool is_any = !is_openmpi && strcmp(mpi_family, "mpich") != 0;
    const char *const right = is_openmpi ? "mpirun of Open MPI (Debian: mpiexec.openmpi)"
                                         : "mpiexec of MPICH (Debian: mpiexec.mpich)";
    if (!ar_launcher_find(&launcher, mpi_family) || launcher.ranks < 2 || world > 1)
        return false;
    const bool is_own = is_any || (launcher.family && strcmp(launcher.family, mpi_family) == 0);
    if (world == 0 && (is_own || !launcher.family))
        return false;
    if (is_own)
        snprintf(text, room,
                 "started by %s (%s=%d), but each rank has an MPI_COMM_WORLD of its own: use the "
                 "launcher of the same installation as the MPI library",
                 launcher.title, launcher.variable, launcher.ranks);
    else
        snprintf(text, room,
                 "started by %s (%s=%d), but the MPI library is %s, so each rank has an "
                 "MPI_COMM_WORLD of its own; start it with %s%s",
                 launcher.title, launcher.variable, launcher.ranks,
                 is_openmpi ? "Open MPI" : "MPICH", right,
                 launcher.family ? "" : ", or with srun --mpi=pmix, pmi2, ... (srun --mpi=list)");
    return true;
}
