/* Schedules that are written in files: what they mean, and what is wrong with those that mean
 * nothing. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/written_row.h"
#include "schedule/checker.h"
#include "schedule/written_print.h"
#include "select/written_read.h"
#include "setting.h"
#include "unit.h"

#define HEAD "allreduce-schedule 1\n"

#define RANKS_MAX 9

static const char ring[] = HEAD "name hand-ring\nranks 5 # of them\nblocks 5\n"
                                "for k in 0..p-2\n"
                                "  all r: send r-k to r+1; recv_reduce r-k-1 from r-1\n"
                                "\n"
                                "for k in 0..p-2\n"
                                "  all r: send r+1-k to r+1; recv r-k from r-1\n";

static const char butterfly[] = HEAD
    "ranks 6\nblocks 1\n"
    "rank 0 2: send * to r+1 | recv * from r+1\n"
    "rank 1: recv_reduce * from 0 | send * to 3; recv_reduce * from 3 | send * to 4; recv_reduce "
    "* from 4 | send * to 0\n"
    "rank 3: recv_reduce * from 2 | send * to 1; recv_reduce * from 1 | send * to 5; recv_reduce "
    "* from 5 | send * to 2\n"
    "rank 4: send * to 5; recv_reduce * from 5 | send * to 1; recv_reduce * from 1\n"
    "rank 5: send * to 4; recv_reduce * from 4 | send * to 3; recv_reduce * from 3\n";

/* Each rank gets the other's input into scratch, and combines there. */
static const char scratch[] =
    HEAD "ranks 2\nblocks 3\ntmp got = block 1..2\n"
         "rank 0..1: send in.0 to r^1; recv_reduce 0 from r^1;"
         " send 1..2 to r^1; recv tmp.got from r^1\n"
         "rank 0: reduce in.1 with tmp.got.1 to out.1; reduce in.2 with tmp.got.2 to out.2\n"
         "rank 1: reduce tmp.got with 1..2 to 1..2 | copy out.0 to out.0\n";

static struct ar_written written;

static void
read_right(const char *text)
{
    char reason[512] = "";
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    const int error = ar_written_read(&written, text, &why);
    if (error)
        fail_msg("%s", reason);
}

static char told[512]; /* what was wrong with the last one */

static void
read_wrong(const char *text, const char *expected)
{
    struct ar_text why;
    ar_text_init(&why, told, sizeof told);
    assert_int_equal(ar_written_read(&written, text, &why), AR_ERR_SYNTAX);
    if (strncmp(told, expected, strlen(expected)) != 0)
        fail_msg("'%s' in place of '%s'", told, expected);
}

static void
emit_all(struct ar_schedule *all, size_t count)
{
    for (int r = 0; r < written.nranks; r++)
        assert_int_equal(ar_written_emit(&all[r], &written, r, count), AR_OK);
}

static void
free_all(struct ar_schedule *all)
{
    for (int r = 0; r < written.nranks; r++)
        ar_schedule_fini(&all[r]);
}

static void
assert_proved(size_t count)
{
    struct ar_schedule all[RANKS_MAX];
    struct ar_verdict verdict;
    emit_all(all, count);
    if (ar_check_both(&verdict, all, written.nranks))
        fail_msg("%zu elements: %s", count, verdict.text);
    free_all(all);
}

static void
assert_all_counts_are_proved(void)
{
    struct ar_written_proof proof;
    char why[AR_REFUTED_TEXT] = "";
    assert_int_equal(ar_written_prove(&proof, &written, why), AR_OK);
    assert_string_equal(why, "");
}

static void
right_ones_are_proved_for_every_count(void **state)
{
    (void)state;
    const char *const texts[] = {ring, butterfly, scratch};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        read_right(texts[i]);
        assert_all_counts_are_proved();
        for (size_t count = 0; count < 40; count++)
            assert_proved(count);
        ar_written_fini(&written);
    }
}

/* --- rows --- */

static void
assert_same_region(struct ar_region a, struct ar_region b, size_t moved, const char *what)
{
    const bool is_same_place = a.length == 0 || a.buffer == AR_TMP || a.offset + moved == b.offset;
    if (a.buffer != b.buffer || !is_same_place)
        fail_msg("%s: another region", what);
}

/* Step by step but for places in scratch.  One step may be several, which follow each other. */
static void
assert_same(const struct ar_schedule *by_row, const struct ar_schedule *by_hand, const char *what)
{
    size_t k = 0;
    assert_int_equal(by_row->nrounds, by_hand->nrounds);
    for (size_t round = 0; round < by_row->nrounds; round++) {
        for (size_t i = round ? by_row->round_end[round - 1] : 0; i < by_row->round_end[round]; i++)
            for (size_t moved = 0, n = 1; n > 0; moved += n, k++) {
                const struct ar_step *const a = &by_row->steps[i], *const b = &by_hand->steps[k];
                const size_t whole = a->kind == AR_SEND ? a->a.length : a->dst.length;
                if (moved == whole)
                    break;
                assert_true(k < by_hand->nsteps);
                n = b->kind == AR_SEND ? b->a.length : b->dst.length;
                if (a->kind != b->kind || a->peer != b->peer || moved + n > whole ||
                    (a->kind == AR_RECV_REDUCE && a->order != b->order))
                    fail_msg("%s: rank %d, step %zu is another", what, by_row->rank, i);
                assert_same_region(a->dst, b->dst, moved, what);
                assert_same_region(a->a, b->a, moved, what);
                assert_same_region(a->b, b->b, moved, what);
            }
        assert_int_equal(k, by_hand->round_end[round]);
    }
}

/* The text that is printed of what was made of the row. */
static char *
text_of(const struct setting *setting)
{
    const struct ar_emission emission = {setting->row, &setting->params, setting->nranks,
                                         4 * (size_t)setting->nranks};
    struct ar_written w;
    char *text = NULL;
    size_t length;
    const int error = ar_written_row_make(&w, &emission);
    if (error)
        fail_msg("%s: error %d", setting->text, error);
    FILE *const file = open_memstream(&text, &length);
    assert_non_null(file);
    ar_written_print(file, &w, setting->text);
    fclose(file);
    ar_written_fini(&w);
    return text;
}

static void
assert_same_as_row(const struct setting *setting, size_t count)
{
    struct ar_schedule *const by_row = schedules_emit(setting, count);
    struct ar_schedule by_hand[SETTING_RANKS_MAX];
    emit_all(by_hand, count);
    for (int r = 0; r < written.nranks; r++)
        assert_same(&by_row[r], &by_hand[r], setting->text);
    free_all(by_hand);
    schedules_free(by_row, setting->nranks);
}

static void
a_row_is_printed(const struct setting *setting)
{
    char *const text = text_of(setting);
    read_right(text);
    free(text);
    assert_string_equal(written.name, setting->row->name);
    assert_int_equal(written.nranks, setting->nranks);
    assert_all_counts_are_proved();
    const size_t n = (size_t)written.nblocks, counts[] = {n, n - 1, n + 1, 3 * n + 2, 0, 1};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        assert_proved(counts[i]);
    for (size_t count = 2 * n; count <= 4 * n; count += n)
        assert_same_as_row(setting, count);
    ar_written_fini(&written);
}

static void
every_row_is_printed_and_read_back(void **state)
{
    (void)state;
    struct setting setting;
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        for (int nranks = 1; nranks <= RANKS_MAX; nranks++)
            for (int placement = 0; placement < PLACE_KINDS; placement++)
                for (size_t k = 0; k < setting_count(ar_algorithm_at(i)); k++) {
                    setting_vary(&setting, ar_algorithm_at(i), nranks, (enum placement)placement,
                                 k);
                    a_row_is_printed(&setting);
                }
}

/* Their texts have megabytes. */
static void
long_rings_are_printed_and_read_back(void **state)
{
    (void)state;
    static const int numbers[] = {128, 256};
    for (size_t i = 0; i < 2 && numbers[i] <= setting_ranks_to(numbers[i]); i++) {
        struct setting setting;
        setting_default(&setting, ar_algorithm_find("ring", strlen("ring")), numbers[i],
                        PLACE_UNKNOWN);
        char *const text = text_of(&setting);
        read_right(text);
        free(text);
        assert_all_counts_are_proved();
        assert_same_as_row(&setting, 2 * (size_t)numbers[i]);
        ar_written_fini(&written);
    }
}

/* But for the sides on which operands stand. */
static void
a_ring_by_hand_is_the_row(void **state)
{
    (void)state;
    const struct ar_algorithm *const row = ar_algorithm_find("ring", strlen("ring"));
    read_right(ring);
    assert_string_equal(written.name, "hand-ring");
    for (size_t count = 5; count <= 50; count += 5)
        for (int r = 0; r < 5; r++) {
            struct ar_schedule by_row, by_hand;
            assert_int_equal(ar_algorithm_emit(row, &by_row, r, 5, count, NULL), AR_OK);
            assert_int_equal(ar_written_emit(&by_hand, &written, r, count), AR_OK);
            assert_int_equal(by_row.nsteps, by_hand.nsteps);
            assert_int_equal(by_row.nrounds, by_hand.nrounds);
            for (size_t i = 0; i < by_row.nsteps; i++) {
                const struct ar_step *const a = &by_row.steps[i], *const b = &by_hand.steps[i];
                assert_int_equal(a->kind, b->kind);
                assert_int_equal(a->peer, b->peer);
                assert_int_equal(a->a.length + a->dst.length, b->a.length + b->dst.length);
            }
            ar_schedule_fini(&by_row);
            ar_schedule_fini(&by_hand);
        }
    ar_written_fini(&written);
}

/* --- what they mean --- */

/* --- files as rows --- */

static struct ar_written_row row;

static int
read_row(const char *text, size_t most_work)
{
    char reason[1024] = "";
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    return ar_written_row_read(&row, text, NULL, most_work, &why);
}

/* Scratch memory is bound for every count, and so is what a round receives to combine. */
static void
a_file_is_a_row(void **state)
{
    (void)state;
    const char *const texts[] = {ring, butterfly, scratch};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(read_row(texts[i], SIZE_MAX), AR_OK);
        const int nranks = row.written.nranks;
        const size_t vectors = ar_algorithm_scratch_vectors(&row.row, &row.row.defaults, nranks);
        for (size_t count = 1; count < 40; count++) {
            struct ar_schedule all[RANKS_MAX];
            struct ar_cost cost;
            for (int r = 0; r < nranks; r++)
                assert_int_equal(ar_algorithm_emit(&row.row, &all[r], r, nranks, count, NULL),
                                 AR_OK);
            assert_int_equal(ar_cost_count(&cost, all, nranks), AR_OK);
            assert_true(cost.scratch.most <= vectors * count);
            for (int r = 0; r < nranks; r++)
                ar_schedule_fini(&all[r]);
        }
        ar_written_fini(&row.written);
    }
}

/* The ring combines no two blocks alike, the butterfly is for any op. */
static void
a_row_promises_what_was_proved(void **state)
{
    (void)state;
    assert_int_equal(read_row(ring, SIZE_MAX), AR_OK);
    assert_false(row.row.keeps_order);
    assert_int_equal(row.row.keeps, AR_DETERMINISM_PLACEMENT);
    assert_string_equal(row.row.stand_in, "butterfly");
    assert_int_equal(strncmp(row.row.name, "schedule:hand-ring#", 19), 0);
    assert_string_equal(row.row.card[AR_CARD_SENT], "8n/5");
    ar_written_fini(&row.written);
    assert_int_equal(read_row(butterfly, SIZE_MAX), AR_OK);
    assert_true(row.row.keeps_order);
    assert_int_equal(row.row.keeps, AR_DETERMINISM_SIZE);
    assert_null(row.row.stand_in);
    ar_written_fini(&row.written);
}

static void
what_is_not_proved_is_no_row(void **state)
{
    (void)state;
    assert_int_equal(read_row(HEAD "ranks 2\nblocks 1\nall r: send * to r^1\n", SIZE_MAX),
                     AR_ERR_PROOF);
    assert_int_equal(read_row("nothing", SIZE_MAX), AR_ERR_SYNTAX);
    const size_t work = 5 * (16 + 16 + 10); /* steps, their blocks, those of IN and OUT */
    assert_int_equal(read_row(ring, work - 1), AR_ERR_PARAM);
    assert_int_equal(read_row(ring, work), AR_OK);
    ar_written_fini(&row.written);
}

static void
a_path_has_the_number_of_ranks(void **state)
{
    char path[AR_WRITTEN_PATH], file[AR_FILE_TEXT] = "";
    (void)state;
    assert_string_equal(ar_written_path(path, "a/%n/100%%-%n", 12), "a/12/100%-12");
    for (size_t i = 0; i + 2 < sizeof file; i += 2)
        snprintf(file + i, sizeof file - i, "%%n");
    assert_int_equal(strlen(ar_written_path(path, file, INT_MAX)), (sizeof file / 2 - 1) * 10);
}

/* The counts agree at five elements, and not at six. */
static void
other_blocks_on_the_two_sides_are_found(void **state)
{
    (void)state;
    struct ar_written_proof proof;
    char why[AR_REFUTED_TEXT];
    read_right(HEAD "ranks 2\nblocks 2\n"
                    "rank 0: send 0 to 1\n"
                    "rank 1: recv 1 from 0\n");
    assert_int_equal(ar_written_prove(&proof, &written, why), AR_ERR_PROOF);
    assert_string_equal(
        why, "line 4: refuted: rank 0 sends block 0 to rank 1, which receives block 1 (line 5)");
    ar_written_fini(&written);
}

/* The lower rank stands on the left, unless it is told otherwise. */
static void
the_order_can_be_told(void **state)
{
    (void)state;
    read_right(HEAD "ranks 2\nblocks 1\nrank 1: recv_reduce * from 0 | recv_reduce * from 0 right\n"
                    "rank 0: recv_reduce * from 1 | recv_reduce * from 1 left\n");
    assert_int_equal(written.ranks[1].steps[0].order, AR_RECEIVED_FIRST);
    assert_int_equal(written.ranks[1].steps[1].order, AR_LOCAL_FIRST);
    assert_int_equal(written.ranks[0].steps[0].order, AR_LOCAL_FIRST);
    assert_int_equal(written.ranks[0].steps[1].order, AR_RECEIVED_FIRST);
    ar_written_fini(&written);
}

/* What is sent in the round in which it is received is what the rank held before. */
static void
bare_blocks_are_what_the_rank_holds(void **state)
{
    (void)state;
    read_right(HEAD
               "ranks 2\nblocks 2\ntmp t = block 0\n"
               "all r: recv 0 from r+1; send 0 to r+1; copy 0 to tmp.t | send 0 to r+1; send 1 to "
               "r+1\n");
    const struct ar_written_step *const steps = written.ranks[0].steps;
    assert_int_equal(steps[1].a.buffer, AR_IN);
    assert_int_equal(steps[2].a.buffer, AR_OUT);
    assert_int_equal(steps[3].a.buffer, AR_OUT);
    assert_int_equal(steps[4].a.buffer, AR_IN);
    assert_true(steps[2].ends_round && steps[4].ends_round && !steps[3].ends_round);
    ar_written_fini(&written);
}

#define BODY HEAD "ranks 3\nblocks 4\n"
static const struct {
    const char *text, *reason;
} mistakes[] = {
    {"", "line 1, column 1: the first line is that of another form or version"},
    {"allreduce-schedule 2\n", "line 1, column 1: the first line is that of another"},
    {HEAD "rank 0: send 1 to 2\n", "line 2, column 5: lines 'ranks N' and 'blocks N' come first"},
    {HEAD "ranks 3\n", "line 3, column 1: lines 'ranks N' and 'blocks N' come first"},
    {HEAD "ranks 0\n", "line 2, column 7: a number is expected here; allowed: 1 to 10000"},
    {HEAD "ranks 99999\n", "line 2, column 7: a number is expected here"},
    {HEAD "ranks 3\nranks 3\n", "line 3, column 7: this was told before"},
    {HEAD "rnaks 3\n", "line 2, column 1: unknown word 'rnaks' (did you mean 'ranks'?); allowed: "},
    {BODY "  all r: send 0 to 1\n", "line 4, column 1: only what belongs to a 'for' is indented"},
    {BODY "all r: sned 0 to r+1\n",
     "line 4, column 8: unknown word 'sned' (did you mean 'send'?); allowed: send, recv"},
    {BODY "all r: send 0 to r\n", "line 4, column 18: a rank has no messages with itself (rank 0)"},
    {BODY "rank 2: send 0 to r+3\n",
     "line 4, column 19: a rank has no messages with itself (rank 2)"},
    {BODY "all r: send k to r+1\n",
     "line 4, column 13: a number is expected here; allowed: digits"},
    {BODY "all r: send 0 from r+1\n", "line 4, column 15: something else is expected here: 'to'"},
    {BODY "all r: send 0 to r+1 recv\n", "line 4, column 22: something else is expected here"},
    {BODY "all r: recv in.0 from r+1\n", "line 4, column 13: the input cannot be written"},
    {BODY "all r: recv tmp.a from r+1\n", "line 4, column 17: no such piece of scratch"},
    {BODY "tmp a = block 1..2\nall r: copy 3 to tmp.a.3\n",
     "line 5, column 24: the piece of scratch has no such blocks"},
    {BODY "all r: copy 0 to 1..2\n", "line 4, column 13: both must be the same blocks"},
    {BODY "all r: send 3..1 to r+1\n", "line 4, column 13: the last block comes before the first"},
    {BODY "rank 2..0: send 1 to r+1\n", "line 4, column 6: the last rank comes before the first"},
    {BODY "all r: recv 0 from r+1 | send 0..1 to r+1\n",
     "line 4, column 31: the rank has written some of these blocks and not others"},
    {BODY "for k in 0..2 all r: send 0 to 1\n",
     "line 4, column 15: the steps stand on the next lines"},
    {BODY "for k in 0..9999999\n all r: send 0 to r+1\n", "line 4, column 20: too many passes"},
    {BODY "for k in 0..999999\n all r: send 0 to r+1\n", "line 5, column 9: too many steps"},
    {HEAD "ranks 10000\nblocks 1\nfor k in 0..999999\n rank 0: copy * to *\n",
     "line 6, column 1: this is more than can be read in a second"},
    {HEAD "ranks 2\nblocks 90000\nfor k in 0..999999\n rank 0: copy in.* to out.*\n",
     "line 5, column 28: this is more than can be read in a second"},
    {BODY "rank 0 k: send 1 to 2\n", "line 4, column 8: a number is expected here"},
    {BODY "tmp = block 1\n", "line 4, column 5: a name is expected here"},
    {BODY "tmp a = block 1\ntmp a = block 2\n", "line 5, column 5: this was told before"},
    {BODY "all r: send 0 to r\xE2\x80\x93"
          "1\n",
     "line 4, column 19: this dash is not '-'"},
    {HEAD "ranks 10000\nblocks 100000\nall r: send 0 to r+1\n",
     "line 4, column 4: too many blocks for so many ranks"},
    {HEAD "ranks 10000\nblocks 1600\ntmp a = block *\ntmp b = block *\nrank 0: copy 0 to 0\n",
     "line 6, column 5: too many blocks for so many ranks"},
};

static void
mistakes_are_told_with_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        read_wrong(mistakes[i].text, mistakes[i].reason);
}

static void
nothing_follows_the_first_mistake(void **state)
{
    (void)state;
    read_wrong(BODY "rank 0: send 0 ot 1/\n", "line ");
    assert_string_equal(told, "line 4, column 16: something else is expected here: 'to'");
    read_wrong(BODY "rank 0: send x to 0/\n", "line ");
    assert_string_equal(told, "line 4, column 14: a number is expected here; allowed: digits, p "
                              "for the number of ranks, r for "
                              "the rank, k behind 'for k in'");
}

/* Steps, blanks and comments are read again for each rank and in each pass. */
static void
long_lines_are_not_read_again_and_again(void **state)
{
    (void)state;
    enum { LONG = 1000000 };
    static const struct {
        const char *head, *fill;
    } cases[] = {{BODY "for k in 0..999\n  #", " "},
                 {BODY "for k in 0..999\n", "\n"},
                 {HEAD "ranks 1000\nblocks 1\nall r: copy * to *", " "},
                 {HEAD "ranks 10000\nblocks 1\nrank", " 0..9999"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t n = strlen(cases[i].head), step = strlen(cases[i].fill);
        char *const text = malloc(n + LONG + 1);
        assert_non_null(text);
        memcpy(text, cases[i].head, n);
        for (size_t at = n; at < n + LONG; at += step)
            memcpy(text + at, cases[i].fill, step);
        text[n + LONG] = '\0';
        read_wrong(text, "line ");
        assert_non_null(strstr(told, "more than can be read in a second"));
        free(text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_ones_are_proved_for_every_count),
        cmocka_unit_test(a_ring_by_hand_is_the_row),
        cmocka_unit_test(every_row_is_printed_and_read_back),
        cmocka_unit_test(long_rings_are_printed_and_read_back),
        cmocka_unit_test(a_file_is_a_row),
        cmocka_unit_test(a_row_promises_what_was_proved),
        cmocka_unit_test(what_is_not_proved_is_no_row),
        cmocka_unit_test(a_path_has_the_number_of_ranks),
        cmocka_unit_test(other_blocks_on_the_two_sides_are_found),
        cmocka_unit_test(the_order_can_be_told),
        cmocka_unit_test(bare_blocks_are_what_the_rank_holds),
        cmocka_unit_test(mistakes_are_told_with_their_place),
        cmocka_unit_test(nothing_follows_the_first_mistake),
        cmocka_unit_test(long_lines_are_not_read_again_and_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
