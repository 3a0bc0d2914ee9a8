/* A queue has CELLS cells and two flags, each of which counts cells, on and on: cell number n is in
 * place n % CELLS.  Each flag is raised by one rank alone, with release, and read with acquire:
 *
 *   flag   raised by     when it has      read by       which may then
 *   sent   the sender    stored a cell    the receiver  read and overwrite this cell
 *   taken  the receiver  done with a cell the sender    store the cell CELLS after this one
 *
 * So sent releases the sender's stores into the cell.  taken releases the receiver's loads from the
 * cell, and the stores of a reduction that had it as its right operand.  Between the two flags a
 * cell belongs to one rank.  Nothing else of a queue is shared: each end counts messages and cells
 * in its own memory, and an old value of a flag is only a reason to look again.
 *
 * A communicator may get a queue that was another one's.  Its two flags have the same value: each
 * message that was begun was also received, or else the piece is not lent again.  At first each
 * rank reads only the flags that it will raise itself.  The piece (arena.c) and the message that
 * lends it put the last users' accesses before ours.
 *
 * test/mpi/test_channel.c proves it. */
#include "execute/channel.h"

#include <stdlib.h>

#include "execute/cell.h"
#include "execute/progress.h"
#include "execute/wait.h"

#define CELLS 2

/* All queues of a communicator take at most QUEUES_BYTES in sum, or it has no channel. */
#define QUEUES_BYTES ((size_t)8 << 20)
#define LEAST_CELL   ((size_t)2048)
#define MOST_CELL    ((size_t)32768)

/* In shared memory: the cells from one rank to another, for messages of one tag. */
struct queue {
    _Alignas(64) struct ar_flag sent;  /* by the sender */
    _Alignas(64) struct ar_flag taken; /* by the receiver */
    _Alignas(64) char cells[];
};

static size_t
cell_bytes_for(int nranks)
{
    const size_t queues = (size_t)nranks * (size_t)nranks * AR_CHANNEL_QUEUES;
    const size_t bytes = QUEUES_BYTES / queues / CELLS / 64 * 64;
    return bytes < MOST_CELL ? bytes : MOST_CELL;
}

bool
ar_channel_serves(int nranks)
{
    return cell_bytes_for(nranks) >= LEAST_CELL;
}

static struct queue *
queue_of(const struct ar_channel *c, int tag, int from, int to)
{
    const struct ar_piece *b = &c->piece;
    const size_t i = (size_t)(tag * b->stride + to) * (size_t)b->stride + (size_t)from;
    return (struct queue *)(void *)(b->slots + i * b->slot_bytes);
}

static struct ar_queue_end *
end_of(const struct ar_channel *c, int tag, int peer)
{
    return &c->ends[tag * c->nranks + peer];
}

size_t
ar_channel_slot_bytes(size_t cell_bytes)
{
    return sizeof(struct queue) + CELLS * cell_bytes;
}

bool
ar_channel_init(struct ar_channel *channel, const struct ar_circle *circle, int kind)
{
    const int rank = circle->rank, nranks = circle->n;
    const size_t cell_bytes = cell_bytes_for(nranks);
    const struct ar_piece_needs needs = {.kind = kind,
                                         .slot_bytes = ar_channel_slot_bytes(cell_bytes),
                                         .slots = AR_CHANNEL_QUEUES * nranks,
                                         .pieces = 1,
                                         .is_optional = true};
    struct ar_channel made = {.rank = rank, .nranks = nranks};
    made.ends = calloc(AR_CHANNEL_QUEUES * (size_t)nranks, sizeof *made.ends);
    if (!ar_circle_all(circle, made.ends) || !ar_piece_borrow(&made.piece, circle, &needs)) {
        free(made.ends);
        return false;
    }
    made.cell_bytes = (made.piece.slot_bytes - sizeof(struct queue)) / CELLS;
    /* Whoever had the piece before us left all queues empty. */
    for (int tag = 0; tag < AR_CHANNEL_QUEUES; tag++)
        for (int peer = 0; peer < nranks; peer++) {
            struct ar_queue_end *end = end_of(&made, tag, peer);
            end->sent = ar_flag_read(&queue_of(&made, tag, rank, peer)->sent);
            end->taken = ar_flag_read(&queue_of(&made, tag, peer, rank)->taken);
        }
    *channel = made;
    return true;
}

void
ar_channel_fini(struct ar_channel *channel)
{
    if (!channel->failed)
        ar_piece_return(&channel->piece);
    free(channel->ends);
}

bool
ar_channel_takes(const struct ar_channel *channel, const struct ar_reduction *r)
{
    return ar_cell_takes(r, channel->cell_bytes);
}

void
ar_channel_begin(struct ar_channel *channel, struct ar_transfer *transfer)
{
    struct ar_queue_end *end = end_of(channel, transfer->tag, transfer->peer);
    transfer->done = 0;
    transfer->turn =
        transfer->kind == AR_TRANSFER_SEND ? end->sends_begun++ : end->receives_begun++;
}

/* The first element in a cell. */
static char *
cell_of(const struct ar_channel *c, const struct ar_reduction *r, struct queue *queue,
        uint64_t number)
{
    return queue->cells + (number % CELLS) * c->cell_bytes + ar_cell_offset(r, 0);
}

static ptrdiff_t
bytes_done(const struct ar_transfer *t, const struct ar_reduction *r)
{
    return (ptrdiff_t)t->done * r->extent;
}

static int
move_send(const struct ar_channel *c, const struct ar_reduction *r, struct ar_transfer *t)
{
    struct queue *queue = queue_of(c, t->tag, c->rank, t->peer);
    struct ar_queue_end *end = end_of(c, t->tag, t->peer);
    const size_t most = ar_cell_length(r, c->cell_bytes);
    int error = MPI_SUCCESS;
    if (t->turn != end->sends_ended)
        return MPI_SUCCESS;
    while (t->done < t->length && !error && end->sent - ar_flag_read(&queue->taken) < CELLS) {
        const size_t rest = t->length - t->done, n = rest < most ? rest : most;
        char *const cell = cell_of(c, r, queue, end->sent);
        const char *const from = t->from + bytes_done(t, r);
        error = c->streams ? ar_cell_stream(r, cell, from, n) : ar_cell_store(r, cell, from, n);
        t->done += n;
        ar_flag_raise(&queue->sent, ++end->sent, (struct ar_wait){.yields = AR_WAIT_FOREVER});
    }
    end->sends_ended += t->done == t->length;
    return error;
}

static int
move_receive(const struct ar_channel *c, const struct ar_reduction *r, struct ar_transfer *t)
{
    struct queue *queue = queue_of(c, t->tag, t->peer, c->rank);
    struct ar_queue_end *end = end_of(c, t->tag, t->peer);
    const size_t most = ar_cell_length(r, c->cell_bytes);
    int error = MPI_SUCCESS;
    if (t->turn != end->receives_ended)
        return MPI_SUCCESS;
    while (t->done < t->length && !error && ar_flag_read(&queue->sent) != end->taken) {
        const size_t rest = t->length - t->done, n = rest < most ? rest : most;
        char *came = cell_of(c, r, queue, end->taken);
        if (t->kind == AR_TRANSFER_FOLD)
            error = ar_fold(r, t->order, t->to + bytes_done(t, r),
                            (char *)t->from + bytes_done(t, r), came, n);
        else
            error = ar_cell_fetch(r, t->to + bytes_done(t, r), came, n);
        t->done += n;
        ar_flag_raise(&queue->taken, ++end->taken, (struct ar_wait){.yields = AR_WAIT_FOREVER});
    }
    end->receives_ended += t->done == t->length;
    return error;
}

#define POLLS_PER_PROBE 16

int
ar_channel_poll(struct ar_channel *channel, const struct ar_reduction *r,
                struct ar_transfer *transfers, int n, MPI_Comm comm, int *found, int *completed)
{
    int error = MPI_SUCCESS;
    *found = 0;
    for (int i = 0; i < n && !error; i++) {
        struct ar_transfer *t = &transfers[i];
        if (t->kind == AR_TRANSFER_NONE)
            continue;
        error =
            t->kind == AR_TRANSFER_SEND ? move_send(channel, r, t) : move_receive(channel, r, t);
        if (t->done < t->length)
            continue;
        /* Another thread reads it, in ar_p2p_awaited(). */
        __atomic_store_n(&t->kind, AR_TRANSFER_NONE, __ATOMIC_RELAXED);
        completed[(*found)++] = i;
    }
    if (!error && *found == 0 && channel->polls++ % POLLS_PER_PROBE == 0)
        error = ar_progress(comm);
    return error;
}
