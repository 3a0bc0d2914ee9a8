#include "reduce/packed.h"

#include <stdlib.h>

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

int
ar_packing_init(struct ar_packing *p, const struct ar_reduction *r, const void *in, void *out,
                size_t count)
{
    *p = (struct ar_packing){.r = r, .out = out, .count = count};
    p->packed = ar_reduction_packed(r);
    p->packed.packing = p;
    p->area[0] = ar_reduction_room_allocate(r, count);
    p->area[1] = ar_reduction_room_allocate(r, count);
    p->packed_in = malloc(count * r->size);
    p->packed_out = in == out ? p->packed_in : malloc(count * r->size);
    const bool has_room = p->area[0] && p->area[1] && p->packed_in && p->packed_out;
    int error =
        has_room ? PMPI_Type_contiguous((int)r->size, MPI_BYTE, &p->packed.type) : MPI_ERR_NO_MEM;
    if (!error)
        error = PMPI_Type_commit(&p->packed.type);
    return error ? error : ar_reduction_pack(r, p->packed_in, in, count);
}

int
ar_packing_fini(struct ar_packing *p, int error)
{
    if (!error)
        error = ar_reduction_unpack(p->r, p->out, p->packed_out, p->count);
    if (p->packed.type != MPI_DATATYPE_NULL)
        PMPI_Type_free(&p->packed.type);
    if (p->packed_out != p->packed_in)
        free(p->packed_out);
    free(p->packed_in);
    free(p->area[0]);
    free(p->area[1]);
    return error;
}

int
ar_packing_apply(const struct ar_packing *p, char *dst, char *a, char *b, size_t count)
{
    char *const left = ar_reduction_base(p->r, p->area[0], count);
    char *const right = ar_reduction_base(p->r, p->area[1], count);
    int error = ar_reduction_unpack(p->r, left, a, count);
    if (!error)
        error = ar_reduction_unpack(p->r, right, b, count);
    if (!error)
        error = ar_reduction_apply(p->r, right, left, right, count);
    return error ? error : ar_reduction_pack(p->r, dst, right, count);
}
