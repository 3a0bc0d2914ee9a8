/* Vectors beyond 2^31 bytes, in place to save memory.
 *
 * First 33000 elements of 64 KiB and an op of the program's own, then MPI_Allreduce_c with more
 * than INT_MAX bytes where this MPI has it.  One vector serves both: to get the memory takes longer
 * than all the rest.
 */
#include <config.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mpi_check.h"

#define ELEMENT       ((size_t)64 * 1024)
#define ELEMENTS      33000
#define BYTES_OF_TYPE (ELEMENTS * ELEMENT)

/* A different byte in each 4 KiB page suffices to notice a misplaced block. */
enum { PAGE = 4096, LARGE_PAGE = 2 << 20 };

static unsigned char
byte_of(int rank, size_t i)
{
    return (unsigned char)(i / PAGE % 127 & (rank == 0 ? 0x55 : 0x7A));
}

static unsigned char *
make_vector(void)
{
    const size_t room = (BYTES_OF_TYPE + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
    unsigned char *vector = aligned_alloc(LARGE_PAGE, room);
    if (!vector) {
        check_fail("no memory for %zu bytes", room);
        MPI_Abort(MPI_COMM_WORLD, 1);
        abort(); /* not reached */
    }
#ifdef MADV_HUGEPAGE
    madvise(vector, room, MADV_HUGEPAGE); /* half a million pages take as long as all the rest */
#endif
    return vector;
}

static void
fill(const struct check_comm *c, unsigned char *vector, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += PAGE)
        memset(vector + i, byte_of(c->rank, i), bytes - i < PAGE ? bytes - i : PAGE);
}

static void
check_vector(const struct check_comm *c, const unsigned char *vector, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += PAGE) {
        unsigned char expected[PAGE];
        int byte = 0;
        for (int rank = 0; rank < c->nranks && rank < 2; rank++)
            byte |= byte_of(rank, i);
        memset(expected, byte, PAGE);
        if (memcmp(vector + i, expected, bytes - i < PAGE ? bytes - i : PAGE) != 0) {
            check_fail("%zu bytes: of %d from byte %zu on, one is wrong", bytes, byte, i);
            return;
        }
    }
}

static void
or_op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const unsigned char *a = in;
    unsigned char *b = inout;
    (void)type;
    for (size_t i = 0; i < (size_t)*length * ELEMENT; i++)
        b[i] |= a[i];
}

static void
check_large_type(const struct check_comm *c, unsigned char *vector)
{
    MPI_Datatype type;
    MPI_Op op;
    fill(c, vector, BYTES_OF_TYPE);
    MPI_Type_contiguous(ELEMENT, MPI_UNSIGNED_CHAR, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(or_op, 1, &op);
    MPI_Allreduce(MPI_IN_PLACE, vector, ELEMENTS, type, op, c->comm);
    check_vector(c, vector, BYTES_OF_TYPE);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

#ifdef HAVE_PMPI_ALLREDUCE_C
static void
check_large_count(const struct check_comm *c, unsigned char *vector)
{
    const size_t counts[] = {3, 5000, (size_t)INT_MAX + 4097};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        fill(c, vector, counts[i]);
        MPI_Allreduce_c(MPI_IN_PLACE, vector, (MPI_Count)counts[i], MPI_UNSIGNED_CHAR, MPI_BOR,
                        c->comm);
        check_vector(c, vector, counts[i]);
    }
}
#endif

int
main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "world");
    unsigned char *const vector = make_vector();
    check_large_type(&world, vector);
#ifdef HAVE_PMPI_ALLREDUCE_C
    check_large_count(&world, vector);
#else
    printf("no MPI_Allreduce_c in this MPI\n");
#endif
    free(vector);
    return check_end();
}
