/* Free ranges are in bins by length, so that finding one does not look at all of them.  Their first
 * and their last unit tell their length, so that a neighbour finds them. */
#include "execute/units.h"

enum { INSIDE, TAKEN, FREE };

void
ar_units_init(struct ar_units *units, struct ar_unit *unit, uint32_t n)
{
    *units = (struct ar_units){.unit = unit, .n = n};
    for (int i = 0; i < AR_UNITS_BINS; i++)
        units->bins[i] = AR_NO_UNIT;
}

/* --- ranges --- */

static void
mark(struct ar_units *units, uint32_t first, uint32_t length, uint8_t state, bool is_used)
{
    struct ar_unit boundary = {.length = length, .state = state, .is_used = is_used};
    units->unit[first + length - 1] = boundary;
    boundary.is_first = true;
    units->unit[first] = boundary;
}

static void
unmark(struct ar_units *units, uint32_t first)
{
    const uint32_t last = first + units->unit[first].length - 1;
    units->unit[first] = (struct ar_unit){0};
    units->unit[last] = (struct ar_unit){0};
}

static int
bin_of(uint32_t length)
{
    return 31 - __builtin_clz(length);
}

static void
list(struct ar_units *units, uint32_t first)
{
    uint32_t *const bin = &units->bins[bin_of(units->unit[first].length)];
    units->unit[first].next = *bin;
    units->unit[first].prev = AR_NO_UNIT;
    if (*bin != AR_NO_UNIT)
        units->unit[*bin].prev = first;
    *bin = first;
}

static void
unlist(struct ar_units *units, uint32_t first)
{
    const struct ar_unit range = units->unit[first];
    if (range.prev == AR_NO_UNIT)
        units->bins[bin_of(range.length)] = range.next;
    else
        units->unit[range.prev].next = range.next;
    if (range.next != AR_NO_UNIT)
        units->unit[range.next].prev = range.prev;
}

/* Makes the units a free range, which has no free neighbour. */
static void
add_free(struct ar_units *units, uint32_t first, uint32_t length, bool is_used)
{
    units->free_used += is_used ? length : 0;
    mark(units, first, length, FREE, is_used);
    list(units, first);
}

static void
remove_free(struct ar_units *units, uint32_t first)
{
    units->free_used -= units->unit[first].is_used ? units->unit[first].length : 0;
    unlist(units, first);
    unmark(units, first);
}

/* Makes the first units of a free range a taken one, and the others a shorter free one. */
static void
take_from(struct ar_units *units, uint32_t first, uint32_t length)
{
    const struct ar_unit range = units->unit[first];
    remove_free(units, first);
    mark(units, first, length, TAKEN, false);
    if (range.length > length)
        add_free(units, first + length, range.length - length, range.is_used);
}

/* Makes all from first on to the new top one free range.  first is the old top, or where a free
 * range begins that ends there. */
static void
raise_top(struct ar_units *units, uint32_t first, uint32_t top)
{
    bool is_used = false;
    if (first < units->top) {
        is_used = units->unit[first].is_used;
        remove_free(units, first);
    }
    units->top = top;
    add_free(units, first, top - first, is_used);
}

/* A free range of so many units; AR_NO_UNIT if there is none.  In the bin of this length some are
 * too short; in those above it all are long enough. */
static uint32_t
find(const struct ar_units *units, uint32_t length)
{
    uint32_t at = units->bins[bin_of(length)];
    while (at != AR_NO_UNIT && units->unit[at].length < length)
        at = units->unit[at].next;
    for (int bin = bin_of(length) + 1; bin < AR_UNITS_BINS && at == AR_NO_UNIT; bin++)
        at = units->bins[bin];
    return at;
}

/* --- for the heap --- */

uint32_t
ar_units_take(struct ar_units *units, uint32_t length, bool *is_used)
{
    uint32_t first = find(units, length);
    *is_used = false;
    if (first == AR_NO_UNIT) { /* beyond the top, with what is free before it */
        first = units->top;
        if (first > 0 && units->unit[first - 1].state == FREE)
            first -= units->unit[first - 1].length;
        if (length > units->n - first)
            return AR_NO_UNIT;
        raise_top(units, first, first + length);
    }
    *is_used = units->unit[first].is_used;
    take_from(units, first, length);
    return first;
}

uint32_t
ar_units_length(const struct ar_units *units, uint32_t first)
{
    const struct ar_unit *const unit = &units->unit[first];
    return unit->state == TAKEN && unit->is_first ? unit->length : 0;
}

/* Grows into what is free behind it. */
static bool
grow(struct ar_units *units, uint32_t first, uint32_t length)
{
    const uint32_t behind = first + units->unit[first].length, end = first + length;
    const bool is_free = behind < units->top && units->unit[behind].state == FREE;
    const uint32_t free_end = is_free ? behind + units->unit[behind].length : behind;
    if (free_end < end && (free_end < units->top || length > units->n - first))
        return false;
    if (free_end < end)
        raise_top(units, behind, end);
    take_from(units, behind, end - behind);
    unmark(units, behind);
    unmark(units, first);
    mark(units, first, length, TAKEN, false);
    return true;
}

bool
ar_units_resize(struct ar_units *units, uint32_t first, uint32_t length, bool is_used)
{
    const uint32_t old = units->unit[first].length;
    if (length > old)
        return grow(units, first, length);
    if (length < old) {
        unmark(units, first);
        mark(units, first, length, TAKEN, false);
        mark(units, first + length, old - length, TAKEN, false);
        ar_units_give(units, first + length, is_used);
    }
    return true;
}

void
ar_units_give(struct ar_units *units, uint32_t first, bool is_used)
{
    uint32_t begin = first, end = first + units->unit[first].length;
    bool any_used = is_used;
    unmark(units, first);
    if (begin > 0 && units->unit[begin - 1].state == FREE) {
        begin -= units->unit[begin - 1].length;
        any_used |= units->unit[begin].is_used;
        remove_free(units, begin);
    }
    if (end < units->top && units->unit[end].state == FREE) {
        const uint32_t behind = end;
        end += units->unit[behind].length;
        any_used |= units->unit[behind].is_used;
        remove_free(units, behind);
    }
    add_free(units, begin, end - begin, any_used);
}

uint32_t
ar_units_next_taken(const struct ar_units *units, uint32_t from)
{
    while (from < units->top && units->unit[from].state != TAKEN)
        from += units->unit[from].length;
    return from < units->top ? from : AR_NO_UNIT;
}
