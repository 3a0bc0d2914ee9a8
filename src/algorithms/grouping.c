#include "algorithms/grouping.h"

#include <stdint.h>
#include <stdlib.h>

#include "schedule/error.h"

/* While it is made: group[i][r] is the first rank of the group of r on level i. */
struct making {
    int nranks;
    int nlevels;
    int *group[AR_GROUPING_LEVELS];
    int given[AR_GROUPING_LEVELS]; /* the number that the level had at first */
};

/* Are two ranks of one group of the level above, outer, in one of this level? */
static bool
together(const int *outer, const int *domain, int a, int b)
{
    return a == b || (outer[a] == outer[b] && domain[a] >= 0 && domain[a] == domain[b]);
}

static bool
is_same(const int *a, const int *b, int n)
{
    for (int i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* From the outermost level inwards; then those that change nothing go. */
static void
find_groups(struct making *m, const int *const domain[])
{
    int kept = 0;
    for (int i = m->nlevels - 2; i >= 0; i--)
        for (int r = 0; r < m->nranks; r++) {
            int first = 0;
            while (!together(m->group[i + 1], domain[i], first, r))
                first++;
            m->group[i][r] = first;
        }
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

/* Is rank a before rank b, group after group? */
static bool
is_before(const struct making *m, int a, int b)
{
    for (int i = m->nlevels - 1; i >= 0; i--)
        if (m->group[i][a] != m->group[i][b])
            return m->group[i][a] < m->group[i][b];
    return a < b;
}

static void
find_places(struct ar_grouping *g, const struct making *m)
{
    for (int r = 0; r < m->nranks; r++) {
        int at = 0;
        for (int other = 0; other < m->nranks; other++)
            at += is_before(m, other, r);
        g->at[r] = at;
        g->rank_at[at] = r;
    }
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

/* A rank's share of a vector in its unit: lane / size of it. */
struct share {
    int64_t lane, size;
    int unit; /* where it begins */
};

static struct share
share_of(const struct ar_grouping *g, int l, int i)
{
    if (l == 0)
        return (struct share){0, 1, i};
    const struct ar_grouping_level *const below = &g->level[l - 1];
    return (struct share){below->lane[g->rank_at[i]], below->end[i] - below->begin[i],
                          below->begin[i]};
}

static void
find_lanes(struct ar_grouping *g, int l)
{
    const struct ar_grouping_level *const level = &g->level[l];
    for (int i = 0; i < g->nranks; i++) {
        const struct share mine = share_of(g, l, i);
        int lane = 0;
        for (int k = level->begin[i]; k < level->end[i]; k++) {
            const struct share other = share_of(g, l, k);
            const int64_t more = other.lane * mine.size - mine.lane * other.size;
            lane += more < 0 || (more == 0 && other.unit < mine.unit);
        }
        level->lane[g->rank_at[i]] = lane;
    }
}

int
ar_grouping_init(struct ar_grouping *grouping, int nranks, int nlevels, const int *const domain[])
{
    struct ar_grouping made = {.nranks = nranks};
    struct making m = {.nranks = nranks, .nlevels = nlevels + 1};
    const size_t n = (size_t)nranks;
    int *const room = calloc((size_t)(nlevels + 1) * n, sizeof *room);
    made.rank_at = malloc((2 + 3 * (size_t)(nlevels + 1)) * n * sizeof *made.rank_at);
    if (!room || !made.rank_at) {
        free(room);
        free(made.rank_at);
        return AR_ERR_MEMORY;
    }
    for (int i = 0; i <= nlevels; i++)
        m.group[i] = room + (size_t)i * n; /* the last one's are 0: all ranks */
    find_groups(&m, domain);
    made.at = made.rank_at + n;
    made.nlevels = m.nlevels;
    find_places(&made, &m);
    for (int l = 0; l < made.nlevels; l++) {
        int *const of = made.at + (1 + 3 * (size_t)l) * n;
        made.level[l] = (struct ar_grouping_level){of, of + n, of + 2 * n};
        made.given[l] = m.given[l];
        find_bounds(&made.level[l], &made, m.group[l]);
        find_lanes(&made, l);
    }
    free(room);
    *grouping = made;
    return AR_OK;
}

bool
ar_grouping_is_even(const struct ar_grouping *grouping)
{
    bool is_even = true;
    for (int l = 0; l < grouping->nlevels; l++) {
        const struct ar_grouping_level *const level = &grouping->level[l];
        for (int i = 0; i < grouping->nranks; i++)
            is_even &= level->end[i] - level->begin[i] == level->end[0];
    }
    return is_even;
}

void
ar_grouping_fini(struct ar_grouping *grouping)
{
    free(grouping->rank_at);
}
