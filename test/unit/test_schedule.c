/* The builder: errors latch, empty steps vanish, blocks cover and balance. */
#include <limits.h>
#include <stdlib.h>

#include "schedule/schedule.h"
#include "unit.h"

#define COUNT 10

static struct ar_schedule s; /* of rank 1 of 3, 10 elements */

static int
begin(void **state)
{
    (void)state;
    ar_schedule_init(&s, 1, 3, COUNT);
    return 0;
}

static int
end(void **state)
{
    (void)state;
    ar_schedule_fini(&s);
    assert_null(s.steps);
    assert_null(s.round_end);
    return 0;
}

static struct ar_region
out(size_t offset, size_t length)
{
    return ar_out((struct ar_span){offset, length});
}

static struct ar_region
in(size_t offset, size_t length)
{
    return ar_in((struct ar_span){offset, length});
}

static struct ar_region
tmp(size_t offset, size_t length)
{
    return ar_tmp((struct ar_span){offset, length});
}

/* --- steps and rounds --- */

static void
steps_keep_what_was_emitted(void **state)
{
    (void)state;
    ar_send(&s, 0, in(1, 2));
    ar_recv_reduce(&s, 2, out(3, 4), in(3, 4), AR_RECEIVED_FIRST);
    ar_end_round(&s);
    ar_recv(&s, 0, tmp(5, 6));
    ar_copy(&s, out(0, 2), tmp(5, 2));
    ar_reduce(&s, out(0, 2), tmp(5, 2), in(0, 2));
    assert_int_equal(ar_schedule_finish(&s), AR_OK);

    static const enum ar_step_kind kinds[] = {AR_SEND, AR_RECV_REDUCE, AR_RECV, AR_COPY, AR_REDUCE};
    static const int peers[] = {0, 2, 0, -1, -1};
    assert_int_equal(s.nsteps, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(s.steps[i].kind, kinds[i]);
        assert_int_equal(s.steps[i].peer, peers[i]);
    }
    assert_int_equal(s.steps[0].a.buffer, AR_IN);
    assert_int_equal(s.steps[0].a.offset, 1);
    assert_int_equal(s.steps[0].a.length, 2);
    assert_int_equal(s.steps[1].order, AR_RECEIVED_FIRST);
    assert_int_equal(s.steps[1].dst.offset, 3);
    assert_int_equal(s.steps[4].b.buffer, AR_IN);
    assert_int_equal(s.nrounds, 2);
    assert_int_equal(s.round_end[0], 2);
    assert_int_equal(s.round_end[1], 5);
    assert_int_equal(s.tmp_length, 11);
}

static void
steps_outgrow_the_first_allocation(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        ar_send(&s, i % 2 * 2, in((size_t)i % COUNT, 1));
        ar_end_round(&s);
    }
    assert_int_equal(ar_schedule_finish(&s), AR_OK);
    assert_int_equal(s.nsteps, 1000);
    assert_int_equal(s.nrounds, 1000);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(s.steps[i].a.offset, i % COUNT);
        assert_int_equal(s.round_end[i], i + 1);
    }
}

static void
empty_steps_and_rounds_leave_no_trace(void **state)
{
    (void)state;
    ar_end_round(&s);
    ar_send(&s, 0, in(COUNT, 0));
    ar_recv(&s, 0, out(0, 0));
    ar_recv_reduce(&s, 0, out(3, 0), in(3, 0), AR_LOCAL_FIRST);
    ar_copy(&s, out(3, 0), in(3, 0));
    ar_reduce(&s, out(3, 0), in(3, 0), tmp(99, 0));
    ar_end_round(&s);
    ar_end_round(&s);
    assert_int_equal(ar_schedule_finish(&s), AR_OK);
    assert_int_equal(s.nsteps, 0);
    assert_int_equal(s.nrounds, 0);
    assert_int_equal(s.tmp_length, 0);
}

/* --- errors --- */

static void
assert_refused(void)
{
    assert_int_equal(ar_schedule_finish(&s), AR_ERR_STEP);
    assert_int_equal(s.nsteps, 0);
    ar_schedule_fini(&s);
    begin(NULL);
}

static void
peers_are_other_ranks_of_the_communicator(void **state)
{
    (void)state;
    static const int wrong[] = {-1, 1, 3, INT_MIN, INT_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ar_send(&s, wrong[i], in(0, 1));
        assert_refused();
        ar_recv(&s, wrong[i], out(0, 1));
        assert_refused();
        ar_recv_reduce(&s, wrong[i], out(0, 1), in(0, 1), AR_LOCAL_FIRST);
        assert_refused();
    }
    ar_send(&s, 1, in(0, 0)); /* an error even if empty */
    assert_refused();
}

static void
regions_stay_inside_in_and_out(void **state)
{
    (void)state;
    ar_send(&s, 0, in(1, COUNT));
    assert_refused();
    ar_send(&s, 0, out(COUNT + 1, 1));
    assert_refused();
    ar_send(&s, 0, in(SIZE_MAX, 2));
    assert_refused();
    ar_recv(&s, 0, out(COUNT, 1));
    assert_refused();
    ar_recv_reduce(&s, 0, tmp(0, 2), in(COUNT - 1, 2), AR_LOCAL_FIRST);
    assert_refused();
    ar_copy(&s, tmp(0, COUNT + 1), in(0, COUNT + 1));
    assert_refused();
    ar_reduce(&s, out(0, 2), tmp(0, 2), in(COUNT - 1, 2));
    assert_refused();
}

static void
in_is_read_only(void **state)
{
    (void)state;
    ar_recv(&s, 0, in(0, 1));
    assert_refused();
    ar_recv_reduce(&s, 0, in(0, 1), in(0, 1), AR_LOCAL_FIRST);
    assert_refused();
    ar_copy(&s, in(0, 1), out(0, 1));
    assert_refused();
    ar_reduce(&s, in(0, 1), out(0, 1), tmp(0, 1));
    assert_refused();
}

static void
operands_have_one_length(void **state)
{
    (void)state;
    ar_recv_reduce(&s, 0, out(0, 1), in(0, 2), AR_LOCAL_FIRST);
    assert_refused();
    ar_copy(&s, out(0, 2), in(0, 1));
    assert_refused();
    ar_reduce(&s, out(0, 2), in(0, 1), tmp(0, 2));
    assert_refused();
    ar_reduce(&s, out(0, 2), in(0, 2), tmp(0, 1));
    assert_refused();
}

static void
the_first_error_stays(void **state)
{
    (void)state;
    ar_send(&s, 0, in(0, 1));
    ar_send(&s, 1, in(0, 1));
    ar_send(&s, 2, in(0, 1));
    ar_end_round(&s);
    assert_int_equal(s.nsteps, 1);
    assert_int_equal(s.nrounds, 0);
    assert_int_equal(ar_schedule_finish(&s), AR_ERR_STEP);
    assert_int_equal(ar_schedule_finish(&s), AR_ERR_STEP);
}

/* --- blocks --- */

static const size_t counts[] = {0, 1, 2, 6, 7, 8, 63, 64, 1000, SIZE_MAX / 8};
static const int parts[] = {1, 2, 3, 7, 8, 64, 257};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static void
blocks_cover_the_vector_in_order_and_balance(void **state)
{
    (void)state;
    for (size_t c = 0; c < LENGTH(counts); c++) {
        for (size_t k = 0; k < LENGTH(parts); k++) {
            const struct ar_cut cut = {counts[c], parts[k]};
            const size_t longest = ar_block(cut, 0).length;
            const size_t shortest = ar_block(cut, parts[k] - 1).length;
            size_t next = 0, last = longest;
            for (int i = 0; i < parts[k]; i++) {
                const struct ar_span block = ar_block(cut, i);
                assert_int_equal(block.offset, next);
                assert_true(block.length <= last);
                next += last = block.length;
            }
            assert_int_equal(next, counts[c]);
            assert_true(longest - shortest <= 1);
        }
    }
}

static void
block_numbers_wrap(void **state)
{
    (void)state;
    for (size_t k = 0; k < LENGTH(parts); k++) {
        const struct ar_cut cut = {1000, parts[k]};
        for (int i = 1 - parts[k]; i < 0; i++) {
            const struct ar_span below = ar_block(cut, i), inside = ar_block(cut, i + parts[k]);
            const struct ar_span above = ar_block(cut, i + 2 * parts[k]);
            assert_int_equal(below.offset, inside.offset);
            assert_int_equal(below.length, inside.length);
            assert_int_equal(above.offset, inside.offset);
            assert_int_equal(above.length, inside.length);
        }
    }
}

static void
runs_of_blocks_are_their_union(void **state)
{
    (void)state;
    for (size_t k = 0; k < LENGTH(parts); k++) {
        const struct ar_cut cut = {100, parts[k]};
        for (int first = 0; first <= parts[k]; first++) {
            size_t length = 0;
            for (int n = 0; first + n <= parts[k]; n++) {
                const struct ar_span run = ar_blocks(cut, first, n);
                assert_int_equal(run.length, length);
                if (first < parts[k])
                    assert_int_equal(run.offset, ar_block(cut, first).offset);
                length += first + n < parts[k] ? ar_block(cut, first + n).length : 0;
            }
        }
    }
}

static void
subspans_are_blocks_of_a_span(void **state)
{
    (void)state;
    const struct ar_span span = {17, 10};
    const size_t offsets[] = {17, 21, 24}, lengths[] = {4, 3, 3};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ar_subspan(span, 3, i).offset, offsets[i]);
        assert_int_equal(ar_subspan(span, 3, i).length, lengths[i]);
    }
    assert_int_equal(ar_whole(9).offset, 0);
    assert_int_equal(ar_whole(9).length, 9);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(steps_keep_what_was_emitted, begin, end),
        cmocka_unit_test_setup_teardown(steps_outgrow_the_first_allocation, begin, end),
        cmocka_unit_test_setup_teardown(empty_steps_and_rounds_leave_no_trace, begin, end),
        cmocka_unit_test_setup_teardown(peers_are_other_ranks_of_the_communicator, begin, end),
        cmocka_unit_test_setup_teardown(regions_stay_inside_in_and_out, begin, end),
        cmocka_unit_test_setup_teardown(in_is_read_only, begin, end),
        cmocka_unit_test_setup_teardown(operands_have_one_length, begin, end),
        cmocka_unit_test_setup_teardown(the_first_error_stays, begin, end),
        cmocka_unit_test(blocks_cover_the_vector_in_order_and_balance),
        cmocka_unit_test(block_numbers_wrap),
        cmocka_unit_test(runs_of_blocks_are_their_union),
        cmocka_unit_test(subspans_are_blocks_of_a_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
