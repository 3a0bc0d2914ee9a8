#include "execute/trial.h"

/* The way that is on trial; AR_TRIAL_WAYS: none. */
static unsigned
find_tried(const struct ar_trial *trial, unsigned ways)
{
    uint64_t before = trial->ncalls % AR_TRIAL_PERIOD / AR_TRIAL_CALLS;
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

unsigned
ar_trial_next(const struct ar_trial *trial, unsigned ways, unsigned best)
{
    const unsigned tried = find_tried(trial, ways);
    return tried < AR_TRIAL_WAYS ? tried : ways >> best & 1 ? best : lowest(ways);
}

/* The first call of a way has another one's before it. */
void
ar_trial_end(struct ar_trial *trial, unsigned ways, unsigned way, uint64_t now)
{
    const uint64_t ticks = now - trial->end;
    if (trial->ncalls % AR_TRIAL_PERIOD == 0)
        trial->least = UINT64_MAX;
    if (find_tried(trial, ways) == way && trial->ncalls % AR_TRIAL_CALLS > 0 &&
        ticks < trial->least) {
        trial->least = ticks;
        trial->best = way;
    }
    trial->end = now;
    trial->ncalls++;
}
