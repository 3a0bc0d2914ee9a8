#include "communicator/seen.h"

#include <string.h>

bool
ar_seen_note(struct ar_seen *seen, uint64_t kind, bool *forgets)
{
    const size_t slots = sizeof seen->kind / sizeof seen->kind[0];
    size_t i = (kind >> 32) % slots;
    *forgets = false;
    while (seen->kind[i] != 0 && seen->kind[i] != kind)
        i = (i + 1) % slots;
    if (seen->kind[i] == kind)
        return true;
    if (seen->n == AR_SEEN_MOST) {
        memset(seen, 0, sizeof *seen);
        i = (kind >> 32) % slots;
        *forgets = true;
    }
    seen->kind[i] = kind;
    seen->n++;
    return false;
}
