/* Combining data as they arrive: every decision of src/schedule/folding.c, for every row of the
 * registry, is proved by the checker, and tried by an interpreter that runs schedules on numbers in
 * adversarial orders.
 *
 * The interpreter moves one element of one message at a time, as channels move cells.  It draws the
 * rank and the message, and for each step that may fold whether it does.  It knows neither the
 * checker's rules nor those by which folding.c decides. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/registry.h"
#include "schedule/checker.h"
#include "schedule/folding.h"
#include "setting.h"
#include "unit.h"

#define RANKS_MAX 9

/* --- decisions --- */

static unsigned char **
folding_of(const struct ar_schedule *all, int nranks)
{
    unsigned char **folding = malloc((size_t)nranks * sizeof *folding);
    assert_non_null(folding);
    for (int rank = 0; rank < nranks; rank++) {
        folding[rank] = calloc(all[rank].nsteps + 1, 1);
        assert_non_null(folding[rank]);
        ar_folding_find(folding[rank], &all[rank]);
    }
    return folding;
}

static void
folding_free(unsigned char **folding, int nranks)
{
    for (int rank = 0; rank < nranks; rank++)
        free(folding[rank]);
    free(folding);
}

static int
check(struct ar_verdict *verdict, const struct ar_schedule *all, unsigned char **folding,
      int nranks, bool in_place)
{
    return ar_check_folded(verdict, all, (const unsigned char *const *)folding, nranks, in_place);
}

/* --- the interpreter --- */

struct number {
    uint64_t sum;  /* right where every rank stands in it once */
    uint64_t hash; /* of how operands were combined */
};

struct queue {
    struct number *items; /* owned */
    size_t put, got, room;
};

struct process {
    const struct ar_schedule *s;
    struct number *in, *out, *tmp, *landing; /* in owned, the others inside; landing owned */
    size_t *done;                            /* elements moved of each step; owned */
    bool *folds;                             /* each step's draw; owned */
    size_t round;
};

struct machine {
    int nranks;
    uint64_t seed;
    struct process process[RANKS_MAX];
    struct queue queue[RANKS_MAX][RANKS_MAX]; /* from, to */
};

static uint64_t
draw(struct machine *m, uint64_t n)
{
    m->seed = m->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (m->seed >> 33) % n;
}

static struct number
combined(struct number left, struct number right)
{
    const uint64_t h = left.hash * UINT64_C(0x9e3779b97f4a7c15) + right.hash;
    return (struct number){left.sum + right.sum, (h ^ h >> 31) * UINT64_C(0xbf58476d1ce4e5b9)};
}

static struct number *
at(const struct process *p, struct ar_region region)
{
    struct number *const base[] = {[AR_IN] = p->in, [AR_OUT] = p->out, [AR_TMP] = p->tmp};
    return base[region.buffer] + region.offset;
}

static size_t
round_start(const struct process *p)
{
    return p->round ? p->s->round_end[p->round - 1] : 0;
}

static size_t
length_of(const struct ar_step *step)
{
    return step->kind == AR_SEND ? step->a.length : step->dst.length;
}

static void
fold(const struct ar_step *step, const struct process *p, size_t k, struct number came)
{
    const struct number local = at(p, step->a)[k];
    at(p, step->dst)[k] =
        step->order == AR_LOCAL_FIRST ? combined(local, came) : combined(came, local);
}

/* Moves the next element of message i of the round; false if it cannot move now. */
static bool
move(struct machine *m, int rank, size_t i)
{
    struct process *const p = &m->process[rank];
    const struct ar_step *const step = &p->s->steps[i];
    const size_t k = p->done[i];
    const bool sends = step->kind == AR_SEND;
    if (step->peer < 0 || k == length_of(step))
        return false;
    for (size_t j = round_start(p); j < i; j++) /* messages of a pair are in order */
        if (p->s->steps[j].peer == step->peer && (p->s->steps[j].kind == AR_SEND) == sends &&
            p->done[j] < length_of(&p->s->steps[j]))
            return false;
    struct queue *const q = sends ? &m->queue[rank][step->peer] : &m->queue[step->peer][rank];
    if (sends) {
        if (q->put == q->room) {
            q->room = 2 * q->room + 64;
            q->items = realloc(q->items, q->room * sizeof *q->items);
            assert_non_null(q->items);
        }
        q->items[q->put++] = at(p, step->a)[k];
    } else {
        if (q->got == q->put)
            return false;
        const struct number came = q->items[q->got++];
        if (step->kind == AR_RECV)
            at(p, step->dst)[k] = came;
        else if (p->folds[i])
            fold(step, p, k, came);
        else
            p->landing[(i - round_start(p)) * p->s->count + k] = came;
    }
    p->done[i]++;
    return true;
}

static void
run_local_part(struct process *p)
{
    for (size_t i = round_start(p); i < p->s->round_end[p->round]; i++) {
        const struct ar_step *const step = &p->s->steps[i];
        for (size_t k = 0; k < step->dst.length; k++)
            if (step->kind == AR_COPY)
                at(p, step->dst)[k] = at(p, step->a)[k];
            else if (step->kind == AR_REDUCE)
                at(p, step->dst)[k] = combined(at(p, step->a)[k], at(p, step->b)[k]);
            else if (step->kind == AR_RECV_REDUCE && !p->folds[i])
                fold(step, p, k, p->landing[(i - round_start(p)) * p->s->count + k]);
    }
}

/* Moves something on the rank: from a step drawn on, the first that can move.  False where its
 * round must wait, or it has no more. */
static bool
advance(struct machine *m, int rank)
{
    struct process *const p = &m->process[rank];
    if (p->round == p->s->nrounds)
        return false;
    const size_t first = round_start(p), n = p->s->round_end[p->round] - first;
    const size_t from = draw(m, n);
    bool is_over = true;
    for (size_t k = 0; k < n; k++) {
        if (move(m, rank, first + (from + k) % n))
            return true;
        const struct ar_step *const step = &p->s->steps[first + k];
        is_over &= step->peer < 0 || p->done[first + k] == length_of(step);
    }
    if (!is_over)
        return false;
    run_local_part(p);
    p->round++;
    return true;
}

static void
start(struct process *p, const struct ar_schedule *s, bool in_place)
{
    size_t longest = 0;
    const size_t n = s->count;
    memset(p, 0, sizeof *p);
    p->s = s;
    for (p->round = 0; p->round < s->nrounds; p->round++)
        if (s->round_end[p->round] - round_start(p) > longest)
            longest = s->round_end[p->round] - round_start(p);
    p->round = 0;
    p->in = calloc(2 * n + s->tmp_length + 1, sizeof *p->in);
    p->out = in_place ? p->in : p->in + n;
    p->tmp = p->in + 2 * n;
    p->landing = calloc(longest * n + 1, sizeof *p->landing);
    p->done = calloc(s->nsteps + 1, sizeof *p->done);
    p->folds = calloc(s->nsteps + 1, sizeof *p->folds);
    assert_true(p->in && p->landing && p->done && p->folds);
    for (size_t i = 0; i < n; i++) {
        const uint64_t weight = (UINT64_C(1) << 5 * s->rank) * (i + 1);
        p->in[i] = (struct number){weight, weight};
    }
}

static void
stop(struct machine *m)
{
    for (int rank = 0; rank < m->nranks; rank++) {
        struct process *const p = &m->process[rank];
        free(p->in);
        free(p->landing);
        free(p->done);
        free(p->folds);
        for (int to = 0; to < m->nranks; to++)
            free(m->queue[rank][to].items);
    }
    free(m);
}

/* The results' hash, the same on all ranks; 0 if a rank has another, or not every rank once.
 * folding NULL: nothing folds at once. */
static uint64_t
run(const struct ar_schedule *all, unsigned char **folding, int nranks, bool in_place,
    uint64_t seed)
{
    struct machine *const m = calloc(1, sizeof *m);
    assert_non_null(m);
    m->nranks = nranks;
    m->seed = seed;
    for (int rank = 0; rank < nranks; rank++) {
        start(&m->process[rank], &all[rank], in_place);
        for (size_t i = 0; folding && i < all[rank].nsteps; i++)
            m->process[rank].folds[i] =
                folding[rank][i] >= (in_place ? AR_FOLD_AT_ONCE : AR_FOLD_UNLESS_IN_PLACE) &&
                draw(m, 4) > 0;
    }
    /* One rank may be far ahead of the others, or far behind. */
    for (int vain = 0; vain < 50 * nranks;) {
        const int rank = (int)draw(m, (uint64_t)nranks);
        bool moved = false;
        for (uint64_t burst = draw(m, 40); advance(m, rank) && burst > 0; burst--)
            moved = true;
        vain = moved ? 0 : vain + 1;
    }
    uint64_t hash = 1, whole = 0;
    bool right = true;
    for (int rank = 0; rank < nranks; rank++)
        whole += UINT64_C(1) << 5 * rank;
    for (int rank = 0; rank < nranks; rank++) {
        const struct process *const p = &m->process[rank];
        right &= p->round == p->s->nrounds;
        for (size_t i = 0; i < p->s->count; i++) {
            right &= p->out[i].sum == whole * (i + 1);
            right &= p->out[i].hash == m->process[0].out[i].hash;
            hash = rank == 0 ? hash * 31 + p->out[i].hash : hash;
        }
    }
    stop(m);
    return right ? hash | 1 : 0;
}

/* --- what is true of all rows --- */

/* Every decision taken is proved, and combines as without; and so does every second one alone. */
static void
prove(const struct setting *setting, size_t count)
{
    if (setting_is_left_out(setting))
        return;
    struct ar_schedule *const all = schedules_emit(setting, count);
    unsigned char **const folding = folding_of(all, setting->nranks);
    for (int k = 0; k < 4; k++) {
        const bool in_place = k % 2;
        struct ar_verdict plain, folded;
        assert_int_equal(ar_check(&plain, all, setting->nranks, in_place), AR_OK);
        for (int rank = 0; k == 2 && rank < setting->nranks; rank++)
            for (size_t i = (size_t)rank % 2; i < all[rank].nsteps; i += 2)
                folding[rank][i] = AR_FOLD_LATE;
        if (check(&folded, all, folding, setting->nranks, in_place))
            fail_msg("%s, %zu elements, in_place %d: %s", setting->text, count, in_place,
                     folded.text);
        if (folded.expressions != plain.expressions)
            fail_msg("%s, %zu elements: folding combines otherwise", setting->text, count);
    }
    folding_free(folding, setting->nranks);
    schedules_free(all, setting->nranks);
}

static void
every_decision_of_every_row_is_proved(void **state)
{
    (void)state;
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (int nranks = 1; nranks <= 40; nranks++) {
            setting_default(&setting, ar_algorithm_at(row), nranks, PLACE_UNKNOWN);
            prove(&setting, 1);
            prove(&setting, (size_t)nranks + 1);
            prove(&setting, 3 * (size_t)nranks + 2);
            setting_default(&setting, ar_algorithm_at(row), nranks, PLACE_UNEVEN);
            prove(&setting, (size_t)nranks + 1);
        }
}

static void
every_decision_is_proved_for_all_parameters(void **state)
{
    (void)state;
    static const int ranks[] = {2, 3, 6, 8, 13, 16};
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
            for (size_t k = 0; k < setting_count(ar_algorithm_at(row)); k++) {
                setting_vary(&setting, ar_algorithm_at(row), ranks[i], PLACE_CONTIGUOUS, k);
                prove(&setting, (size_t)ranks[i] + 1);
            }
}

static void
folding_in_adversarial_orders_combines_the_same(void **state)
{
    (void)state;
    struct setting setting;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (int nranks = 2; nranks <= RANKS_MAX; nranks++)
            for (int in_place = 0; in_place < 2; in_place++) {
                setting_default(&setting, ar_algorithm_at(row), nranks, PLACE_UNKNOWN);
                struct ar_schedule *const all = schedules_emit(&setting, 2 * (size_t)nranks + 1);
                unsigned char **const folding = folding_of(all, nranks);
                const uint64_t expected = run(all, NULL, nranks, in_place, 1);
                assert_true(expected != 0);
                for (uint64_t seed = 1; seed <= 6; seed++)
                    if (run(all, folding, nranks, in_place, seed) != expected)
                        fail_msg("%s, in_place %d, seed %d: folding combines otherwise",
                                 setting.text, in_place, (int)seed);
                folding_free(folding, nranks);
                schedules_free(all, nranks);
            }
}

/* --- mutants --- */

/* Lets each step in turn fold at once though it was not to.  Either the checker refutes that, or
 * the result is right in every order that we try.  Returns how many are refuted. */
static int
spoil(const struct setting *setting, bool in_place)
{
    struct ar_schedule *const all = schedules_emit(setting, 2 * (size_t)setting->nranks + 1);
    unsigned char **const folding = folding_of(all, setting->nranks);
    const uint64_t expected = run(all, NULL, setting->nranks, in_place, 1);
    struct ar_verdict plain, verdict;
    int refuted = 0;
    assert_int_equal(ar_check(&plain, all, setting->nranks, in_place), AR_OK);
    for (int rank = 0; rank < setting->nranks; rank++)
        for (size_t i = 0; i < all[rank].nsteps; i++) {
            const unsigned char right = folding[rank][i];
            if (all[rank].steps[i].kind != AR_RECV_REDUCE || right == AR_FOLD_AT_ONCE)
                continue;
            folding[rank][i] = AR_FOLD_AT_ONCE;
            const bool accepted =
                check(&verdict, all, folding, setting->nranks, in_place) == AR_OK &&
                verdict.expressions == plain.expressions;
            refuted += !accepted;
            for (uint64_t seed = 1; seed <= 6 && accepted; seed++)
                if (run(all, folding, setting->nranks, in_place, seed) != expected)
                    fail_msg("%s: the checker accepts that step %zu of rank %d folds at once",
                             setting->text, i, rank);
            folding[rank][i] = right;
        }
    folding_free(folding, setting->nranks);
    schedules_free(all, setting->nranks);
    return refuted;
}

static void
wrong_decisions_are_refuted(void **state)
{
    (void)state;
    struct setting setting;
    int refuted = 0;
    for (size_t row = 0; row < ar_algorithm_count(); row++)
        for (int nranks = 2; nranks <= 8; nranks++)
            for (int in_place = 0; in_place < 2; in_place++) {
                setting_default(&setting, ar_algorithm_at(row), nranks, PLACE_UNKNOWN);
                refuted += spoil(&setting, in_place);
            }
    assert_true(refuted > 100);
}

/* The interpreter, too, must see what is wrong. */
static void
wrong_decisions_go_wrong(void **state)
{
    (void)state;
    static const char *const rows[] = {"butterfly", "star"};
    struct setting setting;
    for (size_t row = 0; row < 2; row++) {
        const struct ar_algorithm *const a = ar_algorithm_find(rows[row], strlen(rows[row]));
        assert_non_null(a);
        setting_default(&setting, a, 4, PLACE_UNKNOWN);
        struct ar_schedule *const all = schedules_emit(&setting, 9);
        unsigned char **const folding = folding_of(all, 4);
        struct ar_verdict verdict;
        const uint64_t expected = run(all, NULL, 4, false, 1);
        int wrong = 0;
        for (int rank = 0; rank < 4; rank++)
            memset(folding[rank], AR_FOLD_AT_ONCE, all[rank].nsteps);
        for (uint64_t seed = 1; seed <= 20; seed++)
            wrong += run(all, folding, 4, false, seed) != expected;
        assert_true(wrong > 0);
        assert_int_equal(check(&verdict, all, folding, 4, false), AR_ERR_PROOF);
        folding_free(folding, 4);
        schedules_free(all, 4);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_decision_of_every_row_is_proved),
        cmocka_unit_test(every_decision_is_proved_for_all_parameters),
        cmocka_unit_test(folding_in_adversarial_orders_combines_the_same),
        cmocka_unit_test(wrong_decisions_are_refuted),
        cmocka_unit_test(wrong_decisions_go_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
