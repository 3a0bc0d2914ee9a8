#include "schedule/cost.h"

#include <stdbool.h>
#include <stdint.h>

#include "schedule/walk.h"

static void
tally(struct ar_tally *t, size_t of_rank)
{
    t->total += of_rank;
    if (of_rank > t->most)
        t->most = of_rank;
}

static void
count_rank(struct ar_cost *cost, const struct ar_schedule *s)
{
    size_t messages = 0, sent = 0, received = 0, reduced = 0, copied = 0, most_landing = 0;
    for (size_t k = 0; k < s->nrounds; k++) {
        size_t ports = 0, landing = 0; /* of the round */
        for (size_t i = ar_round_begin(s, k); i < s->round_end[k]; i++) {
            const struct ar_step *step = &s->steps[i];
            const size_t length = step->dst.length; /* 0 for a send */
            const bool reduces = step->kind == AR_RECV_REDUCE || step->kind == AR_REDUCE;
            messages += step->kind == AR_SEND;
            sent += step->kind == AR_SEND ? step->a.length : 0;
            ports += ar_step_receives(step);
            received += ar_step_receives(step) ? length : 0;
            landing += step->kind == AR_RECV_REDUCE ? length : 0;
            reduced += reduces ? length : 0;
            if (reduces && length < cost->least_reduced)
                cost->least_reduced = length;
            copied += step->kind == AR_COPY ? length : 0;
        }
        cost->ports = ports > cost->ports ? ports : cost->ports;
        most_landing = landing > most_landing ? landing : most_landing;
    }
    tally(&cost->messages, messages);
    tally(&cost->sent, sent);
    tally(&cost->received, received);
    tally(&cost->reduced, reduced);
    tally(&cost->copied, copied);
    tally(&cost->scratch, s->tmp_length + most_landing);
}

void
ar_cost_count_timed(struct ar_cost *cost, const struct ar_schedule *schedules, int nranks,
                    const struct ar_unit_times *times)
{
    *cost = (struct ar_cost){.rounds = times->end, .least_reduced = SIZE_MAX};
    for (int r = 0; r < nranks; r++)
        count_rank(cost, &schedules[r]);
}

int
ar_cost_count(struct ar_cost *cost, const struct ar_schedule *schedules, int nranks)
{
    struct ar_unit_times times;
    const int error = ar_unit_times_init(&times, schedules, nranks);
    if (error)
        return error;
    ar_cost_count_timed(cost, schedules, nranks, &times);
    ar_unit_times_fini(&times);
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
