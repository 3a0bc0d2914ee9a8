#include "reduce/packed.h"

#include <limits.h>
#include <stdlib.h>

#include "reduce/geometry.h"

bool
ar_reduction_interleaves(const struct ar_reduction *r)
{
    return r->size > 0 && r->extent < (ptrdiff_t)r->true_extent;
}

struct ar_reduction
ar_reduction_packed(const struct ar_reduction *r)
{
    struct ar_reduction packed = *r;
    packed.type = MPI_DATATYPE_NULL;
    packed.kernel = NULL;
    packed.basic = packed.dense = true;
    packed.extent = (ptrdiff_t)r->size;
    packed.true_extent = r->size;
    packed.true_lb = 0;
    return packed;
}

/* Between a buffer of the program's and elements side by side. */
enum direction { PACK, UNPACK };

static int
convert(const struct ar_reduction *r, enum direction direction, char *packed, char *elements,
        size_t count)
{
    const size_t most = INT_MAX / r->size;
    int error = MPI_SUCCESS;
    for (size_t done = 0; done < count && !error; done += most) {
        const size_t n = count - done < most ? count - done : most;
        char *const side = packed + done * r->size, *at = elements + (ptrdiff_t)done * r->extent;
        error = direction == PACK ? ar_reduction_pack(r, side, at, n)
                                  : ar_reduction_unpack(r, at, side, n);
    }
    return error;
}

int
ar_packing_init(struct ar_packing *p, const struct ar_reduction *r, const void *in, void *out,
                size_t count)
{
    const size_t room = (ar_reduction_room_bytes(r, count) + 15) / 16 * 16;
    *p = (struct ar_packing){.r = r, .out = out, .count = count};
    p->packed = ar_reduction_packed(r);
    p->packed.packing = p;
    p->rooms = malloc(2 * room);
    p->packed_in = malloc(count * r->size);
    p->packed_out = in == out ? p->packed_in : malloc(count * r->size);
    int error = p->rooms && p->packed_in && p->packed_out ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!error) {
        p->area[0] = p->rooms;
        p->area[1] = p->rooms + room;
        error = PMPI_Type_contiguous((int)r->size, MPI_BYTE, &p->packed.type);
    }
    if (!error)
        error = PMPI_Type_commit(&p->packed.type);
    return error ? error : convert(r, PACK, p->packed_in, (char *)in, count);
}

int
ar_packing_fini(struct ar_packing *p, int error)
{
    if (!error)
        error = convert(p->r, UNPACK, p->packed_out, p->out, p->count);
    if (p->packed.type != MPI_DATATYPE_NULL)
        PMPI_Type_free(&p->packed.type);
    if (p->packed_out != p->packed_in)
        free(p->packed_out);
    free(p->packed_in);
    free(p->rooms);
    return error;
}

int
ar_packing_apply(const struct ar_packing *p, char *dst, char *a, char *b, size_t count)
{
    char *const left = ar_reduction_base(p->r, p->area[0], count);
    char *const right = ar_reduction_base(p->r, p->area[1], count);
    int error = convert(p->r, UNPACK, a, left, count);
    if (!error)
        error = convert(p->r, UNPACK, b, right, count);
    if (!error)
        error = ar_reduction_apply(p->r, right, left, right, count);
    return error ? error : convert(p->r, PACK, dst, right, count);
}
