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

/* As Misra & Gries find what occurs most (Science of Computer Programming 2, 1982, 143-152): a call
 * of a known kind counts it up.  A call of a kind that has no place counts all others of its set
 * down; a later one may take the place of one that has come to 0.  A kind that has come
 * AR_OFTEN_CALLS times is lifted by as many, once, and counted no further. */
bool
ar_often_note(struct ar_often *often, uint64_t kind)
{
    uint64_t *const set = often->kind[(kind >> 32) % AR_OFTEN_SETS], *free = NULL;
    for (int i = 0; i < AR_OFTEN_WAYS; i++) {
        const uint64_t calls = set[i] & 0xff;
        if (calls > 0 && (set[i] ^ kind) >> 8 == 0) {
            if (calls < AR_OFTEN_CALLS)
                set[i] += calls == AR_OFTEN_CALLS - 1 ? 1 + AR_OFTEN_CALLS : 1;
            return calls >= AR_OFTEN_CALLS;
        }
        free = calls == 0 ? &set[i] : free;
    }
    if (free)
        *free = kind >> 8 << 8 | 1;
    for (int i = 0; !free && i < AR_OFTEN_WAYS; i++)
        set[i]--;
    return false;
}
