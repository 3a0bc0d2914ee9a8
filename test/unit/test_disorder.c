/* The schedules of every row give the right result on real buffers, in whatever order ranks and
 * messages arrive (disorder.h).  They do so also in the ways in which executors run them: messages
 * combined as they arrive, and by accesses to shared memory.  Mutants that go wrong here must also
 * be refuted by the checker: a second opinion.
 *
 * A failure prints its seed, and TEST_SEED repeats it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "disorder.h"
#include "schedule/checker.h"
#include "schedule/folding.h"
#include "setting.h"
#include "unit.h"

#define RANKS_MAX     33
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static uint64_t seed;

static struct disorder
disorder_of(const struct setting *setting, const struct ar_schedule *all, bool in_place)
{
    return (struct disorder){.all = all,
                             .nranks = setting->nranks,
                             .in_place = in_place,
                             .in_order = ar_algorithm_keeps_order(setting->row, &setting->params),
                             .seed = seed++};
}

static void
assert_right(const char *wrong, const struct setting *setting, const struct disorder *d,
             const char *how)
{
    if (wrong)
        fail_msg("%s, %zu elements%s, %s: %s; TEST_SEED=%llu", setting->text, d->all[0].count,
                 d->in_place ? " in place" : "", how, wrong, (unsigned long long)d->seed);
}

static void
try_messages(const struct setting *setting, const struct ar_schedule *all, bool in_place)
{
    unsigned char *folding[RANKS_MAX];
    struct disorder d = disorder_of(setting, all, in_place);
    assert_right(disorder_run(&d), setting, &d, "in disorder");
    for (int rank = 0; rank < setting->nranks; rank++) {
        folding[rank] = calloc(all[rank].nsteps + 1, 1);
        assert_non_null(folding[rank]);
        ar_folding_find(folding[rank], &all[rank]);
    }
    d = disorder_of(setting, all, in_place);
    d.folding = (const unsigned char *const *)folding;
    assert_right(disorder_run(&d), setting, &d, "combined as it comes");
    for (int rank = 0; rank < setting->nranks; rank++)
        free(folding[rank]);
}

struct source {
    const struct setting *setting;
    size_t count;
};

static int
emit(void *context, struct ar_schedule *s, int rank)
{
    const struct source *const source = context;
    const struct setting *const setting = source->setting;
    const int error =
        ar_algorithm_emit(setting->row, s, rank, setting->nranks, source->count, &setting->params);
    if (error)
        ar_schedule_fini(s);
    return error;
}

static void
try_accesses(const struct setting *setting, const struct ar_schedule *all, bool in_place)
{
    struct ar_accesses accesses[RANKS_MAX];
    struct source source = {setting, all[0].count};
    const struct disorder d = disorder_of(setting, all, in_place);
    for (int rank = 0; rank < setting->nranks; rank++)
        assert_int_equal(ar_accesses_init(&accesses[rank], rank, setting->nranks, 8, emit, &source),
                         AR_OK);
    assert_right(disorder_run_accesses(&d, accesses), setting, &d, "in shared memory");
    for (int rank = 0; rank < setting->nranks; rank++)
        ar_accesses_fini(&accesses[rank]);
}

static void
try_setting(const struct setting *setting, size_t count)
{
    struct ar_schedule *const all = schedules_emit(setting, count);
    for (int in_place = 0; in_place < 2; in_place++) {
        try_messages(setting, all, in_place);
        try_accesses(setting, all, in_place);
    }
    schedules_free(all, setting->nranks);
}

static void
every_row_is_right_in_any_order(void **state)
{
    struct setting setting;
    (void)state;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (int p = 2; p <= setting_ranks_to(9); p++) {
            const size_t counts[] = {0, 1, (size_t)p - 1, (size_t)p, (size_t)p + 1, 3 * (size_t)p};
            setting_default(&setting, ar_algorithm_at(row), p, PLACE_UNKNOWN);
            for (size_t i = 0; i < 4 * LENGTH(counts); i++)
                try_setting(&setting, counts[i % LENGTH(counts)]);
        }
}

static void
every_parameter_is_right_in_any_order(void **state)
{
    static const int ranks[] = {3, 6, 8, 12, 17, RANKS_MAX};
    struct setting setting;
    (void)state;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (size_t i = 0; i < setting_count(ar_algorithm_at(row)); i++)
            for (size_t k = i % 4; k < LENGTH(ranks); k += 2) {
                const size_t n = (size_t)ranks[k] + i % 5;
                setting_vary(&setting, ar_algorithm_at(row), ranks[k],
                             (enum placement)((i + k) % PLACE_KINDS), i);
                if (!setting_is_left_out(&setting))
                    try_setting(&setting, n - 2);
            }
}

static void
every_row_is_right_on_threads(void **state)
{
    struct setting setting;
    (void)state;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (int p = 2; p <= setting_ranks_to(9); p++) {
            setting_default(&setting, ar_algorithm_at(row), p, PLACE_IN_TURN);
            struct ar_schedule *const all = schedules_emit(&setting, (size_t)p + 1);
            for (int in_place = 0; in_place < 2; in_place++) {
                const struct disorder d = disorder_of(&setting, all, in_place);
                assert_right(disorder_run_threads(&d), &setting, &d, "on threads");
            }
            schedules_free(all, p);
        }
}

/* --- mutants --- */

static void
emit_step(struct ar_schedule *s, const struct ar_step *step)
{
    if (step->kind == AR_SEND)
        ar_send(s, step->peer, step->a);
    else if (step->kind == AR_RECV)
        ar_recv(s, step->peer, step->dst);
    else if (step->kind == AR_RECV_REDUCE)
        ar_recv_reduce(s, step->peer, step->dst, step->a, step->order);
    else if (step->kind == AR_COPY)
        ar_copy(s, step->dst, step->a);
    else
        ar_reduce(s, step->dst, step->a, step->b);
}

/* s without one step, or without the end of one round, at which its messages are awaited. */
static void
rebuild(struct ar_schedule *mutant, const struct ar_schedule *s, size_t dropped, size_t joined)
{
    ar_schedule_init(mutant, s->rank, s->nranks, s->count);
    for (size_t i = 0, round = 0; i < s->nsteps; i++) {
        if (i != dropped)
            emit_step(mutant, &s->steps[i]);
        if (i + 1 == s->round_end[round] && round++ != joined)
            ar_end_round(mutant);
    }
    assert_int_equal(ar_schedule_finish(mutant), AR_OK);
}

struct census {
    size_t mutants, refuted, wrong;
};

/* Whether it goes wrong in one of several orders.  If so, the checker must refute it, too. */
static bool
goes_wrong(struct census *census, const struct setting *setting, const struct ar_schedule *all)
{
    bool is_wrong = false, is_refuted = false;
    for (int in_place = 0; in_place < 2; in_place++) {
        const char *wrong = NULL;
        struct ar_verdict verdict;
        const bool refuted =
            ar_check(&verdict, all, setting->nranks, in_place) ||
            (ar_algorithm_keeps_order(setting->row, &setting->params) && !verdict.in_rank_order);
        for (int i = 0; i < 16 && !wrong; i++) {
            const struct disorder d = disorder_of(setting, all, in_place);
            wrong = disorder_run(&d);
        }
        if (wrong && !refuted)
            fail_msg("%s: not refuted, and goes wrong: %s", setting->text, wrong);
        is_wrong |= wrong != NULL;
        is_refuted |= refuted;
    }
    census->mutants++;
    census->refuted += is_refuted;
    census->wrong += is_wrong;
    return is_wrong;
}

static void
try_mutants(struct census *steps, struct census *waits, const struct setting *setting)
{
    struct ar_schedule *const all = schedules_emit(setting, (size_t)setting->nranks + 1);
    for (int rank = 0; rank < setting->nranks; rank++) {
        const struct ar_schedule original = all[rank];
        for (size_t i = 0; i < original.nsteps; i++) {
            rebuild(&all[rank], &original, i, SIZE_MAX);
            if (!goes_wrong(steps, setting, all))
                fail_msg("%s: rank %d works without step %zu", setting->text, rank, i);
            ar_schedule_fini(&all[rank]);
        }
        for (size_t round = 0; round + 1 < original.nrounds; round++) {
            rebuild(&all[rank], &original, SIZE_MAX, round);
            goes_wrong(waits, setting, all);
            ar_schedule_fini(&all[rank]);
        }
        all[rank] = original;
    }
    schedules_free(all, setting->nranks);
}

/* Every schedule that lacks a step goes wrong.  So do those that lack a wait, if the checker
 * refutes them, except for a few that might do no harm in the orders tried (with seed 1 there are
 * none). */
static void
what_is_dropped_goes_wrong(void **state)
{
    struct census steps = {0, 0, 0}, waits = {0, 0, 0};
    struct setting setting;
    (void)state;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (int p = 2; p <= setting_ranks_to(9); p++) {
            setting_default(&setting, ar_algorithm_at(row), p, PLACE_IN_TURN);
            try_mutants(&steps, &waits, &setting);
        }
    print_message("steps dropped: %zu, refuted %zu, wrong here %zu\n", steps.mutants, steps.refuted,
                  steps.wrong);
    print_message("waits dropped: %zu, refuted %zu, wrong here %zu\n", waits.mutants, waits.refuted,
                  waits.wrong);
    assert_true(waits.wrong * 100 >= waits.refuted * 99 && waits.refuted > 1000);
}

/* Whether a result is wrong in some order if a rank does not wait for a flag. */
static bool
needs_flag(const struct setting *setting, const struct ar_schedule *all,
           struct ar_accesses *accesses, struct ar_access *await)
{
    const char *wrong = NULL;
    const struct ar_access original = *await;
    *await = (struct ar_access){.kind = AR_ACCESS_COPY}; /* of no elements */
    for (int i = 0; i < 16 && !wrong; i++) {
        const struct disorder d = disorder_of(setting, all, i % 2 == 0);
        wrong = disorder_run_accesses(&d, accesses);
    }
    *await = original;
    return wrong != NULL;
}

/* Some flags are implied by others, since a rank raises its flags in order. */
static void
flags_in_shared_memory_are_needed(void **state)
{
    size_t needed = 0, awaits = 0;
    struct setting setting;
    (void)state;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (int p = 2; p <= setting_ranks_to(9); p++) {
            struct ar_accesses accesses[RANKS_MAX];
            struct source source = {&setting, (size_t)p + 1};
            setting_default(&setting, ar_algorithm_at(row), p, PLACE_IN_TURN);
            struct ar_schedule *const all = schedules_emit(&setting, source.count);
            for (int rank = 0; rank < p; rank++)
                assert_int_equal(ar_accesses_init(&accesses[rank], rank, p, 8, emit, &source),
                                 AR_OK);
            for (int rank = 0; rank < p; rank++)
                for (size_t i = 0; i < accesses[rank].n; i++)
                    if (accesses[rank].all[i].kind == AR_ACCESS_AWAIT) {
                        awaits++;
                        needed += needs_flag(&setting, all, accesses, &accesses[rank].all[i]);
                    }
            for (int rank = 0; rank < p; rank++)
                ar_accesses_fini(&accesses[rank]);
            schedules_free(all, p);
        }
    print_message("flags not awaited: %zu, wrong %zu\n", awaits, needed);
    assert_true(awaits > 1000 && needed * 100 > awaits * 95);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_right_in_any_order),
        cmocka_unit_test(every_parameter_is_right_in_any_order),
        cmocka_unit_test(every_row_is_right_on_threads),
        cmocka_unit_test(what_is_dropped_goes_wrong),
        cmocka_unit_test(flags_in_shared_memory_are_needed),
    };
    const char *const text = getenv("TEST_SEED");
    seed = text ? strtoull(text, NULL, 10) : 1;
    const int status = cmocka_run_group_tests(tests, NULL, NULL);
    printf("%llu runs\n", (unsigned long long)(seed - (text ? strtoull(text, NULL, 10) : 1)));
    return status;
}
