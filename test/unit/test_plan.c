/* Plans: how a message is cut into segments, and what memory they take.  Needs
 * MPI's types, but no MPI_Init. */
#include <limits.h>
#include <string.h>

#include "algorithms/card.h"
#include "execute/plan.h"
#include "unit.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static const struct ar_reduction float_sum = {
    .size = 4, .extent = 4, .true_extent = 4, .commutative = true, .named = true, .dense = true};

static const struct ar_algorithm *
row_called(const char *name)
{
    const struct ar_algorithm *row = ar_algorithm_find(name, strlen(name));
    assert_non_null(row);
    return row;
}

/* A call to plan: row with its defaults but these. */
struct call {
    const struct ar_algorithm *row;
    size_t segment_bytes;
    int segments;
    int window;
    int nranks;
    size_t count;
    struct ar_reduction reduction;
    size_t scratch_bytes;
};

static struct ar_plan *
plan_of(const struct call *call, int rank)
{
    struct ar_params params = call->row->defaults;
    struct ar_plan *plan = NULL;
    params.segment_bytes = call->segment_bytes;
    params.segments = call->segments;
    params.window = call->window;
    assert_int_equal(ar_plan_create(&plan, call->row, &params, rank, call->nranks, call->count,
                                    &call->reduction, call->scratch_bytes, AR_WINDOW_MAX),
                     AR_OK);
    return plan;
}

static struct call
ring_of(size_t count)
{
    return (struct call){.row = row_called("ring"),
                         .window = 1,
                         .nranks = 4,
                         .count = count,
                         .reduction = float_sum,
                         .scratch_bytes = 64 << 20};
}

static void
expect_cut(const struct call *call, size_t segment, size_t nsegments, int window)
{
    struct ar_plan *plan = plan_of(call, 0);
    assert_int_equal(plan->segment, segment);
    assert_int_equal(plan->nsegments, nsegments);
    assert_int_equal(plan->window, window);
    ar_plan_destroy(plan);
}

/* --- cutting --- */

static void
a_message_is_one_segment_unless_something_bounds_it(void **state)
{
    (void)state;
    struct call call = ring_of(1000);
    expect_cut(&call, 1000, 1, 1);
    call.window = 4; /* no more instances than segments */
    expect_cut(&call, 1000, 1, 1);
}

static void
segments_have_the_bytes_asked_for(void **state)
{
    (void)state;
    struct call call = ring_of(1000);
    call.window = 4;
    call.segment_bytes = 1000;
    expect_cut(&call, 250, 4, 4);
    call.count = 1001; /* the tail is one element */
    expect_cut(&call, 250, 5, 4);
    call.segment_bytes = 1003; /* no part of an element */
    expect_cut(&call, 250, 5, 4);
    call.segment_bytes = 3; /* less than one: one */
    expect_cut(&call, 1, 1001, 4);
}

static void
a_message_is_cut_into_as_many_segments_as_asked_for(void **state)
{
    (void)state;
    struct call call = ring_of(1000);
    call.segments = 1;
    expect_cut(&call, 1000, 1, 1);
    call.segments = 20;
    expect_cut(&call, 50, 20, 1);
    call.segments = 3; /* the last one is shorter */
    expect_cut(&call, 334, 3, 1);
    call.segments = 300; /* 250 of 4, for 300 of 3 would not do */
    expect_cut(&call, 4, 250, 1);
    call.segments = AR_SEGMENTS_MAX; /* no segment is without elements */
    expect_cut(&call, 1, 1000, 1);
}

/* What a rank needs beside its buffers falls as the number of slices grows, whatever the row. */
static void
slices_one_after_another_bound_the_scratch(void **state)
{
    enum { COUNT = 1 << 20, P = 8 };
    (void)state;
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        for (int n = 1; n <= 64; n *= 4)
            for (int rank = 0; rank < P; rank++) {
                const struct call call = {.row = ar_algorithm_at(i),
                                          .segments = n,
                                          .window = 1,
                                          .nranks = P,
                                          .count = COUNT,
                                          .reduction = float_sum,
                                          .scratch_bytes = SIZE_MAX};
                const size_t slice = COUNT / (size_t)n;
                struct ar_plan *const plan = plan_of(&call, rank);
                const double said = ar_card_value(call.row, AR_CARD_SCRATCH, &call.row->defaults, P,
                                                  (double)slice * call.reduction.size, NULL);
                assert_int_equal(plan->nsegments, n);
                assert_true((double)ar_plan_scratch_bytes(plan) <= said + 2 * AR_SCRATCH_ALIGNMENT);
                ar_plan_destroy(plan);
            }
}

static size_t
elements_of(const struct ar_schedule *s)
{
    return s->nrounds == 0 ? 0 : s->count;
}

static void
full_segments_and_tail_make_the_message(void **state)
{
    (void)state;
    for (size_t count = 1; count < 200; count++)
        for (size_t segment = 1; segment < 40; segment++) {
            struct call call = ring_of(count);
            call.segment_bytes = segment * call.reduction.size;
            struct ar_plan *plan = plan_of(&call, 1);
            const size_t tail = count % plan->segment;
            assert_true(plan->segment <= segment);
            assert_int_equal(elements_of(&plan->full.schedule), plan->segment);
            assert_int_equal(elements_of(&plan->tail.schedule), tail);
            assert_int_equal((plan->nsegments - (tail > 0)) * plan->segment + tail, count);
            ar_plan_destroy(plan);
        }
}

static void
a_tail_leaves_no_schedule_behind(void **state)
{
    (void)state;
    struct call call = ring_of(1000);
    call.segment_bytes = 1000;
    struct ar_plan *plan = plan_of(&call, 0);
    assert_int_equal(plan->tail.schedule.nsteps, 0);
    assert_int_equal(plan->tail.schedule.nrounds, 0);
    ar_plan_destroy(plan);
}

/* --- what ranks must agree on --- */

/* The same elements with gaps, at an address of their own: another handle with
 * the same signature. */
static struct ar_reduction
spread(ptrdiff_t extent, ptrdiff_t true_lb)
{
    struct ar_reduction r = float_sum;
    r.extent = extent;
    r.true_lb = true_lb;
    r.dense = r.named = false;
    return r;
}

static void
ranks_cut_alike_whatever_their_types_extent(void **state)
{
    (void)state;
    const struct ar_reduction layouts[] = {spread(4, 0), spread(64, 0), spread(4, -3),
                                           spread(100000, 7), spread(8, PTRDIFF_MAX / 2)};
    for (size_t i = 0; ar_algorithm_at(i); i++)
        for (size_t j = 0; j < LENGTH(layouts); j++) {
            struct call call = {ar_algorithm_at(i), 0, 0, 3, 5, 100000, float_sum, 65536};
            struct ar_plan *mine = plan_of(&call, 2);
            call.reduction = layouts[j];
            struct ar_plan *other = plan_of(&call, 3);
            assert_int_equal(mine->segment, other->segment);
            assert_int_equal(mine->nsegments, other->nsegments);
            assert_int_equal(mine->window, other->window);
            ar_plan_destroy(mine);
            ar_plan_destroy(other);
        }
}

static void
all_ranks_cut_alike(void **state)
{
    (void)state;
    for (size_t i = 0; ar_algorithm_at(i); i++) {
        const struct call call = {ar_algorithm_at(i), 0, 0, 2, 7, 50000, float_sum, 65536};
        struct ar_plan *first = plan_of(&call, 0);
        for (int rank = 1; rank < call.nranks; rank++) {
            struct ar_plan *plan = plan_of(&call, rank);
            assert_int_equal(plan->segment, first->segment);
            assert_int_equal(plan->window, first->window);
            ar_plan_destroy(plan);
        }
        ar_plan_destroy(first);
    }
}

/* --- memory --- */

static void
scratch_stays_below_its_bound(void **state)
{
    (void)state;
    static const size_t bounds[] = {65536, 65537, 1 << 20};
    static const int windows[] = {1, 2, 64};
    for (size_t i = 0; ar_algorithm_at(i); i++)
        for (size_t b = 0; b < LENGTH(bounds); b++)
            for (size_t w = 0; w < LENGTH(windows); w++)
                for (int rank = 0; rank < 6; rank++) {
                    const struct call call = {
                        ar_algorithm_at(i), 0, 0, windows[w], 6, 1000000, float_sum, bounds[b]};
                    struct ar_plan *plan = plan_of(&call, rank);
                    if (plan->segment > 1)
                        assert_true(ar_plan_scratch_bytes(plan) <= bounds[b]);
                    ar_plan_destroy(plan);
                }
}

static void
an_element_larger_than_the_bound_goes_alone(void **state)
{
    (void)state;
    struct call call = ring_of(7);
    call.scratch_bytes = 65536;
    call.reduction.size = call.reduction.true_extent = 1 << 20;
    call.reduction.extent = 1 << 20;
    expect_cut(&call, 1, 7, 1);
}

/* 1024 nodes of 64 ranks; shm, which is for one node, on 64 ranks.  Rank 0 is the root of trees. */
static void
plans_on_65536_ranks_stay_below_30_mib(void **state)
{
    (void)state;
    enum { RANKS = 65536, PER_NODE = 64 };
    static const size_t counts[] = {2, RANKS / 4, (size_t)4 << 20};
    static int node_of[RANKS];
    for (int rank = 0; rank < RANKS; rank++)
        node_of[rank] = rank / PER_NODE;
    for (size_t i = 0; ar_algorithm_at(i); i++) {
        const struct ar_algorithm *const row = ar_algorithm_at(i);
        const int nranks = row == row_called("shm") ? PER_NODE : RANKS;
        struct ar_params params = row->defaults;
        params.node_of = node_of;
        size_t most = 0;
        for (size_t k = 0; k < LENGTH(counts); k++)
            for (int rank = 0; rank < nranks; rank += nranks - 1) {
                struct ar_plan *plan = NULL; /* for gcc -O3 -flto */
                assert_int_equal(ar_plan_create(&plan, row, &params, rank, nranks, counts[k],
                                                &float_sum, (size_t)64 << 20, AR_WINDOW_MAX),
                                 AR_OK);
                const size_t bytes = ar_plan_memory_bytes(plan);
                most = bytes > most ? bytes : most;
                ar_plan_destroy(plan);
            }
        print_message("%s on %d ranks: %.2f MiB\n", row->name, nranks, (double)most / (1 << 20));
        assert_true(most <= (size_t)30 << 20);
    }
}

/* Without a bound, too: counts of messages are int, and so are bytes. */
static void
no_message_is_longer_than_an_int(void **state)
{
    (void)state;
    for (size_t i = 0; ar_algorithm_at(i); i++) {
        struct call call = {ar_algorithm_at(i), 0, 0, 1, 16, SIZE_MAX / 4, float_sum, SIZE_MAX};
        call.reduction.size = call.reduction.true_extent = 1;
        call.reduction.extent = 1;
        struct ar_plan *plan = plan_of(&call, 3);
        for (size_t k = 0; k < plan->full.schedule.nsteps; k++) {
            assert_true(plan->full.schedule.steps[k].dst.length <= INT_MAX);
            assert_true(plan->full.schedule.steps[k].a.length <= INT_MAX);
        }
        ar_plan_destroy(plan);
    }
}

static void
instances_do_not_overlap(void **state)
{
    (void)state;
    struct call call = ring_of(100000);
    call.window = 3;
    call.segment_bytes = 4096;
    struct ar_plan *plan = plan_of(&call, 0);
    assert_int_equal(plan->instance_bytes % 64, 0);
    assert_int_equal(plan->tmp_bytes % 64, 0);
    assert_true(plan->tmp_bytes <= plan->instance_bytes);
    assert_int_equal(ar_plan_scratch_bytes(plan), 3 * plan->instance_bytes);
    assert_true(ar_plan_memory_bytes(plan) > sizeof *plan);
    ar_plan_destroy(plan);
}

/* When the recv_reduce steps of a round fold: 'l'ate, 'u'nless in place, at 'o'nce. */
static void
assert_folds(const char *expected, const char *row, int nranks, int rank, size_t round)
{
    const struct call call = {row_called(row), 0, 0, 1, nranks, 24, float_sum, 64 << 20};
    struct ar_plan *plan = plan_of(&call, rank);
    const struct ar_schedule *s = &plan->full.schedule;
    char got[64] = "";
    assert_true(round < s->nrounds);
    for (size_t i = round ? s->round_end[round - 1] : 0; i < s->round_end[round]; i++)
        if (s->steps[i].kind == AR_RECV_REDUCE)
            strncat(got, &"l\0u\0o"[2 * plan->full.folding[i]], 1);
    assert_string_equal(got, expected);
    ar_plan_destroy(plan);
}

static void
what_comes_folds_at_once_where_nothing_else_is_touched(void **state)
{
    (void)state;
    assert_folds("o", "ring", 4, 1, 0);      /* another block is sent */
    assert_folds("o", "ring", 4, 1, 2);      /* of OUT, into OUT */
    assert_folds("u", "butterfly", 4, 1, 0); /* IN is sent, OUT written */
    assert_folds("l", "butterfly", 4, 1, 1); /* OUT is sent and written */
    assert_folds("lll", "star", 4, 0, 0);    /* all into OUT, in order */
}

static void
ranks_try_in_place_from_a_length_on(void **state)
{
    static const struct {
        int nranks;
        bool is_crowded;
        size_t bytes;
    } cases[] = {{2, false, 8 << 10},   {3, false, 256 << 10},  {16, false, 256 << 10},
                 {17, false, SIZE_MAX}, {128, false, SIZE_MAX}, {2, true, SIZE_MAX},
                 {16, true, SIZE_MAX}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(
            ar_shm_tune(cases[i].nranks, AR_USUAL_CACHE, cases[i].is_crowded).in_place_bytes,
            cases[i].bytes);
}

/* Where ranks share cores a chunk is best combined whole, whatever the levels. */
static void
ranks_that_share_cores_combine_more_whole(void **state)
{
    (void)state;
    const struct ar_shm_tuning own = ar_shm_tune(16, AR_USUAL_CACHE, false),
                               shared = ar_shm_tune(16, AR_USUAL_CACHE, true);
    assert_int_equal(own.whole_bytes, 512);
    assert_int_equal(shared.whole_bytes, 16 << 10);
    for (int i = 0; i < AR_SHARE_LEVELS; i++) {
        assert_int_equal(own.share_bytes[i], 512 >> i);
        assert_int_equal(shared.share_bytes[i], shared.whole_bytes);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_try_in_place_from_a_length_on),
        cmocka_unit_test(ranks_that_share_cores_combine_more_whole),
        cmocka_unit_test(a_message_is_one_segment_unless_something_bounds_it),
        cmocka_unit_test(segments_have_the_bytes_asked_for),
        cmocka_unit_test(a_message_is_cut_into_as_many_segments_as_asked_for),
        cmocka_unit_test(slices_one_after_another_bound_the_scratch),
        cmocka_unit_test(full_segments_and_tail_make_the_message),
        cmocka_unit_test(a_tail_leaves_no_schedule_behind),
        cmocka_unit_test(ranks_cut_alike_whatever_their_types_extent),
        cmocka_unit_test(all_ranks_cut_alike),
        cmocka_unit_test(scratch_stays_below_its_bound),
        cmocka_unit_test(an_element_larger_than_the_bound_goes_alone),
        cmocka_unit_test(plans_on_65536_ranks_stay_below_30_mib),
        cmocka_unit_test(no_message_is_longer_than_an_int),
        cmocka_unit_test(instances_do_not_overlap),
        cmocka_unit_test(what_comes_folds_at_once_where_nothing_else_is_touched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
