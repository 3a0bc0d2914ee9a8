/* liballreduce-heap.so: a malloc whose large blocks peers can map.
 *
 * It is preloaded beside liballreduce.so, and passes everything on to the malloc behind it until
 * the engine tells it to serve: as MPI starts, if ALLREDUCE_HEAP=shared.  So it does nothing in a
 * process that does not use MPI.  The address of a block tells which malloc it belongs to. */
#include <config.h>

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "execute/heap.h"
#include "report/report.h"

#define EXPORT __attribute__((visibility("default")))

static bool serves;

static void
serve(void)
{
    __atomic_store_n(&serves, true, __ATOMIC_RELEASE); /* pairs with the acquire in take() */
}

EXPORT extern const struct ar_heap allreduce_heap;
const struct ar_heap allreduce_heap = AR_HEAP_OF_THIS_OBJECT(serve);

/* --- the malloc behind us --- */

static struct {
    void *(*malloc)(size_t bytes);
    void *(*calloc)(size_t n, size_t bytes);
    void *(*realloc)(void *block, size_t bytes);
    void (*free)(void *block);
    void *(*aligned_alloc)(size_t alignment, size_t bytes);
    void *(*memalign)(size_t alignment, size_t bytes);
    int (*posix_memalign)(void **block, size_t alignment, size_t bytes);
    size_t (*malloc_usable_size)(void *block);
} next;
static bool is_found;

/* Memory for dlsym, which may allocate while it looks for these functions. */
static _Alignas(16) char early[16384];
static size_t early_bytes;

static bool
is_early(const void *block)
{
    return (uintptr_t)block - (uintptr_t)early < sizeof early;
}

static void *
take_early(size_t bytes)
{
    const size_t room = (bytes + 15) / 16 * 16;
    const size_t at = room < sizeof early ? __atomic_fetch_add(&early_bytes, room, __ATOMIC_RELAXED)
                                          : sizeof early;
    return at + room <= sizeof early ? early + at : NULL;
}

static void
find(void *function, const char *name)
{
    void *const symbol = dlsym(RTLD_NEXT, name);
    memcpy(function, &symbol, sizeof symbol); /* C knows no cast to a function */
}

/* Are the functions behind us known?  The first call looks for them.  False during that search,
 * when a thread must not begin another one. */
static bool
has_next(void)
{
    static int is_looking; /* no bool: RISC-V exchanges bytes only by libatomic */
    if (__atomic_load_n(&is_found, __ATOMIC_ACQUIRE)) /* pairs with the release below */
        return true;
    if (__atomic_exchange_n(&is_looking, 1, __ATOMIC_RELAXED))
        return false;
    find(&next.malloc, "malloc");
    find(&next.calloc, "calloc");
    find(&next.realloc, "realloc");
    find(&next.free, "free");
    find(&next.aligned_alloc, "aligned_alloc");
    find(&next.memalign, "memalign");
    find(&next.posix_memalign, "posix_memalign");
    find(&next.malloc_usable_size, "malloc_usable_size");
    __atomic_store_n(&is_found, true, __ATOMIC_RELEASE);
    return true;
}

/* --- blocks --- */

/* A block of the heap; NULL: the next malloc's turn. */
static inline void *
take(size_t bytes, enum ar_heap_fill fill)
{
    if (bytes < AR_HEAP_LEAST_BYTES || !__atomic_load_n(&serves, __ATOMIC_ACQUIRE))
        return NULL;
    const int error = errno;
    void *const block = ar_heap_take(bytes, fill);
    errno = error;
    return block;
}

static void
give(void *block)
{
    const int error = errno;
    if (!ar_heap_give(block)) {
        ar_say("free: %p is no block of the shared heap, or is free already", block);
        abort();
    }
    errno = error;
}

/* The next realloc cannot move a block to or from the heap. */
static void *
move(void *block, size_t had, size_t bytes)
{
    void *const moved = malloc(bytes);
    if (moved) {
        memcpy(moved, block, had < bytes ? had : bytes);
        free(block);
    }
    return moved;
}

static void *
resize_heap(void *block, size_t bytes)
{
    const size_t had = ar_heap_room(block);
    if (bytes == 0) {
        give(block);
        return NULL;
    }
    return ar_heap_resize(block, bytes) ? block : move(block, had, bytes);
}

/* As glibc's pages and blocks of the heap are. */
static bool
is_aligned(size_t alignment)
{
    return alignment <= 4096 && (alignment & (alignment - 1)) == 0;
}

/* --- malloc(3) --- */

EXPORT void *
malloc(size_t size)
{
    void *const block = take(size, AR_HEAP_ANY);
    return block ? block : has_next() ? next.malloc(size) : take_early(size);
}

EXPORT void *
calloc(size_t nmemb, size_t size)
{
    size_t all;
    const bool is_size = !__builtin_mul_overflow(nmemb, size, &all);
    void *const block = is_size ? take(all, AR_HEAP_ZERO) : NULL;
    return block        ? block
           : has_next() ? next.calloc(nmemb, size)
                        : take_early(is_size ? all : sizeof early);
}

EXPORT void *
realloc(void *ptr, size_t size)
{
    if (!ptr)
        return malloc(size);
    if (ar_heap_holds(ptr))
        return resize_heap(ptr, size);
    if (is_early(ptr))
        return move(ptr, (size_t)(early + sizeof early - (char *)ptr), size);
    /* What has grown large moves to the heap. */
    void *const taken = take(size, AR_HEAP_ANY);
    if (!taken)
        return next.realloc(ptr, size);
    const size_t had = next.malloc_usable_size(ptr);
    memcpy(taken, ptr, had < size ? had : size);
    next.free(ptr);
    return taken;
}

EXPORT void
free(void *ptr)
{
    if (ar_heap_holds(ptr))
        give(ptr);
    else if (ptr && !is_early(ptr) && has_next())
        next.free(ptr);
}

EXPORT void *
aligned_alloc(size_t alignment, size_t size)
{
    void *const block = is_aligned(alignment) ? take(size, AR_HEAP_ANY) : NULL;
    return block ? block : has_next() ? next.aligned_alloc(alignment, size) : NULL;
}

EXPORT void *
memalign(size_t alignment, size_t size)
{
    void *const block = is_aligned(alignment) ? take(size, AR_HEAP_ANY) : NULL;
    return block ? block : has_next() ? next.memalign(alignment, size) : NULL;
}

EXPORT int
posix_memalign(void **memptr, size_t alignment, size_t size)
{
    void *const taken =
        is_aligned(alignment) && alignment >= sizeof(void *) ? take(size, AR_HEAP_ANY) : NULL;
    if (!taken)
        return has_next() ? next.posix_memalign(memptr, alignment, size) : ENOMEM;
    *memptr = taken;
    return 0;
}

EXPORT size_t
malloc_usable_size(void *ptr)
{
    return ar_heap_holds(ptr)                    ? ar_heap_room(ptr)
           : ptr && !is_early(ptr) && has_next() ? next.malloc_usable_size(ptr)
                                                 : 0;
}
