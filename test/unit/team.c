#include "team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "select/select.h"

/* --- trials --- */

static const char *const placement_names[] = {"unknown", "in turn", "contiguous",
                                              "uneven",  "singles", "together"};

/* Nodes are numbered in the order of their first ranks. */
static void
place(struct trial *trial, enum placement placement)
{
    int node = 0, left = 1; /* of an uneven node */
    for (int rank = 0; rank < trial->nranks; rank++) {
        if (placement == PLACE_UNEVEN && left-- == 0)
            left = ++node;
        const int by_placement[] = {0, rank % 3, rank / 4, node, rank, 0};
        trial->node_of[rank] = by_placement[placement];
    }
    trial->params.node_of = placement == PLACE_UNKNOWN ? NULL : trial->node_of;
}

static void
describe(struct trial *trial, enum placement placement)
{
    const struct ar_choice choice = {AR_CHOICE_ALGORITHM, trial->row, trial->params};
    char algorithm[TEAM_TEXT / 2];
    snprintf(trial->text, sizeof trial->text, "%s, %d ranks, placed %s",
             ar_choice_print(&choice, algorithm, sizeof algorithm), trial->nranks,
             placement_names[placement]);
}

void
trial_default(struct trial *trial, const struct ar_algorithm *row, int nranks,
              enum placement placement)
{
    trial->row = row;
    trial->nranks = nranks;
    trial->params = row->defaults;
    place(trial, placement);
    describe(trial, placement);
}

static const int radices[] = {2, 3, 4, 7, 100};
static const struct {
    int ndims;
    int dims[AR_DIMS_MAX];
} grids[] = {{0, {0}},       {1, {3}},       {2, {2, 3}},     {2, {1, 5}},      {2, {4, 4}},
             {3, {2, 2, 2}}, {3, {7, 1, 3}}, {2, {100, 100}}, {4, {2, 3, 2, 2}}};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define ROOTS         5

static size_t
values_of(enum ar_param_bit parameter)
{
    switch (parameter) {
    case AR_TAKES_ROOT:
        return ROOTS;
    case AR_TAKES_RADIX:
        return LENGTH(radices);
    case AR_TAKES_DIMS:
        return LENGTH(grids);
    default:
        return 3; /* each enum has three values */
    }
}

static void
set_value(struct trial *trial, enum ar_param_bit parameter, size_t i)
{
    const int p = trial->nranks;
    const int roots[ROOTS] = {0, 1, p / 2, p - 1, p + 2};
    struct ar_params *params = &trial->params;
    switch (parameter) {
    case AR_TAKES_ROOT:
        params->root = roots[i];
        break;
    case AR_TAKES_RADIX:
        params->radix = radices[i];
        break;
    case AR_TAKES_DIMS:
        params->ndims = grids[i].ndims;
        for (int d = 0; d < AR_DIMS_MAX; d++)
            params->dims[d] = grids[i].dims[d];
        break;
    case AR_TAKES_BROADCAST:
        params->broadcast = (enum ar_broadcast)i;
        break;
    case AR_TAKES_ALLGATHER:
        params->allgather = (enum ar_allgather)i;
        break;
    case AR_TAKES_REDUCE_SCATTER:
        params->reduce_scatter = (enum ar_reduce_scatter)i;
        break;
    }
}

size_t
trial_count(const struct ar_algorithm *row)
{
    size_t n = 1;
    for (unsigned bit = 1; bit <= AR_TAKES_REDUCE_SCATTER; bit *= 2)
        n *= row->takes & bit ? values_of((enum ar_param_bit)bit) : 1;
    return n;
}

void
trial_vary(struct trial *trial, const struct ar_algorithm *row, int nranks,
           enum placement placement, size_t i)
{
    trial_default(trial, row, nranks, placement);
    for (unsigned bit = 1; bit <= AR_TAKES_REDUCE_SCATTER; bit *= 2) {
        if (row->takes & bit) {
            set_value(trial, (enum ar_param_bit)bit, i % values_of((enum ar_param_bit)bit));
            i /= values_of((enum ar_param_bit)bit);
        }
    }
    describe(trial, placement);
}

/* --- teams --- */

struct ar_schedule *
team_emit(const struct trial *trial, size_t count)
{
    struct ar_schedule *all = malloc((size_t)trial->nranks * sizeof *all);
    assert_non_null(all);
    for (int rank = 0; rank < trial->nranks; rank++)
        if (ar_algorithm_emit(trial->row, &all[rank], rank, trial->nranks, count, &trial->params))
            fail_msg("%s, %zu elements: rank %d emits an illegal step", trial->text, count, rank);
    return all;
}

void
team_free(struct ar_schedule *all, int nranks)
{
    for (int rank = 0; rank < nranks; rank++)
        ar_schedule_fini(&all[rank]);
    free(all);
}

static size_t
first_step(const struct ar_schedule *s, size_t round)
{
    return round ? s->round_end[round - 1] : 0;
}

static bool
is_message(const struct ar_step *step)
{
    return step->kind == AR_SEND || step->kind == AR_RECV || step->kind == AR_RECV_REDUCE;
}

static bool
is_message_with(const struct ar_step *step, int peer, bool send)
{
    return is_message(step) && step->peer == peer && (step->kind == AR_SEND) == send;
}

/* The partner's round of the message that is step i of rank. */
static size_t
partner_round(const struct ar_schedule *all, int rank, size_t i)
{
    const struct ar_step *steps = all[rank].steps;
    const struct ar_schedule *partner = &all[steps[i].peer];
    const bool send = steps[i].kind == AR_SEND;
    size_t before = 0, round = 0;
    for (size_t j = 0; j < i; j++)
        before += is_message_with(&steps[j], steps[i].peer, send);
    for (size_t j = 0; j < partner->nsteps; j++) {
        if (j == partner->round_end[round])
            round++;
        if (is_message_with(&partner->steps[j], rank, !send) && before-- == 0)
            return round;
    }
    fail_msg("rank %d step %zu: a message without counterpart", rank, i);
    return 0;
}

/* When rank's round ends; false if a partner is not there yet. */
static bool
round_ends(const struct ar_schedule *all, size_t *const *start, const size_t *entered, int rank,
           size_t *end)
{
    const struct ar_schedule *s = &all[rank];
    const size_t round = entered[rank];
    size_t latest = start[rank][round];
    bool talks = false;
    for (size_t i = first_step(s, round); i < s->round_end[round]; i++) {
        if (!is_message(&s->steps[i]))
            continue;
        const int peer = s->steps[i].peer;
        const size_t theirs = partner_round(all, rank, i);
        if (entered[peer] < theirs)
            return false;
        latest = start[peer][theirs] > latest ? start[peer][theirs] : latest;
        talks = true;
    }
    *end = latest + talks;
    return true;
}

size_t
team_depth(const struct ar_schedule *all, int nranks)
{
    size_t *start[TEAM_RANKS_MAX], entered[TEAM_RANKS_MAX] = {0}, depth = 0;
    for (int rank = 0; rank < nranks; rank++) {
        start[rank] = calloc(all[rank].nrounds + 1, sizeof *start[rank]);
        assert_non_null(start[rank]);
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (int rank = 0; rank < nranks; rank++) {
            size_t end = 0;
            if (entered[rank] == all[rank].nrounds || !round_ends(all, start, entered, rank, &end))
                continue;
            start[rank][++entered[rank]] = end;
            depth = end > depth ? end : depth;
            moved = true;
        }
    }
    for (int rank = 0; rank < nranks; rank++)
        free(start[rank]);
    return depth;
}

size_t
team_most_sent(const struct ar_schedule *all, int nranks)
{
    size_t most = 0;
    for (int rank = 0; rank < nranks; rank++) {
        size_t sent = 0;
        for (size_t i = 0; i < all[rank].nsteps; i++)
            sent += all[rank].steps[i].kind == AR_SEND ? all[rank].steps[i].a.length : 0;
        most = sent > most ? sent : most;
    }
    return most;
}
