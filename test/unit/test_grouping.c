/* Groups of ranks inside a node: how they are made of domains and of numbers, and which share of a
 * vector each rank has on each level. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/domains.h"
#include "algorithms/grouping.h"
#include "algorithms/registry.h"
#include "cores/levels.h"
#include "topology.h"
#include "unit.h"

#define NO (-1) /* no domain */

/* The grouping of n ranks by up to three levels, NULL behind the last. */
static struct ar_grouping
group(int n, const int *inner, const int *middle, const int *outer)
{
    const int *const domain[] = {inner, middle, outer};
    struct ar_grouping g;
    int nlevels = 0;
    while (nlevels < 3 && domain[nlevels])
        nlevels++;
    assert_int_equal(ar_grouping_init(&g, n, nlevels, domain), 0);
    return g;
}

/* A level as text: groups in brackets, as in "[0 1][2 3]". */
static const char *
level_of(const struct ar_grouping *g, int l)
{
    static char text[1024];
    char *at = text;
    const struct ar_grouping_level *const level = &g->level[l];
    for (int i = 0; i < g->nranks; i++)
        at += snprintf(at, (size_t)(text + sizeof text - at), "%s%d%s",
                       level->begin[i] == i ? "[" : " ", g->rank_at[i],
                       level->end[i] == i + 1 ? "]" : "");
    return text;
}

/* On level l, is the share of the rank at place i before that of the rank at place k?  A rank's
 * share is lane / size of the vector, by its lane in its unit and by the unit's size. */
static bool
is_share_before(const struct ar_grouping *g, int l, int i, int k)
{
    if (l == 0)
        return i < k;
    const struct ar_grouping_level *const below = &g->level[l - 1];
    const long size_i = below->end[i] - below->begin[i], size_k = below->end[k] - below->begin[k];
    const long share_i = below->lane[g->rank_at[i]] * size_k;
    const long share_k = below->lane[g->rank_at[k]] * size_i;
    return share_i < share_k || (share_i == share_k && below->begin[i] < below->begin[k]);
}

/* Units of a group are in the order of their first ranks, and each rank's lane is the number of
 * shares before its own. */
static void
assert_in_order(const struct ar_grouping *g, int l)
{
    const struct ar_grouping_level *const level = &g->level[l];
    for (int i = 0; i < g->nranks; i++) {
        const int unit = l == 0 ? i : g->level[l - 1].begin[i];
        const int next = l == 0 ? i + 1 : g->level[l - 1].end[i];
        int before = 0;
        for (int k = level->begin[i]; k < level->end[i]; k++)
            before += is_share_before(g, l, k, i);
        assert_int_equal(level->lane[g->rank_at[i]], before);
        assert_true(next == level->end[i] || g->rank_at[unit] < g->rank_at[next]);
    }
}

/* Groups nest and cover the ranks, the last is all of them, and lanes of a group are 0, 1, 2, ...
 */
static void
assert_sound(const struct ar_grouping *g)
{
    const int top = g->nlevels - 1;
    assert_true(top >= 0 && g->level[top].begin[0] == 0 && g->level[top].end[0] == g->nranks);
    for (int i = 0; i < g->nranks; i++)
        assert_int_equal(g->at[g->rank_at[i]], i);
    for (int l = 0; l < g->nlevels; l++) {
        assert_in_order(g, l);
        for (int i = 0; i < g->nranks; i++) {
            const struct ar_grouping_level *const level = &g->level[l];
            const int begin = level->begin[i], end = level->end[i];
            int lanes = 0;
            assert_true(begin <= i && i < end);
            for (int k = begin; k < end; k++) {
                const int lane = level->lane[g->rank_at[k]];
                assert_true(lane >= 0 && lane < end - begin);
                lanes += lane;
                assert_true(k == i || lane != level->lane[g->rank_at[i]]);
                assert_int_equal(level->begin[k], begin);
            }
            assert_int_equal(lanes, (end - begin) * (end - begin - 1) / 2);
            assert_true(l == top ||
                        (g->level[l + 1].begin[i] <= begin && end <= g->level[l + 1].end[i]));
        }
    }
}

static void
expect(struct ar_grouping g, bool ordered, int nlevels, const char *inner, const char *outer)
{
    assert_sound(&g);
    assert_int_equal(g.nlevels, nlevels);
    assert_int_equal(g.ordered, ordered);
    if (inner)
        assert_string_equal(level_of(&g, 0), inner);
    if (outer)
        assert_string_equal(level_of(&g, 1), outer);
    ar_grouping_fini(&g);
}

/* --- by domains --- */

static void
equal_domains_are_groups_that_nest(void **state)
{
    const int cache[] = {0, 0, 2, 2, 4, 4, 6, 6}, socket[] = {0, 0, 0, 0, 4, 4, 4, 4};
    (void)state;
    expect(group(8, cache, socket, NULL), true, 3, "[0 1][2 3][4 5][6 7]", "[0 1 2 3][4 5 6 7]");
}

static void
groups_may_be_unequal(void **state)
{
    const int cache[] = {0, 0, 0, 3, 4, 4, 6}, socket[] = {0, 0, 0, 0, 4, 4, 4};
    (void)state;
    expect(group(7, cache, socket, NULL), true, 3, "[0 1 2][3][4 5][6]", "[0 1 2 3][4 5 6]");
}

static void
ranks_in_any_order_are_put_together(void **state)
{
    const int cache[] = {0, 4, 2, 6, 0, 4, 2, 6}, socket[] = {0, 4, 0, 4, 0, 4, 0, 4};
    (void)state;
    expect(group(8, cache, socket, NULL), false, 3, "[0 4][2 6][1 5][3 7]", "[0 4 2 6][1 5 3 7]");
}

static void
levels_that_change_nothing_are_left_out(void **state)
{
    const int alone[] = {0, 1, 2, 3}, pairs[] = {0, 0, 2, 2}, all[] = {7, 7, 7, 7};
    (void)state;
    expect(group(4, alone, pairs, all), true, 2, "[0 1][2 3]", "[0 1 2 3]");
    expect(group(4, pairs, pairs, pairs), true, 2, "[0 1][2 3]", "[0 1 2 3]");
    expect(group(4, alone, all, NULL), true, 1, "[0 1 2 3]", NULL);
    expect(group(4, NULL, NULL, NULL), true, 1, "[0 1 2 3]", NULL);
    struct ar_grouping g = group(4, alone, pairs, all);
    assert_int_equal(g.given[0], 1);
    assert_int_equal(g.given[1], 3);
    ar_grouping_fini(&g);
}

static void
ranks_without_a_domain_are_grouped_by_the_levels_above(void **state)
{
    const int cache[] = {0, 0, NO, NO, 4, 4, NO, 4}, socket[] = {0, 0, 0, 0, 4, 4, 4, 4};
    const int none[] = {NO, NO, NO, NO, NO, NO, NO, NO};
    (void)state;
    expect(group(8, cache, socket, NULL), false, 3, "[0 1][2][3][4 5 7][6]", "[0 1 2 3][4 5 7 6]");
    expect(group(8, none, none, NULL), true, 1, "[0 1 2 3 4 5 6 7]", NULL);
    expect(group(8, none, socket, NULL), true, 2, "[0 1 2 3][4 5 6 7]", "[0 1 2 3 4 5 6 7]");
}

static void
a_domain_that_is_spread_over_several_above_is_cut(void **state)
{
    const int cache[] = {0, 0, 0, 0, 0, 0}, socket[] = {0, 0, 0, 1, 1, 1};
    const int numa[] = {0, 0, 2, 2, 4, 4};
    (void)state;
    expect(group(6, cache, socket, NULL), true, 2, "[0 1 2][3 4 5]", "[0 1 2 3 4 5]");
    expect(group(6, numa, socket, NULL), true, 3, "[0 1][2][3][4 5]", "[0 1 2][3 4 5]");
}

static int
roll(unsigned *dice, int sides)
{
    *dice = *dice * 1103515245 + 12345;
    return (int)(*dice >> 16) % sides;
}

/* Are two ranks in one group of level l exactly if they share their domains on all given levels
 * from this one on?  Level -1: every rank is alone. */
static bool
are_groups_of(const struct ar_grouping *g, int l, const int *const domain[], int from, int nlevels)
{
    for (int a = 0; a < g->nranks; a++)
        for (int b = 0; b < g->nranks; b++) {
            const int i = g->at[a], k = g->at[b];
            bool together = true;
            for (int given = from; given < nlevels; given++)
                together &= domain[given][a] >= 0 && domain[given][a] == domain[given][b];
            if ((together || a == b) !=
                (l < 0 ? i == k : g->level[l].begin[i] == g->level[l].begin[k]))
                return false;
        }
    return true;
}

static void
ranks_of_a_group_share_its_domain_and_all_outer_ones(void **state)
{
    int of[3][40];
    unsigned dice = 1;
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        const int n = 1 + roll(&dice, 40), sides = 1 + roll(&dice, 9);
        const bool nests = roll(&dice, 2) == 0;
        for (int r = 0; r < n; r++)
            for (int i = 0; i < 3; i++)
                of[i][r] = nests && i > 0 ? of[i - 1][r] / 2 : roll(&dice, sides) * 1000 - 1000;
        const int *const domain[] = {of[0], of[1], of[2]};
        struct ar_grouping g = group(n, of[0], of[1], of[2]);
        assert_sound(&g);
        for (int from = 0, l = 0; from <= 3; from++) {
            const bool is_kept = g.given[l] == from;
            assert_true(are_groups_of(&g, is_kept ? l : l - 1, domain, from, 3) ||
                        (!is_kept && are_groups_of(&g, g.nlevels - 1, domain, from, 3)));
            l += is_kept;
        }
        ar_grouping_fini(&g);
    }
}

/* --- lanes --- */

/* Two groups of four, each of two pairs.  In a pair, the rank with lane h has half h of the vector;
 * in a group, lanes are quarters of it.  Each rank's quarter lies in its half. */
static void
a_lane_lies_within_the_lane_of_the_level_below(void **state)
{
    const int pair[] = {0, 0, 2, 2, 4, 4, 6, 6}, four[] = {0, 0, 0, 0, 4, 4, 4, 4};
    struct ar_grouping g = group(8, pair, four, NULL);
    (void)state;
    for (int r = 0; r < 8; r++) {
        assert_int_equal(g.level[0].lane[r], r % 2);
        assert_int_equal(g.level[1].lane[r] / 2, g.level[0].lane[r]);
        assert_int_equal(g.level[2].lane[r] / 2, g.level[1].lane[r]);
    }
    ar_grouping_fini(&g);
}

static void
lanes_of_unequal_groups_are_sound(void **state)
{
    int cache[48], socket[48];
    unsigned dice = 1;
    (void)state;
    for (int n = 1; n <= 48; n++) {
        for (int r = 0; r < n; r++) {
            cache[r] = roll(&dice, 13) - 1;
            socket[r] = cache[r] / 5;
        }
        struct ar_grouping g = group(n, cache, socket, NULL);
        assert_sound(&g);
        ar_grouping_fini(&g);
    }
}

/* --- what is asked for --- */

static struct ar_grouping
asked(struct ar_levels levels, const struct ar_domains *domains, int n, struct ar_levels *found)
{
    struct ar_grouping g;
    assert_int_equal(ar_levels_group(&g, found, &levels, domains, n), 0);
    return g;
}

static void
numbers_cut_runs_of_ranks_anew_in_each_larger_group(void **state)
{
    const struct ar_levels sizes = {AR_LEVELS_SIZES, 2, {4, 6}, 0},
                           all = {AR_LEVELS_SIZES, 1, {64}, 0};
    struct ar_levels found;
    (void)state;
    expect(asked(sizes, NULL, 10, &found), true, 3, "[0 1 2 3][4 5][6 7 8 9]",
           "[0 1 2 3 4 5][6 7 8 9]");
    assert_true(ar_levels_equal(&found, &sizes));
    expect(asked(sizes, NULL, 5, &found), true, 2, "[0 1 2 3][4]", "[0 1 2 3 4]");
    assert_int_equal(found.n, 1);
    assert_int_equal(found.value[0], 4);
    expect(asked(all, NULL, 8, &found), true, 1, NULL, NULL);
    assert_int_equal(found.kind, AR_LEVELS_FLAT);
}

static void
names_take_what_is_known(void **state)
{
    static const int cache[] = {0, 0, 2, 2, 4, 4, 6, 6}, socket[] = {0, 0, 0, 0, 4, 4, 4, 4};
    const struct ar_domains domains = {8, {cache, NULL, socket}};
    const struct ar_levels automatic = {.kind = AR_LEVELS_AUTO}, flat = {.kind = AR_LEVELS_FLAT};
    const struct ar_levels named = {AR_LEVELS_NAMES, 2, {AR_DOMAIN_SOCKET, AR_DOMAIN_NUMA}, 0};
    struct ar_levels found;
    (void)state;
    expect(asked(automatic, &domains, 8, &found), true, 3, "[0 1][2 3][4 5][6 7]",
           "[0 1 2 3][4 5 6 7]");
    assert_int_equal(found.kind, AR_LEVELS_NAMES);
    assert_true(found.n == 2 && found.value[0] == AR_DOMAIN_L3 &&
                found.value[1] == AR_DOMAIN_SOCKET);
    expect(asked(named, &domains, 8, &found), true, 2, "[0 1 2 3][4 5 6 7]", NULL);
    assert_true(found.n == 1 && found.value[0] == AR_DOMAIN_SOCKET);
    expect(asked(flat, &domains, 8, &found), true, 1, NULL, NULL);
    expect(asked(automatic, NULL, 8, &found), true, 1, NULL, NULL);
    expect(asked(automatic, &domains, 6, &found), true, 1, NULL, NULL); /* of other ranks */
    assert_false(ar_levels_may_group(&automatic, NULL) || ar_levels_may_group(&flat, &domains));
}

static void
numbers_cut_what_shares_the_innermost_name(void **state)
{
    /* Ranks take turns among the sockets. */
    static const int socket[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, node[10] = {0};
    static const int nowhere[] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    const struct ar_levels automatic = {.kind = AR_LEVELS_AUTO};
    const struct ar_domains domains = {10, {NULL, node, socket}};
    const struct ar_levels mixed = {AR_LEVELS_NAMES, 3, {2, 4, AR_DOMAIN_SOCKET}, 2};
    const struct ar_levels lost = {AR_LEVELS_NAMES, 2, {4, AR_DOMAIN_NUMA}, 1};
    struct ar_levels found;
    (void)state;
    expect(asked(mixed, &domains, 10, &found), false, 4, "[0 2][4 6][8][1 3][5 7][9]",
           "[0 2 4 6][8][1 3 5 7][9]");
    assert_true(ar_levels_equal(&found, &mixed));
    const struct ar_domains no_cache = {10, {nowhere, node, socket}};
    expect(asked(mixed, &no_cache, 10, &found), false, 4, "[0 2][4 6][8][1 3][5 7][9]",
           "[0 2 4 6][8][1 3 5 7][9]");
    expect(asked(automatic, &no_cache, 10, &found), false, 2, "[0 2 4 6 8][1 3 5 7 9]", NULL);
    expect(asked(lost, &domains, 10, &found), true, 2, "[0 1 2 3][4 5 6 7][8 9]", NULL);
    assert_true(found.kind == AR_LEVELS_SIZES && found.n == 1 && found.value[0] == 4);
    expect(asked(mixed, NULL, 10, &found), true, 1, NULL, NULL);
}

/* --- inside nodes --- */

static struct ar_grouping
asked_in_nodes(struct ar_levels levels, const struct ar_domains *domains, const int *node_of, int n,
               struct ar_levels *found)
{
    struct ar_grouping g;
    assert_int_equal(ar_levels_group_nodes(&g, found, &levels, domains, node_of, n), 0);
    return g;
}

static void
numbers_cut_each_node_anew(void **state)
{
    static const int in_turn[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, blocks[] = {0, 0, 0, 1, 1, 2};
    static const int alone[] = {0, 1, 2, 3}, together[] = {0, 0, 0, 0};
    const struct ar_levels twos = {AR_LEVELS_SIZES, 1, {2}, 0},
                           fives = {AR_LEVELS_SIZES, 1, {5}, 0};
    struct ar_levels found;
    (void)state;
    struct ar_grouping g = asked_in_nodes(twos, NULL, in_turn, 10, &found);
    assert_int_equal(g.node_level, 1);
    assert_true(ar_levels_equal(&found, &twos));
    expect(g, false, 3, "[0 2][4 6][8][1 3][5 7][9]", "[0 2 4 6 8][1 3 5 7 9]");
    expect(asked_in_nodes(twos, NULL, blocks, 6, NULL), true, 3, "[0 1][2][3 4][5]",
           "[0 1 2][3 4][5]");
    g = asked_in_nodes(fives, NULL, in_turn, 10, &found); /* each node is a group */
    assert_int_equal(g.node_level, 0);
    assert_int_equal(found.kind, AR_LEVELS_FLAT);
    expect(g, false, 2, "[0 2 4 6 8][1 3 5 7 9]", NULL);
    g = asked_in_nodes(twos, NULL, alone, 4, &found);
    assert_int_equal(g.node_level, 0);
    assert_int_equal(found.kind, AR_LEVELS_FLAT);
    expect(g, true, 1, "[0 1 2 3]", NULL);
    g = asked_in_nodes(twos, NULL, together, 4, &found);
    assert_int_equal(g.node_level, 1);
    expect(g, true, 2, "[0 1][2 3]", "[0 1 2 3]");
}

/* Both nodes name their caches 0 and 4, and their sockets 0; of rank 5 nothing is known. */
static void
domains_of_one_name_on_two_nodes_are_two(void **state)
{
    enum { NRANKS = 8 };
    static const int own[NRANKS][AR_DOMAINS] = {{0, NO, 0}, {4, NO, 0},   {0, NO, 0}, {4, NO, 0},
                                                {0, NO, 0}, {NO, NO, NO}, {4, NO, 0}, {4, NO, 0}};
    static const int node_of[] = {0, 0, 0, 0, 1, 1, 1, 1};
    const struct ar_levels named = {AR_LEVELS_NAMES, 2, {AR_DOMAIN_L3, AR_DOMAIN_SOCKET}, 0};
    const struct ar_levels caches = {AR_LEVELS_NAMES, 1, {AR_DOMAIN_L3}, 0};
    int of[AR_DOMAINS * NRANKS];
    struct ar_domains domains;
    struct ar_levels found;
    (void)state;
    assert_int_equal(ar_domains_of_nodes(&domains, of, own[0], node_of, NRANKS), 0);
    struct ar_grouping g = asked_in_nodes(named, &domains, node_of, NRANKS, &found);
    assert_int_equal(g.node_level, 2);
    assert_true(ar_levels_equal(&found, &named));
    expect(g, false, 4, "[0 2][1 3][4][6 7][5]", "[0 2 1 3][4 6 7][5]");
    expect(asked_in_nodes(caches, &domains, node_of, NRANKS, NULL), false, 3,
           "[0 2][1 3][4][5][6 7]", "[0 2 1 3][4 5 6 7]");
    assert_int_equal(ar_domains_of_nodes(&domains, of, own[0], NULL, NRANKS), 0);
    expect(asked(caches, &domains, NRANKS, NULL), false, 2, "[0 2 4][1 3 6 7][5]", NULL);
}

/* --- auto --- */

static struct ar_levels
auto_of(const struct ar_domains *domains, size_t bytes)
{
    struct ar_levels levels;
    assert_int_equal(ar_levels_auto(&levels, domains, bytes), 0);
    return levels;
}

/* The values that auto has for n ranks in domains of so many. */
static void
expect_auto(int n, int in_domain, size_t bytes, int sizes, int first, int second)
{
    int socket[256];
    const struct ar_domains domains = {n, {NULL, NULL, socket}};
    for (int r = 0; r < n; r++)
        socket[r] = r / in_domain;
    const struct ar_levels levels = auto_of(&domains, bytes);
    assert_true(levels.kind == AR_LEVELS_NAMES && levels.n == sizes + 1);
    assert_int_equal(levels.sizes, sizes);
    assert_int_equal(levels.value[sizes], AR_DOMAIN_SOCKET);
    assert_true(sizes < 1 || levels.value[0] == first);
    assert_true(sizes < 2 || levels.value[1] == second);
}

static void
auto_cuts_domains_for_short_vectors(void **state)
{
    static const size_t kib = 1024;
    int unbound[64] = {0};
    const struct ar_domains some = {64, {NULL, NULL, unbound}}, none = {64, {NULL, NULL, NULL}};
    (void)state;
    /* Into equal groups of four, or else of three, five or two. */
    expect_auto(64, 64, kib, 2, 4, 16);
    expect_auto(64, 32, kib, 2, 4, 16);
    expect_auto(48, 16, kib, 1, 4, 0);
    expect_auto(18, 9, kib, 1, 3, 0);
    expect_auto(20, 10, kib, 1, 5, 0);
    expect_auto(14, 14, kib, 1, 2, 0);
    expect_auto(6, 6, kib, 0, 0, 0);
    expect_auto(192, 192, 8, 2, 4, 16);
    /* Longer ones into groups of about eight, where there are more than 16. */
    expect_auto(64, 64, kib + 1, 1, 8, 0);
    expect_auto(64, 64, 1024 * kib, 1, 8, 0);
    expect_auto(64, 32, 1024 * kib, 1, 8, 0);
    expect_auto(48, 16, kib + 1, 0, 0, 0);
    expect_auto(192, 192, 2 * kib, 2, 8, 64);
    /* Unequal groups only up to a length, and of at most 256 bytes. */
    expect_auto(40, 20, 8 * kib, 1, 7, 0);
    expect_auto(40, 20, 8 * kib + 1, 0, 0, 0);
    expect_auto(66, 66, 64 * kib, 1, 8, 0);
    expect_auto(66, 66, 64 * kib + 1, 0, 0, 0);
    expect_auto(34, 17, 256, 1, 4, 0);
    expect_auto(34, 17, 257, 1, 6, 0);
    expect_auto(26, 13, 257, 0, 0, 0);
    assert_int_equal(auto_of(&some, 8).sizes, 2);
    unbound[5] = -1;
    assert_int_equal(auto_of(&some, 8).sizes, 0);
    assert_int_equal(auto_of(&none, 8).sizes, 0);
}

/* All ranks in one domain: few of them go flat with what is short, and longer vectors are cut. */
static void
auto_cuts_a_lone_domain_by_length(void **state)
{
    static const size_t kib = 1024;
    (void)state;
    for (int nranks = 2; nranks <= 12; nranks++)
        expect_auto(nranks, nranks, 256, 0, 0, 0);
    expect_auto(14, 14, 256, 1, 2, 0);
    expect_auto(12, 12, 257, 1, 4, 0);
    expect_auto(11, 11, 257, 0, 0, 0);
    expect_auto(8, 8, kib, 0, 0, 0);
    expect_auto(9, 9, kib, 1, 3, 0);
    expect_auto(7, 7, kib + 1, 0, 0, 0);
    expect_auto(8, 8, kib + 1, 1, 4, 0);
    expect_auto(11, 11, kib + 1, 0, 0, 0);
    expect_auto(16, 16, 512 * kib, 1, 4, 0);
    expect_auto(16, 16, 512 * kib + 1, 0, 0, 0);
    /* Two domains: as before. */
    expect_auto(16, 8, 512, 1, 4, 0);
    expect_auto(16, 8, 8 * kib, 0, 0, 0);
}

/* What 64 ranks in groups of these sizes combine whole, in bytes: vectors of up to `all`, and after
 * the first level up to `held` of a longer one.  shared: all ranks share a cache. */
static void
expect_whole(const struct ar_levels *sizes, bool shared, size_t all, size_t held)
{
    static const int cache[64] = {0};
    const struct ar_domains domains = {64, {cache, NULL, NULL}};
    const struct ar_shm_tuning tuning = ar_shm_tune(64, AR_USUAL_CACHE, false);
    struct ar_grouping g = asked(*sizes, shared ? &domains : NULL, 64, NULL);
    struct ar_params params = ar_algorithm_find("shm", 3)->defaults;
    params.grouping = &g;
    assert_int_equal(g.one_domain, shared);
    assert_int_equal(ar_shm_whole(&tuning, &params, all, all, 1), SIZE_MAX);
    assert_int_equal(ar_shm_whole(&tuning, &params, all + 1, all + 1, 1), held < all ? held : all);
    assert_int_equal(ar_shm_whole(&tuning, &params, 4096, 4096, 1), held);
    ar_grouping_fini(&g);
}

static void
the_more_levels_the_less_is_combined_whole(void **state)
{
    static const struct ar_levels two = {AR_LEVELS_SIZES, 1, {8}, 0},
                                  three = {AR_LEVELS_SIZES, 2, {4, 16}, 0},
                                  four = {AR_LEVELS_SIZES, 3, {2, 4, 16}, 0},
                                  five = {AR_LEVELS_SIZES, 4, {2, 4, 8, 16}, 0},
                                  unequal = {AR_LEVELS_SIZES, 2, {5, 20}, 0},
                                  outer_unequal = {AR_LEVELS_SIZES, 2, {4, 20}, 0};
    (void)state;
    expect_whole(&two, false, 256, 512);
    expect_whole(&two, true, 512, 512);
    expect_whole(&three, false, 128, 256);
    expect_whole(&three, true, 128, 256);
    expect_whole(&four, true, 128, 128);
    expect_whole(&five, true, 128, 128);
    expect_whole(&unequal, true, 256, 256);
    expect_whole(&outer_unequal, true, 128, 256);
}

static void
one_domain_is_one_on_every_level_that_is_known(void **state)
{
    static const int one[] = {3, 3, 3, 3}, two[] = {0, 0, 1, 1}, none[] = {NO, NO, NO, NO},
                     some[] = {0, 0, 0, NO};
    static const struct {
        const int *of[AR_DOMAINS];
        bool is_one;
    } cases[] = {{{one, NULL, one}, true},    {{two, one, one}, false},  {{one, one, two}, false},
                 {{none, none, none}, false}, {{none, one, NULL}, true}, {{some, one, one}, false},
                 {{NULL, NULL, NULL}, false}};
    const struct ar_levels flat = {.kind = AR_LEVELS_FLAT};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct ar_domains domains = {4, {cases[i].of[0], cases[i].of[1], cases[i].of[2]}};
        struct ar_grouping g = asked(flat, &domains, 4, NULL);
        assert_int_equal(g.one_domain, cases[i].is_one);
        ar_grouping_fini(&g);
    }
}

/* auto has these of l3, numa and socket for ranks of which so many share each. */
static void
expect_names(int nranks, const int in_domain[AR_DOMAINS], size_t bytes, const char *expected)
{
    int of[AR_DOMAINS][128];
    char names[64] = "";
    size_t n = 0;
    struct ar_domains domains = {.nranks = nranks};
    for (int d = 0; d < AR_DOMAINS; d++) {
        for (int r = 0; r < nranks; r++)
            of[d][r] = r / in_domain[d];
        domains.of[d] = of[d];
    }
    const struct ar_levels levels = auto_of(&domains, bytes);
    for (int i = levels.sizes; i < levels.n; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n > 0 ? "+" : "",
                              ar_domain_names[levels.value[i]]);
    assert_string_equal(names, expected);
}

static const int rome[] = {4, 16, 64}, milan[] = {8, 24, 48};

/* Of up to 128 bytes a rank where there are four units in its place, of up to 256 where there are
 * 16. */
static void
auto_leaves_out_outer_names_for_short_vectors(void **state)
{
    (void)state;
    expect_names(128, rome, 8, "l3+numa+socket");
    expect_names(128, rome, 128 * 128, "l3+numa+socket");
    expect_names(128, rome, 128 * 128 + 1, "l3+numa");
    expect_names(128, rome, 128 * 256, "l3+numa");
    expect_names(128, rome, 128 * 256 + 1, "l3+numa+socket");
    expect_names(96, milan, 8, "l3+numa");
    expect_names(96, milan, 96 * 128, "l3+numa");
    expect_names(96, milan, 96 * 128 + 1, "l3");
    expect_names(96, milan, 96 * 256 + 1, "l3+numa+socket");
    expect_names(64, rome, 8, "l3+numa");
    expect_names(64, rome, 64 * 256, "l3");
    expect_names(16, rome, 8, "l3");
}

static void
auto_leaves_out_unequal_domains_for_short_vectors(void **state)
{
    (void)state;
    expect_names(96, rome, 4096, "l3+numa"); /* sockets of 64 and 32 */
    expect_names(96, rome, 96 * 256 + 1, "l3+numa+socket");
    expect_names(64, milan, 4096, "l3");     /* NUMA nodes of 24, 24 and 16 */
    expect_names(68, rome, 4096, "l3+numa"); /* 17 caches would be too many for one round */
    /* Of few ranks none is better. */
    expect_names(12, milan, 2048, "");
    expect_names(12, milan, 2049, "l3");
    expect_names(16, milan, 8, "l3");
    expect_names(17, milan, 8, "l3");
}

/* All unequal domains are flat for short vectors.  For long ones, of more than a chunk of 64 KiB,
 * those are of which one has less than half as many ranks as another. */
static void
auto_is_flat_for_few_ranks_in_unequal_domains(void **state)
{
    static const char all[] = "l3+numa+socket";
    const size_t one = (size_t)64 << 10, more = one + 1;
    (void)state;
    for (int n = 5; n <= 11; n++) {
        expect_names(n, rome, 2048, n == 8 ? "l3" : "");
        expect_names(n, rome, one, all);
    }
    expect_names(12, rome, 2048, "l3");
    expect_names(13, rome, 2048, "l3");
    expect_names(5, rome, more, "");
    expect_names(6, rome, more, all);
    expect_names(8, rome, more, all);
    expect_names(9, rome, more, "");
    expect_names(10, rome, more, all);
    expect_names(9, milan, more, "");
    expect_names(11, milan, more, "");
    expect_names(12, milan, more, all);
    expect_names(13, rome, more, all);
}

/* Of the vectors that are combined by slices, those are flat whose slices have at most 48 bytes. */
static void
auto_is_flat_for_16_ranks_whose_slices_come_with_their_flags(void **state)
{
    (void)state;
    for (int n = 13; n <= 15; n++) {
        expect_names(n, rome, 256, "l3");
        expect_names(n, rome, 257, "");
        expect_names(n, rome, 48 * (size_t)n, "");
        expect_names(n, rome, 48 * (size_t)n + 1, "l3");
    }
    expect_names(16, rome, 512, "l3");
    expect_names(17, rome, 512, "l3+socket");
}

/* Up to 16 KiB. */
static void
auto_is_flat_for_two_domains_of_which_one_has_a_rank_or_two(void **state)
{
    const size_t most = (size_t)16 << 10;
    (void)state;
    expect_names(5, rome, most, "");
    expect_names(5, rome, most + 1, "l3+numa+socket");
    expect_names(6, rome, most, "l3+numa+socket");
    expect_names(9, rome, most, "l3+numa+socket");
    expect_names(9, milan, most, "");
    expect_names(10, milan, most, "");
    expect_names(10, milan, most + 1, "l3+numa+socket");
    expect_names(11, milan, most, "l3+numa+socket");
}

/* As on machines of several sockets in each NUMA node. */
static void
the_level_with_fewer_domains_is_the_outer_one(void **state)
{
    static const int numa[] = {0, 0, 0, 0, 4, 4, 4, 4}, socket[] = {0, 0, 2, 2, 4, 4, 6, 6};
    const struct ar_domains domains = {8, {NULL, numa, socket}};
    const struct ar_levels automatic = {.kind = AR_LEVELS_AUTO};
    struct ar_levels found;
    (void)state;
    expect(asked(automatic, &domains, 8, &found), true, 3, "[0 1][2 3][4 5][6 7]",
           "[0 1 2 3][4 5 6 7]");
    assert_true(found.value[0] == AR_DOMAIN_SOCKET && found.value[1] == AR_DOMAIN_NUMA);
}

/* --- made-up machines --- */

/* The levels of n ranks, of which rank r is bound to CPU r * step modulo n, and those whose bit is
 * set in unbound to none. */
static void
expect_machine(const struct topology *t, int n, int step, unsigned unbound, const char *levels,
               const char *inner)
{
    static const enum ar_cpu_level level[] = {AR_CPU_CACHE, AR_CPU_NUMA, AR_CPU_SOCKET};
    const struct ar_levels automatic = {.kind = AR_LEVELS_AUTO};
    char root[] = "test_grouping_XXXXXX", text[64] = "";
    int of[AR_DOMAINS][32];
    struct ar_levels found = {0};
    size_t length = 0;
    assert_non_null(mkdtemp(root));
    topology_make(t, root);
    for (int r = 0; r < n; r++) {
        struct ar_cpus mask = {{0}};
        struct ar_cpu_levels of_rank;
        for (int cpu = 0; cpu < n; cpu++)
            if (cpu == r * step % n || unbound >> r & 1)
                ar_cpus_add(&mask, cpu);
        ar_cpu_levels_find(&of_rank, root, &mask);
        for (int d = 0; d < AR_DOMAINS; d++)
            of[d][r] = of_rank.domain[level[d]];
    }
    topology_remove(root);
    const struct ar_domains domains = {n, {of[0], of[1], of[2]}};
    struct ar_grouping g = asked(automatic, &domains, n, &found);
    assert_sound(&g);
    for (int l = 0; l < found.n; l++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", l ? "+" : "",
                                   ar_domain_names[found.value[l]]);
    assert_string_equal(text, levels);
    assert_string_equal(level_of(&g, 0), inner);
    ar_grouping_fini(&g);
}

static void
the_cores_of_a_machine_give_its_levels(void **state)
{
    const struct topology full = {.sockets = 2, .nodes = 2, .caches = 2, .cores = 2, .threads = 1};
    const struct topology plain = {.sockets = 2, .nodes = 1, .caches = 1, .cores = 4, .threads = 1};
    const struct topology clusters = {
        .sockets = 1, .nodes = 2, .cores = 4, .threads = 1, .cluster = 2};
    (void)state;
    expect_machine(&full, 16, 1, 0, "l3+numa+socket",
                   "[0 1][2 3][4 5][6 7][8 9][10 11][12 13][14 15]");
    expect_machine(&full, 16, 3, 0, "l3+numa+socket",
                   "[0 11][1 6][2 13][7 12][3 8][9 14][4 15][5 10]");
    expect_machine(&plain, 8, 1, 0, "l3", "[0 1 2 3][4 5 6 7]");
    expect_machine(&clusters, 8, 1, 0, "l3+numa", "[0 1][2 3][4 5][6 7]");
    expect_machine(&plain, 8, 1, 0x81, "l3", "[0][1 2 3][4 5 6][7]");
    expect_machine(&full, 16, 1, 0xffff, "", "[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15]");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_domains_are_groups_that_nest),
        cmocka_unit_test(groups_may_be_unequal),
        cmocka_unit_test(ranks_in_any_order_are_put_together),
        cmocka_unit_test(levels_that_change_nothing_are_left_out),
        cmocka_unit_test(ranks_without_a_domain_are_grouped_by_the_levels_above),
        cmocka_unit_test(a_domain_that_is_spread_over_several_above_is_cut),
        cmocka_unit_test(ranks_of_a_group_share_its_domain_and_all_outer_ones),
        cmocka_unit_test(a_lane_lies_within_the_lane_of_the_level_below),
        cmocka_unit_test(lanes_of_unequal_groups_are_sound),
        cmocka_unit_test(numbers_cut_runs_of_ranks_anew_in_each_larger_group),
        cmocka_unit_test(names_take_what_is_known),
        cmocka_unit_test(numbers_cut_what_shares_the_innermost_name),
        cmocka_unit_test(numbers_cut_each_node_anew),
        cmocka_unit_test(domains_of_one_name_on_two_nodes_are_two),
        cmocka_unit_test(auto_cuts_domains_for_short_vectors),
        cmocka_unit_test(auto_cuts_a_lone_domain_by_length),
        cmocka_unit_test(the_more_levels_the_less_is_combined_whole),
        cmocka_unit_test(one_domain_is_one_on_every_level_that_is_known),
        cmocka_unit_test(auto_leaves_out_outer_names_for_short_vectors),
        cmocka_unit_test(auto_leaves_out_unequal_domains_for_short_vectors),
        cmocka_unit_test(auto_is_flat_for_few_ranks_in_unequal_domains),
        cmocka_unit_test(auto_is_flat_for_16_ranks_whose_slices_come_with_their_flags),
        cmocka_unit_test(auto_is_flat_for_two_domains_of_which_one_has_a_rank_or_two),
        cmocka_unit_test(the_level_with_fewer_domains_is_the_outer_one),
        cmocka_unit_test(the_cores_of_a_machine_give_its_levels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
