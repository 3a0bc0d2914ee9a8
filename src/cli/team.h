/* The schedules of all ranks, for those who prove, draw and count them. */
#ifndef AR_TEAM_H
#define AR_TEAM_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/checker.h"
#include "select/select.h"

struct ar_team {
    struct ar_schedule *schedules;
    int nranks;
};

/* Emits choice's schedules; on success they are the caller's to fini.  Errors as
 * ar_algorithm_emit. */
int ar_team_init(struct ar_team *team, const struct ar_choice *choice, int nranks, size_t count);
void ar_team_fini(struct ar_team *team);

/* As ar_check, for both ways of holding the buffers; the second verdict stands for
 * both. */
int ar_team_prove(struct ar_verdict *verdict, const struct ar_team *team);

/* Are all elements combined alike?  Asked where every block has elements.  Errors of
 * both above. */
int ar_team_is_alike(bool *alike, const struct ar_choice *choice, int nranks);

#endif
