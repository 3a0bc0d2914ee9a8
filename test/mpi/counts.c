/* A program whose counts vary from call to call, as those of particles that move do: each sum is
 * compared exactly.  Some counts come again and again.  The ranks name the type of a call in
 * different ways, so that recent calls were the same for some of them only.
 *
 * usage: counts CALLS MOST    so many calls of up to MOST elements
 */
#include <stdint.h>
#include <stdlib.h>

#include "mpi_check.h"

static uint64_t shared = 1, own; /* alike on all ranks, and not */

static unsigned
draw(uint64_t *state, unsigned n)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*state >> 33) % n;
}

/* Half of them are small; one of four is one of three. */
static int
draw_count(unsigned most)
{
    static const unsigned often[] = {77, 1001, 5003};
    const unsigned any = 1 + draw(&shared, draw(&shared, 2) ? 200 : most);
    return (int)(draw(&shared, 4) ? any : 1 + often[draw(&shared, 3)] % most);
}

/* Element i of a rank in a call; the sum of those of all ranks is exact. */
static int
element(int call, int i, int rank)
{
    return (call % 1000) * (i % 100 + 1) + rank;
}

static void
check_sums(const struct check_comm *c, int call, const int *out, int count)
{
    const int ranks = c->nranks * (c->nranks - 1) / 2;
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += out[i] != c->nranks * element(call, i, 0) + ranks;
    if (wrong > 0)
        check_fail("call %d: %d sums of %d are wrong", call, wrong, count);
}

static void
call_once(const struct check_comm *c, int call, int count, MPI_Op op, MPI_Datatype type)
{
    int *const in = check_buffer((size_t)count * sizeof *in);
    int *const out = check_buffer((size_t)count * sizeof *out);
    const bool in_place = draw(&shared, 3) == 0;
    for (int i = 0; i < count; i++)
        (in_place ? out : in)[i] = element(call, i, c->rank);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, type, op, c->comm);
    check_sums(c, call, out, count);
    check_guards(out, c->name);
    check_release(in);
    check_release(out);
}

int
main(int argc, char **argv)
{
    MPI_Op add;
    MPI_Datatype same;
    check_begin(&argc, &argv);
    const struct check_comm c = check_describe(MPI_COMM_WORLD, "the world");
    const int calls = atoi(argv[1]);
    own = (uint64_t)c.rank;
    MPI_Op_create(check_add_ints, 1, &add);
    MPI_Type_dup(MPI_INT, &same);
    for (int call = 0; call < calls; call++) {
        const int count = draw_count((unsigned)atoi(argv[2]));
        const bool is_own = draw(&shared, 4) == 0; /* an op of the program's own takes any type */
        const MPI_Datatype types[] = {MPI_INT, is_own ? same : MPI_INT32_T};
        call_once(&c, call, count, is_own ? add : MPI_SUM, types[draw(&own, 2)]);
    }
    MPI_Type_free(&same);
    MPI_Op_free(&add);
    return check_end();
}
