#include "model/pings.h"

#include <math.h>

#define SHORT_LOOP  20
#define LONG_LOOP   3
#define EAGER_LEAST 1024 /* bytes; shorter messages are taken for eager */

/* Pairs share something if, all at once, they take so many times as long as one alone: inside a
 * node, and between nodes.  Between nodes messages may only have waited for each other: over TCP a
 * rank that answers late waits until its peer's message has passed. */
#define HINDERED_NEAR 1.1
#define HINDERED_FAR  1.6

/* Which time of loops counts: where ranks share cores, a message waits for a turn of the ranks that
 * wait for others, and in the fastest loop it did not. */
static double
counted(const struct ar_pings *pings, const struct ar_ping_times *times)
{
    return pings->is_crowded ? times->median : times->least;
}

/* A message each way, then a row of them one way, in which each further message costs a rank its
 * overhead.  For that the least times count even where ranks share cores: it is a rank's own work,
 * and no turn of others. */
static int
measure_short(struct ar_travel *travel, const struct ar_pings *pings)
{
    struct ar_ping_times one, row;
    const int loops = SHORT_LOOP * pings->effort;
    int error = pings->play(pings->with, &one, AR_PING_SHORT, 1, loops);
    if (!error)
        error = pings->play(pings->with, &row, AR_PING_SHORT, AR_PING_TRAIN, loops);
    if (error)
        return error;
    travel->overhead = row.least > one.least ? (row.least - one.least) / (AR_PING_TRAIN - 1) : 0;
    if (travel->overhead > one.least / 8) /* no more than half of one's way is the ranks' own */
        travel->overhead = one.least / 8;
    travel->latency = counted(pings, &one) / 2 - 2 * travel->overhead;
    return 0;
}

/* The time of the further messages of a row: the first may go faster, on what links have saved up.
 * The least times count even where ranks share cores.  Where a message of AR_PING_MIDDLE bytes is
 * slow already, longer ones are out of the question; there the median of its loops counts, for the
 * same reason. */
static int
measure_long(struct ar_travel *travel, bool *is_slow, const struct ar_pings *pings)
{
    struct ar_ping_times middle, one, row;
    const int loops = pings->is_near ? LONG_LOOP * pings->effort : pings->effort;
    int error = pings->play(pings->with, &middle, AR_PING_MIDDLE, 1, LONG_LOOP * pings->effort);
    if (error)
        return error;
    *is_slow = middle.least > AR_PING_SLOW_NS;
    error = pings->tell(pings->with, is_slow);
    if (error)
        return error;
    travel->per_byte = (*is_slow ? middle.median : middle.least) / AR_PING_MIDDLE;
    if (*is_slow)
        return 0;
    error = pings->play(pings->with, &one, AR_PING_LONG, 1, loops);
    if (!error)
        error = pings->play(pings->with, &row, AR_PING_LONG, AR_PING_ROW, loops);
    if (error)
        return error;
    if (row.least > one.least) /* else: less than the clock can tell */
        travel->per_byte = (row.least - one.least) / ((AR_PING_ROW - 1) * AR_PING_LONG);
    return 0;
}

/* Measures the longest eager message, as a power of two, and by how much a message twice as long
 * takes longer than its further bytes account for. */
static int
measure_eager(struct ar_travel *travel, const struct ar_pings *pings, bool is_slow)
{
    const int longest = is_slow ? AR_PING_MIDDLE : AR_PING_LONG;
    const int loops = (is_slow ? LONG_LOOP : SHORT_LOOP) * pings->effort;
    struct ar_ping_times shorter, longer;
    int bytes = EAGER_LEAST;
    bool is = true;
    int error = pings->is_eager(pings->with, &is, bytes);
    while (!error && is && bytes < longest) {
        bytes *= 2;
        error = pings->is_eager(pings->with, &is, bytes);
    }
    if (error || is)
        return error;
    const int eager = bytes / 2;
    error = pings->play(pings->with, &shorter, eager, 1, loops);
    if (!error)
        error = pings->play(pings->with, &longer, bytes, 1, loops);
    if (error)
        return error;
    travel->eager_bytes = (size_t)eager;
    travel->handshake =
        fmax(0, counted(pings, &longer) - counted(pings, &shorter) - eager * travel->per_byte);
    return 0;
}

static double
one_way(const struct ar_travel *travel)
{
    return travel->latency + 2 * travel->overhead;
}

/* Short messages are measured twice, some time apart: two ranks that have one core at first may
 * have two later. */
int
ar_pings_measure(struct ar_travel *travel, const struct ar_pings *pings)
{
    struct ar_travel later = {0};
    bool is_slow = false;
    int error = measure_short(travel, pings);
    if (!error)
        error = measure_long(travel, &is_slow, pings);
    if (!error && !pings->is_near)
        error = measure_eager(travel, pings, is_slow);
    if (!error && !is_slow)
        error = measure_short(&later, pings);
    if (!error && !is_slow && one_way(&later) < one_way(travel)) {
        travel->latency = later.latency;
        travel->overhead = later.overhead;
    }
    return error;
}

/* Between nodes the mean counts: a pair is fast while others wait, and slow in its turn, and
 * together they are as fast as the mean says. */
double
ar_pings_shared(const struct ar_ping_times *of, double alone, int n, bool is_near)
{
    const double at_once = (is_near ? of->median : of->mean) / (AR_PING_ROW * AR_PING_LONG);
    const double hindered = is_near ? HINDERED_NEAR : HINDERED_FAR;
    return n > 1 && at_once > hindered * alone ? at_once / n : 0;
}
