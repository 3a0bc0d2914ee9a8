#include "communicator/together.h"

#include <stddef.h>
#include <stdlib.h>

#include "communicator/agree.h"
#include "schedule/error.h"

/* Rank 0 searches.  It sends each helper its part of a wave, does its own, and receives the
 * answers.  An empty part ends the search.  Ranks beyond the helpers do nothing. */

#define HELPERS_MAX 256 /* rank 0 among them: a wave has some hundred tasks */
#define PART_MAX    32  /* tasks of a message; a longer wave goes in several */

struct part {
    int n;
    struct ar_advice_task tasks[PART_MAX];
};

/* On the heap, since stacks are small. */
struct wave {
    struct part part;
    struct ar_advice_answer answers[PART_MAX];
};

struct team {
    const struct ar_communicator *c;
    const struct ar_advice_request *request;
    struct ar_candidate_list list;
    int ranks[HELPERS_MAX]; /* of the helpers, 0 the first */
    int n;
    struct wave *wave; /* NULL: no memory */
    int error;         /* of MPI's */
};

static size_t
bytes_of(const struct part *part)
{
    return offsetof(struct part, tasks) + (size_t)part->n * sizeof part->tasks[0];
}

/* --- messages --- */

static int
send(const struct ar_communicator *c, int to, const void *data, size_t bytes)
{
    const struct ar_wire *const w = &c->carriage.wire;
    MPI_Request request;
    const int error =
        PMPI_Isend(data, (int)bytes, MPI_BYTE, ar_wire_rank(w, to), w->tag, w->comm, &request);
    return error ? error : ar_complete(c->wait, 1, &request);
}

static int
receive(const struct ar_communicator *c, int from, void *data, size_t bytes)
{
    const struct ar_wire *const w = &c->carriage.wire;
    MPI_Request request;
    const int error =
        PMPI_Irecv(data, (int)bytes, MPI_BYTE, ar_wire_rank(w, from), w->tag, w->comm, &request);
    return error ? error : ar_complete(c->wait, 1, &request);
}

/* --- a wave --- */

/* Sends each helper its part of n tasks.  *own holds each part in turn, and at last rank 0's. */
static void
deal(struct team *team, const struct ar_advice_task *tasks, size_t n, struct part *own)
{
    for (int h = team->n - 1; h >= 0 && !team->error; h--) {
        own->n = 0;
        for (size_t k = (size_t)h; k < n; k += (size_t)team->n)
            own->tasks[own->n++] = tasks[k];
        if (h > 0 && own->n > 0)
            team->error = send(team->c, team->ranks[h], own, bytes_of(own));
    }
}

static void
answer(const struct team *team, const struct part *part, struct ar_advice_answer *answers)
{
    for (int i = 0; i < part->n; i++)
        answers[i] = ar_advise_answer(team->request, &team->list, &part->tasks[i]);
}

/* As in struct ar_advice_helpers; AR_ERR_PARAM stands for an error of MPI's. */
static int
ask(void *context, const struct ar_advice_task *tasks, size_t n, struct ar_advice_answer *answers)
{
    struct team *const team = context;
    const size_t most = (size_t)team->n * PART_MAX;
    for (size_t from = 0; from < n && !team->error; from += most) {
        const size_t length = n - from < most ? n - from : most;
        struct ar_advice_answer *const part = team->wave->answers;
        deal(team, tasks + from, length, &team->wave->part);
        answer(team, &team->wave->part, part);
        for (int h = 0; h < team->n && (size_t)h < length && !team->error; h++) {
            const size_t others = (length - (size_t)h + (size_t)team->n - 1) / (size_t)team->n;
            if (h > 0)
                team->error = receive(team->c, team->ranks[h], part, others * sizeof *part);
            for (size_t i = 0; i < others; i++)
                answers[from + (size_t)h + i * (size_t)team->n] = part[i];
        }
    }
    return team->error ? AR_ERR_PARAM : AR_OK;
}

/* --- the ranks --- */

/* Which ranks help: those that have memory. */
static void
lead(struct team *team, int nhelpers, struct ar_advice *advice, int *error)
{
    struct ar_advice_helpers helpers = {ask, team, 1};
    const int end = 0; /* the number of a part's tasks, which stands first */
    team->n = 1;
    for (int rank = 1; rank < nhelpers && !team->error; rank++) {
        int is_ready = 0;
        team->error = receive(team->c, rank, &is_ready, sizeof is_ready);
        if (is_ready)
            team->ranks[team->n++] = rank;
    }
    helpers.at_once = (size_t)team->n;
    if (!team->error && !*error)
        *error = ar_advise(advice, team->request, team->n > 1 ? &helpers : NULL);
    for (int h = 1; h < team->n && !team->error; h++)
        team->error = send(team->c, team->ranks[h], &end, sizeof end);
}

static void
help(struct team *team, int is_ready)
{
    struct wave *const w = team->wave;
    team->error = send(team->c, 0, &is_ready, sizeof is_ready);
    while (is_ready && !team->error) {
        team->error = receive(team->c, 0, &w->part, sizeof w->part);
        if (team->error || w->part.n == 0)
            return;
        answer(team, &w->part, w->answers);
        team->error = send(team->c, 0, w->answers, (size_t)w->part.n * sizeof *w->answers);
    }
}

int
ar_advise_together(const struct ar_communicator *c, const struct ar_advice_request *request,
                   struct ar_advice *advice, int *error)
{
    struct team team = {.c = c, .request = request};
    const int nhelpers = c->nranks < HELPERS_MAX ? c->nranks : HELPERS_MAX;
    if (c->rank >= nhelpers)
        return MPI_SUCCESS;
    *error = ar_advise_candidates(&team.list, request, SIZE_MAX);
    team.wave = malloc(sizeof *team.wave);
    if (!team.wave && !*error)
        *error = AR_ERR_MEMORY;
    if (c->rank == 0)
        lead(&team, nhelpers, advice, error);
    else
        help(&team, !*error);
    ar_candidates_fini(&team.list);
    free(team.wave);
    return team.error;
}
