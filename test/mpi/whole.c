/* An op of the program's own that takes all elements for one record, as some solvers have: its
 * first number says how many there are.  MPICH hands such ops the whole vector in each call; Open
 * MPI does so where they do not commute, or the message is short.
 *
 * usage: whole [MOST]   messages of up to so many bytes
 */
#include <stdlib.h>

#include "mpi_check.h"

static int parts; /* calls of the op that got a part of the record */

/* The record's number of elements, each of so many ints, then numbers that are added. */
static void
merge(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *a = in;
    int *b = inout, size;
    MPI_Type_size(*type, &size);
    const int n = *count * (size / (int)sizeof(int));
    if (a[0] != *count || b[0] != *count) {
        parts++;
        return;
    }
    for (int i = 1; i < n; i++)
        b[i] += a[i];
}

/* A call on count elements of width ints. */
static void
check_call(const struct check_comm *c, MPI_Op op, MPI_Datatype type, int count, int width)
{
    const int n = count * width, ranks = c->nranks * (c->nranks + 1) / 2;
    int *in = check_buffer((size_t)n * sizeof *in), *out = check_buffer((size_t)n * sizeof *out);
    int wrong = 0;
    in[0] = count;
    for (int i = 1; i < n; i++)
        in[i] = (c->rank + 1) * (i % 1000);
    MPI_Allreduce(in, out, count, type, op, c->comm);
    for (int i = 1; i < n; i++)
        wrong += out[i] != ranks * (i % 1000);
    if (parts > 0 || wrong > 0 || out[0] != count)
        check_fail("%d elements of %d ints, %s: %d parts, %d wrong", count, width, c->name, parts,
                   wrong);
    parts = 0;
    check_guards(out, c->name);
    check_release(in);
    check_release(out);
}

static void
check_op(const struct check_comm *c, int commutes, int most_bytes)
{
    MPI_Op op;
    MPI_Datatype pair;
    MPI_Op_create(merge, commutes, &op);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int bytes = 8; bytes <= most_bytes; bytes += bytes / 5 / 8 * 8 + 8) {
        check_call(c, op, MPI_INT, bytes / (int)sizeof(int), 1);
        check_call(c, op, pair, bytes / (int)(2 * sizeof(int)), 2);
    }
    MPI_Type_free(&pair);
    MPI_Op_free(&op);
}

int
main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "the world");
    const int most_bytes = argc > 1 ? atoi(argv[1]) : 1 << 20;
    check_op(&world, 1, most_bytes);
    check_op(&world, 0, most_bytes);
    return check_end();
}
