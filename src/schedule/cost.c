#include "schedule/cost.h"

#include <string.h>

#include "schedule/timeline.h"
#include "schedule/walk.h"

static void
tally(struct ar_tally *t, size_t of_rank)
{
    t->total += of_rank;
    if (of_rank > t->most)
        t->most = of_rank;
}

static size_t
scratch_of(const struct ar_schedule *s)
{
    size_t most = 0;
    for (size_t k = 0; k < s->nrounds; k++) {
        size_t received = 0;
        for (size_t i = ar_round_begin(s, k); i < s->round_end[k]; i++)
            received += s->steps[i].kind == AR_RECV_REDUCE ? s->steps[i].dst.length : 0;
        most = received > most ? received : most;
    }
    return s->tmp_length + most;
}

static size_t
ports_of(const struct ar_schedule *s)
{
    size_t most = 0;
    for (size_t k = 0; k < s->nrounds; k++) {
        size_t messages = 0;
        for (size_t i = ar_round_begin(s, k); i < s->round_end[k]; i++)
            messages += ar_step_receives(&s->steps[i]);
        most = messages > most ? messages : most;
    }
    return most;
}

static void
count_rank(struct ar_cost *cost, const struct ar_schedule *s)
{
    size_t messages = 0, sent = 0, received = 0, reduced = 0, copied = 0;
    for (size_t i = 0; i < s->nsteps; i++) {
        const struct ar_step *step = &s->steps[i];
        switch (step->kind) {
        case AR_SEND:
            messages++;
            sent += step->a.length;
            break;
        case AR_RECV:
            received += step->dst.length;
            break;
        case AR_RECV_REDUCE:
            received += step->dst.length;
            reduced += step->dst.length;
            break;
        case AR_COPY:
            copied += step->dst.length;
            break;
        case AR_REDUCE:
            reduced += step->dst.length;
            break;
        }
    }
    tally(&cost->messages, messages);
    tally(&cost->sent, sent);
    tally(&cost->received, received);
    tally(&cost->reduced, reduced);
    tally(&cost->copied, copied);
    tally(&cost->scratch, scratch_of(s));
    cost->ports = ports_of(s) > cost->ports ? ports_of(s) : cost->ports;
}

int
ar_cost_count(struct ar_cost *cost, const struct ar_schedule *schedules, int nranks)
{
    struct ar_timeline t;
    int error = ar_timeline_init(&t, schedules, nranks);
    if (error)
        return error;
    memset(cost, 0, sizeof *cost);
    cost->rounds = t.end;
    ar_timeline_fini(&t);
    for (int r = 0; r < nranks; r++)
        count_rank(cost, &schedules[r]);
    return AR_OK;
}

size_t
ar_bound_rounds(int nranks, size_t ports)
{
    size_t rounds = 0;
    for (size_t known = 1; known < (size_t)nranks; known *= ports + 1)
        rounds++;
    return rounds;
}

double
ar_bound_sent(int nranks, size_t count)
{
    return 2 * ar_bound_reduced(nranks, count);
}

double
ar_bound_reduced(int nranks, size_t count)
{
    return (double)count * (nranks - 1) / nranks;
}
