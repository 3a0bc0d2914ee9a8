/* Layout of the shared memory: for each of SLOTS turns and each rank a slot: a
 * header line with sequence numbers, then the data.  The data of a tiny message
 * stands in the header's own cache line, so that one line carries it all.
 *
 * Every chunk of every call has a sequence number, from 1, the same on all ranks;
 * chunk s uses slot s % SLOTS.  A rank stores `published` = s when its
 * contribution to chunk s is in its slot, and `reduced` = s when its slice of the
 * result is.  A slot may be overwritten for chunk s once all ranks have done with
 * chunk s - SLOTS; why that is known without further messages is said where it is
 * used.
 */
#include <config.h>

#include "execute/node.h"

#include <stdatomic.h>
#include <stdint.h>

#include "schedule/schedule.h"

#define SLOTS      4
#define LINE       ((size_t)64)
#define TINY_BYTES ((size_t)48)

struct slot {
    _Alignas(64) _Atomic uint64_t published;
    uint64_t pad;
    char tiny[TINY_BYTES];
    _Alignas(64) _Atomic uint64_t reduced;
    _Alignas(64) char data[]; /* a contribution, then a result: chunk_bytes each */
};

/* --- set-up --- */

static size_t
slot_bytes(size_t chunk_bytes)
{
    return sizeof(struct slot) + 2 * chunk_bytes;
}

size_t
ar_node_memory_bytes(int nranks, size_t chunk_bytes)
{
    return SLOTS * (size_t)nranks * slot_bytes(chunk_bytes);
}

bool
ar_node_init(struct ar_node *node, MPI_Comm comm, int rank, int nranks, struct ar_node_size size)
{
    const struct ar_block_wish wish = {size.kind, slot_bytes(size.chunk_bytes), SLOTS,
                                       1 + size.spare};
    struct ar_node made = {.rank = rank, .nranks = nranks};
    if (!ar_block_borrow(&made.block, comm, rank, nranks, &wish))
        return false;
    made.chunk_bytes = (made.block.slot_bytes - sizeof(struct slot)) / 2;
    made.sequence = made.block.sequence;
    *node = made;
    return true;
}

/* A block in disorder is nobody's any more. */
void
ar_node_fini(struct ar_node *node)
{
    node->block.sequence = node->sequence;
    if (!node->failed)
        ar_block_return(&node->block);
}

/* --- waiting --- */

static struct slot *
slot_of(const struct ar_node *node, uint64_t sequence, int rank)
{
    const struct ar_block *block = &node->block;
    const size_t i = (size_t)(sequence % SLOTS) * (size_t)block->stride + (size_t)rank;
    return (struct slot *)(void *)(block->slots + i * block->slot_bytes);
}

#define POLLS_PER_PROBE 16

/* Until *flag is at least sequence.  What the rank that stored it wrote before is
 * then visible here.  MPI must go on meanwhile: a legal program may have a
 * message under way that the awaited rank needs first. */
static int
await(const struct ar_node_run *run, const _Atomic uint64_t *flag, uint64_t sequence)
{
    struct ar_idle idle = {run->waited_ticks, 0};
    unsigned polls = 0;
    int error = MPI_SUCCESS, found;
    for (unsigned i = 0; !error; i++) {
        /* Pairs with the release in publish(), publish_slices() or combine_slice(). */
        const bool come = atomic_load_explicit(flag, memory_order_acquire) >= sequence;
        ar_idle_look(&idle, !come);
        if (come)
            return MPI_SUCCESS;
        if (run->wait.spins > 0 && i % POLLS_PER_PROBE != POLLS_PER_PROBE - 1) {
            ar_wait_relax();
            continue;
        }
        error = PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, run->comm, &found, MPI_STATUS_IGNORE);
        ar_wait_pause(run->wait, &polls);
    }
    return error;
}

/* --- the phases of a chunk --- */

struct chunk {
    uint64_t sequence;
    size_t from; /* first element, of the call's */
    size_t length;
};

static ptrdiff_t
bytes_of(const struct ar_node_run *run, size_t elements)
{
    return (ptrdiff_t)elements * run->reduction->extent;
}

/* Where the contribution to a chunk stands in a slot. */
static char *
data_of(const struct ar_node_run *run, struct slot *slot, size_t length)
{
    const bool tiny = run->reduction->dense && length * run->reduction->size <= TINY_BYTES;
    return ar_reduction_base(run->reduction, tiny ? slot->tiny : slot->data);
}

static struct ar_span
slice_of(const struct ar_node *node, struct chunk chunk, int rank)
{
    return ar_block((struct ar_cut){chunk.length, node->nranks}, rank);
}

/* Copies a span of the chunk into the slot, for others to read. */
static int
put(const struct ar_node_run *run, struct slot *mine, struct chunk chunk, struct ar_span span)
{
    if (span.length == 0)
        return MPI_SUCCESS;
    return ar_reduction_copy(run->reduction,
                             data_of(run, mine, chunk.length) + bytes_of(run, span.offset),
                             run->in + bytes_of(run, chunk.from + span.offset), span.length);
}

static int
publish(const struct ar_node_run *run, struct chunk chunk)
{
    struct slot *mine = slot_of(run->node, chunk.sequence, run->node->rank);
    int error = put(run, mine, chunk, ar_whole(chunk.length));
    /* Pairs with the acquire in await(). */
    atomic_store_explicit(&mine->published, chunk.sequence, memory_order_release);
    return error;
}

/* All but the slice that nobody else reads. */
static int
publish_slices(const struct ar_node_run *run, struct chunk chunk)
{
    struct slot *mine = slot_of(run->node, chunk.sequence, run->node->rank);
    const struct ar_span own = slice_of(run->node, chunk, run->node->rank);
    const size_t end = own.offset + own.length;
    int error = put(run, mine, chunk, (struct ar_span){0, own.offset});
    if (!error)
        error = put(run, mine, chunk, (struct ar_span){end, chunk.length - end});
    /* Pairs with the acquire in await(). */
    atomic_store_explicit(&mine->published, chunk.sequence, memory_order_release);
    return error;
}

/* dst = the span of all contributions to the chunk, from the last rank's to the
 * first's; this rank's own is at own, which dst does not overlap. */
static int
combine(const struct ar_node_run *run, struct chunk chunk, struct ar_span span, char *dst,
        const char *own)
{
    const struct ar_node *node = run->node;
    char *right = NULL;
    int error = MPI_SUCCESS;
    for (int i = node->nranks - 1; i >= 0 && !error; i--) {
        struct slot *slot = slot_of(node, chunk.sequence, i);
        char *operand = data_of(run, slot, chunk.length) + bytes_of(run, span.offset);
        if (i == node->rank)
            operand = (char *)own; /* read only: dst is neither operand's first */
        else
            error = await(run, &slot->published, chunk.sequence);
        if (!error && right)
            error = ar_reduction_apply(run->reduction, dst, operand, right, span.length);
        right = right ? dst : operand;
    }
    return error;
}

/* Each rank combines the whole chunk. */
static int
combine_whole(const struct ar_node_run *run, struct chunk chunk)
{
    const struct ar_node *node = run->node;
    char *out = run->out + bytes_of(run, chunk.from);
    const char *own = run->in + bytes_of(run, chunk.from);
    if (own == out)
        own = data_of(run, slot_of(node, chunk.sequence, node->rank), chunk.length);
    return combine(run, chunk, ar_whole(chunk.length), out, own);
}

static int
combine_slice(const struct ar_node_run *run, struct chunk chunk)
{
    const struct ar_node *node = run->node;
    struct slot *mine = slot_of(node, chunk.sequence, node->rank);
    const struct ar_span slice = slice_of(node, chunk, node->rank);
    int error = MPI_SUCCESS;
    if (slice.length > 0)
        error = combine(run, chunk, slice,
                        ar_reduction_base(run->reduction, mine->data + node->chunk_bytes),
                        run->in + bytes_of(run, chunk.from + slice.offset));
    /* Pairs with the acquire in await(). */
    atomic_store_explicit(&mine->reduced, chunk.sequence, memory_order_release);
    return error;
}

/* Fetches all slices of the result, its own first: that needs no waiting. */
static int
collect(const struct ar_node_run *run, struct chunk chunk)
{
    const struct ar_node *node = run->node;
    int error = MPI_SUCCESS;
    for (int i = 0; i < node->nranks && !error; i++) {
        const int other = (node->rank + i) % node->nranks;
        struct slot *slot = slot_of(node, chunk.sequence, other);
        const struct ar_span slice = slice_of(node, chunk, other);
        error = await(run, &slot->reduced, chunk.sequence);
        if (!error && slice.length > 0)
            error = ar_reduction_copy(
                run->reduction, run->out + bytes_of(run, chunk.from + slice.offset),
                ar_reduction_base(run->reduction, slot->data + node->chunk_bytes), slice.length);
    }
    return error;
}

/* --- a call --- */

static struct chunk
chunk_at(const struct ar_node_run *run, size_t length, size_t k)
{
    const size_t from = k * length, rest = run->count - from;
    return (struct chunk){run->node->sequence + 1 + k, from, rest < length ? rest : length};
}

/* Chunk k is published before chunk k-1 is combined, so that ranks seldom wait.
 * Combining k-1 saw all ranks publish it, which they do having combined k-3: so
 * slot k+1, last used for k-3, is free. */
static int
exchange_whole(const struct ar_node_run *run, size_t length, size_t chunks)
{
    int error = MPI_SUCCESS;
    for (size_t k = 0; k <= chunks && !error; k++) {
        if (k < chunks)
            error = publish(run, chunk_at(run, length, k));
        if (k >= 1 && !error)
            error = combine_whole(run, chunk_at(run, length, k - 1));
    }
    return error;
}

/* Chunk k is published, k-1 combined, k-2 collected.  Collecting k-2 saw all ranks
 * combine it: so the contribution of k-2 may be overwritten from then on.  A
 * result is overwritten SLOTS chunks later, by a combination that saw all ranks
 * publish that chunk, which they do having collected the one 3 before. */
static int
exchange_slices(const struct ar_node_run *run, size_t length, size_t chunks)
{
    int error = MPI_SUCCESS;
    for (size_t k = 0; k < chunks + 2 && !error; k++) {
        if (k < chunks)
            error = publish_slices(run, chunk_at(run, length, k));
        if (k >= 1 && k - 1 < chunks && !error)
            error = combine_slice(run, chunk_at(run, length, k - 1));
        if (k >= 2 && !error)
            error = collect(run, chunk_at(run, length, k - 2));
    }
    return error;
}

/* Bytes up to which everybody combining everything is faster than slices, by
 * number of ranks: measured, see doc/performance.md. */
static size_t
whole_bytes_max(int nranks)
{
    return nranks == 2 ? SIZE_MAX : 8192 / (size_t)nranks;
}

/* Elements that fit into a slot. */
static size_t
chunk_length(const struct ar_reduction *r, size_t chunk_bytes)
{
    const size_t extent = r->extent > 0 ? (size_t)r->extent : 1;
    return 1 + (chunk_bytes - ar_reduction_room_bytes(r, 1)) / extent;
}

int
ar_node_allreduce(const struct ar_node_run *run)
{
    const struct ar_reduction *r = run->reduction;
    const size_t fits = chunk_length(r, run->node->chunk_bytes);
    const size_t length = run->count < fits ? run->count : fits;
    const size_t chunks = (run->count + length - 1) / length;
    int error;
    if (run->count * r->size <= whole_bytes_max(run->node->nranks))
        error = exchange_whole(run, length, chunks);
    else
        error = exchange_slices(run, length, chunks);
    run->node->sequence += chunks;
    run->node->failed |= error != MPI_SUCCESS;
    return error;
}
