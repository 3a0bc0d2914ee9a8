#include "algorithms/grouping.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/firsts.h"
#include "schedule/error.h"

/* A rank's share of a vector in its unit: lane / size of it. */
struct share {
    int64_t lane, size;
    int unit; /* where it begins */
    int rank;
};

/* While it is made: group[i][r] is the first rank of the group of r on level i. */
struct making {
    int nranks;
    int nlevels;
    int *group[AR_GROUPING_LEVELS];
    int given[AR_GROUPING_LEVELS]; /* the number that the level had at first */
    int *groups;                   /* owned, as what follows: what group[] points into */
    uint64_t *key;
    int *before;
    struct share *share;
};

static void
making_fini(struct making *m)
{
    free(m->groups);
    free(m->key);
    free(m->before);
    free(m->share);
}

static int
making_init(struct making *m, int nranks, int nlevels)
{
    const size_t n = (size_t)nranks;
    *m = (struct making){.nranks = nranks, .nlevels = nlevels};
    m->groups = calloc((size_t)nlevels * n, sizeof *m->groups);
    m->key = malloc(n * sizeof *m->key);
    m->before = malloc(n * sizeof *m->before);
    m->share = malloc(n * sizeof *m->share);
    if (!m->groups || !m->key || !m->before || !m->share) {
        making_fini(m);
        return AR_ERR_MEMORY;
    }
    for (int i = 0; i < nlevels; i++)
        m->group[i] = m->groups + (size_t)i * n; /* the last one's are 0: all ranks */
    return AR_OK;
}

static bool
is_same(const int *a, const int *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* From the outermost level inwards: a rank is with those of its domain and of its group above, or
 * alone. */
static int
find_groups(struct making *m, const int *const domain[])
{
    const uint64_t alone = (uint64_t)1 << 63;
    int error = AR_OK;
    for (int i = m->nlevels - 2; !error && i >= 0; i--) {
        for (int r = 0; r < m->nranks; r++)
            m->key[r] = domain[i][r] >= 0
                            ? (uint64_t)m->group[i + 1][r] << 32 | (uint64_t)domain[i][r]
                            : alone | (uint64_t)r;
        error = ar_firsts_find(m->group[i], m->key, m->nranks);
    }
    return error;
}

/* Levels that change nothing go. */
static void
drop_levels(struct making *m)
{
    int kept = 0;
    for (int i = 0; i < m->nlevels; i++) {
        bool changes =
            i == m->nlevels - 1 || !is_same(m->group[i], m->group[m->nlevels - 1], m->nranks);
        for (int r = 0, alone = 0; kept == 0 && i < m->nlevels - 1 && r < m->nranks; r++) {
            alone += m->group[i][r] == r;
            changes &= alone < m->nranks;
        }
        if (kept > 0 && i < m->nlevels - 1)
            changes &= !is_same(m->group[i], m->group[kept - 1], m->nranks);
        if (changes) {
            int *const group = m->group[i];
            m->group[i] = m->group[kept];
            m->given[kept] = i;
            m->group[kept++] = group;
        }
    }
    m->nlevels = kept;
}

/* Sorts from[], all ranks, into to[] by their groups; those of a group stay in their order. */
static void
sort_by_group(int *to, const int *from, int *before, const int *group, int nranks)
{
    for (int r = 0; r < nranks; r++)
        before[r] = 0;
    for (int r = 0; r < nranks; r++)
        before[group[r]]++;
    for (int i = 0, sum = 0; i < nranks; i++) {
        sum += before[i];
        before[i] = sum - before[i];
    }
    for (int i = 0; i < nranks; i++)
        to[before[group[from[i]]]++] = from[i];
}

/* Sorts by each level in turn, the innermost first.  In the end the ranks are in the order of their
 * outermost groups, within each of these in the order of the next level's groups, and so on. */
static void
find_places(struct ar_grouping *g, const struct making *m)
{
    for (int r = 0; r < m->nranks; r++)
        g->rank_at[r] = r;
    for (int i = 0; i < m->nlevels - 1; i++) {
        sort_by_group(g->at, g->rank_at, m->before, m->group[i], m->nranks);
        memcpy(g->rank_at, g->at, (size_t)m->nranks * sizeof *g->at);
    }
    for (int i = 0; i < m->nranks; i++)
        g->at[g->rank_at[i]] = i;
    g->ordered = true;
    for (int r = 0; r < m->nranks; r++)
        g->ordered &= g->at[r] == r;
}

static void
find_bounds(struct ar_grouping_level *level, const struct ar_grouping *g, const int *group)
{
    for (int i = 0, begin = 0; i < g->nranks; i++) {
        if (group[g->rank_at[i]] != group[g->rank_at[begin]])
            begin = i;
        level->begin[i] = begin;
    }
    for (int i = g->nranks - 1, end = g->nranks; i >= 0; i--) {
        level->end[i] = end;
        if (level->begin[i] == i)
            end = i;
    }
}

static struct share
share_of(const struct ar_grouping *g, int l, int i)
{
    const int rank = g->rank_at[i];
    if (l == 0)
        return (struct share){0, 1, i, rank};
    const struct ar_grouping_level *const below = &g->level[l - 1];
    return (struct share){below->lane[rank], below->end[i] - below->begin[i], below->begin[i],
                          rank};
}

/* Within a group.  Ranks of one unit have different lanes there. */
static int
compare_shares(const void *x, const void *y)
{
    const struct share *const a = x, *const b = y;
    const int64_t more = a->lane * b->size - b->lane * a->size;
    return more < 0 ? -1 : more > 0 ? 1 : a->unit - b->unit;
}

static void
find_lanes(struct ar_grouping *g, int l, struct share *share)
{
    const struct ar_grouping_level *const of = &g->level[l];
    for (int i = 0; i < g->nranks; i++)
        share[i] = share_of(g, l, i);
    for (int i = 0; i < g->nranks; i = of->end[i])
        qsort(share + i, (size_t)(of->end[i] - i), sizeof *share, compare_shares);
    for (int i = 0; i < g->nranks; i++)
        of->lane[share[i].rank] = i - of->begin[i];
}

int
ar_grouping_init(struct ar_grouping *grouping, int nranks, int nlevels, const int *const domain[])
{
    struct ar_grouping made = {.nranks = nranks};
    struct making m;
    const size_t n = (size_t)nranks;
    if (making_init(&m, nranks, nlevels + 1))
        return AR_ERR_MEMORY;
    made.rank_at = malloc((2 + 3 * (size_t)(nlevels + 1)) * n * sizeof *made.rank_at);
    if (!made.rank_at || find_groups(&m, domain)) {
        making_fini(&m);
        free(made.rank_at);
        return AR_ERR_MEMORY;
    }
    drop_levels(&m);
    made.at = made.rank_at + n;
    made.nlevels = m.nlevels;
    made.node_level = m.nlevels - 1;
    find_places(&made, &m);
    for (int l = 0; l < made.nlevels; l++) {
        int *const of = made.at + (1 + 3 * (size_t)l) * n;
        made.level[l] = (struct ar_grouping_level){of, of + n, of + 2 * n};
        made.given[l] = m.given[l];
        find_bounds(&made.level[l], &made, m.group[l]);
        find_lanes(&made, l, m.share);
    }
    making_fini(&m);
    *grouping = made;
    return AR_OK;
}

bool
ar_grouping_is_even_below(const struct ar_grouping *grouping, int level)
{
    bool is_even = true;
    for (int l = 0; l < level; l++) {
        const struct ar_grouping_level *const below = &grouping->level[l];
        for (int i = 0; i < grouping->nranks; i++)
            is_even &= below->end[i] - below->begin[i] == below->end[0];
    }
    return is_even;
}

bool
ar_grouping_is_even(const struct ar_grouping *grouping)
{
    return ar_grouping_is_even_below(grouping, grouping->nlevels);
}

void
ar_grouping_fini(struct ar_grouping *grouping)
{
    free(grouping->rank_at);
}
