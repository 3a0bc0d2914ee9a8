#include "reduce/geometry.h"

/* Scratch is as aligned as malloc's, so should element 0 be: holes at an
 * element's start are laid out too. */
#define ALIGNMENT 16

bool
ar_geometry_get(struct ar_reduction *r, MPI_Datatype type)
{
    int size;
    MPI_Aint lb, extent, true_lb, true_extent;
    if (PMPI_Type_size(type, &size) != MPI_SUCCESS ||
        PMPI_Type_get_extent(type, &lb, &extent) != MPI_SUCCESS ||
        PMPI_Type_get_true_extent(type, &true_lb, &true_extent) != MPI_SUCCESS)
        return false;
    if (size < 0 || true_extent < 0)
        return false;
    r->type = type;
    r->comm = MPI_COMM_SELF;
    r->size = size;
    r->extent = extent;
    r->true_lb = true_lb;
    r->true_extent = true_extent;
    r->dense = size == extent && size == true_extent;
    return true;
}

/* From the address of element 0 to the first byte of count of them, which may lie backwards. */
static ptrdiff_t
lowest(const struct ar_reduction *r, size_t count)
{
    return r->true_lb + (r->extent < 0 && count > 0 ? (ptrdiff_t)(count - 1) * r->extent : 0);
}

static size_t
lead(const struct ar_reduction *r, size_t count)
{
    return (size_t)(((lowest(r, count) % ALIGNMENT) + ALIGNMENT) % ALIGNMENT);
}

size_t
ar_reduction_room_bytes(const struct ar_reduction *r, size_t count)
{
    const size_t step = (size_t)(r->extent < 0 ? -r->extent : r->extent);
    return count == 0 ? 0 : lead(r, count) + (count - 1) * step + r->true_extent;
}

void *
ar_reduction_base(const struct ar_reduction *r, void *scratch, size_t count)
{
    return (char *)scratch + (ptrdiff_t)lead(r, count) - lowest(r, count);
}
