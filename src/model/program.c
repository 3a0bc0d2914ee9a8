#include "model/program.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/walk.h"

struct builder {
    struct ar_program *program;
    struct ar_half *receives; /* as the actor sees it; at: in the order in which they are posted */
    size_t nreceives;
    size_t rounds_room, messages_room, receives_room;
    size_t steps;
};

/* --- casts --- */

int
ar_cast_actor(const struct ar_cast *cast, int rank)
{
    return rank % cast->nactors;
}

int
ar_cast_seen(const struct ar_cast *cast, int a, int b, int actor)
{
    switch (cast->symmetry) {
    case AR_SYMMETRY_TURN:
        return (int)(((long)actor + b - a + cast->nranks) % cast->nranks);
    case AR_SYMMETRY_FLIP:
        return actor ^ a ^ b;
    default:
        return b;
    }
}

/* --- building --- */

/* array with room for one more element, doubled when full; NULL without memory. */
static void *
grow(void *array, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return array;
    const size_t more = *room ? 2 * *room : 64;
    void *const bigger = realloc(array, more * size);
    if (bigger)
        *room = more;
    return bigger;
}

static int
add_round(struct builder *b)
{
    struct ar_program *const p = b->program;
    struct ar_program_round *rounds = grow(p->rounds, p->nrounds, &b->rounds_room, sizeof *rounds);
    if (!rounds)
        return AR_ERR_MEMORY;
    p->rounds = rounds;
    p->rounds[p->nrounds++] = (struct ar_program_round){p->nmessages, b->nreceives, 0, 0};
    return AR_OK;
}

static int
add_message(struct builder *b, int actor, const struct ar_step *step)
{
    struct ar_program *const p = b->program;
    struct ar_program_message *messages =
        grow(p->messages, p->nmessages, &b->messages_room, sizeof *messages);
    if (!messages)
        return AR_ERR_MEMORY;
    p->messages = messages;
    p->messages[p->nmessages++] = (struct ar_program_message){
        actor, step->peer, (uint32_t)(p->nrounds - 1), 0, step->a.length};
    return AR_OK;
}

static int
add_receive(struct builder *b, int actor, const struct ar_step *step)
{
    struct ar_half *receives = grow(b->receives, b->nreceives, &b->receives_room, sizeof *receives);
    if (!receives)
        return AR_ERR_MEMORY;
    b->receives = receives;
    b->receives[b->nreceives] = (struct ar_half){step->peer, actor, b->nreceives};
    b->nreceives++;
    return AR_OK;
}

static int
add_step(struct builder *b, int actor, const struct ar_step *step)
{
    struct ar_program_round *const round = &b->program->rounds[b->program->nrounds - 1];
    switch (step->kind) {
    case AR_SEND:
        return add_message(b, actor, step);
    case AR_RECV_REDUCE:
        round->reduced += step->dst.length;
        return add_receive(b, actor, step);
    case AR_RECV:
        return add_receive(b, actor, step);
    case AR_REDUCE:
        round->reduced += step->dst.length;
        return AR_OK;
    case AR_COPY:
        round->copied += step->dst.length;
        return AR_OK;
    }
    return AR_ERR_STEP;
}

static int
add_schedule(struct builder *b, int actor, const struct ar_schedule *s)
{
    int error = AR_OK;
    for (size_t k = 0; k < s->nrounds && !error; k++) {
        error = add_round(b);
        for (size_t i = ar_round_begin(s, k); i < s->round_end[k] && !error; i++)
            error = add_step(b, actor, &s->steps[i]);
    }
    b->steps += s->nsteps;
    return error;
}

static int
add_actors(struct builder *b, const struct ar_algorithm *row, const struct ar_params *params,
           size_t count, size_t most)
{
    const struct ar_cast *const cast = &b->program->cast;
    int error = AR_OK;
    for (int actor = 0; actor < cast->nactors && !error; actor++) {
        struct ar_schedule s;
        b->program->first_round[actor] = b->program->nrounds;
        error = ar_algorithm_emit(row, &s, actor, cast->nranks, count, params);
        if (error)
            return error;
        error = b->steps + s.nsteps > most ? AR_ERR_PARAM : add_schedule(b, actor, &s);
        ar_schedule_fini(&s);
    }
    b->program->first_round[cast->nactors] = b->program->nrounds;
    if (!error)
        error = add_round(b); /* the one past the end */
    b->program->nrounds -= !error;
    return error;
}

/* --- pairing --- */

/* The message's send as its receiver's actor sees it. */
static struct ar_half
send_of(const struct ar_program *p, size_t i)
{
    const struct ar_program_message *const m = &p->messages[i];
    const int actor = ar_cast_actor(&p->cast, m->to);
    return (struct ar_half){ar_cast_seen(&p->cast, m->to, m->from, actor), actor, i};
}

static int
pair(struct builder *b)
{
    struct ar_program *const p = b->program;
    const size_t n = p->nmessages;
    struct ar_half *const sends = malloc((n + 1) * sizeof *sends);
    p->receives = malloc((b->nreceives + 1) * sizeof *p->receives);
    int error = sends && p->receives ? AR_OK : AR_ERR_MEMORY;
    for (size_t i = 0; i < n && !error; i++)
        sends[i] = send_of(p, i);
    if (!error)
        error = ar_halves_pair(sends, n, b->receives, b->nreceives);
    for (size_t i = 0; i < n && !error; i++)
        p->receives[b->receives[i].at] = sends[i].at;
    for (size_t k = 0; k < p->nrounds && !error; k++)
        for (size_t i = p->rounds[k].first_receive; i < p->rounds[k + 1].first_receive; i++)
            p->messages[p->receives[i]].receiver_round = (uint32_t)k;
    free(sends);
    return error;
}

int
ar_program_init(struct ar_program *program, const struct ar_cast *cast,
                const struct ar_algorithm *row, const struct ar_params *params, size_t count,
                size_t most)
{
    struct builder b = {.program = program};
    *program = (struct ar_program){.cast = *cast};
    program->first_round = calloc((size_t)cast->nactors + 1, sizeof *program->first_round);
    int error = program->first_round ? AR_OK : AR_ERR_MEMORY;
    if (!error)
        error = add_actors(&b, row, params, count, most);
    if (!error)
        error = pair(&b);
    free(b.receives);
    if (error)
        ar_program_fini(program);
    return error;
}

void
ar_program_fini(struct ar_program *program)
{
    free(program->first_round);
    free(program->rounds);
    free(program->messages);
    free(program->receives);
    memset(program, 0, sizeof *program);
}

/* --- symmetry --- */

#define SAMPLES 8

/* Blocks differ by one element, here and there. */
static bool
same_length(size_t a, size_t b)
{
    return a <= b + 1 && b <= a + 1;
}

static bool
same_steps(const struct ar_cast *cast, const struct ar_schedule *of_actor,
           const struct ar_schedule *of_rank, int actor, int rank)
{
    if (of_actor->nrounds != of_rank->nrounds || of_actor->nsteps != of_rank->nsteps)
        return false;
    for (size_t k = 0; k < of_actor->nrounds; k++)
        if (of_actor->round_end[k] != of_rank->round_end[k])
            return false;
    for (size_t i = 0; i < of_actor->nsteps; i++) {
        const struct ar_step *const a = &of_actor->steps[i], *const r = &of_rank->steps[i];
        if (a->kind != r->kind || !same_length(a->a.length, r->a.length) ||
            !same_length(a->dst.length, r->dst.length) ||
            (a->peer >= 0 && ar_cast_seen(cast, actor, a->peer, rank) != r->peer))
            return false;
    }
    return true;
}

/* Which rank sample i of those that actor stands for is: the next, the last, and some between. */
static int
sample(const struct ar_cast *cast, int actor, int i)
{
    const long groups = cast->nranks / cast->nactors;
    const long group = i == 0 ? 1 : i == 1 ? groups - 1 : 1 + (i * 40503L) % (groups - 1);
    return actor + (int)group * cast->nactors;
}

/* Is rank's schedule that of its actor? */
static int
compare_ranks(bool *alike, const struct ar_cast *cast, int actor, int rank,
              const struct ar_algorithm *row, const struct ar_params *params, size_t count)
{
    struct ar_schedule a, r;
    int error = ar_algorithm_emit(row, &a, actor, cast->nranks, count, params);
    if (error)
        return error;
    error = ar_algorithm_emit(row, &r, rank, cast->nranks, count, params);
    if (!error) {
        *alike = same_steps(cast, &a, &r, actor, rank);
        ar_schedule_fini(&r);
    }
    ar_schedule_fini(&a);
    return error;
}

static int
is_alike(bool *alike, const struct ar_cast *cast, const struct ar_algorithm *row,
         const struct ar_params *params, size_t count)
{
    int error = AR_OK;
    *alike = true;
    for (int i = 0; i < SAMPLES && *alike && !error; i++) {
        /* Every other sample the first, which may lead a node: leaders differ most. */
        const int actor = i % 2 == 0 ? 0
                          : i == 1   ? cast->nactors - 1
                                     : (int)(i * 30011L % cast->nactors);
        error = compare_ranks(alike, cast, actor, sample(cast, actor, i), row, params, count);
    }
    return error;
}

static bool
is_power_of_two(int n)
{
    return (n & (n - 1)) == 0;
}

#define UNITS_TRIED 9 /* the last is 256 units */

int
ar_cast_find(struct ar_cast *cast, int unit, const struct ar_algorithm *row,
             const struct ar_params *params, size_t count)
{
    for (int symmetry = AR_SYMMETRY_TURN; symmetry <= AR_SYMMETRY_FLIP; symmetry++)
        for (int i = 0; i < UNITS_TRIED; i++) {
            struct ar_cast tried = {(enum ar_symmetry)symmetry, cast->nranks, unit << i};
            bool alike = false;
            int error;
            if (tried.nactors > cast->nranks / 2 || cast->nranks % tried.nactors > 0 ||
                (symmetry == AR_SYMMETRY_FLIP && !is_power_of_two(cast->nranks)))
                break;
            error = is_alike(&alike, &tried, row, params, count);
            if (error)
                return error;
            if (alike) {
                *cast = tried;
                return AR_OK;
            }
        }
    return AR_OK;
}
