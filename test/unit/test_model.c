/* The model against what one can work out by hand. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predicted.h"
#include "schedule/cost.h"
#include "select/names.h"
#include "setting.h"
#include "tuning/ranking.h"
#include "unit.h"

/* --- closed forms on a flat machine --- */

/* Numbers that doubles hold exactly. */
#define FEW_STEPS ((size_t)1 << 13)
#define A         1024.0
#define B         2.0
#define C         0.25

static const struct closed_form {
    const char *text;
    int p;
    double a, b, c; /* how many latencies, bytes moved, bytes reduced, of n = 5040 p */
} closed_forms[] = {
#define N(p) (5040.0 * (p))
    {"star", 7, 2, 2 * 6 * N(7), 6 * N(7)},
    {"circle(segment=0)", 9, 16, 16 * N(9), 8 * N(9)},
    {"recursive", 16, 8, 8 * N(16), 4 * N(16)},
    {"reduce_bcast", 8, 6, 6 * N(8), 3 * N(8)},
    {"reduce_bcast(broadcast=flat)", 8, 4, (3 + 7) * N(8), 3 * N(8)},
    {"gather_scatter", 8, 6, (7 + 3) * N(8), 7 * N(8)},
    {"knomial(radix=4)", 16, 2, 2 * 3 * N(16), 2 * 3 * N(16)},
    {"knomial(radix=3)", 27, 3, 3 * 2 * N(27), 3 * 2 * N(27)},
    {"allgather_fold(allgather=bruck)", 8, 3, 7 * N(8), 7 * N(8)},
    {"allgather_fold(allgather=ring)", 6, 5, 5 * N(6), 5 * N(6)},
    {"butterfly", 8, 3, 3 * N(8), 3 * N(8)},
    {"butterfly", 64, 6, 6 * N(64), 6 * N(64)},
    {"ring", 7, 12, 12 * 5040, 6 * 5040},
    {"ring", 48, 94, 94 * 5040, 47 * 5040},
    {"segmented_ring(segment=0)", 5, 8, 8 * 5040, 4 * 5040},
    {"rhd", 8, 6, 14 * 5040, 7 * 5040},
    {"rhd", 128, 14, 254 * 5040, 127 * 5040},
    {"reduce_scatter_allgather(reduce_scatter=pairwise,allgather=ring)", 6, 10, 10 * 5040,
     5 * 5040},
    {"reduce_scatter_allgather(reduce_scatter=ring,allgather=ring)", 5, 8, 8 * 5040, 4 * 5040},
    {"reduce_scatter_allgather(reduce_scatter=halving,allgather=doubling)", 16, 8, 30 * 5040,
     15 * 5040},
    {"circulant", 8, 6, 14 * 5040, 7 * 5040},
    {"circulant", 32, 10, 62 * 5040, 31 * 5040},
    {"swing", 16, 8, 30 * 5040, 15 * 5040},
    {"shm", 5, 2, 8 * 5040, 4 * 5040},
    {"hier_ring", 5, 8, 8 * 5040, 4 * 5040},
    {"torus2d(dims=4x4)", 16, 12, 2 * (12 + 3) * 5040, (12 + 3) * 5040},
    {"torus2d(dims=3x5)", 15, 12, 2 * (10 + 4) * 5040, (10 + 4) * 5040},
    {"blueconnect(dims=2x3x5)", 30, 14, 2 * (15 + 10 + 4) * 5040, (15 + 10 + 4) * 5040},
#undef N
};

static void
time_is_the_closed_form(void **state)
{
    const struct ar_machine machine = ar_machine_flat(A, B, C);
    (void)state;
    for (size_t i = 0; i < sizeof closed_forms / sizeof closed_forms[0]; i++) {
        const struct closed_form *f = &closed_forms[i];
        const double time = time_of(&machine, f->text, f->p, 5040 * (size_t)f->p);
        const double form = f->a * A + f->b * B + f->c * C;
        if (time != form)
            fail_msg("%s, %d ranks: %.17g, not %.17g", f->text, f->p, time, form);
    }
}

/* A link that both directions of a line share in turn: the message waits for none. */
static void
segments_follow_each_other_down_the_circle(void **state)
{
    const struct ar_machine machine = ar_machine_flat(A, B, 0);
    (void)state;
    /* Two ranks: there and back, each of two segments; the link is idle but once. */
    assert_true(time_of(&machine, "circle(segment=0)", 2, 2000) == 2 * (A + 2000 * B));
    assert_true(time_of(&machine, "circle(segment=1000,window=2)", 2, 2000) ==
                2 * (A + 1000 * B) + 1000 * B);
    assert_true(time_of(&machine, "circle(segment=1000,window=1)", 2, 2000) <= 4 * (A + 1000 * B));
}

static void
what_is_not_simulated_goes_on_as_before(void **state)
{
    const struct ar_machine machine = ar_machine_flat(A, B, C);
    (void)state;
    const struct ar_prediction few =
        predict(&machine, "ring(segment=6000,window=2)", 6, 48000, STEPS);
    const struct ar_prediction many =
        predict(&machine, "ring(segment=6000,window=2)", 6, 480000, STEPS);
    const struct ar_prediction hasty =
        predict(&machine, "ring(segment=6000,window=2)", 6, 480000, 600);
    assert_int_equal(few.simulated, 8);
    assert_int_equal(many.simulated, 32);
    assert_true(hasty.simulated >= 8 && hasty.simulated < 32);
    assert_int_equal(many.nsegments, 80);
    assert_true(many.end.at - hasty.end.at < 1e-9 * many.end.at);
    /* Rounds of two segments fill the link: 72 more segments are 72 times their bytes. */
    const double more = (many.end.at - few.end.at) / 72;
    assert_true(more >= 10 * 1000 * B && more < few.end.at / 4);
}

static void
parts_add_up(void **state)
{
    struct ar_machine machine = ar_machine_flat(A, B, C);
    (void)state;
    machine.ranks_per_node = 4;
    machine.node.overhead = 16;
    machine.network.overhead = 64;
    machine.network.eager_bytes = 1000;
    machine.copy_per_byte = 0.5;
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        for (int p = 1; p <= 33; p += 4) {
            const struct ar_prediction x =
                predict(&machine, ar_algorithm_at(i)->name, p, 3000, STEPS);
            double sum = 0;
            for (int k = 0; k < AR_PARTS; k++) {
                assert_true(x.end.parts[k] > -1e-6);
                sum += x.end.parts[k];
            }
            assert_true(fabs(sum - x.end.at) <= 1e-9 * (x.end.at + 1));
            assert_true(x.busiest <= 1 + 1e-9);
        }
}

/* --- what ranks share --- */

static void
ranks_of_a_node_share_its_card(void **state)
{
    struct ar_machine machine = ar_machine_flat(A, B, 0);
    (void)state;
    machine.ranks_per_node = 4;
    machine.node =
        (struct ar_travel){.latency = 0, .overhead = 0, .per_byte = 0, .eager_bytes = SIZE_MAX};
    /* Only the last round of four leaves the node, with four messages at once. */
    assert_true(time_of(&machine, "butterfly", 8, 1000) == A + 4 * 1000 * B);
}

static void
nodes_share_what_leads_up_from_their_switch(void **state)
{
    struct ar_machine machine = ar_machine_flat(A, B, 0);
    (void)state;
    machine.nlevels = 1;
    machine.levels[0] = (struct ar_level){4, 100, B}; /* oversubscribed 4 to 1 */
    assert_true(time_of(&machine, "butterfly", 8, 1000) ==
                3 * A + 100 + 2 * 1000 * B + 4 * 1000 * B);
}

static void
a_torus_message_goes_from_link_to_link(void **state)
{
    struct ar_machine machine = ar_machine_flat(A, B, 0);
    (void)state;
    machine.shape = AR_SHAPE_TORUS;
    machine.nlevels = 1;
    machine.levels[0] = (struct ar_level){1, 10, 0.5};
    machine.ndims = 1;
    machine.dims[0] = 4;
    /* 0 and 1, 2 and 3 are neighbours, 0 and 2 are two links apart. */
    assert_true(time_of(&machine, "butterfly", 4, 1000) == 2 * (A + 1000 * B) + 10 + 2 * 10);
    struct ar_prediction prediction;
    struct ar_choice choice = {AR_CHOICE_ALGORITHM, ar_algorithm_at(0),
                               ar_algorithm_at(0)->defaults};
    int node_of[5] = {0, 1, 2, 3, 4};
    choice.params.node_of = node_of;
    const struct ar_question question = {&machine, &choice, 5, 8, 1, SIZE_MAX, STEPS, 0};
    assert_int_equal(ar_predict(&prediction, &question), AR_ERR_PARAM);
}

static void
groups_of_a_dragonfly_have_one_link_to_each_other(void **state)
{
    struct ar_machine machine = ar_machine_flat(A, B, 0);
    (void)state;
    machine.shape = AR_SHAPE_DRAGONFLY;
    machine.nlevels = 2;
    machine.routers = 2;
    machine.levels[0] = (struct ar_level){1, 10, 0};
    machine.levels[1] = (struct ar_level){2, 100, B};
    /* Round 2: both routers of each group send over the same link.  0 and 2 go by router 0 and 3:
     * out at 0's own router to group 1, whose links to group 0 are at router 2. */
    const double first = A + 10 + 1000 * B, second = A + 100 + 2 * 1000 * B;
    const double time = time_of(&machine, "butterfly", 4, 1000);
    assert_true(time >= first + second && time <= first + second + 20);
}

/* --- overheads, long messages --- */

static void
overheads_are_the_ranks_own_time(void **state)
{
    struct ar_machine machine = ar_machine_flat(A, B, 0);
    (void)state;
    machine.network.overhead = 32;
    /* Send, then receive: of every round two. */
    assert_true(time_of(&machine, "ring", 4, 4000) == 6 * (A + 1000 * B + 2 * 32));
    /* The root takes one after the other. */
    machine.network.per_byte = 0;
    assert_true(time_of(&machine, "star", 5, 8) == 2 * A + 32 + 4 * 32 + 4 * 32 + 32);
}

static void
long_messages_wait_for_the_receiver(void **state)
{
    struct ar_machine machine = ar_machine_flat(A, B, 0);
    (void)state;
    machine.network.eager_bytes = 999;
    assert_true(time_of(&machine, "ring", 4, 4000) == 6 * (3 * A + 1000 * B));
    machine.network.handshake = 0;
    assert_true(time_of(&machine, "ring", 4, 4000) == 6 * (A + 1000 * B));
    machine.network.handshake = 2 * A;
    machine.network.eager_bytes = 1000;
    assert_true(time_of(&machine, "ring", 4, 4000) == 6 * (A + 1000 * B));
}

static void
one_message_alone_has_its_own_bandwidth(void **state)
{
    struct ar_machine machine = ar_machine_flat(A, B, 0);
    (void)state;
    assert_true(time_of(&machine, "star", 5, 1000) == 2 * (A + 4 * 1000 * B));
    machine.network.stream_per_byte = machine.network.per_byte;
    assert_true(time_of(&machine, "star", 5, 1000) == 2 * (A + 4 * 1000 * B));
    machine.network.per_byte = 0;
    assert_true(time_of(&machine, "star", 5, 1000) == 2 * (A + 1000 * B));
}

/* --- segments --- */

static double
time_of_choice(const struct ar_machine *machine, const struct ar_choice *choice, int nranks,
               size_t bytes)
{
    struct ar_prediction prediction;
    const struct ar_question question = {machine, choice,           nranks, bytes / 8,
                                         8,       (size_t)64 << 20, STEPS,  0};
    assert_int_equal(ar_predict(&prediction, &question), AR_OK);
    return prediction.end.at;
}

/* Compared with what SimGrid's SMPI simulated of the library itself (doc/measured/2026-11-22.md,
 * multicore), in microseconds.  If messages were served in the order in which they come, segments
 * would keep step, and none would be combined while others travel: 30 % longer. */
static void
earlier_segments_get_ahead(void **state)
{
    static const struct {
        const char *text;
        int nranks;
        double us;
    } simulated[] = {{"two_level(inter=rhd,segment=1M,window=4)", 64, 2650},
                     {"torus2d(segment=1M,window=4)", 64, 2680},
                     {"torus2d(segment=1M,window=4)", 96, 2918}};
    struct ar_machine machine = ar_machine_flat(1000, 0.08, 0.1);
    (void)state;
    machine.ranks_per_node = 16;
    machine.node = (struct ar_travel){
        .latency = 200, .overhead = 300, .per_byte = 0.0001, .stream_per_byte = 0.05};
    machine.network.overhead = 300;
    machine.network.eager_bytes = 0;
    for (size_t i = 0; i < sizeof simulated / sizeof simulated[0]; i++) {
        const double us =
            time_of(&machine, simulated[i].text, simulated[i].nranks, (size_t)16 << 20) / 1e3;
        if (fabs(us - simulated[i].us) > 0.08 * simulated[i].us)
            fail_msg("%s, %d ranks: %g us, not %g", simulated[i].text, simulated[i].nranks, us,
                     simulated[i].us);
    }
}

/* --- ways to answer --- */

/* Nodes, of as many ranks as the test says. */
static struct ar_machine
with_nodes(void)
{
    struct ar_machine machine = ar_machine_flat(A, B, C);
    machine.node = (struct ar_travel){
        .latency = 100, .overhead = 10, .per_byte = 0.5, .eager_bytes = SIZE_MAX};
    machine.network.overhead = 30;
    return machine;
}

/* Few steps allowed, so that ranks are left out where they can be.  Where ranks share a link, the
 * order in which their messages of one moment go through it may differ. */
static void
some_ranks_stand_for_all(void **state)
{
    struct ar_machine machine = with_nodes();
    (void)state;
    int left_out = 0;
    for (machine.ranks_per_node = 1; machine.ranks_per_node <= 4; machine.ranks_per_node *= 2)
        for (size_t i = 0; i < ar_algorithm_count(); i++)
            for (int p = 4; p <= 64; p += 4) {
                const char *name = ar_algorithm_at(i)->name;
                const size_t count = 16 * (size_t)p;
                const struct ar_prediction all = predict(&machine, name, p, count, STEPS);
                const struct ar_prediction some = predict(&machine, name, p, count, 1 << 14);
                if (some.quality != AR_QUALITY_SIMULATED || some.nsampled == p)
                    continue;
                left_out++;
                const double tolerance = machine.ranks_per_node == 1 ? 1e-9 : 0.05;
                if (fabs(some.end.at - all.end.at) > tolerance * all.end.at)
                    fail_msg("%s, %d ranks, %d of them: %g, not %g", name, p, some.nsampled,
                             some.end.at, all.end.at);
            }
    assert_true(left_out > 100);
}

/* It is exact where all ranks keep step, and close where they do not. */
static void
ranks_that_keep_step_need_no_simulation(void **state)
{
    struct ar_machine machine = ar_machine_flat(A, B, C);
    static const char *const names[] = {"ring", "circulant", "rhd", "butterfly", "mesh2d"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const struct ar_prediction all = predict(&machine, names[i], 32, 3200, STEPS);
        const struct ar_prediction step = predict(&machine, names[i], 32, 3200, 1);
        assert_int_equal(step.quality, AR_QUALITY_APPROXIMATE);
        assert_int_equal(step.nsampled, 0);
        assert_true(fabs(step.end.at - all.end.at) < 1e-9 * all.end.at);
    }
    const double all = predict(&machine, "mesh2d", 36, 3600, STEPS).end.at;
    const double step = predict(&machine, "mesh2d", 36, 3600, 1).end.at;
    if (step < 0.8 * all || step > 1.25 * all)
        fail_msg("mesh2d: %g, not %g", step, all);
}

/* Each segment takes as long as the first, and the next begins as soon as the window and the
 * busiest resource let it. */
static void
one_segment_tells_of_a_row_of_them(void **state)
{
    static const char *const names[] = {"double_tree",  "dual_root", "circle",
                                        "reduce_bcast", "rhd",       "two_level"};
    struct ar_machine machine = with_nodes();
    int told = 0;
    (void)state;
    for (machine.ranks_per_node = 1; machine.ranks_per_node <= 4; machine.ranks_per_node *= 4)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            for (int p = 48; p <= 96; p += 16) {
                char text[80];
                snprintf(text, sizeof text, "%s(segment=4K,window=4)", names[i]);
                const struct ar_prediction all = predict(&machine, text, p, 1 << 18, STEPS);
                const struct ar_prediction first =
                    predict(&machine, text, p, 1 << 18, 60 * (size_t)p);
                assert_int_equal(all.quality, AR_QUALITY_SIMULATED);
                if (first.quality != AR_QUALITY_APPROXIMATE || first.nsampled == 0)
                    continue;
                told++;
                if (first.end.at < 0.75 * all.end.at || first.end.at > 1.33 * all.end.at)
                    fail_msg("%s, %d ranks, %d a node: %g, not %g", text, p, machine.ranks_per_node,
                             first.end.at, all.end.at);
            }
    assert_true(told > 30);
}

/* All segments simulated; elements are bytes. */
static double
time_of_all(const struct ar_machine *machine, const struct ar_choice *choice, const int *node_of,
            int nranks, size_t count)
{
    const struct ar_sample sample = {AR_SYMMETRY_NONE, nranks, nranks};
    const size_t segment = choice->params.segment_bytes, n = count / segment;
    struct ar_network network;
    struct ar_program full;
    struct ar_moment *ended = calloc(n, sizeof *ended);
    assert_int_equal(ar_network_init(&network, machine, node_of, nranks), AR_OK);
    assert_int_equal(
        ar_program_init(&full, &sample, choice->algorithm, &choice->params, segment, STEPS), AR_OK);
    const struct ar_simulation run = {.full = &full,
                                      .network = &network,
                                      .element_bytes = 1,
                                      .nsegments = n,
                                      .window = choice->params.window};
    assert_int_equal(ar_simulate(&run, ended), AR_OK);
    const double time = ended[n - 1].at;
    free(ended);
    ar_program_fini(&full);
    ar_network_fini(&network);
    return time;
}

/* The last window of those simulated is faster, since nothing comes behind it. */
static void
a_long_row_goes_on_as_it_did(void **state)
{
    static const char *const names[] = {"rhd", "circulant", "torus2d", "bidirectional_ring",
                                        "double_tree"};
    struct ar_machine machine = with_nodes();
    const size_t segment = 65536, count = 200 * segment;
    (void)state;
    for (machine.ranks_per_node = 1; machine.ranks_per_node <= 4; machine.ranks_per_node *= 4)
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            for (int p = 12; p <= 16; p += 4) {
                struct ar_choice choice =
                    ar_choice_default(ar_algorithm_find(names[i], strlen(names[i])));
                int *node_of = ar_machine_place(&machine, p);
                choice.params.node_of = node_of;
                choice.params.segment_bytes = segment;
                choice.params.window = 4;
                const struct ar_question question = {&machine, &choice,  p,     count,
                                                     1,        SIZE_MAX, STEPS, 0};
                struct ar_prediction part;
                assert_int_equal(ar_predict(&part, &question), AR_OK);
                assert_true(part.simulated < part.nsegments);
                const double all = time_of_all(&machine, &choice, node_of, p, count);
                if (fabs(part.end.at - all) > 0.03 * all)
                    fail_msg("%s, %d ranks, %d a node: %g, not %g", names[i], p,
                             machine.ranks_per_node, part.end.at, all);
                free(node_of);
            }
}

static void
an_estimate_does_not_take_a_row_for_much_slower(void **state)
{
    struct ar_machine machine = with_nodes();
    (void)state;
    for (machine.ranks_per_node = 1; machine.ranks_per_node <= 4; machine.ranks_per_node *= 2)
        expect_likely_estimates(&machine, setting_ranks_to(64));
}

/* The last of five segments has a few elements, and passes the others. */
static void
a_message_ends_with_its_last_segment(void **state)
{
    const struct ar_machine machine = ar_machine_flat(A, 0.1, 0.1);
    const size_t bytes = (size_t)16 << 20;
    (void)state;
    assert_true(time_of(&machine, "double_tree(segment=4M)", 16, bytes) >
                2 * 15 / 16.0 * (double)bytes * 0.1);
}

static void
no_row_beats_the_bound(void **state)
{
    struct ar_machine machine = with_nodes();
    (void)state;
    for (machine.ranks_per_node = 1; machine.ranks_per_node <= 4; machine.ranks_per_node++)
        expect_no_row_below_bound(&machine, setting_ranks_to(17));
}

/* --- advice --- */

/* Also at sizes in between those that were asked about.  Formulas do not see what ranks wait for
 * each other: the mean counts, and no choice may be a bad one. */
static void
advice_is_about_the_best_that_there_is(void **state)
{
    struct ar_machine machine = ar_machine_flat(A, 0.1, 0.1);
    static const int ranks[] = {2, 6, 16, 24};
    double logs = 0;
    int points = 0;
    (void)state;
    machine.ranks_per_node = 4;
    machine.node = (struct ar_travel){
        .latency = 200, .overhead = 50, .per_byte = 0.05, .eager_bytes = SIZE_MAX};
    machine.network.overhead = 300;
    for (size_t k = 0; k < sizeof ranks / sizeof ranks[0] && ranks[k] <= setting_ranks_to(24);
         k++) {
        const int p = ranks[k];
        int *node_of = ar_machine_place(&machine, p);
        const struct ar_advice_request request = {&machine, node_of,          p,   NULL, false,
                                                  false,    (size_t)64 << 20, NULL};
        struct ar_advice advice;
        struct ar_candidate_list all;
        assert_int_equal(ar_advise(&advice, &request), AR_OK);
        assert_int_equal(ar_advise_candidates(&all, &request, SIZE_MAX), AR_OK);
        for (size_t bytes = 8; bytes <= 1 << 22; bytes *= 4) {
            double best = INFINITY;
            int e = 0;
            while (advice.entries[e].bytes < bytes)
                e++;
            for (size_t i = 0; i < all.n; i++) {
                all.of[i].choice.params.node_of = node_of;
                if (all.of[i].choice.kind == AR_CHOICE_ALGORITHM)
                    best = fmin(best, time_of_choice(&machine, &all.of[i].choice, p, bytes));
            }
            advice.entries[e].best[0].choice.params.node_of = node_of;
            const double time =
                time_of_choice(&machine, &advice.entries[e].best[0].choice, p, bytes);
            logs += log(time / best);
            points++;
            if (time > 1.4 * best)
                fail_msg("%d ranks, %zu bytes: %s takes %g, not %g", p, bytes,
                         advice.entries[e].best[0].choice.algorithm->name, time, best);
        }
        ar_candidates_fini(&all);
        free(node_of);
    }
    assert_true(exp(logs / points) < 1.07);
}

/* Also where most candidates were only estimated. */
static void
a_comparison_begins_with_the_best(void **state)
{
    struct ar_machine machine = with_nodes();
    const int p = setting_ranks_to(24);
    (void)state;
    machine.ranks_per_node = 4;
    int *const node_of = ar_machine_place(&machine, p);
    const struct ar_advice_request request = {.machine = &machine,
                                              .node_of = node_of,
                                              .nranks = p,
                                              .scratch_bytes = (size_t)64 << 20,
                                              NULL};
    for (size_t bytes = 8; bytes <= 1 << 22; bytes *= 64) {
        struct ar_compared *rows;
        struct ar_candidate_list all;
        size_t n;
        assert_int_equal(ar_compare(&rows, &n, &request, bytes, 8), AR_OK);
        assert_int_equal(ar_advise_candidates(&all, &request, bytes), AR_OK);
        for (size_t i = 0; i < all.n; i++) {
            struct ar_choice *const choice = &all.of[i].choice;
            choice->params.node_of = node_of;
            if (choice->kind == AR_CHOICE_ALGORITHM)
                assert_true(rows[0].prediction.end.at <=
                            1.02 * time_of_choice(&machine, choice, p, bytes));
        }
        ar_candidates_fini(&all);
        free(rows);
    }
    free(node_of);
}

/* Where few ranks of a node have much to do, most look alike.  Segments under way share links,
 * where the order of what comes at one moment is open.  All numbers of ranks take a minute, and so
 * are for make check-release. */
static void
leaders_are_not_taken_for_the_others(void **state)
{
    struct ar_machine machine = ar_machine_flat(A, 0.1, 0.1);
    static const int ranks[] = {48, 80, 64, 96, 112};
    const size_t n = getenv("DEPTH") ? sizeof ranks / sizeof ranks[0] : 2;
    int compared = 0;
    (void)state;
    if (setting_ranks_to(ranks[0]) < ranks[0])
        skip();
    machine.ranks_per_node = 16;
    machine.node = (struct ar_travel){
        .latency = 200, .overhead = 50, .per_byte = 0.05, .eager_bytes = SIZE_MAX};
    for (size_t k = 0; k < n; k++) {
        int *node_of = ar_machine_place(&machine, ranks[k]);
        const struct ar_advice_request request = {&machine, node_of, ranks[k],         NULL,
                                                  false,    false,   (size_t)64 << 20, NULL};
        struct ar_candidate_list all;
        assert_int_equal(ar_advise_candidates(&all, &request, SIZE_MAX), AR_OK);
        for (size_t i = 0; i < all.n; i++) {
            struct ar_choice *const choice = &all.of[i].choice;
            struct ar_question question = {&machine, choice,           ranks[k],  1 << 20,
                                           8,        (size_t)64 << 20, FEW_STEPS, 0};
            struct ar_prediction some, every;
            choice->params.node_of = node_of;
            if (choice->kind != AR_CHOICE_ALGORITHM)
                continue;
            assert_int_equal(ar_predict(&some, &question), AR_OK);
            question.most_steps = STEPS;
            assert_int_equal(ar_predict(&every, &question), AR_OK);
            if (some.quality != AR_QUALITY_SIMULATED || some.nsampled == ranks[k] ||
                every.quality != AR_QUALITY_SIMULATED || every.nsampled < ranks[k])
                continue;
            compared++;
            if (fabs(some.end.at - every.end.at) > 0.2 * every.end.at) {
                char name[AR_CHOICE_TEXT];
                fail_msg("%s, %d ranks: %g, not %g", ar_choice_print(choice, name, sizeof name),
                         ranks[k], some.end.at, every.end.at);
            }
        }
        ar_candidates_fini(&all);
        free(node_of);
    }
    assert_true(compared > 16 * (int)n);
}

static void
advice_keeps_to_what_may_serve(void **state)
{
    const struct ar_machine machine = ar_machine_flat(A, B, C);
    int *node_of = ar_machine_place(&machine, 8);
    bool allowed[64] = {false};
    struct ar_advice advice;
    (void)state;
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        allowed[i] = strcmp(ar_algorithm_at(i)->name, "ring") == 0;
    struct ar_advice_request request = {&machine, node_of, 8, NULL, true, false, 1 << 26, NULL};
    assert_int_equal(ar_advise(&advice, &request), AR_OK);
    for (int i = 0; i < advice.n; i++)
        assert_true(advice.entries[i].best[0].choice.algorithm->keeps_order);
    request.allowed = allowed;
    assert_int_equal(ar_advise(&advice, &request), AR_OK);
    assert_int_equal(advice.n, 0); /* the ring keeps no order */
    request.in_order = false;
    assert_int_equal(ar_advise(&advice, &request), AR_OK);
    char *text = ar_advice_rules(&advice, 0, 0);
    assert_non_null(strstr(text, "ring"));
    assert_int_equal(advice.entries[advice.n - 1].bytes, SIZE_MAX);
    struct ar_rules *rules;
    struct ar_problem problem;
    assert_int_equal(ar_rules_parse(&rules, text, &problem), AR_OK);
    size_t changes = 0;
    for (int i = 0; i < advice.n; i++)
        changes += advice.entries[i].is_new_best;
    assert_int_equal(rules->nclauses, changes);
    ar_rules_destroy(rules);
    free(text);
    free(node_of);
}

/* Of the clauses that match a size the first is what is advised, and others are what comes next. */
static void
advice_as_rules_keeps_the_places(void **state)
{
    const struct ar_machine machine = ar_machine_flat(A, B, C);
    int *const node_of = ar_machine_place(&machine, 8);
    const struct ar_advice_request request = {.machine = &machine,
                                              .node_of = node_of,
                                              .nranks = 8,
                                              .scratch_bytes = (size_t)64 << 20,
                                              NULL};
    struct ar_advice advice;
    struct ar_rules *rules;
    struct ar_problem problem;
    (void)state;
    assert_int_equal(ar_advise(&advice, &request), AR_OK);
    char *const text = ar_advice_rules(&advice, 0, AR_PROPOSALS - 1);
    assert_int_equal(ar_rules_parse(&rules, text, &problem), AR_OK);
    for (int i = 0; i < advice.n; i++) {
        const struct ar_advice_entry *const e = &advice.entries[i];
        const struct ar_request at = {.bytes = e->at, .nranks = 8, .commutative = true};
        int place = 0;
        for (size_t k = 0; k < rules->nclauses; k++)
            if (ar_clause_matches(&rules->clauses[k], &at)) {
                assert_true(place < e->n);
                assert_true(ar_choice_equals(&rules->clauses[k].choice, &e->best[place++].choice));
            }
        assert_int_equal(place, AR_PROPOSALS);
        assert_true(e->best[1].time.at != e->best[0].time.at &&
                    e->best[2].time.at != e->best[1].time.at);
    }
    ar_rules_destroy(rules);
    free(text);
    free(node_of);
}

static size_t
steps_of_asking(int nranks)
{
    struct ar_machine machine = ar_machine_flat(A, 0.1, 0.1);
    struct ar_advice advice;
    machine.ranks_per_node = 8;
    machine.node = (struct ar_travel){
        .latency = 200, .overhead = 50, .per_byte = 0.05, .eager_bytes = SIZE_MAX};
    int *const node_of = ar_machine_place(&machine, nranks);
    const struct ar_advice_request request = {.machine = &machine,
                                              .node_of = node_of,
                                              .nranks = nranks,
                                              .scratch_bytes = (size_t)64 << 20,
                                              NULL};
    assert_int_equal(ar_advise(&advice, &request), AR_OK);
    assert_true(advice.n > 1);
    free(node_of);
    return advice.steps;
}

/* A step takes about 0.1 us on a core of 2026. */
#define STEPS_ON_1000 40000
#define STEPS_ON_MORE 500000

static void
advice_takes_few_steps_on_1000_ranks_and_on_65536(void **state)
{
    (void)state;
    const size_t few = steps_of_asking(setting_ranks_to(1000)),
                 many = steps_of_asking(setting_ranks_to(65536)),
                 uneven = steps_of_asking(setting_ranks_to(65531));
    print_message("steps: %zu on 1000 ranks, %zu on 65536, %zu on 65531\n", few, many, uneven);
    assert_true(few > 0 && few <= STEPS_ON_1000 && many <= STEPS_ON_MORE &&
                uneven <= STEPS_ON_MORE);
}

/* --- machine files --- */

static void
a_machine_is_what_its_file_says(void **state)
{
    struct ar_machine m;
    char problem[AR_MACHINE_PROBLEM];
    (void)state;
    assert_int_equal(ar_machine_parse(&m,
                                      "# a comment\n"
                                      "title A fat tree # of ours\n"
                                      "rank reduction 10GB/s copy 20GB/s\n\n"
                                      "node ranks 16 latency 200ns bandwidth 20GB/s\n"
                                      "network latency 1.5us bandwidth 100Gbit/s eager 64K # x\n"
                                      "switch nodes 32 latency 0.1us oversubscription 2\n"
                                      "switch nodes 512 bandwidth 1000GB/s\n",
                                      problem),
                     AR_OK);
    assert_string_equal(m.title, "A fat tree # of ours");
    assert_int_equal(m.ranks_per_node, 16);
    assert_true(m.reduce_per_byte == 0.1 && m.copy_per_byte == 0.05);
    assert_true(m.network.latency == 1500 && m.network.per_byte == 0.08);
    assert_true(m.network.eager_bytes == 65536 && m.node.eager_bytes == SIZE_MAX);
    assert_true(m.network.handshake == 3000);
    assert_int_equal(m.nlevels, 2);
    assert_true(fabs(m.levels[0].per_byte - 0.08 * 2 / 32) < 1e-12);
    assert_true(m.levels[0].latency == 100 && m.levels[1].per_byte == 0.001);
}

#define NETWORK "network latency 1us bandwidth 10GB/s\n"

static void
a_node_has_the_levels_of_its_file(void **state)
{
    struct ar_machine m;
    char problem[AR_MACHINE_PROBLEM];
    (void)state;
    assert_int_equal(
        ar_machine_parse(
            &m,
            "rank access 10ns ahead 4\n"
            "node ranks 16 cores 32 latency 200ns bandwidth 20GB/s\n"
            "level l3 ranks 4 latency 25ns bandwidth 40GB/s serve 5ns cache 16M link "
            "20GB/s\n"
            "level Node ranks 16 latency 0.1us bandwidth 10GB/s memory 50GB/s\n" NETWORK,
            problem),
        AR_OK);
    assert_true(m.access == 10 && m.ahead == 4 && m.cores_per_node == 32 && m.ndomains == 2);
    assert_string_equal(m.domains[0].name, "l3");
    assert_true(m.domains[0].ranks == 4 && m.domains[0].latency == 25);
    assert_true(m.domains[0].per_byte == 0.025 && m.domains[0].serve == 5);
    assert_true(m.domains[0].cache_bytes == (size_t)16 << 20 && m.domains[0].link_per_byte == 0.05);
    assert_string_equal(m.domains[1].name, "Node");
    assert_true(m.domains[1].ranks == 16 && m.domains[1].latency == 100);
    assert_true(m.domains[1].serve == 0 && m.domains[1].memory_per_byte == 0.02);
    assert_int_equal(ar_machine_parse(&m, NETWORK, problem), AR_OK);
    assert_true(m.ndomains == 0 && m.cores_per_node == 0 && m.ahead == 0);
}

/* Named levels of ranks on several nodes are groups of as many ranks as the machine's levels have;
 * one that the machine does not have groups nobody. */
static void
levels_inside_nodes_are_those_of_the_machine(void **state)
{
    struct ar_machine m;
    char problem[AR_MACHINE_PROBLEM];
    (void)state;
    assert_int_equal(ar_machine_parse(&m,
                                      "node ranks 16 cores 16 latency 300ns bandwidth 8GB/s\n"
                                      "level l3 ranks 2 latency 25ns bandwidth 40GB/s\n"
                                      "level socket ranks 8 latency 50ns bandwidth 20GB/s\n"
                                      "level node ranks 16 latency 90ns bandwidth 10GB/s\n" NETWORK,
                                      problem),
                     AR_OK);
    const double flat = time_of(&m, "two_level", 64, 1024);
    const double twos = time_of(&m, "two_level(levels=2)", 64, 1024);
    const double all = time_of(&m, "two_level(levels=2+8)", 64, 1024);
    assert_true(twos < flat && all < twos);
    assert_true(time_of(&m, "two_level(levels=l3)", 64, 1024) == twos);
    assert_true(time_of(&m, "two_level(levels=socket+l3)", 64, 1024) == all);
    assert_true(time_of(&m, "two_level(levels=numa)", 64, 1024) == flat);
    assert_true(time_of(&m, "two_level(levels=flat)", 64, 1024) == flat);
}

static const char *const machines[] = {
    "rank access 10ns ahead 4\nnode ranks 8 cores 8 latency 200ns bandwidth 20GB/s\n"
    "level l3 ranks 4 latency 25ns bandwidth 40GB/s serve 5ns cache 16M link 20GB/s\n"
    "level node ranks 8 latency 100ns bandwidth 10GB/s memory 50GB/s\n" NETWORK,
    "title one\nnetwork latency 1us bandwidth 10GB/s\n",
    "rank reduction 3.5GB/s\nnode ranks 4 latency 100ns bandwidth 5GB/s overhead 20ns memory "
    "30GB/s eager 8K\nnetwork latency 40us bandwidth 1Gbit/s overhead 3us eager 64K\n"
    "switch nodes 8 latency 10ns bandwidth 3GB/s\n",
    "node ranks 4 latency 100ns bandwidth 5GB/s stream 4GB/s eager 8K handshake 150ns\n"
    "network latency 1us bandwidth 10GB/s stream 2GB/s eager 0 handshake 0ns\n",
    "node ranks 4 cores 2 latency 100ns bandwidth 5GB/s\nnetwork latency 1us bandwidth 10GB/s\n",
    "host nodes 4 cores 2 bandwidth 2GB/s\nnetwork latency 1us bandwidth 10GB/s\n",
    "network latency 1us bandwidth 10GB/s\ntorus dims 4x5x6 latency 50ns bandwidth 2GB/s\n",
    "network latency 1us bandwidth 10GB/s\ndragonfly nodes 2 routers 4 latency 9ns bandwidth "
    "2GB/s global_latency 300ns global_bandwidth 1GB/s\n"};

enum { MACHINES = sizeof machines / sizeof machines[0] };

static void
reads_back(const struct ar_machine *m, const char *from)
{
    char problem[AR_MACHINE_PROBLEM];
    struct ar_machine again;
    char *text = ar_machine_print(m);
    if (ar_machine_parse(&again, text, problem))
        fail_msg("%s: of\n%s\nread from\n%s", problem, text, from);
    char *twice = ar_machine_print(&again);
    if (strcmp(text, twice) != 0)
        fail_msg("\n%s\nbecomes\n%s\nread from\n%s", text, twice, from);
    free(text);
    free(twice);
}

static void
a_machine_printed_reads_back(void **state)
{
    char problem[AR_MACHINE_PROBLEM];
    (void)state;
    for (size_t i = 0; i < MACHINES; i++) {
        struct ar_machine m;
        assert_int_equal(ar_machine_parse(&m, machines[i], problem), AR_OK);
        reads_back(&m, machines[i]);
    }
}

static unsigned
next_random(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % below;
}

/* One place of the text becomes something else: a digit, a byte, a word of the grammar. */
static void
spoil(char *text, size_t room, unsigned *seed)
{
    static const char *const words[] = {"0",
                                        "1",
                                        "-1",
                                        "1e308",
                                        "9999999999999999999999",
                                        "0.0000001",
                                        "1GB/s",
                                        "0GB/s",
                                        "1us",
                                        "0ns",
                                        "inf",
                                        "nan",
                                        "4x4",
                                        "1x1x1x1x1x1",
                                        "65536x65536",
                                        "2147483647",
                                        "rank",
                                        "node",
                                        "network",
                                        "switch",
                                        "torus",
                                        "dims",
                                        "dragonfly",
                                        "routers",
                                        "ranks",
                                        "latency",
                                        "eager",
                                        "oversubscription",
                                        "title",
                                        "#",
                                        "\n",
                                        " ",
                                        "",
                                        "level",
                                        "serve",
                                        "cores",
                                        "ahead",
                                        "host",
                                        "nodes"};
    char after[1024], spoiled[1100] = "";
    const size_t length = strlen(text);
    const size_t at = next_random(seed, (unsigned)length + 1);
    const size_t cut = next_random(seed, 8);
    const char *const word = words[next_random(seed, sizeof words / sizeof words[0])];
    snprintf(after, sizeof after, "%s", text + (at + cut < length ? at + cut : length));
    char *const digit = text + at + strcspn(text + at, "0123456789");
    if (*digit && next_random(seed, 2) == 0) {
        *digit = (char)('0' + next_random(seed, 10));
        return;
    }
    if (next_random(seed, 3) == 0)
        snprintf(spoiled, sizeof spoiled, "%c%s", (char)(1 + next_random(seed, 255)), after);
    else
        snprintf(spoiled, sizeof spoiled, "%s%s", word, after);
    if (at + strlen(spoiled) < room)
        memcpy(text + at, spoiled, strlen(spoiled) + 1);
}

/* Refused with a place, or read and as good as any other. */
static void
no_text_of_a_machine_does_harm(void **state)
{
    unsigned seed = 1;
    int read = 0;
    (void)state;
    for (int i = 0; i < 10000; i++) {
        char text[1024], problem[AR_MACHINE_PROBLEM] = "";
        struct ar_machine m;
        int line, column;
        snprintf(text, sizeof text, "%s", machines[i % MACHINES]);
        for (unsigned n = 1 + next_random(&seed, 2); n > 0; n--)
            spoil(text, sizeof text, &seed);
        if (ar_machine_parse(&m, text, problem)) {
            if (sscanf(problem, "%d:%d: ", &line, &column) != 2)
                fail_msg("no place in: %s: of\n%s", problem, text);
            continue;
        }
        read++;
        reads_back(&m, text);
        struct ar_choice choice = ar_choice_default(ar_algorithm_find("ring", 4));
        int *node_of = ar_machine_place(&m, 12);
        choice.params.node_of = node_of;
        const struct ar_question question = {&m, &choice, 12, 5000, 4, SIZE_MAX, 5000, 0};
        struct ar_prediction p;
        const int error = ar_predict(&p, &question);
        if (error != AR_ERR_PARAM && (error || !isfinite(p.end.at) || p.end.at < 0))
            fail_msg("error %d, %g ns, on\n%s", error, p.end.at, text);
        free(node_of);
    }
    assert_true(read > 1000);
}

/* Each case: a machine's text, and how the complaint about it begins. */
static void
check_refusals(const char *const cases[][2], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct ar_machine m;
        char problem[AR_MACHINE_PROBLEM];
        assert_int_equal(ar_machine_parse(&m, cases[i][0], problem), AR_ERR_SYNTAX);
        if (strncmp(problem, cases[i][1], strlen(cases[i][1])) != 0)
            fail_msg("'%s': %s", cases[i][0], problem);
    }
}

static void
a_bad_machine_is_refused_where_it_is_bad(void **state)
{
    static const char *const cases[][2] = {
        {"", "1:1: the line network is missing"},
        {"netwrk latency 1us\n", "1:1: 'netwrk' is not a line"},
        {"network latency 1us\n", "1:1: network needs bandwidth"},
        {"network latency 1us bandwidth 10\n", "1:31: bandwidth cannot be '10'"},
        {"network latency 1us bandwidth 10Gb/s\n",
         "1:31: bandwidth cannot be '10Gb/s', which may mean bits or bytes: write 10Gbit/s or "
         "10GB/s; allowed: a bandwidth"},
        {"network latency 1us bandwidth 9Kb/s\n",
         "1:31: bandwidth cannot be '9Kb/s', which may mean bits or bytes: write 9Kbit/s or 9KB/s"},
        {"rank copy 1mb/s\n",
         "1:11: copy cannot be '1mb/s', which may mean bits or bytes: write 1Mbit/s or 1MB/s"},
        {"rank copy 1gB/s\n", "1:11: copy cannot be '1gB/s'; allowed"},
        {"rank copy 1gbit/s\n", "1:11: copy cannot be '1gbit/s'; allowed"},
        {"rank copy 1b/s\n", "1:11: copy cannot be '1b/s', which may mean"},
        {"network latency 1US bandwidth 1GB/s\n", "1:17: latency cannot be '1US'"},
        {"network latency 1us bandwidth 0GB/s\n", "1:31: bandwidth cannot be '0GB/s'"},
        {"# x\n network latency fast bandwidth 1GB/s\n", "2:18: latency cannot be 'fast'"},
        {"network latency\n", "1:16: latency cannot be ''"},
        {"network speed 1us\n", "1:9: network has no 'speed'"},
        {"network latency 1us latency 1us\n", "1:21: latency is given twice"},
        {"node ranks 0 latency 1us bandwidth 1GB/s\n", "1:12: ranks cannot be '0'"},
        {"switch nodes 4\nswitch nodes 6\n", "2:1: 6 nodes below a switch"},
        {"switch nodes 4\ntorus dims 4 bandwidth 1GB/s\n", "2:1: a network has one topology"},
        {"torus dims 4x bandwidth 1GB/s\n", "1:12: dims cannot be '4x'"},
        {"switch nodes 4 bandwidth 1GB/s oversubscription 2\n", "1:1: give bandwidth or"},
        {"rank reduction 1GB/s\nrank copy 1GB/s\n", "2:1: rank is given twice"}};
    (void)state;
    check_refusals(cases, sizeof cases / sizeof cases[0]);
}

#define NODE               "node ranks 8 latency 1us bandwidth 1GB/s\n"
#define LEVEL(name, ranks) "level " name " ranks " ranks " latency 1ns bandwidth 1GB/s"

static void
a_bad_level_is_refused_where_it_is_bad(void **state)
{
    static const char *const cases[][2] = {
        {"level\n", "1:6: a level cannot be named ''; allowed: a letter, then"},
        {"level 3l ranks 4\n", "1:7: a level cannot be named '3l'; allowed"},
        {"level a.long.name.of.20.letters ranks 4\n", "1:7: a level cannot be named 'a.long"},
        {"level l3 rank 4\n",
         "1:10: level has no 'rank'; allowed: ranks, latency, bandwidth, serve"},
        {"level l3 ranks 4 latency 1ns\n", "1:1: level needs bandwidth"},
        {"level l3 ranks 4 latency 1ns bandwidth 4\n", "1:40: bandwidth cannot be '4'; allowed"},
        {LEVEL("a", "4") "\n" LEVEL("A", "8") "\n", "2:7: level a is given twice"},
        {LEVEL("a", "4") "\n" LEVEL("b", "6") "\n",
         "2:1: 6 ranks of level b are not a multiple of the 4 of level a"},
        {LEVEL("a", "4") "\n" LEVEL("b", "8") " cache 1M\n",
         "2:1: level b has a cache; allowed: only for the first level, here a"},
        {NODE LEVEL("a", "4") "\n" NETWORK,
         "4:1: the last level, a, has 4 ranks, but must have all 8 of the node"},
        {"node ranks 8 cores 4 latency 1us bandwidth 1GB/s\n" LEVEL("a", "8") "\n" NETWORK,
         "4:1: 4 cores are fewer than the 8 ranks that share them; with levels each rank needs"},
        {"host nodes 2 cores 15\n" NODE LEVEL("a", "8") "\n" NETWORK,
         "5:1: 15 cores are fewer than the 16 ranks that share them"},
        {"host nodes 2 cores 2\nnode ranks 8 cores 4 latency 1us bandwidth 1GB/s\n" NETWORK,
         "4:1: node and host both have cores; allowed: one of them"},
        {"host nodes 2\n", "1:1: host needs cores"},
        {"host cores 2\n", "1:1: host needs nodes"},
        {"host ranks 2\n", "1:6: host has no 'ranks'; allowed: nodes, cores, bandwidth"},
        {LEVEL("a", "1") "\n" LEVEL("b", "1") "\n" LEVEL("c", "1") "\n" LEVEL("d", "1") "\n" LEVEL(
             "e", "1") "\nlevel f\n",
         "6:1: more than 5 levels inside a node"}};
    (void)state;
    check_refusals(cases, sizeof cases / sizeof cases[0]);
}
#undef LEVEL
#undef NODE

/* On a placement in turn, all ranks of a node send to other nodes at once in a ring by rank.  In a
 * ring by node only one does, as on blocks.  Messages that meet in a link take it in the order of
 * ranks, so that a little depends on the ranks' numbers. */
static void
a_ring_by_node_is_as_fast_on_any_placement(void **state)
{
    static const struct {
        const char *by_rank, *by_node;
        double gain; /* at least */
    } rings[] = {{"ring", "ring(order=node)", 2},
                 {"ring(segment=4096,window=2)", "ring(order=node,segment=4096,window=2)", 2},
                 {"bidirectional_ring", "bidirectional_ring(order=node)", 1}};
    const struct ar_machine machine = ar_machine_flat(A, B, C);
    enum { NODES = 4, PER_NODE = 4, RANKS = NODES * PER_NODE, COUNT = RANKS * 65536 };
    int blocks[RANKS], in_turn[RANKS];
    (void)state;
    for (int r = 0; r < RANKS; r++) {
        blocks[r] = r / PER_NODE;
        in_turn[r] = r % NODES;
    }
    for (size_t i = 0; i < sizeof rings / sizeof rings[0]; i++) {
        const char *const by_rank = rings[i].by_rank, *const by_node = rings[i].by_node;
        const double best =
            predict_placed(&machine, by_rank, blocks, RANKS, COUNT, STEPS, 0).end.at;
        const double on_blocks =
            predict_placed(&machine, by_node, blocks, RANKS, COUNT, STEPS, 0).end.at;
        const double by_nodes =
            predict_placed(&machine, by_node, in_turn, RANKS, COUNT, STEPS, 0).end.at;
        const double by_ranks =
            predict_placed(&machine, by_rank, in_turn, RANKS, COUNT, STEPS, 0).end.at;
        assert_true(on_blocks == best);
        assert_true(fabs(by_nodes - best) < 0.1 * best);
        assert_true(by_ranks > 2 * by_nodes);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_the_closed_form),
        cmocka_unit_test(segments_follow_each_other_down_the_circle),
        cmocka_unit_test(what_is_not_simulated_goes_on_as_before),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(ranks_of_a_node_share_its_card),
        cmocka_unit_test(a_ring_by_node_is_as_fast_on_any_placement),
        cmocka_unit_test(nodes_share_what_leads_up_from_their_switch),
        cmocka_unit_test(a_torus_message_goes_from_link_to_link),
        cmocka_unit_test(groups_of_a_dragonfly_have_one_link_to_each_other),
        cmocka_unit_test(overheads_are_the_ranks_own_time),
        cmocka_unit_test(long_messages_wait_for_the_receiver),
        cmocka_unit_test(one_message_alone_has_its_own_bandwidth),
        cmocka_unit_test(earlier_segments_get_ahead),
        cmocka_unit_test(some_ranks_stand_for_all),
        cmocka_unit_test(ranks_that_keep_step_need_no_simulation),
        cmocka_unit_test(one_segment_tells_of_a_row_of_them),
        cmocka_unit_test(a_long_row_goes_on_as_it_did),
        cmocka_unit_test(an_estimate_does_not_take_a_row_for_much_slower),
        cmocka_unit_test(a_message_ends_with_its_last_segment),
        cmocka_unit_test(no_row_beats_the_bound),
        cmocka_unit_test(advice_is_about_the_best_that_there_is),
        cmocka_unit_test(a_comparison_begins_with_the_best),
        cmocka_unit_test(leaders_are_not_taken_for_the_others),
        cmocka_unit_test(advice_keeps_to_what_may_serve),
        cmocka_unit_test(advice_as_rules_keeps_the_places),

        cmocka_unit_test(advice_takes_few_steps_on_1000_ranks_and_on_65536),
        cmocka_unit_test(a_machine_is_what_its_file_says),
        cmocka_unit_test(a_node_has_the_levels_of_its_file),
        cmocka_unit_test(levels_inside_nodes_are_those_of_the_machine),
        cmocka_unit_test(a_machine_printed_reads_back),
        cmocka_unit_test(no_text_of_a_machine_does_harm),
        cmocka_unit_test(a_bad_machine_is_refused_where_it_is_bad),
        cmocka_unit_test(a_bad_level_is_refused_where_it_is_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
