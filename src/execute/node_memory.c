/* The memory of the node executor: borrowed, returned, what fits into it, and how much is fast. */
#include <unistd.h>

#include "cores/levels.h"
#include "execute/cell.h"
#include "execute/node.h"
#include "execute/node_plan.h"

/* Of a chunk that is exchanged, at least: then each message is longer than those whose lines are
 * asked for ahead and taken back. */
#define EXCHANGED_BYTES (4 * AR_SHORT_BYTES)

/* Room for two chunks: most schedules store less than that. */
size_t
ar_node_slot_bytes(size_t chunk_bytes)
{
    return sizeof(struct ar_slot) + 2 * chunk_bytes;
}

static struct ar_node
node_of(const struct ar_piece *piece, int rank, int nranks)
{
    const bool is_crowded = ar_crowd_shares(piece->crowd);
    return (struct ar_node){
        .rank = rank,
        .nranks = nranks,
        .chunk_bytes = (piece->slot_bytes - sizeof(struct ar_slot)) / 2,
        .exchanged_bytes = nranks == 2 ? EXCHANGED_BYTES : 0,
        .sequence = piece->sequence,
        .is_crowded = is_crowded,
        .tuning = ar_node_tune(nranks, is_crowded),
        .piece = *piece,
    };
}

bool
ar_node_init(struct ar_node *node, MPI_Comm comm, int rank, int nranks, struct ar_node_size size)
{
    const struct ar_piece_needs needs = {.kind = size.kind,
                                         .slot_bytes = ar_node_slot_bytes(size.chunk_bytes),
                                         .slots = AR_SLOTS,
                                         .pieces = 1 + size.spare};
    const struct ar_circle all = ar_circle_of(comm, rank, nranks);
    struct ar_piece piece;
    if (!ar_piece_borrow(&piece, &all, &needs))
        return false;
    *node = node_of(&piece, rank, nranks);
    return true;
}

void
ar_node_take(struct ar_node *node, int rank, int nranks, const struct ar_piece_offer *offer)
{
    struct ar_piece piece;
    ar_piece_take(&piece, offer);
    *node = node_of(&piece, rank, nranks);
}

/* A piece that was left in disorder is not lent again. */
void
ar_node_fini(struct ar_node *node)
{
    node->piece.sequence = node->sequence;
    if (!node->failed)
        ar_piece_return(&node->piece);
}

bool
ar_node_takes(const struct ar_node *node, const struct ar_reduction *r)
{
    return ar_cell_takes(r, node->chunk_bytes);
}

bool
ar_node_takes_whole(const struct ar_node *node, const struct ar_reduction *r, size_t count)
{
    return count <= ar_cell_length(r, node->chunk_bytes);
}

/* --- the caches --- */

size_t
ar_second_level_cache(void)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? (size_t)bytes : AR_USUAL_CACHE;
#else
    return AR_USUAL_CACHE;
#endif
}

/* Not by sysconf: glibc tells as one cache what several groups of an EPYC's cores have. */
size_t
ar_third_level_cache(void)
{
    struct ar_cpus cpus;
    const int first = ar_cpus_of_thread(&cpus) ? ar_cpus_next(&cpus, -1) : -1;
    return first < 0 ? 0 : ar_cpu_cache_bytes("", first);
}

struct ar_shm_tuning
ar_node_tune(int nranks, bool is_crowded)
{
    return ar_shm_tune(nranks, ar_second_level_cache(), is_crowded);
}
