/* The plan of the node executor: a schedule's accesses to shared memory (schedule/accesses.h),
 * resolved for a type and for the memory. */
#ifndef AR_NODE_PLAN_H
#define AR_NODE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/registry.h"
#include "execute/node.h"
#include "execute/stores.h"
#include "reduce/reduce.h"
#include "schedule/accesses.h"

/* A slot: a line for each flag, then the area.  Tiny data that belong to a flag are stored in the
 * flag's own line, so that one line carries both. */
#define AR_SLOTS      4
#define AR_NODE_FLAGS 12

struct ar_slot_line {
    _Alignas(64) struct ar_flag flag;
    char tiny[AR_TINY_BYTES];
};

struct ar_slot {
    struct ar_slot_line line[AR_NODE_FLAGS];
    _Alignas(64) char area[];
};

/* Number of the line of a flag.  The first two are directly before the area: what is read after the
 * first flag is then so near that the core prefetches it.  It is not in the other half of that
 * flag's pair of lines, which a waiting rank would fetch with each look. */
static inline int
ar_slot_line_of(int flag)
{
    return AR_NODE_FLAGS - 2 - flag / 2 * 2 + flag % 2;
}

/* The base of an address:
 * - below AR_BASE_SLOTS a buffer, by enum ar_buffer;
 * - AR_BASE_SLOTS: the slots of a turn;
 * - AR_BASE_AREAS + i: the same, for what belongs in the area of rank i where two ranks exchange
 *   theirs;
 * - AR_BASES + ar_in_place_at(i, ...): in place, IN or OUT of rank i. */
enum { AR_BASE_SLOTS = AR_TMP + 1, AR_BASE_AREAS, AR_BASES = AR_BASE_AREAS + 2 };

static inline bool
ar_base_is_slots(int base)
{
    return base >= AR_BASE_SLOTS && base < AR_BASES;
}

/* An access with its bytes. */
struct ar_node_step {
    enum ar_access_kind kind;
    int dst_base, a_base, b_base;
    size_t length; /* elements; AWAIT, RAISE: bytes at a, or at dst, that the flag announces */
    size_t end;    /* element of the chunk behind them; RAISE: 0; 0 if it is not known */
    ptrdiff_t dst, a, b;
    ptrdiff_t flag;         /* RAISE, AWAIT: from the slots of a turn */
    int rank;               /* AWAIT: whose flag */
    unsigned nahead;        /* so many lines are asked for: AWAIT, along with it; RAISE, those of
                               the next call, after it */
    const ptrdiff_t *ahead; /* these, from the slots of a turn; the program's */
};

/* Of a call in place: one or two before its chunks and one after them. */
#define AR_MEETINGS 3

/* What is done with a chunk. */
struct ar_node_program {
    struct ar_node_step *steps; /* owned */
    size_t *stage_end;          /* owned; as in struct ar_accesses */
    ptrdiff_t *lines;           /* owned; that are asked for ahead */
    size_t nsteps, nstages, nlines;
    bool exchanges;            /* it stores to areas that two ranks exchange */
    size_t tmp_begin, tmp_end; /* elements of TMP that are used */
    ptrdiff_t tmp_base;        /* from the scratch to where element 0 would be */
};

/* How the ranks read each other's vectors: in slots, or in place, where each combines its share. */
enum ar_node_way { AR_WAY_SLOTS, AR_WAY_IN_PLACE, AR_WAYS };

/* One more way in a trial: through slots by their programs, but past the caches. */
#define AR_WAY_STREAMED AR_TRIAL_STREAMED
_Static_assert(AR_WAY_STREAMED >= (int)AR_WAYS, "it is none of those with programs of their own");

/* All that a plan depends on, if its elements are those of a predefined type without gaps. */
struct ar_node_plan_key {
    const struct ar_algorithm *algorithm; /* NULL: it depends on more than this */
    struct ar_params params;
    struct ar_shm_tuning tuning;
    int rank, nranks;
    size_t slot_bytes, chunk_bytes, exchanged_bytes;
    size_t count, size;
    bool whole;
};

struct ar_node_plan {
    struct ar_node_plan_key key;
    /* Of a full chunk, each way.  In place has stages only if it was requested. */
    struct ar_node_program full[AR_WAYS];
    /* Of the last chunk if it is shorter; otherwise without stages. */
    struct ar_node_program tail[AR_WAYS];
    struct ar_node_program meet; /* in place: all ranks wait for all others */
    size_t count;
    bool can_end_early; /* a run may be of fewer elements: the first ones */
    size_t length;      /* elements of a chunk */
    size_t chunks;
    /* Whether a chunk's stages alternate with those of its neighbours; and whether those of the
     * shorter last one do, which otherwise follows the others. */
    bool overlaps[AR_WAYS], tail_overlaps[AR_WAYS];
    size_t nmet[AR_WAYS]; /* as in struct ar_accesses */
    size_t part;          /* elements that go through the scratch at a time */
    int places;           /* number of places for them after TMP: right operand, then left */
    size_t place_bytes;   /* of one of them */
    size_t tmp_bytes;
    struct ar_stores stores; /* of what goes through slots; at first it never streams */
};

/* Makes the plan of node->rank for count (>= 1) elements of r.  The chunks are as long as params
 * say, or shorter, so that they fit into the slots.  If params->copy is AR_COPY_IN_PLACE the
 * plan can also run in place.  whole: the op gets all elements in one call, which
 * ar_node_takes_whole allows, in the form for short vectors.  A plan that was destroyed is used
 * again if it fits, so a program that makes communicators in a loop makes one plan.  AR_OK;
 * AR_ERR_MEMORY; AR_ERR_STEP or AR_ERR_PROOF (a bug of the algorithm); AR_ERR_PARAM, alike on all
 * ranks, if the schedule has too many rounds or not even one element fits. */
int ar_node_plan_create(struct ar_node_plan **made, const struct ar_node *node,
                        const struct ar_algorithm *algorithm, const struct ar_params *params,
                        size_t count, const struct ar_reduction *r, bool whole);
void ar_node_plan_destroy(struct ar_node_plan *plan);

/* Scratch memory that running the plan needs, in bytes: a multiple of 64. */
size_t ar_node_plan_scratch_bytes(const struct ar_node_plan *plan);

/* A bit for each way in which calls of the plan can go through slots. */
static inline unsigned
ar_node_ways_by_slots(const struct ar_node_plan *plan)
{
    const enum ar_streaming streaming = plan->stores.streaming;
    return (unsigned)(streaming != AR_STREAMING_ALWAYS) << AR_WAY_SLOTS |
           (unsigned)(streaming != AR_STREAMING_NEVER) << AR_WAY_STREAMED;
}

/* Has the plan anything that can go past the caches on its way through slots? */
bool ar_node_plan_can_stream(const struct ar_node_plan *plan, const struct ar_reduction *r);

/* What the plan itself occupies, in bytes. */
size_t ar_node_plan_memory_bytes(const struct ar_node_plan *plan);

#endif
