/* An op of the program's own that takes all elements for one record, as some solvers have: its
 * first number says how many there are.  MPICH hands such ops the whole vector in each call; Open
 * MPI does so where they do not commute, or the message is short.
 *
 * usage: whole_vector [MOST [aligned]]   messages of up to so many bytes; "aligned": another op
 * loads many bytes at once, as the program's buffers allow
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* --- an op with aligned loads --- */

static struct {
    const char *in, *out; /* the buffers */
    size_t alignment;     /* that every operand elsewhere has */
    size_t bytes;         /* of an element */
    int misplaced;        /* operands that have another one */
} loads;

static void
check_place(const char *operand)
{
    loads.misplaced +=
        operand != loads.in && operand != loads.out && (uintptr_t)operand % loads.alignment > 0;
}

static void
add_bytes(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const unsigned char *const a = in;
    unsigned char *const b = inout;
    (void)type;
    check_place(in);
    check_place(inout);
    for (size_t i = 0; i < (size_t)*count * loads.bytes; i++)
        b[i] = (unsigned char)(a[i] + b[i]);
}

/* Both buffers begin so many bytes behind a multiple of 64. */
static void
check_aligned(const struct check_comm *c, MPI_Op op, MPI_Datatype type, int count, size_t begin)
{
    static _Alignas(64) unsigned char rooms[2][1 << 17];
    unsigned char *const in = rooms[0] + begin, *const out = rooms[1] + begin;
    const size_t n = (size_t)count * loads.bytes;
    const bool in_place = count % 3 == 0;
    int wrong = 0;
    loads.in = (char *)(in_place ? out : in);
    loads.out = (char *)out;
    loads.alignment = begin == 0 ? 64 : 16;
    loads.misplaced = 0;
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)loads.in)[i] = (unsigned char)(c->rank + (int)i);
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, type, op, c->comm);
    for (size_t i = 0; i < n; i++)
        wrong += out[i] != (unsigned char)(c->nranks * (c->nranks - 1) / 2 + c->nranks * (int)i);
    if (loads.misplaced > 0 || wrong > 0)
        check_fail("%d elements of %zu bytes from 64 k + %zu: %d operands misplaced, %d wrong",
                   count, loads.bytes, begin, loads.misplaced, wrong);
}

/* The op commutes, so that every row runs it. */
static void
check_loads(const struct check_comm *c)
{
    static const int counts[] = {1, 2, 3, 5, 9, 16, 33, 100, 1001, 4999};
    const MPI_Datatype basic[] = {MPI_FLOAT, MPI_DOUBLE};
    MPI_Op op;
    MPI_Datatype seven;
    MPI_Op_create(add_bytes, 1, &op);
    MPI_Type_contiguous(7, MPI_BYTE, &seven);
    MPI_Type_commit(&seven);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (size_t begin = 0; begin <= 16; begin += 8)
            for (int k = 0; k < 3; k++) {
                loads.bytes = k < 2 ? (size_t)4 << k : 7;
                check_aligned(c, op, k < 2 ? basic[k] : seven, counts[i], begin);
            }
    MPI_Type_free(&seven);
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
    if (argc > 2)
        check_loads(&world);
    return check_end();
}
