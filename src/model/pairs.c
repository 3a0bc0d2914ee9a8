#include "model/pairs.h"

#include <stdio.h>
#include <string.h>

#include "schedule/error.h"

static const struct ar_levels all_levels = {.kind = AR_LEVELS_AUTO};

/* The first rank of a group and that of one of its units. */
static void
add_pair(struct ar_pairs_level *level, const struct ar_grouping *g, int group, int unit)
{
    const int begin = group * level->ranks;
    level->ranks_of[level->n][0] = g->rank_at[begin];
    level->ranks_of[level->n++][1] = g->rank_at[begin + unit * level->unit];
}

static void
set_level(struct ar_pairs_level *level, const char *name, const struct ar_grouping *g, int l)
{
    const int ranks = g->level[l].end[0], groups = g->nranks / ranks;
    *level = (struct ar_pairs_level){.ranks = ranks, .unit = l > 0 ? g->level[l - 1].end[0] : 1};
    const int units = ranks / level->unit;
    snprintf(level->name, sizeof level->name, "%s", name);
    add_pair(level, g, 0, 1);
    if (groups == 1 && units > 3)
        add_pair(level, g, 0, units / 2);
    if (groups == 1 && units > 2)
        add_pair(level, g, 0, units - 1);
    if (groups > 2)
        add_pair(level, g, groups / 2, 1);
    if (groups > 1)
        add_pair(level, g, groups - 1, 1);
}

int
ar_pairs_partner(const struct ar_pairs_level *level, int rank)
{
    const int begin = rank - rank % level->ranks;
    return begin + (rank - begin + level->unit) % level->ranks;
}

/* A rank of each innermost group that has not rank 0's unit; of the innermost level each rank. */
static void
set_readers(struct ar_pairs_level *level, int inner_ranks, const struct ar_grouping *g, int l)
{
    const int step = l == 0 ? 1 : inner_ranks;
    int n = 0;
    for (int i = l == 0 ? 1 : g->level[l - 1].end[0]; i < level->ranks && n < AR_READERS_MOST;
         i += step)
        level->readers[n++] = g->rank_at[i];
    level->nreaders = n > 1 ? n : 0;
}

/* Do the ranks of each group of so many share a cache? */
static bool
share_cache(const struct ar_domains *domains, int nranks, int ranks)
{
    const int *const cache = domains->of[AR_DOMAIN_L3];
    bool shares = cache != NULL;
    for (int r = 0; r < nranks && shares; r++)
        shares = cache[r] >= 0 && cache[r] == cache[r - r % ranks];
    return shares;
}

int
ar_pairs_find(struct ar_pairs *pairs, const struct ar_domains *domains, int nranks)
{
    struct ar_grouping g;
    struct ar_levels found;
    *pairs = (struct ar_pairs){.nlevels = 0};
    if (nranks < 2)
        return AR_OK;
    int error = ar_levels_group(&g, &found, &all_levels, domains, nranks);
    if (error)
        return error;
    if (!g.ordered || !ar_grouping_is_even(&g)) {
        ar_grouping_fini(&g);
        error = ar_grouping_init(&g, nranks, 0, NULL);
        if (error)
            return error;
    }
    for (int l = 0; l < g.nlevels; l++) {
        set_level(&pairs->level[l], l + 1 < g.nlevels ? ar_domain_names[found.value[l]] : "node",
                  &g, l);
        set_readers(&pairs->level[l], pairs->level[0].ranks, &g, l);
    }
    pairs->nlevels = g.nlevels;
    pairs->shares_cache = share_cache(domains, nranks, pairs->level[0].ranks);
    ar_grouping_fini(&g);
    return AR_OK;
}

/* The middle one of up to three, and the mean of two; sorts them. */
static double
median(double *time, int n)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && time[k - 1] > time[k]; k--) {
            const double later = time[k - 1];
            time[k - 1] = time[k];
            time[k] = later;
        }
    return (time[(n - 1) / 2] + time[n / 2]) / 2;
}

static bool
is_measured(const struct ar_pairs_level *level)
{
    bool is = level->n > 0 && level->per_byte > 0;
    for (int i = 0; i < level->n; i++)
        is &= level->latency[i] > 0;
    return is;
}

bool
ar_pairs_set_levels(struct ar_machine *machine, const struct ar_pairs *pairs, size_t cache_bytes)
{
    const int n = pairs->nlevels;
    if (n == 0 || pairs->level[n - 1].ranks != machine->ranks_per_node ||
        machine->cores_per_node > 0 || machine->host_nodes > 0)
        return false;
    for (int l = 0; l < n; l++)
        if (!is_measured(&pairs->level[l]))
            return false;
    machine->ndomains = n;
    for (int l = 0; l < n; l++) {
        const struct ar_pairs_level *const level = &pairs->level[l];
        double latency[AR_PAIRS_MOST];
        memcpy(latency, level->latency, sizeof latency);
        struct ar_machine_domain *const domain = &machine->domains[l];
        *domain = (struct ar_machine_domain){.ranks = level->ranks,
                                             .latency = median(latency, level->n),
                                             .per_byte = level->per_byte,
                                             .serve = level->serve,
                                             .memory_per_byte = level->memory_per_byte,
                                             .cache_bytes =
                                                 l == 0 && pairs->shares_cache ? cache_bytes : 0};
        memcpy(domain->name, level->name, sizeof domain->name);
    }
    return true;
}
