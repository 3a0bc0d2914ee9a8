#include "execute/trial.h"

/* The way that is on trial in a call; AR_TRIAL_WAYS: none. */
static unsigned
find_tried(uint64_t call, unsigned ways)
{
    uint64_t before = call % AR_TRIAL_PERIOD / AR_TRIAL_CALLS;
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

/* The call before this one took so many ticks.  The first call of a way does not count, since it
 * finds what another one has left. */
static void
note(struct ar_trial *trial, unsigned ways, uint64_t ticks)
{
    const uint64_t call = trial->ncalls - 1;
    ticks += trial->way == AR_TRIAL_STREAMED ? ticks / 16 : 0;
    if (call % AR_TRIAL_CALLS > 0 && find_tried(call, ways) == trial->way && ticks < trial->least) {
        trial->least = ticks;
        trial->best = trial->way;
    }
}

unsigned
ar_trial_begin(struct ar_trial *trial, unsigned ways, unsigned best, uint64_t now)
{
    if (trial->ncalls > 0)
        note(trial, ways, now - trial->begin);
    if (trial->ncalls % AR_TRIAL_PERIOD == 0)
        trial->least = UINT64_MAX;
    const unsigned tried = find_tried(trial->ncalls, ways);
    trial->way = tried < AR_TRIAL_WAYS ? tried : ways >> best & 1 ? best : lowest(ways);
    trial->begin = now;
    trial->ncalls++;
    return trial->way;
}

bool
ar_trial_is_over(const struct ar_trial *trial, unsigned ways)
{
    return find_tried(trial->ncalls - 1, ways) == AR_TRIAL_WAYS;
}
