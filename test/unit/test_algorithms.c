/* Every row of the registry is proved by the checker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "algorithms/registry.h"
#include "schedule/checker.h"

/* TMP, and the most that one round's recv_reduce steps receive. */
static size_t
scratch_of(const struct ar_schedule *s)
{
    size_t most = 0, received = 0;
    for (size_t i = 0, round = 0; i < s->nsteps; i++) {
        received += s->steps[i].kind == AR_RECV_REDUCE ? s->steps[i].dst.length : 0;
        most = received > most ? received : most;
        if (i + 1 == s->round_end[round]) {
            round++;
            received = 0;
        }
    }
    return most + s->tmp_length;
}

static void
check_scratch(const struct ar_algorithm *row, const struct ar_schedule *s,
              const struct ar_params *params)
{
    size_t bound = ar_algorithm_scratch_vectors(row, params ? params : &row->defaults, s->nranks);
    if (scratch_of(s) > bound * s->count)
        fail_msg("%s: rank %d of %d, %zu elements: scratch %zu above %zu vectors", row->name,
                 s->rank, s->nranks, s->count, scratch_of(s), bound);
}

static void
prove(const struct ar_algorithm *row, int nranks, size_t count, const struct ar_params *params)
{
    struct ar_schedule *all = malloc((size_t)nranks * sizeof *all);
    assert_non_null(all);
    for (int rank = 0; rank < nranks; rank++) {
        if (ar_algorithm_emit(row, &all[rank], rank, nranks, count, params))
            fail_msg("%s: rank %d of %d, %zu elements: emits an illegal step", row->name, rank,
                     nranks, count);
        check_scratch(row, &all[rank], params);
    }
    for (int in_place = 0; in_place < 2; in_place++) {
        struct ar_verdict verdict;
        if (ar_check(&verdict, all, nranks, in_place))
            fail_msg("%s: %d ranks, %zu elements, in_place %d: %s", row->name, nranks, count,
                     in_place, verdict.text);
        if (row->keeps_order && !verdict.in_rank_order)
            fail_msg("%s: %d ranks, %zu elements: not in rank order", row->name, nranks, count);
    }
    for (int rank = 0; rank < nranks; rank++)
        ar_schedule_fini(&all[rank]);
    free(all);
}

static void
prove_counts(const struct ar_algorithm *row, int nranks, const struct ar_params *params)
{
    const size_t p = (size_t)nranks;
    const size_t counts[] = {0, 1, p - 1, p, p + 1, 7 * p + 3};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        prove(row, nranks, counts[i], params);
}

static void
every_row_is_proved_for_every_p(void **state)
{
    (void)state;
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        for (int nranks = 1; nranks <= 64; nranks++)
            prove_counts(ar_algorithm_at(i), nranks, NULL);
}

static void
every_row_is_proved_at_257(void **state)
{
    (void)state;
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        prove_counts(ar_algorithm_at(i), 257, NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_proved_for_every_p),
        cmocka_unit_test(every_row_is_proved_at_257),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
