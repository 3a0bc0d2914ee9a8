#include "execute/tuning.h"

#include <stdint.h>
#include <unistd.h>

/* Where the system does not tell. */
#define USUAL_CACHE ((size_t)512 << 10)

static size_t
second_level_cache(void)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? (size_t)bytes : USUAL_CACHE;
#else
    return USUAL_CACHE;
#endif
}

static size_t
within(size_t bytes, size_t least, size_t most)
{
    const size_t cut = bytes < least ? least : bytes > most ? most : bytes;
    return cut / 64 * 64;
}

/* What the long memory of a communicator comes to at most, in chunks: SLOTS * 2 of them a
 * rank, 64 MiB in all. */
#define CHUNKS_BYTES ((size_t)8 << 20)

static size_t
lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A rank's four slots fill half of its core's cache: the chunk under way stays there
 * until the others have read it.  Where ranks share cores a chunk costs a turn of all
 * ranks, so that few are better: twice as long. */
struct ar_node_tuning
ar_node_tune(int nranks, bool is_crowded)
{
    const size_t cache = second_level_cache(), ranks = (size_t)nranks;
    const size_t chunk = lesser(is_crowded ? cache / 4 : cache / 8, CHUNKS_BYTES / ranks);
    const size_t whole = is_crowded ? 256 << 10 : 8 << 10;
    return (struct ar_node_tuning){
        .chunk_bytes = within(chunk, 32 << 10, 256 << 10),
        .whole_bytes = nranks == 2 && !is_crowded ? SIZE_MAX : whole / ranks,
    };
}
