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

/* Elements at an address, for PMPI_Pack, which some MPI libraries refuse to call on null: there
 * MPI_BOTTOM, the type holding the elements' addresses.  They are seen from elsewhere then. */
struct view {
    void *base;
    int count;
    MPI_Datatype type;
};

static int
open_view(struct view *view, const struct ar_reduction *r, const void *elements, int count)
{
    *view = (struct view){(void *)elements, count, r->type};
    if (elements)
        return MPI_SUCCESS;
    const MPI_Aint null = -(MPI_Aint)view;
    int error = PMPI_Type_create_hindexed_block(1, count, &null, r->type, &view->type);
    if (error == MPI_SUCCESS)
        error = PMPI_Type_commit(&view->type);
    view->base = view;
    view->count = 1;
    return error;
}

static void
close_view(struct view *view, const struct ar_reduction *r)
{
    if (view->type != r->type)
        PMPI_Type_free(&view->type);
}

static int
pack(const struct ar_reduction *r, struct pack *to, const void *src, int count, int *end)
{
    struct view view;
    int error = open_view(&view, r, src, count);
    if (error == MPI_SUCCESS)
        error =
            PMPI_Pack(view.base, view.count, view.type, to->bytes, to->room_bytes, end, r->comm);
    close_view(&view, r);
    return ar_error_class(error);
}

static int
unpack(const struct ar_reduction *r, void *dst, int count, const struct pack *from)
{
    struct view view;
    int done = 0, error = open_view(&view, r, dst, count);
    if (error == MPI_SUCCESS)
        error = PMPI_Unpack(from->bytes, from->room_bytes, &done, view.base, view.count, view.type,
                            r->comm);
    close_view(&view, r);
    return ar_error_class(error);
}

static int
copy_through(struct pack *through, const struct ar_reduction *r, char *dst, const char *src,
             size_t count)
{
    for (size_t done = 0; done < count; done += through->elements) {
        const int n = count - done < through->elements ? count - done : through->elements;
        const ptrdiff_t at = (ptrdiff_t)done * r->extent;
        int end = 0, error = pack(r, through, src + at, n, &end);
        if (error == MPI_SUCCESS)
            error =
                unpack(r, dst + at, n, &(struct pack){.bytes = through->bytes, .room_bytes = end});
        if (error != MPI_SUCCESS)
            return error;
    }
    return MPI_SUCCESS;
}

/* Packing is local, needs no memory but ours and takes no message of the user's,
 * as a send to oneself would. */
static int
copy_packed(const struct ar_reduction *r, void *dst, const void *src, size_t count)
{
    char on_stack[PACK_BYTES];
    struct pack through = {.bytes = on_stack, .room_bytes = PACK_BYTES};
    int error = PMPI_Pack_size(1, r->type, r->comm, &through.element_bytes);
    if (error != MPI_SUCCESS)
        return ar_error_class(error);
    through.elements = PACK_BYTES / through.element_bytes;
    if (through.elements > 0)
        return copy_through(&through, r, dst, src, count);

    through.elements = 1;
    through.room_bytes = through.element_bytes;
    through.bytes = malloc(through.room_bytes);
    if (!through.bytes)
        return MPI_ERR_NO_MEM;
    error = copy_through(&through, r, dst, src, count);
    free(through.bytes);
    return error;
}

bool
ar_reduction_packs(const struct ar_reduction *r)
{
    int bytes = 0;
    return PMPI_Pack_size(1, r->type, r->comm, &bytes) == MPI_SUCCESS && (size_t)bytes == r->size;
}

int
ar_reduction_pack(const struct ar_reduction *r, void *packed, const void *src, size_t count)
{
    struct pack to = {.bytes = packed, .room_bytes = (int)(count * r->size)};
    int end = 0;
    return pack(r, &to, src, (int)count, &end);
}

int
ar_reduction_unpack(const struct ar_reduction *r, void *dst, const void *packed, size_t count)
{
    const struct pack from = {.bytes = (char *)packed, .room_bytes = (int)(count * r->size)};
    return unpack(r, dst, (int)count, &from);
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
