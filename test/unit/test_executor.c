/* Nobody waits for ever in the executor of messages.  Schedules that the checker accepts, those of
 * the rows and random changes of them, are run by its own source while the ranks take turns at
 * random.
 *
 * The checker proves this for one segment.  Here several segments and calls are under way at once,
 * and their messages go by MPI and by a channel, each with a wait of its own.
 *
 * Ranks are threads of which one runs at a time, until it has looked for something in vain or its
 * turn is over.  So a seed replays a case.  Instead of MPI there are queues that promise no more
 * than the standard does: a message is copied when it is sent, or it moves while first its receiver
 * and then its sender is in a call.
 *
 * The variable EXECUTOR_CASES says how many cases there are, EXECUTOR_SEED the first one's seed. */
#include <config.h>

#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "disorder.h"
#include "mutant.h"
#include "schedule/checker.h"
#include "setting.h"
#include "unit.h"

/* --- turns --- */

#define RANKS_MAX 7
#define TURNS_MAX 100000 /* in which nothing happens */

static struct {
    int nranks;
    sem_t turn[RANKS_MAX], over;
    const char *doing[RANKS_MAX]; /* NULL: it has ended */
    uint64_t dice;
    unsigned length; /* a turn is over at one in so many chances */
    int slow;        /* a rank that seldom gets a turn; -1: none */
    unsigned idle;   /* chances since something happened */
} turns;

static __thread int me;
static char what[1024]; /* is run, for messages */

static unsigned
draw(unsigned bound)
{
    turns.dice = turns.dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(turns.dice >> 33) % bound;
}

/* By write alone, so that a signal handler may call it. */
static void
put(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(EXIT_FAILURE);
}

static __attribute__((noreturn)) void
end_in_failure(const char *why)
{
    put(what);
    put(": ");
    put(why);
    for (int i = 0; i < turns.nranks; i++) {
        const char number[] = {(char)('0' + i), '\0'}; /* of RANKS_MAX */
        put("\nrank ");
        put(number);
        put(": ");
        put(turns.doing[i] ? turns.doing[i] : "has ended");
    }
    put("\n");
    _exit(EXIT_FAILURE);
}

/* A rank that does not even look. */
static void
end_by_alarm(int number)
{
    (void)number;
    end_in_failure("a rank's turn lasts for ever");
}

static int
next_rank(void)
{
    int next;
    do
        next = (int)draw((unsigned)turns.nranks);
    while (!turns.doing[next] || (next == turns.slow && draw(20) > 0));
    return next;
}

/* A chance for others to go on. */
static void
pass(bool in_vain)
{
    if (++turns.idle > TURNS_MAX)
        end_in_failure("the ranks wait for each other for ever");
    if (!in_vain && draw(turns.length) > 0)
        return;
    const int next = next_rank();
    if (next == me)
        return;
    sem_post(&turns.turn[next]);
    sem_wait(&turns.turn[me]);
}

static void
end_turns(void)
{
    bool any = false;
    turns.doing[me] = NULL;
    for (int i = 0; i < turns.nranks; i++)
        any |= turns.doing[i] != NULL;
    sem_post(any ? &turns.turn[next_rank()] : &turns.over);
}

static void
take_turns(int nranks, void *(*run)(void *rank))
{
    static int numbers[RANKS_MAX];
    pthread_t threads[RANKS_MAX];
    turns.nranks = nranks;
    turns.length = 2U << draw(7);
    turns.slow = draw(2) ? (int)draw((unsigned)nranks) : -1;
    turns.idle = 0;
    sem_init(&turns.over, 0, 0);
    for (int i = 0; i < nranks; i++) {
        numbers[i] = i;
        turns.doing[i] = "has not begun";
        sem_init(&turns.turn[i], 0, 0);
        if (pthread_create(&threads[i], NULL, run, &numbers[i]))
            abort();
    }
    alarm(60);
    sem_post(&turns.turn[next_rank()]);
    sem_wait(&turns.over);
    alarm(0);
    for (int i = 0; i < nranks; i++)
        pthread_join(threads[i], NULL);
}

/* --- what is there instead of MPI --- */

#define TAGS_MAX  5
#define TAG_FIRST 7
#define POSTS_MAX 20000

/* A message that is sent, or received.  Its receiver answers a message that was not copied; then
 * its sender moves it. */
struct post {
    bool is_send, is_done;
    char *data;
    size_t bytes;
    char *copy; /* of a message; owned; NULL: none was made */
    struct post *partner;
    struct post *next; /* of the same lane */
};

/* Messages from one rank to another with one tag, in their order; of those that have no partner. */
struct lane {
    struct post *sends, *receives;
    struct post *answered; /* sends that are still to be moved, in no order */
};

static struct {
    struct lane lanes[RANKS_MAX][RANKS_MAX][TAGS_MAX]; /* from, to */
    struct post posts[POSTS_MAX];
    int nposts;
    size_t most_copied; /* longer messages are not */
} mpi;

static void
append(struct post **list, struct post *post)
{
    while (*list)
        list = &(*list)->next;
    *list = post;
}

static void
move(struct post *send, const char *data)
{
    struct post *const receive = send->partner;
    if (send->bytes != receive->bytes)
        end_in_failure("a message has another length than its receive");
    memcpy(receive->data, data, send->bytes);
    send->is_done = receive->is_done = true;
    turns.idle = 0;
}

/* This rank receives what has come, and answers the rest. */
static void
receive_all(struct lane *lane)
{
    while (lane->sends && lane->receives) {
        struct post *const send = lane->sends;
        send->partner = lane->receives;
        lane->sends = send->next;
        lane->receives = lane->receives->next;
        if (send->copy) {
            move(send, send->copy);
            continue;
        }
        send->next = lane->answered;
        lane->answered = send;
        turns.idle = 0;
    }
}

/* This rank is inside MPI. */
static void
progress(void)
{
    for (int peer = 0; peer < turns.nranks; peer++)
        for (int tag = 0; tag < TAGS_MAX; tag++) {
            struct lane *const out = &mpi.lanes[me][peer][tag];
            receive_all(&mpi.lanes[peer][me][tag]);
            for (; out->answered; out->answered = out->answered->next)
                move(out->answered, out->answered->data);
        }
}

static int
stand_in_progress(void)
{
    progress();
    pass(false);
    return MPI_SUCCESS;
}

/* A request's handle, of whatever type, holds its number. */
static struct post *
post_of(MPI_Request request)
{
    int number;
    memcpy(&number, &request, sizeof number);
    return &mpi.posts[number];
}

static struct post *
post(const void *data, int count, MPI_Request *request)
{
    const int number = ++mpi.nposts;
    if (number == POSTS_MAX)
        end_in_failure("too many messages");
    memset(request, 0, sizeof *request);
    memcpy(request, &number, sizeof number);
    mpi.posts[number] =
        (struct post){.data = (char *)data, .bytes = (size_t)count * sizeof(struct element)};
    return &mpi.posts[number];
}

static int
stand_in_isend(const void *data, int count, int to, int tag, MPI_Request *request)
{
    struct post *const made = post(data, count, request);
    made->is_send = true;
    if (made->bytes <= mpi.most_copied) {
        made->copy = malloc(made->bytes);
        if (!made->copy)
            abort();
        memcpy(made->copy, data, made->bytes);
        made->is_done = true;
    }
    append(&mpi.lanes[me][to][tag - TAG_FIRST].sends, made);
    turns.idle = 0;
    progress();
    pass(false);
    return MPI_SUCCESS;
}

/* Until the message has come its place holds garbage. */
static int
stand_in_irecv(void *data, int count, int from, int tag, MPI_Request *request)
{
    struct post *const made = post(data, count, request);
    memset(data, 0xA5, made->bytes);
    append(&mpi.lanes[from][me][tag - TAG_FIRST].receives, made);
    turns.idle = 0;
    progress();
    pass(false);
    return MPI_SUCCESS;
}

/* Finds some of those that have completed. */
static int
stand_in_testsome(int n, MPI_Request *requests, int *found, int *indices)
{
    progress();
    *found = 0;
    for (int i = 0; i < n; i++)
        if (requests[i] != MPI_REQUEST_NULL && post_of(requests[i])->is_done && draw(8) > 0) {
            requests[i] = MPI_REQUEST_NULL;
            indices[(*found)++] = i;
            turns.idle = 0;
        }
    pass(*found == 0);
    return MPI_SUCCESS;
}

static int
stand_in_waitsome(int n, MPI_Request *requests, int *found, int *indices)
{
    turns.doing[me] = "waits inside MPI";
    do
        stand_in_testsome(n, requests, found, indices);
    while (*found == 0);
    turns.doing[me] = "runs";
    return MPI_SUCCESS;
}

static bool
mpi_is_empty(void)
{
    bool is_empty = true;
    for (int from = 0; from < RANKS_MAX; from++)
        for (int to = 0; to < RANKS_MAX; to++)
            for (int tag = 0; tag < TAGS_MAX; tag++) {
                const struct lane *const lane = &mpi.lanes[from][to][tag];
                is_empty &= !lane->sends && !lane->receives && !lane->answered;
            }
    for (int i = 1; i <= mpi.nposts; i++)
        free(mpi.posts[i].copy);
    mpi.nposts = 0;
    return is_empty;
}

/* --- the executor --- */

static int
yield_turn(void)
{
    pass(true);
    return 0;
}

void yield_turn_dozing(void);

void
yield_turn_dozing(void)
{
    pass(true);
}

/* NOLINTBEGIN(bugprone-reserved-identifier): MPI's calls are replaced */
#define sched_yield                                       yield_turn
#define ar_wait_doze                                      yield_turn_dozing
#define PMPI_Isend(data, n, type, to, tag, comm, request) stand_in_isend(data, n, to, tag, request)
#define PMPI_Irecv(data, n, type, from, tag, comm, request)                                        \
    stand_in_irecv(data, n, from, tag, request)
#define PMPI_Testsome(n, requests, found, indices, statuses)                                       \
    stand_in_testsome(n, requests, found, indices)
#define PMPI_Waitsome(n, requests, found, indices, statuses)                                       \
    stand_in_waitsome(n, requests, found, indices)
/* NOLINTEND(bugprone-reserved-identifier) */

#include "execute/cell.h"
#include "execute/group.h"
#include "execute/p2p.h"
#include "execute/progress.h"
#include "execute/wait.h"

static uint64_t
look(const struct ar_flag *flag)
{
    pass(false);
    return ar_flag_read(flag);
}

static void
raise_flag(struct ar_flag *flag, uint64_t value, struct ar_wait wait)
{
    ar_flag_raise(flag, value, wait);
    turns.idle = 0;
    pass(false);
}

#define ar_flag_read      look
#define ar_flag_raise     raise_flag
#define ar_progress(comm) ((void)(comm), stand_in_progress())
#include "execute/channel.c" /* NOLINT(bugprone-suspicious-include): with the functions above */
#include "execute/p2p.c"     /* NOLINT(bugprone-suspicious-include): with the functions above */

static void
combine(void *dst, const void *a, const void *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ((struct element *)dst)[i] =
            element_combined(((const struct element *)a)[i], ((const struct element *)b)[i]);
}

static const struct ar_reduction sum = {.kernel = combine,
                                        .commutative = true,
                                        .named = true,
                                        .basic = true,
                                        .dense = true,
                                        .size = sizeof(struct element),
                                        .extent = sizeof(struct element),
                                        .true_extent = sizeof(struct element)};

/* --- cases --- */

#define CASES      500
#define CALLS_MAX  4
#define WORKS_MAX  2
#define COUNT_MAX  128
#define CELLS_MOST 4 /* elements of a cell */

enum transport { BY_MPI, BY_CHANNEL, BY_BOTH, TRANSPORTS };
static const char *const transport_names[] = {"MPI", "channel", "both"};
static const char *const wait_names[] = {"auto", "spin", "yield", "sleep", "block"};
enum { WAITS = sizeof wait_names / sizeof *wait_names };

/* A schedule with its segments. */
struct work {
    struct setting setting;
    struct ar_schedule *all[2]; /* of a full segment, and of the tail; NULL: there is none */
    size_t length[2], count;
    bool in_order;
    bool in_place;
    bool whole;
    int nchanges;
    struct ar_plan *plan[RANKS_MAX];
};

static struct {
    struct work work[WORKS_MAX];
    int nworks, ncalls;
    enum transport transport;
    struct ar_wait wait;
    int node_of[RANKS_MAX], members[RANKS_MAX]; /* of a rank's node */
    int member_of[RANKS_MAX][RANKS_MAX];
    size_t cell_bytes;
    char *queues[RANKS_MAX]; /* of a node; owned */
    struct ar_channel channel[RANKS_MAX];
    struct element result[CALLS_MAX][COUNT_MAX]; /* of the first rank that has it */
    bool has_result[CALLS_MAX];
} now;

static struct {
    unsigned long changes, cases[TRANSPORTS][WAITS];
} met;

/* Emits the schedules of the work that is being planned. */
static const struct work *planned;

static int
emit_planned(struct ar_schedule *s, int rank, int nranks, size_t count,
             const struct ar_params *params)
{
    const struct ar_schedule *const from = &planned->all[count != planned->length[0]][rank];
    (void)nranks, (void)params;
    for (size_t i = 0, round = 0; i < from->nsteps; i++) {
        mutant_emit(s, &from->steps[i]);
        for (; round < from->nrounds && from->round_end[round] == i + 1; round++)
            ar_end_round(s);
    }
    return ar_schedule_finish(s);
}

static bool
is_accepted(const struct work *work, int part)
{
    struct ar_verdict verdict;
    return !ar_check(&verdict, work->all[part], work->setting.nranks, work->in_place) &&
           (!work->in_order || verdict.in_rank_order);
}

/* Changes the order of a rank's steps or rounds, if the checker accepts that. */
static void
change(struct work *work, int part)
{
    struct ar_schedule *const s = &work->all[part][draw((unsigned)work->setting.nranks)];
    struct ar_schedule original = *s, mutant;
    if (original.nsteps == 0 ||
        !mutant_of_order(&mutant, &original, draw((unsigned)original.nsteps),
                         (enum mutant)draw(UNSENT)))
        return;
    *s = mutant;
    if (is_accepted(work, part)) {
        ar_schedule_fini(&original);
        work->nchanges++;
    } else {
        ar_schedule_fini(&mutant);
        *s = original;
    }
}

static void
make_schedules(struct work *work, size_t nsegments)
{
    const size_t tail = draw((unsigned)work->length[0]);
    work->length[1] = tail;
    work->count = work->length[0] * nsegments + tail;
    for (int part = 0; part < 2 && work->length[part] > 0; part++) {
        struct ar_verdict verdict;
        work->all[part] = schedules_emit(&work->setting, work->length[part]);
        if (ar_check(&verdict, work->all[part], work->setting.nranks, work->in_place))
            end_in_failure(verdict.text);
        work->in_order = part == 0 ? verdict.in_rank_order : work->in_order;
        for (unsigned tries = draw(2) ? 20 : 0; tries > 0; tries--)
            change(work, part);
    }
}

static void
make_plans(struct work *work)
{
    struct ar_algorithm row = *work->setting.row;
    struct ar_params params = work->setting.params;
    row.emit = emit_planned;
    params.window = 1 + (int)draw(5);
    params.segment_bytes = work->length[0] * sum.size;
    params.segments = 0;
    planned = work;
    for (int rank = 0; rank < work->setting.nranks; rank++)
        if (ar_plan_create(&work->plan[rank], &row, &params, rank, work->setting.nranks,
                           work->count, &sum, SIZE_MAX / 2, INT_MAX))
            abort();
}

static void
make_work(struct work *work, int nranks, enum placement placement)
{
    const struct ar_algorithm *const row = ar_algorithm_at(draw((unsigned)ar_algorithm_count()));
    memset(work, 0, sizeof *work);
    setting_vary(&work->setting, row, nranks, placement, draw((unsigned)setting_count(row)));
    work->in_place = draw(2);
    work->whole = draw(4) == 0;
    work->length[0] = 1 + draw(16);
    make_schedules(work, 1 + draw(7));
    make_plans(work);
}

/* Numbers the ranks of each node, and makes their queues. */
static void
make_channels(int nranks)
{
    now.cell_bytes = (1 + draw(CELLS_MOST)) * sum.size;
    const size_t slot_bytes = (ar_channel_slot_bytes(now.cell_bytes) + 63) / 64 * 64;
    for (int i = 0; i < nranks; i++) {
        now.members[i] = 0;
        for (int k = 0; k < nranks; k++)
            now.member_of[i][k] = now.node_of[k] == now.node_of[i] ? now.members[i]++ : -1;
    }
    for (int i = 0; i < nranks; i++) {
        const int members = now.members[i], node = now.node_of[i];
        const size_t bytes = AR_CHANNEL_QUEUES * (size_t)(members * members) * slot_bytes;
        if (!now.queues[node]) {
            now.queues[node] = aligned_alloc(64, bytes);
            memset(now.queues[node], 0, bytes);
        }
        now.channel[i] = (struct ar_channel){
            .rank = now.member_of[i][i],
            .nranks = members,
            .cell_bytes = now.cell_bytes,
            .piece = {.slots = now.queues[node], .slot_bytes = slot_bytes, .stride = members},
            .ends = calloc(AR_CHANNEL_QUEUES * (size_t)members, sizeof(struct ar_queue_end))};
    }
}

static void
describe(uint64_t seed, int wait)
{
    int n = snprintf(what, sizeof what, "EXECUTOR_SEED=%llu: messages by %s, wait=%s, cells of %zu",
                     (unsigned long long)seed, transport_names[now.transport], wait_names[wait],
                     now.cell_bytes / sum.size);
    for (int i = 0; i < now.nworks; i++) {
        const struct work *const w = &now.work[i];
        n += snprintf(what + n, sizeof what - (size_t)n,
                      "; %s, %zu elements in segments of %zu, window %d, %s, %d changes",
                      w->setting.text, w->count, w->length[0], w->plan[0]->window,
                      w->in_place ? "in place" : "apart", w->nchanges);
    }
}

static void
make_case(uint64_t seed)
{
    const int nranks = 2 + (int)draw(RANKS_MAX - 1);
    const int wait = draw(3) == 0 ? AR_WAIT_BLOCK : (int)draw(WAITS);
    const enum placement placement = (enum placement)draw(PLACE_KINDS);
    const unsigned nodes = draw(2) ? 2 + draw(2) : 0; /* 0: the rows know them */
    now.transport = draw(2) ? BY_BOTH : (enum transport)draw(TRANSPORTS);
    now.wait = ar_wait_make((enum ar_wait_policy)wait, draw(2));
    now.wait.dozes = draw(2);
    now.nworks = 1 + (int)draw(WORKS_MAX);
    now.ncalls = now.nworks + (int)draw(CALLS_MAX - WORKS_MAX + 1);
    memset(now.has_result, 0, sizeof now.has_result);
    mpi.most_copied = draw(3) * 4 * sum.size;
    for (int i = 0; i < now.nworks; i++) {
        make_work(&now.work[i], nranks, placement);
        met.changes += now.work[i].nchanges > 0;
    }
    for (int i = 0; i < nranks; i++)
        now.node_of[i] = now.transport != BY_BOTH ? 0
                         : nodes > 0              ? (int)draw(nodes)
                                                  : now.work[0].setting.node_of[i];
    make_channels(nranks);
    met.cases[now.transport][wait]++;
    describe(seed, wait);
}

/* Has each queue carried as much as was taken from it? */
static bool
channels_are_empty(int nranks)
{
    bool is_empty = true;
    for (int i = 0; i < nranks; i++)
        for (int tag = 0; tag < AR_CHANNEL_QUEUES; tag++)
            for (int peer = 0; peer < now.members[i]; peer++) {
                const struct queue *const queue =
                    queue_of(&now.channel[i], tag, now.channel[i].rank, peer);
                is_empty &= queue->sent.value == queue->taken.value;
            }
    return is_empty;
}

static void
end_case(void)
{
    const int nranks = turns.nranks;
    if (!mpi_is_empty() || !channels_are_empty(nranks))
        end_in_failure("a message is left over");
    for (int i = 0; i < now.nworks; i++) {
        struct work *const work = &now.work[i];
        for (int part = 0; part < 2; part++)
            if (work->all[part])
                schedules_free(work->all[part], nranks);
        for (int rank = 0; rank < nranks; rank++)
            ar_plan_destroy(work->plan[rank]);
    }
    for (int i = 0; i < nranks; i++)
        free(now.channel[i].ends);
    for (int node = 0; node < RANKS_MAX; node++) {
        free(now.queues[node]);
        now.queues[node] = NULL;
    }
}

/* --- a rank --- */

/* The elements of a call. */
static struct element
contribution(int rank, int call, size_t i)
{
    return element_of(rank, i + (size_t)call * COUNT_MAX);
}

static void
check(const struct work *work, int call, const struct element *in, const struct element *out)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct element own = contribution(me, call, i);
        struct element all = contribution(0, call, i);
        struct element *const first = &now.result[call][i];
        for (int k = 1; k < turns.nranks; k++)
            all = element_combined(all, contribution(k, call, i));
        if (!now.has_result[call])
            *first = out[i];
        if (!element_is_same(&out[i], &all, work->in_order))
            end_in_failure("a result is wrong");
        if (!element_is_same(&out[i], first, true) || out[i].rounded != first->rounded)
            end_in_failure("results differ between ranks");
        if (in != out && !element_is_same(&in[i], &own, true))
            end_in_failure("an input was overwritten");
    }
    now.has_result[call] = true;
}

static void
run_call(int call)
{
    const struct work *const work = &now.work[call % now.nworks];
    const struct ar_wire wire = {.comm = MPI_COMM_SELF, .tag = TAG_FIRST};
    struct ar_plan *const plan = work->plan[me];
    struct element *const out = calloc(work->count, sizeof *out);
    struct element *const in = work->in_place ? out : malloc(work->count * sizeof *in);
    char *const scratch = aligned_alloc(64, ar_plan_scratch_bytes(plan) + 64);
    const bool has_channel =
        now.transport != BY_MPI && now.members[me] > 1 && plan->window <= AR_CHANNEL_QUEUES;
    if (!in || !out || !scratch)
        abort();
    for (size_t i = 0; i < work->count; i++)
        in[i] = contribution(me, call, i);
    const struct ar_p2p run = {.plan = plan,
                               .reduction = &sum,
                               .in = (const char *)in,
                               .out = (char *)out,
                               .scratch = scratch,
                               .channel = has_channel ? &now.channel[me] : NULL,
                               .member_of = now.member_of[me],
                               .wire = &wire,
                               .wait = now.wait,
                               .whole = work->whole};
    if (ar_p2p_run(&run) != MPI_SUCCESS)
        end_in_failure("an error");
    check(work, call, in, out);
    free(scratch);
    free(out);
    if (in != out)
        free(in);
}

static void *
run_rank(void *rank)
{
    me = *(int *)rank;
    sem_wait(&turns.turn[me]);
    turns.doing[me] = "runs";
    for (int call = 0; call < now.ncalls; call++)
        run_call(call);
    end_turns();
    return NULL;
}

/* --- all --- */

static uint64_t
number_in(const char *variable, uint64_t otherwise)
{
    const char *const text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

static void
whatever_the_checker_accepts_runs_to_its_end(void **state)
{
    const uint64_t first = number_in("EXECUTOR_SEED", 1), n = number_in("EXECUTOR_CASES", CASES);
    (void)state;
    signal(SIGALRM, end_by_alarm);
    for (uint64_t seed = first; seed < first + n; seed++) {
        turns.dice = seed * UINT64_C(0x9e3779b97f4a7c15);
        make_case(seed);
        take_turns(now.work[0].setting.nranks, run_rank);
        end_case();
    }
    if (n < CASES)
        return;
    assert_true(met.changes > n / 4);
    for (int i = 0; i < TRANSPORTS * WAITS; i++)
        assert_true(met.cases[i / WAITS][i % WAITS] > 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_the_checker_accepts_runs_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
