/* Layout of the shared memory: each rank has a slot for each of AR_SLOTS turns.  A slot has a line
 * for each flag, then the area where the rank stores what it sends.
 *
 * Every chunk of every call has a sequence number, from 1, the same on all ranks; chunk s uses the
 * slots of turn s % AR_SLOTS.  A rank raises its flag f to s when it has stored all that its
 * schedule sends in the f-th round that sends.  Only the slot's own rank raises a flag, with
 * release, and the others read it with acquire.  The release covers what the rank stored, and all
 * that it read before.
 *
 * A rank overwrites a slot without asking whether all have read what is in it.  Every rank's result
 * depends on every rank's contribution.  So a rank that is done with chunk s knows that all ranks
 * have begun it.  Where chunks follow each other, all are then done with chunk s - 1.
 *
 * Chunks overlap where each rank, in each round, awaits all ranks that read what it stored for that
 * round (struct ar_accesses), whether these are all others or a group.  Stage j of chunk k then
 * runs at tick k + j.  What stage j of chunk s stores overwrites what stage j of chunk s - 4
 * stored, which was read at tick s - 3 + j.  One tick before, at s + j - 1, this rank awaited its
 * readers' flags of stage j of chunk s - 2.  The readers raised those at tick s - 2 + j, after all
 * that they did at tick s - 3 + j.
 *
 * For the same reason at most the last two chunks of the call before are not yet read by all.  This
 * call's third chunk overwrites the first of those two, whose readers may have been ranks outside
 * this call's groups.  So it begins only when this rank knows, by way of others, that all ranks
 * have begun this call's first chunk, and so are done with the call before.  That is after nmet
 * rounds of the first chunk.  Flat, nmet is 1 and no tick is lost; otherwise the third chunk and
 * all that follow are later by nmet - 1 ticks (ar_accesses_chunk_at), on all ranks.
 *
 * A shorter last chunk of a plan stores in other places.  Flat, none of them is behind what a full
 * chunk stores for the same flag.  So it can overwrite only what earlier stages stored, which has
 * been read.  By levels a share may be one element longer although the chunk is shorter, so there
 * this chunk runs after the others.
 *
 * Storing in a slot again takes its lines back from all who have read them, which takes as long as
 * fetching a line of theirs.  So where a plan has one chunk, a rank that has raised a flag asks,
 * for writing, for the lines to which it will store for the same flag in chunk s + 1; they come
 * while it waits for others.  These lines held chunk s - 3.  All ranks have begun chunk s - 1.  So
 * they are done with the calls before that chunk's call, and with all but the last two chunks of
 * that call.  Hence nobody is still to read chunk s - 3, and nobody reads chunk s + 1 before its
 * next call.  The request itself changes nothing that anybody can read.
 *
 * A call of fewer elements than the plan's does the same without the missing ones: it raises and
 * awaits all flags of its chunks, and stores where the plan says.  It may have fewer chunks; then
 * the last one runs like the others.
 *
 * Two ranks exchange the areas of a turn with each chunk of at least exchanged_bytes: the rank that
 * has read an area is the one that stores there the next time.  So it writes to lines that are in
 * its own cache, and takes none back from the other.  It overwrites what it has read itself, after
 * it has awaited all that the other stored there.  It has read that even where chunks overlap,
 * since a schedule of two ranks has fewer than AR_SLOTS stages.  A shorter chunk leaves the areas
 * with their slots: each rank overwrites what it has stored or read itself.  Flags, and the data in
 * their lines, stay where they are.  Lines that a rank takes back for a short chunk may be the
 * other's in the next chunk, if that is exchanged; then they go to and fro in vain.
 *
 * Streaming stores into a slot (stores.h) keep the order that this needs, too: a fence between them
 * and the flag makes them visible before it.
 *
 * A call in place (schedule/accesses.h) begins and ends with a meeting, which takes a chunk's
 * number: each rank raises its first flag and awaits those of all others.  At the first meeting
 * each rank tells, in the flag's own line, where its buffers are.  If some are new, there is a
 * second one, where it tells whether it has mapped those of all others; if a rank has not, the call
 * goes through the slots.  From then on only the slots' flags are used.  Ranks need not meet again
 * until the last meeting, before which nobody returns to a program that may read and write its
 * buffers.
 *
 * test/mpi/test_protocol.c proves for up to 9 ranks that no other order is needed, that three
 * slots would not do, and, without an exchange, that no line is taken back too early.
 */
#include <config.h>

#include "execute/node.h"

#include <stddef.h>
#include <stdint.h>

#include "execute/cell.h"
#include "execute/in_place.h"
#include "execute/node_events.h"
#include "execute/node_plan.h"
#include "execute/node_slots.h"
#include "execute/progress.h"
#include "reduce/copy.h"
#include "report/clock.h"

/* --- waiting --- */

#define POLLS_PER_PROBE 16

/* Where a step of a chunk is, for those who ask what it waits for. */
struct place {
    uint64_t sequence;
    uint64_t step;
    unsigned program;
};

/* Asks for the lines of what a flag announces, and of the next flags of the stage, so that all come
 * at the same time and not one after the other.  Nothing is read: each flag is looked at in its
 * turn, and what it announces is read after that. */
static inline void
ask_ahead(const char *slots, const struct ar_node_step *step)
{
    for (unsigned i = 0; i < step->nahead; i++)
        ar_wait_ask(slots + step->ahead[i]);
}

/* Takes back the lines that the flag and what is stored for it will have in the next chunk, while
 * the rank waits for others.  slots: those of that chunk's turn. */
static inline void
take_back(char *slots, const struct ar_node_step *step)
{
    for (unsigned i = 0; i < step->nahead; i++)
        ar_wait_take(slots + step->ahead[i]);
}

/* Waits until the step's flag is at least the sequence.  What this rank owes to others up to this
 * step is stored and announced.  MPI must go on meanwhile: a legal program may have a message under
 * way that the awaited rank needs first.  So each sleep is short, and MPI is polled before it. */
static int
await(const struct ar_node_run *run, char *slots, const struct ar_node_step *step,
      struct place place)
{
    struct ar_flag *const flag = (struct ar_flag *)(void *)(slots + step->flag);
    const uint64_t sequence = place.sequence;
    struct ar_idle idle = {run->waited_ticks, 0};
    unsigned polls = 0;
    int error = MPI_SUCCESS;
    for (unsigned i = 0; !error; i++) {
        ask_ahead(slots, step);
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
        __atomic_store_n(&run->node->awaited, ar_node_awaiting(sequence, place.step, place.program),
                         __ATOMIC_RELAXED);
        error = ar_progress(run->comm);
        if (sleeps)
            ar_flag_sleep(flag, value);
    }
    return error;
}

/* --- a chunk --- */

struct chunk {
    unsigned program;
    uint64_t sequence;
    size_t from;    /* first element, of the call's */
    size_t left;    /* elements of the call from there on */
    bool is_turned; /* its areas, if they are exchanged, are with the other rank's slots */
};

/* How many elements of a step, or of what it awaits, are beyond the call's end; may exceed their
 * number. */
static inline size_t
without_in(const struct chunk *chunk, const struct ar_node_step *step)
{
    return step->end > chunk->left ? step->end - chunk->left : 0;
}

/* Fetches part of an operand from a slot or another rank's buffer into a place of the scratch. */
static int
fetch(const struct ar_node_run *run, int place, char **operand, size_t length)
{
    const struct ar_node_plan *const plan = run->plan;
    char *const at = ar_reduction_base(
        run->reduction, run->scratch + plan->tmp_bytes + (size_t)place * plan->place_bytes,
        plan->part);
    const int error = ar_cell_fetch(run->reduction, at, *operand, length);
    *operand = at;
    return error;
}

/* Combines operands in slots, or in other ranks' buffers, by parts, through the scratch. */
static int
combine_parts(const struct ar_node_run *run, const struct ar_node_step *step, size_t length,
              char *dst, char *a, char *b)
{
    const struct ar_reduction *const r = run->reduction;
    const bool a_fetched = ar_base_is_slots(step->a_base) && !r->basic;
    const bool b_fetched = step->b_base >= AR_BASE_SLOTS;
    int error = MPI_SUCCESS;
    for (size_t done = 0; done < length && !error; done += run->plan->part) {
        const size_t rest = length - done;
        const size_t part = rest < run->plan->part ? rest : run->plan->part;
        const ptrdiff_t at = (ptrdiff_t)done * r->extent;
        const ptrdiff_t in_slot = ar_cell_offset(r, done) - ar_cell_offset(r, 0);
        char *left = a + (ar_base_is_slots(step->a_base) ? in_slot : at);
        char *right = b + (ar_base_is_slots(step->b_base) ? in_slot : at);
        if (a_fetched)
            error = fetch(run, 1, &left, part);
        if (!error && b_fetched)
            error = fetch(run, 0, &right, part);
        if (!error)
            error = ar_reduction_apply(r, dst + at, left, right, part);
    }
    return error;
}

/* Elements of a derived type stand in slots packed.  And PMPI_Reduce_local works in its right
 * operand where the left one is also the result: that must not be another rank's slot or buffer. */
static int
combine(const struct ar_node_run *run, const struct ar_node_step *step, size_t length, char *dst,
        char *a, char *b)
{
    const struct ar_reduction *const r = run->reduction;
    const bool is_shared = ar_base_is_slots(step->a_base) || ar_base_is_slots(step->b_base);
    const bool by_parts =
        (is_shared && !r->basic) || (!r->kernel && step->b_base >= AR_BASE_SLOTS && dst == a);
    return by_parts ? combine_parts(run, step, length, dst, a, b)
                    : ar_reduction_apply(r, dst, a, b, length);
}

/* Packed elements go from another rank's slot into this rank's own as they are. */
static int
store(const struct ar_node_run *run, const struct ar_node_step *step, size_t length, char *dst,
      const char *a)
{
    const struct ar_reduction *const r = run->reduction;
    if (!ar_base_is_slots(step->a_base) || r->basic)
        return run->plan->stores.is_streamed ? ar_cell_stream(r, dst, a, length)
                                             : ar_cell_store(r, dst, a, length);
    ar_copy_bytes(dst, a, length * r->size);
    return MPI_SUCCESS;
}

/* What a chunk's addresses are counted from: this rank's own buffers and the slots. */
struct bases {
    char *own[AR_BASES];
    char *const *mapped; /* first bytes of its peers' buffers */
    ptrdiff_t from;      /* from these to the chunk */
};

static struct bases
bases_of(const struct ar_node_run *run, const struct chunk *chunk)
{
    const struct ar_node_program *const program = ar_node_program_at(run->plan, chunk->program);
    const ptrdiff_t from = (ptrdiff_t)chunk->from * run->reduction->extent;
    char *const slots = ar_node_slots(run->node, chunk->sequence);
    const ptrdiff_t moved = chunk->is_turned ? (ptrdiff_t)run->node->piece.slot_bytes : 0;
    return (struct bases){
        .own = {[AR_IN] = (char *)run->in + from, /* read only */
                [AR_OUT] = run->out + from,
                [AR_TMP] = run->scratch + program->tmp_base,
                [AR_BASE_SLOTS] = slots,
                [AR_BASE_AREAS] = slots + moved,
                [AR_BASE_AREAS + 1] = slots - moved},
        .mapped = run->in_place ? run->in_place->mapped : NULL,
        .from = from - ar_reduction_first_byte(run->reduction, run->count),
    };
}

static char *
base_at(const struct bases *bases, int base)
{
    return base < AR_BASES ? bases->own[base] : bases->mapped[base - AR_BASES] + bases->from;
}

/* Runs the steps from begin to before end.  One loop, since each step takes a few nanoseconds. */
static int
run_plainly(const struct ar_node_run *run, const struct chunk *chunk, size_t begin, size_t end)
{
    const struct ar_reduction *const r = run->reduction;
    const struct ar_node_step *const steps = ar_node_program_at(run->plan, chunk->program)->steps;
    const struct bases bases = bases_of(run, chunk);
    int error = MPI_SUCCESS;
    for (size_t i = begin; i < end && !error; i++) {
        const struct ar_node_step *const step = &steps[i];
        char *const dst = base_at(&bases, step->dst_base) + step->dst;
        char *const a = base_at(&bases, step->a_base) + step->a;
        const size_t without = without_in(chunk, step);
        if (without >= step->length && step->length > 0 && step->kind != AR_ACCESS_AWAIT)
            continue;
        const size_t length = step->length - without; /* of an await it means nothing */
        switch (step->kind) {
        case AR_ACCESS_STORE:
            error = store(run, step, length, dst, a);
            break;
        case AR_ACCESS_RAISE:
            ar_flag_raise((void *)(bases.own[AR_BASE_SLOTS] + step->flag), chunk->sequence,
                          run->wait);
            if (step->nahead > 0)
                take_back(ar_node_slots(run->node, chunk->sequence + 1), step);
            break;
        case AR_ACCESS_AWAIT:
            error = await(run, bases.own[AR_BASE_SLOTS], step,
                          (struct place){chunk->sequence, i, chunk->program});
            break;
        case AR_ACCESS_LOAD:
            error = ar_base_is_slots(step->a_base) ? ar_cell_fetch(r, dst, a, length)
                                                   : ar_reduction_copy(r, dst, a, length);
            break;
        case AR_ACCESS_GIVE:
        case AR_ACCESS_COPY:
            error = ar_reduction_copy(r, dst, a, length);
            break;
        default:
            error = combine(run, step, length, dst, a, base_at(&bases, step->b_base) + step->b);
        }
    }
    return error;
}

/* --- for a timeline --- */

/* Step by step. */
static int
run_stage_noted(const struct ar_node_run *run, const struct chunk *chunk, struct ar_event event,
                size_t begin, size_t end)
{
    int error = MPI_SUCCESS;
    event.end_ns = ar_clock_system_ns();
    for (size_t i = begin; i < end && !error; i++) {
        const struct ar_node_step *const step =
            &ar_node_program_at(run->plan, chunk->program)->steps[i];
        const bool waits =
            step->kind == AR_ACCESS_AWAIT &&
            ar_flag_read(ar_node_flag(run->node, chunk->sequence, step->flag)) < chunk->sequence;
        event.begin_ns = event.end_ns;
        error = run_plainly(run, chunk, i, i + 1);
        event.end_ns = ar_clock_system_ns();
        ar_node_note_step(run, &event, step, without_in(chunk, step), waits);
    }
    return error;
}

/* The steps of whole stages.  Round j is done by stages 0 and 1 if it is the first, else by stage
 * j + 1.  Chunks that overlap have lanes of their own, and at most as many as there are stages are
 * under way.  A meeting has no stages, and is one round. */
static int
run_noted(const struct ar_node_run *run, const struct chunk *chunk, size_t begin, size_t end)
{
    const struct ar_node_program *const program = ar_node_program_at(run->plan, chunk->program);
    const bool overlaps = chunk->program < AR_NODE_MEETING && run->count > run->plan->length &&
                          run->plan->overlaps[chunk->program / 2];
    int error = MPI_SUCCESS;
    for (size_t stage = 0, from = begin; from < end && !error; stage++) {
        const size_t to = program->nstages > 0 ? program->stage_end[stage] : end;
        if (to <= from)
            continue;
        struct ar_event round = {
            .segment = (uint32_t)(chunk->sequence - run->node->sequence - 1),
            .round = (uint32_t)(stage > 0 ? stage - 1 : 0),
            .lane = (unsigned char)(overlaps ? chunk->sequence % program->nstages : 0),
            .peer = -1,
            .begin_ns = ar_clock_system_ns()};
        error = run_stage_noted(run, chunk, round, from, to);
        ar_node_note_round(run, &round);
        from = to;
    }
    return error;
}

static int
run_steps(const struct ar_node_run *run, const struct chunk *chunk, size_t begin, size_t end)
{
    return run->events ? run_noted(run, chunk, begin, end) : run_plainly(run, chunk, begin, end);
}

/* --- a call --- */

/* The chunks of a call, by slots or in place. */
struct row {
    const struct ar_node_run *run;
    enum ar_node_way way;
    size_t chunks;
    uint64_t before; /* number of the last chunk before them */
};

static size_t
count_chunks(const struct ar_node_run *run)
{
    const struct ar_node_plan *const plan = run->plan;
    return run->count == plan->count ? plan->chunks
                                     : (run->count + plan->length - 1) / plan->length;
}

/* Chunk k of the row.  Before it k / AR_SLOTS chunks of the row had its turn.  If it is exchanged,
 * so were these: only the last chunk may be too short. */
static struct chunk
chunk_at(const struct row *row, size_t k)
{
    const struct ar_node_plan *const plan = row->run->plan;
    const bool is_tail = k == plan->chunks - 1 && plan->tail[row->way].nstages > 0;
    const size_t from = k * plan->length;
    const unsigned program = 2 * (unsigned)row->way + is_tail;
    const uint64_t sequence = row->before + 1 + k;
    const bool is_turned = (row->run->node->turned >> sequence % AR_SLOTS ^ k / AR_SLOTS) & 1 &&
                           ar_node_program_at(plan, program)->exchanges;
    return (struct chunk){program, sequence, from, row->run->count - from, is_turned};
}

/* The chunks of the row are done. */
static void
turn_areas(const struct row *row)
{
    if (!row->run->plan->full[row->way].exchanges)
        return;
    for (size_t k = 0; k < row->chunks; k++) {
        const struct chunk chunk = chunk_at(row, k);
        if (ar_node_program_at(row->run->plan, chunk.program)->exchanges)
            row->run->node->turned ^= 1U << chunk.sequence % AR_SLOTS;
    }
}

/* The first `chunks` chunks, interleaved by stages so that ranks seldom wait.  All have as many
 * stages. */
static int
run_overlapped(const struct row *row, size_t chunks)
{
    const struct ar_node_plan *const plan = row->run->plan;
    const size_t nstages = plan->full[row->way].nstages, nmet = plan->nmet[row->way];
    int error = MPI_SUCCESS;
    for (size_t tick = 0; tick < chunks + nmet + nstages && !error; tick++)
        for (size_t j = 0; j < nstages && j <= tick && !error; j++) {
            const size_t k = ar_accesses_chunk_at(tick - j, nmet);
            if (k >= chunks)
                continue;
            const struct chunk chunk = chunk_at(row, k);
            const size_t *const end = &ar_node_program_at(plan, chunk.program)->stage_end[j];
            error = run_steps(row->run, &chunk, j > 0 ? end[-1] : 0, *end);
        }
    return error;
}

/* The chunks from that one on, one after the other. */
static int
run_in_order(const struct row *row, size_t first)
{
    const struct ar_node_plan *const plan = row->run->plan;
    int error = MPI_SUCCESS;
    for (size_t k = first; k < row->chunks && !error; k++) {
        const struct chunk chunk = chunk_at(row, k);
        error = run_steps(row->run, &chunk, 0, ar_node_program_at(plan, chunk.program)->nsteps);
    }
    return error;
}

/* How many chunks overlap: 0, or at least two. */
static size_t
overlapping(const struct row *row)
{
    const struct ar_node_plan *const plan = row->run->plan;
    const bool has_tail = row->chunks == plan->chunks && plan->tail[row->way].nstages > 0;
    const size_t chunks = row->chunks - (has_tail && !plan->tail_overlaps[row->way]);
    return plan->overlaps[row->way] && chunks > 1 ? chunks : 0;
}

/* last: number of the last chunk before, and then of the last of these. */
static int
run_chunks(const struct ar_node_run *run, enum ar_node_way way, uint64_t *last)
{
    const struct row row = {run, way, count_chunks(run), *last};
    const size_t overlap = overlapping(&row);
    *last += row.chunks;
    int error = overlap > 0 ? run_overlapped(&row, overlap) : MPI_SUCCESS;
    if (!error)
        error = run_in_order(&row, overlap);
    turn_areas(&row);
    return error;
}

static int
run_through_slots(const struct ar_node_run *run, uint64_t *last)
{
    ar_stores_begin(&run->plan->stores, run->count * run->reduction->size);
    const int error = run_chunks(run, AR_WAY_SLOTS, last);
    ar_stores_end(&run->plan->stores);
    return error;
}

/* The chunks of a way that a trial has found. */
static int
run_way(const struct ar_node_run *run, unsigned way, uint64_t *last)
{
    struct ar_stores *const stores = &run->plan->stores;
    stores->is_streamed = way == AR_WAY_STREAMED && stores->can;
    return run_chunks(run, way == AR_WAY_STREAMED ? AR_WAY_SLOTS : (enum ar_node_way)way, last);
}

/* --- in place --- */

/* What a rank tells at a meeting, in the line of the flag that it raises. */
_Static_assert(sizeof(struct ar_shown) <= AR_TINY_BYTES, "it fits beside the flag");

static char *
told_at(const struct ar_node *node, uint64_t sequence, int rank)
{
    char *const slot = ar_node_slots(node, sequence) + (size_t)rank * node->piece.slot_bytes;
    return ((struct ar_slot *)(void *)slot)->line[ar_slot_line_of(0)].tiny;
}

static int
meet(const struct ar_node_run *run, uint64_t *last)
{
    const struct chunk chunk = {
        .program = AR_NODE_MEETING, .sequence = ++*last, .left = run->count};
    return run_steps(run, &chunk, 0, run->plan->meet.nsteps);
}

/* Tells the others something, and learns what each of them tells; *all: has each told places? */
static int
meet_and_tell(const struct ar_node_run *run, uint64_t *last, const struct ar_shown *mine, bool *all)
{
    const struct ar_node *const node = run->node;
    ar_shown_tell(told_at(node, *last + 1, node->rank), mine);
    const int error = meet(run, last);
    *all = !error;
    for (int i = 0; i < node->nranks && !error; i++) {
        const struct ar_shown told =
            i == node->rank ? *mine : ar_shown_read(told_at(node, *last, i));
        *all &= ar_in_place_learn(run->in_place, i, &told);
    }
    return error;
}

/* The first meeting, and a second one if some buffers are new to a rank; *can: may all ranks go on
 * in place?  Only elements of predefined types may: others each rank lays out in its own way, and
 * packed copies of them are new in each call. */
static int
show_and_map(const struct ar_node_run *run, uint64_t *last, bool *can)
{
    const struct ar_reduction *const r = run->reduction;
    const ptrdiff_t first = ar_reduction_first_byte(r, run->count);
    const size_t bytes = ar_reduction_span_bytes(r, run->count);
    struct ar_shown mine = {{0}, 0};
    if (r->basic && !r->packing)
        mine = ar_in_place_show(run->in_place, run->in + first, run->out + first, bytes);
    int error = meet_and_tell(run, last, &mine, can);
    if (error || !*can || ar_in_place_is_agreed(run->in_place))
        return error;
    if (!ar_in_place_map(run->in_place, bytes))
        mine = (struct ar_shown){{0}, 0};
    error = meet_and_tell(run, last, &mine, can);
    if (!error && *can)
        ar_in_place_agree(run->in_place, &mine, bytes);
    return error;
}

/* The chunks, where all ranks can go in place, and the meeting after them.  Buffers that the ranks
 * know already may be tried in all ways. */
static int
run_met(const struct ar_node_run *run, uint64_t *last)
{
    struct ar_in_place *const p = run->in_place;
    struct ar_trial *const trial = run->tries_ways ? ar_in_place_trial(p) : NULL;
    const unsigned by_slots = ar_node_ways_by_slots(run->plan),
                   ways = by_slots | 1U << AR_WAY_IN_PLACE;
    unsigned way = AR_WAY_IN_PLACE;
    if (trial)
        way = ar_trial_begin(trial, ways, ar_in_place_best(p), 0, ar_clock_ticks());
    p->yielded = by_slots >> way & 1;
    ar_in_place_settle(p, trial && p->yielded && ar_trial_is_over(trial, ways), way, run->count);
    int error = run_way(run, way, last);
    if (!error && !p->yielded)
        error = meet(run, last);
    if (trial)
        ar_trial_end(trial, ar_clock_ticks());
    return error;
}

static int
run_in_place(const struct ar_node_run *run, uint64_t *last)
{
    bool can = false;
    run->in_place->missed = false;
    run->in_place->yielded =
        run->tries_ways && ar_in_place_skips_meeting(run->in_place, run->count);
    if (run->in_place->yielded)
        return run_way(run, run->in_place->settled_way, last);
    int error = show_and_map(run, last, &can);
    run->in_place->missed = !can;
    if (can)
        error = run_met(run, last);
    ar_in_place_unmap(run->in_place);
    return error || can ? error : run_through_slots(run, last);
}

int
ar_node_allreduce(const struct ar_node_run *run)
{
    struct ar_node *const node = run->node;
    uint64_t last = node->sequence;
    if (run->events)
        ar_events_run(run->events);
    const int error = run->in_place ? run_in_place(run, &last) : run_through_slots(run, &last);
    /* Another thread reads it, in ar_node_awaited(). */
    __atomic_store_n(&node->sequence, last, __ATOMIC_RELAXED);
    node->failed |= error != MPI_SUCCESS;
    return error;
}
