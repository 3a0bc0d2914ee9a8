#include "execute/cell.h"

#include "reduce/copy.h"

size_t
ar_cell_length(const struct ar_reduction *r, size_t bytes)
{
    if (!r->basic)
        return bytes / r->size;
    const size_t extent = r->extent > 0 ? (size_t)r->extent : 1;
    const size_t first = ar_reduction_room_bytes(r, 1);
    return first > bytes ? 0 : 1 + (bytes - first) / extent;
}

bool
ar_cell_takes(const struct ar_reduction *r, size_t bytes)
{
    return ar_cell_length(r, bytes) > 0 && (r->basic || ar_reduction_packs(r));
}

ptrdiff_t
ar_cell_offset(const struct ar_reduction *r, size_t i)
{
    char cell[1];
    if (!r->basic)
        return (ptrdiff_t)(i * r->size);
    return (char *)ar_reduction_base(r, cell, 1) - cell + (ptrdiff_t)i * r->extent;
}

int
ar_cell_store(const struct ar_reduction *r, char *to, const char *from, size_t length)
{
    return r->basic ? ar_reduction_copy(r, to, from, length)
                    : ar_reduction_pack(r, to, from, length);
}

/* Fewer bytes than this are faster through the cache, even to readers that are far. */
#define STREAM_LEAST ((size_t)1024)

bool
ar_cell_streams(const struct ar_reduction *r, size_t length)
{
    return r->basic && r->dense && length * r->size >= STREAM_LEAST;
}

int
ar_cell_stream(const struct ar_reduction *r, char *to, const char *from, size_t length)
{
    if (!ar_cell_streams(r, length))
        return ar_cell_store(r, to, from, length);
    ar_copy_streaming(to + r->true_lb, from + r->true_lb, length * r->size);
    return MPI_SUCCESS;
}

int
ar_cell_fetch(const struct ar_reduction *r, char *to, const char *from, size_t length)
{
    return r->basic ? ar_reduction_copy(r, to, from, length)
                    : ar_reduction_unpack(r, to, from, length);
}
