#include <stdlib.h>
#include <string.h>

#include "reduce/geometry.h"

/* Elements with holes move through a buffer: on the stack up to this many bytes,
 * from the heap where one element alone is larger. */
#define PACK_BYTES 8192

struct pack {
    char *bytes;
    int room_bytes;
    int element_bytes; /* PMPI_Pack_size of one element */
    size_t elements;   /* that fit in */
};

/* Elements without holes inside, but with gaps between them. */
static void
copy_blocks(const struct ar_reduction *r, char *dst, const char *src, size_t count)
{
    dst += r->true_lb;
    src += r->true_lb;
    for (size_t i = 0; i < count; i++)
        memcpy(dst + i * r->extent, src + i * r->extent, r->size);
}

static int
copy_through(const struct pack *pack, const struct ar_reduction *r, char *dst, const char *src,
             size_t count)
{
    for (size_t done = 0; done < count; done += pack->elements) {
        const int n = count - done < pack->elements ? count - done : pack->elements;
        const ptrdiff_t at = (ptrdiff_t)done * r->extent;
        int end = 0, position = 0, error;
        error = PMPI_Pack(src + at, n, r->type, pack->bytes, pack->room_bytes, &end, r->comm);
        if (error == MPI_SUCCESS)
            error = PMPI_Unpack(pack->bytes, end, &position, dst + at, n, r->type, r->comm);
        if (error != MPI_SUCCESS)
            return ar_error_class(error);
    }
    return MPI_SUCCESS;
}

/* Packing is local, needs no memory but ours and takes no message of the user's,
 * as a send to oneself would. */
static int
copy_packed(const struct ar_reduction *r, void *dst, const void *src, size_t count)
{
    char on_stack[PACK_BYTES];
    struct pack pack = {.bytes = on_stack, .room_bytes = PACK_BYTES};
    int error = PMPI_Pack_size(1, r->type, r->comm, &pack.element_bytes);
    if (error != MPI_SUCCESS)
        return ar_error_class(error);
    pack.elements = PACK_BYTES / pack.element_bytes;
    if (pack.elements > 0)
        return copy_through(&pack, r, dst, src, count);

    pack.elements = 1;
    pack.room_bytes = pack.element_bytes;
    pack.bytes = malloc(pack.room_bytes);
    if (!pack.bytes)
        return MPI_ERR_NO_MEM;
    error = copy_through(&pack, r, dst, src, count);
    free(pack.bytes);
    return error;
}

int
ar_reduction_copy(const struct ar_reduction *r, void *dst, const void *src, size_t count)
{
    if (dst == src || count == 0 || r->size == 0)
        return MPI_SUCCESS;
    if (r->dense)
        memcpy((char *)dst + r->true_lb, (const char *)src + r->true_lb, count * r->size);
    else if (r->size == r->true_extent)
        copy_blocks(r, dst, src, count);
    else
        return copy_packed(r, dst, src, count);
    return MPI_SUCCESS;
}

int
ar_error_class(int error)
{
    int class;
    return PMPI_Error_class(error, &class) == MPI_SUCCESS ? class : MPI_ERR_OTHER;
}
