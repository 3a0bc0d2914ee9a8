#include "model/program.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/grow.h"
#include "schedule/walk.h"

/* --- samples --- */

int
ar_sample_rank(const struct ar_sample *sample, int rank)
{
    return rank % sample->size;
}

/* The rank that is to c as rank b is to rank a. */
static int
seen(const struct ar_sample *sample, int a, int b, int c)
{
    switch (sample->symmetry) {
    case AR_SYMMETRY_TURN:
        return (int)(((long)c + b - a + sample->nranks) % sample->nranks);
    case AR_SYMMETRY_FLIP:
        return c ^ a ^ b;
    default:
        return b;
    }
}

/* --- building --- */

struct builder {
    struct ar_program *program;
    struct ar_half *receives; /* as the rank sees it; at: in the order in which they are posted */
    size_t nreceives;
    size_t rounds_room, messages_room, receives_room;
};

/* Room for what a schedule adds. */
static int
make_room(struct builder *b, const struct ar_schedule *s)
{
    struct ar_program *const p = b->program;
    struct ar_program_round *const rounds =
        ar_grow(p->rounds, p->nrounds + s->nrounds + 1, &b->rounds_room, sizeof *rounds);
    p->rounds = rounds ? rounds : p->rounds;
    struct ar_program_message *const messages =
        ar_grow(p->messages, p->nmessages + s->nsteps + 1, &b->messages_room, sizeof *messages);
    p->messages = messages ? messages : p->messages;
    struct ar_half *const receives =
        ar_grow(b->receives, b->nreceives + s->nsteps + 1, &b->receives_room, sizeof *receives);
    b->receives = receives ? receives : b->receives;
    return rounds && messages && receives ? AR_OK : AR_ERR_MEMORY;
}

static int
add_schedule(struct builder *b, int rank, const struct ar_schedule *s)
{
    struct ar_program *const p = b->program;
    if (make_room(b, s))
        return AR_ERR_MEMORY;
    for (size_t k = 0; k < s->nrounds; k++) {
        struct ar_program_round *const round = &p->rounds[p->nrounds++];
        *round = (struct ar_program_round){p->nmessages, b->nreceives, 0, 0};
        for (size_t i = ar_round_begin(s, k); i < s->round_end[k]; i++) {
            const struct ar_step *const step = &s->steps[i];
            if (step->kind == AR_SEND)
                p->messages[p->nmessages++] =
                    (struct ar_program_message){rank, step->peer, step->a.length};
            else if (ar_step_receives(step)) {
                b->receives[b->nreceives] = (struct ar_half){step->peer, rank, b->nreceives};
                b->nreceives++;
            }
            if (step->kind == AR_REDUCE || step->kind == AR_RECV_REDUCE)
                round->reduced += step->dst.length;
            if (step->kind == AR_COPY)
                round->copied += step->dst.length;
        }
    }
    p->rounds[p->nrounds] = (struct ar_program_round){p->nmessages, b->nreceives, 0, 0};
    p->nsteps += s->nsteps;
    return AR_OK;
}

/* The k-th message from one rank to another meets the k-th receive. */
static int
pair(struct builder *b)
{
    struct ar_program *const p = b->program;
    const size_t n = p->nmessages;
    struct ar_half *const sends = malloc((n + 1) * sizeof *sends);
    p->receives = malloc((b->nreceives + 1) * sizeof *p->receives);
    int error = sends && p->receives ? AR_OK : AR_ERR_MEMORY;
    for (size_t i = 0; i < n && !error; i++) {
        /* The send as the rank of the sample that receives it sees it. */
        const struct ar_program_message *const m = &p->messages[i];
        const int to = ar_sample_rank(&p->sample, m->to);
        sends[i] = (struct ar_half){seen(&p->sample, m->to, m->from, to), to, i};
    }
    if (!error)
        error = ar_halves_pair(sends, n, b->receives, b->nreceives);
    for (size_t i = 0; i < n && !error; i++)
        p->receives[b->receives[i].at] = sends[i].at;
    free(sends);
    return error;
}

int
ar_program_init(struct ar_program *program, const struct ar_sample *sample,
                const struct ar_algorithm *row, const struct ar_params *params, size_t count,
                size_t most)
{
    struct builder b = {.program = program};
    *program = (struct ar_program){.sample = *sample};
    program->first_round = calloc((size_t)sample->size + 1, sizeof *program->first_round);
    int error = program->first_round ? AR_OK : AR_ERR_MEMORY;
    for (int rank = 0; rank < sample->size && !error; rank++) {
        struct ar_schedule s;
        error = ar_algorithm_emit(row, &s, rank, sample->nranks, count, params);
        if (error)
            break;
        error = program->nsteps + s.nsteps > most ? AR_ERR_PARAM : add_schedule(&b, rank, &s);
        ar_schedule_fini(&s);
        program->first_round[rank + 1] = program->nrounds;
    }
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

#define COMPARED 8 /* ranks with those that stand for them */

/* Blocks differ by one element, here and there. */
static bool
same_length(size_t a, size_t b)
{
    return a <= b + 1 && b <= a + 1;
}

/* Whether rank does what other does, as seen from where it is. */
static bool
same_steps(const struct ar_sample *sample, const struct ar_schedule *of_rank,
           const struct ar_schedule *of_other)
{
    if (of_rank->nrounds != of_other->nrounds || of_rank->nsteps != of_other->nsteps ||
        (of_rank->nrounds > 0 && memcmp(of_rank->round_end, of_other->round_end,
                                        of_rank->nrounds * sizeof *of_rank->round_end) != 0))
        return false;
    for (size_t i = 0; i < of_rank->nsteps; i++) {
        const struct ar_step *const r = &of_rank->steps[i], *const o = &of_other->steps[i];
        if (r->kind != o->kind || !same_length(r->a.length, o->a.length) ||
            !same_length(r->dst.length, o->dst.length) ||
            (r->peer >= 0 && seen(sample, of_rank->rank, r->peer, of_other->rank) != o->peer))
            return false;
    }
    return true;
}

/* What samples are tried with. */
struct trial {
    const struct ar_algorithm *row;
    const struct ar_params *params;
    size_t count;
    struct ar_schedule first; /* rank 0's, which may be as long as all others' together */
    size_t steps;             /* that were emitted */
};

static int
emit(struct trial *t, struct ar_schedule *s, int rank, int nranks)
{
    const int error = ar_algorithm_emit(t->row, s, rank, nranks, t->count, t->params);
    t->steps += error ? 0 : s->nsteps;
    return error;
}

static int
compare_ranks(bool *alike, const struct ar_sample *sample, int rank, int other, struct trial *t)
{
    struct ar_schedule of_rank = t->first, of_other;
    int error = rank > 0 ? emit(t, &of_rank, rank, sample->nranks) : AR_OK;
    if (error)
        return error;
    error = emit(t, &of_other, other, sample->nranks);
    if (!error) {
        *alike = same_steps(sample, &of_rank, &of_other);
        ar_schedule_fini(&of_other);
    }
    if (rank > 0)
        ar_schedule_fini(&of_rank);
    return error;
}

/* Compares ranks of the sample with some of those that they stand for. */
static int
is_alike(bool *alike, const struct ar_sample *sample, struct trial *t)
{
    const long groups = sample->nranks / sample->size;
    int error = AR_OK;
    *alike = true;
    for (int i = 0; i < COMPARED && *alike && !error; i++) {
        /* Every other time rank 0, which may lead a node: leaders differ most. */
        const int rank = i % 2 == 0 ? 0
                         : i == 1   ? sample->size - 1
                                    : (int)(i * 30011L % sample->size);
        /* In the next group, in the last, and in some between. */
        const long group = i == 0 ? 1 : i == 1 ? groups - 1 : 1 + (i * 40503L) % (groups - 1);
        error = compare_ranks(alike, sample, rank, rank + (int)group * sample->size, t);
    }
    return error;
}

#define UNITS_TRIED 9 /* the last is 256 units */

static int
find_sample(struct ar_sample *sample, int unit, struct trial *t)
{
    const int n = sample->nranks;
    for (int symmetry = AR_SYMMETRY_TURN; symmetry <= AR_SYMMETRY_FLIP; symmetry++)
        for (int i = 0; i < UNITS_TRIED; i++) {
            const struct ar_sample tried = {(enum ar_symmetry)symmetry, n, unit << i};
            bool alike = false;
            if (tried.size > n / 2 || n % tried.size > 0 ||
                (symmetry == AR_SYMMETRY_FLIP && (n & (n - 1)) != 0))
                break;
            const int error = is_alike(&alike, &tried, t);
            if (error)
                return error;
            if (alike) {
                *sample = tried;
                return AR_OK;
            }
        }
    return AR_OK;
}

int
ar_sample_find(struct ar_sample *sample, size_t *steps, int unit, const struct ar_algorithm *row,
               const struct ar_params *params, size_t count)
{
    struct trial t = {row, params, count, .steps = 0};
    int error = emit(&t, &t.first, 0, sample->nranks);
    if (error)
        return error;
    error = find_sample(sample, unit, &t);
    ar_schedule_fini(&t.first);
    *steps += t.steps;
    return error;
}
