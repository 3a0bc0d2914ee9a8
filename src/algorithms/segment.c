/* Segments: how long they are, and how many are in flight. */
#include <limits.h>
#include <stdint.h>

#include "algorithms/card.h"
#include "algorithms/grouping.h"
#include "algorithms/written_row.h"
#include "schedule/accesses.h"

size_t
ar_algorithm_scratch_vectors(const struct ar_algorithm *row, const struct ar_params *params,
                             int nranks)
{
    size_t ranks = (size_t)nranks, radix = (size_t)params->radix;
    const struct ar_algorithm *inter = ar_params_inter(params);
    if (row->scratch == AR_SCRATCH_INTER)
        return ar_algorithm_scratch_vectors(inter, &inter->defaults, nranks);
    if (row->scratch == AR_SCRATCH_WRITTEN)
        return params->written->vectors;
    if (row->scratch == AR_SCRATCH_RADIX)
        return 2 + (radix < ranks ? radix : ranks);
    const bool is_flat = row->scratch == AR_SCRATCH_INTRA && params->intra == AR_INTRA_FLAT;
    const bool takes_all = row->scratch == AR_SCRATCH_RANKS && params->serve == AR_SERVE_TOGETHER;
    return 2 + (is_flat || takes_all ? ranks : 0);
}

int
ar_algorithm_window(const struct ar_algorithm *row, const struct ar_params *params, int nranks)
{
    if (params->window != AR_WINDOW_AUTO)
        return params->window;
    const double rounds = ar_card_value(row, AR_CARD_ROUNDS, params, nranks, 1, NULL);
    return rounds < 1 ? 1 : rounds > AR_WINDOW_MAX ? AR_WINDOW_MAX : (int)rounds;
}

static size_t
min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t
ar_params_segment(const struct ar_params *params, size_t count, size_t size)
{
    size_t length = count;
    if (params->segments > 0)
        length = count / (size_t)params->segments + (count % (size_t)params->segments > 0);
    else if (params->segment_bytes > 0)
        length = min_size(length, params->segment_bytes / size);
    return length > 0 ? length : 1;
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
    const size_t window = (size_t)ar_algorithm_window(row, params, nranks);
    const size_t instance_bytes = min_size(scratch_bytes / window, INT_MAX);
    const size_t room = instance_bytes - min_size(instance_bytes, INSTANCE_OVERHEAD);
    const size_t length = min_size(ar_params_segment(params, count, size), room / size / vectors);
    return length > 0 ? length : 1;
}

/* --- in shared memory --- */

static size_t
within(size_t bytes, size_t least, size_t most)
{
    const size_t cut = bytes < least ? least : bytes > most ? most : bytes;
    return cut / 64 * 64;
}

/* Bytes of one chunk of every rank, at most.  A rank has room for 8 chunks, which makes 64 MiB per
 * communicator. */
#define CHUNKS_BYTES ((size_t)8 << 20)

#define IN_PLACE_MOST 16 /* ranks */

/* A rank's four slots fill half of its core's cache, so that the chunk under way stays there until
 * the others have read it.  Short messages are best combined by every rank; the more levels are to
 * come, the shorter they must be.  Where ranks share cores each chunk costs a turn of all ranks, so
 * fewer chunks, twice as long, are better.  in_place_bytes was measured on 2, 4, 8 and 16 ranks,
 * share_bytes on 8, 12 and 16 ranks with two levels; for more levels it is from the model. */
struct ar_shm_tuning
ar_shm_tune(int nranks, size_t cache_bytes, bool is_crowded)
{
    const size_t ranks = (size_t)nranks, most = CHUNKS_BYTES / ranks;
    const size_t chunk = cache_bytes / (is_crowded ? 4 : 8);
    const size_t whole = (is_crowded ? 256 << 10 : 8 << 10) / ranks;
    const size_t all = whole > AR_SHORT_BYTES ? whole : AR_SHORT_BYTES;
    const bool is_pair = nranks == 2 && !is_crowded;
    const size_t share = AR_SHORT_BYTES;
    struct ar_shm_tuning tuning = {
        .chunk_bytes = within(chunk < most ? chunk : most, 32 << 10, 256 << 10),
        .whole_bytes = is_pair ? SIZE_MAX : all,
        .share_bytes = {2 * share, share, share / 2},
        .in_place_bytes = is_pair                                  ? 8 << 10
                          : nranks <= IN_PLACE_MOST && !is_crowded ? 256 << 10
                                                                   : SIZE_MAX,
    };
    for (int levels = 0; is_crowded && levels < AR_SHARE_LEVELS; levels++)
        tuning.share_bytes[levels] = all;
    return tuning;
}

/* Bytes that are combined whole on so many levels, each of which takes their time. */
static size_t
short_bytes(const struct ar_shm_tuning *tuning, int levels)
{
    return tuning->share_bytes[(levels < AR_SHARE_LEVELS ? levels : AR_SHARE_LEVELS) - 1];
}

/* The number of levels for which short_bytes() is asked what is combined whole on all of them.  Two
 * levels inside one domain count as one, since no line comes from far; more were not measured.
 * Where the innermost groups are unequal, more than two count as two: a vector that is cut there
 * stays cut on all levels, which takes twice as many rounds. */
static int
count_levels(const struct ar_grouping *grouping)
{
    const int levels = grouping->nlevels;
    if (levels == 2 && grouping->one_domain)
        return 1;
    return levels > 2 && !ar_grouping_is_even_below(grouping, 1) ? 2 : levels;
}

/* A vector that is not short as a whole is cut on the first level, so that one level less combines
 * what a rank holds then. */
size_t
ar_shm_whole(const struct ar_shm_tuning *tuning, const struct ar_params *params, size_t count,
             size_t length, size_t size)
{
    const struct ar_grouping *const grouping = params->grouping;
    const size_t asked = params->whole_bytes;
    const bool is_flat = !grouping || grouping->nlevels == 1;
    const size_t all = asked > 0 ? asked
                       : is_flat ? tuning->whole_bytes
                                 : short_bytes(tuning, count_levels(grouping));
    const size_t held = asked > 0 || is_flat ? all : short_bytes(tuning, grouping->nlevels - 1);
    if (count <= all / size)
        return SIZE_MAX;
    return length < count ? 0 : min_size(held / size, count - 1);
}
