#include "config/rank.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
