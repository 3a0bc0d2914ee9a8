#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "reduce/named.h"
#include "reduce/packed.h"

/* Elements handed to PMPI_Reduce_local at a time: its counts are int, and a user's op gets as many
 * as it can. */
#define CHUNK ((size_t)INT_MAX)

static bool
resolve_user(struct ar_reduction *r, MPI_Op op, MPI_Datatype type)
{
    const struct ar_named *const named = ar_named_find(type);
    struct ar_reduction found = {0};
    int commutative;
    if (named)
        found = named->geometry; /* basic, too */
    else if (!ar_geometry_get(&found, type))
        return false;
    if (PMPI_Op_commutative(op, &commutative) != MPI_SUCCESS)
        return false;
    *r = found;
    r->op = op;
    r->which = AR_OPS;
    r->commutative = commutative;
    r->named = false;
    /* Another rank may have a derived type of the same elements, without the gaps. */
    r->type_class = AR_TYPE_OTHER;
    r->basic = r->basic && r->dense;
    return true;
}

bool
ar_reduction_resolve(struct ar_reduction *r, MPI_Op op, MPI_Datatype type)
{
    enum ar_op which;
    if (type == MPI_DATATYPE_NULL)
        return false;
    const enum ar_op_kind kind = ar_op_find(&which, op);
    if (kind != AR_OP_PREDEFINED)
        return kind == AR_OP_USER && resolve_user(r, op, type);
    struct ar_named *const named = ar_named_find(type);
    if (!named || !(named->ops & 1u << which))
        return false;
    *r = named->geometry;
    r->op = op;
    r->which = which;
    r->kernel = ar_named_kernel(named, op, which);
    return true;
}

/* inout = in op inout */
static int
reduce_local(const struct ar_reduction *r, void *inout, const void *in, size_t count)
{
    for (size_t done = 0; done < count; done += CHUNK) {
        const int n = count - done < CHUNK ? count - done : CHUNK;
        const ptrdiff_t at = (ptrdiff_t)done * r->extent;
        const int error =
            PMPI_Reduce_local((const char *)in + at, (char *)inout + at, n, r->type, r->op);
        if (error != MPI_SUCCESS)
            return ar_error_class(error);
    }
    return MPI_SUCCESS;
}

void
ar_aligned_begin(struct ar_aligned *o, const void *in, const void *out)
{
    const size_t any = (size_t)((uintptr_t)in | (uintptr_t)out) | AR_OPERAND_ALIGNMENT;
    const size_t both = any & -any;
    o->in = in;
    o->out = out;
    o->alignment = both > _Alignof(max_align_t) ? both : _Alignof(max_align_t);
}

void
ar_aligned_end(struct ar_aligned *o)
{
    free(o->areas);
    *o = (struct ar_aligned){0};
}

/* Where the op gets an operand that stands at *place: there, or in one of the two areas. */
static int
find_place(char **place, const struct ar_reduction *r, size_t count, size_t area)
{
    struct ar_aligned *const o = r->operands;
    if (!o || *place == o->in || *place == o->out || (uintptr_t)*place % o->alignment == 0)
        return MPI_SUCCESS;
    const size_t line = AR_OPERAND_ALIGNMENT;
    const size_t bytes = (ar_reduction_room_bytes(r, count) + line - 1) / line * line;
    if (bytes > o->area_bytes) {
        free(o->areas);
        o->areas = aligned_alloc(line, 2 * bytes);
        o->area_bytes = o->areas ? bytes : 0;
    }
    *place = o->areas ? ar_reduction_base(r, o->areas + area * o->area_bytes, count) : *place;
    return o->areas ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int
ar_reduction_apply(const struct ar_reduction *r, void *dst, const void *a, void *b, size_t count)
{
    if (r->kernel) {
        r->kernel(dst, a, b, count);
        return MPI_SUCCESS;
    }
    if (r->packing)
        return ar_packing_apply(r->packing, dst, (void *)a, b, count);
    /* PMPI_Reduce_local works in its right operand: in b where dst is a, else in dst. */
    char *left = (char *)a, *right = dst == a ? b : dst;
    int error = find_place(&left, r, count, 0);
    if (!error)
        error = find_place(&right, r, count, 1);
    if (!error)
        error = ar_reduction_copy(r, left, a, count);
    if (!error)
        error = ar_reduction_copy(r, right, b, count);
    if (!error)
        error = reduce_local(r, right, left, count);
    return error ? error : ar_reduction_copy(r, dst, right, count);
}
