/* What it costs to make a schedule, a card, a map of nodes or the groups of nodes for 65,536 ranks,
 * in steps.  They are counted: the compiler lets each basic block of src/algorithms and of the
 * schedule's builder call a function of this test. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/card.h"
#include "algorithms/firsts.h"
#include "algorithms/nodes.h"
#include "algorithms/registry.h"
#include "unit.h"

#define RANKS 65536

/* For each rank of the communicator and each step of a schedule.  What takes the square of their
 * number takes at least 1000 times as many. */
#define STEPS_MOST 256

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* For each rank and each time that its number can be halved, where groups of ranks are sorted. */
#define SORT_STEPS_MOST 128

/* So many that it is certain that there are too many: the test ends at once then. */
#define STEPS_END ((size_t)STEPS_MOST * RANKS * 64)

static size_t steps;
static char counted[256]; /* what takes them */

/* The name is the compiler's (-fsanitize-coverage=trace-pc). */
void __sanitizer_cov_trace_pc(void); /* NOLINT */

void
__sanitizer_cov_trace_pc(void) /* NOLINT */
{
    if (++steps == STEPS_END)
        fail_msg("%s: more than %zu steps", counted, STEPS_END);
}

/* How ranks lie on nodes. */
static const struct placed {
    const char *name;
    int nodes;
    bool in_turn; /* not in blocks */
} placements[] = {{"one node", 1, false},
                  {"3 nodes", 3, false},
                  {"4 nodes", 4, true},
                  {"1024 nodes", 1024, true},
                  {"32768 nodes", RANKS / 2, true},
                  {"65536 nodes", RANKS, false}};

static void
place(int *node_of, const struct placed *placed)
{
    for (int r = 0; r < RANKS; r++)
        node_of[r] = placed->in_turn ? r % placed->nodes : (int)((long)r * placed->nodes / RANKS);
}

static void
check(const struct ar_algorithm *row, const struct ar_params *params, const char *where)
{
    const int ranks[] = {0, RANKS - 1}; /* 0 leads a node, or a tree */
    for (size_t i = 0; i < LENGTH(ranks); i++) {
        struct ar_schedule s;
        snprintf(counted, sizeof counted, "%s on %s, rank %d, between nodes %s", row->name, where,
                 ranks[i], params->inter ? params->inter->name : "default");
        steps = 0;
        assert_int_equal(ar_algorithm_emit(row, &s, ranks[i], RANKS, RANKS, params), AR_OK);
        const size_t most = STEPS_MOST * (RANKS + s.nsteps);
        if (steps == 0 || steps > most)
            fail_msg("%s: %zu steps for a schedule of %zu, not 1 to %zu", counted, steps, s.nsteps,
                     most);
        ar_schedule_fini(&s);
    }
}

/* By its defaults, and with other parameters that ask for ranks of a node.  Each row runs between
 * as many nodes as there are ranks. */
static void
check_row(const struct ar_algorithm *row, const int *node_of, const char *where)
{
    struct ar_params params = row->defaults;
    params.node_of = node_of;
    check(row, &params, where);
    if (row->takes & AR_TAKES_ORDER)
        params.order = AR_RING_BY_NODE;
    if (row->takes & AR_TAKES_INTRA)
        params.intra = AR_INTRA_FLAT;
    if (row->takes & AR_TAKES_LANES)
        params.lanes = 1;
    if (row->takes & (AR_TAKES_ORDER | AR_TAKES_INTRA | AR_TAKES_LANES))
        check(row, &params, where);
    params.lanes = 0;
    const bool takes_inter = row->takes & AR_TAKES_INTER && node_of[RANKS - 1] == RANKS - 1;
    for (size_t i = 0; takes_inter && ar_algorithm_at(i); i++) {
        params.inter = ar_algorithm_at(i);
        check(row, &params, where);
    }
}

/* By levels inside the nodes, whose groups are made once for all schedules. */
static void
check_levels_in_nodes(const struct ar_algorithm *row, const int *node_of, const char *where)
{
    struct ar_params params = row->defaults;
    struct ar_grouping grouping;
    params.node_of = node_of;
    params.levels = (struct ar_levels){AR_LEVELS_SIZES, 3, {4, 8, 64}, 0};
    snprintf(counted, sizeof counted, "groups on %s", where);
    steps = 0;
    assert_int_equal(ar_algorithm_group(&grouping, NULL, row, &params, RANKS), AR_OK);
    assert_in_range(steps, 1, (size_t)SORT_STEPS_MOST * RANKS * 16);
    params.grouping = &grouping;
    for (int lanes = 0; lanes < 3; lanes++) {
        params.lanes = lanes;
        check(row, &params, where);
    }
    ar_grouping_fini(&grouping);
}

static void
a_schedule_takes_so_many_steps_for_each_rank_and_each_of_its_own(void **state)
{
    static int node_of[RANKS];
    (void)state;
    for (size_t p = 0; p < LENGTH(placements); p++) {
        place(node_of, &placements[p]);
        for (size_t i = 0; ar_algorithm_at(i); i++) {
            check_row(ar_algorithm_at(i), node_of, placements[p].name);
            if (ar_algorithm_has_levels_in_nodes(ar_algorithm_at(i)))
                check_levels_in_nodes(ar_algorithm_at(i), node_of, placements[p].name);
        }
    }
}

static void
a_card_takes_so_many_steps_for_each_rank(void **state)
{
    static int node_of[RANKS];
    (void)state;
    for (size_t p = 0; p < LENGTH(placements); p++) {
        place(node_of, &placements[p]);
        for (size_t i = 0; ar_algorithm_at(i); i++) {
            const struct ar_algorithm *const row = ar_algorithm_at(i);
            struct ar_params params = row->defaults;
            params.node_of = node_of;
            params.window = AR_WINDOW_AUTO;
            steps = 0;
            assert_in_range(ar_algorithm_window(row, &params, RANKS), 1, AR_WINDOW_MAX);
            assert_in_range(steps, 1, (size_t)STEPS_MOST * RANKS);
        }
    }
}

static void
hosts_take_so_many_steps_for_each_rank(void **state)
{
    static uint64_t host_of[RANKS];
    static int node_of[RANKS], first_of[RANKS];
    (void)state;
    for (size_t p = 0; p < LENGTH(placements); p++) {
        place(node_of, &placements[p]);
        for (int r = 0; r < RANKS; r++) /* in an order of their own */
            host_of[r] = (uint64_t)node_of[r] * 0x9e3779b97f4a7c15U + 1;
        steps = 0;
        assert_int_equal(ar_firsts_find(first_of, host_of, RANKS), AR_OK);
        assert_in_range(steps, 1, (size_t)STEPS_MOST * RANKS);
        for (int r = 0; r < RANKS; r++) {
            assert_int_equal(node_of[first_of[r]], node_of[r]);
            assert_int_equal(first_of[first_of[r]], first_of[r]);
            assert_true(first_of[r] <= r);
        }
    }
}

/* Those of every node's ranks, made one after the other. */
static void
check_groups(const struct ar_levels *asked, const struct ar_domains *domains, int halvings)
{
    const int nranks = domains->nranks;
    snprintf(counted, sizeof counted, "groups of %d ranks, kind %d", nranks, (int)asked->kind);
    steps = 0;
    for (int node = 0; node < RANKS / nranks; node++) {
        struct ar_levels levels = *asked;
        struct ar_grouping g;
        if (levels.kind == AR_LEVELS_AUTO)
            assert_int_equal(ar_levels_auto(&levels, domains, 8), AR_OK);
        assert_int_equal(ar_levels_group(&g, NULL, &levels, domains, nranks), AR_OK);
        assert_in_range(g.nlevels, 3, AR_GROUPING_LEVELS);
        ar_grouping_fini(&g);
    }
    const size_t most = (size_t)SORT_STEPS_MOST * RANKS * (size_t)halvings;
    if (steps == 0 || steps > most)
        fail_msg("%s: %zu steps, not 1 to %zu", counted, steps, most);
}

/* Ranks take turns among domains of 32, 64 and 128 ranks. */
static void
groups_take_so_many_steps_for_each_rank_and_halving(void **state)
{
    static const struct ar_levels asked[] = {{.kind = AR_LEVELS_AUTO},
                                             {AR_LEVELS_SIZES, 3, {4, 8, 64}, 0}};
    static const int halvings[] = {8, 16};
    static int of[AR_DOMAINS][RANKS];
    (void)state;
    for (size_t h = 0; h < LENGTH(halvings); h++) {
        const struct ar_domains domains = {1 << halvings[h], {of[0], of[1], of[2]}};
        for (int d = 0; d < AR_DOMAINS; d++)
            for (int r = 0; r < domains.nranks; r++)
                of[d][r] = r % (domains.nranks / 32 >> d);
        for (size_t i = 0; i < LENGTH(asked); i++)
            check_groups(&asked[i], &domains, halvings[h]);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_schedule_takes_so_many_steps_for_each_rank_and_each_of_its_own),
        cmocka_unit_test(a_card_takes_so_many_steps_for_each_rank),
        cmocka_unit_test(groups_take_so_many_steps_for_each_rank_and_halving),
        cmocka_unit_test(hosts_take_so_many_steps_for_each_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
