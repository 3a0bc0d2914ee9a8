/* The cards against the schedules: every line of every row, with all values of its parameters. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/card.h"
#include "algorithms/nodes.h"
#include "model/simulate.h"
#include "schedule/cost.h"
#include "setting.h"
#include "unit.h"

/* 16 times the least common multiple of 1 to 33, so that all blocks are equally long. */
#define COUNT ((size_t)16 * 144403552893600)

/* Those in which each of the three counts alone, and some in which all do: where B and C are 1 the
 * vector takes as long as a latency. */
static const struct ar_rates machines[] = {{(double)COUNT, 1, 1},
                                           {(double)COUNT, 1.0 / 3, 0.2},
                                           {(double)COUNT, 5, 3},
                                           {(double)COUNT, INFINITY, 0},
                                           {0, 1, 0},
                                           {0, INFINITY, 1}};
enum { NMACHINES = sizeof machines / sizeof machines[0], NMIXED = 3 };

#define ROUNDING 1e-9 /* the error of doubles, as a part of the value */
#define ABOUT    0.25 /* of an estimate */

static const char *const line_names[] = {"rounds", "sent", "reduced", "scratch", "time"};

static bool
begins(const char *formula, const char *with)
{
    return strncmp(formula, with, strlen(with)) == 0;
}

/* --- what schedules do --- */

/* The program of a segment of COUNT elements, which is the caller's to fini. */
static struct ar_program
program_of(const struct setting *s)
{
    const struct ar_sample all = {AR_SYMMETRY_NONE, s->nranks, s->nranks};
    struct ar_program program;
    assert_int_equal(ar_program_init(&program, &all, s->row, &s->params, COUNT, SIZE_MAX), AR_OK);
    return program;
}

static double
time_of(const struct setting *s, const struct ar_program *program, const struct ar_rates *rates,
        size_t nsegments, int window)
{
    const struct ar_machine machine = ar_machine_flat(rates->a, 1 / rates->B, rates->C);
    struct ar_network network;
    struct ar_moment *const ended = malloc(nsegments * sizeof *ended);
    assert_non_null(ended);
    assert_int_equal(ar_network_init(&network, &machine, s->node_of, s->nranks), AR_OK);
    const struct ar_simulation run = {.full = program,
                                      .network = &network,
                                      .element_bytes = 1,
                                      .nsegments = nsegments,
                                      .window = window};
    assert_int_equal(ar_simulate(&run, ended), AR_OK);
    const double time = ended[nsegments - 1].at;
    ar_network_fini(&network);
    free(ended);
    return time;
}

/* --- what cards say --- */

/* One row with the same parameters on several numbers of ranks. */
struct card {
    const struct setting *s;
    bool is_even;                /* all nodes have equally many ranks */
    bool reached[AR_CARD_LINES]; /* some setting is exactly what the card says */
};

static void
check_line(struct card *card, enum ar_card_line line, double counted, const struct ar_rates *rates)
{
    const struct setting *const s = card->s;
    const char *const formula = s->row->card[line];
    const double said = ar_card_value(s->row, line, &s->params, s->nranks, (double)COUNT, rates);
    const bool is_above = counted > said * (1 + ROUNDING);
    const bool is_below = counted < said * (1 - ROUNDING);
    bool holds = !is_above && (!is_below || begins(formula, "at most") || !card->is_even);
    if (begins(formula, "about"))
        /* Lanes that share a node's bandwidth fill each other's gaps. */
        holds = counted < said * (1 + ABOUT) &&
                (counted > said * (1 - ABOUT) || strstr(formula, "row"));
    if (!is_above && !is_below)
        card->reached[line] = true;
    if (!holds)
        fail_msg("%s: %s: %g; the card says %s: %g", s->text, line_names[line], counted / COUNT,
                 formula, said / COUNT);
}

static void
check_counts(struct card *card)
{
    const struct setting *const s = card->s;
    struct ar_schedule *const all = schedules_emit(s, COUNT);
    struct ar_cost cost;
    assert_int_equal(ar_cost_count(&cost, all, s->nranks), AR_OK);
    schedules_free(all, s->nranks);
    check_line(card, AR_CARD_ROUNDS, (double)cost.rounds, NULL);
    check_line(card, AR_CARD_SENT, (double)cost.sent.most, NULL);
    check_line(card, AR_CARD_REDUCED, (double)cost.reduced.most, NULL);
    check_line(card, AR_CARD_SCRATCH, (double)cost.scratch.most, NULL);
}

static void
check_times(struct card *card)
{
    struct ar_program program = program_of(card->s);
    for (int i = 0; i < (card->s->nranks <= 33 ? NMACHINES : 1); i++)
        check_line(card, AR_CARD_TIME, time_of(card->s, &program, &machines[i], 1, 1),
                   &machines[i]);
    ar_program_fini(&program);
}

static void
check_setting(struct card *card, const struct ar_algorithm *row, int nranks,
              enum placement placement, size_t variation)
{
    struct setting s;
    setting_vary(&s, row, nranks, placement, variation);
    const struct ar_nodes nodes = ar_nodes_make(0, nranks, &s.params);
    card->s = &s;
    card->is_even = ar_nodes_even(&nodes) > 0;
    check_counts(card);
    /* Ranks that share a node share its bandwidth, of which only cards with nodes tell. */
    if (placement == PLACE_TOGETHER || (card->is_even && row->where && strpbrk(row->where, "LN")))
        check_times(card);
    card->s = NULL;
}

static void
every_line_is_true_for_every_p_and_parameter(void **state)
{
    static const int large[] = {64, 100, 128};
    (void)state;
    for (size_t i = 0; i < ar_algorithm_count(); i++) {
        const struct ar_algorithm *const row = ar_algorithm_at(i);
        for (size_t v = 0; v < setting_count(row); v++) {
            struct card card = {.s = NULL};
            struct setting s;
            setting_vary(&s, row, 2, PLACE_TOGETHER, v);
            if (s.params.levels.kind == AR_LEVELS_SIZES)
                continue; /* cards are of flat */
            for (int p = 2; p <= setting_ranks_to(33); p++)
                check_setting(&card, row, p, PLACE_TOGETHER, v);
            for (size_t k = 0; k < sizeof large / sizeof large[0]; k++)
                if (setting_ranks_to(large[k]) == large[k])
                    check_setting(&card, row, large[k], PLACE_TOGETHER, v);
            for (int p = 2; p <= setting_ranks_to(12); p++) {
                check_setting(&card, row, p, PLACE_CONTIGUOUS, v);
                check_setting(&card, row, p, PLACE_IN_TURN, v);
                check_setting(&card, row, p, PLACE_UNEVEN, v);
                check_setting(&card, row, p, PLACE_SINGLES, v);
                check_setting(&card, row, p, PLACE_PAIRS, v);
                check_setting(&card, row, p, PLACE_SCATTERED, v);
            }
            for (int line = 0; line < AR_CARD_LINES; line++)
                if (!card.reached[line] && !begins(row->card[line], "about"))
                    fail_msg("%s: %s: never %s", row->name, line_names[line], row->card[line]);
        }
    }
}

static void
of_an_empty_vector_nothing_is_said_or_done(void **state)
{
    (void)state;
    for (size_t i = 0; i < ar_algorithm_count(); i++) {
        struct setting s;
        struct ar_cost cost;
        setting_default(&s, ar_algorithm_at(i), 6, PLACE_TOGETHER);
        struct ar_schedule *const all = schedules_emit(&s, 0);
        assert_int_equal(ar_cost_count(&cost, all, s.nranks), AR_OK);
        schedules_free(all, s.nranks);
        assert_int_equal(cost.rounds, 0);
        for (int line = 0; line < AR_CARD_LINES; line++)
            assert_true(ar_card_value(s.row, (enum ar_card_line)line, &s.params, s.nranks, 0,
                                      &machines[0]) == 0);
        assert_true(ar_card_pipelined_value(s.row, &s.params, s.nranks, 0, 1, 1, &machines[0]) ==
                    0);
    }
}

/* --- segments --- */

/* Within a factor of two: messages of a window that is wider than its use queue, and the ranks of a
 * narrow one do not wait for each other.  Less where the window is open. */
static void
segments_take_what_their_formula_says(void **state)
{
    static const int ranks[] = {2, 3, 4, 6, 7, 8, 12, 16, 33, 64};
    enum { SEGMENTS = 24 };
    (void)state;
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++) {
            struct setting s;
            setting_default(&s, ar_algorithm_at(i), ranks[k], PLACE_TOGETHER);
            if (setting_is_left_out(&s))
                break;
            struct ar_program program = program_of(&s);
            const int windows[] = {1, 4, ar_algorithm_window(s.row, &s.params, ranks[k])};
            const double most = s.params.window == AR_WINDOW_AUTO ? 1.6 : 2;
            for (int j = 0; j < 3 * NMIXED; j++) {
                const struct ar_rates *const rates = &machines[j / 3];
                const int window = windows[j % 3];
                const double said = ar_card_pipelined_value(s.row, &s.params, ranks[k], COUNT,
                                                            SEGMENTS, window, rates);
                const double time = time_of(&s, &program, rates, SEGMENTS, window);
                if (time > said * most || time < said / 2)
                    fail_msg("%s, window %d: %g of %s", s.text, window, time / said,
                             ar_card_pipelined);
            }
            ar_program_fini(&program);
        }
}

/* The classic exercise's algorithms and its numbers of slices.  One after another they take what
 * the formula says to the digit, but for those of an uneven number of ranks whose card is an
 * estimate itself. */
static void
slices_take_what_their_formula_says(void **state)
{
    static const struct {
        const char *name;
        enum ar_exchange exchange;
        bool is_for_any_p; /* exactly */
    } rows[] = {{"star", AR_EXCHANGE_WHOLE, true},        {"circle", AR_EXCHANGE_WHOLE, true},
                {"recursive", AR_EXCHANGE_WHOLE, false},  {"butterfly", AR_EXCHANGE_WHOLE, false},
                {"butterfly", AR_EXCHANGE_HALVES, false}, {"ring", AR_EXCHANGE_WHOLE, true}};
    static const int ranks[] = {2, 3, 4, 5, 7, 8, 16, 32}, slices[] = {1, 4, 5};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t k = 0; k < 3 * sizeof ranks / sizeof ranks[0]; k++) {
            const int p = ranks[k / 3];
            const size_t n = (size_t)slices[k % 3] * (size_t)p;
            const struct ar_algorithm *const row =
                ar_algorithm_find(rows[i].name, strlen(rows[i].name));
            struct setting s;
            setting_default(&s, row, p, PLACE_TOGETHER);
            if (setting_is_left_out(&s))
                break;
            s.params.exchange = rows[i].exchange;
            struct ar_program program = program_of(&s);
            const bool is_exact = rows[i].is_for_any_p || (p & (p - 1)) == 0;
            for (int j = 0; j < 2 * NMIXED; j++) {
                const struct ar_rates *const rates = &machines[j / 2];
                const struct ar_params open = {.window = AR_WINDOW_AUTO,
                                               .exchange = rows[i].exchange};
                const int window = j % 2 ? ar_algorithm_window(row, &open, p) : 1;
                const double said =
                    ar_card_pipelined_value(row, &s.params, p, COUNT, (double)n, window, rates);
                const double off = time_of(&s, &program, rates, n, window) / said - 1;
                if (fabs(off) > (window > 1 ? 0.5 : is_exact ? ROUNDING : ABOUT))
                    fail_msg("%s, %d ranks, %zu slices, window %d: off by %g", rows[i].name, p, n,
                             window, off);
            }
            ar_program_fini(&program);
        }
}

/* 2N(a + S/(N B))(p-1) + (p-1)S C for N slices of S bytes in all, of which scratch has one.  That
 * is the time of messages that wait for their receiver; others overlap. */
static void
a_star_that_serves_one_by_one_takes_what_its_source_says(void **state)
{
    static const int ranks[] = {2, 3, 4, 5, 8, 16};
    const struct ar_algorithm *const row = ar_algorithm_find("star", strlen("star"));
    (void)state;
    for (size_t k = 0; k < sizeof ranks / sizeof ranks[0]; k++)
        for (int slices = 1; slices <= 5; slices += 2) {
            const double p = ranks[k], n = slices, slice = (double)COUNT;
            const struct ar_rates *const rates = &machines[0];
            struct setting s;
            setting_default(&s, row, ranks[k], PLACE_TOGETHER);
            s.params.serve = AR_SERVE_ONE_BY_ONE;
            const double said =
                ar_card_pipelined_value(row, &s.params, ranks[k], slice, n, 1, rates);
            const double source =
                2 * n * (rates->a + slice / rates->B) * (p - 1) + (p - 1) * n * slice * rates->C;
            assert_true(fabs(said / source - 1) < ROUNDING);
            assert_true(ar_card_value(row, AR_CARD_SCRATCH, &s.params, ranks[k], slice, NULL) ==
                        slice);
            struct ar_program program = program_of(&s);
            assert_true(time_of(&s, &program, rates, (size_t)slices, 1) <= said * (1 + ROUNDING));
            ar_program_fini(&program);
        }
}

/* As deep as a pipeline is, so that its stages all have a segment; README's sentence. */
static void
an_open_window_is_as_wide_as_the_schedule_is_deep(void **state)
{
    static const struct {
        const char *name;
        int nranks, window;
    } rows[] = {{"circle", 2, 2},      {"circle", 64, 126},     {"circle", 128, 254},
                {"circle", 1000, 256}, {"double_tree", 64, 12}, {"dual_root", 64, 11}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct ar_algorithm *const row =
            ar_algorithm_find(rows[i].name, strlen(rows[i].name));
        assert_int_equal(ar_algorithm_window(row, &row->defaults, rows[i].nranks), rows[i].window);
        assert_int_equal(ar_algorithm_window(row, &row->defaults, 1), 1);
        assert_int_equal(ar_algorithm_window(row, &(struct ar_params){.window = 3}, rows[i].nranks),
                         3);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_true_for_every_p_and_parameter),
        cmocka_unit_test(of_an_empty_vector_nothing_is_said_or_done),
        cmocka_unit_test(segments_take_what_their_formula_says),
        cmocka_unit_test(slices_take_what_their_formula_says),
        cmocka_unit_test(a_star_that_serves_one_by_one_takes_what_its_source_says),
        cmocka_unit_test(an_open_window_is_as_wide_as_the_schedule_is_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
