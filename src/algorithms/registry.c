#include "algorithms/registry.h"

#include <string.h>
#include <strings.h>

#include "algorithms/algorithms.h"

const char *const ar_broadcast_names[] = {"flat", "binomial", "scatter_allgather",
                                          "scatter_doubling", NULL};
const char *const ar_allgather_names[] = {"ring", "bruck", "doubling", NULL};
const char *const ar_reduce_scatter_names[] = {"pairwise", "halving", "ring", NULL};
const char *const ar_exchange_names[] = {"whole", "halves", NULL};
const char *const ar_distance_names[] = {"doubling", "halving", NULL};
const char *const ar_serve_names[] = {"together", "one_by_one", NULL};
const char *const ar_unpaired_names[] = {"fold", "copy", NULL};
const char *const ar_intra_names[] = {"binomial", "flat", NULL};
const char *const ar_ring_order_names[] = {"rank", "node", NULL};
const char *const ar_copy_names[] = {"auto", "slots", "in_place", NULL};

const char *const ar_determinism_names[] = {"none", "run", "placement", "size", "order", NULL};
const char *const ar_family_names[] = {"", "fold", "doubling", NULL};

/* Letters of the rows that reduce to a leader inside each node: the messages in the chain there, up
 * and down; vectors that the leader receives, and those of one round. */
#define INSIDE                                                                                     \
    "g = ceil(log2 L)[binomial] + [1 < L][flat], l = floor(log2 L)[binomial] + [1 < L][flat], "    \
    "h = ceil(log2 L)[binomial] + (L-1)[flat], s = [1 < L][binomial] + (L-1)[flat]"

static const struct ar_algorithm rows[] = {
    {
        .name = "star",
        .aliases = "parameter_server",
        .emit = ar_star,
        .keeps = AR_DETERMINISM_SIZE,
        .family = AR_FAMILY_FOLD,
        .keeps_order = true,
        .scratch = AR_SCRATCH_RANKS,
        .takes = AR_TAKES_ROOT | AR_TAKES_SERVE,
        .defaults = {.window = 1},
        .title = "the root takes all vectors, combines them and sends the result to each",
        .card = {[AR_CARD_ROUNDS] = "2 + 2(p-2)[one_by_one]",
                 [AR_CARD_SENT] = "(p-1)n",
                 [AR_CARD_REDUCED] = "(p-1)n",
                 [AR_CARD_SCRATCH] = "(p-1)n[together] + min(p-1, 1 + [0 < r])n[one_by_one]",
                 [AR_CARD_TIME] = "at most 2a + 2(p-1)n/B + (p-1)nC + 2(p-2)a[one_by_one]"},
        /* Who has its result sends the next segment while the root serves the others. */
        .another = "2a + pn/B + (p-1)nC + (p-2)(2a + n/B)[one_by_one]",
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
        .defaults = {.segment_bytes = 65536, .window = AR_WINDOW_AUTO},
        .title = "the sum grows along the chain of ranks, the result walks back",
        .card = {[AR_CARD_ROUNDS] = "2(p-1)",
                 [AR_CARD_SENT] = "min(p-1, 2)n",
                 [AR_CARD_REDUCED] = "n",
                 [AR_CARD_SCRATCH] = "n",
                 [AR_CARD_TIME] = "2(p-1)(a + n/B) + (p-1)nC"},
        .needs = "nothing",
        .source = "Worringen 2003",
    },
    {
        .name = "recursive",
        .aliases = "divide_and_conquer",
        .emit = ar_recursive,
        .keeps = AR_DETERMINISM_SIZE,
        .keeps_order = true,
        .takes = AR_TAKES_DISTANCE,
        .defaults = {.distance = AR_DISTANCE_DOUBLING, .window = 1},
        .title =
            "the ranks are halved again and again, the halves' firsts combine; the same way back",
        .card = {[AR_CARD_ROUNDS] = "ceil(log2 p) + floor(log2 p)",
                 [AR_CARD_SENT] = "n ceil(log2 p)",
                 [AR_CARD_REDUCED] = "n ceil(log2 p)",
                 [AR_CARD_SCRATCH] = "n",
                 [AR_CARD_TIME] = "about 2 floor(log2 p)a + ceil(log2 p)(2n/B + nC)"},
        .needs = "nothing; with distance=halving a commutative op",
        .source = "divide and conquer, as taught",
    },
    {
        .name = "reduce_bcast",
        .aliases = "binomial",
        .emit = ar_reduce_bcast,
        .keeps = AR_DETERMINISM_SIZE,
        .keeps_order = true,
        .takes = AR_TAKES_ROOT | AR_TAKES_BROADCAST,
        .defaults = {.broadcast = AR_BROADCAST_BINOMIAL, .window = 1},
        .title = "a binomial tree to the root, then a broadcast",
        .card = {[AR_CARD_ROUNDS] = "h + u",
                 [AR_CARD_SENT] = "at most yn",
                 [AR_CARD_REDUCED] = "at most hn",
                 [AR_CARD_SCRATCH] = "n",
                 [AR_CARD_TIME] = "about (g + u)a + (h + v)n/B + hnC"},
        .where = "h = ceil(log2 p), l = floor(log2 p), q = 2^l, i = [q < p], g = l + [q <= r], s "
                 "= [scatter_allgather], d = [scatter_doubling], u = [flat] + g[binomial] + (g + "
                 "p-1)s + (2l + i)d, v = (p-1)[flat] + h[binomial] + 2(p-1)/p s + (2(q-1)/q + "
                 "i)d, y = (p-1)[flat] + h[binomial] + (1 + (p-2 + 2^(h-1))/p)s + (5/2 - 2/q + i)d",
        .needs = "nothing",
        .source = "Thakur, Rabenseifner & Gropp 2005",
    },
    {
        .name = "gather_scatter",
        .aliases = "binomial_gather_scatter",
        .emit = ar_gather_scatter,
        .keeps = AR_DETERMINISM_SIZE,
        .family = AR_FAMILY_FOLD,
        .keeps_order = true,
        .scratch = AR_SCRATCH_RANKS,
        .takes = AR_TAKES_ROOT,
        .defaults = {.window = 1},
        .title =
            "all vectors travel up a binomial tree, the root combines them, the result goes back",
        .card = {[AR_CARD_ROUNDS] = "2g",
                 [AR_CARD_SENT] = "max(h, p - c + ceil(log2(p - c)), c/2 + h - 2, b(c + h - 1))n",
                 [AR_CARD_REDUCED] = "(p-1)n",
                 [AR_CARD_SCRATCH] = "pn",
                 [AR_CARD_TIME] = "about 2ga + (max(p-1, b(2c-1)) + h)n/B + (p-1)nC"},
        .where = "h = ceil(log2 p), c = 2^(h-1), b = [2^floor(log2 p) <= r], g = floor(log2 p) + b",
        .needs = "nothing",
        .source = "Intel MPI 5 (its name is all that is published)",
    },
    {
        .name = "knomial",
        .aliases = "recursive_multiplying",
        .emit = ar_knomial,
        .keeps = AR_DETERMINISM_SIZE,
        .keeps_order = true,
        .scratch = AR_SCRATCH_RADIX,
        .takes = AR_TAKES_RADIX,
        .defaults = {.radix = 4, .window = 1},
        .title = "groups of k exchange all they have, then groups of k groups, and so on",
        .card = {[AR_CARD_ROUNDS] = "j",
                 [AR_CARD_SENT] = "at most (s + [1 < j])n",
                 [AR_CARD_REDUCED] = "sn",
                 [AR_CARD_SCRATCH] = "at most (t - [j = 1])n",
                 [AR_CARD_TIME] =
                     "about (j - [k = 2][8p <= 5 2^j])a + (s + [1 < j][p < k^j]/2)n/B + snC"},
        .where = "j = ceil(log_k p)",
        .needs = "nothing",
        .source = "Ruefenacht, Bull & Booth 2017",
    },
    {
        .name = "knary",
        .aliases = "kary",
        .emit = ar_knary,
        .keeps = AR_DETERMINISM_SIZE,
        .keeps_order = true,
        .scratch = AR_SCRATCH_RADIX,
        .takes = AR_TAKES_RADIX,
        .defaults = {.radix = 4, .window = 1},
        .title = "a tree of at most k children a rank to the first, and the same way back",
        .card = {[AR_CARD_ROUNDS] = "2h",
                 [AR_CARD_SENT] = "max(u, 1 + min(k, c-1))n",
                 [AR_CARD_REDUCED] = "un",
                 [AR_CARD_SCRATCH] = "un",
                 [AR_CARD_TIME] = "at most 2ha + 2vn/B + vnC"},
        .where =
            "u = min(k, p-1), c = ceil((p-1)/u), h = ceil(log_k(1 + p(k-1))) - 1, v = k(h-1) + "
            "ceil((p - (k^(h-1) - 1)/(k-1))/k^(h-1)) - 1",
        .needs = "nothing",
        .source = "MPICH's trees of type kary; Intel MPI (its name is all that is published)",
    },
    {
        .name = "double_tree",
        .aliases = "double_binary_tree two_tree",
        .emit = ar_double_tree,
        .stand_in = "reduce_bcast",
        .keeps = AR_DETERMINISM_PLACEMENT,
        .keeps_order = true,
        .defaults = {.segment_bytes = 65536, .window = AR_WINDOW_AUTO},
        .title = "two binary trees, each carries half of the vector",
        .card = {[AR_CARD_ROUNDS] = "2h",
                 [AR_CARD_SENT] = "min(p, 4)n/2",
                 [AR_CARD_REDUCED] = "min(p-1, 2)n/2",
                 [AR_CARD_SCRATCH] = "min(p-1, 2)n/2",
                 [AR_CARD_TIME] = "about 2ha + (2h-1)n/B + min(h, (p-1)/2)nC"},
        .where = "h = floor(log2(p+1))",
        .needs = "nothing",
        .source = "Sanders, Speck & Traff 2009",
    },
    {
        .name = "dual_root",
        .aliases = "dual_tree",
        .emit = ar_dual_root,
        .keeps = AR_DETERMINISM_SIZE,
        .keeps_order = true,
        .defaults = {.segment_bytes = 65536, .window = AR_WINDOW_AUTO},
        .title = "two trees reduce half of the ranks each, and their roots exchange",
        .card = {[AR_CARD_ROUNDS] = "2h + 1",
                 [AR_CARD_SENT] = "min(ceil(p/2), 3)n",
                 [AR_CARD_REDUCED] = "min(ceil(p/2), 3)n",
                 [AR_CARD_SCRATCH] = "(1 + [5 <= p])n",
                 [AR_CARD_TIME] = "about min(2h+1, p-1)a + (2i-1)n/B + (j-1)nC"},
        .where = "h = floor(log2 ceil(p/2)), i = ceil(log2((p+4)/4)) + ceil(log2((p+4)/6)), j = "
                 "ceil(log2((p+2)/2)) + ceil(log2((p+2)/3))",
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
        .card = {[AR_CARD_ROUNDS] = "j",
                 [AR_CARD_SENT] = "at most (p-1 + f(p+3)/2)n",
                 [AR_CARD_REDUCED] = "(p-1)n",
                 [AR_CARD_SCRATCH] = "pn",
                 [AR_CARD_TIME] = "about (j - f[8p <= 5 2^h])a + (1 + f/3)(p-1)n/B + (p-1)nC"},
        .where = "h = ceil(log2 p), j = h + (p-1-h)[ring], f = [2^floor(log2 p) < p][doubling]",
        .needs = "nothing",
        .source = "Open MPI 7; Bruck et al. 1997",
    },
    {
        .name = "butterfly",
        .aliases = "recursive_doubling",
        .emit = ar_butterfly,
        .keeps = AR_DETERMINISM_SIZE,
        .family = AR_FAMILY_DOUBLING,
        .keeps_order = true,
        .takes = AR_TAKES_EXCHANGE | AR_TAKES_UNPAIRED,
        .defaults = {.exchange = AR_EXCHANGE_WHOLE, .unpaired = AR_UNPAIRED_FOLD, .window = 1},
        .title = "partners at distance 1, 2, 4, ... exchange and combine all they have",
        .card = {[AR_CARD_ROUNDS] = "e(l + u) + 2f + u",
                 [AR_CARD_SENT] = "(l + f + u + q)n",
                 [AR_CARD_REDUCED] = "((l + u)/e + f)n",
                 [AR_CARD_SCRATCH] = "max(f, 1/e)n",
                 [AR_CARD_TIME] =
                     "about (e(l + u) + 2f + u - g)a + (l + 2f + u + v)n/B + ((l + u)/e + f)nC"},
        .where = "l = floor(log2 p), i = [2^l < p], f = i[fold], u = i[copy], q = u(2^(l+1) - p), "
                 "v = q(l - floor(log2 max(q, 1))), g = (f[2p <= 3 2^l] + u)[whole], e = 1 + "
                 "[halves]",
        .needs = "nothing",
        .source = "Thakur, Rabenseifner & Gropp 2005",
    },
    {
        .name = "ring",
        .aliases = "",
        .emit = ar_ring,
        .stand_in = "butterfly",
        .keeps = AR_DETERMINISM_PLACEMENT,
        .takes = AR_TAKES_ORDER,
        .defaults = {.window = 1},
        .title = "reduce-scatter, then allgather, both round a ring",
        .card = {[AR_CARD_ROUNDS] = "2(p-1)",
                 [AR_CARD_SENT] = "2n(p-1)/p",
                 [AR_CARD_REDUCED] = "n(p-1)/p",
                 [AR_CARD_SCRATCH] = "n/p",
                 [AR_CARD_TIME] = "2(p-1)a + 2n(p-1)/p /B + n(p-1)/p C"},
        .needs = "a commutative op",
        .source = "Patarasuk & Yuan 2009",
    },
    {
        .name = "segmented_ring",
        .aliases = "shumilin",
        .emit = ar_ring,
        .stand_in = "butterfly",
        .keeps = AR_DETERMINISM_PLACEMENT,
        .takes = AR_TAKES_ORDER,
        .defaults = {.segment_bytes = 65536, .window = 4},
        .title = "the ring, run on segments of a long message",
        .card = {[AR_CARD_ROUNDS] = "2(p-1)",
                 [AR_CARD_SENT] = "2n(p-1)/p",
                 [AR_CARD_REDUCED] = "n(p-1)/p",
                 [AR_CARD_SCRATCH] = "n/p",
                 [AR_CARD_TIME] = "2(p-1)a + 2n(p-1)/p /B + n(p-1)/p C"},
        .needs = "a commutative op",
        .source = "Patarasuk & Yuan 2009",
    },
    {
        .name = "bidirectional_ring",
        .aliases = "",
        .emit = ar_bidirectional_ring,
        .stand_in = "butterfly",
        .keeps = AR_DETERMINISM_PLACEMENT,
        .takes = AR_TAKES_ORDER,
        .defaults = {.window = 1},
        .title = "two rings at once, one half of the vector each way round",
        .card = {[AR_CARD_ROUNDS] = "2(p-1)",
                 [AR_CARD_SENT] = "2n(p-1)/p",
                 [AR_CARD_REDUCED] = "n(p-1)/p",
                 [AR_CARD_SCRATCH] = "n/p",
                 [AR_CARD_TIME] = "2(p-1)a + 2n(p-1)/p /B + n(p-1)/p C"},
        .needs = "a commutative op",
        .source = "Patarasuk & Yuan 2009; Jain & Sabharwal 2010",
    },
    {
        .name = "rhd",
        .aliases = "rabenseifner recursive_halving_doubling",
        .emit = ar_rhd,
        .stand_in = "butterfly",
        .keeps = AR_DETERMINISM_SIZE,
        .family = AR_FAMILY_DOUBLING,
        .keeps_order = true,
        .takes = AR_TAKES_HALVINGS,
        .defaults = {.window = 1},
        .title = "halving what partners exchange, then doubling it, nearest partner first",
        .card = {[AR_CARD_ROUNDS] = "l + h + 2f",
                 [AR_CARD_SENT] = "(2u + v + f)n",
                 [AR_CARD_REDUCED] = "(u + v + f)n",
                 [AR_CARD_SCRATCH] = "max(f, 1/2)n",
                 [AR_CARD_TIME] = "about (l + h + 2f)a + (2u + v + 2f)n/B + (u + v + f)nC"},
        .where = "l = floor(log2 p), f = [2^l < p], h = min(e, l), u = 1 - 1/2^h, v = (l-h)/2^h",
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
        .card = {[AR_CARD_ROUNDS] = "u + v + 2f",
                 [AR_CARD_SENT] = "(2(q-1)/q + f)n",
                 [AR_CARD_REDUCED] = "((q-1)/q + f)n",
                 [AR_CARD_SCRATCH] = "max(f, [halving]/2, 1/q)n",
                 [AR_CARD_TIME] = "about (u + v + 2f)a + (2(q-1)/q + 2f)n/B + ((q-1)/q + f)nC"},
        .where =
            "l = floor(log2 p), b = max([halving], [doubling]), q = p - b(p - 2^l), f = [q < p], u "
            "= q-1 - (q-1-l)[halving], v = q-1 - (q-1 - ceil(log2 q))([bruck] + [doubling])",
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
        .card = {[AR_CARD_ROUNDS] = "2 ceil(log2 p)",
                 [AR_CARD_SENT] = "2n(p-1)/p",
                 [AR_CARD_REDUCED] = "n(p-1)/p",
                 [AR_CARD_SCRATCH] = "n floor(p/2)/p",
                 [AR_CARD_TIME] = "2 ceil(log2 p)a + 2n(p-1)/p /B + n(p-1)/p C"},
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
        .card = {[AR_CARD_ROUNDS] = "2 ceil(log2 q) + o",
                 [AR_CARD_SENT] = "(2(q-1) + o)n/q",
                 [AR_CARD_REDUCED] = "(q-1 + o)n/q",
                 [AR_CARD_SCRATCH] = "at most n/2",
                 [AR_CARD_TIME] = "about 2 ceil(log2 q)a + 2(q-1 + o)n/q /B + (q-1 + o)n/q C"},
        .where = "q = 2 floor(p/2), o = p - q",
        .needs = "a commutative op",
        .source = "De Sensi, Bonato, Saam & Hoefler 2024",
    },
    {
        .name = "shm",
        .aliases = "shared_memory",
        .emit = ar_shm,
        .stand_in = "butterfly",
        .keeps = AR_DETERMINISM_SIZE,
        .keeps_order = true,
        .shares_memory = true,
        .scratch = AR_SCRATCH_RANKS,
        .takes = AR_TAKES_WHOLE | AR_TAKES_LEVELS | AR_TAKES_COPY,
        .defaults = {.window = 1},
        .title = "ranks of one node read each other's vectors in shared memory",
        .card = {[AR_CARD_ROUNDS] = "2 - u",
                 [AR_CARD_SENT] = "(2 - u)(p-1)vn",
                 [AR_CARD_REDUCED] = "(p-1)vn",
                 [AR_CARD_SCRATCH] = "pvn",
                 [AR_CARD_TIME] = "(2 - u)(a + (p-1)vn/B) + (p-1)vnC"},
        .where = "u = [n <= W], v = u + (1-u)/p",
        .needs = "nothing; ranks on several nodes exchange messages instead",
        .source = "Graham & Shipman 2008",
    },
    {
        .name = "hier_ring",
        .aliases = "",
        .emit = ar_hier_ring,
        .stand_in = "hier_reduce_bcast",
        .scratch = AR_SCRATCH_INTRA,
        .takes = AR_TAKES_INTRA,
        .defaults = {.intra = AR_INTRA_BINOMIAL, .window = 1},
        .title = "reduce in each node, a ring of the leaders, broadcast in each node",
        .card = {[AR_CARD_ROUNDS] = "g + l + 2(N-1)",
                 [AR_CARD_SENT] = "(h + 2(N-1)/N)n",
                 [AR_CARD_REDUCED] = "(h + (N-1)/N)n",
                 [AR_CARD_SCRATCH] = "max(s, 1/N)n",
                 [AR_CARD_TIME] = "about 2(l + N-1)a + 2(h + (N-1)/N)n/B + (h + (N-1)/N)nC"},
        .where = INSIDE,
        .needs = "a commutative op",
        .source = "Jia et al. 2018",
    },
    {
        .name = "hier_reduce_bcast",
        .aliases = "",
        .emit = ar_hier_reduce_bcast,
        .scratch = AR_SCRATCH_INTRA,
        .takes = AR_TAKES_INTRA,
        .defaults = {.intra = AR_INTRA_BINOMIAL, .window = 1},
        .title = "reduce and broadcast in each node and among the leaders, binomial",
        .card = {[AR_CARD_ROUNDS] = "g + l + i + j",
                 [AR_CARD_SENT] = "(h + i)n",
                 [AR_CARD_REDUCED] = "(h + i)n",
                 [AR_CARD_SCRATCH] = "max(s, 1)n",
                 [AR_CARD_TIME] = "about 2(l + j)a + 2(h + i)n/B + (h + i)nC"},
        .where = INSIDE ", i = ceil(log2 N), j = floor(log2 N)",
        .needs = "a commutative op",
        .source = "Karonis et al. 2000",
    },
    {
        .name = "hier_gather_scatter",
        .aliases = "",
        .emit = ar_hier_gather_scatter,
        .scratch = AR_SCRATCH_RANKS,
        .takes = AR_TAKES_INTRA,
        .defaults = {.intra = AR_INTRA_BINOMIAL, .window = 1},
        .title = "the leaders' vectors gathered at the first, folded there, sent back",
        .card = {[AR_CARD_ROUNDS] = "g + l + i + j",
                 [AR_CARD_SENT] = "(h + max(i, N - c + ceil(log2(N - c)), c/2 + i - 2))n",
                 [AR_CARD_REDUCED] = "(h + N-1)n",
                 [AR_CARD_SCRATCH] = "(N-1 + s)n",
                 [AR_CARD_TIME] = "about 2(l + j)a + (2h + N-1 + i)n/B + (h + N-1)nC"},
        .where = INSIDE ", i = ceil(log2 N), j = floor(log2 N), c = 2^(i-1)",
        .needs = "a commutative op",
        .source = "Karonis et al. 2000",
    },
    {
        .name = "torus2d",
        .aliases = "",
        .emit = ar_torus2d,
        .stand_in = "butterfly",
        .takes = AR_TAKES_DIMS,
        .dims_most = 2,
        .defaults = {.window = 1},
        .title = "reduce-scatter in rows, allreduce in columns, allgather in rows",
        .card = {[AR_CARD_ROUNDS] = "2(X-1) + 2(Y-1) + h + l",
                 [AR_CARD_SENT] = "(2(q-1)/q + h)n",
                 [AR_CARD_REDUCED] = "((q-1)/q + h)n",
                 [AR_CARD_SCRATCH] = "max([q < p], 1/x)n",
                 [AR_CARD_TIME] = "about 2(X-1 + Y-1 + h)a + 2((q-1)/q + h)n/B + ((q-1)/q + h)nC"},
        .where =
            "q = XY, u = ceil(p/q), h = ceil(log2 u), l = floor(log2 u), x = X + [X = 1] (Y-1)",
        .needs = "a commutative op",
        .source = "Mikami et al. 2018",
    },
    {
        .name = "mesh2d",
        .aliases = "",
        .emit = ar_mesh2d,
        .stand_in = "butterfly",
        .takes = AR_TAKES_DIMS,
        .dims_most = 2,
        .defaults = {.window = 1},
        .title = "rows and columns at once on halves, without links between their ends",
        .card = {[AR_CARD_ROUNDS] = "c + h + l",
                 [AR_CARD_SENT] = "at most (e + h)n",
                 [AR_CARD_REDUCED] = "at most (g + h)n",
                 [AR_CARD_SCRATCH] = "at most max([q < p], s)n",
                 [AR_CARD_TIME] = "about (c + 2h)a + (v + 2h)n/B + (w + h)nC"},
        .where =
            "q = XY, u = ceil(p/q), h = ceil(log2 u), l = floor(log2 u), x = min(X-1, 2), y "
            "= min(Y-1, 2), g = (([x = 1] + [x = 2] (X+1))(Y+1) + ([y = 1] + [y = 2] "
            "(Y+1))(X+1))/(2q), c = 4(max(X, Y)-1), e = (q-1)/q + g, s = (x/X + y/Y)/2, v = 6/5 "
            "e, w = 6/5 g",
        .needs = "a commutative op",
        .source = "Ying et al. 2018",
    },
    {
        .name = "blueconnect",
        .aliases = "torus3d",
        .emit = ar_blueconnect,
        .stand_in = "butterfly",
        .takes = AR_TAKES_DIMS,
        .dims_most = AR_DIMS_MAX,
        .defaults = {.window = 1},
        .title = "reduce-scatter along each dimension of a grid, then allgather back",
        .card = {[AR_CARD_ROUNDS] = "2 sum(d-1) + h + l",
                 [AR_CARD_SENT] = "(2(q-1)/q + h)n",
                 [AR_CARD_REDUCED] = "((q-1)/q + h)n",
                 [AR_CARD_SCRATCH] = "at most max([q < p], 1/2)n",
                 [AR_CARD_TIME] = "about 2(sum(d-1) + h)a + 2((q-1)/q + h)n/B + ((q-1)/q + h)nC"},
        .where = "q = prod(d), u = ceil(p/q), h = ceil(log2 u), l = floor(log2 u)",
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
        .takes = AR_TAKES_INTER | AR_TAKES_LANES | AR_TAKES_LEVELS,
        .defaults = {.window = 1},
        .title = "reduce-scatter in each node, any algorithm between nodes, allgather in each node",
        .card = {[AR_CARD_ROUNDS] = "(h + l)(1-u) + Lu + row",
                 [AR_CARD_SENT] = "at most (v + (K-1)u/K)n + row",
                 [AR_CARD_REDUCED] = "at most vn + row",
                 [AR_CARD_SCRATCH] = "at most [1 < L]n/K + row",
                 [AR_CARD_TIME] = "about (2l(1-u) + min(L, K+1)u)a + 2vn/B + vnC + row"},
        .where = "h = ceil(log2 L), l = floor(log2 L), u = [1 < K], v = h(1-u) + (L-1)u/K",
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
