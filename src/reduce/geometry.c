#include "reduce/reduce.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/copy.h"

/* Elements with holes are copied through a buffer: on the stack if it has at most this many bytes,
 * on the heap if one element alone needs more. */
#define BUFFER_BYTES 2048

int
ar_error_class(int error)
{
    int class;
    return PMPI_Error_class(error, &class) == MPI_SUCCESS ? class : MPI_ERR_OTHER;
}

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

/* --- scratch --- */

ptrdiff_t
ar_reduction_first_byte(const struct ar_reduction *r, size_t count)
{
    return r->true_lb + (r->extent < 0 && count > 0 ? (ptrdiff_t)(count - 1) * r->extent : 0);
}

/* Element 0 is as aligned as the scratch, wherever the first byte of an element is. */
static size_t
lead(const struct ar_reduction *r, size_t count)
{
    return (size_t)ar_reduction_first_byte(r, count) % AR_OPERAND_ALIGNMENT;
}

size_t
ar_reduction_span_bytes(const struct ar_reduction *r, size_t count)
{
    const size_t step = (size_t)(r->extent < 0 ? -r->extent : r->extent);
    return count == 0 ? 0 : (count - 1) * step + r->true_extent;
}

size_t
ar_reduction_room_bytes(const struct ar_reduction *r, size_t count)
{
    return count == 0 ? 0 : lead(r, count) + ar_reduction_span_bytes(r, count);
}

void *
ar_reduction_room_allocate(const struct ar_reduction *r, size_t count)
{
    const size_t line = AR_OPERAND_ALIGNMENT;
    return aligned_alloc(line, (ar_reduction_room_bytes(r, count) / line + 1) * line);
}

void *
ar_reduction_base(const struct ar_reduction *r, void *scratch, size_t count)
{
    return (char *)scratch + (ptrdiff_t)lead(r, count) - ar_reduction_first_byte(r, count);
}

/* --- packing --- */

enum direction { PACK, UNPACK };

/* Packs count elements into a buffer of *bytes bytes, or unpacks them from it, and sets *bytes to
 * the number that this took.  At address 0, which is MPI_BOTTOM, the type holds the elements'
 * addresses, and some MPI libraries refuse to pack.  So we make a type that starts at a variable of
 * ours. */
static int
convert(const struct ar_reduction *r, enum direction direction, void *packed, int *bytes,
        void *elements, int count)
{
    MPI_Datatype type = r->type;
    int position = 0, error = MPI_SUCCESS;
    if (!elements) {
        const MPI_Aint bottom = -(MPI_Aint)&position;
        error = PMPI_Type_create_hindexed_block(1, count, &bottom, r->type, &type);
        if (error == MPI_SUCCESS)
            error = PMPI_Type_commit(&type);
        elements = &position;
        count = 1;
    }
    if (error == MPI_SUCCESS && direction == PACK)
        error = PMPI_Pack(elements, count, type, packed, *bytes, &position, r->comm);
    else if (error == MPI_SUCCESS)
        error = PMPI_Unpack(packed, *bytes, &position, elements, count, type, r->comm);
    if (type != r->type)
        PMPI_Type_free(&type);
    *bytes = position;
    return ar_error_class(error);
}

bool
ar_reduction_packs(const struct ar_reduction *r)
{
    int bytes = 0;
    return PMPI_Pack_size(1, r->type, r->comm, &bytes) == MPI_SUCCESS && (size_t)bytes == r->size;
}

/* A call of MPI's takes INT_MAX bytes. */
static int
convert_all(const struct ar_reduction *r, enum direction direction, char *packed, char *elements,
            size_t count)
{
    const size_t most = INT_MAX / (r->size ? r->size : 1);
    int error = MPI_SUCCESS;
    for (size_t done = 0; done < count && error == MPI_SUCCESS; done += most) {
        const size_t n = count - done < most ? count - done : most;
        int bytes = (int)(n * r->size);
        error = convert(r, direction, packed + done * r->size, &bytes,
                        elements + (ptrdiff_t)done * r->extent, (int)n);
    }
    return error;
}

int
ar_reduction_pack(const struct ar_reduction *r, void *packed, const void *src, size_t count)
{
    return convert_all(r, PACK, packed, (char *)src, count);
}

int
ar_reduction_unpack(const struct ar_reduction *r, void *dst, const void *packed, size_t count)
{
    return convert_all(r, UNPACK, (char *)packed, dst, count);
}

/* --- copying --- */

/* Packing is local and needs no memory but ours.  A send to oneself could take a message of the
 * program's. */
static int
copy_packed(const struct ar_reduction *r, char *dst, char *src, size_t count)
{
    char on_stack[BUFFER_BYTES];
    int element_bytes;
    int error = PMPI_Pack_size(1, r->type, r->comm, &element_bytes);
    if (error != MPI_SUCCESS)
        return ar_error_class(error);
    const bool fits = element_bytes <= BUFFER_BYTES;
    const int room = fits ? BUFFER_BYTES : element_bytes;
    const size_t most = room / element_bytes;
    char *const buffer = fits ? on_stack : malloc(room);
    if (!buffer)
        return MPI_ERR_NO_MEM;
    for (size_t done = 0; done < count && error == MPI_SUCCESS; done += most) {
        const int n = count - done < most ? count - done : most;
        const ptrdiff_t at = (ptrdiff_t)done * r->extent;
        int bytes = room;
        error = convert(r, PACK, buffer, &bytes, src + at, n);
        if (error == MPI_SUCCESS)
            error = convert(r, UNPACK, buffer, &bytes, dst + at, n);
    }
    if (!fits)
        free(buffer);
    return error;
}

int
ar_reduction_copy(const struct ar_reduction *r, void *dst, const void *src, size_t count)
{
    char *const to = dst, *const from = (char *)src;
    if (dst == src || count == 0 || r->size == 0)
        return MPI_SUCCESS;
    if (r->dense)
        ar_copy_bytes(to + r->true_lb, from + r->true_lb, count * r->size);
    else if (r->size != r->true_extent)
        return copy_packed(r, to, from, count);
    else /* gaps between the elements, none inside */
        for (size_t i = 0; i < count; i++)
            memcpy(to + r->true_lb + i * r->extent, from + r->true_lb + i * r->extent, r->size);
    return MPI_SUCCESS;
}
