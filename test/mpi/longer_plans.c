/* Which calls run by the plan of a longer one: the engine is asked directly.
 *
 *     longer_plans CLAUSES WHAT
 *
 * WHAT is what plans the calls have under these clauses of ALLREDUCE_ALGO: lent, or own; or first:
 * the first one of about each size goes native. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "communicator/decide.h"
#include "communicator/process.h"
#include "execute/node_plan.h"
#include "mpi_check.h"

static struct check_comm world;

static struct ar_communicator *
make(const char *clauses)
{
    struct ar_config *const config = ar_config_from_algo(clauses);
    check_true(config != NULL);
    config->tune = AR_TUNE_RIVALS;
    struct ar_communicator *const c = ar_communicator_create_with(world.comm, config);
    check_true(c != NULL);
    return c;
}

/* What a call runs by; the plan itself may be gone when the next one has been decided. */
struct called {
    const struct ar_node_plan *plan; /* NULL: not by shared memory */
    bool is_native, is_lent;
    bool is_tuned;    /* it is compared with native */
    const char *name; /* of the algorithm; NULL: native */
};

#define MOST 8192

/* A call of so many doubles: it is run, and its sums are looked at. */
static struct called
call(struct ar_communicator *c, size_t count)
{
    static double in[MOST], out[MOST];
    struct ar_reduction r;
    int error = MPI_SUCCESS;
    check_true(count <= MOST && ar_reduction_resolve(&r, MPI_SUM, MPI_DOUBLE));
    r.comm = world.comm;
    for (size_t i = 0; i < count; i++)
        in[i] = (double)(i % 1000) + world.rank;
    struct ar_decision *const d =
        ar_communicator_decide(c, world.comm, &r, count, AR_OUT_OF_PLACE, false, &error);
    check_true(d && !error && d->key.count >= count);
    if (!d || d->runner == AR_RUN_NATIVE)
        return (struct called){.is_native = true, .is_tuned = d && d->tuned};
    const struct called called = {.plan = d->node_plan,
                                  .is_lent = d->node_plan && d->node_plan->count > count,
                                  .is_tuned = d->tuned != NULL,
                                  .name = d->choice.algorithm->name};
    check_true(ar_communicator_run(c, world.comm, d, &r, in, out, count) == MPI_SUCCESS);
    for (size_t i = 0; i < count; i++)
        check_true(out[i] ==
                   world.nranks * (double)(i % 1000) + world.nranks * (world.nranks - 1) / 2.0);
    return called;
}

/* Calls of different counts between those of plans that can be lent run by few plans. */
static void
check_lengths(struct ar_communicator *c, bool lends)
{
    const struct ar_node_plan *plans[2] = {NULL, NULL};
    for (size_t count = 1025; count < 1281; count += 5) {
        const struct called d = call(c, count);
        check_true(d.is_lent == (lends && count % 128 != 0));
        const size_t which = count > 1152;
        check_true(!lends || !plans[which] || d.plan == plans[which] || count % 128 == 0);
        plans[which] = d.plan;
    }
}

static bool
is_recent(struct ar_communicator *c, size_t count)
{
    return ar_recent_find(&c->choice.recents, MPI_SUM, MPI_DOUBLE, count) != NULL;
}

/* A call that is lent a plan leaves those alone that will never be. */
static void
check_recent(struct ar_communicator *c, bool lends)
{
    for (int k = 0; k < 3 * AR_OFTEN_CALLS; k++)
        call(c, 1027);
    call(c, 1);
    call(c, 1536);
    check_true(is_recent(c, 1) && is_recent(c, 1027) && is_recent(c, 1536));
    call(c, 1029);
    check_true(is_recent(c, 1) && is_recent(c, 1536));
    check_true(is_recent(c, 1027) == !lends && is_recent(c, 1029) == !lends);
}

/* Who calls again and again gets a plan of its own, and others that come between do not. */
static void
check_often(struct ar_communicator *c, bool lends)
{
    for (int k = 0; k < 3 * AR_OFTEN_CALLS; k++) {
        const struct called often = call(c, 3001), once = call(c, 4097 + (size_t)k);
        const bool is_known = k == 3 * AR_OFTEN_CALLS - 1;
        check_true((k >= AR_OFTEN_CALLS && !is_known) || often.is_lent == (lends && !is_known));
        check_true(once.is_lent == lends);
    }
}

static void
check_few(struct ar_communicator *c)
{
    for (size_t count = 1; count <= AR_TINY_BYTES / sizeof(double); count++) {
        const struct called d = call(c, count);
        check_true(!d.is_lent);
    }
}

static void
check_lending_counts(void)
{
    for (size_t size = 1; size <= 32; size += 1 + size / 3)
        for (size_t count = 1; count < 5000000; count += 1 + count / 50) {
            const size_t longer = ar_lending_count(count, size);
            check_true(longer >= count && ar_lending_count(longer, size) == longer);
            check_true(longer - count <= count / (count * size <= 2048 ? 2 : 8));
            check_true(count * size > AR_TINY_BYTES || longer == count);
        }
    check_true(ar_lending_count((size_t)1 << 60, 8) == (size_t)1 << 60);
}

/* A limit between a call's size and that of the plan which it could be lent: each goes by its own
 * clause. */
static void
check_limits(void)
{
    struct ar_communicator *const c = make("ring:0-8200;auto");
    const struct called below = call(c, 1025), above = call(c, 1026);
    check_true(strcmp(below.name, "ring") == 0);
    check_true(strcmp(above.name, "shm") == 0);
}

/* Of the calls whose plans have one length, only the first goes native as a first call.  It is not
 * one of those that are compared with native ones, although such comparisons have begun. */
static void
check_first(struct ar_communicator *c)
{
    static const size_t counts[] = {700, 690, 701, 1000, 900, 990, 700};
    static const bool is_first[] = {true, false, false, true, true, false, false};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const struct called d = call(c, counts[i]);
        check_true(d.is_native == is_first[i] && d.is_tuned == !is_first[i]);
    }
}

int
main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    world = check_describe(MPI_COMM_WORLD, "the world");
    ar_process_begin();
    struct ar_communicator *const c = make(argv[1]);
    const bool lends = strcmp(argv[2], "lent") == 0;
    if (strcmp(argv[2], "first") == 0) {
        check_first(c);
        return check_end();
    }
    check_lending_counts();
    check_lengths(c, lends);
    check_recent(c, lends);
    check_often(c, lends);
    check_few(c);
    check_limits();
    return check_end();
}
