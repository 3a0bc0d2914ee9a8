/* The node executor on weakly ordered memory: what it reads and writes of the slots is ordered by
 * its flags alone, on any machine.
 *
 * Each rank's accesses to shared memory do not depend on when others come, but for how often it
 * looks at a flag.  So they are recorded rank by rank: the executor's own source, in which the
 * functions that touch slots are replaced.  vector_clocks.h says why one run stands for all.
 *
 * The same records are run on simulated caches: as many lines move as the model counts for the
 * schedule. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "../unit/coherence.h"
#include "algorithms/grouping.h"
#include "check.h"
#include "execute/cell.h"
#include "execute/in_place.h"
#include "execute/node_plan.h"
#include "execute/progress.h"
#include "execute/wait.h"
#include "model/lines.h"
#include "reduce/reduce.h"
#include "schedule/schedule.h"
#include "vector_clocks.h"

/* --- recording --- */

#define RANKS_MAX    ORDER_RANKS
#define CHUNK_BYTES  ((size_t)256)
#define ACCESSES_MAX 200000

/* Of struct ar_node, if there are two ranks. */
#define EXCHANGED_BYTES 200
static size_t exchanged_bytes;

static struct trace traces[RANKS_MAX], *trace; /* of the rank that is recorded */
static char *memory;                           /* shared: zero */
static size_t slots_bytes, memory_bytes;       /* of it: the slots; they and the ranks' buffers */
static uint64_t least;                         /* each wait of the call is for more */
static uint64_t guess; /* what a flag is said to be: more each time, until the wait ends */

static void
add(enum access_kind kind, const void *at, size_t bytes, uint64_t value)
{
    const size_t from = (size_t)((const char *)at - memory);
    if ((const char *)at < memory || from >= memory_bytes)
        return;
    CHECK(trace->n < ACCESSES_MAX && from + bytes <= memory_bytes, "%zu bytes at %zu", bytes, from);
    trace->of[trace->n++] = (struct access){kind, from, from + bytes, value};
}

/* Lines that a rank asked for ahead: before a look at a flag, and before the last look of each wait
 * together with how many accesses there were before. */
static struct {
    size_t line[ACCESSES_MAX], before[ACCESSES_MAX];
    size_t n, nlooked;
} asked;

static void
record_ask(const char *at)
{
    CHECK(asked.nlooked < ACCESSES_MAX, "%zu lines", asked.nlooked);
    asked.before[asked.nlooked] = trace->n;
    asked.line[asked.nlooked++] = (size_t)(at - memory) / AR_LINE_BYTES;
}

/* A line of its own that a rank takes back. */
static void
record_take(const char *at)
{
    add(TAKE, at - (size_t)(at - memory) % AR_LINE_BYTES, AR_LINE_BYTES, 0);
}

static const struct ar_flag *looked_at;

static uint64_t
record_look(const struct ar_flag *flag)
{
    looked_at = flag;
    return guess;
}

static void
record_looked(bool in_vain)
{
    if (!in_vain) {
        CHECK(guess > least || least == 0, "a wait for no more than %zu", (size_t)least);
        add(AWAIT, looked_at, sizeof looked_at->value, guess);
        asked.n = asked.nlooked;
    }
    asked.nlooked = asked.n; /* it asks again before each look */
    guess = in_vain ? guess + 1 : least;
}

static int
record_apply(const struct ar_reduction *r, void *dst, const void *a, void *b, size_t count)
{
    add(READ, a, count * r->size, 0);
    add(READ, b, count * r->size, 0);
    add(WRITE, dst, count * r->size, 0);
    return MPI_SUCCESS;
}

static int
record_copy(const struct ar_reduction *r, void *to, const void *from, size_t count)
{
    add(READ, from, count * r->size, 0);
    add(WRITE, to, count * r->size, 0);
    return MPI_SUCCESS;
}

/* Ranks' buffers, of IN and OUT each: behind the slots. */
#define BUFFER_LENGTH ((size_t)512)
#define BUFFER_BYTES  (BUFFER_LENGTH * sizeof(double))

static char *buffers;

static char *
buffer_of(int rank, enum ar_buffer buffer)
{
    return buffers + (size_t)ar_in_place_at(rank, buffer) * BUFFER_BYTES;
}

/* How far a call in place comes: all show their buffers and map those of the others; rank 0 does
 * not show its own; rank 1 cannot map. */
enum refusal { GRANTED, HIDDEN, UNMAPPED, REFUSALS };

static struct {
    enum refusal refusal;
    unsigned in_place; /* a bit for each rank whose IN is its OUT */
    int meetings;      /* at which something was told */
    uint64_t offer;    /* what the rank told of agreements */
} now;

/* In place of src/execute/xpmem.c; test/unit/no_xpmem.c has the rest. */
uint64_t
ar_xpmem_show(const void *data, size_t bytes)
{
    (void)bytes;
    const int rank = (int)((size_t)((const char *)data - buffers) / BUFFER_BYTES / 2);
    return now.refusal != HIDDEN || rank != 0 ? (uintptr_t)data : 0;
}

static char *
in_of(int rank)
{
    return buffer_of(rank, now.in_place >> rank & 1 ? AR_OUT : AR_IN);
}

void *
ar_xpmem_map(struct ar_xpmem_peer *peer, uint64_t address, size_t bytes, bool attaches)
{
    (void)peer, (void)bytes, (void)attaches;
    return now.refusal == UNMAPPED && trace == &traces[1] ? NULL : (void *)(uintptr_t)address;
}

static void
record_tell(const void *to, const struct ar_shown *shown)
{
    add(WRITE, to, sizeof *shown, 0);
    now.offer = shown->knows;
    now.meetings++;
}

/* What the rank that owns the slot tells at this meeting.  It offers the same as the recorded rank,
 * since all have made the same calls. */
static struct ar_shown
record_read(const void *from, size_t nslots)
{
    const size_t slot = (size_t)((const char *)from - memory) / ar_node_slot_bytes(CHUNK_BYTES);
    const int rank = (int)(slot % nslots);
    const bool cannot = now.refusal == UNMAPPED && rank == 1;
    const struct ar_shown shown = {{ar_xpmem_show(in_of(rank), BUFFER_BYTES),
                                    ar_xpmem_show(buffer_of(rank, AR_OUT), BUFFER_BYTES)},
                                   cannot ? 0 : now.offer};
    add(READ, from, sizeof shown, 0);
    return cannot && now.meetings == 2 ? (struct ar_shown){{0}, 0} : shown;
}

#define ar_shown_tell(to, shown)          record_tell(to, shown)
#define ar_shown_read(from)               record_read(from, (size_t)node->piece.stride)
#define ar_wait_ask(at)                   record_ask(at)
#define ar_wait_take(at)                  record_take(at)
#define ar_flag_read(flag)                record_look(flag)
#define ar_idle_look(idle, in_vain)       ((void)(idle), record_looked(in_vain))
#define ar_flag_raise(flag, number, wait) add(RAISE, flag, sizeof(uint64_t), number)
#define ar_flag_sleep(flag, value)        ((void)(flag))
#define ar_reduction_apply                record_apply
#define ar_reduction_copy                 record_copy
#define ar_cell_store                     record_copy
#define ar_cell_stream                    record_copy
#define ar_cell_fetch                     record_copy
#define ar_progress(comm)                 MPI_SUCCESS
#include "execute/node.c" /* NOLINT(bugprone-suspicious-include): the functions above in place of its own */

/* --- what ranks do --- */

/* Tiny, short and of several chunks; then those that run by the plan of another one. */
static const size_t counts[] = {1, 6, 7, 20, 64, 90, 161, 300, 8, 33, 70, 130, 200, 41};
static const size_t planned[] = {1, 6, 7, 20, 64, 90, 161, 300, 20, 64, 90, 161, 300, 300};
enum { COUNTS = 8, ALL_COUNTS = sizeof counts / sizeof counts[0], CALLS = 3 };

enum form {
    SLICES,
    WHOLE,
    SLICES_OF_GROUPS,
    WHOLE_OF_GROUPS,
    SLICES_OF_EVEN,   /* groups of equal size */
    SHARES_OF_GROUPS, /* of equal size, which exchange whole shares where these are short */
    FORMS_OF_SLOTS,
    BUFFERS = FORMS_OF_SLOTS, /* those of the peers are read where they are */
    BUFFERS_OF_GROUPS,        /* of equal size */
    FORMS,
    BUFFERS_OF_UNEQUAL = FORMS, /* which the executor is never given */
    ALL_FORMS
};

struct call {
    size_t which; /* of counts */
    enum form form;
    unsigned in_place;    /* a bit for each rank whose IN is its OUT */
    enum refusal refusal; /* of BUFFERS */
};

enum { NOBODY, RANK_1 = 2 };
#define EVERYBODY (~0U)

/* Of memory that another communicator had, of more ranks. */
static uint64_t numbers_before; /* of its chunks */
static int ranks_before;        /* that it had more */

/* What each rank of a communicator needs for each call; made when it is first needed. */
static struct {
    int nranks;
    struct ar_grouping grouping; /* pairs of neighbours, and fours of them; the rest is alone */
    struct ar_grouping even;     /* pairs or threes, and fours, where they are equal */
    struct ar_node_plan *plan[RANKS_MAX][ALL_COUNTS][ALL_FORMS];
} group;

static void
forget_plans(void)
{
    if (group.nranks == 0)
        return;
    for (int i = 0; i < group.nranks; i++)
        for (int k = 0; k < ALL_COUNTS; k++)
            for (int form = 0; form < ALL_FORMS; form++) {
                ar_node_plan_destroy(group.plan[i][k][form]);
                group.plan[i][k][form] = NULL;
            }
    ar_grouping_fini(&group.grouping);
    ar_grouping_fini(&group.even);
    group.nranks = 0;
}

/* One rank, the last, has no domain. */
static void
be_group(int nranks)
{
    int pairs[RANKS_MAX], fours[RANKS_MAX];
    const int *const domain[] = {pairs, fours};
    if (group.nranks == nranks)
        return;
    forget_plans();
    for (int i = 0; i < nranks; i++) {
        pairs[i] = i == nranks - 1 ? -1 : i / 2;
        fours[i] = i / 4;
    }
    CHECK(ar_grouping_init(&group.grouping, nranks, 2, domain) == AR_OK, "%d ranks", nranks);
    for (int i = 0; i < nranks; i++) {
        pairs[i] = nranks % 2 == 0 ? i / 2 : nranks % 3 == 0 ? i / 3 : 0;
        fours[i] = nranks % 4 == 0 ? i / 4 : 0;
    }
    CHECK(ar_grouping_init(&group.even, nranks, 2, domain) == AR_OK, "%d ranks", nranks);
    CHECK(ar_grouping_is_even(&group.even), "%d ranks", nranks);
    group.nranks = nranks;
}

static struct ar_params
params_of(enum form form)
{
    struct ar_params params = ar_algorithm_find("shm", 3)->defaults;
    const bool is_whole = form == WHOLE || form == WHOLE_OF_GROUPS;
    params.whole_bytes = is_whole ? SIZE_MAX : form == SHARES_OF_GROUPS ? 4 * sizeof(double) : 1;
    if (form == BUFFERS_OF_GROUPS || form == SHARES_OF_GROUPS || form == SLICES_OF_EVEN)
        params.grouping = &group.even;
    else if (form == SLICES_OF_GROUPS || form == WHOLE_OF_GROUPS || form == BUFFERS_OF_UNEQUAL)
        params.grouping = &group.grouping;
    params.copy = form >= BUFFERS ? AR_COPY_IN_PLACE : AR_COPY_SLOTS;
    return params;
}

/* Of elements: as the plan has it for a message in chunks of length. */
static size_t
whole_of(const struct ar_params *params, size_t count, size_t length)
{
    const struct ar_shm_tuning none = {.whole_bytes = 0};
    return ar_shm_whole(&none, params, count, length, sizeof(double));
}

static struct ar_node_plan *
find_plan(const struct ar_node *node, const struct ar_reduction *r, const struct call *call)
{
    struct ar_node_plan **const plan = &group.plan[node->rank][call->which][call->form];
    const struct ar_algorithm *const shm = ar_algorithm_find("shm", 3);
    const struct ar_params params = params_of(call->form);
    const bool is_lent = !params.grouping || ar_grouping_is_even(params.grouping);
    const size_t count = is_lent ? planned[call->which] : counts[call->which];
    if (!*plan)
        CHECK(ar_node_plan_create(plan, node, shm, &params, count, r, false) == AR_OK &&
                  (*plan)->can_end_early >= is_lent,
              "%zu elements, form %d", count, call->form);
    return *plan;
}

/* Records a call, before which the program writes its buffers, and behind which it reads them. */
static void
record_call(struct ar_node_run *run, struct ar_in_place *in_place, const struct call *call)
{
    _Alignas(64) static char scratch[1 << 16];
    const int rank = run->node->rank;
    const size_t bytes = counts[call->which] * sizeof(double);
    now.refusal = call->refusal;
    now.in_place = call->in_place;
    now.meetings = 0;
    least = run->node->sequence > AR_SLOTS ? run->node->sequence - AR_SLOTS : 0;
    guess = least;
    run->plan = find_plan(run->node, run->reduction, call);
    run->count = counts[call->which];
    run->in_place = call->form >= BUFFERS ? in_place : NULL;
    run->in = in_of(rank);
    run->out = buffer_of(rank, AR_OUT);
    run->scratch = scratch;
    CHECK(ar_node_plan_scratch_bytes(run->plan) <= sizeof scratch, "rank %d", rank);
    add(WRITE, run->in, bytes, 0);
    add(WRITE, run->out, bytes, 0);
    CHECK(ar_node_allreduce(run) == MPI_SUCCESS, "rank %d", rank);
    add(READ, run->out, bytes, 0);
}

/* Records what a rank does in calls on a communicator of so many ranks. */
static void
record(int rank, int nranks, const struct call *calls, size_t n)
{
    struct ar_reduction r;
    struct ar_in_place *const in_place = ar_in_place_allocate(rank, nranks);
    CHECK(ar_reduction_resolve(&r, MPI_SUM, MPI_DOUBLE), "sum of doubles");
    struct ar_node node = {.rank = rank,
                           .nranks = nranks,
                           .chunk_bytes = CHUNK_BYTES,
                           .exchanged_bytes = nranks == 2 ? exchanged_bytes : 0,
                           .sequence = numbers_before,
                           .piece = {.slots = memory,
                                     .slot_bytes = ar_node_slot_bytes(CHUNK_BYTES),
                                     .stride = nranks + ranks_before}};
    struct ar_node_run run = {.node = &node, .reduction = &r, .wait = {.spins = AR_WAIT_FOREVER}};
    trace = &traces[rank];
    trace->n = asked.n = asked.nlooked = 0;
    be_group(nranks);
    if (!in_place)
        abort();
    for (size_t i = 0; i < n; i++)
        record_call(&run, in_place, &calls[i]);
    ar_in_place_destroy(in_place);
}

/* --- the order of accesses --- */

/* What is wrong on purpose. */
enum fault { NOTHING, RELAXED, RELAXED_FIRST, RELAXED_OTHERS, IGNORED, FEWER_SLOTS };

static enum fault fault_now;
static size_t turns_now; /* of slots, if fewer */

static size_t
move_to_fewer(size_t at)
{
    const size_t row = (size_t)(group.nranks + ranks_before) * ar_node_slot_bytes(CHUNK_BYTES);
    return at < slots_bytes ? at / row % turns_now * row + at % row : at;
}

/* Does a look at the flag there tell nothing of what was before? */
static bool
is_relaxed(size_t byte)
{
    const size_t first = offsetof(struct ar_slot, line[ar_slot_line_of(0)]);
    const bool is_first = byte % ar_node_slot_bytes(CHUNK_BYTES) == first;
    return fault_now == RELAXED || fault_now == (is_first ? RELAXED_FIRST : RELAXED_OTHERS);
}

/* With exchanged areas, the other rank may write in the next chunk to lines that this one takes
 * back in a short chunk.  This costs nothing but time. */
static void
forget_taken(struct trace *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        const size_t at = t->of[i].at % ar_node_slot_bytes(CHUNK_BYTES);
        if (t->of[i].kind != TAKE || at < offsetof(struct ar_slot, area))
            t->of[n++] = t->of[i];
    }
    t->n = n;
}

static enum order
order(int nranks, const struct call *calls, size_t n, enum fault fault, size_t turns)
{
    const struct order_faults faults = {.is_relaxed = is_relaxed,
                                        .moved = fault == FEWER_SLOTS ? move_to_fewer : NULL,
                                        .ignores_flags = fault == IGNORED};
    fault_now = fault;
    turns_now = turns;
    for (int rank = 0; rank < nranks; rank++)
        record(rank, nranks, calls, n);
    for (int rank = 0; rank < nranks && nranks == 2 && exchanged_bytes > 0; rank++)
        forget_taken(&traces[rank]);
    return order_of(traces, nranks, &faults);
}

/* --- cache lines --- */

/* Nodes of pairs, of fours, and of all. */
static const struct ar_machine levels = {.ndomains = 3,
                                         .domains = {{.ranks = 2}, {.ranks = 4}, {.ranks = 16}}};

/* Does the rank wait there for what nobody has raised so far? */
static bool
waits(const uint64_t *raised, const struct access *x)
{
    return x->kind == AWAIT && raised[x->at / sizeof *raised] < x->value;
}

/* All that was recorded, on caches; whose turn it is chance decides. */
static void
run_on_caches(struct coherence *c, int nranks, unsigned seed)
{
    uint64_t *const raised = calloc(memory_bytes / sizeof *raised, sizeof *raised);
    size_t next[RANKS_MAX] = {0};
    if (!raised)
        abort();
    for (int left = nranks; left > 0;) {
        seed = seed * 1103515245 + 12345;
        const int rank = (int)((seed >> 16) % (unsigned)nranks);
        const struct trace *const t = &traces[rank];
        const struct access *const x = &t->of[next[rank]];
        if (next[rank] == t->n || waits(raised, x))
            continue;
        for (size_t at = x->at / AR_LINE_BYTES * AR_LINE_BYTES; at < x->end; at += AR_LINE_BYTES)
            if (x->kind == RAISE || x->kind == WRITE || x->kind == TAKE)
                coherence_write(c, rank, at / AR_LINE_BYTES);
            else
                coherence_read(c, rank, at / AR_LINE_BYTES);
        if (x->kind == RAISE)
            raised[x->at / sizeof *raised] = x->value;
        left -= ++next[rank] == t->n;
    }
    free(raised);
}

/* The accesses of a rank that the model counts for a chunk of count elements; of none, a meeting.
 */
static int
find_accesses(struct ar_accesses *accesses, int rank, struct ar_emission *e, size_t count)
{
    e->count = count;
    if (count == 0)
        return ar_accesses_init_meeting(accesses, rank, e->nranks);
    if (e->params->copy == AR_COPY_IN_PLACE)
        return ar_accesses_init_in_place(accesses, rank, e->nranks, ar_algorithm_source, e);
    return ar_accesses_init(accesses, rank, e->nranks, sizeof(double), ar_algorithm_source, e);
}

/* Adds what the model counts for so many of them. */
static void
add_lines(size_t *all, const struct ar_machine *machine, struct ar_emission *e, size_t count,
          size_t times)
{
    struct ar_accesses ranks[RANKS_MAX];
    struct ar_lines_count lines;
    for (int rank = 0; rank < e->nranks; rank++)
        CHECK(find_accesses(&ranks[rank], rank, e, count) == AR_OK, "%zu elements, rank %d", count,
              rank);
    CHECK(ar_lines_count(&lines, machine, ranks, e->nranks, sizeof(double)) == AR_OK, "%d ranks",
          e->nranks);
    for (int l = 0; l < machine->ndomains; l++)
        all[l] += times * lines.all[l];
    for (int rank = 0; rank < e->nranks; rank++)
        ar_accesses_fini(&ranks[rank]);
}

/* Enough calls that each slot is used again and again.  The first one in place has three meetings,
 * the others two. */
static void
check_lines_of(const struct ar_machine *machine, int nranks, struct call call)
{
    enum { AGAIN = 6, MEETINGS_OF_ALL = 2 * AGAIN + 1 };
    const struct call calls[AGAIN] = {call, call, call, call, call, call};
    const size_t count = counts[call.which];
    size_t counted[AR_MACHINE_DOMAINS] = {0};
    struct coherence c;
    for (int rank = 0; rank < nranks; rank++)
        record(rank, nranks, calls, AGAIN);
    coherence_init(&c, machine, nranks, memory_bytes / AR_LINE_BYTES);
    run_on_caches(&c, nranks, (unsigned)count);
    const struct ar_node_plan *const plan = group.plan[0][call.which][call.form];
    struct ar_params params = params_of(call.form);
    struct ar_emission e = {ar_algorithm_find("shm", 3), &params, nranks, 0};
    params.whole_bytes = whole_of(&params, count, plan->length);
    add_lines(counted, machine, &e, plan->length, AGAIN * (count / plan->length));
    if (count % plan->length > 0)
        add_lines(counted, machine, &e, count % plan->length, AGAIN);
    if (call.form >= BUFFERS)
        add_lines(counted, machine, &e, 0, MEETINGS_OF_ALL);
    for (int l = 0; l < machine->ndomains; l++)
        CHECK(counted[l] == c.moved[l],
              "%d ranks, %zu elements, form %d, level %d: %zu lines, on caches %zu", nranks, count,
              call.form, l, counted[l], c.moved[l]);
    coherence_fini(&c);
}

/* Are a chunk's slices whole lines, on more than two ranks? */
static bool
has_whole_slices(int nranks, size_t count)
{
    const size_t line = AR_LINE_BYTES / sizeof(double), chunk = CHUNK_BYTES / sizeof(double);
    return nranks == 2 || (count % chunk == 0 && chunk % (line * (size_t)nranks) == 0);
}

/* Caches of a core each, and of two. */
static void
check_lines(void)
{
    struct ar_machine shared = levels;
    shared.domains[0].cache_bytes = 1 << 20;
    for (int p = 2; p <= RANKS_MAX; p++)
        for (int form = 0; form < FORMS_OF_SLOTS; form++)
            for (size_t i = 0; i < COUNTS; i++) {
                const struct call call = {i, (enum form)form, NOBODY, GRANTED};
                check_lines_of(&levels, p, call);
                check_lines_of(&shared, p, call);
            }
    for (int p = 2; p <= 4; p++)
        for (size_t i = 0; i < COUNTS; i++) {
            const struct call call = {i, BUFFERS, NOBODY, GRANTED};
            if (!has_whole_slices(p, counts[i]))
                continue;
            check_lines_of(&levels, p, call);
            check_lines_of(&shared, p, call);
        }
}

/* --- lines that are asked for ahead --- */

/* Lines in the area that a flag announces and that come along with it. */
static size_t
lines_along(const struct ar_access *x, int nranks)
{
    const struct ar_lines lines = ar_lines_of(&x->a, x->length, sizeof(double));
    return lines.first > 0 && x->length * sizeof(double) <= (nranks == 2 ? 256 : 128) ? lines.n : 0;
}

/* How many lines a rank asks for in all its waits of a chunk: those of the flags that it awaits
 * next in the same stage, eight with the awaited one, and what these eight announce. */
static size_t
count_asked(const struct ar_accesses *accesses)
{
    size_t n = 0;
    for (size_t stage = 0, i = 0; stage < accesses->nstages; stage++)
        for (; i < accesses->stage_end[stage]; i++)
            for (size_t k = i, flags = 0; k < accesses->stage_end[stage]; k++)
                if (accesses->all[i].kind == AR_ACCESS_AWAIT &&
                    accesses->all[k].kind == AR_ACCESS_AWAIT && flags++ < 8)
                    n += (k > i) + lines_along(&accesses->all[k], accesses->nranks);
    return n;
}

typedef size_t count_fn(const struct ar_accesses *accesses);

/* Of a chunk's accesses, through slots. */
static size_t
of_accesses(count_fn *counted, int rank, int nranks, const struct call *call, size_t length)
{
    struct ar_params params = params_of(call->form);
    struct ar_emission e = {ar_algorithm_find("shm", 3), &params, nranks, length};
    struct ar_accesses accesses;
    params.whole_bytes =
        whole_of(&params, counts[call->which], group.plan[rank][call->which][call->form]->length);
    if (length == 0)
        return 0;
    CHECK(ar_accesses_init(&accesses, rank, nranks, sizeof(double), ar_algorithm_source, &e) ==
              AR_OK,
          "rank %d of %d", rank, nranks);
    const size_t n = counted(&accesses);
    ar_accesses_fini(&accesses);
    return n;
}

/* Is the line another one than that of the flag which the recorded rank then awaits, and does the
 * rank look at it or read it after that? */
static bool
is_used_after(size_t line, size_t awaited)
{
    if (trace->of[awaited].at / AR_LINE_BYTES == line)
        return false;
    for (size_t i = awaited + 1; i < trace->n; i++) {
        const struct access *const x = &trace->of[i];
        if ((x->kind == AWAIT || x->kind == READ) && x->at / AR_LINE_BYTES <= line &&
            line <= (x->end - 1) / AR_LINE_BYTES)
            return true;
    }
    return false;
}

/* As many lines are asked for ahead as the schedule says, and none that is not used later. */
static void
check_asked(void)
{
    for (int p = 2; p <= RANKS_MAX; p++)
        for (int form = 0; form < FORMS_OF_SLOTS; form++)
            for (size_t i = 0; i < COUNTS; i++)
                for (int rank = 0; rank < p; rank++) {
                    const struct call call = {i, (enum form)form, NOBODY, GRANTED};
                    record(rank, p, &call, 1);
                    const size_t length = group.plan[rank][i][form]->length;
                    const size_t expected =
                        counts[i] / length * of_accesses(count_asked, rank, p, &call, length) +
                        of_accesses(count_asked, rank, p, &call, counts[i] % length);
                    CHECK(asked.n == expected,
                          "%d ranks, %zu elements, form %d, rank %d: %zu lines, asked for %zu", p,
                          counts[i], form, rank, expected, asked.n);
                    for (size_t k = 0; k < asked.n; k++)
                        CHECK(is_used_after(asked.line[k], asked.before[k]),
                              "%d ranks, %zu elements, form %d, rank %d: line %zu", p, counts[i],
                              form, rank, asked.line[k]);
                }
}

/* --- lines that are taken back --- */

/* How many lines a rank takes back in a chunk that is a call: those of its flags and of what it
 * stores for each, where that is short. */
static size_t
count_taken(const struct ar_accesses *accesses)
{
    size_t n = 0;
    for (size_t i = 0; i < accesses->n; i++) {
        const struct ar_access *const x = &accesses->all[i];
        const struct ar_lines lines = ar_lines_of(&x->dst, x->dst.length, sizeof(double));
        if (x->kind == AR_ACCESS_RAISE && x->dst.length * sizeof(double) <= AR_SHORT_BYTES)
            n += 1 + (lines.first > 0 ? lines.n : 0);
    }
    return n;
}

/* Does the recorded rank write to the line after that? */
static bool
is_written_after(const struct access *taken)
{
    for (const struct access *x = taken + 1; x < trace->of + trace->n; x++)
        if ((x->kind == RAISE || x->kind == WRITE) && x->at < taken->end && taken->at < x->end)
            return true;
    return false;
}

/* If a call is one chunk, as many lines are taken back as the schedule says, and the next call
 * stores to each of them.  The checks of all other orders show that nobody is still to read
 * there. */
static void
check_taken(void)
{
    for (int p = 2; p <= RANKS_MAX; p++)
        for (int form = 0; form < FORMS; form++)
            for (size_t i = 0; i < COUNTS; i++)
                for (int rank = 0; rank < p; rank++) {
                    const struct call call = {i, (enum form)form, NOBODY, GRANTED};
                    const struct call calls[] = {call, call};
                    size_t expected = 0, taken = 0, in_vain = 0;
                    record(rank, p, calls, 2);
                    if (form < FORMS_OF_SLOTS && group.plan[rank][i][form]->chunks == 1)
                        expected = 2 * of_accesses(count_taken, rank, p, &call, counts[i]);
                    for (size_t k = 0; k < trace->n; k++)
                        if (trace->of[k].kind == TAKE) {
                            taken++;
                            in_vain += !is_written_after(&trace->of[k]);
                        }
                    CHECK(taken == expected && 2 * in_vain == taken,
                          "%d ranks, %zu elements, form %d, rank %d: %zu lines, taken %zu, %zu in "
                          "vain",
                          p, counts[i], form, rank, expected, taken, in_vain);
                }
}

/* --- areas that are exchanged --- */

/* By which chunks each rank has stored to each element of the slots. */
#define STORED_MOST 16
static struct {
    uint64_t by[STORED_MOST];
    size_t n;
} stored[2][ORDER_BYTES / sizeof(double)];

/* A rank raises a flag after what it has stored for it. */
static void
note_stored(int rank)
{
    uint64_t sequence = 0;
    for (size_t i = trace->n; i-- > 0;) {
        const struct access *const x = &trace->of[i];
        sequence = x->kind == RAISE ? x->value : sequence;
        for (size_t at = x->at; x->kind == WRITE && at < x->end && at < slots_bytes;
             at += sizeof(double)) {
            const size_t element = at / sizeof(double), n = stored[rank][element].n++;
            CHECK(n < STORED_MOST, "%zu stores", n);
            if (n < STORED_MOST)
                stored[rank][element].by[n] = sequence;
        }
    }
}

/* Do two ranks store to an element in turn?  Later stores stand first. */
static bool
is_in_turn(size_t element)
{
    const size_t n = stored[0][element].n + stored[1][element].n;
    size_t next[2] = {0, 0};
    int last = -1;
    for (size_t i = 0; i < n; i++) {
        uint64_t by[2];
        for (int rank = 0; rank < 2; rank++)
            by[rank] =
                next[rank] < stored[rank][element].n ? stored[rank][element].by[next[rank]] : 0;
        const int later = by[1] > by[0];
        if (later == last)
            return false;
        last = later;
        next[later]++;
    }
    return true;
}

/* Two ranks write where each has read, in long chunks, whatever is between these: calls of two long
 * chunks, and where a rank has hidden its buffers a meeting before them. */
static void
check_exchanged(void)
{
    enum { ROW = 12 };
    static const enum form forms[] = {SLICES, WHOLE, BUFFERS};
    for (int form = 0; form < 3; form++) {
        struct call calls[ROW];
        const size_t area = offsetof(struct ar_slot, area);
        size_t both = 0, alone = 0, twice = 0;
        for (size_t k = 0; k < ROW; k++)
            calls[k] = (struct call){4, forms[form], NOBODY, HIDDEN};
        memset(stored, 0, sizeof stored);
        for (int rank = 0; rank < 2; rank++) {
            record(rank, 2, calls, ROW);
            note_stored(rank);
        }
        for (size_t i = 0; i < slots_bytes / sizeof(double); i++) {
            if (i * sizeof(double) % ar_node_slot_bytes(CHUNK_BYTES) < area)
                continue;
            const bool is_stored[] = {stored[0][i].n > 0, stored[1][i].n > 0};
            both += is_stored[0] && is_stored[1];
            alone += is_stored[0] != is_stored[1];
            twice += !is_in_turn(i);
        }
        const size_t all = AR_SLOTS * 2 * CHUNK_BYTES / sizeof(double);
        CHECK(exchanged_bytes > 0 ? both == all && alone == 0 && twice == 0
                                  : both == 0 && alone == all,
              "form %d: of %zu elements both ranks store to %zu and one to %zu, and %zu are not in "
              "turn",
              forms[form], all, both, alone, twice);
    }
}

/* --- the tests --- */

/* Of all rows of three calls each so many-th is run: 1, but an instrumented program takes minutes
 * for all. */
static size_t stride = 1;

/* Any three, flat, and on three ranks in groups. */
static void
check_every_three_calls(int most)
{
    for (int p = 2; p <= most; p++)
        for (int kinds = 0; kinds < 1 << CALLS; kinds++)
            for (size_t i = 0; i < (p == 2 ? 2 : 4) * COUNTS * COUNTS * COUNTS; i += stride) {
                const size_t which[CALLS] = {i % COUNTS, i / COUNTS % COUNTS,
                                             i / COUNTS / COUNTS % COUNTS};
                const size_t more = i / COUNTS / COUNTS / COUNTS;
                struct call calls[CALLS];
                for (int k = 0; k < CALLS; k++)
                    calls[k] = (struct call){
                        which[k],
                        (enum form)((kinds >> k & 1) + (p == 3 && more >> 1 && k != 1 ? 2 : 0)),
                        more & 1 ? EVERYBODY : NOBODY, GRANTED};
                CHECK(order(p, calls, CALLS, NOTHING, 0) == ORDERED,
                      "%d ranks, calls of %zu, %zu and %zu elements, forms %d %d %d", p,
                      counts[which[0]], counts[which[1]], counts[which[2]], calls[0].form,
                      calls[1].form, calls[2].form);
            }
}

/* Any three of some counts, of which at least one reads its peers' buffers. */
static void
check_three_in_place(void)
{
    static const enum form forms[] = {WHOLE, SLICES, SLICES_OF_EVEN, BUFFERS, BUFFERS_OF_GROUPS};
    static const size_t few[] = {0, 5, 7}; /* without a slice for each, of one chunk, of several */
    static const unsigned ranks[] = {NOBODY, RANK_1, EVERYBODY};
    for (int p = 2; p <= 4; p++)
        for (size_t i = 0; i < 5 * 5 * 5 * 3 * 3 * 3 * 3 * REFUSALS; i += stride) {
            struct call calls[CALLS];
            bool is_asked = false;
            size_t draw = i;
            const unsigned in_place = ranks[draw % 3];
            const enum refusal refusal = (enum refusal)(draw / 3 % REFUSALS);
            draw /= 3 * (size_t)REFUSALS;
            for (int k = 0; k < CALLS; k++, draw /= 15) {
                calls[k] = (struct call){few[draw % 3], forms[draw / 3 % 5], in_place, refusal};
                is_asked |= calls[k].form >= BUFFERS;
            }
            CHECK(!is_asked || order(p, calls, CALLS, NOTHING, 0) == ORDERED,
                  "%d ranks, forms %d %d %d, number %zu", p, calls[0].form, calls[1].form,
                  calls[2].form, i);
        }
}

/* Any three of some counts through slots, of which the last overlaps chunks by levels. */
static void
check_three_by_levels(void)
{
    static const enum form forms[] = {WHOLE, SLICES, WHOLE_OF_GROUPS, SLICES_OF_GROUPS,
                                      SLICES_OF_EVEN};
    static const size_t few[] = {0, 5, 7};
    for (int p = 4; p <= 8; p += 2)
        for (size_t i = 0; i < 5 * 5 * 3 * 3; i += stride)
            for (size_t last = 1; last < 3; last++) {
                const struct call calls[CALLS] = {
                    {few[i % 3], forms[i / 9 % 5], NOBODY, GRANTED},
                    {few[i / 3 % 3], forms[i / 45], NOBODY, GRANTED},
                    {few[last], SLICES_OF_EVEN, NOBODY, GRANTED},
                };
                CHECK(order(p, calls, CALLS, NOTHING, 0) == ORDERED,
                      "%d ranks, forms %d %d, number %zu", p, calls[0].form, calls[1].form, i);
            }
}

/* Buffers that were used in one of the last calls in place need one meeting before the chunks. */
static void
check_agreements(void)
{
    for (int p = 2; p <= 4; p++)
        for (size_t others = 0; others < COUNTS; others++) {
            struct call calls[COUNTS + 1];
            size_t n = 0;
            for (; n <= others; n++)
                calls[n] = (struct call){n, BUFFERS, NOBODY, GRANTED};
            calls[n++] = calls[0];
            CHECK(order(p, calls, n, NOTHING, 0) == ORDERED, "%d ranks, %zu others", p, others);
            CHECK(now.meetings == (others < AR_AGREEMENTS - 1 ? 1 : 2),
                  "%d ranks, %zu others, %d meetings", p, others, now.meetings);
            calls[n - 1].in_place = EVERYBODY; /* another buffer */
            CHECK(order(p, calls, n, NOTHING, 0) == ORDERED, "%d ranks, %zu others", p, others);
            CHECK(now.meetings == 2, "%d ranks, %zu others, %d meetings", p, others, now.meetings);
        }
}

static void
check_long_rows(int most)
{
    unsigned seed = 1 + (unsigned)numbers_before;
    for (int p = 2; p <= most; p++)
        for (int row = 0; row < 16; row++) {
            struct call calls[60];
            for (size_t k = 0; k < 60; k++) {
                seed = seed * 1103515245 + 12345;
                calls[k] = (struct call){(seed >> 16) % ALL_COUNTS,
                                         (enum form)((seed >> 8) % (row % 2 ? FORMS : 2)),
                                         row % 4 == 3     ? RANK_1
                                         : seed >> 10 & 1 ? EVERYBODY
                                                          : NOBODY,
                                         (enum refusal)((seed >> 20) % REFUSALS)};
            }
            CHECK(order(p, calls, 60, NOTHING, 0) == ORDERED, "%d ranks, row %d", p, row);
        }
}

/* Two calls are in order, and would not be without the order that flags make. */
static void
check_flags(int p, const struct call *calls, bool one_flag)
{
    const int form = (int)calls->form;
    CHECK(order(p, calls, 2, NOTHING, 0) == ORDERED, "%d ranks, form %d", p, form);
    CHECK(order(p, calls, 2, RELAXED, 0) == CONFLICT, "%d ranks, form %d", p, form);
    CHECK(order(p, calls, 2, RELAXED_FIRST, 0) == CONFLICT, "%d ranks, form %d", p, form);
    CHECK(one_flag || order(p, calls, 2, RELAXED_OTHERS, 0) == CONFLICT, "%d ranks, form %d", p,
          form);
    CHECK(order(p, calls, 2, IGNORED, 0) == CONFLICT, "%d ranks, form %d", p, form);
}

/* What the executor would do with fewer slots, and what the flags are for. */
static void
check_faults(int most)
{
    for (int p = 2; p <= most; p++)
        for (int form = 0; form < SHARES_OF_GROUPS; form++) {
            const struct call calls[] = {{6, (enum form)form, NOBODY, GRANTED},
                                         {7, (enum form)form, NOBODY, GRANTED}};
            const bool one_flag = form == WHOLE || (form == WHOLE_OF_GROUPS && p == 2);
            check_flags(p, calls, one_flag);
            const bool overlaps = group.plan[0][7][form]->overlaps[AR_WAY_SLOTS];
            const bool is_even = form < SLICES_OF_GROUPS || form == SLICES_OF_EVEN || p == 2;
            CHECK(overlaps == is_even, "%d ranks, form %d", p, form);
            if (overlaps)
                CHECK(order(p, calls, 2, FEWER_SLOTS, 3) == CONFLICT, "%d ranks, form %d", p, form);
            else if (form == WHOLE_OF_GROUPS)
                CHECK(order(p, calls, 2, FEWER_SLOTS, 1) == CONFLICT, "%d ranks, form %d", p, form);
            /* Chunks that follow each other need no more than two. */
            CHECK(overlaps || order(p, calls, 2, FEWER_SLOTS, 2) == ORDERED, "%d ranks, form %d", p,
                  form);
        }
}

/* The same of calls in place. */
static void
check_faults_in_place(void)
{
    for (int p = 2; p <= 6; p++)
        for (int i = 0; i < 4; i++) {
            const enum form form = (enum form)(BUFFERS + i / 2);
            const unsigned in_place = i % 2 ? EVERYBODY : NOBODY;
            const struct call calls[] = {{6, form, in_place, GRANTED},
                                         {7, form, in_place, GRANTED}};
            const bool one_flag = form != BUFFERS_OF_GROUPS || p < 4 || p == 5; /* the result's */
            check_flags(p, calls, one_flag);
            CHECK(order(p, calls, 2, FEWER_SLOTS, 1) == CONFLICT, "%d ranks, form %d", p, form);
            CHECK(order(p, calls, 2, FEWER_SLOTS, 2) == ORDERED, "%d ranks, form %d", p, form);
        }
    /* Groups whose shares are not parts of those below would do no harm either. */
    for (int p = 3; p <= RANKS_MAX; p++) {
        const struct call unequal = {7, BUFFERS_OF_UNEQUAL, NOBODY, GRANTED};
        be_group(p);
        CHECK(!ar_grouping_is_even(&group.grouping), "%d ranks", p);
        CHECK(order(p, &unequal, 1, NOTHING, 0) == ORDERED, "%d ranks", p);
    }
}

int
main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    stride = getenv("INSTRUMENTED") ? 7 : 1; /* prime to the number of each choice */
    slots_bytes = AR_SLOTS * (RANKS_MAX + 1) * ar_node_slot_bytes(CHUNK_BYTES);
    memory_bytes = slots_bytes + 2 * RANKS_MAX * BUFFER_BYTES;
    CHECK(memory_bytes <= ORDER_BYTES, "%zu bytes", memory_bytes);
    memory = aligned_alloc(AR_LINE_BYTES, memory_bytes);
    memset(memory, 0, memory_bytes);
    buffers = memory + slots_bytes;
    for (int rank = 0; rank < RANKS_MAX; rank++)
        traces[rank].of = malloc(ACCESSES_MAX * sizeof *traces[rank].of);
    check_faults(6);
    check_faults_in_place();
    check_lines();
    check_asked();
    check_taken();
    check_exchanged();
    check_every_three_calls(3);
    check_three_in_place();
    check_three_by_levels();
    check_agreements();
    check_long_rows(RANKS_MAX);
    numbers_before = 5;
    ranks_before = 1;
    check_faults(6);
    check_long_rows(RANKS_MAX);
    forget_plans();
    exchanged_bytes = EXCHANGED_BYTES;
    check_exchanged();
    check_faults(2);
    check_every_three_calls(2);
    check_long_rows(2);
    forget_plans();
    for (int rank = 0; rank < RANKS_MAX; rank++)
        free(traces[rank].of);
    free(memory);
    MPI_Finalize();
    return check_status();
}
