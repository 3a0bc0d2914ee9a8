/* Every row of the registry is proved by the checker, with every kind of
 * parameter, and costs what its card says. */
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "algorithms/registry.h"
#include "model/placement.h"
#include "schedule/checker.h"
#include "schedule/cost.h"
#include "select/select.h"
#include "setting.h"
#include "unit.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* --- proofs --- */

static struct ar_cost
cost_of(const struct ar_schedule *all, int nranks)
{
    struct ar_cost cost;
    assert_int_equal(ar_cost_count(&cost, all, nranks), AR_OK);
    return cost;
}

/* What was found of the schedules of all ranks. */
struct finding {
    uint64_t print; /* of the schedules; 0: the place is free */
    size_t scratch;
    bool in_rank_order;
};

/* Many settings have the same schedules, which are proved once.  A row that knows no nodes has the
 * same ones on all placements, and two_level without nodes has those of its row between nodes,
 * whatever its lanes and levels. */
#define FINDINGS ((size_t)1 << 17)

static struct finding findings[FINDINGS];

static uint64_t
mix(uint64_t print, const void *words, size_t bytes)
{
    uint64_t word;
    for (size_t at = 0; at < bytes; at += sizeof word) {
        memcpy(&word, (const char *)words + at, sizeof word);
        print = (print ^ word) * 0x9e3779b97f4a7c15U;
        print ^= print >> 29;
    }
    return print;
}

/* That two of the schedules here differ and have the same print is less likely than 1 in 10^10. */
static uint64_t
print_of(const struct ar_schedule *all, int nranks)
{
    uint64_t print = (uint64_t)nranks;
    for (int rank = 0; rank < nranks; rank++) {
        const size_t head[] = {all[rank].count, all[rank].tmp_length, all[rank].nsteps,
                               all[rank].nrounds};
        print = mix(print, head, sizeof head);
        print = mix(print, all[rank].steps, all[rank].nsteps * sizeof *all[rank].steps);
        print = mix(print, all[rank].round_end, all[rank].nrounds * sizeof *all[rank].round_end);
    }
    return print ? print : 1;
}

static struct finding
examine(const struct ar_schedule *all, const struct setting *setting, size_t count)
{
    struct finding found = {.scratch = cost_of(all, setting->nranks).scratch.most,
                            .in_rank_order = true};
    for (int in_place = 0; in_place < 2; in_place++) {
        struct ar_verdict verdict;
        if (ar_check(&verdict, all, setting->nranks, in_place))
            fail_msg("%s, %zu elements, in_place %d: %s", setting->text, count, in_place,
                     verdict.text);
        found.in_rank_order = found.in_rank_order && verdict.in_rank_order;
    }
    return found;
}

static const struct finding *
find(const struct ar_schedule *all, const struct setting *setting, size_t count)
{
    const uint64_t print = print_of(all, setting->nranks);
    struct finding *at = &findings[print % FINDINGS];
    while (at->print != 0 && at->print != print)
        at = at + 1 < findings + FINDINGS ? at + 1 : findings;
    if (at->print == 0)
        *at = examine(all, setting, count);
    at->print = print;
    return at;
}

static void
prove(const struct setting *setting, size_t count)
{
    if (setting_is_left_out(setting))
        return;
    struct ar_schedule *all = schedules_emit(setting, count);
    const struct finding *const found = find(all, setting, count);
    const size_t bound =
        ar_algorithm_scratch_vectors(setting->row, &setting->params, setting->nranks);
    if (found->scratch > bound * count)
        fail_msg("%s, %zu elements: a rank takes scratch %zu, above %zu vectors", setting->text,
                 count, found->scratch, bound);
    if (ar_algorithm_keeps_order(setting->row, &setting->params) && !found->in_rank_order)
        fail_msg("%s, %zu elements: not in rank order", setting->text, count);
    schedules_free(all, setting->nranks);
}

static void
prove_counts(const struct setting *setting)
{
    const size_t p = (size_t)setting->nranks;
    const size_t counts[] = {0, 1, p - 1, p, p + 1, 7 * p + 3};
    for (size_t i = 0; i < LENGTH(counts); i++)
        prove(setting, counts[i]);
}

/* Fewer counts, for many ranks.  Where every rank may hold all vectors, these
 * move whole and a few elements say as much as many. */
static void
prove_few_counts(const struct setting *setting)
{
    const size_t p = (size_t)setting->nranks;
    prove(setting, 1);
    prove(setting, setting->row->scratch == AR_SCRATCH_RANKS ? 3 : p + 1);
}

static void
every_row_is_proved_for_every_p(void **state)
{
    (void)state;
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++) {
        for (int nranks = 1; nranks <= 64; nranks++) {
            setting_default(&setting, ar_algorithm_at(row), nranks, PLACE_UNKNOWN);
            prove_counts(&setting);
        }
    }
}

static void
every_row_is_proved_for_many_ranks(void **state)
{
    (void)state;
    static const int sample[] = {65, 100, 128, 255, 256, 257};
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++) {
        for (size_t i = 0; i < LENGTH(sample); i++) {
            setting_default(&setting, ar_algorithm_at(row), sample[i], PLACE_UNKNOWN);
            prove_few_counts(&setting);
        }
        prove(&setting, setting.row->scratch == AR_SCRATCH_RANKS ? 0 : 7 * 257 + 3);
    }
}

static void
every_row_is_proved_for_all_parameters(void **state)
{
    (void)state;
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++) {
        for (int nranks = 1; nranks <= 33; nranks++) {
            for (size_t k = 0; k < setting_count(ar_algorithm_at(row)); k++) {
                setting_vary(&setting, ar_algorithm_at(row), nranks, PLACE_UNKNOWN, k);
                prove_counts(&setting);
            }
        }
    }
}

static void
every_row_is_proved_for_all_parameters_of_many_ranks(void **state)
{
    (void)state;
    static const int sample[] = {48, 63, 64, 65, 100, 128};
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++) {
        for (size_t i = 0; i < LENGTH(sample); i++) {
            for (size_t k = 0; k < setting_count(ar_algorithm_at(row)); k++) {
                setting_vary(&setting, ar_algorithm_at(row), sample[i], PLACE_UNKNOWN, k);
                prove_few_counts(&setting);
            }
        }
    }
}

/* Also shows that rows which know no nodes do not care. */
static void
every_row_is_proved_for_all_placements(void **state)
{
    (void)state;
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++) {
        for (int nranks = 1; nranks <= 64; nranks++) {
            for (int placement = 1; placement < PLACE_KINDS; placement++) {
                setting_default(&setting, ar_algorithm_at(row), nranks, (enum placement)placement);
                prove_few_counts(&setting);
            }
        }
        for (int placement = 1; placement < PLACE_KINDS; placement++) {
            setting_default(&setting, ar_algorithm_at(row), 257, (enum placement)placement);
            prove_few_counts(&setting);
        }
    }
}

/* What a user types: shapes and host files, by their one parser. */
static void
every_row_is_proved_for_placements_as_they_are_read(void **state)
{
    static const char *const texts[] = {"4x4",
                                        "4x4,cyclic",
                                        "3x5,cyclic",
                                        "2x7",
                                        "1x6",
                                        "7x1",
                                        "5x2,cyclic",
                                        "16x4,cyclic",
                                        "a:3\nb\nc:2\na\nb:4\nd\n",
                                        "y\nx slots=1\ny\n"};
    (void)state;
    struct setting setting;
    for (size_t i = 0; i < LENGTH(texts); i++) {
        char reason[256];
        struct ar_text why;
        struct ar_placement placement;
        ar_text_init(&why, reason, sizeof reason);
        if ((ar_placement_is_shape(texts[i]) ? ar_placement_parse_shape : ar_placement_parse_hosts)(
                &placement, texts[i], &why))
            fail_msg("%s: %s", texts[i], reason);
        for (size_t row = 0; row < ar_algorithm_count(); row++) {
            setting_default(&setting, ar_algorithm_at(row), placement.nranks, PLACE_TOGETHER);
            memcpy(setting.node_of, placement.node_of,
                   (size_t)placement.nranks * sizeof *setting.node_of);
            prove_counts(&setting);
        }
        ar_placement_fini(&placement);
    }
}

/* What depends on the nodes as well as on parameters. */
static void
rows_whose_parameters_ask_nodes_are_proved_on_all_placements(void **state)
{
    (void)state;
    const unsigned asks_nodes = AR_TAKES_LANES | AR_TAKES_ORDER;
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++) {
        for (int nranks = 1; nranks <= 13 && ar_algorithm_at(row)->takes & asks_nodes; nranks++)
            for (int placement = 1; placement < PLACE_KINDS; placement++)
                for (size_t k = 0; k < setting_count(ar_algorithm_at(row)); k++) {
                    setting_vary(&setting, ar_algorithm_at(row), nranks, (enum placement)placement,
                                 k);
                    prove_counts(&setting);
                }
    }
}

/* --- levels inside nodes --- */

static int
roll(unsigned *dice, int sides)
{
    *dice = *dice * 1103515245 + 12345;
    return (int)(*dice >> 16) % sides;
}

/* Ranks lie anywhere, and some share a cache or a socket of their node: groups of any sizes, which
 * nest or not, and of some ranks nothing is known. */
static void
levels_inside_nodes_are_proved_for_any_groups(void **state)
{
    const struct ar_algorithm *const row = ar_algorithm_find("two_level", 9);
    const struct ar_levels named = {AR_LEVELS_NAMES, 3, {2, AR_DOMAIN_L3, AR_DOMAIN_SOCKET}, 1};
    int own[40][AR_DOMAINS], of[AR_DOMAINS * 40];
    unsigned dice = 1;
    (void)state;
    for (int trial = 0; trial < 300; trial++) {
        const int p = 2 + roll(&dice, 39), sides = 1 + roll(&dice, 7);
        struct setting setting;
        struct ar_domains domains;
        setting_default(&setting, row, p, (enum placement)(1 + roll(&dice, PLACE_KINDS - 1)));
        for (int r = 0; r < p; r++) {
            own[r][AR_DOMAIN_L3] = roll(&dice, sides) - (sides > 4);
            own[r][AR_DOMAIN_NUMA] = -1;
            own[r][AR_DOMAIN_SOCKET] = roll(&dice, 2) ? own[r][AR_DOMAIN_L3] / 2 : roll(&dice, 3);
        }
        assert_int_equal(ar_domains_of_nodes(&domains, of, own[0], setting.node_of, p), AR_OK);
        setting.params.domains = &domains;
        setting.params.levels = named;
        setting.params.lanes = roll(&dice, 4);
        prove(&setting, (size_t)roll(&dice, 4 * p));
    }
}

/* What rank sends to others of its node. */
static size_t
sent_inside(const struct setting *setting, const struct ar_schedule *of_rank, int *messages)
{
    size_t sent = 0;
    *messages = 0;
    for (size_t i = 0; i < of_rank->nsteps; i++) {
        const struct ar_step *const step = &of_rank->steps[i];
        if (step->kind == AR_SEND &&
            setting->node_of[of_rank->rank] == setting->node_of[step->peer]) {
            sent += step->a.length;
            ++*messages;
        }
    }
    return sent;
}

/* On two nodes of 32 ranks in groups of 4 and 16: 3 + 3 + 1 messages up instead of 31, and as many
 * down, of the same vector. */
static void
equal_groups_send_as_much_as_none_in_fewer_messages(void **state)
{
    const struct ar_levels levels[] = {{.kind = AR_LEVELS_FLAT}, {AR_LEVELS_SIZES, 2, {4, 16}, 0}};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct setting setting;
        setting_default(&setting, ar_algorithm_find("two_level", 9), 64, PLACE_CONTIGUOUS);
        for (int r = 0; r < 64; r++)
            setting.node_of[r] = r / 32;
        setting.params.levels = levels[i];
        struct ar_schedule *const all = schedules_emit(&setting, 64);
        for (int r = 0; r < 64; r++) {
            int messages;
            assert_int_equal(sent_inside(&setting, &all[r], &messages), 2 * 31 * 2);
            assert_int_equal(messages, i == 0 ? 2 * 31 : 2 * (3 + 3 + 1));
        }
        schedules_free(all, 64);
    }
}

/* Two lanes of a node of two sockets: each socket has one. */
static void
few_lanes_are_spread_over_the_groups(void **state)
{
    struct setting setting;
    bool uses[2] = {false, false};
    (void)state;
    setting_default(&setting, ar_algorithm_find("two_level", 9), 16, PLACE_CONTIGUOUS);
    for (int r = 0; r < 16; r++)
        setting.node_of[r] = r / 8;
    setting.params.levels = (struct ar_levels){AR_LEVELS_SIZES, 1, {4}, 0};
    setting.params.lanes = 2;
    struct ar_schedule *const all = schedules_emit(&setting, 16);
    for (int r = 0; r < 8; r++)
        for (size_t i = 0; i < all[r].nsteps; i++)
            uses[r / 4] |= all[r].steps[i].kind == AR_SEND && all[r].steps[i].peer >= 8;
    schedules_free(all, 16);
    assert_true(uses[0] && uses[1]);
}

/* The messages from one node to another that rank's first round sends. */
static int
crossing(const struct setting *setting, const struct ar_schedule *of_rank)
{
    int n = 0;
    for (size_t i = 0; i < of_rank->round_end[0]; i++) {
        const struct ar_step *const step = &of_rank->steps[i];
        n += step->kind == AR_SEND &&
             setting->node_of[of_rank->rank] != setting->node_of[step->peer];
    }
    return n;
}

/* Each way round, one message comes to each node from another, wherever the ranks are. */
static void
rings_by_node_are_proved_and_cross_to_each_node_once(void **state)
{
    (void)state;
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (int nranks = 2; nranks <= 64 && ar_algorithm_at(row)->takes & AR_TAKES_ORDER; nranks++)
            for (int placement = 1; placement < PLACE_KINDS; placement++) {
                setting_default(&setting, ar_algorithm_at(row), nranks, (enum placement)placement);
                setting.params.order = AR_RING_BY_NODE;
                prove_few_counts(&setting);
                const int nodes = ar_nodes_count(setting.node_of, nranks);
                const int ways = strncmp(setting.row->name, "bi", 2) == 0 ? 2 : 1;
                struct ar_schedule *const all = schedules_emit(&setting, 2 * (size_t)nranks);
                int crossed = 0;
                for (int rank = 0; rank < nranks; rank++)
                    crossed += crossing(&setting, &all[rank]);
                schedules_free(all, nranks);
                assert_int_equal(crossed, nodes > 1 ? ways * nodes : 0);
            }
}

static size_t
most_sent(const struct ar_algorithm *row, int nranks, size_t count)
{
    struct setting setting;
    setting_default(&setting, row, nranks, PLACE_UNKNOWN);
    struct ar_schedule *all = schedules_emit(&setting, count);
    const size_t sent = cost_of(all, nranks).sent.most;
    schedules_free(all, nranks);
    return sent;
}

/* Between powers of two, the busiest rank sends at most one vector more than on
 * the next power of two: no rank is left with a block many times larger than the
 * others' (mpich#2637), and folding costs no more than the vector that it sends
 * back. */
static void
no_rank_is_overloaded_between_powers_of_two(void **state)
{
    (void)state;
    const size_t count = 4032;
    for (size_t i = 0; i < ar_algorithm_count(); i++) {
        const struct ar_algorithm *row = ar_algorithm_at(i);
        for (int power = 4; power <= 64; power *= 2) {
            const size_t bound = most_sent(row, power, count) + count;
            for (int nranks = power / 2 + 1; nranks < power; nranks++) {
                const size_t sent = most_sent(row, nranks, count);
                if (sent > bound)
                    fail_msg("%s: a rank of %d sends %zu elements of %zu, above %zu", row->name,
                             nranks, sent, count, bound);
            }
        }
    }
}

/* Each rank has children in at most one of the two trees: where it has some in
 * both, it would receive both halves from below. */
static void
double_tree_loads_each_rank_in_one_tree(void **state)
{
    (void)state;
    struct setting setting;
    for (int nranks = 1; nranks <= 64; nranks++) {
        setting_default(&setting, ar_algorithm_find("double_tree", 11), nranks, PLACE_UNKNOWN);
        struct ar_schedule *all = schedules_emit(&setting, 2);
        for (int rank = 0; rank < nranks; rank++) {
            bool folds[2] = {false, false};
            for (size_t i = 0; i < all[rank].nsteps; i++)
                if (all[rank].steps[i].kind == AR_RECV_REDUCE)
                    folds[all[rank].steps[i].dst.offset] = true;
            assert_false(folds[0] && folds[1]);
        }
        assert_true(cost_of(all, nranks).sent.most <= 4);
        schedules_free(all, nranks);
    }
}

/* --- classics, as they are told --- */

/* The peers that rank sends to, in the order of its steps. */
static void
assert_sends(const char *text, int nranks, int rank, const char *peers)
{
    struct ar_rules *rules;
    struct ar_problem problem;
    struct setting setting;
    char sent[256] = "";
    assert_int_equal(ar_rules_parse(&rules, text, &problem), AR_OK);
    setting_default(&setting, rules->clauses[0].choice.algorithm, nranks, PLACE_UNKNOWN);
    setting.params = rules->clauses[0].choice.params;
    ar_rules_destroy(rules);
    struct ar_schedule *const all = schedules_emit(&setting, 60);
    for (size_t i = 0; i < all[rank].nsteps; i++)
        if (all[rank].steps[i].kind == AR_SEND) {
            const size_t length = strlen(sent);
            snprintf(sent + length, sizeof sent - length, "%d ", all[rank].steps[i].peer);
        }
    schedules_free(all, nranks);
    assert_string_equal(sent, peers);
}

/* A course's trees and butterflies: to whom ranks send, one after the other. */
static void
classics_send_as_they_are_told(void **state)
{
    (void)state;
    assert_sends("recursive(distance=halving)", 6, 4, "0 ");
    assert_sends("recursive(distance=halving)", 6, 5, "1 ");
    assert_sends("recursive(distance=halving)", 6, 2, "0 ");
    assert_sends("recursive(distance=halving)", 6, 3, "1 ");
    assert_sends("recursive(distance=halving)", 6, 1, "0 3 5 ");
    assert_sends("recursive(distance=halving)", 6, 0, "1 2 4 ");
    assert_sends("butterfly(unpaired=copy)", 5, 0, "1 2 4 1 2 3 ");
    assert_sends("butterfly(unpaired=copy)", 5, 1, "0 3 ");
    assert_sends("butterfly(unpaired=copy)", 5, 4, "0 ");
    assert_sends("butterfly(unpaired=copy)", 7, 4, "5 6 5 0 ");
    assert_sends("butterfly(unpaired=copy)", 7, 0, "1 2 4 3 ");
    assert_sends("reduce_bcast(broadcast=scatter_doubling)", 4, 0, "2 1 1 2 ");
}

/* --- ops that need the whole vector --- */

/* The least that a step hands an op, in elements; SIZE_MAX: none does. */
static size_t
least_reduced(const struct setting *setting, size_t count)
{
    struct ar_schedule *const all = schedules_emit(setting, count);
    const size_t least = cost_of(all, setting->nranks).least_reduced;
    schedules_free(all, setting->nranks);
    return least;
}

/* The row itself, or what stands in for it, with every kind of parameter on every placement. */
static void
what_is_made_whole_hands_ops_whole_vectors(void **state)
{
    (void)state;
    const size_t count = 40;
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (int nranks = 2; nranks <= 13; nranks++)
            for (int place = 0; place < PLACE_KINDS; place++)
                for (size_t k = 0; k < setting_count(ar_algorithm_at(row)); k++) {
                    setting_vary(&setting, ar_algorithm_at(row), nranks, (enum placement)place, k);
                    struct ar_choice choice = {AR_CHOICE_ALGORITHM, setting.row, setting.params};
                    ar_choice_make_whole(&choice, nranks, count, 8, (size_t)64 << 20);
                    assert_int_equal(choice.kind, AR_CHOICE_ALGORITHM);
                    assert_true(ar_algorithm_keeps_order(choice.algorithm, &choice.params) ||
                                !ar_algorithm_keeps_order(setting.row, &setting.params));
                    assert_true(ar_algorithm_keeps(choice.algorithm, &choice.params) >=
                                ar_algorithm_keeps(setting.row, &setting.params));
                    choice.params.node_of = setting.params.node_of;
                    setting.row = choice.algorithm;
                    setting.params = choice.params;
                    if (least_reduced(&setting, count) < count)
                        fail_msg("%s: an op gets %zu of %zu elements", setting.text,
                                 least_reduced(&setting, count), count);
                }
}

static void
rows_have_a_stand_in_only_where_they_cut(void **state)
{
    (void)state;
    const size_t count = 40;
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++) {
        setting_default(&setting, ar_algorithm_at(row), 6, PLACE_CONTIGUOUS);
        assert_int_equal(setting.row->stand_in != NULL, least_reduced(&setting, count) < count);
    }
}

static void
what_is_whole_stays_unless_it_is_in_segments(void **state)
{
    (void)state;
    const struct ar_algorithm *const row = ar_algorithm_find("circle", 6);
    struct ar_choice choice = {AR_CHOICE_ALGORITHM, row, row->defaults};
    assert_false(ar_choice_make_whole(&choice, 4, 100, 8, (size_t)64 << 20));
    assert_int_equal(choice.params.segment_bytes, 65536);
    assert_true(ar_choice_make_whole(&choice, 4, 10000, 8, (size_t)64 << 20));
    assert_ptr_equal(choice.algorithm, row);
    assert_int_equal(choice.params.segment_bytes, 0);
    assert_int_equal(choice.params.window, 1);
    assert_true(ar_choice_make_whole(&choice, 4, 10000, 8, 65536));
    assert_int_equal(choice.kind, AR_CHOICE_NATIVE);
    choice = (struct ar_choice){AR_CHOICE_ALGORITHM, row, row->defaults};
    choice.params.segments = 2;
    assert_true(ar_choice_make_whole(&choice, 4, 100, 8, (size_t)64 << 20));
    assert_int_equal(choice.params.segments, 0);
}

/* A wider window leaves each segment less scratch, and shared memory has one of its own. */
static void
what_is_whole_has_a_window_that_is_known(void **state)
{
    (void)state;
    const struct ar_algorithm *const row = ar_algorithm_find("circle", 6);
    struct ar_choice choice = {AR_CHOICE_ALGORITHM, row, row->defaults};
    choice.params.segment_bytes = 0;
    assert_int_equal(choice.params.window, AR_WINDOW_AUTO);
    assert_false(ar_choice_make_whole(&choice, 2, 1500, 8, 65536));
    assert_int_equal(choice.params.window, 1);
}

/* --- the table --- */

static void
names_and_ids_lead_to_one_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < ar_algorithm_count(); i++) {
        const struct ar_algorithm *row = ar_algorithm_at(i);
        assert_ptr_equal(ar_algorithm_find(row->name, strlen(row->name)), row);
        for (const char *word = row->aliases; *word; word += strspn(word, " ")) {
            assert_ptr_equal(ar_algorithm_find(word, strcspn(word, " ")), row);
            word += strcspn(word, " ");
        }
    }
    assert_null(ar_algorithm_at(ar_algorithm_count()));
    assert_null(ar_algorithm_find("rin", 3));
}

/* What one proof frees the next one takes, without the system in between. */
static void
keep_memory(void)
{
#ifdef M_TRIM_THRESHOLD
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
#endif
}

int
main(void)
{
    keep_memory();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_proved_for_every_p),
        cmocka_unit_test(every_row_is_proved_for_many_ranks),
        cmocka_unit_test(every_row_is_proved_for_all_parameters),
        cmocka_unit_test(every_row_is_proved_for_all_parameters_of_many_ranks),
        cmocka_unit_test(every_row_is_proved_for_all_placements),
        cmocka_unit_test(every_row_is_proved_for_placements_as_they_are_read),
        cmocka_unit_test(rows_whose_parameters_ask_nodes_are_proved_on_all_placements),
        cmocka_unit_test(levels_inside_nodes_are_proved_for_any_groups),
        cmocka_unit_test(equal_groups_send_as_much_as_none_in_fewer_messages),
        cmocka_unit_test(few_lanes_are_spread_over_the_groups),
        cmocka_unit_test(rings_by_node_are_proved_and_cross_to_each_node_once),
        cmocka_unit_test(no_rank_is_overloaded_between_powers_of_two),
        cmocka_unit_test(double_tree_loads_each_rank_in_one_tree),
        cmocka_unit_test(classics_send_as_they_are_told),
        cmocka_unit_test(what_is_made_whole_hands_ops_whole_vectors),
        cmocka_unit_test(rows_have_a_stand_in_only_where_they_cut),
        cmocka_unit_test(what_is_whole_stays_unless_it_is_in_segments),
        cmocka_unit_test(what_is_whole_has_a_window_that_is_known),
        cmocka_unit_test(names_and_ids_lead_to_one_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
