#include "config/rank.h"

#include <stddef.h>
#include <stdlib.h>

/* Slurm's come late: a batch script has them, too, and the ranks of any launcher that it calls
 * inherit them. */
static const struct {
    const char *in_job;
    const char *on_node;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK"}, /* Open MPI */
    {"PALS_RANKID", "PALS_LOCAL_RANKID"},                   /* HPE */
    {"FLUX_TASK_RANK", "FLUX_TASK_LOCAL_ID"},               /* Flux */
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_LOCAL_RANK"},   /* MVAPICH */
    {"PMI_RANK", "MPI_LOCALRANKID"},                        /* Hydra: MPICH, Intel MPI */
    {"SLURM_PROCID", "SLURM_LOCALID"},                      /* Slurm */
    {"PMIX_RANK", "PMIX_LOCAL_RANK"},                       /* any that speaks PMIx */
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
