#include "execute/channel.h"

#include <stdlib.h>

#include "execute/cell.h"
#include "execute/group.h"
#include "execute/wait.h"

#define CELLS 2

/* All lanes of a communicator take at most LANES_BYTES, or there are none. */
#define LANES_BYTES ((size_t)8 << 20)
#define LEAST_CELL  ((size_t)2048)
#define MOST_CELL   ((size_t)32768)

/* In shared memory: from one rank to another, of one tag. */
struct lane {
    _Alignas(64) struct ar_flag sent;  /* by the sender */
    _Alignas(64) struct ar_flag taken; /* by the receiver */
    _Alignas(64) char cells[];
};

static size_t
cell_bytes_for(int nranks)
{
    const size_t lanes = (size_t)nranks * (size_t)nranks * AR_CHANNEL_LANES;
    const size_t bytes = LANES_BYTES / lanes / CELLS / 64 * 64;
    return bytes < MOST_CELL ? bytes : MOST_CELL;
}

bool
ar_channel_serves(int nranks)
{
    return cell_bytes_for(nranks) >= LEAST_CELL;
}

static struct lane *
lane_of(const struct ar_channel *c, int tag, int from, int to)
{
    const struct ar_piece *b = &c->piece;
    const size_t i = (size_t)(tag * b->stride + to) * (size_t)b->stride + (size_t)from;
    return (struct lane *)(void *)(b->slots + i * b->slot_bytes);
}

static struct ar_lane *
end_of(const struct ar_channel *c, int tag, int peer)
{
    return &c->lanes[tag * c->nranks + peer];
}

/* Whoever had the piece before us left all lanes empty. */
static void
look_where_lanes_stand(struct ar_channel *c)
{
    for (int tag = 0; tag < AR_CHANNEL_LANES; tag++)
        for (int peer = 0; peer < c->nranks; peer++) {
            struct ar_lane *end = end_of(c, tag, peer);
            end->sent = ar_flag_read(&lane_of(c, tag, c->rank, peer)->sent);
            end->taken = ar_flag_read(&lane_of(c, tag, peer, c->rank)->taken);
        }
}

bool
ar_channel_init(struct ar_channel *channel, MPI_Comm comm, int rank, int nranks, int kind)
{
    const size_t cell_bytes = cell_bytes_for(nranks);
    const struct ar_piece_wish wish = {.kind = kind,
                                       .slot_bytes = sizeof(struct lane) + CELLS * cell_bytes,
                                       .slots = AR_CHANNEL_LANES * nranks,
                                       .pieces = 1,
                                       .is_optional = true};
    struct ar_channel made = {.rank = rank, .nranks = nranks};
    made.lanes = calloc(AR_CHANNEL_LANES * (size_t)nranks, sizeof *made.lanes);
    if (!ar_all(comm, made.lanes) || !ar_piece_borrow(&made.piece, comm, rank, nranks, &wish)) {
        free(made.lanes);
        return false;
    }
    made.cell_bytes = (made.piece.slot_bytes - sizeof(struct lane)) / CELLS;
    look_where_lanes_stand(&made);
    *channel = made;
    return true;
}

void
ar_channel_fini(struct ar_channel *channel)
{
    if (!channel->failed)
        ar_piece_return(&channel->piece);
    free(channel->lanes);
}

bool
ar_channel_takes(const struct ar_channel *channel, const struct ar_reduction *r)
{
    return ar_cell_takes(r, channel->cell_bytes);
}

void
ar_channel_begin(struct ar_channel *channel, struct ar_transfer *transfer)
{
    struct ar_lane *end = end_of(channel, transfer->tag, transfer->peer);
    transfer->done = 0;
    transfer->turn =
        transfer->kind == AR_TRANSFER_SEND ? end->sends_begun++ : end->receives_begun++;
}

static size_t
lesser(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char *
cell_of(const struct ar_channel *c, struct lane *lane, uint64_t number)
{
    return lane->cells + (number % CELLS) * c->cell_bytes;
}

static ptrdiff_t
bytes_done(const struct ar_transfer *t, const struct ar_reduction *r)
{
    return (ptrdiff_t)t->done * r->extent;
}

static int
move_send(const struct ar_channel *c, const struct ar_reduction *r, struct ar_transfer *t)
{
    struct lane *lane = lane_of(c, t->tag, c->rank, t->peer);
    struct ar_lane *end = end_of(c, t->tag, t->peer);
    const size_t most = ar_cell_length(r, c->cell_bytes);
    int error = MPI_SUCCESS;
    if (t->turn != end->sends_ended)
        return MPI_SUCCESS;
    while (t->done < t->length && !error && end->sent - ar_flag_read(&lane->taken) < CELLS) {
        const size_t n = lesser(t->length - t->done, most);
        error = ar_cell_store(r, ar_cell_at(r, cell_of(c, lane, end->sent), 0),
                              t->from + bytes_done(t, r), n);
        t->done += n;
        ar_flag_raise(&lane->sent, ++end->sent, (struct ar_wait){.yields = AR_WAIT_FOREVER});
    }
    end->sends_ended += t->done == t->length;
    return error;
}

/* Combines n elements that came with those at hand. */
static int
fold(const struct ar_reduction *r, const struct ar_transfer *t, char *came, size_t n)
{
    char *to = t->to + bytes_done(t, r), *at_hand = (char *)t->from + bytes_done(t, r);
    return t->order == AR_LOCAL_FIRST ? ar_reduction_apply(r, to, at_hand, came, n)
                                      : ar_reduction_apply(r, to, came, at_hand, n);
}

static int
move_receive(const struct ar_channel *c, const struct ar_reduction *r, struct ar_transfer *t)
{
    struct lane *lane = lane_of(c, t->tag, t->peer, c->rank);
    struct ar_lane *end = end_of(c, t->tag, t->peer);
    const size_t most = ar_cell_length(r, c->cell_bytes);
    int error = MPI_SUCCESS;
    if (t->turn != end->receives_ended)
        return MPI_SUCCESS;
    while (t->done < t->length && !error && ar_flag_read(&lane->sent) != end->taken) {
        const size_t n = lesser(t->length - t->done, most);
        char *came = ar_cell_at(r, cell_of(c, lane, end->taken), 0);
        if (t->kind == AR_TRANSFER_FOLD)
            error = fold(r, t, came, n);
        else
            error = ar_cell_fetch(r, t->to + bytes_done(t, r), came, n);
        t->done += n;
        ar_flag_raise(&lane->taken, ++end->taken, (struct ar_wait){.yields = AR_WAIT_FOREVER});
    }
    end->receives_ended += t->done == t->length;
    return error;
}

#define POLLS_PER_PROBE 16

int
ar_channel_poll(struct ar_channel *channel, const struct ar_reduction *r,
                struct ar_transfer *transfers, int n, MPI_Comm comm, int *found, int *completed)
{
    int error = MPI_SUCCESS, flag;
    *found = 0;
    for (int i = 0; i < n && !error; i++) {
        struct ar_transfer *t = &transfers[i];
        if (t->kind == AR_TRANSFER_NONE)
            continue;
        error =
            t->kind == AR_TRANSFER_SEND ? move_send(channel, r, t) : move_receive(channel, r, t);
        if (t->done < t->length)
            continue;
        t->kind = AR_TRANSFER_NONE;
        completed[(*found)++] = i;
    }
    if (!error && *found == 0 && channel->polls++ % POLLS_PER_PROBE == 0)
        error = PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
    return error;
}
