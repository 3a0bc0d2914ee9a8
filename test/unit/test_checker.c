/* Wrong schedules, and why the checker refuses each. */
#include <string.h>

#include "schedule/checker.h"
#include "unit.h"

#define RANKS_MAX 3

static struct ar_schedule all[RANKS_MAX];
static int nranks;

static void
begin(int ranks, size_t count)
{
    nranks = ranks;
    for (int rank = 0; rank < nranks; rank++)
        ar_schedule_init(&all[rank], rank, nranks, count);
}

static int
end(void **state)
{
    (void)state;
    for (int rank = 0; rank < nranks; rank++)
        ar_schedule_fini(&all[rank]);
    return 0;
}

static int
check(struct ar_verdict *verdict, bool in_place)
{
    for (int rank = 0; rank < nranks; rank++)
        assert_int_equal(ar_schedule_finish(&all[rank]), AR_OK);
    return ar_check(verdict, all, nranks, in_place);
}

static void
assert_proved(bool in_place)
{
    struct ar_verdict verdict;
    if (check(&verdict, in_place))
        fail_msg("refuted: %s", verdict.text);
    assert_string_equal(verdict.text, "");
}

/* Refuted for this reason, on this rank. */
static void
assert_refuted(bool in_place, int rank, const char *why)
{
    struct ar_verdict verdict;
    assert_int_equal(check(&verdict, in_place), AR_ERR_PROOF);
    if (!strstr(verdict.text, why) || verdict.text[strlen("rank ")] != '0' + rank)
        fail_msg("'%s' in place of 'rank %d ...: %s'", verdict.text, rank, why);
}

enum { SEPARATE, IN_PLACE };

static struct ar_region
in(size_t offset, size_t length)
{
    return ar_in((struct ar_span){offset, length});
}

static struct ar_region
out(size_t offset, size_t length)
{
    return ar_out((struct ar_span){offset, length});
}

static struct ar_region
tmp(size_t offset, size_t length)
{
    return ar_tmp((struct ar_span){offset, length});
}

static enum ar_order
rank_order(int rank)
{
    return rank == 0 ? AR_LOCAL_FIRST : AR_RECEIVED_FIRST;
}

/* A right allreduce of two elements for two ranks; the others' base. */
static void
exchange(int rank)
{
    ar_send(&all[rank], 1 - rank, in(0, 2));
    ar_recv_reduce(&all[rank], 1 - rank, out(0, 2), in(0, 2), rank_order(rank));
    ar_end_round(&all[rank]);
}

static void
an_exchange_is_proved_in_rank_order(void **state)
{
    (void)state;
    begin(2, 2);
    exchange(0);
    exchange(1);
    for (int in_place = 0; in_place < 2; in_place++) {
        struct ar_verdict verdict;
        assert_int_equal(check(&verdict, in_place), AR_OK);
        assert_true(verdict.in_rank_order);
    }
}

static void
another_order_is_proved_and_told(void **state)
{
    (void)state;
    struct ar_verdict verdict;
    begin(2, 1);
    for (int rank = 0; rank < 2; rank++) {
        ar_send(&all[rank], 1 - rank, in(0, 1));
        ar_recv_reduce(&all[rank], 1 - rank, out(0, 1), in(0, 1), rank_order(1 - rank));
    }
    assert_int_equal(check(&verdict, SEPARATE), AR_OK);
    assert_false(verdict.in_rank_order);
}

/* --- messages --- */

static void
a_dropped_send_is_refuted(void **state)
{
    (void)state;
    begin(2, 2);
    exchange(0);
    ar_recv_reduce(&all[1], 0, out(0, 2), in(0, 2), AR_RECEIVED_FIRST);
    assert_refuted(SEPARATE, 0,
                   "round 1 step 2: waits forever to receive from rank 1, which has ended: "
                   "a message without counterpart");
}

static void
a_dropped_recv_is_refuted(void **state)
{
    (void)state;
    begin(2, 2);
    exchange(0);
    ar_send(&all[1], 0, in(0, 2));
    assert_refuted(SEPARATE, 0, "waits forever to send to rank 1, which has ended");
}

static void
a_message_left_over_at_the_end_is_refuted(void **state)
{
    (void)state;
    begin(2, 2);
    exchange(0);
    exchange(1);
    ar_send(&all[1], 0, out(0, 1));
    assert_refuted(SEPARATE, 1, "round 2 step 1: waits forever to send to rank 0, which has ended");
}

static void
a_wrong_peer_is_refuted(void **state)
{
    (void)state;
    begin(3, 1);
    ar_send(&all[0], 2, in(0, 1)); /* meant for 1 */
    ar_recv_reduce(&all[1], 0, out(0, 1), in(0, 1), AR_RECEIVED_FIRST);
    assert_refuted(SEPARATE, 0, "waits forever to send to rank 2, which has ended");
}

static void
a_wrong_length_is_refuted(void **state)
{
    (void)state;
    begin(2, 2);
    exchange(0);
    ar_send(&all[1], 0, in(0, 1));
    ar_recv_reduce(&all[1], 0, out(0, 2), in(0, 2), AR_RECEIVED_FIRST);
    assert_refuted(SEPARATE, 0, "receives 2 elements where rank 1 sends 1");
}

static void
a_wrong_block_is_refuted(void **state)
{
    (void)state;
    begin(2, 3);
    ar_send(&all[0], 1, in(1, 2));
    ar_recv_reduce(&all[1], 0, out(0, 2), in(0, 2), AR_RECEIVED_FIRST);
    assert_refuted(SEPARATE, 1, "combines element 1 with element 0");
}

static void
a_block_received_in_the_wrong_place_is_refuted(void **state)
{
    (void)state;
    begin(2, 2);
    for (int rank = 0; rank < 2; rank++) {
        ar_send(&all[rank], 1 - rank, in(0, 2));
        ar_recv_reduce(&all[rank], 1 - rank, tmp(0, 2), in(0, 2), rank_order(rank));
        ar_copy(&all[rank], out(0, 1), tmp(rank == 0 ? 0 : 1, 1));
        ar_copy(&all[rank], out(1, 1), tmp(rank == 0 ? 1 : 0, 1));
    }
    assert_refuted(SEPARATE, 1, "ends with element 1 instead of element 0");
}

/* Two messages of one length between two ranks match in the order of the steps. */
static void
swapped_messages_are_refuted(void **state)
{
    (void)state;
    begin(2, 2);
    ar_send(&all[0], 1, in(0, 1));
    ar_send(&all[0], 1, in(1, 1));
    ar_recv_reduce(&all[0], 1, out(0, 2), in(0, 2), AR_LOCAL_FIRST);
    ar_recv_reduce(&all[1], 0, out(1, 1), in(1, 1), AR_RECEIVED_FIRST);
    ar_recv_reduce(&all[1], 0, out(0, 1), in(0, 1), AR_RECEIVED_FIRST);
    ar_send(&all[1], 0, in(0, 2));
    assert_refuted(SEPARATE, 1, "combines element 0 with element 1");
}

/* --- deadlock --- */

static void
send_before_recv_deadlocks_if_sends_are_synchronous(void **state)
{
    (void)state;
    begin(2, 2);
    for (int rank = 0; rank < 2; rank++) {
        ar_send(&all[rank], 1 - rank, in(0, 2));
        ar_end_round(&all[rank]);
        ar_recv_reduce(&all[rank], 1 - rank, out(0, 2), in(0, 2), rank_order(rank));
    }
    assert_refuted(SEPARATE, 0,
                   "waits forever to send to rank 1, which waits for rank 0: a deadlock");
}

static void
recv_before_send_deadlocks(void **state)
{
    (void)state;
    begin(3, 1);
    for (int rank = 0; rank < 3; rank++) {
        ar_recv(&all[rank], (rank + 2) % 3, tmp(0, 1));
        ar_end_round(&all[rank]);
        ar_send(&all[rank], (rank + 1) % 3, in(0, 1));
    }
    assert_refuted(SEPARATE, 0,
                   "waits forever to receive from rank 2, which waits for rank 1, which waits for "
                   "rank 0: a deadlock");
}

/* --- regions in flight --- */

static void
receiving_into_what_is_sent_is_refuted(void **state)
{
    (void)state;
    begin(2, 2);
    for (int rank = 0; rank < 2; rank++) {
        ar_copy(&all[rank], tmp(0, 2), in(0, 2));
        ar_end_round(&all[rank]);
        ar_send(&all[rank], 1 - rank, tmp(0, 2));
        ar_recv(&all[rank], 1 - rank, tmp(1, 2));
    }
    assert_refuted(SEPARATE, 1, "receives into what step 1 of the round uses");
}

static void
two_receives_into_one_place_are_refuted(void **state)
{
    (void)state;
    begin(3, 1);
    ar_recv(&all[0], 1, tmp(0, 1));
    ar_recv(&all[0], 2, tmp(0, 1));
    ar_send(&all[1], 0, in(0, 1));
    ar_send(&all[2], 0, in(0, 1));
    assert_refuted(SEPARATE, 0, "receives into what step 1 of the round uses");
}

/* Right as long as IN and OUT are apart. */
static void
receiving_into_out_what_in_sends_is_refuted_in_place(void **state)
{
    (void)state;
    begin(2, 2);
    for (int rank = 0; rank < 2; rank++) {
        ar_send(&all[rank], 1 - rank, in(0, 2));
        ar_recv(&all[rank], 1 - rank, out(0, 2));
        if (rank == 0)
            ar_reduce(&all[rank], out(0, 2), in(0, 2), out(0, 2));
        else
            ar_reduce(&all[rank], tmp(0, 2), out(0, 2), in(0, 2));
        if (rank == 1)
            ar_copy(&all[rank], out(0, 2), tmp(0, 2));
    }
    assert_proved(SEPARATE);
    assert_refuted(IN_PLACE, 0, "receives into what step 1 of the round uses");
}

/* --- values --- */

static void
a_doubled_reduce_is_refuted(void **state)
{
    (void)state;
    begin(2, 2);
    for (int rank = 0; rank < 2; rank++) {
        exchange(rank);
        ar_reduce(&all[rank], tmp(0, 2), out(0, 2), in(0, 2));
        ar_copy(&all[rank], out(0, 2), tmp(0, 2));
    }
    assert_refuted(SEPARATE, 0, "combines the contribution of rank 0 twice, for element 0");
}

static void
a_doubled_addend_is_refuted_though_all_ranks_agree(void **state)
{
    (void)state;
    begin(2, 1);
    ar_send(&all[0], 1, in(0, 1));
    ar_recv_reduce(&all[1], 0, tmp(0, 1), in(0, 1), AR_RECEIVED_FIRST);
    ar_reduce(&all[1], out(0, 1), tmp(0, 1), in(0, 1));
    ar_end_round(&all[0]);
    ar_end_round(&all[1]);
    ar_recv(&all[0], 1, out(0, 1));
    ar_send(&all[1], 0, out(0, 1));
    assert_refuted(SEPARATE, 1,
                   "round 1 step 2: combines the contribution of rank 1 twice, for element 0");
}

static void
a_doubled_addend_that_hides_a_missing_one_is_refuted(void **state)
{
    (void)state;
    begin(2, 1);
    ar_copy(&all[0], tmp(0, 1), in(0, 1));
    ar_reduce(&all[0], out(0, 1), in(0, 1), tmp(0, 1)); /* two addends, but 0 twice */
    ar_end_round(&all[0]);
    ar_send(&all[0], 1, out(0, 1));
    ar_recv(&all[1], 0, out(0, 1));
    assert_refuted(SEPARATE, 0,
                   "round 1 step 2: combines the contribution of rank 0 twice, for element 0");
}

static void
a_missing_addend_is_refuted(void **state)
{
    (void)state;
    begin(2, 1);
    ar_send(&all[0], 1, in(0, 1));
    ar_copy(&all[0], out(0, 1), in(0, 1));
    ar_recv(&all[1], 0, out(0, 1));
    assert_refuted(SEPARATE, 0, "ends without the contribution of rank 1 to element 0");
}

static void
another_operand_order_on_one_rank_is_refuted(void **state)
{
    (void)state;
    begin(2, 2);
    exchange(0);
    ar_send(&all[1], 0, in(0, 2));
    ar_recv_reduce(&all[1], 0, out(0, 2), in(0, 2), AR_LOCAL_FIRST);
    assert_refuted(SEPARATE, 1, "combines element 0 differently from rank 0");
}

/* (0+1)+2 here, 0+(1+2) there: not the same bits. */
static void
another_association_on_one_rank_is_refuted(void **state)
{
    (void)state;
    begin(3, 1);
    for (int rank = 0; rank < 3; rank++) {
        for (int peer = 0; peer < 3; peer++) {
            if (peer == rank)
                continue;
            ar_send(&all[rank], peer, in(0, 1));
            ar_recv(&all[rank], peer, tmp((size_t)peer, 1));
        }
        ar_copy(&all[rank], tmp((size_t)rank, 1), in(0, 1));
        ar_end_round(&all[rank]);
        ar_reduce(&all[rank], tmp(3, 1), tmp(rank == 2 ? 1 : 0, 1), tmp(rank == 2 ? 2 : 1, 1));
        if (rank == 2)
            ar_reduce(&all[rank], out(0, 1), tmp(0, 1), tmp(3, 1));
        else
            ar_reduce(&all[rank], out(0, 1), tmp(3, 1), tmp(2, 1));
    }
    assert_refuted(SEPARATE, 2, "combines element 0 differently from rank 0");
}

static void
a_result_never_written_is_refuted(void **state)
{
    (void)state;
    begin(2, 2);
    for (int rank = 0; rank < 2; rank++) {
        ar_send(&all[rank], 1 - rank, in(0, 2));
        ar_recv_reduce(&all[rank], 1 - rank, tmp(0, 2), in(0, 2), rank_order(rank));
        ar_copy(&all[rank], out(0, 1), tmp(0, 1));
    }
    assert_refuted(SEPARATE, 0, "leaves element 1 of OUT undefined");
}

static void
undefined_scratch_is_refuted(void **state)
{
    (void)state;
    begin(2, 1);
    ar_send(&all[0], 1, tmp(0, 1));
    ar_recv(&all[1], 0, out(0, 1));
    assert_refuted(SEPARATE, 0, "sends something undefined");
    end(NULL);

    begin(1, 1);
    ar_copy(&all[0], out(0, 1), tmp(7, 1));
    assert_refuted(SEPARATE, 0, "copies something undefined");
    end(NULL);

    begin(1, 1);
    ar_reduce(&all[0], out(0, 1), in(0, 1), tmp(0, 1));
    assert_refuted(SEPARATE, 0, "combines something undefined");
    end(NULL);

    begin(1, 1);
    ar_copy(&all[0], tmp(0, 1), out(0, 1)); /* OUT is undefined before it is written... */
    ar_copy(&all[0], out(0, 1), in(0, 1));
    assert_refuted(SEPARATE, 0, "copies something undefined");
    assert_proved(IN_PLACE); /* ...but is the contribution in place */
}

/* Where dst is a, an executor may compute b op= a and move it: b is lost. */
static void
the_second_operand_is_lost_where_the_result_replaces_the_first(void **state)
{
    (void)state;
    begin(1, 1);
    ar_copy(&all[0], tmp(0, 1), in(0, 1));
    ar_copy(&all[0], tmp(1, 1), in(0, 1));
    ar_reduce(&all[0], tmp(0, 1), tmp(0, 1), tmp(1, 1));
    ar_copy(&all[0], out(0, 1), tmp(1, 1));
    assert_refuted(SEPARATE, 0, "copies something undefined");
    end(NULL);

    begin(1, 1);
    ar_copy(&all[0], tmp(0, 1), in(0, 1));
    ar_reduce(&all[0], tmp(0, 1), tmp(0, 1), in(0, 1));
    assert_refuted(SEPARATE, 0, "reduces into its first operand with IN as the second");
}

/* --- overlap --- */

static void
regions_that_overlap_are_refuted(void **state)
{
    (void)state;
    begin(1, 3);
    ar_copy(&all[0], out(0, 3), in(0, 3));
    ar_copy(&all[0], out(1, 2), out(0, 2));
    assert_refuted(SEPARATE, 0, "copies between regions that overlap");
    end(NULL);

    begin(1, 3);
    ar_copy(&all[0], tmp(0, 3), in(0, 3));
    ar_reduce(&all[0], tmp(1, 2), tmp(0, 2), in(0, 2));
    assert_refuted(SEPARATE, 0, "reduces regions that overlap");
    end(NULL);

    begin(1, 3);
    ar_reduce(&all[0], out(0, 2), in(0, 2), in(0, 2));
    assert_refuted(SEPARATE, 0, "reduces regions that overlap");
    end(NULL);

    begin(2, 3);
    ar_send(&all[0], 1, in(1, 2));
    ar_copy(&all[1], out(0, 3), in(0, 3));
    ar_end_round(&all[1]);
    ar_recv_reduce(&all[1], 0, out(0, 2), out(1, 2), AR_LOCAL_FIRST);
    assert_refuted(SEPARATE, 1, "folds between regions that overlap");
}

/* --- in place --- */

/* IN is read after OUT was written: right only as long as they are apart. */
static void
reading_in_after_out_was_overwritten_is_refuted_in_place(void **state)
{
    (void)state;
    begin(2, 2);
    for (int rank = 0; rank < 2; rank++) {
        ar_recv_reduce(&all[rank], 1 - rank, out(0, 1), in(0, 1), rank_order(rank));
        ar_send(&all[rank], 1 - rank, in(0, 1));
        ar_end_round(&all[rank]);
        ar_send(&all[rank], 1 - rank, in(0, 2)); /* element 0 once more, to be ignored */
        ar_recv(&all[rank], 1 - rank, tmp(0, 2));
        if (rank == 0)
            ar_reduce(&all[rank], out(1, 1), in(1, 1), tmp(1, 1));
        else
            ar_reduce(&all[rank], out(1, 1), tmp(1, 1), in(1, 1));
        ar_end_round(&all[rank]);
        if (rank == 0)
            ar_reduce(&all[rank], out(0, 1), in(0, 1), tmp(0, 1));
        else
            ar_reduce(&all[rank], out(0, 1), tmp(0, 1), in(0, 1));
    }
    assert_proved(SEPARATE);
    assert_refuted(IN_PLACE, 0, "combines the contribution of rank 0 twice, for element 0");
}

/* The ranks swap their contributions, and send IN after that: 0+1 apart is 1+0 in place.  If one
 * rank were in place and the other not, their bits could differ. */
static void
another_expression_in_place_is_refuted(void **state)
{
    (void)state;
    struct ar_verdict verdict;
    begin(2, 1);
    for (int rank = 0; rank < 2; rank++) {
        ar_send(&all[rank], 1 - rank, in(0, 1));
        ar_recv(&all[rank], 1 - rank, tmp(0, 1));
        ar_copy(&all[rank], out(0, 1), tmp(0, 1));
        ar_end_round(&all[rank]);
        ar_send(&all[rank], 1 - rank, in(0, 1));
        ar_recv_reduce(&all[rank], 1 - rank, out(0, 1), in(0, 1), rank_order(rank));
    }
    assert_proved(SEPARATE);
    assert_proved(IN_PLACE);
    assert_int_equal(ar_check_both(&verdict, all, nranks), AR_ERR_PROOF);
    assert_non_null(strstr(verdict.text, "combines element 0 in place differently from apart"));
}

/* --- what comes from anywhere --- */

static void
assert_flawed(const char *why)
{
    struct ar_verdict verdict;
    assert_int_equal(ar_check(&verdict, all, nranks, SEPARATE), AR_ERR_PROOF);
    if (!strstr(verdict.text, why))
        fail_msg("'%s' in place of '%s'", verdict.text, why);
}

static void
finish_exchange(void)
{
    begin(2, 2);
    exchange(0);
    exchange(1);
    assert_proved(SEPARATE);
}

static void
what_is_no_schedule_is_refuted(void **state)
{
    (void)state;
    struct ar_step *step;
    finish_exchange();
    step = &all[0].steps[1];
    const struct ar_step right = *step;
#define TRY(change, why)                                                                           \
    do {                                                                                           \
        *step = right;                                                                             \
        change;                                                                                    \
        assert_flawed("rank 0 round 1 step 2: " why);                                              \
    } while (0)
    TRY(step->kind = 9, "is no step");
    TRY(step->order = 7, "is no step");
    TRY(step->peer = 0, "has no other rank as its peer");
    TRY(step->peer = 2, "has no other rank as its peer");
    TRY(step->peer = -1, "has no other rank as its peer");
    TRY(step->dst.buffer = 3, "is outside its buffer");
    TRY(step->dst.offset = 1, "is outside its buffer");
    TRY(step->a.offset = SIZE_MAX >> 2, "is outside its buffer");
    TRY(step->a.length = SIZE_MAX, "is outside its buffer");
    TRY(step->dst.buffer = AR_TMP, "is outside its buffer");
    TRY(step->dst.buffer = AR_IN, "writes to IN");
    TRY(step->a.length = 1, "has operands of different lengths");
    TRY(step->b.length = 1; step->b.buffer = AR_IN, "has operands of different lengths");
#undef TRY
    *step = right;
    all[1].rank = 0;
    assert_flawed("rank 1: its schedule is of another rank, count or number of ranks");
    all[1].rank = 1;
    all[1].count = 3;
    assert_flawed("rank 1: its schedule is of another rank, count or number of ranks");
    all[1].count = 2;
    all[0].tmp_length = SIZE_MAX / 2;
    assert_flawed("rank 0: its vectors are too long to be proved");
    all[0].tmp_length = 0;
    all[0].round_end[0] = 1;
    assert_flawed("rank 0: its rounds do not divide its steps");
    all[0].round_end[0] = SIZE_MAX;
    assert_flawed("rank 0: its rounds do not divide its steps");
    all[0].round_end[0] = 2;
    assert_proved(SEPARATE);
}

/* Offsets that a region cannot hold, and sums that wrap. */
static void
what_has_no_room_is_not_emitted(void **state)
{
    (void)state;
    const struct ar_span spans[] = {{SIZE_MAX, 1},
                                    {SIZE_MAX >> 1, 1},
                                    {(size_t)1 << 62, 1},
                                    {1, SIZE_MAX},
                                    {0, (size_t)1 << 63}};
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        begin(1, 1);
        ar_copy(&all[0], ar_tmp(spans[i]), ar_tmp(spans[i]));
        assert_int_equal(ar_schedule_finish(&all[0]), AR_ERR_STEP);
        end(NULL);
    }
    nranks = 0;
}

/* As many as a rank may have, in seconds if each were compared with each. */
static void
many_messages_of_a_round_take_no_time(void **state)
{
    (void)state;
    enum { MANY = 50000 };
    begin(2, MANY);
    for (int rank = 0; rank < 2; rank++)
        for (size_t i = 0; i < MANY; i++) {
            ar_send(&all[rank], 1 - rank, in(i, 1));
            ar_recv_reduce(&all[rank], 1 - rank, out(i, 1), in(i, 1), rank_order(rank));
        }
    assert_proved(SEPARATE);
}

/* A chain of half a million reductions: no stack is as deep. */
static void
a_long_expression_is_refuted(void **state)
{
    (void)state;
    begin(1, 1);
    ar_copy(&all[0], tmp(0, 1), in(0, 1));
    for (int i = 0; i < 500000; i++)
        ar_reduce(&all[0], tmp((size_t)(i + 1) % 2, 1), tmp((size_t)i % 2, 1), in(0, 1));
    ar_copy(&all[0], out(0, 1), tmp(0, 1));
    assert_refuted(SEPARATE, 0, "round 1 step 2: combines the contribution of rank 0 twice");
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, end)
    const struct CMUnitTest tests[] = {
        TEST(an_exchange_is_proved_in_rank_order),
        TEST(another_order_is_proved_and_told),
        TEST(a_dropped_send_is_refuted),
        TEST(a_dropped_recv_is_refuted),
        TEST(a_message_left_over_at_the_end_is_refuted),
        TEST(a_wrong_peer_is_refuted),
        TEST(a_wrong_length_is_refuted),
        TEST(a_wrong_block_is_refuted),
        TEST(a_block_received_in_the_wrong_place_is_refuted),
        TEST(swapped_messages_are_refuted),
        TEST(send_before_recv_deadlocks_if_sends_are_synchronous),
        TEST(recv_before_send_deadlocks),
        TEST(receiving_into_what_is_sent_is_refuted),
        TEST(two_receives_into_one_place_are_refuted),
        TEST(receiving_into_out_what_in_sends_is_refuted_in_place),
        TEST(a_doubled_reduce_is_refuted),
        TEST(a_doubled_addend_is_refuted_though_all_ranks_agree),
        TEST(a_doubled_addend_that_hides_a_missing_one_is_refuted),
        TEST(a_missing_addend_is_refuted),
        TEST(another_operand_order_on_one_rank_is_refuted),
        TEST(another_association_on_one_rank_is_refuted),
        TEST(a_result_never_written_is_refuted),
        TEST(undefined_scratch_is_refuted),
        TEST(the_second_operand_is_lost_where_the_result_replaces_the_first),
        TEST(regions_that_overlap_are_refuted),
        TEST(reading_in_after_out_was_overwritten_is_refuted_in_place),
        TEST(another_expression_in_place_is_refuted),
        TEST(what_is_no_schedule_is_refuted),
        TEST(what_has_no_room_is_not_emitted),
        TEST(many_messages_of_a_round_take_no_time),
        TEST(a_long_expression_is_refuted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
