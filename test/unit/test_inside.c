/* Messages between ranks of a node that share more or less of it, in the model: against what one
 * can work out by hand. */
#include <math.h>
#include <stdlib.h>

#include "model/network.h"
#include "predicted.h"
#include "schedule/error.h"
#include "unit.h"

/* Numbers that doubles hold exactly. */
#define A     1024.0 /* latency of the nearest ranks' messages */
#define B     2.0    /* ns of a byte of them */
#define C     0.25   /* ns to reduce one */
#define N     1000   /* bytes */
#define RANKS 8      /* of a node: in caches of 2 and sockets of 4 */

static const struct ar_machine_domain cache = {
    .name = "l3", .ranks = 2, .latency = 16, .per_byte = 0.5};
static const struct ar_machine_domain socket = {
    .name = "socket", .ranks = 4, .latency = 64, .per_byte = 1};
static const struct ar_machine_domain whole = {
    .name = "node", .ranks = RANKS, .latency = 128, .per_byte = 4};

/* How much longer than the nearest ranks' messages those of a socket and those of the node take. */
#define SOCKET_LATER  (2 * (64 - 16.0))
#define NODE_LATER    (2 * (128 - 16.0))
#define SOCKET_SLOWER (1 - 0.5)
#define NODE_SLOWER   (4 - 0.5)

static struct ar_machine
without_levels(void)
{
    struct ar_machine machine = ar_machine_flat(A, B, 0);
    machine.ranks_per_node = RANKS;
    return machine;
}

static struct ar_machine
with_levels(void)
{
    struct ar_machine machine = without_levels();
    machine.ndomains = 3;
    machine.domains[0] = cache;
    machine.domains[1] = socket;
    machine.domains[2] = whole;
    return machine;
}

/* Nodes of so many ranks with all that a level may have, and a network. */
static struct ar_machine
nodes_of(int ranks)
{
    struct ar_machine machine = ar_machine_flat(A, B, C);
    machine.node = (struct ar_travel){
        .latency = 100, .overhead = 10, .per_byte = 0.5, .eager_bytes = 4096, .handshake = 200};
    machine.network.overhead = 30;
    machine.ranks_per_node = ranks;
    machine.ndomains = ranks > 4 ? 3 : 2;
    machine.domains[0] = cache;
    machine.domains[1] = socket;
    machine.domains[2] = whole;
    machine.domains[0].link_per_byte = 0.25;
    machine.domains[1].link_per_byte = 0.125;
    machine.domains[machine.ndomains - 1].ranks = ranks;
    return machine;
}

/* --- two ranks --- */

/* Their way, by the levels that they share: ranks 0 and 1, and so on. */
static void
a_message_waits_for_two_lines_of_the_level_that_its_ranks_share(void **state)
{
    static const struct {
        int from, to;
        double later, slower;
    } ways[] = {{0, 1, 0, 0},
                {7, 6, 0, 0},
                {1, 2, SOCKET_LATER, SOCKET_SLOWER},
                {3, 0, SOCKET_LATER, SOCKET_SLOWER},
                {3, 4, NODE_LATER, NODE_SLOWER},
                {7, 0, NODE_LATER, NODE_SLOWER}};
    const struct ar_machine machine = with_levels();
    int *const node_of = ar_machine_place(&machine, RANKS);
    struct ar_network network;
    (void)state;
    assert_int_equal(ar_network_init(&network, &machine, node_of, RANKS), AR_OK);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct ar_way way;
        ar_network_way(&network, &way, ways[i].from, ways[i].to, ways[i].to);
        assert_true(way.latency == A + ways[i].later);
        assert_true(way.per_byte == B + ways[i].slower);
        assert_int_equal(way.n, 2); /* the ports */
    }
    ar_network_fini(&network);
    free(node_of);
}

/* The ranks of a node follow each other, whatever their numbers: ranks 0 and 4 are the first and
 * the third of node 0. */
static void
what_ranks_share_goes_by_their_places_on_the_node(void **state)
{
    static const int node_of[] = {0, 1, 0, 1, 0, 1, 0, 1};
    struct ar_machine machine = with_levels();
    (void)state;
    machine.network.per_byte = 0;
    assert_true(predict_placed(&machine, "butterfly", node_of, RANKS, N, STEPS, 0).end.at ==
                A + (A + N * B) + (A + SOCKET_LATER + N * (B + SOCKET_SLOWER)));
}

/* --- all ranks of a node --- */

/* Rounds of neighbours, of ranks of a socket, and of ranks of both. */
static void
rounds_take_what_the_levels_of_their_messages_say(void **state)
{
    const double near = A + N * B, sockets = A + SOCKET_LATER + N * (B + SOCKET_SLOWER);
    const double nodes = A + NODE_LATER + N * (B + NODE_SLOWER);
    struct ar_machine machine = with_levels();
    (void)state;
    assert_true(time_of(&machine, "butterfly", 2, N) == near);
    assert_true(time_of(&machine, "butterfly", 4, N) == near + sockets);
    assert_true(time_of(&machine, "butterfly", 8, N) == near + sockets + nodes);
    /* To ask and to answer takes a latency of the level each. */
    machine.node.eager_bytes = N - 1;
    assert_true(time_of(&machine, "butterfly", 8, N) ==
                near + sockets + nodes + 2 * (3 * A + SOCKET_LATER + NODE_LATER));
}

/* A message alone is as much slower as its ranks' ports are. */
static void
one_message_alone_is_slower_between_far_ranks(void **state)
{
    struct ar_machine machine = with_levels();
    (void)state;
    machine.node.per_byte = 0;
    machine.node.stream_per_byte = B;
    assert_true(time_of(&machine, "butterfly", 4, N) ==
                (A + N * B) + (A + SOCKET_LATER + N * (B + SOCKET_SLOWER)));
}

static void
messages_share_the_link_into_a_domain(void **state)
{
    struct ar_machine machine = with_levels();
    (void)state;
    const double before = time_of(&machine, "butterfly", 8, N);
    const double earlier = time_of(&machine, "butterfly", 4, N);
    machine.domains[1].link_per_byte = 3; /* into each socket four messages in the last round */
    assert_true(time_of(&machine, "butterfly", 8, N) == before + 4 * N * 3 - N * (B + NODE_SLOWER));
    machine.domains[1].link_per_byte = 0;
    machine.domains[0].link_per_byte = 3; /* into each cache two */
    assert_true(time_of(&machine, "butterfly", 4, N) ==
                earlier + 2 * N * 3 - N * (B + SOCKET_SLOWER));
    machine.domains[0].link_per_byte = 0;
    const struct ar_prediction free = predict(&machine, "butterfly", 8, N, STEPS);
    assert_string_equal(free.link, "port of rank 0, out");
    machine.domains[1].link_per_byte = 30;
    const struct ar_prediction full = predict(&machine, "butterfly", 16, N, STEPS);
    assert_string_equal(full.link, "link into socket 0 of node 0");
}

/* Levels that say nothing about distances: none, one, or outer ones that are said to be nearer. */
static void
without_distances_messages_take_what_the_node_says(void **state)
{
    const struct ar_machine none = without_levels();
    struct ar_machine one = none, nearer = with_levels();
    (void)state;
    one.ndomains = 1;
    one.domains[0] = whole;
    one.domains[0].link_per_byte = 100;
    nearer.domains[0].latency = 128;
    nearer.domains[0].per_byte = 4;
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        for (int p = 2; p <= 24; p += 11) {
            const char *const name = ar_algorithm_at(i)->name;
            if (ar_algorithm_at(i)->shares_memory && p <= RANKS) /* which the levels are about */
                continue;
            const double expected = time_of(&none, name, p, N);
            assert_true(time_of(&one, name, p, N) == expected);
            assert_true(time_of(&nearer, name, p, N) == expected);
        }
}

/* So a machine file predicts what it was made of (test_pairs tells of which ranks it is). */
static void
the_first_two_ranks_take_what_was_measured_between_them(void **state)
{
    const struct ar_machine none = without_levels(), levels = with_levels();
    (void)state;
    for (size_t bytes = 1; bytes < 1 << 24; bytes *= 8)
        assert_true(time_of(&levels, "butterfly", 2, bytes) ==
                    time_of(&none, "butterfly", 2, bytes));
}

/* --- ways to answer --- */

/* Where ranks share a link, the order of their messages of one moment is open. */
static void
some_ranks_stand_for_all_that_have_as_far_to_others(void **state)
{
    int left_out = 0;
    (void)state;
    for (int ranks = 4; ranks <= 8; ranks += 4) {
        const struct ar_machine machine = nodes_of(ranks);
        for (size_t i = 0; i < ar_algorithm_count(); i++)
            for (int p = 2 * ranks; p <= 64; p += ranks) {
                const char *name = ar_algorithm_at(i)->name;
                const size_t count = 16 * (size_t)p;
                const struct ar_prediction all = predict(&machine, name, p, count, STEPS);
                const struct ar_prediction some = predict(&machine, name, p, count, 1 << 14);
                if (some.quality != AR_QUALITY_SIMULATED || some.nsampled == p)
                    continue;
                left_out++;
                if (fabs(some.end.at - all.end.at) > 0.05 * all.end.at)
                    fail_msg("%s, %d ranks, %d of them: %g, not %g", name, p, some.nsampled,
                             some.end.at, all.end.at);
            }
    }
    assert_true(left_out > 50);
}

static void
expect_same_by_rounds(const struct ar_machine *machine, const char *name, int nranks)
{
    const struct ar_prediction all = predict(machine, name, nranks, 3200, STEPS);
    const struct ar_prediction step = predict(machine, name, nranks, 3200, 1);
    assert_int_equal(step.quality, AR_QUALITY_APPROXIMATE);
    assert_int_equal(step.nsampled, 0);
    if (fabs(step.end.at - all.end.at) > 1e-9 * all.end.at)
        fail_msg("%s, %d ranks: %g, not %g", name, nranks, step.end.at, all.end.at);
}

/* Exact where each round's messages are of one level, and no rank is ahead of another: those that
 * share a link are so only behind the last round. */
static void
ranks_that_keep_step_need_no_simulation(void **state)
{
    struct ar_machine machine = with_levels();
    (void)state;
    for (int p = 2; p <= RANKS; p *= 2) {
        expect_same_by_rounds(&machine, "rhd", p);
        expect_same_by_rounds(&machine, "butterfly", p);
    }
    machine.domains[1].link_per_byte = 3;
    expect_same_by_rounds(&machine, "butterfly", RANKS);
    machine.domains[1].link_per_byte = 0;
    machine.domains[0].link_per_byte = 3;
    expect_same_by_rounds(&machine, "butterfly", RANKS / 2);
}

static void
an_estimate_does_not_take_a_row_for_much_slower(void **state)
{
    (void)state;
    for (int ranks = 4; ranks <= 8; ranks += 4) {
        const struct ar_machine machine = nodes_of(ranks);
        expect_likely_estimates(&machine, 64);
    }
}

static void
no_row_beats_the_bound(void **state)
{
    (void)state;
    for (int ranks = 4; ranks <= 8; ranks += 4) {
        const struct ar_machine machine = nodes_of(ranks);
        expect_no_row_below_bound(&machine, 17);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_waits_for_two_lines_of_the_level_that_its_ranks_share),
        cmocka_unit_test(what_ranks_share_goes_by_their_places_on_the_node),
        cmocka_unit_test(rounds_take_what_the_levels_of_their_messages_say),
        cmocka_unit_test(one_message_alone_is_slower_between_far_ranks),
        cmocka_unit_test(messages_share_the_link_into_a_domain),
        cmocka_unit_test(without_distances_messages_take_what_the_node_says),
        cmocka_unit_test(the_first_two_ranks_take_what_was_measured_between_them),
        cmocka_unit_test(some_ranks_stand_for_all_that_have_as_far_to_others),
        cmocka_unit_test(ranks_that_keep_step_need_no_simulation),
        cmocka_unit_test(an_estimate_does_not_take_a_row_for_much_slower),
        cmocka_unit_test(no_row_beats_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
