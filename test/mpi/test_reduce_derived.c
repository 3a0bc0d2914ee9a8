/* Derived types and user ops: what resolves, how elements are combined, copied and
 * laid out in scratch, with gaps, bounds below zero, and counts beyond int. */
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "check.h"
#include "reduce/reduce.h"

enum { COUNT = 3000, GUARD = 64 };

/* An int at 4 and a char at 12 of every 16 bytes, from lb on. */
static MPI_Datatype
holed_type(MPI_Aint lb, MPI_Aint extent)
{
    MPI_Datatype holed, type;
    const int lengths[] = {1, 1};
    const MPI_Aint places[] = {lb + 4, lb + 12};
    const MPI_Datatype parts[] = {MPI_INT, MPI_CHAR};
    MPI_Type_create_struct(2, lengths, places, parts, &holed);
    MPI_Type_create_resized(holed, lb, extent, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&holed);
    return type;
}

/* Not commutative: int a,b -> 2a + b; char -> b - a.  For holed_type(lb, 16). */
static MPI_Aint lb_of_user_op;

static void
user_function(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) {
        const char *const a = (const char *)in + lb_of_user_op + 16 * (ptrdiff_t)i;
        char *const b = (char *)inout + lb_of_user_op + 16 * (ptrdiff_t)i;
        unsigned x, y; /* which may overflow */
        memcpy(&x, a + 4, 4);
        memcpy(&y, b + 4, 4);
        y += 2 * x;
        memcpy(b + 4, &y, 4);
        b[12] -= a[12];
    }
}

struct area {
    unsigned char bytes[GUARD + 16 * COUNT + GUARD];
};

static void
area_fill(struct area *area, int seed)
{
    const size_t start = (size_t)seed * 101;
    for (size_t i = 0; i < sizeof area->bytes; i++)
        area->bytes[i] = (unsigned char)(i * 31 + i / 251 * 7 + start);
}

/* 1 where the type map has data: int at 4..7, char at 12. */
static int
is_data(size_t i)
{
    const size_t at = (i - GUARD) % 16;
    return i >= GUARD && i < GUARD + (size_t)16 * COUNT && ((at >= 4 && at < 8) || at == 12);
}

static void
check_copy(const struct ar_reduction *r, MPI_Aint lb)
{
    static struct area from, to, before;
    area_fill(&from, 1);
    area_fill(&to, 2);
    before = to;
    CHECK(ar_reduction_copy(r, to.bytes + GUARD - lb, from.bytes + GUARD - lb, COUNT) ==
              MPI_SUCCESS,
          "lb %ld", (long)lb);
    for (size_t i = 0; i < sizeof to.bytes; i++)
        CHECK(to.bytes[i] == (is_data(i) ? from : before).bytes[i], "lb %ld, byte %zu", (long)lb,
              i);
}

/* dst is a, b or neither; the gaps of dst stay. */
static void
check_apply(const struct ar_reduction *r, MPI_Aint lb)
{
    static struct area areas[3], expected, before;
    for (int place = 0; place < 3; place++) {
        for (int i = 0; i < 3; i++)
            area_fill(&areas[i], i);
        expected = areas[1];
        before = areas[place];
        user_function(areas[0].bytes + GUARD - lb, expected.bytes + GUARD - lb, &(int){COUNT},
                      &(MPI_Datatype){r->type});
        CHECK(ar_reduction_apply(r, areas[place].bytes + GUARD - lb, areas[0].bytes + GUARD - lb,
                                 areas[1].bytes + GUARD - lb, COUNT) == MPI_SUCCESS,
              "lb %ld", (long)lb);
        for (size_t i = 0; i < sizeof expected.bytes; i++)
            CHECK(areas[place].bytes[i] == (is_data(i) ? expected : before).bytes[i],
                  "lb %ld, place %d, byte %zu", (long)lb, place, i);
    }
}

/* Elements in scratch stay inside the room, and are as aligned as the scratch. */
static void
check_room(const struct ar_reduction *r)
{
    static _Alignas(16) char scratch[48 * COUNT + GUARD];
    for (size_t count = 1; count <= 3; count++) {
        const size_t room = ar_reduction_room_bytes(r, count);
        char *const base = ar_reduction_base(r, scratch, count);
        for (size_t i = 0; i < count; i++) {
            const char *const first = base + r->true_lb + (ptrdiff_t)i * r->extent;
            CHECK(first >= scratch && first + r->true_extent <= scratch + room,
                  "element %zu of %zu, room %zu", i, count, room);
        }
        CHECK((uintptr_t)base % 16 == 0, "base %p", (void *)base);
    }
    CHECK(ar_reduction_room_bytes(r, 0) == 0, "no element needs room");
}

static void
check_holed(MPI_Op op, MPI_Aint lb)
{
    struct ar_reduction r;
    MPI_Datatype type = holed_type(lb, 16);
    lb_of_user_op = lb;
    CHECK(!ar_reduction_resolve(&r, MPI_SUM, type), "a predefined op on a derived type");
    CHECK(ar_reduction_resolve(&r, op, type), "lb %ld", (long)lb);
    CHECK(!r.kernel && !r.commutative && !r.named && !r.dense, "lb %ld", (long)lb);
    CHECK(r.size == 5 && r.extent == 16 && r.true_lb == lb + 4 && r.true_extent == 9, "lb %ld",
          (long)lb);
    check_copy(&r, lb);
    check_apply(&r, lb);
    check_room(&r);
    MPI_Type_free(&type);
}

/* A freed type's handle may come again for another type. */
static void
check_handles(MPI_Op op)
{
    for (int length = 1; length <= 5; length++) {
        struct ar_reduction r;
        MPI_Datatype type;
        MPI_Type_contiguous(length, MPI_SHORT, &type);
        MPI_Type_commit(&type);
        CHECK(ar_reduction_resolve(&r, op, type) && !r.named && r.dense, "length %d", length);
        CHECK(r.size == 2 * (size_t)length && r.extent == (ptrdiff_t)2 * length, "length %d",
              length);
        MPI_Type_free(&type);
    }
}

static void
check_refused(MPI_Op op)
{
    struct ar_reduction r;
    CHECK(!ar_reduction_resolve(&r, op, MPI_DATATYPE_NULL), "no type");
    CHECK(!ar_reduction_resolve(&r, MPI_OP_NULL, MPI_INT), "no op");
}

/* Elements that begin before others end, or lie backwards: another rank may have them laid out
 * otherwise, so that no rank may refuse them. */
static void
check_any_extent(MPI_Op op)
{
    static const MPI_Aint extents[] = {8, -16, -40};
    for (size_t i = 0; i < sizeof extents / sizeof extents[0]; i++) {
        struct ar_reduction r;
        MPI_Datatype type = holed_type(-5, extents[i]);
        CHECK(ar_reduction_resolve(&r, op, type), "extent %ld", (long)extents[i]);
        check_room(&r);
        MPI_Type_free(&type);
    }
}

/* An element larger than any fixed buffer, with holes. */
static void
check_large_element(MPI_Op op)
{
    enum { BLOCKS = 5000 };
    static unsigned char from[3 * BLOCKS], to[3 * BLOCKS];
    struct ar_reduction r;
    MPI_Datatype type;
    MPI_Type_vector(BLOCKS, 2, 3, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    memset(from, 1, sizeof from);
    CHECK(ar_reduction_resolve(&r, op, type), "a vector");
    CHECK(ar_reduction_copy(&r, to, from, 1) == MPI_SUCCESS, "a vector");
    for (int i = 0; i < 3 * BLOCKS; i++)
        CHECK(to[i] == (i % 3 < 2), "byte %d", i);
    MPI_Type_free(&type);
}

static void
check_empty_type(MPI_Op op)
{
    struct ar_reduction r;
    MPI_Datatype type;
    int a = 1, b = 2, dst = 3;
    MPI_Type_contiguous(0, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK(ar_reduction_resolve(&r, op, type) && r.size == 0, "the empty type");
    CHECK(ar_reduction_copy(&r, &dst, &a, 7) == MPI_SUCCESS && dst == 3, "dst %d", dst);
    CHECK(ar_reduction_room_bytes(&r, 7) == 0, "room %zu", ar_reduction_room_bytes(&r, 7));
    CHECK(ar_reduction_apply(&r, &dst, &a, &b, 0) == MPI_SUCCESS && dst == 3, "dst %d", dst);
    MPI_Type_free(&type);
}

/* Sees addresses and counts alone, and touches no memory. */
static size_t elements_seen;
static const char *next_in, *next_inout;
static int in_sequence = 1;

static void
counting_function(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    in_sequence &= in == next_in && inout == next_inout && *count > 0;
    next_in += *count;
    next_inout += *count;
    elements_seen += *count;
}

static void
check_beyond_int(void)
{
    const size_t count = (size_t)INT_MAX + 70;
    MPI_Op op;
    struct ar_reduction r;
    char *const a = mmap(NULL, 2 * count, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(a != MAP_FAILED, "no address space");
    if (a == MAP_FAILED)
        return;
    MPI_Op_create(counting_function, 1, &op);
    CHECK(ar_reduction_resolve(&r, op, MPI_BYTE) && r.commutative && !r.named, "a user op");
    next_in = a;
    next_inout = a + count;
    CHECK(ar_reduction_apply(&r, a + count, a, a + count, count) == MPI_SUCCESS, "many");
    CHECK(elements_seen == count && in_sequence, "%zu of %zu", elements_seen, count);
    MPI_Op_free(&op);
    munmap(a, 2 * count);
}

int
main(int argc, char **argv)
{
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Op_create(user_function, 0, &op);
    check_holed(op, 0);
    check_holed(op, -48);
    check_holed(op, 20);
    check_handles(op);
    check_refused(op);
    check_any_extent(op);
    check_large_element(op);
    check_empty_type(op);
    check_beyond_int();
    MPI_Op_free(&op);
    MPI_Finalize();
    return check_status();
}
