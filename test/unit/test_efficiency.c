/* What the cards say of messages: how much a rank sends, in how many rounds, and
 * to whom. */
#include <stdlib.h>
#include <string.h>

#include "algorithms/cart.h"
#include "algorithms/nodes.h"
#include "algorithms/registry.h"
#include "unit.h"

static const struct ar_algorithm *
row_of(const char *name)
{
    const struct ar_algorithm *row = ar_algorithm_find(name, strlen(name));
    assert_non_null(row);
    return row;
}

struct traffic {
    size_t sent; /* elements */
    size_t away; /* of these, to other nodes */
    size_t rounds;
};

static int
node_of(const struct ar_params *params, int rank)
{
    return params->node_of ? params->node_of[rank] : 0;
}

static struct traffic
traffic_of(const struct ar_algorithm *row, int rank, int nranks, size_t count,
           const struct ar_params *params)
{
    struct traffic t = {0, 0, 0};
    struct ar_schedule s;
    assert_int_equal(ar_algorithm_emit(row, &s, rank, nranks, count, params), AR_OK);
    for (size_t i = 0; i < s.nsteps; i++) {
        if (s.steps[i].kind != AR_SEND)
            continue;
        t.sent += s.steps[i].a.length;
        if (node_of(params, s.steps[i].peer) != node_of(params, rank))
            t.away += s.steps[i].a.length;
    }
    t.rounds = s.nrounds;
    ar_schedule_fini(&s);
    return t;
}

/* Of each quantity the most of any rank. */
static struct traffic
most_of(const char *name, int nranks, size_t count)
{
    const struct ar_algorithm *row = row_of(name);
    struct traffic most = {0, 0, 0};
    for (int rank = 0; rank < nranks; rank++) {
        const struct traffic t = traffic_of(row, rank, nranks, count, &row->defaults);
        most.sent = t.sent > most.sent ? t.sent : most.sent;
        most.rounds = t.rounds > most.rounds ? t.rounds : most.rounds;
    }
    return most;
}

static size_t
ceil_log2(int n)
{
    size_t log = 0;
    while (n > 1 << log)
        log++;
    return log;
}

/* A count that nranks, and a half or a grid of it, divide. */
static size_t
even_count(int nranks)
{
    return 4 * (size_t)nranks;
}

static void
sends_the_least(const char *name, int nranks)
{
    const size_t n = even_count(nranks), p = (size_t)nranks;
    const size_t sent = most_of(name, nranks, n).sent;
    if (sent != 2 * n / p * (p - 1))
        fail_msg("%s sends %zu elements of %zu on %d ranks", name, sent, n, nranks);
}

static void
some_send_the_least_on_any_number_of_ranks(void **state)
{
    static const char *const names[] = {"ring", "segmented_ring", "bidirectional_ring", "circulant",
                                        "reduce_scatter_allgather"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (int nranks = 1; nranks <= 70; nranks++)
            sends_the_least(names[i], nranks);
}

static void
rhd_sends_the_least_on_powers_of_two_and_n_more_elsewhere(void **state)
{
    (void)state;
    for (int nranks = 1; nranks <= 256; nranks *= 2)
        sends_the_least("rhd", nranks);
    for (int core = 2; core <= 64; core *= 2)
        for (int nranks = core + 1; nranks < 2 * core; nranks++) {
            const size_t n = even_count(core), q = (size_t)core;
            assert_int_equal(most_of("rhd", nranks, n).sent, 2 * n / q * (q - 1) + n);
        }
}

static void
swing_sends_the_least_on_even_numbers_of_ranks(void **state)
{
    (void)state;
    for (int nranks = 2; nranks <= 256; nranks += 2)
        sends_the_least("swing", nranks);
    for (int nranks = 3; nranks <= 71; nranks += 2) {
        const size_t q = (size_t)nranks - 1, n = 4 * q;
        assert_int_equal(most_of("swing", nranks, n).sent, 2 * n / q * (q - 1) + n / q);
    }
}

static void
rounds_are_logarithmic(void **state)
{
    (void)state;
    for (int p = 2; p <= 70; p++) {
        const size_t n = even_count(p), log = ceil_log2(p);
        const size_t folds = (p & (p - 1)) ? 2 : 0;
        assert_int_equal(most_of("circulant", p, n).rounds, 2 * log);
        assert_int_equal(most_of("rhd", p, n).rounds, folds ? 2 * (log - 1) + folds : 2 * log);
        assert_int_equal(most_of("swing", p, n).rounds, 2 * ceil_log2(p & ~1) + (p % 2));
    }
}

static void
grids_without_ranks_left_over_send_the_least(void **state)
{
    static const int sizes[] = {4, 6, 9, 12, 16, 36, 64, 120};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        sends_the_least("torus2d", sizes[i]);
        sends_the_least("blueconnect", sizes[i]);
    }
}

static void
a_grid_fits_and_is_nearly_square(void **state)
{
    (void)state;
    for (int ndims = 2; ndims <= 3; ndims++)
        for (int p = 1; p <= 300; p++) {
            const struct ar_params params = {.window = 1};
            const struct ar_cart cart = ar_cart_make(p - 1, p, &params, ndims, AR_DIMS_MAX);
            assert_true(cart.size <= p && 2 * cart.size >= p);
            for (int i = 0; i < ndims; i++)
                for (int j = 0; j < ndims; j++)
                    assert_true(cart.dims[i] <= 4 * cart.dims[j]);
        }
}

static void
given_dimensions_are_cut_to_fit(void **state)
{
    const struct ar_params params = {.ndims = 2, .dims = {3, 1000}, .window = 1};
    const struct ar_cart cart = ar_cart_make(0, 14, &params, 2, 2);
    (void)state;
    assert_int_equal(cart.dims[0], 3);
    assert_int_equal(cart.dims[1], 4);
    assert_int_equal(cart.size, 12);
    assert_int_equal(cart.run, 2);
}

static void
a_missing_dimension_takes_what_is_left(void **state)
{
    const struct ar_params params = {.ndims = 1, .dims = {4}, .window = 1};
    const struct ar_cart cart = ar_cart_make(0, 24, &params, 2, 2);
    (void)state;
    assert_int_equal(cart.ndims, 2);
    assert_int_equal(cart.dims[1], 6);
}

/* 3 nodes with 4 ranks each, dealt round. */
static const int dealt[12] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};

static void
rows_of_the_torus_are_nodes_however_ranks_are_placed(void **state)
{
    const size_t n = 12;
    struct ar_params params = row_of("torus2d")->defaults;
    params.node_of = dealt;
    (void)state;
    for (int rank = 0; rank < 12; rank++) {
        const struct traffic t = traffic_of(row_of("torus2d"), rank, 12, n, &params);
        assert_int_equal(t.sent, 2 * (n - 1));
        assert_int_equal(t.away, 2 * (n / 4 - 1));
    }
}

static void
only_leaders_send_to_other_nodes(void **state)
{
    static const char *const names[] = {"hier_ring", "hier_reduce_bcast", "hier_gather_scatter"};
    static const int uneven[12] = {0, 1, 0, 0, 0, 2, 1, 0, 0, 3, 0, 3};
    const bool leads[12] = {[0] = true, [1] = true, [5] = true, [9] = true};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct ar_params params = row_of(names[i])->defaults;
        params.node_of = uneven;
        for (int rank = 0; rank < 12; rank++)
            assert_int_equal(traffic_of(row_of(names[i]), rank, 12, 12, &params).away > 0,
                             leads[rank]);
    }
}

static void
the_mesh_sends_to_neighbours_only(void **state)
{
    const struct ar_params params = {.ndims = 2, .dims = {4, 3}, .window = 1};
    (void)state;
    for (int rank = 0; rank < 12; rank++) {
        struct ar_schedule s;
        assert_int_equal(ar_algorithm_emit(row_of("mesh2d"), &s, rank, 12, 48, &params), AR_OK);
        for (size_t i = 0; i < s.nsteps; i++) {
            const int peer = s.steps[i].peer;
            if (peer >= 0)
                assert_int_equal(abs(rank % 4 - peer % 4) + abs(rank / 4 - peer / 4), 1);
        }
        ar_schedule_fini(&s);
    }
}

static struct ar_nodes
nodes_of(int nranks, const int *node_of)
{
    const struct ar_params params = {.node_of = node_of};
    return ar_nodes_make(0, nranks, &params);
}

static void
nodes_are_even_only_if_all_are(void **state)
{
    static const int uneven[12] = {0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2};
    const struct ar_nodes even = nodes_of(12, dealt);
    const struct ar_nodes not_even = nodes_of(12, uneven);
    const struct ar_nodes unknown = nodes_of(12, NULL);
    (void)state;
    assert_int_equal(ar_nodes_even(&even), 4);
    assert_int_equal(ar_nodes_even(&not_even), 0);
    assert_int_equal(ar_nodes_even(&unknown), 12);
}

/* More nodes than are counted at once. */
static void
many_nodes_are_counted(void **state)
{
    enum { NODES = 3000 };
    int *map = calloc(NODES, 2 * sizeof *map);
    (void)state;
    assert_non_null(map);
    for (int r = 0; r < 2 * NODES; r++)
        map[r] = r / 2;
    const struct ar_nodes even = nodes_of(2 * NODES, map);
    assert_int_equal(ar_nodes_even(&even), 2);
    map[2 * NODES - 2] = NODES - 2;
    const struct ar_nodes uneven = nodes_of(2 * NODES, map);
    assert_int_equal(ar_nodes_even(&uneven), 0);
    free(map);
}

static void
assert_same_nodes(const struct ar_nodes *looked_up, const struct ar_nodes *searched)
{
    assert_int_equal(looked_up->count, searched->count);
    assert_int_equal(looked_up->mine, searched->mine);
    assert_int_equal(looked_up->local_rank, searched->local_rank);
    assert_int_equal(looked_up->local_size, searched->local_size);
    int least[2], most[2];
    ar_nodes_sizes(looked_up, &least[0], &most[0]);
    ar_nodes_sizes(searched, &least[1], &most[1]);
    assert_int_equal(least[0], least[1]);
    assert_int_equal(most[0], most[1]);
    assert_int_equal(ar_nodes_even(looked_up), ar_nodes_even(searched));
    for (int i = 0; i < searched->local_size; i++)
        assert_int_equal(ar_nodes_rank(looked_up, searched->mine, i),
                         ar_nodes_rank(searched, searched->mine, i));
}

static void
the_index_says_what_a_search_finds(void **state)
{
    static const int maps[][12] = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                   {0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2},
                                   {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2},
                                   {0, 1, 1, 0, 2, 1, 3, 3, 0, 1, 1, 4},
                                   {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}};
    (void)state;
    for (size_t m = 0; m < sizeof maps / sizeof maps[0]; m++)
        for (int n = 1; n <= 12; n++) {
            struct ar_node_index index;
            assert_int_equal(ar_node_index_init(&index, maps[m], n), AR_OK);
            for (int rank = 0; rank < n; rank++) {
                struct ar_params params = {.node_of = maps[m]};
                const struct ar_nodes searched = ar_nodes_make(rank, n, &params);
                params.node_index = &index;
                const struct ar_nodes looked_up = ar_nodes_make(rank, n, &params);
                assert_same_nodes(&looked_up, &searched);
            }
            ar_node_index_fini(&index);
        }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_send_the_least_on_any_number_of_ranks),
        cmocka_unit_test(rhd_sends_the_least_on_powers_of_two_and_n_more_elsewhere),
        cmocka_unit_test(swing_sends_the_least_on_even_numbers_of_ranks),
        cmocka_unit_test(rounds_are_logarithmic),
        cmocka_unit_test(grids_without_ranks_left_over_send_the_least),
        cmocka_unit_test(a_grid_fits_and_is_nearly_square),
        cmocka_unit_test(given_dimensions_are_cut_to_fit),
        cmocka_unit_test(a_missing_dimension_takes_what_is_left),
        cmocka_unit_test(rows_of_the_torus_are_nodes_however_ranks_are_placed),
        cmocka_unit_test(only_leaders_send_to_other_nodes),
        cmocka_unit_test(the_mesh_sends_to_neighbours_only),
        cmocka_unit_test(nodes_are_even_only_if_all_are),
        cmocka_unit_test(many_nodes_are_counted),
        cmocka_unit_test(the_index_says_what_a_search_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
