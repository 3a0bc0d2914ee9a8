#include "algorithms/domains.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/error.h"

const char *const ar_domain_names[] = {"l3", "numa", "socket", NULL};

static const struct ar_levels all_names = {
    AR_LEVELS_NAMES, AR_DOMAINS, {AR_DOMAIN_L3, AR_DOMAIN_NUMA, AR_DOMAIN_SOCKET}, 0};

bool
ar_levels_equal(const struct ar_levels *a, const struct ar_levels *b)
{
    bool equal = a->kind == b->kind && a->n == b->n && a->sizes == b->sizes;
    for (int i = 0; equal && i < a->n; i++)
        equal = a->value[i] == b->value[i];
    return equal;
}

bool
ar_levels_may_group(const struct ar_levels *levels, const struct ar_domains *domains)
{
    return levels->kind == AR_LEVELS_SIZES || (levels->kind != AR_LEVELS_FLAT && domains);
}

/* The levels as ar_grouping_init takes them, the innermost first. */
struct given {
    int n;
    int value[AR_GROUPING_LEVELS - 1];
    const int *domain[AR_GROUPING_LEVELS - 1];
};

/* How many domains have ranks. */
static int
count_domains(const int *domain, int nranks)
{
    int n = 0;
    for (int r = 0; r < nranks; r++) {
        int first = 0;
        while (domain[first] != domain[r])
            first++;
        n += first == r && domain[r] >= 0;
    }
    return n;
}

/* Those that are known, the one with most domains first; in the order of enum ar_domain_kind where
 * there are as many. */
static void
find_named(struct given *given, const struct ar_levels *levels, const struct ar_domains *domains)
{
    int counts[AR_DOMAINS] = {0};
    for (int d = 0; d < AR_DOMAINS; d++) {
        bool is_asked = false;
        for (int i = levels->sizes; i < levels->n; i++)
            is_asked |= levels->value[i] == d;
        if (!is_asked || !domains->of[d])
            continue;
        const int count = count_domains(domains->of[d], domains->nranks);
        if (count == 0)
            continue;
        int at = given->n++;
        for (; at > 0 && counts[at - 1] < count; at--) {
            counts[at] = counts[at - 1];
            given->value[at] = given->value[at - 1];
            given->domain[at] = given->domain[at - 1];
        }
        counts[at] = count;
        given->value[at] = d;
        given->domain[at] = domains->of[d];
    }
}

/* How many ranks of the same domain have smaller numbers; domain NULL: all ranks are in one. */
static int
number_in(const int *domain, int rank)
{
    int number = domain ? 0 : rank;
    for (int r = 0; domain && r < rank; r++)
        number += domain[r] == domain[rank];
    return number;
}

/* Puts levels of n sizes inside those that are given.  room: n * nranks entries. */
static void
find_sized(struct given *given, int *room, const int *size, int n, int nranks)
{
    const int *const inside = given->n > 0 ? given->domain[0] : NULL;
    memmove(given->value + n, given->value, (size_t)given->n * sizeof *given->value);
    memmove(given->domain + n, given->domain, (size_t)given->n * sizeof *given->domain);
    given->n += n;
    for (int i = 0; i < n; i++) {
        given->value[i] = size[i];
        given->domain[i] = room + (size_t)i * (size_t)nranks;
    }
    for (int r = 0; r < nranks; r++) {
        const int number = number_in(inside, r);
        for (int i = n - 1, outer = 0; i >= 0; i--) {
            outer = number - (number - outer) % size[i];
            room[(size_t)i * (size_t)nranks + (size_t)r] = outer;
        }
    }
}

/* --- auto --- */

#define UNITS_MOST  16 /* in a group; where there would be more, groups of them are put between */
#define UNITS_GOOD  8
#define SPLIT_BYTES ((size_t)64 << 10) /* of a vector that goes by these groups, at most */

/* Ranks of the largest domain; 0 where a rank is in none. */
static int
largest_domain(const int *domain, int nranks)
{
    int most = 0;
    for (int r = 0; r < nranks; r++) {
        const int number = number_in(domain, r) + 1;
        if (domain[r] < 0)
            return 0;
        most = number > most ? number : most;
    }
    return most;
}

struct ar_levels
ar_levels_auto(const struct ar_domains *domains, size_t bytes)
{
    enum { ROOM = AR_GROUPING_LEVELS - 1 - AR_DOMAINS };
    struct given given = {.n = 0};
    struct ar_levels levels = all_names;
    find_named(&given, &all_names, domains);
    int units =
        given.n > 0 && bytes <= SPLIT_BYTES ? largest_domain(given.domain[0], domains->nranks) : 0;
    for (int size = 1; units > UNITS_MOST && levels.sizes < ROOM; levels.sizes++) {
        const int groups = (units + UNITS_GOOD - 1) / UNITS_GOOD;
        size *= (units + groups - 1) / groups;
        units = groups;
        levels.value[levels.sizes] = size;
    }
    for (int d = 0; d < AR_DOMAINS; d++)
        levels.value[levels.sizes + d] = d;
    levels.n += levels.sizes;
    return levels;
}

/* --- groups --- */

/* The levels that the grouping has of those given, of which the first so many are sizes. */
static struct ar_levels
found_levels(const struct ar_grouping *grouping, const struct given *given, int sizes)
{
    struct ar_levels found = {.kind = AR_LEVELS_NAMES, .n = grouping->nlevels - 1};
    for (int l = 0; l < found.n; l++) {
        found.value[l] = given->value[grouping->given[l]];
        found.sizes += grouping->given[l] < sizes;
    }
    if (found.sizes == found.n) { /* no names */
        found.kind = found.n > 0 ? AR_LEVELS_SIZES : AR_LEVELS_FLAT;
        found.sizes = 0;
    }
    return found;
}

int
ar_levels_group(struct ar_grouping *grouping, struct ar_levels *found,
                const struct ar_levels *levels, const struct ar_domains *domains, int nranks)
{
    const struct ar_levels *const asked = levels->kind == AR_LEVELS_AUTO ? &all_names : levels;
    const bool is_known = domains && domains->nranks == nranks;
    struct given given = {.n = 0};
    int *room = NULL, sizes = 0;
    if (asked->kind == AR_LEVELS_SIZES) {
        sizes = asked->n;
    } else if (asked->kind == AR_LEVELS_NAMES && is_known) {
        find_named(&given, asked, domains);
        sizes = given.n > 0 ? asked->sizes : 0;
    }
    if (sizes > 0) {
        room = malloc((size_t)sizes * (size_t)nranks * sizeof *room);
        if (!room)
            return AR_ERR_MEMORY;
        find_sized(&given, room, asked->value, sizes, nranks);
    }
    const int error = ar_grouping_init(grouping, nranks, given.n, given.domain);
    free(room);
    if (!error && found)
        *found = found_levels(grouping, &given, sizes);
    return error;
}
