#include "model/pings.h"

#include <math.h>

/* Loops, of which the fastest counts: of a short message, and of what takes longer. */
#define MANY 10
#define FEW  2

/* Bytes: shorter messages are taken for eager, and longer ones last so long that a handshake hardly
 * matters. */
#define EAGER_LEAST 4096
#define EAGER_MOST  65536

/* A message each way, then a train of them one way, in which each further message costs a rank its
 * overhead. */
static int
measure_short(struct ar_travel *travel, const struct ar_pings *pings)
{
    double one, train;
    int error = pings->play(pings->with, &one, AR_PING_SHORT, 1, MANY * pings->effort);
    if (!error)
        error = pings->play(pings->with, &train, AR_PING_SHORT, AR_PING_TRAIN, FEW * pings->effort);
    if (error)
        return error;
    travel->overhead = train > one ? (train - one) / (AR_PING_TRAIN - 1) : 0;
    if (travel->overhead > one / 8) /* no more than half of one's way is the ranks' own */
        travel->overhead = one / 8;
    travel->latency = one / 2 - 2 * travel->overhead;
    return 0;
}

/* Measures the longest eager message, as a power of two, and by how much a message twice as long
 * takes longer. */
static int
measure_eager(struct ar_travel *travel, const struct ar_pings *pings)
{
    double shorter, longer;
    int bytes = EAGER_LEAST;
    bool is = true;
    int error = pings->is_eager(pings->with, &is, bytes);
    while (!error && is && bytes < EAGER_MOST) {
        bytes *= 2;
        error = pings->is_eager(pings->with, &is, bytes);
    }
    if (error || is)
        return error;
    error = pings->play(pings->with, &shorter, bytes / 2, 1, FEW * pings->effort);
    if (!error)
        error = pings->play(pings->with, &longer, bytes, 1, FEW * pings->effort);
    if (error)
        return error;
    travel->eager_bytes = (size_t)bytes / 2;
    travel->handshake = longer - shorter;
    return 0;
}

/* The time of the further messages of a row: the first may go faster, on what links have saved up,
 * or slower, since the system makes room for it.  Where one message is slow already, a row is out
 * of the question.  What longer messages take longer than their bytes account for is the handshake.
 */
static int
measure_long(struct ar_travel *travel, const struct ar_pings *pings)
{
    double one, row;
    int error = pings->play(pings->with, &one, AR_PING_LONG, 1, pings->effort);
    bool is_slow = !error && one > AR_PING_SLOW_NS;
    if (!error)
        error = pings->tell(pings->with, &is_slow);
    if (!error && !is_slow)
        error = pings->play(pings->with, &row, AR_PING_LONG, AR_PING_ROW, pings->effort);
    if (error)
        return error;
    travel->per_byte = is_slow || row <= one /* less than the clock can tell */
                           ? one / AR_PING_LONG
                           : (row - one) / ((AR_PING_ROW - 1) * AR_PING_LONG);
    travel->handshake = fmax(0, travel->handshake - (double)travel->eager_bytes * travel->per_byte);
    return 0;
}

int
ar_pings_measure(struct ar_travel *travel, const struct ar_pings *pings)
{
    int error = measure_short(travel, pings);
    if (!error && !pings->is_near)
        error = measure_eager(travel, pings);
    return error ? error : measure_long(travel, pings);
}
