#include "mutant.h"

#include <stdint.h>

const char *const mutant_names[] = {
    "step doubled",     "steps exchanged", "step a round earlier", "step a round later",
    "rounds exchanged", "rounds joined",   "message dropped"};

void
mutant_emit(struct ar_schedule *s, const struct ar_step *step)
{
    switch (step->kind) {
    case AR_SEND:
        ar_send(s, step->peer, step->a);
        break;
    case AR_RECV:
        ar_recv(s, step->peer, step->dst);
        break;
    case AR_RECV_REDUCE:
        ar_recv_reduce(s, step->peer, step->dst, step->a, step->order);
        break;
    case AR_COPY:
        ar_copy(s, step->dst, step->a);
        break;
    case AR_REDUCE:
        ar_reduce(s, step->dst, step->a, step->b);
        break;
    }
}

/* The round of step i; nrounds after the last step. */
static size_t
round_of(const struct ar_schedule *s, size_t i)
{
    size_t round = 0;
    while (round < s->nrounds && i >= s->round_end[round])
        round++;
    return round;
}

static size_t
begin_of(const struct ar_schedule *s, size_t round)
{
    return round > 0 ? s->round_end[round - 1] : 0;
}

/* Adds steps [begin, end), except for step `but`. */
static void
emit_steps(struct ar_schedule *to, const struct ar_schedule *s, size_t begin, size_t end,
           size_t but)
{
    for (size_t i = begin; i < end; i++)
        if (i != but)
            mutant_emit(to, &s->steps[i]);
}

/* Round `round` of s in a mutant of step k. */
static void
emit_round(struct ar_schedule *mutant, const struct ar_schedule *s, size_t round, size_t k,
           enum mutant how)
{
    const size_t begin = begin_of(s, round), end = s->round_end[round], home = round_of(s, k);
    const bool moves = how == EARLIER || how == LATER;
    if (how == LATER && round == home + 1)
        mutant_emit(mutant, &s->steps[k]);
    if (how == EXCHANGE && round == home) {
        emit_steps(mutant, s, begin, k, SIZE_MAX);
        mutant_emit(mutant, &s->steps[k + 1]);
        mutant_emit(mutant, &s->steps[k]);
        emit_steps(mutant, s, k + 2, end, SIZE_MAX);
    } else {
        emit_steps(mutant, s, begin, end, moves || how == UNSENT ? k : SIZE_MAX);
    }
    if ((how == DOUBLE && round == home) || (how == EARLIER && round + 1 == home))
        mutant_emit(mutant, &s->steps[k]);
}

bool
mutant_of_order(struct ar_schedule *mutant, const struct ar_schedule *s, size_t k, enum mutant how)
{
    const size_t home = round_of(s, k);
    const bool begins = k == begin_of(s, home), is_last = home + 1 == s->nrounds;
    if ((how == EXCHANGE && k + 1 == s->round_end[home]) || (how == EARLIER && home == 0) ||
        (how == LATER && is_last) ||
        ((how == EXCHANGE_ROUNDS || how == JOIN_ROUNDS) && (!begins || is_last)))
        return false;
    ar_schedule_init(mutant, s->rank, s->nranks, s->count);
    for (size_t i = 0; i < s->nrounds; i++) {
        const size_t by = how != EXCHANGE_ROUNDS ? 0
                          : i == home            ? 1
                          : i == home + 1        ? (size_t)-1
                                                 : 0;
        emit_round(mutant, s, i + by, k, how);
        if (how != JOIN_ROUNDS || i != home)
            ar_end_round(mutant);
    }
    return ar_schedule_finish(mutant) == AR_OK;
}
