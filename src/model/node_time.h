/* The time that the ranks of a node take to exchange through shared memory, from all ranks'
 * accesses (schedule/accesses.h), on a machine whose levels inside a node are known.  Pure.
 *
 * Assumed, each once:
 * - Ranks begin together, and are bound: rank r is in domain r / ranks of each level.
 * - A rank does its accesses one after the other.  Each takes machine->access, and what it
 *   combines, loads or stores takes what reductions and copies take.
 * - Raising a flag takes its line back from all that read it in an earlier chunk, so that the flag
 *   can be seen one latency of the farthest of them later.  Where the chunk is a call of its own
 *   and at most AR_SHORT_BYTES are stored for the flag, its lines were taken back in the call
 *   before, which took longer than that.  Then only those ranks count that have asked for them in
 *   this call, half a latency before, since they wait for the flag or for one of those before it.
 * - A look at a flag brings its line after one latency of the level that reader and owner share.
 *   After a look in vain the latency counts from when the flag can be seen.  Readers of one line
 *   are served one after the other.  A core looks ahead at machine->ahead flags in a row, until one
 *   is in vain.  While a rank waits for a flag it also asks for the next ones of the stage
 *   (AR_AHEAD_FLAGS) and for short messages (ar_ahead_bytes()).  All these lines travel at the same
 *   time.  They are fewer than the 16 lines at once for which machine files give a bandwidth.
 * - Where the ranks of the first level share a cache, a line from outside is brought in once, and
 *   is then there for the others.
 * - Longer messages are asked for when the flag has come.  If a message does not stand in its
 *   flag's line, its first line takes a latency and the others follow at the level's bandwidth.  A
 *   rank takes such messages one after the other.  So does a level's link, in the order in which
 *   they are asked for.
 * - Giving waits for the receiver's lines as reading does for the sender's.  Buffers that need no
 *   flag are asked for when it is their turn.
 * - All chunks are equally long, the last one, too.
 * - Areas stay in caches.  A rank's own vectors are in memory where those of all ranks of the first
 *   level do not fit into its cache.  Then they are read, and the result is read and written, by
 *   way of the memory of each domain that has its own.  The ranks of the domain share its
 *   bandwidth. */
#ifndef AR_MODEL_NODE_H
#define AR_MODEL_NODE_H

#include <stddef.h>

#include "model/lines.h"

/* Where the time goes on the longest chain of causes. */
enum ar_node_part {
    AR_NODE_LATENCY, /* of lines */
    AR_NODE_BACK,    /* lines are taken back from their readers */
    AR_NODE_SERVING, /* other readers of a line come first */
    AR_NODE_STREAM,  /* further lines, and links that others use */
    AR_NODE_OWN,     /* accesses, reductions and copies */
    AR_NODE_MEMORY,  /* waiting for it */
    AR_NODE_PARTS
};
extern const char *const ar_node_part_names[];

/* A chunk's accesses are those of ranks[]; chunks follow one another, or overlap by stages where
 * ranks[0].meets_readers, as the executor has it. */
struct ar_node_simulation {
    const struct ar_machine *machine; /* of at least one domain */
    const struct ar_accesses *ranks;  /* of all nranks ranks */
    int nranks;
    size_t nchunks;
    size_t element_bytes;
    bool takes_back; /* each flag's lines, in the call before */
};

struct ar_node_time {
    double at; /* ns */
    double parts[AR_NODE_PARTS];
};

/* When the last rank has done nchunks chunks.  AR_OK; AR_ERR_MEMORY; AR_ERR_PROOF where some wait
 * for ever. */
int ar_node_simulate(struct ar_node_time *end, const struct ar_node_simulation *run);

/* --- what serves one request at a time --- */

/* When something is idle that serves one request at a time, a link say.
 *
 * Requests may be told in another order than that of their times.  A simulation in which one
 * rank goes on, and then another, learns late what the second asked for early.  So idle times
 * before the latest request are remembered, and a request takes what is idle from when it comes,
 * in parts if need be. */

/* Idle times that are remembered: the latest. */
#define AR_BUSY_IDLE 128

struct ar_busy {
    struct {
        double from, to;
    } idle[AR_BUSY_IDLE]; /* in their order; the last one is without end */
    size_t n;             /* 0: idle from 0 on */
};

/* When a request is done that comes at a time, >= 0, and takes so long, > 0. */
double ar_busy_take(struct ar_busy *busy, double at, double length);

#endif
