#include "execute/node_plan.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "execute/cell.h"
#include "execute/in_place.h"

/* --- addresses --- */

/* Does it stand in the line of its flag? */
static bool
is_tiny(const struct ar_reduction *r, const struct ar_access_place *place)
{
    const bool is_packed = r->dense || !r->basic;
    return is_packed && place->length * r->size <= AR_TINY_BYTES;
}

/* Where an element is, from the base that it is counted from. */
static ptrdiff_t
address_of(const struct ar_node *node, const struct ar_reduction *r,
           const struct ar_access_place *place)
{
    if (!place->is_shared)
        return (ptrdiff_t)place->offset * r->extent;
    const ptrdiff_t slot = (ptrdiff_t)((size_t)place->rank * node->piece.slot_bytes);
    if (is_tiny(r, place))
        return slot + (ptrdiff_t)offsetof(struct ar_slot, line[ar_slot_line_of(place->flag)].tiny) +
               ar_cell_offset(r, place->offset);
    return slot + (ptrdiff_t)offsetof(struct ar_slot, area) +
           ar_cell_offset(r, place->begin + place->offset);
}

static int
base_of(const struct ar_reduction *r, const struct ar_access_place *place, bool exchanges)
{
    if (place->is_peers)
        return AR_BASES + ar_in_place_at(place->rank, place->buffer);
    if (!place->is_shared)
        return (int)place->buffer;
    return exchanges && !is_tiny(r, place) ? AR_BASE_AREAS + place->rank : AR_BASE_SLOTS;
}

static size_t
length_of(const struct ar_access *access, const struct ar_reduction *r)
{
    switch (access->kind) {
    case AR_ACCESS_AWAIT:
        return access->length * r->size;
    case AR_ACCESS_RAISE:
        return access->dst.length * r->size;
    default:
        return access->length;
    }
}

/* 0 if the first element is not known: then none are left out. */
static size_t
end_of(const struct ar_access *access)
{
    const size_t first = access->kind == AR_ACCESS_AWAIT ? access->a.first : access->first;
    return first != AR_NO_ELEMENT ? first + access->length : 0;
}

static struct ar_node_step
step_of(const struct ar_node *node, const struct ar_reduction *r, const struct ar_access *access,
        bool exchanges)
{
    const struct ar_access_place *const flagged =
        access->kind == AR_ACCESS_AWAIT ? &access->a : &access->dst;
    return (struct ar_node_step){
        .kind = access->kind,
        .dst_base = base_of(r, &access->dst, exchanges),
        .a_base = base_of(r, &access->a, exchanges),
        .b_base = base_of(r, &access->b, exchanges),
        .length = length_of(access, r),
        .end = end_of(access),
        .dst = address_of(node, r, &access->dst),
        .a = address_of(node, r, &access->a),
        .b = address_of(node, r, &access->b),
        .flag = (ptrdiff_t)((size_t)flagged->rank * node->piece.slot_bytes +
                            offsetof(struct ar_slot, line[ar_slot_line_of(flagged->flag)].flag)),
        .rank = flagged->rank,
    };
}

/* --- what is asked for ahead --- */

#define LINES_MOST (1 + AR_SHORT_BYTES / AR_LINE_BYTES + 1) /* of a flag and what it announces */

/* The lines of a flag and of a short message in the area; returns how many.  Of a long message the
 * first lines alone would be no faster. */
static size_t
lines_of(ptrdiff_t *lines, const struct ar_node_step *step, int nranks)
{
    const bool is_own = step->kind == AR_ACCESS_RAISE;
    const size_t most = is_own ? AR_SHORT_BYTES : ar_ahead_bytes(nranks);
    const int base = is_own ? step->dst_base : step->a_base;
    const ptrdiff_t line = (ptrdiff_t)AR_LINE_BYTES, from = is_own ? step->dst : step->a;
    const ptrdiff_t begin = from / line * line;
    size_t n = 0;
    lines[n++] = step->flag;
    if (base != AR_BASE_SLOTS || step->length > most || begin == step->flag)
        return n;
    for (ptrdiff_t at = begin; at < from + (ptrdiff_t)step->length; at += line)
        lines[n++] = at;
    return n;
}

/* Does the rank ask for lines in this step? */
static bool
asks(const struct ar_node_step *step, bool takes_back)
{
    return step->kind == AR_ACCESS_AWAIT ||
           (step->kind == AR_ACCESS_RAISE && takes_back && step->length <= AR_SHORT_BYTES);
}

/* How many lines a rank asks for while it awaits the flag of step i: those of what this flag
 * announces, of the next flags of the stage, which ends before step `end`, and of what these
 * announce.  All come while the rank waits, and not one after the other. */
static unsigned
count_ahead(const struct ar_node_program *program, size_t i, size_t end, int nranks)
{
    ptrdiff_t lines[LINES_MOST];
    size_t n = lines_of(lines, &program->steps[i], nranks) - 1;
    int flags = 1;
    for (size_t k = i + 1; k < end && flags < AR_AHEAD_FLAGS; k++)
        if (program->steps[k].kind == AR_ACCESS_AWAIT) {
            n += lines_of(lines, &program->steps[k], nranks);
            flags++;
        }
    return (unsigned)n;
}

/* program->lines has the lines of all flags in the order in which the flags are awaited.  So the
 * lines of flags that a stage awaits in a row are contiguous, since it raises its own flag last.
 * takes_back: see node.c. */
static int
find_ahead(struct ar_node_program *program, int nranks, bool takes_back)
{
    ptrdiff_t lines[LINES_MOST];
    size_t stage = 0, room = 1;
    for (size_t i = 0; i < program->nsteps; i++)
        if (asks(&program->steps[i], takes_back))
            room += lines_of(lines, &program->steps[i], nranks);
    program->lines = malloc(room * sizeof *program->lines);
    if (!program->lines)
        return AR_ERR_MEMORY;
    for (size_t i = 0; i < program->nsteps; i++) {
        struct ar_node_step *const step = &program->steps[i];
        while (program->stage_end[stage] <= i)
            stage++;
        if (!asks(step, takes_back))
            continue;
        const bool is_own = step->kind == AR_ACCESS_RAISE;
        const size_t n = lines_of(&program->lines[program->nlines], step, nranks);
        step->ahead = &program->lines[program->nlines + !is_own]; /* it looks at the flag itself */
        step->nahead =
            is_own ? (unsigned)n : count_ahead(program, i, program->stage_end[stage], nranks);
        program->nlines += n;
    }
    return AR_OK;
}

/* --- programs --- */

/* Does what the ranks store for one chunk fit into their slots? */
static bool
fits(const struct ar_node *node, const struct ar_reduction *r, const struct ar_accesses *accesses)
{
    return accesses->nflags <= AR_NODE_FLAGS &&
           accesses->area_length <=
               ar_cell_length(r, node->piece.slot_bytes - sizeof(struct ar_slot));
}

/* Element 0 of TMP itself may not be in the scratch. */
static ptrdiff_t
tmp_base(const struct ar_reduction *r, const struct ar_accesses *accesses)
{
    char scratch[1];
    char *const first = ar_reduction_base(r, scratch, accesses->tmp_end - accesses->tmp_begin);
    return first - scratch - (ptrdiff_t)accesses->tmp_begin * r->extent;
}

static int
make_program(struct ar_node_program *program, const struct ar_node *node,
             const struct ar_reduction *r, struct ar_accesses *accesses, size_t length,
             bool takes_back)
{
    struct ar_node_step *const steps = malloc((accesses->n + 1) * sizeof *steps);
    const bool exchanges = node->exchanged_bytes > 0 && length * r->size >= node->exchanged_bytes;
    if (!steps)
        return AR_ERR_MEMORY;
    bool stores = false; /* to areas that are exchanged */
    for (size_t i = 0; i < accesses->n; i++) {
        steps[i] = step_of(node, r, &accesses->all[i], exchanges);
        stores |= steps[i].kind == AR_ACCESS_STORE && steps[i].dst_base >= AR_BASE_AREAS;
    }
    *program = (struct ar_node_program){.steps = steps,
                                        .stage_end = accesses->stage_end,
                                        .nsteps = accesses->n,
                                        .nstages = accesses->nstages,
                                        .exchanges = stores,
                                        .tmp_begin = accesses->tmp_begin,
                                        .tmp_end = accesses->tmp_end,
                                        .tmp_base = tmp_base(r, accesses)};
    accesses->stage_end = NULL;
    return find_ahead(program, node->nranks, takes_back);
}

static int
translate(struct ar_accesses *accesses, const struct ar_node *node, const struct ar_reduction *r,
          struct ar_emission *e, enum ar_node_way way)
{
    if (way != AR_WAY_SLOTS)
        return ar_accesses_init_in_place(accesses, node->rank, node->nranks, ar_algorithm_source,
                                         e);
    return ar_accesses_init(accesses, node->rank, node->nranks, r->size, ar_algorithm_source, e);
}

/* Halves the length of a chunk until its accesses fit into the slots. */
static int
find_length(struct ar_node_plan *plan, struct ar_accesses *accesses, const struct ar_node *node,
            const struct ar_reduction *r, struct ar_emission *e, bool whole)
{
    for (;;) {
        e->count = plan->length;
        const int error = translate(accesses, node, r, e, AR_WAY_SLOTS);
        if (error || fits(node, r, accesses))
            return error;
        const bool is_hopeless = whole || plan->length == 1 || accesses->nflags > AR_NODE_FLAGS;
        ar_accesses_fini(accesses);
        if (is_hopeless)
            return AR_ERR_PARAM;
        plan->length = (plan->length + 1) / 2;
    }
}

/* The program of a shorter last chunk. */
static int
make_tail(struct ar_node_plan *plan, const struct ar_node *node, const struct ar_reduction *r,
          struct ar_emission *e, enum ar_node_way way, bool takes_back)
{
    struct ar_accesses accesses;
    int error = translate(&accesses, node, r, e, way);
    if (error)
        return error;
    plan->can_end_early &= accesses.can_end_early;
    /* Flat, what it stores for a flag is nowhere behind what a longer chunk stores for that one. */
    plan->tail_overlaps[way] =
        accesses.meets_readers && accesses.nmet == 1 && accesses.nstages == plan->full[way].nstages;
    error = fits(node, r, &accesses)
                ? make_program(&plan->tail[way], node, r, &accesses, e->count, takes_back)
                : AR_ERR_PARAM;
    ar_accesses_fini(&accesses);
    return error;
}

/* The programs of one way; e is of a chunk, of which these are the accesses. */
static int
make_programs(struct ar_node_plan *plan, struct ar_accesses *accesses, const struct ar_node *node,
              const struct ar_reduction *r, struct ar_emission *e, size_t count,
              enum ar_node_way way)
{
    const bool takes_back = way == AR_WAY_SLOTS && count <= plan->length;
    plan->can_end_early &= accesses->can_end_early;
    plan->overlaps[way] = accesses->meets_readers;
    plan->nmet[way] = accesses->nmet;
    const int error = fits(node, r, accesses) ? make_program(&plan->full[way], node, r, accesses,
                                                             plan->length, takes_back)
                                              : AR_ERR_PARAM;
    ar_accesses_fini(accesses);
    e->count = count % plan->length;
    return error || e->count == 0 ? error : make_tail(plan, node, r, e, way, takes_back);
}

static int
make_meeting(struct ar_node_plan *plan, const struct ar_node *node, const struct ar_reduction *r)
{
    struct ar_accesses accesses;
    int error = ar_accesses_init_meeting(&accesses, node->rank, node->nranks);
    if (error)
        return error;
    error = make_program(&plan->meet, node, r, &accesses, 0, false);
    ar_accesses_fini(&accesses);
    return error;
}

/* e: of the slots. */
static int
make_in_place(struct ar_node_plan *plan, const struct ar_node *node, const struct ar_reduction *r,
              const struct ar_emission *e, size_t count)
{
    struct ar_params form = *e->params;
    struct ar_emission chunk = {e->row, &form, e->nranks, plan->length};
    struct ar_accesses accesses;
    form.whole_bytes = 0;
    form.copy = AR_COPY_IN_PLACE;
    int error = translate(&accesses, node, r, &chunk, AR_WAY_IN_PLACE);
    if (!error)
        error = make_programs(plan, &accesses, node, r, &chunk, count, AR_WAY_IN_PLACE);
    return error ? error : make_meeting(plan, node, r);
}

/* --- plans --- */

#define PART_BYTES ((size_t)32768)

/* As many elements as fit into PART_BYTES, at least one. */
static size_t
part_length(const struct ar_reduction *r)
{
    const size_t first = ar_reduction_room_bytes(r, 1);
    if (first >= PART_BYTES || r->extent == 0)
        return 1;
    return 1 + (PART_BYTES - first) / (size_t)(r->extent < 0 ? -r->extent : r->extent);
}

/* Elements of TMP that the longest program uses. */
static size_t
tmp_length(const struct ar_node_plan *plan)
{
    size_t most = 0;
    for (int way = 0; way < AR_WAYS; way++) {
        const size_t full = plan->full[way].tmp_end - plan->full[way].tmp_begin;
        const size_t tail = plan->tail[way].tmp_end - plan->tail[way].tmp_begin;
        most = full > most ? full : most;
        most = tail > most ? tail : most;
    }
    return most;
}

static void
lay_out(struct ar_node_plan *plan, const struct ar_reduction *r, bool whole)
{
    const size_t part = part_length(r);
    plan->tmp_bytes = ar_scratch_round_up(ar_reduction_room_bytes(r, tmp_length(plan)));
    plan->part = whole || part > plan->length ? plan->length : part;
    plan->places = r->basic ? 1 : 2;
    plan->place_bytes = ar_scratch_round_up(ar_reduction_room_bytes(r, plan->part));
}

/* Makes all of an empty plan. */
static int
make(struct ar_node_plan *plan, const struct ar_node *node, const struct ar_algorithm *algorithm,
     const struct ar_params *params, size_t count, const struct ar_reduction *r, bool whole)
{
    struct ar_params form = *params;
    struct ar_emission e = {algorithm, &form, node->nranks, 0};
    form.copy = AR_COPY_SLOTS;
    const size_t asked = ar_params_segment(params, count, r->size);
    const size_t most = ar_cell_length(r, node->chunk_bytes);
    plan->count = count;
    plan->can_end_early = !whole;
    plan->length = whole ? count : asked < most ? asked : most;
    plan->length = plan->length == 0 ? 1 : plan->length;
    form.whole_bytes =
        whole ? SIZE_MAX : ar_shm_whole(&node->tuning, params, count, plan->length, r->size);
    struct ar_accesses accesses;
    int error = find_length(plan, &accesses, node, r, &e, whole);
    plan->chunks = (count + plan->length - 1) / plan->length;
    if (!error)
        error = make_programs(plan, &accesses, node, r, &e, count, AR_WAY_SLOTS);
    if (!error && params->copy == AR_COPY_IN_PLACE)
        error = make_in_place(plan, node, r, &e, count);
    if (!error)
        lay_out(plan, r, whole);
    return error;
}

static void
free_program(struct ar_node_program *program)
{
    free(program->steps);
    free(program->stage_end);
    free(program->lines);
}

static void
free_plan(struct ar_node_plan *plan)
{
    if (!plan)
        return;
    for (int way = 0; way < AR_WAYS; way++) {
        free_program(&plan->full[way]);
        free_program(&plan->tail[way]);
    }
    free_program(&plan->meet);
    free(plan);
}

/* --- plans that nobody uses --- */

#define SPARE_PLANS      8
#define SPARE_PLAN_BYTES ((size_t)16384) /* a longer one is not kept */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ar_node_plan *spare[SPARE_PLANS]; /* owned; the last one kept is the first */

/* *key, which is zero, stays so if the plan depends on what others own. */
static void
find_key(struct ar_node_plan_key *key, const struct ar_node *node,
         const struct ar_algorithm *algorithm, const struct ar_params *params, size_t count,
         const struct ar_reduction *r, bool whole)
{
    if (!r->basic || !r->dense || params->node_of || params->domains || params->grouping ||
        params->written)
        return;
    key->algorithm = algorithm;
    key->params = *params;
    key->tuning = node->tuning;
    key->rank = node->rank;
    key->nranks = node->nranks;
    key->slot_bytes = node->piece.slot_bytes;
    key->chunk_bytes = node->chunk_bytes;
    key->exchanged_bytes = node->exchanged_bytes;
    key->count = count;
    key->size = r->size;
    key->whole = whole;
}

/* Puts the plan first, behind it those that were before place i. */
static void
move_to_front(struct ar_node_plan *plan, int i)
{
    for (; i > 0; i--)
        spare[i] = spare[i - 1];
    spare[0] = plan;
}

/* NULL: there is none with this key. */
static struct ar_node_plan *
take_spare(const struct ar_node_plan_key *key)
{
    struct ar_node_plan *found = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < SPARE_PLANS && !found && key->algorithm; i++)
        if (spare[i] && memcmp(&spare[i]->key, key, sizeof *key) == 0) {
            found = spare[i];
            move_to_front(NULL, i);
        }
    pthread_mutex_unlock(&lock);
    return found;
}

/* Returns a plan to be freed instead, or NULL. */
static struct ar_node_plan *
keep_spare(struct ar_node_plan *plan)
{
    if (!plan->key.algorithm || ar_node_plan_memory_bytes(plan) > SPARE_PLAN_BYTES)
        return plan;
    plan->stores = (struct ar_stores){0};
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < SPARE_PLANS - 1 && spare[i])
        i++;
    struct ar_node_plan *const oldest = spare[i];
    move_to_front(plan, i);
    pthread_mutex_unlock(&lock);
    return oldest;
}

int
ar_node_plan_create(struct ar_node_plan **made, const struct ar_node *node,
                    const struct ar_algorithm *algorithm, const struct ar_params *params,
                    size_t count, const struct ar_reduction *r, bool whole)
{
    struct ar_node_plan_key key;
    memset(&key, 0, sizeof key); /* padding, too, which is compared */
    find_key(&key, node, algorithm, params, count, r, whole);
    struct ar_node_plan *plan = take_spare(&key);
    int error = AR_OK;
    if (!plan) {
        plan = calloc(1, sizeof *plan);
        if (!plan)
            return AR_ERR_MEMORY;
        memcpy(&plan->key, &key, sizeof key);
        error = make(plan, node, algorithm, params, count, r, whole);
    }
    if (error)
        free_plan(plan);
    else
        *made = plan;
    return error;
}

void
ar_node_plan_destroy(struct ar_node_plan *plan)
{
    if (plan)
        free_plan(keep_spare(plan));
}

size_t
ar_node_plan_scratch_bytes(const struct ar_node_plan *plan)
{
    return plan->tmp_bytes + (size_t)plan->places * plan->place_bytes;
}

bool
ar_node_plan_can_stream(const struct ar_node_plan *plan, const struct ar_reduction *r)
{
    const struct ar_node_program *const program = &plan->full[AR_WAY_SLOTS];
    bool can = false;
    for (size_t i = 0; i < program->nsteps && !can; i++)
        can = program->steps[i].kind == AR_ACCESS_STORE &&
              ar_cell_streams(r, program->steps[i].length);
    return can;
}

static size_t
program_bytes(const struct ar_node_program *program)
{
    return program->nsteps * sizeof *program->steps +
           program->nstages * sizeof *program->stage_end + program->nlines * sizeof *program->lines;
}

size_t
ar_node_plan_memory_bytes(const struct ar_node_plan *plan)
{
    size_t bytes = sizeof *plan + program_bytes(&plan->meet);
    for (int way = 0; way < AR_WAYS; way++)
        bytes += program_bytes(&plan->full[way]) + program_bytes(&plan->tail[way]);
    return bytes;
}
