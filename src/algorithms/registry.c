#include "algorithms/registry.h"

#include <limits.h>
#include <string.h>
#include <strings.h>

#include "algorithms/algorithms.h"

const char *const ar_broadcast_names[] = {"flat", "binomial", "scatter_allgather", NULL};
const char *const ar_allgather_names[] = {"ring", "bruck", "doubling", NULL};
const char *const ar_reduce_scatter_names[] = {"pairwise", "halving", "ring", NULL};

const char *const ar_determinism_names[] = {"none", "run", "placement", "size", "order", NULL};
const char *const ar_family_names[] = {"", "fold", "doubling", NULL};

static const struct ar_algorithm rows[] = {
    {
        .name = "star",
        .aliases = "parameter_server",
        .emit = ar_star,
        .keeps = AR_DETERMINISM_SIZE,
        .family = AR_FAMILY_FOLD,
        .keeps_order = true,
        .scratch = AR_SCRATCH_RANKS,
        .takes = AR_TAKES_ROOT,
        .defaults = {.window = 1},
        .title = "the root takes all vectors, combines them and sends the result to each",
        .rounds = "2",
        .bytes = "root (p-1)n, others n",
        .cost = "2a + 2(p-1)n/B + (p-1)nC",
        .needs = "nothing",
        .source = "Li et al. 2014 (parameter server)",
    },
    {
        .name = "circle",
        .aliases = "chain",
        .emit = ar_circle,
        .keeps = AR_DETERMINISM_SIZE,
        .family = AR_FAMILY_FOLD,
        .keeps_order = true,
        .defaults = {.segment_bytes = 65536, .window = 4},
        .title = "the sum grows along the chain of ranks, the result walks back",
        .rounds = "2(p-1)",
        .bytes = "2n, n at the ends",
        .cost = "2(p-1)(a + S/B) + (p-1)SC + (n/S - 1)(2a + 2S/B + SC), S a segment",
        .needs = "nothing",
        .source = "Worringen 2003",
    },
    {
        .name = "recursive",
        .aliases = "divide_and_conquer",
        .emit = ar_recursive,
        .keeps = AR_DETERMINISM_SIZE,
        .keeps_order = true,
        .defaults = {.window = 1},
        .title =
            "the ranks are halved again and again, the halves' firsts combine; the same way back",
        .rounds = "2 ceil(log2 p)",
        .bytes = "rank 0 n ceil(log2 p), a leaf n",
        .cost = "ceil(log2 p) (2a + 2n/B + nC)",
        .needs = "nothing",
        .source = "divide and conquer, as taught",
    },
    {
        .name = "reduce_bcast",
        .aliases = "binomial",
        .intel_id = 3,
        .emit = ar_reduce_bcast,
        .keeps = AR_DETERMINISM_SIZE,
        .keeps_order = true,
        .takes = AR_TAKES_ROOT | AR_TAKES_BROADCAST,
        .defaults = {.broadcast = AR_BROADCAST_BINOMIAL, .window = 1},
        .title = "a binomial tree to the root, then a broadcast",
        .rounds = "2 ceil(log2 p) (broadcast binomial)",
        .bytes = "root n ceil(log2 p), a leaf n",
        .cost = "ceil(log2 p) (2a + 2n/B + nC)",
        .needs = "nothing",
        .source = "Thakur, Rabenseifner & Gropp 2005",
    },
    {
        .name = "gather_scatter",
        .aliases = "binomial_gather_scatter",
        .intel_id = 5,
        .emit = ar_gather_scatter,
        .keeps = AR_DETERMINISM_SIZE,
        .family = AR_FAMILY_FOLD,
        .keeps_order = true,
        .scratch = AR_SCRATCH_RANKS,
        .takes = AR_TAKES_ROOT,
        .defaults = {.window = 1},
        .title =
            "all vectors travel up a binomial tree, the root combines them, the result goes back",
        .rounds = "2 ceil(log2 p)",
        .bytes = "up n p/2 at most, a leaf n; down root n ceil(log2 p)",
        .cost = "2 ceil(log2 p) a + (p - 1 + ceil(log2 p))n/B + (p-1)nC",
        .needs = "nothing",
        .source = "Intel MPI 5 (its name is all that is published)",
    },
    {
        .name = "knomial",
        .aliases = "recursive_multiplying",
        .intel_id = 9,
        .emit = ar_knomial,
        .keeps = AR_DETERMINISM_SIZE,
        .keeps_order = true,
        .scratch = AR_SCRATCH_RADIX,
        .takes = AR_TAKES_RADIX,
        .defaults = {.radix = 4, .window = 1},
        .title = "groups of k exchange all they have, then groups of k groups, and so on",
        .rounds = "ceil(log_k p)",
        .bytes = "(k-1)n log_k p",
        .cost = "log_k p (a + (k-1)n/B + (k-1)nC)",
        .needs = "nothing",
        .source = "Ruefenacht, Bull & Booth 2017",
    },
    {
        .name = "double_tree",
        .aliases = "double_binary_tree two_tree",
        .emit = ar_double_tree,
        .stand_in = "reduce_bcast",
        .keeps = AR_DETERMINISM_PLACEMENT,
        .keeps_order = true,
        .defaults = {.segment_bytes = 65536, .window = 4},
        .title = "two binary trees, each carries half of the vector",
        .rounds = "about 2 log2 p",
        .bytes = "2n",
        .cost = "log2 p (2a + 2S/B + SC) + (n/S - 1)(2a + 2S/B + SC), S a segment",
        .needs = "nothing",
        .source = "Sanders, Speck & Traff 2009",
    },
    {
        .name = "dual_root",
        .aliases = "dual_tree",
        .emit = ar_dual_root,
        .keeps = AR_DETERMINISM_SIZE,
        .keeps_order = true,
        .defaults = {.segment_bytes = 65536, .window = 4},
        .title = "two trees reduce half of the ranks each, and their roots exchange",
        .rounds = "2 floor(log2 ceil(p/2)) + 1",
        .bytes = "3n at most",
        .cost = "log2 p (2a + 4S/B + 2SC) + (n/S - 1)(2a + 3S/B + 2SC), S a segment",
        .needs = "nothing",
        .source = "Traff 2021",
    },
    {
        .name = "allgather_fold",
        .aliases = "allgather_reduce",
        .emit = ar_allgather_fold,
        .keeps = AR_DETERMINISM_SIZE,
        .family = AR_FAMILY_FOLD,
        .keeps_order = true,
        .scratch = AR_SCRATCH_RANKS,
        .takes = AR_TAKES_ALLGATHER,
        .defaults = {.allgather = AR_ALLGATHER_BRUCK, .window = 1},
        .title = "every rank learns every vector and combines them itself",
        .rounds = "ceil(log2 p), p-1 with allgather=ring",
        .bytes = "(p-1)n",
        .cost = "ceil(log2 p) a + (p-1)n/B + (p-1)nC",
        .needs = "nothing",
        .source = "Open MPI 7; Bruck et al. 1997",
    },
    {
        .name = "butterfly",
        .aliases = "recursive_doubling",
        .intel_id = 1,
        .emit = ar_butterfly,
        .keeps = AR_DETERMINISM_SIZE,
        .family = AR_FAMILY_DOUBLING,
        .keeps_order = true,
        .defaults = {.window = 1},
        .title = "partners at distance 1, 2, 4, ... exchange and combine all they have",
        .rounds = "log2 p (+2 where p is not a power of two)",
        .bytes = "n log2 p",
        .cost = "log2 p (a + n/B + nC)",
        .needs = "nothing",
        .source = "Thakur, Rabenseifner & Gropp 2005",
    },
    {
        .name = "ring",
        .aliases = "",
        .intel_id = 8,
        .emit = ar_ring,
        .stand_in = "butterfly",
        .keeps = AR_DETERMINISM_PLACEMENT,
        .defaults = {.window = 1},
        .title = "reduce-scatter, then allgather, both round a ring",
        .rounds = "2(p-1)",
        .bytes = "2n(p-1)/p",
        .cost = "2(p-1)a + 2n(p-1)/p /B + n(p-1)/p C",
        .needs = "a commutative op",
        .source = "Patarasuk & Yuan 2009",
    },
    {
        .name = "segmented_ring",
        .aliases = "shumilin",
        .intel_id = 7,
        .emit = ar_ring,
        .stand_in = "butterfly",
        .keeps = AR_DETERMINISM_PLACEMENT,
        .defaults = {.segment_bytes = 65536, .window = 4},
        .title = "the ring, run on segments of a long message",
        .rounds = "2(p-1) per segment",
        .bytes = "2n(p-1)/p",
        .cost =
            "2(p-1)a n/segment + 2n(p-1)/p /B + n(p-1)/p C, the terms overlapped within a window",
        .needs = "a commutative op",
        .source = "Patarasuk & Yuan 2009",
    },
    {
        .name = "bidirectional_ring",
        .aliases = "",
        .emit = ar_bidirectional_ring,
        .stand_in = "butterfly",
        .keeps = AR_DETERMINISM_PLACEMENT,
        .defaults = {.window = 1},
        .title = "two rings at once, one half of the vector each way round",
        .rounds = "2(p-1)",
        .bytes = "2n(p-1)/p",
        .cost = "2(p-1)a + n(p-1)/p /B + n(p-1)/p C, with B each way at once",
        .needs = "a commutative op",
        .source = "Patarasuk & Yuan 2009; Jain & Sabharwal 2010",
    },
    {
        .name = "rhd",
        .aliases = "rabenseifner recursive_halving_doubling",
        .intel_id = 2,
        .emit = ar_rhd,
        .stand_in = "butterfly",
        .keeps = AR_DETERMINISM_SIZE,
        .family = AR_FAMILY_DOUBLING,
        .keeps_order = true,
        .takes = AR_TAKES_HALVINGS,
        .defaults = {.window = 1},
        .title = "halving what partners exchange, then doubling it, nearest partner first",
        .rounds = "2 log2 p, or log2 p + halvings (+2 where p is not a power of two)",
        .bytes = "2n(p-1)/p (+n where p is not a power of two)",
        .cost = "2 log2 p a + 2n(p-1)/p /B + n(p-1)/p C (+ 2a + 2n/B + nC where p is not a power "
                "of two)",
        .needs = "nothing",
        .source = "Rabenseifner 2004",
    },
    {
        .name = "reduce_scatter_allgather",
        .aliases = "rsag",
        .emit = ar_reduce_scatter_allgather,
        .stand_in = "butterfly",
        .keeps = AR_DETERMINISM_PLACEMENT,
        .takes = AR_TAKES_REDUCE_SCATTER | AR_TAKES_ALLGATHER,
        .defaults = {.reduce_scatter = AR_REDUCE_SCATTER_PAIRWISE,
                     .allgather = AR_ALLGATHER_BRUCK,
                     .window = 1},
        .title = "a reduce-scatter, then an allgather, each of a kind to choose",
        .rounds = "p-1 (pairwise, ring) or log2 p (halving), and p-1 (ring) or ceil(log2 p) "
                  "(bruck, doubling)",
        .bytes = "2n(p-1)/p",
        .cost = "rounds a + 2n(p-1)/p /B + n(p-1)/p C",
        .needs = "a commutative op",
        .source = "Thakur, Rabenseifner & Gropp 2005; Bruck et al. 1997",
    },
    {
        .name = "circulant",
        .aliases = "",
        .emit = ar_circulant,
        .stand_in = "butterfly",
        .keeps = AR_DETERMINISM_PLACEMENT,
        .defaults = {.window = 1},
        .title = "partners halfway, a quarter, an eighth, ... round a circle, for any p",
        .rounds = "2 ceil(log2 p)",
        .bytes = "2n(p-1)/p",
        .cost = "2 ceil(log2 p) a + 2n(p-1)/p /B + n(p-1)/p C",
        .needs = "a commutative op",
        .source = "Traeff 2024, arXiv 2410.14234",
    },
    {
        .name = "swing",
        .aliases = "",
        .emit = ar_swing,
        .stand_in = "butterfly",
        .keeps = AR_DETERMINISM_PLACEMENT,
        .defaults = {.window = 1},
        .title = "partners swing from side to side at distances 1, 1, 3, 5, 11, ...",
        .rounds = "2 ceil(log2 p) (+1 where p is odd)",
        .bytes = "2n(p-1)/p (p odd: p-1 for p, and n/(p-1) more)",
        .cost = "2 ceil(log2 p) a + 2n(p-1)/p /B + n(p-1)/p C",
        .needs = "a commutative op",
        .source = "De Sensi, Bonato, Saam & Hoefler 2024",
    },
    {
        .name = "shm",
        .aliases = "shared_memory",
        .intel_id = 10,
        .intel_id_last = 12,
        .emit = ar_shm,
        .stand_in = "butterfly",
        .keeps = AR_DETERMINISM_SIZE,
        .keeps_order = true,
        .shares_memory = true,
        .scratch = AR_SCRATCH_RANKS,
        .takes = AR_TAKES_WHOLE,
        .defaults = {.window = 1},
        .title = "ranks of one node read each other's vectors in shared memory",
        .rounds = "2",
        .bytes = "2n(p-1)/p, by loads and stores on one node",
        .cost = "2a + 2n(p-1)/p /B + n(p-1)/p C",
        .needs = "nothing; ranks on several nodes exchange messages instead",
        .source = "Graham & Shipman 2008",
    },
    {
        .name = "hier_ring",
        .aliases = "",
        .emit = ar_hier_ring,
        .stand_in = "hier_reduce_bcast",
        .defaults = {.window = 1},
        .title = "reduce in each node, a ring of the leaders, broadcast in each node",
        .rounds = "2 ceil(log2 L) + 2(N-1)",
        .bytes = "2n(N-1)/N between nodes, n ceil(log2 L) inside",
        .cost = "2 ceil(log2 L)(a + n/B) + n ceil(log2 L) C inside + 2(N-1)a + 2n(N-1)/N /B + "
                "n(N-1)/N C between nodes",
        .needs = "a commutative op",
        .source = "Jia et al. 2018",
    },
    {
        .name = "hier_reduce_bcast",
        .aliases = "",
        .intel_id = 4,
        .emit = ar_hier_reduce_bcast,
        .defaults = {.window = 1},
        .title = "reduce and broadcast in each node and among the leaders, binomial",
        .rounds = "2 ceil(log2 L) + 2 ceil(log2 N)",
        .bytes = "n to the parent, n to each child",
        .cost =
            "2 ceil(log2 L)(a + n/B) + 2 ceil(log2 N)(a + n/B) + (ceil(log2 L) + ceil(log2 N)) nC",
        .needs = "a commutative op",
        .source = "Karonis et al. 2000",
    },
    {
        .name = "hier_gather_scatter",
        .aliases = "",
        .intel_id = 6,
        .emit = ar_hier_gather_scatter,
        .scratch = AR_SCRATCH_RANKS,
        .defaults = {.window = 1},
        .title = "the leaders' vectors gathered at the first, folded there, sent back",
        .rounds = "2 ceil(log2 L) + 2 ceil(log2 N)",
        .bytes = "up to nN/2 to the parent, n to each child",
        .cost = "2 ceil(log2 L)(a + n/B) + 2 ceil(log2 N) a + n(N-1)/B + ceil(log2 N) n/B + "
                "(ceil(log2 L) + N-1) nC",
        .needs = "a commutative op",
        .source = "Karonis et al. 2000",
    },
    {
        .name = "torus2d",
        .aliases = "",
        .emit = ar_torus2d,
        .stand_in = "butterfly",
        .takes = AR_TAKES_DIMS,
        .defaults = {.window = 1},
        .title = "reduce-scatter in rows, allreduce in columns, allgather in rows",
        .rounds = "2(X-1) + 2(Y-1) (+2 where p > XY)",
        .bytes = "2n(XY-1)/(XY) (+n where p > XY)",
        .cost = "2(X+Y-2)a + 2n(XY-1)/(XY) /B + n(XY-1)/(XY) C (+ 2a + 2n/B + nC where p > XY)",
        .needs = "a commutative op",
        .source = "Mikami et al. 2018",
    },
    {
        .name = "mesh2d",
        .aliases = "",
        .emit = ar_mesh2d,
        .stand_in = "butterfly",
        .takes = AR_TAKES_DIMS,
        .defaults = {.window = 1},
        .title = "rows and columns at once on halves, without links between their ends",
        .rounds = "4(max(X,Y)-1) (+2 where p > XY)",
        .bytes = "n(XY-1)/(XY) + n(X+1)(Y+1)/(XY) at most (+n where p > XY)",
        .cost = "4(max(X,Y)-1)a + about n/(2B) on each of four links + n(X+1)(Y+1)/(XY) C (+ 2a + "
                "2n/B + nC where p > XY)",
        .needs = "a commutative op",
        .source = "Ying et al. 2018",
    },
    {
        .name = "blueconnect",
        .aliases = "torus3d",
        .emit = ar_blueconnect,
        .stand_in = "butterfly",
        .takes = AR_TAKES_DIMS,
        .defaults = {.window = 1},
        .title = "reduce-scatter along each dimension of a grid, then allgather back",
        .rounds = "2 sum(d_i-1) (+2 where p > prod d_i)",
        .bytes = "2n(q-1)/q, q = prod d_i (+n where p > q)",
        .cost = "2 sum(d_i-1) a + 2n(q-1)/q /B + n(q-1)/q C (+ 2a + 2n/B + nC where p > q)",
        .needs = "a commutative op",
        .source = "Cho, Finkler & Kung 2019",
    },
    {
        .name = "two_level",
        .aliases = "multi_lane",
        .emit = ar_two_level,
        .stand_in = "hier_reduce_bcast",
        .keeps = AR_DETERMINISM_RUN,
        .scratch = AR_SCRATCH_INTER,
        .takes = AR_TAKES_INTER | AR_TAKES_LANES,
        .defaults = {.window = 1},
        .title = "reduce-scatter in each node, any algorithm between nodes, allgather in each node",
        .rounds = "L, and those of inter=ROW on N",
        .bytes = "a node as inter=ROW, 2n(L-1)/L inside for each rank",
        .cost = "La + 2n(L-1)/L /B + n(L-1)/L C inside + ROW's of n on N nodes",
        .needs = "a commutative op",
        .source = "Traff & Hunold 2020",
    },
};

size_t
ar_algorithm_count(void)
{
    return sizeof rows / sizeof rows[0];
}

const struct ar_algorithm *
ar_algorithm_at(size_t i)
{
    return i < ar_algorithm_count() ? &rows[i] : NULL;
}

/* Is the text one of the words, which blanks part? */
static bool
has_word(const char *words, const char *text, size_t length)
{
    while (*words) {
        const size_t word = strcspn(words, " ");
        if (word == length && strncasecmp(words, text, length) == 0)
            return true;
        words += word;
        words += strspn(words, " ");
    }
    return false;
}

const struct ar_algorithm *
ar_algorithm_find(const char *text, size_t length)
{
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        if (has_word(rows[i].name, text, length) || has_word(rows[i].aliases, text, length))
            return &rows[i];
    return NULL;
}

/* It takes few rounds, and sends no more bytes than any other, whatever the number of nodes. */
static const char usual_inter[] = "circulant";

const struct ar_algorithm *
ar_params_inter(const struct ar_params *params)
{
    return params->inter ? params->inter : ar_algorithm_find(usual_inter, strlen(usual_inter));
}

const struct ar_algorithm *
ar_algorithm_whole(const struct ar_algorithm *row)
{
    return row->stand_in ? ar_algorithm_find(row->stand_in, strlen(row->stand_in)) : row;
}

const struct ar_algorithm *
ar_algorithm_by_intel_id(int id)
{
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        if (id > 0 &&
            (rows[i].intel_id == id || (rows[i].intel_id < id && id <= rows[i].intel_id_last)))
            return &rows[i];
    return NULL;
}

size_t
ar_algorithm_scratch_vectors(const struct ar_algorithm *row, const struct ar_params *params,
                             int nranks)
{
    size_t ranks = (size_t)nranks, radix = (size_t)params->radix;
    const struct ar_algorithm *inter = ar_params_inter(params);
    if (row->scratch == AR_SCRATCH_INTER)
        return ar_algorithm_scratch_vectors(inter, &inter->defaults, nranks);
    if (row->scratch == AR_SCRATCH_RADIX)
        return 2 + (radix < ranks ? radix : ranks);
    return 2 + (row->scratch == AR_SCRATCH_RANKS ? ranks : 0);
}

enum ar_determinism
ar_algorithm_keeps(const struct ar_algorithm *row)
{
    return row->keeps ? row->keeps : AR_DETERMINISM_RUN;
}

static size_t
min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* What TMP and the landing of an instance take beside their elements, at most: a lead below 16 for
 * alignment, and the rounding up. */
#define INSTANCE_OVERHEAD ((size_t)2 * (16 + AR_SCRATCH_ALIGNMENT))

/* Nothing that may differ between ranks counts here: the row bounds the scratch of the rank that
 * needs most, and the extent is left out, since ranks may lay out the same elements differently.
 * No message is longer than an instance's vectors, so that INT_MAX bytes of them keep each count
 * an int. */
size_t
ar_algorithm_segment(const struct ar_algorithm *row, const struct ar_params *params, int nranks,
                     size_t count, size_t size, size_t scratch_bytes)
{
    const size_t vectors = ar_algorithm_scratch_vectors(row, params, nranks);
    const size_t instance_bytes = min_size(scratch_bytes / (size_t)params->window, INT_MAX);
    size_t length = count;
    if (params->segment_bytes > 0)
        length = min_size(length, params->segment_bytes / size);
    length = min_size(length, (instance_bytes - min_size(instance_bytes, INSTANCE_OVERHEAD)) /
                                  size / vectors);
    return length > 0 ? length : 1;
}

int
ar_algorithm_emit(const struct ar_algorithm *row, struct ar_schedule *s, int rank, int nranks,
                  size_t count, const struct ar_params *params)
{
    ar_schedule_init(s, rank, nranks, count);
    int error;
    if (nranks > 1) {
        error = row->emit(s, rank, nranks, count, params ? params : &row->defaults);
    } else {
        ar_copy(s, ar_out(ar_whole(count)), ar_in(ar_whole(count)));
        error = ar_schedule_finish(s);
    }
    if (error)
        ar_schedule_fini(s);
    return error;
}
