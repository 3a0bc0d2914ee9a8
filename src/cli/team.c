#include "cli/team.h"

#include <stdlib.h>

void
ar_team_fini(struct ar_team *team)
{
    for (int r = 0; team->schedules && r < team->nranks; r++)
        ar_schedule_fini(&team->schedules[r]);
    free(team->schedules);
    team->schedules = NULL;
}

int
ar_team_init(struct ar_team *team, const struct ar_choice *choice, int nranks, size_t count)
{
    int error = AR_OK;
    team->nranks = nranks;
    team->schedules = calloc((size_t)nranks, sizeof *team->schedules);
    if (!team->schedules)
        return AR_ERR_MEMORY;
    for (int r = 0; r < nranks && !error; r++)
        error = ar_algorithm_emit(choice->algorithm, &team->schedules[r], r, nranks, count,
                                  &choice->params);
    if (error)
        ar_team_fini(team);
    return error;
}

int
ar_team_prove(struct ar_verdict *verdict, const struct ar_team *team)
{
    int error = ar_check(verdict, team->schedules, team->nranks, false);
    return error ? error : ar_check(verdict, team->schedules, team->nranks, true);
}

int
ar_team_is_alike(bool *alike, const struct ar_choice *choice, int nranks)
{
    struct ar_team team;
    struct ar_verdict verdict;
    int error = ar_team_init(&team, choice, nranks, 4 * (size_t)nranks);
    if (error)
        return error;
    error = ar_team_prove(&verdict, &team);
    *alike = verdict.alike;
    ar_team_fini(&team);
    return error;
}
