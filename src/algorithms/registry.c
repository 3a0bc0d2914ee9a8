#include "algorithms/registry.h"

#include <string.h>
#include <strings.h>

#include "algorithms/algorithms.h"

const char *const ar_broadcast_names[] = {"flat", "binomial", "scatter_allgather", NULL};
const char *const ar_allgather_names[] = {"ring", "bruck", "doubling", NULL};
const char *const ar_reduce_scatter_names[] = {"pairwise", "halving", "ring", NULL};

static const struct ar_algorithm rows[] = {
    {
        .name = "butterfly",
        .aliases = "recursive_doubling",
        .intel_id = 1,
        .emit = ar_butterfly,
        .keeps_order = true,
        .defaults = {.window = 1},
        .title = "partners at distance 1, 2, 4, ... exchange and combine all they have",
        .rounds = "log2 p (+2 where p is no power of two)",
        .bytes = "n log2 p",
        .cost = "log2 p (a + n/B + nC)",
        .needs = "nothing",
        .source = "Thakur, Rabenseifner & Gropp 2005",
    },
    {
        .name = "ring",
        .aliases = "",
        .intel_id = 8,
        .emit = ar_ring,
        .defaults = {.window = 1},
        .title = "reduce-scatter, then allgather, both round a ring",
        .rounds = "2(p-1)",
        .bytes = "2n(p-1)/p",
        .cost = "2(p-1)a + 2n(p-1)/p /B + n(p-1)/p C",
        .needs = "a commutative op",
        .source = "Patarasuk & Yuan 2009",
    },
};

size_t
ar_algorithm_count(void)
{
    return sizeof rows / sizeof rows[0];
}

const struct ar_algorithm *
ar_algorithm_at(size_t i)
{
    return i < ar_algorithm_count() ? &rows[i] : NULL;
}

static bool
same_word(const char *word, size_t word_length, const char *text, size_t length)
{
    return word_length == length && strncasecmp(word, text, length) == 0;
}

static bool
is_alias(const char *aliases, const char *text, size_t length)
{
    while (*aliases) {
        size_t word = strcspn(aliases, " ");
        if (same_word(aliases, word, text, length))
            return true;
        aliases += word;
        aliases += strspn(aliases, " ");
    }
    return false;
}

const struct ar_algorithm *
ar_algorithm_find(const char *text, size_t length)
{
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        if (same_word(rows[i].name, strlen(rows[i].name), text, length) ||
            is_alias(rows[i].aliases, text, length))
            return &rows[i];
    return NULL;
}

const struct ar_algorithm *
ar_algorithm_by_intel_id(int id)
{
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        if (id > 0 && rows[i].intel_id == id)
            return &rows[i];
    return NULL;
}

size_t
ar_algorithm_scratch_vectors(const struct ar_algorithm *row, const struct ar_params *params,
                             int nranks)
{
    size_t ranks = (size_t)nranks, radix = (size_t)params->radix;
    if (row->scratch == AR_SCRATCH_RADIX)
        return 2 + (radix < ranks ? radix : ranks);
    return 2 + (row->scratch == AR_SCRATCH_RANKS ? ranks : 0);
}

int
ar_algorithm_emit(const struct ar_algorithm *row, struct ar_schedule *s, int rank, int nranks,
                  size_t count, const struct ar_params *params)
{
    ar_schedule_init(s, rank, nranks, count);
    int error = row->emit(s, rank, nranks, count, params ? params : &row->defaults);
    if (error)
        ar_schedule_fini(s);
    return error;
}
