#include "execute/trial.h"

#include <string.h>

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
        memset(trial->least, 0, sizeof trial->least);
    if (find_tried(trial, ways) == way && trial->ncalls % AR_TRIAL_CALLS > 0 &&
        (trial->least[way] == 0 || ticks < trial->least[way]))
        trial->least[way] = ticks;
    trial->end = now;
    trial->ncalls++;
}

unsigned
ar_trial_best(const struct ar_trial *trial, unsigned otherwise)
{
    unsigned best = AR_TRIAL_WAYS;
    for (unsigned way = 0; way < AR_TRIAL_WAYS; way++)
        if (trial->least[way] > 0 &&
            (best == AR_TRIAL_WAYS || trial->least[way] < trial->least[best]))
            best = way;
    return best < AR_TRIAL_WAYS ? best : otherwise;
}
