/* What stands in for the MPI library: messages between threads.  A message is stored when it is
 * sent, or only when its receive is there, in which case the send ends with it. */
#include <config.h>

#include <pthread.h>

#include "execute/p2p.h"
#include "fuzz.h"
#include "threads.h"

#define CELL_BYTES ((size_t)64)
#define TAG        40

struct half {
    bool is_send, has_peer, is_over;
    int owner, peer, tag;
    size_t bytes;
    char *stored; /* of a send; or NULL */
    const char *from;
    char *to;
};

struct world {
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct half *halves; /* in the order in which they were begun; a request is its number + 1 */
    int nhalves, room;
    uint64_t seed;
    char *queues;
    int member_of[AR_THREADS_MAX]; /* of the channel; -1: none */
    int nmembers;
};

static struct world *world;
static _Thread_local int self;

/* With the lock. */
static bool
draw(unsigned one_in)
{
    world->seed = world->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (world->seed >> 33) % one_in == 0;
}

static bool
meet(const struct half *a, const struct half *b)
{
    return a->is_send != b->is_send && !b->has_peer && a->owner == b->peer && a->peer == b->owner &&
           a->tag == b->tag;
}

static void
deliver(struct half *send, struct half *receive)
{
    FUZZ_EXPECT(send->bytes == receive->bytes);
    memcpy(receive->to, send->stored ? send->stored : send->from, send->bytes);
    free(send->stored);
    send->has_peer = receive->has_peer = true;
    send->is_over = receive->is_over = true;
}

static int
begin(struct half half, MPI_Request *request)
{
    pthread_mutex_lock(&world->lock);
    if (world->nhalves == world->room) {
        world->room = 2 * world->room + 64;
        world->halves = realloc(world->halves, (size_t)world->room * sizeof *world->halves);
        FUZZ_EXPECT(world->halves);
    }
    half.owner = self;
    struct half *const mine = &world->halves[world->nhalves++];
    *mine = half;
    *request = (MPI_Request)(intptr_t)world->nhalves;
    struct half *other = world->halves;
    while (other < mine && !meet(mine, other))
        other++;
    if (other < mine) {
        deliver(mine->is_send ? mine : other, mine->is_send ? other : mine);
    } else if (mine->is_send && draw(2)) {
        mine->stored = malloc(mine->bytes + 1);
        FUZZ_EXPECT(mine->stored);
        memcpy(mine->stored, mine->from, mine->bytes);
        mine->is_over = true;
    }
    pthread_cond_broadcast(&world->news);
    pthread_mutex_unlock(&world->lock);
    return MPI_SUCCESS;
}

int
PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
           MPI_Request *request)
{
    (void)comm;
    FUZZ_EXPECT(datatype == MPI_UINT64_T);
    return begin(
        (struct half){
            .is_send = true, .peer = dest, .tag = tag, .bytes = 8 * (size_t)count, .from = buf},
        request);
}

int
PMPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
           MPI_Request *request)
{
    (void)comm;
    FUZZ_EXPECT(datatype == MPI_UINT64_T);
    return begin((struct half){.peer = source, .tag = tag, .bytes = 8 * (size_t)count, .to = buf},
                 request);
}

/* With the lock.  Some requests that are over are reported later. */
static void
find(int n, MPI_Request *requests, int *nfound, int *found)
{
    *nfound = 0;
    for (int i = 0; i < n; i++)
        if (requests[i] != MPI_REQUEST_NULL && world->halves[(intptr_t)requests[i] - 1].is_over &&
            !draw(4)) {
            requests[i] = MPI_REQUEST_NULL;
            found[(*nfound)++] = i;
        }
}

static bool
is_any_over(int n, const MPI_Request *requests)
{
    for (int i = 0; i < n; i++)
        if (requests[i] != MPI_REQUEST_NULL && world->halves[(intptr_t)requests[i] - 1].is_over)
            return true;
    return false;
}

int
PMPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
              MPI_Status array_of_statuses[])
{
    (void)array_of_statuses;
    pthread_mutex_lock(&world->lock);
    find(incount, array_of_requests, outcount, array_of_indices);
    pthread_mutex_unlock(&world->lock);
    return MPI_SUCCESS;
}

int
PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
              MPI_Status array_of_statuses[])
{
    (void)array_of_statuses;
    pthread_mutex_lock(&world->lock);
    for (;;) {
        find(incount, array_of_requests, outcount, array_of_indices);
        if (*outcount > 0)
            break;
        if (!is_any_over(incount, array_of_requests))
            pthread_cond_wait(&world->news, &world->lock);
    }
    pthread_mutex_unlock(&world->lock);
    return MPI_SUCCESS;
}

static bool
run_part(void *context, const struct threads_job *job, int rank, const struct ar_reduction *r,
         const char *in, char *out)
{
    struct ar_queue_end ends[AR_CHANNEL_QUEUES * AR_THREADS_MAX] = {0};
    struct ar_channel channel = {.rank = world->member_of[rank],
                                 .nranks = world->nmembers,
                                 .cell_bytes = CELL_BYTES,
                                 .piece = {.slots = world->queues,
                                           .slot_bytes = ar_channel_slot_bytes(CELL_BYTES),
                                           .stride = world->nmembers},
                                 .ends = ends};
    const struct ar_wire wire = {.comm = MPI_COMM_WORLD, .tag = TAG};
    struct ar_plan *plan = NULL;
    (void)context;
    self = rank;
    FUZZ_EXPECT(ar_plan_create(&plan, job->algorithm, job->params, rank, job->nranks, job->count, r,
                               64 + job->seed % 8192, AR_WINDOW_MAX) == AR_OK);
    const bool is_near = world->member_of[rank] >= 0 && plan->window <= AR_CHANNEL_QUEUES;
    char *const scratch = aligned_alloc(64, ar_plan_scratch_bytes(plan) + 64);
    FUZZ_EXPECT(scratch);
    const struct ar_p2p run = {.plan = plan,
                               .reduction = r,
                               .in = in,
                               .out = out,
                               .scratch = scratch,
                               .channel = is_near ? &channel : NULL,
                               .member_of = world->member_of,
                               .wire = &wire,
                               .wait = {.yields = AR_WAIT_FOREVER, .blocks = true}};
    const int error = ar_p2p_run(&run);
    ar_plan_destroy(plan);
    free(scratch);
    return error == MPI_SUCCESS;
}

/* No rank is in the channel, or all are, or those of a node. */
static void
choose_members(struct world *w, const struct threads_job *job)
{
    const int *const node_of = job->params->node_of;
    for (int rank = 0; rank < job->nranks; rank++) {
        const bool is_in =
            job->seed % 3 == 1 || (job->seed % 3 == 2 && node_of && node_of[rank] == node_of[0]);
        w->member_of[rank] = is_in ? w->nmembers++ : -1;
    }
}

bool
threads_run_messages(const struct threads_job *job)
{
    struct world w = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .news = PTHREAD_COND_INITIALIZER, .seed = job->seed};
    choose_members(&w, job);
    const size_t queues = AR_CHANNEL_QUEUES * (size_t)w.nmembers * (size_t)w.nmembers;
    w.queues = aligned_alloc(64, queues * ar_channel_slot_bytes(CELL_BYTES) + 64);
    FUZZ_EXPECT(w.queues);
    memset(w.queues, 0, queues * ar_channel_slot_bytes(CELL_BYTES));
    world = &w;
    const bool are_right = threads_run(job, run_part, NULL);
    for (int i = 0; i < w.nhalves; i++)
        FUZZ_EXPECT(w.halves[i].has_peer && w.halves[i].is_over);
    free(w.halves);
    free(w.queues);
    return are_right;
}
