#include "execute/trial.h"

/* The way that is on trial in a call; AR_TRIAL_WAYS: none. */
static unsigned
find_tried(const struct ar_trial *trial, uint64_t call, unsigned ways)
{
    const unsigned fresh = ar_trial_fresh(trial);
    if (call < fresh)
        return AR_TRIAL_WAYS;
    uint64_t before = (call - fresh) % AR_TRIAL_PERIOD / ar_trial_calls(trial);
    for (unsigned way = 0; way < AR_TRIAL_WAYS; way++)
        if (ways >> way & 1 && before-- == 0)
            return way;
    return AR_TRIAL_WAYS;
}

static unsigned
lowest(unsigned ways)
{
    unsigned way = 0;
    while (!(ways >> way & 1))
        way++;
    return way;
}

static uint64_t
smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t
time_of(const struct ar_trial *trial)
{
    const uint64_t time = trial->call + smaller(trial->outside, AR_TRIAL_OUTSIDE * trial->call);
    return trial->way == AR_TRIAL_STREAMED ? time + time / 16 : time;
}

/* A short call takes longer per byte: about as long as if it had so many bytes more. */
#define LATENCY_BYTES 4096

/* The last call's time: in ticks, or per byte in 1/65536 ticks, so that no precision is lost. */
static uint64_t
call_of(const struct ar_trial *trial)
{
    const uint64_t ticks = trial->end - trial->begin;
    return trial->bytes > 0 ? (ticks << 16) / (trial->bytes + LATENCY_BYTES) : ticks;
}

/* Notes the call before, of which all is known now that another one begins.  The first call of a
 * way does not count, since it finds what another way has left. */
static void
note(struct ar_trial *trial, unsigned ways, uint64_t now)
{
    const uint64_t call = trial->ncalls - 1;
    if (find_tried(trial, call, ways) != trial->way)
        return;
    if ((call - ar_trial_fresh(trial)) % AR_TRIAL_PERIOD % ar_trial_calls(trial) == 0) {
        trial->call = trial->outside = UINT64_MAX / (2 * AR_TRIAL_OUTSIDE);
        return;
    }
    trial->call = smaller(trial->call, call_of(trial));
    trial->outside = trial->bytes > 0 ? 0 : smaller(trial->outside, now - trial->end);
    if (time_of(trial) < trial->least) {
        trial->least = time_of(trial);
        trial->best = trial->way;
    }
}

unsigned
ar_trial_begin(struct ar_trial *trial, unsigned ways, unsigned best, size_t bytes, uint64_t now)
{
    if (trial->ncalls > 0)
        note(trial, ways, now);
    if (trial->ncalls % AR_TRIAL_PERIOD == ar_trial_fresh(trial))
        trial->least = UINT64_MAX;
    const unsigned tried = find_tried(trial, trial->ncalls, ways);
    trial->way = tried < AR_TRIAL_WAYS ? tried : ways >> best & 1 ? best : lowest(ways);
    trial->begin = trial->end = now;
    trial->bytes = bytes;
    trial->ncalls++;
    return trial->way;
}

bool
ar_trial_is_over(const struct ar_trial *trial, unsigned ways)
{
    return trial->ncalls > ar_trial_fresh(trial) + 1 &&
           find_tried(trial, trial->ncalls - 1, ways) == AR_TRIAL_WAYS &&
           find_tried(trial, trial->ncalls - 2, ways) == AR_TRIAL_WAYS;
}
