/* The queues between two ranks on weakly ordered memory: on any machine, what is read and written
 * of their cells is ordered by their flags alone.
 *
 * This is shown in two ways, with the channel's own source, in which the functions that touch
 * queues are replaced.
 *
 * First, long rows of messages of many ranks are moved and recorded.  What is done to one queue
 * depends on its messages alone and not on when the other rank comes, except for how often its
 * flags are looked at.  So one run stands for all (vector_clocks.h) if each look finds the first
 * raise that suffices.  To this end, a look finds what it found before until nobody can go on
 * without a newer raise.  Each queue is judged by its own accesses, so that order made by other
 * queues does not help it.
 *
 * Second, all that two ranks can do with up to three messages is explored: each interleaving of
 * their accesses, in which a look at a flag finds any value that C11 permits, even an old one. */
#include "config.h"

#include <limits.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "execute/cell.h"
#include "execute/group.h"
#include "execute/progress.h"
#include "execute/wait.h"
#include "reduce/reduce.h"
#include "vector_clocks.h"

#define CELL_LENGTH 2 /* elements */

static char *memory; /* of the queues: zero at first */
static size_t memory_bytes;
static struct ar_reduction sum;

/* What takes note of accesses, and answers looks. */
static struct recorder {
    void (*add)(enum access_kind kind, const void *at, size_t bytes, uint64_t value);
    uint64_t (*look)(const struct ar_flag *flag);
    bool moves; /* are elements moved? */
} recorder;

static bool
is_shared(const void *at)
{
    return (const char *)at >= memory && (const char *)at < memory + memory_bytes;
}

static void
add_shared(enum access_kind kind, const void *at, size_t count, const void *private)
{
    if (is_shared(at))
        recorder.add(kind, at, count * sizeof(double), (uint64_t)(uintptr_t) private);
}

static void
record_raise(struct ar_flag *flag, uint64_t value)
{
    recorder.add(RAISE, flag, sizeof flag->value, value);
}

static int
record_copy(const struct ar_reduction *r, void *to, const void *from, size_t count)
{
    add_shared(READ, from, count, to);
    add_shared(WRITE, to, count, from);
    return recorder.moves ? ar_reduction_copy(r, to, from, count) : MPI_SUCCESS;
}

/* An operand to the right may be overwritten. */
static int
record_apply(const struct ar_reduction *r, void *dst, const void *a, void *b, size_t count)
{
    add_shared(READ, a, count, dst);
    add_shared(READ, b, count, dst);
    add_shared(WRITE, b, count, NULL);
    return recorder.moves ? ar_reduction_apply(r, dst, a, b, count) : MPI_SUCCESS;
}

#define ar_flag_read(flag)                recorder.look(flag)
#define ar_flag_raise(flag, number, wait) record_raise(flag, number)
#define ar_reduction_apply                record_apply
#define ar_cell_store                     record_copy
#define ar_cell_stream                    record_copy
#define ar_cell_fetch                     record_copy
#define ar_progress(comm)                 ((void)(comm), MPI_SUCCESS)
#include "execute/channel.c" /* NOLINT(bugprone-suspicious-include): the functions above in place of its own */

#define QUEUE_BYTES ((sizeof(struct queue) + CELLS * CELL_LENGTH * sizeof(double) + 63) / 64 * 64)

static struct ar_channel
channel_of(int rank, int nranks, struct ar_queue_end *ends)
{
    return (struct ar_channel){
        .rank = rank,
        .nranks = nranks,
        .cell_bytes = CELL_LENGTH * sizeof(double),
        .piece = {.slots = memory, .slot_bytes = QUEUE_BYTES, .stride = nranks},
        .ends = ends};
}

/* Where the queue is that this byte belongs to, and the flag or the cell in it. */
static size_t
in_queue(size_t byte)
{
    return byte % QUEUE_BYTES;
}

/* A queue with one cell too few: the last one is where the first one is. */
static size_t
move_last_cell(size_t byte)
{
    const size_t cell = CELL_LENGTH * sizeof(double),
                 last = sizeof(struct queue) + (CELLS - 1) * cell;
    return in_queue(byte) < last ? byte : byte - (CELLS - 1) * cell;
}

static bool
is_sent(size_t byte)
{
    return in_queue(byte) == offsetof(struct queue, sent);
}

static bool
is_taken(size_t byte)
{
    return in_queue(byte) == offsetof(struct queue, taken);
}

/* --- long rows of messages --- */

#define MESSAGES_MAX 6
#define LENGTH_MAX   ((size_t)7)
#define ACCESSES_MAX 4096 /* of a rank to a queue */
#define RANKS_MAX    5

/* A rank's side of a queue. */
struct side {
    struct trace trace;
    uint64_t found[2]; /* at the last look at its flags */
    bool looked[2];
};

struct message {
    size_t length;
    double sent[LENGTH_MAX], local[LENGTH_MAX], result[LENGTH_MAX];
    enum ar_transfer_kind kind; /* of its receiver */
    enum ar_order order;
};

#define QUEUES_MAX (AR_CHANNEL_QUEUES * RANKS_MAX * RANKS_MAX)

static struct {
    int nranks, rank; /* that is recorded */
    uint64_t before;  /* cells that each queue has carried before */
    size_t raises;    /* so far */
    struct side side[QUEUES_MAX][2];
    struct message message[QUEUES_MAX][MESSAGES_MAX];
    struct ar_queue_end ends[RANKS_MAX][AR_CHANNEL_QUEUES * RANKS_MAX];
    struct ar_transfer transfers[RANKS_MAX][2 * MESSAGES_MAX * QUEUES_MAX / RANKS_MAX];
    int ntransfers[RANKS_MAX];
} rows;

static size_t
number_of(const void *at)
{
    return (size_t)((const char *)at - memory) / QUEUE_BYTES;
}

/* Of the rank that is recorded; by it the queue leads to a rank or from one. */
static struct side *
side_at(const void *at)
{
    const size_t queue = number_of(at), from = queue % (size_t)rows.nranks;
    return &rows.side[queue][from != (size_t)rows.rank];
}

static void
add_to_row(enum access_kind kind, const void *at, size_t bytes, uint64_t value)
{
    struct trace *const trace = &side_at(at)->trace;
    const size_t from = (size_t)((const char *)at - memory);
    if (trace->n == ACCESSES_MAX)
        abort();
    trace->of[trace->n++] = (struct access){kind, from, from + bytes, value};
    if (kind == RAISE) {
        *(uint64_t *)(void *)(memory + from) = value;
        rows.raises++;
    }
}

static uint64_t
look_in_row(const struct ar_flag *flag)
{
    struct side *const side = side_at(flag);
    const int i = is_taken((size_t)((const char *)flag - memory));
    side->looked[i] = true;
    return side->found[i];
}

/* Who looked in vain finds the next raise, if there is one; false: nobody does. */
static bool
show_next_raises(void)
{
    const size_t n = AR_CHANNEL_QUEUES * (size_t)rows.nranks * (size_t)rows.nranks;
    bool shown = false;
    for (size_t queue = 0; queue < n; queue++)
        for (int s = 0; s < 2; s++)
            for (int i = 0; i < 2; i++) {
                struct side *const side = &rows.side[queue][s];
                const size_t at = queue * QUEUE_BYTES + (i ? offsetof(struct queue, taken)
                                                           : offsetof(struct queue, sent));
                if (!side->looked[i] || side->found[i] == *(uint64_t *)(void *)(memory + at))
                    continue;
                side->found[i]++;
                side->trace.of[side->trace.n++] =
                    (struct access){AWAIT, at, at + sizeof(uint64_t), side->found[i]};
                shown = true;
            }
    return shown;
}

static void
forget_looks(void)
{
    for (size_t queue = 0; queue < QUEUES_MAX; queue++)
        for (int s = 0; s < 2; s++)
            memset(rows.side[queue][s].looked, 0, sizeof rows.side[queue][s].looked);
}

static unsigned
draw(unsigned *seed, unsigned n)
{
    *seed = *seed * 1103515245 + 12345;
    return (*seed >> 16) % n;
}

static void
begin(int rank, struct ar_transfer t)
{
    struct ar_channel c = channel_of(rank, rows.nranks, rows.ends[rank]);
    struct ar_transfer *const made = &rows.transfers[rank][rows.ntransfers[rank]++];
    *made = t;
    ar_channel_begin(&c, made);
}

/* All messages of all queues are begun at once, on both ranks. */
static void
begin_all(unsigned *seed)
{
    for (int tag = 0; tag < AR_CHANNEL_QUEUES; tag++)
        for (int from = 0; from < rows.nranks; from++)
            for (int to = 0; to < rows.nranks; to++)
                for (unsigned k = 0, n = from == to ? 0 : draw(seed, MESSAGES_MAX + 1); k < n;
                     k++) {
                    const size_t queue =
                        (size_t)(tag * rows.nranks + to) * (size_t)rows.nranks + (size_t)from;
                    struct message *const m = &rows.message[queue][k];
                    m->length = 1 + draw(seed, LENGTH_MAX);
                    m->kind = draw(seed, 2) ? AR_TRANSFER_FOLD : AR_TRANSFER_RECEIVE;
                    m->order = draw(seed, 2) ? AR_LOCAL_FIRST : AR_RECEIVED_FIRST;
                    for (size_t i = 0; i < m->length; i++) {
                        m->sent[i] = draw(seed, 1000);
                        m->local[i] = draw(seed, 1000);
                        m->result[i] = -1;
                    }
                    begin(from, (struct ar_transfer){.kind = AR_TRANSFER_SEND,
                                                     .peer = to,
                                                     .tag = tag,
                                                     .from = (char *)m->sent,
                                                     .length = m->length});
                    begin(to, (struct ar_transfer){.kind = m->kind,
                                                   .order = m->order,
                                                   .peer = from,
                                                   .tag = tag,
                                                   .from = (char *)m->local,
                                                   .to = (char *)m->result,
                                                   .length = m->length});
                }
}

/* A communicator gets queues that are empty, and has had very many messages. */
static void
begin_row(int nranks, uint64_t before)
{
    memory_bytes = AR_CHANNEL_QUEUES * (size_t)nranks * (size_t)nranks * QUEUE_BYTES;
    CHECK(memory_bytes <= ORDER_BYTES, "%zu bytes", memory_bytes);
    rows.nranks = nranks;
    rows.before = before;
    for (size_t queue = 0; queue < memory_bytes / QUEUE_BYTES; queue++) {
        struct queue *const q = (struct queue *)(void *)(memory + queue * QUEUE_BYTES);
        q->sent.value = q->taken.value = before;
        for (int s = 0; s < 2; s++) {
            struct trace *const trace = &rows.side[queue][s].trace;
            trace->n = 0;
            rows.side[queue][s].found[0] = rows.side[queue][s].found[1] = before;
        }
        for (int k = 0; k < MESSAGES_MAX; k++)
            rows.message[queue][k].length = 0;
    }
    for (int rank = 0; rank < nranks; rank++) {
        rows.ntransfers[rank] = 0;
        for (int i = 0; i < AR_CHANNEL_QUEUES * nranks; i++)
            rows.ends[rank][i] = (struct ar_queue_end){before,       before,       UINT_MAX - 1,
                                                       UINT_MAX - 1, UINT_MAX - 1, UINT_MAX - 1};
    }
}

static void
poll_all(void)
{
    static int completed[sizeof rows.transfers[0] / sizeof rows.transfers[0][0]];
    int found;
    for (int rank = 0; rank < rows.nranks; rank++) {
        struct ar_channel c = channel_of(rank, rows.nranks, rows.ends[rank]);
        rows.rank = rank;
        CHECK(ar_channel_poll(&c, &sum, rows.transfers[rank], rows.ntransfers[rank], MPI_COMM_SELF,
                              &found, completed) == MPI_SUCCESS,
              "rank %d", rank);
    }
}

/* Moves all messages. */
static void
record_row(int nranks, uint64_t before, unsigned seed)
{
    begin_row(nranks, before);
    begin_all(&seed);
    recorder = (struct recorder){add_to_row, look_in_row, true};
    for (bool goes_on = true; goes_on;) {
        const size_t raised = rows.raises;
        forget_looks();
        poll_all();
        goes_on = rows.raises > raised || show_next_raises();
    }
    for (int rank = 0; rank < nranks; rank++)
        for (int i = 0; i < rows.ntransfers[rank]; i++)
            CHECK(rows.transfers[rank][i].kind == AR_TRANSFER_NONE, "rank %d waits for ever", rank);
    for (size_t queue = 0; queue < memory_bytes / QUEUE_BYTES; queue++)
        for (int k = 0; k < MESSAGES_MAX; k++) {
            const struct message *const m = &rows.message[queue][k];
            for (size_t i = 0; i < m->length; i++)
                CHECK(m->result[i] == m->sent[i] + (m->kind == AR_TRANSFER_FOLD ? m->local[i] : 0),
                      "queue %zu, message %d, element %zu", queue, k, i);
        }
}

/* How many queues' accesses are not in order. */
static size_t
count_conflicts(const struct order_faults *faults, size_t *used)
{
    size_t n = 0;
    *used = 0;
    for (size_t queue = 0; queue < memory_bytes / QUEUE_BYTES; queue++) {
        const struct trace traces[] = {rows.side[queue][0].trace, rows.side[queue][1].trace};
        const enum order order = order_of(traces, 2, faults);
        CHECK(order != DEADLOCK, "queue %zu", queue);
        n += order == CONFLICT;
        /* A queue whose cells are all used again. */
        *used += traces[1].n > 0 && traces[1].of[traces[1].n - 1].value > rows.before + 2 * CELLS;
    }
    return n;
}

static void
check_rows(void)
{
    static const struct order_faults faults[] = {{.is_relaxed = is_sent},
                                                 {.is_relaxed = is_taken},
                                                 {.moved = move_last_cell},
                                                 {.ignores_flags = true}};
    for (size_t queue = 0; queue < QUEUES_MAX; queue++)
        for (int s = 0; s < 2; s++)
            rows.side[queue][s].trace.of = malloc(ACCESSES_MAX * sizeof(struct access));
    for (int p = 2; p <= RANKS_MAX; p++)
        for (unsigned seed = 1; seed <= 20; seed++) {
            size_t used;
            record_row(p, seed % 3, seed);
            CHECK(count_conflicts(&(struct order_faults){0}, &used) == 0, "%d ranks, row %u", p,
                  seed);
            CHECK(used > 0, "%d ranks, row %u", p, seed);
            for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
                CHECK(count_conflicts(&faults[i], &used) >= used, "%d ranks, row %u, fault %zu", p,
                      seed, i);
        }
    for (size_t queue = 0; queue < QUEUES_MAX; queue++)
        for (int s = 0; s < 2; s++)
            free(rows.side[queue][s].trace.of);
}

/* --- all that two ranks can do --- */

#define TRANSFERS_MAX 4 /* of a rank */
#define CELLS_MAX     6 /* that a queue carries */
#define LOOKS_MAX     16
#define NOTES_MAX     64
#define FLAGS         4 /* sent and taken of the queue from rank 0, then of the one from rank 1 */

enum mutant {
    NONE,
    SENT_RELAXED, /* a raise that does not release, or a look that does not acquire */
    TAKEN_RELAXED,
    SENT_EARLY, /* raised before the cell is written */
    TAKEN_EARLY,
    CELL_MISSING,
    MUTANTS
};

/* A rank in the middle of a poll.  What it does next follows from what it was at the poll's begin
 * and what its looks have found since. */
struct place {
    struct ar_queue_end ends[AR_CHANNEL_QUEUES * 2];
    struct ar_transfer transfers[TRANSFERS_MAX];
    unsigned char looks, found[LOOKS_MAX]; /* raises of that flag */
    unsigned char done;                    /* of the accesses of this poll */
    unsigned char clock, known; /* accesses so far; of the other, those known to be before */
    unsigned char seen[FLAGS];  /* a later look finds no older raise */
};

struct state {
    struct place rank[2];
    struct {
        unsigned char value, written[2], read[2]; /* which element; when, by each rank; 0: never */
    } word[2][CELLS * CELL_LENGTH];
    unsigned char raises[FLAGS], when[FLAGS][CELLS_MAX]; /* each raise, by its rank's clock */
};

struct note {
    enum access_kind kind;
    int flag;
    size_t queue, word;
    unsigned char value;
};

static struct {
    enum mutant mutant;
    uint64_t before;
    int ntransfers[2];
    double sent[2][TRANSFERS_MAX * 4], local[2][TRANSFERS_MAX * 4], result[2][TRANSFERS_MAX * 4];
    /* the states that were met; some of them are still to be left */
    struct state *states;
    size_t nstates, room, next;
    uint32_t *table; /* number of a state, from 1 */
    size_t table_size;
    bool has_conflict, has_wrong_value, is_stuck, has_end;
    /* the poll that is looked into */
    const struct state *state;
    bool finds_newest;
    int rank, looks;
    struct note notes[NOTES_MAX];
    int nnotes;
    int flag; /* that the poll is about to look at */
    jmp_buf stop;
} all;

static int
flag_at(const void *at)
{
    const size_t from = number_of(at) % 2;
    return (int)(2 * from) + is_taken((size_t)((const char *)at - memory));
}

static void
note(struct note n)
{
    if (all.nnotes == NOTES_MAX)
        abort();
    all.notes[all.nnotes++] = n;
}

/* The number of the element, from 1, by its place in what was sent or is received; 0: no element.
 */
static unsigned char
element_at(const double *at, size_t queue)
{
    const double *const base = at >= all.sent[queue] && at < all.sent[queue] + TRANSFERS_MAX * 4
                                   ? all.sent[queue]
                                   : all.result[queue];
    return at ? (unsigned char)(at - base + 1) : 0;
}

static void
add_to_poll(enum access_kind kind, const void *at, size_t bytes, uint64_t value)
{
    const size_t queue = number_of(at) % 2, byte = (size_t)((const char *)at - memory);
    const size_t moved = all.mutant == CELL_MISSING ? move_last_cell(byte) : byte;
    const size_t first = (in_queue(moved) - sizeof(struct queue)) / sizeof(double);
    const double *const element = (const double *)(uintptr_t)value;
    if (kind == RAISE) {
        note((struct note){
            .kind = RAISE, .flag = flag_at(at), .value = (unsigned char)(value - all.before)});
        return;
    }
    for (size_t i = 0; i < bytes / sizeof(double); i++)
        note((struct note){.kind = kind,
                           .queue = queue,
                           .word = first + i,
                           .value = element_at(element ? element + i : NULL, queue)});
}

static uint64_t
look_in_poll(const struct ar_flag *flag)
{
    const struct place *const place = &all.state->rank[all.rank];
    all.flag = flag_at(flag);
    if (all.finds_newest)
        return all.before + all.state->raises[all.flag];
    if (all.looks == place->looks)
        longjmp(all.stop, 1);
    note((struct note){.kind = AWAIT, .flag = all.flag});
    return all.before + place->found[all.looks++];
}

/* Where a mutant raises a flag before the cell is touched: behind the look before. */
static void
raise_early(void)
{
    for (int i = 0; i < all.nnotes; i++) {
        const struct note n = all.notes[i];
        if (n.kind != RAISE || all.mutant != (n.flag % 2 ? TAKEN_EARLY : SENT_EARLY))
            continue;
        int to = i;
        for (; to > 0 && all.notes[to - 1].kind != AWAIT; to--)
            all.notes[to] = all.notes[to - 1];
        all.notes[to] = n;
    }
}

/* Notes what the rank does in its poll, up to the look that is next; true: to the poll's end, and
 * *after is what the rank is then. */
static bool
look_into_poll(const struct state *s, int rank, struct place *after)
{
    static int completed[TRANSFERS_MAX];
    static bool ends;
    int found;
    struct ar_channel c = channel_of(rank, 2, after->ends);
    memcpy(after, &s->rank[rank], sizeof *after);
    all.state = s;
    all.rank = rank;
    all.looks = all.nnotes = 0;
    ends = false;
    if (setjmp(all.stop) == 0) {
        ar_channel_poll(&c, &sum, after->transfers, all.ntransfers[rank], MPI_COMM_SELF, &found,
                        completed);
        ends = true;
    }
    raise_early();
    return ends;
}

/* Is this state new?  Then it is kept. */
static void
meet_state(const struct state *s)
{
    const unsigned char *const bytes = (const unsigned char *)s;
    uint64_t hash = 14695981039346656037U;
    for (size_t i = 0; i < sizeof *s; i++)
        hash = (hash ^ bytes[i]) * 1099511628211U;
    size_t at = hash % all.table_size;
    for (; all.table[at]; at = (at + 1) % all.table_size)
        if (!memcmp(&all.states[all.table[at] - 1], s, sizeof *s))
            return;
    if (all.nstates == all.room)
        abort();
    memcpy(&all.states[all.nstates++], s, sizeof *s);
    all.table[at] = (uint32_t)all.nstates;
}

/* An access that is no look. */
static void
perform(struct state *s, int rank, const struct note *n)
{
    struct place *const me = &s->rank[rank];
    const int other = 1 - rank;
    me->clock++;
    if (n->kind == RAISE) {
        s->when[n->flag][s->raises[n->flag]++] = me->clock;
        all.has_wrong_value |= s->raises[n->flag] != n->value;
        return;
    }
    all.has_conflict |= s->word[n->queue][n->word].written[other] > me->known;
    all.has_conflict |= n->kind == WRITE && s->word[n->queue][n->word].read[other] > me->known;
    if (n->kind == WRITE) {
        s->word[n->queue][n->word].value = n->value;
        s->word[n->queue][n->word].written[rank] = me->clock;
    } else {
        all.has_wrong_value |= s->word[n->queue][n->word].value != n->value;
        s->word[n->queue][n->word].read[rank] = me->clock;
    }
}

/* All accesses of the poll are done: the next one begins. */
static void
end_poll(struct state *s, int rank)
{
    struct place after;
    if (!look_into_poll(s, rank, &after) || after.done < all.nnotes)
        return;
    after.looks = after.done = 0;
    memset(after.found, 0, sizeof after.found);
    memcpy(&s->rank[rank], &after, sizeof after);
}

/* A look finds a raise that the rank has seen, or any later one. */
static void
look(const struct state *s, int rank, int flag)
{
    const bool orders = all.mutant != (flag % 2 ? TAKEN_RELAXED : SENT_RELAXED);
    for (unsigned found = s->rank[rank].seen[flag]; found <= s->raises[flag]; found++) {
        struct state next;
        memcpy(&next, s, sizeof next);
        struct place *const me = &next.rank[rank];
        if (me->looks == LOOKS_MAX)
            abort();
        me->found[me->looks++] = me->seen[flag] = (unsigned char)found;
        me->done++;
        if (found > 0 && orders && s->when[flag][found - 1] > me->known)
            me->known = s->when[flag][found - 1];
        end_poll(&next, rank);
        meet_state(&next);
    }
}

static bool
has_all(const struct state *s)
{
    bool ended = true;
    for (int rank = 0; rank < 2; rank++)
        for (int i = 0; i < all.ntransfers[rank]; i++)
            ended &= s->rank[rank].transfers[i].kind == AR_TRANSFER_NONE;
    return ended;
}

/* Can neither rank do anything, though it sees all that was raised? */
static bool
is_stuck(const struct state *s)
{
    struct place after;
    bool stuck = true;
    if (s->rank[0].done + s->rank[1].done > 0)
        return false;
    all.finds_newest = true;
    for (int rank = 0; rank < 2; rank++) {
        look_into_poll(s, rank, &after);
        stuck &= all.nnotes == 0;
    }
    all.finds_newest = false;
    return stuck && !has_all(s);
}

/* Each rank's next access, from a state. */
static void
leave_state(const struct state *s)
{
    all.has_end |= has_all(s);
    all.is_stuck |= is_stuck(s);
    for (int rank = 0; rank < 2; rank++) {
        struct place after;
        const bool ends = look_into_poll(s, rank, &after);
        if (s->rank[rank].done < all.nnotes) {
            struct state next;
            memcpy(&next, s, sizeof next);
            perform(&next, rank, &all.notes[next.rank[rank].done++]);
            end_poll(&next, rank);
            meet_state(&next);
        } else if (!ends) {
            look(s, rank, all.flag);
        }
    }
}

/* Rank from begins to send messages, the other to receive them, all with tag 0. */
static void
begin_messages(struct state *s, int from, const size_t *length, int n, bool folds)
{
    size_t at = 0;
    for (int i = 0; i < n; at += length[i++])
        for (int rank = 0; rank < 2; rank++) {
            struct place *const place = &s->rank[rank];
            struct ar_channel c = channel_of(rank, 2, place->ends);
            struct ar_transfer *const t = &place->transfers[all.ntransfers[rank]++];
            t->kind = rank == from ? AR_TRANSFER_SEND
                      : folds      ? AR_TRANSFER_FOLD
                                   : AR_TRANSFER_RECEIVE;
            t->order = AR_LOCAL_FIRST;
            t->peer = 1 - rank;
            t->from = (char *)&(rank == from ? all.sent : all.local)[from][at];
            t->to = (char *)&all.result[from][at];
            t->length = length[i];
            ar_channel_begin(&c, t);
        }
}

/* Each state that the ranks can be in, or those up to the first that is wrong. */
static void
explore(enum mutant mutant, uint64_t before, const size_t *length, int n, int back, bool folds)
{
    static struct state begin;
    memset(&begin, 0, sizeof begin);
    memset(all.table, 0, all.table_size * sizeof *all.table);
    all.mutant = mutant;
    all.before = before;
    all.nstates = all.ntransfers[0] = all.ntransfers[1] = 0;
    all.has_conflict = all.has_wrong_value = all.is_stuck = all.has_end = false;
    for (int rank = 0; rank < 2; rank++)
        for (int i = 0; i < AR_CHANNEL_QUEUES * 2; i++)
            begin.rank[rank].ends[i].sent = begin.rank[rank].ends[i].taken = before;
    begin_messages(&begin, 0, length, n, folds);
    begin_messages(&begin, 1, length, back, folds);
    meet_state(&begin);
    for (size_t i = 0; i < all.nstates && !all.has_conflict && !all.has_wrong_value; i++) {
        struct state s;
        memcpy(&s, &all.states[i], sizeof s);
        leave_state(&s);
    }
}

/* n messages there and so many back, of all lengths up to most.  Where the cells are all used
 * again, each mutant is found. */
static size_t
check_states(int n, int back, size_t most)
{
    size_t cases = 1, met = 0;
    for (int i = 0; i < n; i++)
        cases *= most;
    for (size_t k = 0; k < 2 * cases; k++) {
        size_t length[3], draw = k / 2, cells = 0;
        for (int i = 0; i < n; i++, draw /= most) {
            length[i] = 1 + draw % most;
            cells += (length[i] + CELL_LENGTH - 1) / CELL_LENGTH;
        }
        /* The numbers of cells may begin anew. */
        const uint64_t before = k % 3 == 0 ? UINT64_MAX : k % 3;
        explore(NONE, before, length, n, back, k % 2);
        CHECK(!all.has_conflict && !all.has_wrong_value && !all.is_stuck && all.has_end,
              "messages %d and %d, case %zu: conflict %d, wrong value %d, stuck %d, end %d", n,
              back, k, all.has_conflict, all.has_wrong_value, all.is_stuck, all.has_end);
        met += all.nstates;
        for (int mutant = NONE + 1; mutant < MUTANTS; mutant++) {
            const bool is_late = mutant == TAKEN_RELAXED || mutant == TAKEN_EARLY;
            const size_t least = is_late ? CELLS + 1 : mutant == CELL_MISSING ? CELLS : 1;
            explore((enum mutant)mutant, before, length, n, back, k % 2);
            CHECK((all.has_conflict || all.has_wrong_value) == (cells >= least),
                  "messages %d and %d, case %zu, mutant %d, %zu cells", n, back, k, mutant, cells);
        }
    }
    return met;
}

static void
check_all_states(void)
{
    all.room = 1 << 17;
    all.table_size = 1 << 19;
    all.states = malloc(all.room * sizeof *all.states);
    all.table = malloc(all.table_size * sizeof *all.table);
    memory_bytes = AR_CHANNEL_QUEUES * (size_t)4 * QUEUE_BYTES;
    recorder = (struct recorder){add_to_poll, look_in_poll, false};
    size_t met = check_states(1, 0, 4) + check_states(2, 0, 4) + check_states(3, 0, 4);
    met += check_states(1, 1, 4);
    printf("%zu states of two ranks\n", met);
    free(all.states);
    free(all.table);
}

int
main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    memory = aligned_alloc(64, ORDER_BYTES);
    memset(memory, 0, ORDER_BYTES);
    CHECK(ar_reduction_resolve(&sum, MPI_SUM, MPI_DOUBLE), "sum of doubles");
    check_rows();
    check_all_states();
    free(memory);
    MPI_Finalize();
    return check_status();
}
