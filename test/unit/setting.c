#include "setting.h"

#include <stdio.h>
#include <stdlib.h>

#include "select/select.h"
#include "unit.h"

/* --- settings --- */

static const char *const placement_names[] = {"unknown", "in turn",  "contiguous", "uneven",
                                              "singles", "together", "in pairs",   "scattered"};

/* Nodes are numbered in the order of their first ranks. */
static void
place(struct setting *setting, enum placement placement)
{
    const int half = (setting->nranks + 1) / 2;
    int node = 0, left = 1;               /* of an uneven node */
    int number_of[7] = {0}, numbered = 0; /* of scattered nodes; 0: not met yet */
    unsigned dice = 1;
    for (int rank = 0; rank < setting->nranks; rank++) {
        if (placement == PLACE_UNEVEN && left-- == 0)
            left = ++node;
        dice = dice * 1103515245 + 12345;
        int *const number = &number_of[(dice >> 16) % 10 % 7];
        if (*number == 0)
            *number = ++numbered;
        const int by_placement[] = {0, rank % 3, rank / 4, node, rank, 0, rank % half, *number - 1};
        setting->node_of[rank] = by_placement[placement];
    }
    setting->params.node_of = placement == PLACE_UNKNOWN ? NULL : setting->node_of;
}

static void
describe(struct setting *setting, enum placement placement)
{
    const struct ar_choice choice = {AR_CHOICE_ALGORITHM, setting->row, setting->params};
    char algorithm[SETTING_TEXT / 2];
    snprintf(setting->text, sizeof setting->text, "%s, %d ranks, placed %s",
             ar_choice_print(&choice, algorithm, sizeof algorithm), setting->nranks,
             placement_names[placement]);
}

void
setting_default(struct setting *setting, const struct ar_algorithm *row, int nranks,
                enum placement placement)
{
    setting->row = row;
    setting->nranks = nranks;
    setting->params = row->defaults;
    place(setting, placement);
    describe(setting, placement);
}

static const int radices[] = {2, 3, 4, 7, 100};
static const struct {
    int ndims;
    int dims[AR_DIMS_MAX];
} grids[] = {{0, {0}},       {1, {3}},       {2, {2, 3}},     {2, {1, 5}},      {2, {4, 4}},
             {3, {2, 2, 2}}, {3, {7, 1, 3}}, {2, {100, 100}}, {4, {2, 3, 2, 2}}};

static const struct ar_levels levels[] = {{.kind = AR_LEVELS_FLAT},
                                          {AR_LEVELS_SIZES, 1, {2}, 0},
                                          {AR_LEVELS_SIZES, 2, {3, 8}, 0},
                                          {AR_LEVELS_SIZES, 3, {2, 4, 12}, 0}};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])
#define ROOTS         5

/* A row that has another one between nodes is tried with it flat, and by one of the other levels.
 */
static size_t
values_of(const struct ar_algorithm *row, enum ar_param_bit parameter)
{
    switch (parameter) {
    case AR_TAKES_ROOT:
        return ROOTS;
    case AR_TAKES_RADIX:
        return LENGTH(radices);
    case AR_TAKES_DIMS:
        return LENGTH(grids);
    case AR_TAKES_HALVINGS:
        return 4;
    case AR_TAKES_EXCHANGE:
    case AR_TAKES_DISTANCE:
    case AR_TAKES_UNPAIRED:
    case AR_TAKES_INTRA:
    case AR_TAKES_SERVE:
    case AR_TAKES_ORDER:
        return 2;
    case AR_TAKES_WHOLE: /* none, what is short of what ranks hold, all */
        return 3;
    case AR_TAKES_COPY: /* says how the schedule runs */
        return 1;
    case AR_TAKES_INTER:
        return ar_algorithm_count();
    case AR_TAKES_BROADCAST:
        return 4;
    case AR_TAKES_LEVELS:
        return row->takes & AR_TAKES_INTER ? 2 : LENGTH(levels);
    default:
        return 3; /* each other enum has three values; lanes: all, one, two */
    }
}

static size_t
number_of(const struct ar_algorithm *row)
{
    size_t i = 0;
    while (ar_algorithm_at(i) != row)
        i++;
    return i;
}

static void
set_amount(struct ar_params *params, enum ar_param_bit parameter, size_t i)
{
    if (parameter == AR_TAKES_WHOLE)
        params->whole_bytes = i == 0 ? 0 : i == 1 ? 2 : SIZE_MAX;
    else if (parameter == AR_TAKES_LANES)
        params->lanes = (int)i;
    else if (parameter == AR_TAKES_HALVINGS)
        params->halvings = (int)i; /* 0: all */
    else if (parameter == AR_TAKES_LEVELS)
        params->levels =
            levels[i > 0 && params->inter ? 1 + number_of(params->inter) % (LENGTH(levels) - 1)
                                          : i];
}

static void
set_value(struct setting *setting, enum ar_param_bit parameter, size_t i)
{
    const int p = setting->nranks;
    const int roots[ROOTS] = {0, 1, p / 2, p - 1, p + 2};
    struct ar_params *params = &setting->params;
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
    case AR_TAKES_INTER:
        params->inter = ar_algorithm_at(i);
        break;
    case AR_TAKES_EXCHANGE:
        params->exchange = (enum ar_exchange)i;
        break;
    case AR_TAKES_DISTANCE:
        params->distance = (enum ar_distance)i;
        break;
    case AR_TAKES_UNPAIRED:
        params->unpaired = (enum ar_unpaired)i;
        break;
    case AR_TAKES_INTRA:
        params->intra = (enum ar_intra)i;
        break;
    case AR_TAKES_SERVE:
        params->serve = (enum ar_serve)i;
        break;
    case AR_TAKES_ORDER:
        params->order = (enum ar_ring_order)i;
        break;
    default:
        set_amount(params, parameter, i);
    }
}

size_t
setting_count(const struct ar_algorithm *row)
{
    size_t n = 1;
    for (unsigned bit = 1; bit < AR_TAKES_END; bit *= 2)
        n *= row->takes & bit ? values_of(row, (enum ar_param_bit)bit) : 1;
    return n;
}

void
setting_vary(struct setting *setting, const struct ar_algorithm *row, int nranks,
             enum placement placement, size_t i)
{
    setting_default(setting, row, nranks, placement);
    for (unsigned bit = 1; bit < AR_TAKES_END; bit *= 2) {
        if (row->takes & bit) {
            set_value(setting, (enum ar_param_bit)bit, i % values_of(row, (enum ar_param_bit)bit));
            i /= values_of(row, (enum ar_param_bit)bit);
        }
    }
    describe(setting, placement);
}

int
setting_ranks_to(int most)
{
    const char *const text = getenv("TEST_RANKS");
    return text && atoi(text) < most ? atoi(text) : most;
}

bool
setting_is_left_out(const struct setting *setting)
{
    return setting->nranks > setting_ranks_to(setting->nranks);
}

/* --- schedules --- */

struct ar_schedule *
schedules_emit(const struct setting *setting, size_t count)
{
    struct ar_schedule *all = malloc((size_t)setting->nranks * sizeof *all);
    assert_non_null(all);
    for (int rank = 0; rank < setting->nranks; rank++)
        if (ar_algorithm_emit(setting->row, &all[rank], rank, setting->nranks, count,
                              &setting->params))
            fail_msg("%s, %zu elements: rank %d emits an illegal step", setting->text, count, rank);
    return all;
}

void
schedules_free(struct ar_schedule *all, int nranks)
{
    for (int rank = 0; rank < nranks; rank++)
        ar_schedule_fini(&all[rank]);
    free(all);
}
