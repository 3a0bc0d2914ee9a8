#include "execute/node.h"

#include <stdint.h>
#include <unistd.h>

/* Of a core's cache, where the system does not tell. */
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

/* Bytes of one chunk of every rank, at most.  A rank has 2 * SLOTS chunks, which makes 64 MiB per
 * communicator. */
#define CHUNKS_BYTES ((size_t)8 << 20)

/* A rank's four slots fill half of its core's cache, so that the chunk under way stays there until
 * the others have read it.  Where ranks share cores each chunk costs a turn of all ranks: fewer
 * chunks, twice as long, are better. */
struct ar_node_tuning
ar_node_tune(int nranks, bool is_crowded)
{
    const size_t cache = second_level_cache(), ranks = (size_t)nranks;
    const size_t most = CHUNKS_BYTES / ranks, chunk = is_crowded ? cache / 4 : cache / 8;
    const size_t whole = is_crowded ? 256 << 10 : 8 << 10;
    return (struct ar_node_tuning){
        .chunk_bytes = within(chunk < most ? chunk : most, 32 << 10, 256 << 10),
        .whole_bytes = nranks == 2 && !is_crowded ? SIZE_MAX : whole / ranks,
    };
}
