/* MPI_Alloc_mem: large blocks are from the heap that peers can map.
 *
 * Fortran: Open MPI's bindings call the PMPI_ names, and so does a tool that is found before us; a
 * block may be freed by either name, whichever it came from. */
#include <string.h>

#include "execute/heap_memory.h"
#include "shim/next.h"

/* Serves what asks for nothing special.  MPI judges all else. */
static bool
serve(MPI_Aint bytes, MPI_Info info, void *base)
{
    void *const block = bytes > 0 && info == MPI_INFO_NULL && base
                            ? ar_heap_get()->take((size_t)bytes, AR_HEAP_ANY)
                            : NULL;
    if (block)
        memcpy(base, &block, sizeof block); /* to a pointer of any type */
    return block;
}

int
ar_shim_alloc_mem(MPI_Aint bytes, MPI_Info info, void *base)
{
    return serve(bytes, info, base) ? MPI_SUCCESS : ar_next->alloc_mem(bytes, info, base);
}

/* What the MPI library allocates for itself is not ours. */
int
ar_shim_library_alloc_mem(MPI_Aint bytes, MPI_Info info, void *base)
{
    const bool is_ours =
        !ar_next_is_caller(__builtin_return_address(0)) && serve(bytes, info, base);
    return is_ours ? MPI_SUCCESS : ar_next->library_alloc_mem(bytes, info, base);
}

int
ar_shim_free_mem(void *base)
{
    return ar_heap_get()->give(base) ? MPI_SUCCESS : ar_next->free_mem(base);
}

int
ar_shim_library_free_mem(void *base)
{
    return ar_heap_get()->give(base) ? MPI_SUCCESS : ar_next->library_free_mem(base);
}
