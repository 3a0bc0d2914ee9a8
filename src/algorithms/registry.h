/* The registry: one row for each algorithm.  The parser, the selection, the
 * checker, the tests, the program and the documents walk it. */
#ifndef AR_REGISTRY_H
#define AR_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/domains.h"
#include "schedule/schedule.h"

#define AR_DIMS_MAX     8
#define AR_WINDOW_MAX   256     /* segments in flight */
#define AR_SEGMENTS_MAX 1000000 /* of a message, if their number is given */
#define AR_WINDOW_AUTO  0       /* the number that ar_algorithm_window returns */
#define AR_FILE_TEXT    240     /* of a file's name */

enum ar_broadcast {
    AR_BROADCAST_FLAT,
    AR_BROADCAST_BINOMIAL,
    AR_BROADCAST_SCATTER_ALLGATHER, /* round a ring */
    AR_BROADCAST_SCATTER_DOUBLING
};
enum ar_allgather { AR_ALLGATHER_RING, AR_ALLGATHER_BRUCK, AR_ALLGATHER_DOUBLING };
enum ar_reduce_scatter {
    AR_REDUCE_SCATTER_PAIRWISE,
    AR_REDUCE_SCATTER_HALVING,
    AR_REDUCE_SCATTER_RING
};
enum ar_exchange { AR_EXCHANGE_WHOLE, AR_EXCHANGE_HALVES };
enum ar_intra { AR_INTRA_BINOMIAL, AR_INTRA_FLAT };
enum ar_unpaired { AR_UNPAIRED_FOLD, AR_UNPAIRED_COPY };
enum ar_distance { AR_DISTANCE_DOUBLING, AR_DISTANCE_HALVING };
enum ar_serve { AR_SERVE_TOGETHER, AR_SERVE_ONE_BY_ONE };
enum ar_ring_order { AR_RING_BY_RANK, AR_RING_BY_NODE };
enum ar_copy {
    AR_COPY_AUTO,    /* in place where ar_shm_tuning says that it pays, if possible */
    AR_COPY_SLOTS,   /* through memory that the ranks share */
    AR_COPY_IN_PLACE /* no copy: ranks read each other's buffers */
};

struct ar_algorithm;
struct ar_node_index;
struct ar_written_row;

/* What a user may set in parentheses after an algorithm's name.  The algorithm itself adapts every
 * value to any nranks, as its card says. */
struct ar_params {
    int root;              /* taken modulo nranks */
    int radix;             /* >= 2; at most nranks is used */
    int ndims;             /* of dims; 0: grid from the node map, else as square as possible */
    int dims[AR_DIMS_MAX]; /* each >= 1; reduced so that their product is <= nranks */
    enum ar_broadcast broadcast;
    enum ar_allgather allgather;
    enum ar_reduce_scatter reduce_scatter;
    enum ar_exchange exchange;
    enum ar_distance distance;
    enum ar_unpaired unpaired;
    enum ar_intra intra;              /* inside nodes */
    enum ar_serve serve;              /* in which way a root takes and gives */
    enum ar_ring_order order;         /* in which a ring visits the ranks */
    const struct ar_algorithm *inter; /* between nodes; NULL: see ar_params_inter */
    int lanes;                        /* per node at most; 0: a lane for every rank */
    int halvings;                     /* at most; 0: all */
    size_t whole_bytes;   /* in shared memory, every rank combines all of a message up to this
                             size, or all of what it holds of one before a level; 0 = the fastest
                             on this machine */
    size_t segment_bytes; /* of the executor; 0 = whole message, or see segments */
    int segments;         /* number of segments of the message; 0 = see segment_bytes */
    int window;           /* segments in flight, or AR_WINDOW_AUTO */
    /* Node of each rank, nranks entries, numbered 0, 1, 2, ... in the order of their
     * first ranks; NULL: unknown, treated as one node.  Borrowed. */
    const int *node_of;
    const struct ar_node_index *node_index; /* of node_of; NULL: none.  Borrowed. */
    struct ar_levels levels;                /* in shared memory */
    enum ar_copy copy;                      /* in shared memory, too */
    char file[AR_FILE_TEXT]; /* of a schedule; %n stands for the number of ranks, %% for a % */
    const struct ar_written_row *written; /* what was read there; NULL: nothing.  Borrowed */
    /* What the ranks share; NULL: nothing is known.  Borrowed. */
    const struct ar_domains *domains;
    /* Of the ranks, by the levels; NULL: an emission makes its own, or is flat.  A caller that
     * emits for many ranks makes it once.  A row gets NULL if it is flat.  Borrowed. */
    const struct ar_grouping *grouping;
};

/* Which parameters a row takes. */
enum ar_param_bit {
    AR_TAKES_ROOT = 1,
    AR_TAKES_RADIX = 2,
    AR_TAKES_DIMS = 4,
    AR_TAKES_BROADCAST = 8,
    AR_TAKES_ALLGATHER = 16,
    AR_TAKES_REDUCE_SCATTER = 32,
    AR_TAKES_WHOLE = 64,
    AR_TAKES_INTER = 128,
    AR_TAKES_LANES = 256,
    AR_TAKES_HALVINGS = 512,
    AR_TAKES_EXCHANGE = 1024,
    AR_TAKES_DISTANCE = 2048,
    AR_TAKES_UNPAIRED = 4096,
    AR_TAKES_INTRA = 8192,
    AR_TAKES_ORDER = 16384,
    AR_TAKES_LEVELS = 32768,
    AR_TAKES_COPY = 65536,
    AR_TAKES_FILE = 131072,
    AR_TAKES_SERVE = 262144,
    AR_TAKES_END = 524288 /* past the last */
};

/* What does not change the bits of a result.  Each level includes those before it. */
enum ar_determinism {
    AR_DETERMINISM_NONE,
    AR_DETERMINISM_RUN,       /* run to run, with the same ranks on the same nodes */
    AR_DETERMINISM_PLACEMENT, /* whichever ranks share a node */
    AR_DETERMINISM_SIZE,      /* whatever the length of the message around an element */
    AR_DETERMINISM_ORDER,     /* in whatever order ranks are combined; no row guarantees this */
    AR_DETERMINISM_LEVELS
};
extern const char *const ar_determinism_names[]; /* index = value; NULL-terminated */

/* Rows of a family combine every element by the same expression, so that one can replace another
 * without a change of bits. */
enum ar_family {
    AR_FAMILY_OWN,      /* the row is alone */
    AR_FAMILY_FOLD,     /* ((x0 op x1) op x2) op ... */
    AR_FAMILY_DOUBLING, /* pairs, pairs of pairs, ... of neighbours */
    AR_FAMILIES
};
extern const char *const ar_family_names[];

/* How much scratch memory a rank uses at most: TMP, and what the recv_reduce steps of
 * one round receive.  In vectors of count elements; see
 * ar_algorithm_scratch_vectors. */
enum ar_scratch {
    AR_SCRATCH_VECTOR, /* one of TMP and one received */
    AR_SCRATCH_RADIX,  /* one from each of a group of radix */
    AR_SCRATCH_INTRA,  /* with intra=flat one from each rank, otherwise as VECTOR */
    AR_SCRATCH_RANKS,  /* one from each rank; with serve=one_by_one as VECTOR */
    AR_SCRATCH_INTER,  /* as the algorithm between nodes */
    AR_SCRATCH_WRITTEN /* as the file says */
};

/* The lines of a row's card, each for the rank with the largest value. */
enum ar_card_line {
    AR_CARD_ROUNDS, /* messages in the longest chain in which each waits for the one before */
    AR_CARD_SENT,   /* elements, as the next two */
    AR_CARD_REDUCED,
    AR_CARD_SCRATCH, /* TMP, and the most that the recv_reduces of one round receive */
    AR_CARD_TIME,    /* on a flat machine: latency a, bandwidth B of a rank, C to combine a byte */
    AR_CARD_LINES
};

/* Emits what rank does; pure.  nranks >= 2: ar_algorithm_emit serves a single rank.  Returns
 * ar_schedule_finish(s). */
typedef int ar_emit_fn(struct ar_schedule *s, int rank, int nranks, size_t count,
                       const struct ar_params *params);

struct ar_algorithm {
    const char *name;    /* in ALLREDUCE_ALGO */
    const char *aliases; /* space-separated other names, or "" */
    ar_emit_fn *emit;
    bool keeps_order;          /* by default: see ar_algorithm_keeps_order */
    enum ar_determinism keeps; /* by default, proved by test_determinism: RUN to SIZE; 0: RUN */
    enum ar_family family;     /* the same; only of rows that keep SIZE; by default: see
                                  ar_algorithm_family */
    const char *stand_in;      /* the nearest row that passes whole vectors to each op, if this one
                                  passes parts; NULL: it does not */
    bool shares_memory;        /* runs by loads and stores if all ranks are on one node */
    enum ar_scratch scratch;
    unsigned takes; /* enum ar_param_bit */
    int dims_most;  /* dimensions of its grid, if it takes dims */
    struct ar_params defaults;
    const char *title;               /* one line */
    const char *card[AR_CARD_LINES]; /* formulas, as card.h reads them */
    const char *another; /* time of another segment if each begins after the one before: in
                            card.h's language; NULL: as long as the first */
    const char *where;   /* "x = formula, y = formula": letters of the card; or NULL */
    const char *needs;   /* constraint, in words */
    const char *source;  /* paper or origin */
};

/* Whether the row combines in rank order with these parameters, so that it serves ops that do not
 * commute. */
bool ar_algorithm_keeps_order(const struct ar_algorithm *row, const struct ar_params *params);

/* What levels keep: NONE if they are named, since ranks may be bound to other cores in another run;
 * otherwise SIZE.  If bits must not change, AUTO is flat. */
enum ar_determinism ar_levels_keep(const struct ar_levels *levels);

/* What the row keeps with these parameters (NULL: its defaults).  Rows that depend on the map of
 * nodes keep only RUN, and no row keeps more than its levels. */
enum ar_determinism ar_algorithm_keeps(const struct ar_algorithm *row,
                                       const struct ar_params *params);

/* The family of the row with these parameters. */
enum ar_family ar_algorithm_family(const struct ar_algorithm *row, const struct ar_params *params);

/* Rows in the order of the table; NULL past the end. */
const struct ar_algorithm *ar_algorithm_at(size_t i);
size_t ar_algorithm_count(void);

/* By name or alias, length bytes of text, case ignored; NULL if unknown. */
const struct ar_algorithm *ar_algorithm_find(const char *text, size_t length);

/* The row that runs between nodes: that of params, or the default. */
const struct ar_algorithm *ar_params_inter(const struct ar_params *params);

/* The row that runs instead of row for an op that needs the whole vector: row itself if it does
 * not cut the vector, otherwise its stand-in. */
const struct ar_algorithm *ar_algorithm_whole(const struct ar_algorithm *row);

/* Does the row take levels inside each node?  If not, the levels that it takes are of all ranks. */
bool ar_algorithm_has_levels_in_nodes(const struct ar_algorithm *row);

/* Makes the grouping of nranks ranks by which the row goes with params, of which the levels, the
 * domains and the nodes count; *found as ar_levels_group has it.  AUTO is flat where levels are
 * inside nodes; else all names.  AR_OK; AR_ERR_MEMORY. */
int ar_algorithm_group(struct ar_grouping *grouping, struct ar_levels *found,
                       const struct ar_algorithm *row, const struct ar_params *params, int nranks);

/* Makes of a root and of dims, if nranks ranks do not have them, those by which the row goes.
 * Returns what there is to tell of that; NULL: they have them. */
const char *ar_algorithm_fit(const struct ar_algorithm *row, struct ar_params *params, int nranks);

/* Initialises s and emits the row's schedule for rank; params NULL: defaults.
 * On error s is finished (nothing to free).  AR_ERR_STEP, AR_ERR_MEMORY. */
int ar_algorithm_emit(const struct ar_algorithm *row, struct ar_schedule *s, int rank, int nranks,
                      size_t count, const struct ar_params *params);

/* The context of ar_algorithm_source. */
struct ar_emission {
    const struct ar_algorithm *row;
    const struct ar_params *params;
    int nranks;
    size_t count;
};

/* ar_algorithm_emit as an ar_schedule_source: the context is a struct
 * ar_emission. */
int ar_algorithm_source(void *emission, struct ar_schedule *s, int rank);

/* Upper bound, the same for all ranks, of TMP plus what one round's recv_reduce
 * steps receive, in vectors of count elements (count >= 1); at least 2. */
size_t ar_algorithm_scratch_vectors(const struct ar_algorithm *row, const struct ar_params *params,
                                    int nranks);

/* The number of segments in flight that params give.  If they leave it open, it is the row's
 * rounds, at most AR_WINDOW_MAX: that many are under way in a pipeline in which each stage works on
 * one.  The same for all ranks; >= 1. */
int ar_algorithm_window(const struct ar_algorithm *row, const struct ar_params *params, int nranks);

/* Elements per segment that params ask for, of a message of count elements of size bytes: at least
 * 1, at most count.  With a number of segments, all but the last are equally long, and
 * there may be fewer: 10 elements in 4 segments are 3, 3, 3, 1; in 6 they are five times 2. */
size_t ar_params_segment(const struct ar_params *params, size_t count, size_t size);

#define AR_SHARE_LEVELS 3

/* What is fastest in shared memory: figures of the node executor, measured or from the model.  The
 * grammar overrides them: shm(segment=...,whole=...,copy=...). */
struct ar_shm_tuning {
    size_t chunk_bytes; /* of a long message; a multiple of 64 */
    size_t whole_bytes; /* up to here every rank combines everything; above, its slice */
    /* The same where there are groups: for a message by the number of levels, and for what a rank
     * holds after the first level by that number less one.  The first entry is for one level; more
     * levels than entries use the last. */
    size_t share_bytes[AR_SHARE_LEVELS];
    size_t in_place_bytes; /* from here on ranks try each other's buffers, too, if they can;
                              SIZE_MAX: never */
};

/* Bytes of a core's own cache, if the system does not report them or for another machine. */
#define AR_USUAL_CACHE ((size_t)512 << 10)

/* For nranks ranks on one node, whose cores have caches of cache_bytes of their own; is_crowded:
 * the ranks share cores. */
struct ar_shm_tuning ar_shm_tune(int nranks, size_t cache_bytes, bool is_crowded);

/* The whole_bytes for the schedules of a message of count elements of size bytes, in chunks of
 * length elements, by params or else by the tuning: SIZE_MAX if all of it is short, 0 if nothing
 * is, or how many elements held by a rank are short, where the message is one chunk. */
size_t ar_shm_whole(const struct ar_shm_tuning *tuning, const struct ar_params *params,
                    size_t count, size_t length, size_t size);

/* The scratch memory of an instance is a multiple of this. */
#define AR_SCRATCH_ALIGNMENT ((size_t)64)

static inline size_t
ar_scratch_round_up(size_t bytes)
{
    return (bytes + AR_SCRATCH_ALIGNMENT - 1) / AR_SCRATCH_ALIGNMENT * AR_SCRATCH_ALIGNMENT;
}

/* Elements per segment (>= 1) of a message of count elements of size bytes: the number that params
 * give, but few enough that the scratch memory of a whole window fits into scratch_bytes. */
size_t ar_algorithm_segment(const struct ar_algorithm *row, const struct ar_params *params,
                            int nranks, size_t count, size_t size, size_t scratch_bytes);

/* Names of an enum parameter's values in grammar and print; index = enum value;
 * NULL-terminated. */
extern const char *const ar_broadcast_names[];
extern const char *const ar_allgather_names[];
extern const char *const ar_reduce_scatter_names[];
extern const char *const ar_exchange_names[];
extern const char *const ar_distance_names[];
extern const char *const ar_serve_names[];
extern const char *const ar_unpaired_names[];
extern const char *const ar_intra_names[];
extern const char *const ar_ring_order_names[];
extern const char *const ar_copy_names[];

#endif
