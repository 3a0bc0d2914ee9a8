#include "traffic.h"

#include <stdlib.h>
#include <string.h>

/* A rank's window: a constant, then for each rank of the world a word and a count that it alone
 * changes.  It is memory of its own, since MPICH 4.0 mixes up the neighbours' in a window of
 * MPI_Win_allocate of 28 bytes, natively, too. */
enum { CONSTANT, CELLS };

static const int constant = 4711, one = 1;
static MPI_Win window;
static int *words;
static int world_rank;
static int *times; /* by rank of the world: how often this rank has added to its count there */

static const char *const names[] = {
    [TRAFFIC_ISEND] = "isend",           [TRAFFIC_LATE_ISEND] = "isend, received late",
    [TRAFFIC_ISSEND] = "issend",         [TRAFFIC_IBARRIER] = "ibarrier",
    [TRAFFIC_IALLREDUCE] = "iallreduce", [TRAFFIC_IBCAST] = "ibcast",
    [TRAFFIC_PUT] = "lock and put",      [TRAFFIC_GET] = "lock and get"};

const char *
traffic_name(enum traffic_kind kind)
{
    return names[kind];
}

void
traffic_open(void)
{
    int nranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    times = calloc((size_t)nranks, sizeof *times);
    const size_t cells = CELLS + 2 * (size_t)nranks;
    words = calloc(cells, sizeof *words);
    check_true(times && words);
    words[CONSTANT] = constant;
    MPI_Win_create(words, (MPI_Aint)(cells * sizeof *words), sizeof *words, MPI_INFO_NULL,
                   MPI_COMM_WORLD, &window);
    MPI_Barrier(MPI_COMM_WORLD);
}

void
traffic_close(void)
{
    MPI_Win_free(&window);
    free(words);
    free(times);
}

static int
word_cell(void)
{
    return CELLS + 2 * world_rank;
}

static int
count_cell(void)
{
    return CELLS + 2 * world_rank + 1;
}

static int
left_of(const struct check_comm *c)
{
    return (c->rank + c->nranks - 1) % c->nranks;
}

static int
right_of(const struct check_comm *c)
{
    return (c->rank + 1) % c->nranks;
}

/* The right neighbour, as the window knows it. */
static int
target_of(const struct check_comm *c)
{
    MPI_Group ours, world;
    int target;
    const int right = right_of(c);
    MPI_Comm_group(c->comm, &ours);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_translate_ranks(ours, 1, &right, world, &target);
    MPI_Group_free(&ours);
    MPI_Group_free(&world);
    return target;
}

static int
root_of(const struct traffic *p)
{
    return (int)(p->salt % (unsigned)p->c.nranks);
}

/* Element i of what this rank sends; small, that sums do not overflow. */
static int
value_of(const struct traffic *p, int rank, int i)
{
    return (int)((p->salt + (unsigned)rank * 31U + (unsigned)i * 7U) % 100003U);
}

static void
post_receive(struct traffic *p)
{
    MPI_Irecv(p->received, p->length, MPI_INT, left_of(&p->c), (int)p->kind, p->c.comm,
              &p->request[1]);
}

static void
begin_message(struct traffic *p)
{
    if (p->kind != TRAFFIC_LATE_ISEND)
        post_receive(p);
    if (p->kind == TRAFFIC_ISSEND)
        MPI_Issend(p->sent, p->length, MPI_INT, right_of(&p->c), (int)p->kind, p->c.comm,
                   &p->request[0]);
    else
        MPI_Isend(p->sent, p->length, MPI_INT, right_of(&p->c), (int)p->kind, p->c.comm,
                  &p->request[0]);
}

static void
begin_epoch(struct traffic *p)
{
    const int target = target_of(&p->c);
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    if (p->kind == TRAFFIC_PUT) {
        MPI_Put(p->sent, 1, MPI_INT, target, word_cell(), 1, MPI_INT, window);
        MPI_Accumulate(&one, 1, MPI_INT, target, count_cell(), 1, MPI_INT, MPI_SUM, window);
    } else {
        MPI_Get(p->received, 1, MPI_INT, target, CONSTANT, 1, MPI_INT, window);
    }
}

void
traffic_begin(struct traffic *p, enum traffic_kind kind, const struct check_comm *c, int length,
              unsigned salt)
{
    const size_t bytes = (size_t)length * sizeof *p->sent;
    *p = (struct traffic){.kind = kind, .c = *c, .salt = salt, .length = length};
    p->request[0] = p->request[1] = MPI_REQUEST_NULL;
    p->sent = check_buffer(bytes);
    p->received = check_buffer(bytes);
    for (int i = 0; i < length; i++)
        p->sent[i] = value_of(p, c->rank, i);
    switch (kind) {
    case TRAFFIC_IBARRIER:
        MPI_Ibarrier(c->comm, &p->request[0]);
        break;
    case TRAFFIC_IALLREDUCE:
        MPI_Iallreduce(p->sent, p->received, length, MPI_INT, MPI_SUM, c->comm, &p->request[0]);
        break;
    case TRAFFIC_IBCAST:
        MPI_Ibcast(c->rank == root_of(p) ? p->sent : p->received, length, MPI_INT, root_of(p),
                   c->comm, &p->request[0]);
        break;
    case TRAFFIC_PUT:
    case TRAFFIC_GET:
        begin_epoch(p);
        break;
    default:
        begin_message(p);
    }
}

void
traffic_meet(struct traffic *p)
{
    if (p->is_met)
        return;
    p->is_met = true;
    if (p->kind == TRAFFIC_PUT || p->kind == TRAFFIC_GET)
        MPI_Win_unlock(target_of(&p->c), window);
    if (p->kind == TRAFFIC_LATE_ISEND)
        post_receive(p);
    MPI_Wait(&p->request[1], MPI_STATUS_IGNORE);
    if (p->kind != TRAFFIC_LATE_ISEND) /* its send waits for a receive that may come later yet */
        MPI_Wait(&p->request[0], MPI_STATUS_IGNORE);
}

/* What must be in received[i]. */
static int
expected(const struct traffic *p, int i)
{
    if (p->kind == TRAFFIC_GET)
        return constant;
    if (p->kind == TRAFFIC_IBCAST)
        return value_of(p, root_of(p), i);
    if (p->kind != TRAFFIC_IALLREDUCE)
        return value_of(p, left_of(&p->c), i);
    int sum = 0;
    for (int rank = 0; rank < p->c.nranks; rank++)
        sum += value_of(p, rank, i);
    return sum;
}

/* What was put can be read, and no addition was lost. */
static void
check_window(struct traffic *p)
{
    const int target = target_of(&p->c);
    int word = -1, count = -1;
    times[target]++;
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window);
    MPI_Get(&word, 1, MPI_INT, target, word_cell(), 1, MPI_INT, window);
    MPI_Get(&count, 1, MPI_INT, target, count_cell(), 1, MPI_INT, window);
    MPI_Win_unlock(target, window);
    if (word != p->sent[0])
        check_fail("%s: %d is in the window, not %d", names[p->kind], word, p->sent[0]);
    if (count != times[target])
        check_fail("%s: counted %d times, not %d", names[p->kind], count, times[target]);
}

static void
check_received(const struct traffic *p)
{
    const int length = p->kind == TRAFFIC_GET ? 1 : p->length;
    if (p->kind == TRAFFIC_IBARRIER || (p->kind == TRAFFIC_IBCAST && p->c.rank == root_of(p)))
        return;
    for (int i = 0; i < length; i++)
        if (p->received[i] != expected(p, i)) {
            check_fail("%s of %d ints: element %d is %d, not %d", names[p->kind], p->length, i,
                       p->received[i], expected(p, i));
            return;
        }
}

void
traffic_end(struct traffic *p)
{
    traffic_meet(p);
    MPI_Wait(&p->request[0], MPI_STATUS_IGNORE);
    if (p->kind == TRAFFIC_PUT)
        check_window(p);
    else
        check_received(p);
    check_guards(p->received, names[p->kind]);
    check_release(p->sent);
    check_release(p->received);
}
