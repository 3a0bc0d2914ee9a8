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
 *
 * Each flag is raised by the slot's own rank alone, with release, and read with acquire.  published
 * releases the contribution, and all that its rank read before; reduced releases the slice.
 * test/mpi/test_protocol.c proves for up to 9 ranks that no other order is needed, and that three
 * slots would not do.
 */
#include <config.h>

#include "execute/node.h"

#include <stdint.h>

#include "execute/cell.h"
#include "schedule/schedule.h"

#define SLOTS      4
#define LINE       ((size_t)64)
#define TINY_BYTES ((size_t)48)

struct slot {
    _Alignas(64) struct ar_flag published;
    char tiny[TINY_BYTES];
    _Alignas(64) struct ar_flag reduced;
    _Alignas(64) char data[]; /* a contribution, then a result: chunk_bytes each */
};

/* --- set-up --- */

size_t
ar_node_slot_bytes(size_t chunk_bytes)
{
    return sizeof(struct slot) + 2 * chunk_bytes;
}

bool
ar_node_init(struct ar_node *node, MPI_Comm comm, int rank, int nranks, struct ar_node_size size)
{
    const struct ar_piece_needs needs = {.kind = size.kind,
                                         .slot_bytes = ar_node_slot_bytes(size.chunk_bytes),
                                         .slots = SLOTS,
                                         .pieces = 1 + size.spare,
                                         .neighbours = size.neighbours};
    struct ar_node made = {.rank = rank, .nranks = nranks};
    if (!ar_piece_borrow(&made.piece, comm, rank, nranks, &needs))
        return false;
    made.chunk_bytes = (made.piece.slot_bytes - sizeof(struct slot)) / 2;
    made.sequence = made.piece.sequence;
    made.is_crowded = made.piece.ranks > made.piece.cpus;
    made.whole_bytes = ar_node_tune(nranks, made.is_crowded).whole_bytes;
    *node = made;
    return true;
}

/* A piece that was left in disorder is not lent again. */
void
ar_node_fini(struct ar_node *node)
{
    node->piece.sequence = node->sequence;
    if (!node->failed)
        ar_piece_return(&node->piece);
}

/* --- waiting --- */

static struct slot *
slot_of(const struct ar_node *node, uint64_t sequence, int rank)
{
    const struct ar_piece *piece = &node->piece;
    const size_t i = (size_t)(sequence % SLOTS) * (size_t)piece->stride + (size_t)rank;
    return (struct slot *)(void *)(piece->slots + i * piece->slot_bytes);
}

/* How far a rank is with a chunk. */
enum stage { PUBLISHED, REDUCED, STAGES };

static struct ar_flag *
flag_of(struct slot *slot, enum stage stage)
{
    return stage == PUBLISHED ? &slot->published : &slot->reduced;
}

#define POLLS_PER_PROBE 16

/* Waits until the slot's flag for the stage is at least sequence.  MPI must go on meanwhile: a
 * legal program may have a message under way that the awaited rank needs first. */
static int
await(const struct ar_node_run *run, struct slot *slot, enum stage stage, uint64_t sequence)
{
    struct ar_flag *const flag = flag_of(slot, stage);
    struct ar_idle idle = {run->waited_ticks, 0};
    unsigned polls = 0;
    int error = MPI_SUCCESS, found;
    for (unsigned i = 0; !error; i++) {
        const uint64_t value = ar_flag_read(flag);
        ar_idle_look(&idle, value < sequence);
        if (value >= sequence)
            return MPI_SUCCESS;
        const bool probes = i % POLLS_PER_PROBE == POLLS_PER_PROBE - 1;
        if (run->wait.spins > 0 && !probes) {
            ar_wait_relax();
            continue;
        }
        const bool sleeps = ar_wait_pause(run->wait, &polls);
        if (!probes && !sleeps)
            continue;
        /* Read by ar_node_awaited(), which has time. */
        __atomic_store_n(&run->node->awaited, sequence * STAGES + stage, __ATOMIC_RELAXED);
        error = PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, run->comm, &found, MPI_STATUS_IGNORE);
        if (sleeps)
            ar_flag_sleep(flag, value);
    }
    return error;
}

/* --- chunks --- */

bool
ar_node_takes(const struct ar_node *node, const struct ar_reduction *r)
{
    return ar_cell_takes(r, node->chunk_bytes);
}

/* Elements of a chunk. */
static size_t
chunk_length(const struct ar_node_run *run)
{
    const size_t fits = ar_cell_length(run->reduction, run->node->chunk_bytes);
    const size_t length = run->segment < fits ? run->segment : fits;
    return length == 0 ? 1 : length < run->count ? length : run->count;
}

static size_t
round_up(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

bool
ar_node_takes_whole(const struct ar_node *node, const struct ar_reduction *r, size_t count)
{
    return count <= ar_cell_length(r, node->chunk_bytes);
}

#define PART_BYTES ((size_t)32768)

/* Elements of a derived type go through the scratch so many at a time: as many as fit into
 * PART_BYTES in this rank's layout, at least one; or all of them (whole). */
static size_t
part_length(const struct ar_reduction *r, size_t whole)
{
    if (whole > 0)
        return whole;
    const size_t first = ar_reduction_room_bytes(r, 1);
    if (first >= PART_BYTES || r->extent == 0)
        return 1;
    return 1 + (PART_BYTES - first) / (size_t)(r->extent < 0 ? -r->extent : r->extent);
}

static size_t
place_bytes(const struct ar_reduction *r, size_t whole)
{
    return round_up(ar_reduction_room_bytes(r, part_length(r, whole)));
}

size_t
ar_node_scratch_bytes(const struct ar_reduction *r, size_t whole)
{
    return r->basic ? 0 : 2 * place_bytes(r, whole);
}

/* --- elements in slots --- */

/* See cell.h; what stands packed is unpacked into the rank's scratch before it is combined. */

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
    const struct ar_reduction *r = run->reduction;
    const bool is_packed = r->dense || !r->basic;
    return is_packed && length * r->size <= TINY_BYTES ? slot->tiny : slot->data;
}

static char *
result_of(const struct ar_node_run *run, struct slot *slot)
{
    return slot->data + run->node->chunk_bytes;
}

static size_t
whole_of(const struct ar_node_run *run)
{
    return run->whole ? run->count : 0;
}

/* In the scratch: place 0 for an operand, place 1 for a result, a part of a span each. */
static char *
scratch_of(const struct ar_node_run *run, size_t place)
{
    const struct ar_reduction *r = run->reduction;
    return ar_reduction_base(r, run->scratch + place * place_bytes(r, whole_of(run)),
                             part_length(r, whole_of(run)));
}

/* --- the phases of a chunk --- */

static struct ar_span
slice_of(const struct ar_node *node, struct chunk chunk, int rank)
{
    return ar_block((struct ar_cut){chunk.length, node->nranks}, rank);
}

/* Writes a span of the chunk into the slot, for others to read. */
static int
put(const struct ar_node_run *run, struct slot *mine, struct chunk chunk, struct ar_span span)
{
    if (span.length == 0)
        return MPI_SUCCESS;
    return ar_cell_store(run->reduction,
                         ar_cell_at(run->reduction, data_of(run, mine, chunk.length), span.offset),
                         run->in + bytes_of(run, chunk.from + span.offset), span.length);
}

static int
publish(const struct ar_node_run *run, struct chunk chunk)
{
    struct slot *mine = slot_of(run->node, chunk.sequence, run->node->rank);
    int error = put(run, mine, chunk, ar_whole(chunk.length));
    ar_flag_raise(&mine->published, chunk.sequence, run->wait);
    return error;
}

/* Publishes all but the slice that nobody else reads. */
static int
publish_slices(const struct ar_node_run *run, struct chunk chunk)
{
    struct slot *mine = slot_of(run->node, chunk.sequence, run->node->rank);
    const struct ar_span own = slice_of(run->node, chunk, run->node->rank);
    const size_t end = own.offset + own.length;
    int error = put(run, mine, chunk, (struct ar_span){0, own.offset});
    if (!error)
        error = put(run, mine, chunk, (struct ar_span){end, chunk.length - end});
    ar_flag_raise(&mine->published, chunk.sequence, run->wait);
    return error;
}

/* *operand: rank i's contribution to the span, once it is there. */
static int
take_operand(const struct ar_node_run *run, struct chunk chunk, struct ar_span span, int i,
             char **operand)
{
    struct slot *slot = slot_of(run->node, chunk.sequence, i);
    char *data = ar_cell_at(run->reduction, data_of(run, slot, chunk.length), span.offset);
    int error = await(run, slot, PUBLISHED, chunk.sequence);
    *operand = run->reduction->basic ? data : scratch_of(run, 0);
    return error ? error
                 : ar_cell_fetch(run->reduction, *operand, data,
                                 run->reduction->basic ? 0 : span.length);
}

/* Where a rank finds its own contribution.  Its slot has it too, except for the slice that nobody
 * else reads. */
enum own_place { OWN_IN_BUFFER, OWN_IN_SLOT };

/* dst = the span of all contributions to the chunk, from the last rank's to the
 * first's; dst does not overlap this rank's own. */
static int
combine(const struct ar_node_run *run, struct chunk chunk, struct ar_span span, char *dst,
        enum own_place own)
{
    const struct ar_reduction *r = run->reduction;
    const int last = run->node->nranks - 1;
    char *right = dst;
    int error = MPI_SUCCESS;
    for (int i = last; i >= 0 && !error; i--) {
        char *operand = (char *)run->in + bytes_of(run, chunk.from + span.offset); /* read only */
        if (i != run->node->rank || own == OWN_IN_SLOT)
            error = take_operand(run, chunk, span, i, &operand);
        if (!error && i < last)
            error = ar_reduction_apply(r, dst, operand, right, span.length);
        else if (!error && !r->basic)
            error = ar_reduction_copy(r, dst, operand, span.length); /* scratch is needed again */
        right = i == last && r->basic ? operand : dst;
    }
    return error;
}

/* The part of a span from its element `from` on that is combined at once: the rest of the span
 * where no scratch is needed. */
static struct ar_span
part_of(const struct ar_node_run *run, struct ar_span span, size_t from)
{
    const size_t rest = span.length - from, most = part_length(run->reduction, whole_of(run));
    return (struct ar_span){span.offset + from, run->reduction->basic || rest < most ? rest : most};
}

/* Each rank combines the whole chunk. */
static int
combine_whole(const struct ar_node_run *run, struct chunk chunk)
{
    const struct ar_span all = ar_whole(chunk.length);
    int error = MPI_SUCCESS;
    for (size_t done = 0; done < all.length && !error;) {
        const struct ar_span part = part_of(run, all, done);
        char *out = run->out + bytes_of(run, chunk.from + part.offset);
        error = combine(run, chunk, part, out, run->in == run->out ? OWN_IN_SLOT : OWN_IN_BUFFER);
        done += part.length;
    }
    return error;
}

/* Each rank combines its slice of the chunk, for others to fetch. */
static int
combine_slice(const struct ar_node_run *run, struct chunk chunk)
{
    const struct ar_node *node = run->node;
    const struct ar_reduction *r = run->reduction;
    struct slot *mine = slot_of(node, chunk.sequence, node->rank);
    const struct ar_span slice = slice_of(node, chunk, node->rank);
    int error = MPI_SUCCESS;
    /* Combining waits for all ranks.  Without a slice this one waits, too: it would run ahead. */
    for (int i = 0; i < node->nranks && slice.length == 0 && !error; i++)
        if (i != node->rank)
            error = await(run, slot_of(node, chunk.sequence, i), PUBLISHED, chunk.sequence);
    for (size_t done = 0; done < slice.length && !error;) {
        const struct ar_span part = part_of(run, slice, done);
        char *const to = ar_cell_at(r, result_of(run, mine), done);
        char *const dst = r->basic ? to : scratch_of(run, 1);
        error = combine(run, chunk, part, dst, OWN_IN_BUFFER);
        if (!error && dst != to)
            error = ar_cell_store(r, to, dst, part.length);
        done += part.length;
    }
    ar_flag_raise(&mine->reduced, chunk.sequence, run->wait);
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
        error = await(run, slot, REDUCED, chunk.sequence);
        if (!error && slice.length > 0)
            error =
                ar_cell_fetch(run->reduction, run->out + bytes_of(run, chunk.from + slice.offset),
                              ar_cell_at(run->reduction, result_of(run, slot), 0), slice.length);
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
 * publish that chunk, which they do having collected the one 3 before.
 *
 * Behind a call in the short form the third chunk overwrites what a rank may still
 * read that combines the last but one of that call.  Combining the first chunk saw
 * all ranks publish that, and so come out of the call before. */
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

int
ar_node_allreduce(const struct ar_node_run *run)
{
    struct ar_node *node = run->node;
    const size_t length = chunk_length(run), chunks = (run->count + length - 1) / length;
    const size_t whole = run->whole_bytes > 0 ? run->whole_bytes : node->whole_bytes;
    int error;
    if (run->count * run->reduction->size <= whole)
        error = exchange_whole(run, length, chunks);
    else
        error = exchange_slices(run, length, chunks);
    node->sequence += chunks;
    node->failed |= error != MPI_SUCCESS;
    return error;
}

/* --- for another thread --- */

/* The last chunk that the rank has published; its slots hold the last SLOTS of them. */
static uint64_t
last_published(const struct ar_node *node, int rank)
{
    uint64_t last = 0;
    for (uint64_t turn = 0; turn < SLOTS; turn++) {
        const uint64_t sequence = ar_flag_read(&slot_of(node, turn, rank)->published);
        last = sequence > last ? sequence : last;
    }
    return last;
}

void
ar_node_awaited(const struct ar_node_run *run, unsigned char *marks)
{
    const struct ar_node *node = run->node;
    const uint64_t awaited = __atomic_load_n(&node->awaited, __ATOMIC_RELAXED);
    const uint64_t sequence = awaited / STAGES;
    const enum stage stage = (enum stage)(awaited % STAGES);
    const uint64_t before = __atomic_load_n(&node->sequence, __ATOMIC_RELAXED);
    for (int i = 0; i < node->nranks; i++) {
        struct slot *slot = slot_of(node, sequence, i);
        if (i == node->rank || ar_flag_read(flag_of(slot, stage)) >= sequence)
            continue;
        marks[i] |= AR_AWAITED_GIVING;
        if (last_published(node, i) <= before)
            marks[i] |= AR_AWAITED_COMING;
    }
}
