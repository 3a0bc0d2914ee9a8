/* Ranks that share cores, in the model: against what one can work out by hand. */
#include <stdio.h>
#include <stdlib.h>

#include "model/bound.h"
#include "predicted.h"
#include "schedule/error.h"
#include "unit.h"

/* Numbers that doubles hold exactly. */
#define A 1024.0 /* a latency */
#define N 1024   /* bytes */
#define C 0.25   /* ns to reduce one */

/* One node, on which so many ranks share so many cores, and messages cost nothing but time. */
static struct ar_machine
node_of_cores(int ranks, int cores)
{
    struct ar_machine machine = ar_machine_flat(A, 0, C);
    machine.ranks_per_node = ranks;
    machine.cores_per_node = cores;
    return machine;
}

/* The same on a host of containers, each of which has one rank. */
static struct ar_machine
host_of_cores(int ranks, int cores)
{
    struct ar_machine machine = ar_machine_flat(A, 0, C);
    machine.host_nodes = ranks;
    machine.host_cores = cores;
    return machine;
}

static void
assert_time(struct ar_machine (*make)(int, int), const char *text, int p, int cores,
            double expected)
{
    const struct ar_machine machine = make(p, cores);
    const double time = time_of(&machine, text, p, N);
    if (time != expected)
        fail_msg("%s on %d ranks and %d cores: %g, not %g", text, p, cores, time, expected);
}

/* Two ranks of one core reduce one after the other.  Of four on two cores, two reduce at once: in
 * the second round the two that were late have what they need first, and the others come after. */
static void
ranks_that_share_a_core_reduce_in_turn(void **state)
{
    const double r = C * N;
    (void)state;
    struct ar_machine (*const makes[])(int, int) = {node_of_cores, host_of_cores};
    for (int i = 0; i < 2; i++) {
        assert_time(makes[i], "butterfly", 2, 2, A + r);
        assert_time(makes[i], "butterfly", 2, 1, A + 2 * r);
        assert_time(makes[i], "butterfly", 4, 4, 2 * (A + r));
        assert_time(makes[i], "butterfly", 4, 2, 2 * A + 3 * r);
    }
}

/* The first rank sends at once and the second one after it; then each takes the other's message. */
static void
overheads_are_served_one_after_the_other(void **state)
{
    const double o = 64;
    struct ar_machine machine = node_of_cores(2, 1);
    (void)state;
    machine.reduce_per_byte = 0;
    machine.node.overhead = o;
    assert_true(time_of(&machine, "butterfly", 2, N) == A + 3 * o);
    machine.cores_per_node = 2;
    assert_true(time_of(&machine, "butterfly", 2, N) == A + 2 * o);
}

/* Messages between nodes pass the cores of their host, and of both hosts. */
static void
a_host_carries_what_its_cores_can(void **state)
{
    struct ar_machine machine = ar_machine_flat(A, 0, 0);
    (void)state;
    machine.host_nodes = 4;
    machine.host_cores = 64;
    machine.host_per_byte = 2;
    const struct ar_prediction four = predict(&machine, "butterfly", 4, N, STEPS);
    assert_true(four.end.at == A + 8 * 2.0 * N); /* of the second round all but the last overlap */
    assert_string_equal(four.link, "cores of host 0");
    machine.host_nodes = 2;
    /* In the first round each host has two of its own, in the second all four pass both. */
    assert_true(time_of(&machine, "butterfly", 4, N) == A + 6 * 2.0 * N);
}

/* The cores move messages inside nodes, too, as fast as the memories of all nodes together.  A node
 * of its own has its memory alone. */
static void
a_host_moves_messages_inside_its_nodes(void **state)
{
    struct ar_machine machine = ar_machine_flat(A, 0, 0);
    (void)state;
    machine.ranks_per_node = 2;
    machine.host_cores = 64;
    machine.memory_per_byte = 2;
    for (int nodes = 0; nodes <= 2; nodes += 2) {
        machine.host_nodes = nodes;
        const struct ar_prediction two = predict(&machine, "butterfly", 2, N, STEPS);
        assert_true(two.end.at == A + 2 * (nodes > 0 ? 1.0 : 2.0) * N);
        assert_string_equal(two.link, nodes > 0 ? "cores of host 0" : "memory of node 0");
        /* Both nodes have two messages of the first round, and the second costs nothing else. */
        assert_true(time_of(&machine, "butterfly", 4, N) == 2 * A + 4 * N);
    }
    /* In the same link: the first of the second round have come before the last of the first. */
    machine.host_per_byte = 4;
    assert_true(time_of(&machine, "butterfly", 4, N) == A + (4 + 4 * 4.0) * N);
}

static const char *const cuts[] = {"%s", "%s(segment=1K,window=4)"};

/* Of all rows, with and without segments, on machines with fewer and fewer cores. */
static void
fewer_cores_take_no_less_time_than_the_bound(void **state)
{
    char text[80];
    (void)state;
    for (int cores = 1; cores <= 4; cores++)
        for (size_t i = 0; i < ar_algorithm_count(); i++)
            for (int p = 2; p <= 9; p++)
                for (size_t bytes = 1; bytes <= 100000; bytes *= 100) {
                    struct ar_machine machine = host_of_cores(3, cores);
                    machine.host_per_byte = 0.125;
                    snprintf(text, sizeof text, cuts[bytes > 1000], ar_algorithm_at(i)->name);
                    int *node_of = ar_machine_place(&machine, p);
                    const struct ar_prediction x = predict(&machine, text, p, bytes, STEPS);
                    const double bound = ar_machine_bound(&machine, node_of, p, bytes, x.ports);
                    free(node_of);
                    if (x.end.at < bound * (1 - 1e-9))
                        fail_msg("%s, %d ranks, %d cores, %zu bytes: %g, below %g", text, p, cores,
                                 bytes, x.end.at, bound);
                }
}

/* Where nothing is simulated, the rounds of a node's ranks are added up. */
static void
ranks_that_keep_step_share_cores_without_simulation(void **state)
{
    static const char *const names[] = {"butterfly", "rhd", "ring", "circulant", "recursive"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (int cores = 1; cores <= 8; cores *= 2) {
            const struct ar_machine machine = node_of_cores(8, cores);
            const double all = time_of(&machine, names[i], 8, 1 << 20);
            const struct ar_prediction sum = predict(&machine, names[i], 8, 1 << 20, 1);
            assert_int_equal(sum.nsampled, 0);
            if (sum.end.at < 0.95 * all || sum.end.at > 1.05 * all)
                fail_msg("%s on %d cores: %g, simulated %g", names[i], cores, sum.end.at, all);
        }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_that_share_a_core_reduce_in_turn),
        cmocka_unit_test(overheads_are_served_one_after_the_other),
        cmocka_unit_test(a_host_carries_what_its_cores_can),
        cmocka_unit_test(a_host_moves_messages_inside_its_nodes),
        cmocka_unit_test(fewer_cores_take_no_less_time_than_the_bound),
        cmocka_unit_test(ranks_that_keep_step_share_cores_without_simulation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
