/* A rank enters a round when the one before has ended; a message begins when
 * both its ranks have entered the rounds that post it.  As in the checker, a
 * round only waits, so the order in which ranks are looked at does not matter. */
#include "schedule/unit_times.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/walk.h"

struct runner {
    size_t round;
    size_t posted;  /* steps of the rounds entered so far */
    size_t waiting; /* messages of the round that have not begun */
    size_t start;   /* of the round */
};

struct replay {
    struct ar_unit_times *t;
    const struct ar_schedule *schedules;
    struct runner *runners;
    int *ready; /* ranks whose round's messages have all begun */
    int nready;
};

/* Each message's two steps learn of each other. */
static int
pair_messages(struct ar_unit_times *t, const struct ar_schedule *schedules, int nranks)
{
    struct ar_half *sends = malloc((t->first_step[nranks] + 1) * sizeof *sends);
    struct ar_half *receives = malloc((t->first_step[nranks] + 1) * sizeof *receives);
    size_t nsends = 0, nreceives = 0;
    int error = sends && receives ? AR_OK : AR_ERR_MEMORY;
    for (int r = 0; r < nranks && !error; r++)
        for (size_t i = 0; i < schedules[r].nsteps; i++) {
            const struct ar_step *step = &schedules[r].steps[i];
            if (step->kind == AR_SEND)
                sends[nsends++] = (struct ar_half){r, step->peer, i};
            else if (ar_step_receives(step))
                receives[nreceives++] = (struct ar_half){step->peer, r, i};
        }
    if (!error)
        error = ar_halves_pair(sends, nsends, receives, nreceives);
    for (size_t i = 0; i < nsends && !error; i++) {
        t->partner[t->first_step[sends[i].from] + sends[i].at] = receives[i].at;
        t->partner[t->first_step[sends[i].to] + receives[i].at] = sends[i].at;
    }
    free(sends);
    free(receives);
    return error;
}

static size_t
larger(size_t x, size_t y)
{
    return x > y ? x : y;
}

static void
enter_round(struct replay *p, int rank)
{
    const struct ar_schedule *s = &p->schedules[rank];
    struct runner *r = &p->runners[rank];
    if (r->round == s->nrounds)
        return;
    const size_t begin = r->posted;
    r->posted = s->round_end[r->round];
    r->waiting = 0;
    for (size_t i = begin; i < r->posted; i++)
        r->waiting += ar_step_is_message(&s->steps[i]);
    for (size_t i = begin; i < r->posted; i++) {
        const int peer = s->steps[i].peer;
        const size_t mine = p->t->first_step[rank] + i, partner = p->t->partner[mine];
        if (!ar_step_is_message(&s->steps[i]) || partner >= p->runners[peer].posted)
            continue;
        p->t->arrival[mine] = larger(r->start, p->runners[peer].start) + 1;
        p->t->arrival[p->t->first_step[peer] + partner] = p->t->arrival[mine];
        r->waiting--;
        if (--p->runners[peer].waiting == 0)
            p->ready[p->nready++] = peer;
    }
    if (r->waiting == 0)
        p->ready[p->nready++] = rank;
}

static void
end_round(struct replay *p, int rank)
{
    const struct ar_schedule *s = &p->schedules[rank];
    struct runner *r = &p->runners[rank];
    size_t end = r->start;
    for (size_t i = ar_round_begin(s, r->round); i < r->posted; i++)
        if (ar_step_is_message(&s->steps[i]))
            end = larger(end, p->t->arrival[p->t->first_step[rank] + i]);
    p->t->round_end[p->t->first_round[rank] + r->round] = end;
    p->t->end = larger(p->t->end, end);
    r->start = end;
    r->round++;
}

static int
replay(struct ar_unit_times *t, const struct ar_schedule *schedules, int nranks)
{
    struct replay p = {.t = t, .schedules = schedules};
    p.runners = calloc((size_t)nranks, sizeof *p.runners);
    p.ready = malloc((size_t)nranks * sizeof *p.ready);
    int error = p.runners && p.ready ? AR_OK : AR_ERR_MEMORY;
    for (int rank = 0; rank < nranks && !error; rank++)
        enter_round(&p, rank);
    while (p.nready > 0) {
        const int rank = p.ready[--p.nready];
        end_round(&p, rank);
        enter_round(&p, rank);
    }
    for (int rank = 0; rank < nranks && !error; rank++)
        error = p.runners[rank].round < schedules[rank].nrounds ? AR_ERR_PROOF : AR_OK;
    free(p.runners);
    free(p.ready);
    return error;
}

static int
allocate(struct ar_unit_times *t, const struct ar_schedule *schedules, int nranks)
{
    t->first_step = calloc((size_t)nranks + 1, sizeof *t->first_step);
    t->first_round = calloc((size_t)nranks + 1, sizeof *t->first_round);
    if (!t->first_step || !t->first_round)
        return AR_ERR_MEMORY;
    for (int r = 0; r < nranks; r++) {
        t->first_step[r + 1] = t->first_step[r] + schedules[r].nsteps;
        t->first_round[r + 1] = t->first_round[r] + schedules[r].nrounds;
    }
    t->partner = calloc(t->first_step[nranks] + 1, sizeof *t->partner);
    t->arrival = calloc(t->first_step[nranks] + 1, sizeof *t->arrival);
    t->round_end = calloc(t->first_round[nranks] + 1, sizeof *t->round_end);
    return t->partner && t->arrival && t->round_end ? AR_OK : AR_ERR_MEMORY;
}

int
ar_unit_times_init(struct ar_unit_times *t, const struct ar_schedule *schedules, int nranks)
{
    memset(t, 0, sizeof *t);
    int error = allocate(t, schedules, nranks);
    if (!error)
        error = pair_messages(t, schedules, nranks);
    if (!error)
        error = replay(t, schedules, nranks);
    if (error)
        ar_unit_times_fini(t);
    return error;
}

void
ar_unit_times_fini(struct ar_unit_times *t)
{
    free(t->first_step);
    free(t->first_round);
    free(t->partner);
    free(t->arrival);
    free(t->round_end);
    memset(t, 0, sizeof *t);
}
