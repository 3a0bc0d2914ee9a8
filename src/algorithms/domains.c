#include "algorithms/domains.h"

#include <stdlib.h>
#include <string.h>

#include "algorithms/firsts.h"
#include "schedule/accesses.h"
#include "schedule/error.h"

const char *const ar_domain_names[] = {"l3", "numa", "socket", NULL};

static const struct ar_levels all_names = {
    AR_LEVELS_NAMES, AR_DOMAINS, {AR_DOMAIN_L3, AR_DOMAIN_NUMA, AR_DOMAIN_SOCKET}, 0};

/* Names each domain by its first rank, since nodes use the same names for their domains. */
int
ar_domains_of_nodes(struct ar_domains *domains, int *of, const int *own, const int *node_of,
                    int nranks)
{
    uint64_t *const key = malloc((size_t)nranks * sizeof *key);
    int error = key ? AR_OK : AR_ERR_MEMORY;
    *domains = (struct ar_domains){.nranks = nranks};
    for (int d = 0; d < AR_DOMAINS && !error; d++) {
        int *const first = of + (size_t)d * (size_t)nranks;
        for (int r = 0; r < nranks; r++)
            key[r] = (uint64_t)(node_of ? node_of[r] : 0) << 32 | (uint32_t)own[r * AR_DOMAINS + d];
        error = ar_firsts_find(first, key, nranks);
        for (int r = 0; r < nranks && !error; r++)
            first[r] = own[r * AR_DOMAINS + d] < 0 ? own[r * AR_DOMAINS + d] : first[r];
        domains->of[d] = first;
    }
    free(key);
    return error;
}

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

/* The domains of a level. */
struct sizes {
    int count;
    int most;  /* ranks of the largest of them */
    int least; /* of the smallest one; all ranks in no domain count as one more */
};

/* The levels as ar_grouping_init takes them, the innermost first. */
struct given {
    int n;
    int value[AR_LEVELS_MAX + 1]; /* with the nodes */
    const int *domain[AR_LEVELS_MAX + 1];
    struct sizes sizes[AR_DOMAINS]; /* before groups by number are put inside */
};

/* number[r]: how many ranks of the domain of rank r have smaller numbers. */
static int
find_numbers(int *number, struct sizes *sizes, const int *domain, int nranks)
{
    const size_t n = (size_t)nranks;
    uint64_t *const key = calloc(n, sizeof *key);
    int *const first = malloc(n * sizeof *first), *const ranks = calloc(n, sizeof *ranks);
    int error = key && first && ranks ? AR_OK : AR_ERR_MEMORY;
    for (int r = 0; !error && r < nranks; r++)
        key[r] = (uint64_t)domain[r];
    if (!error)
        error = ar_firsts_find(first, key, nranks);
    for (int r = 0; !error && r < nranks; r++)
        number[r] = ranks[first[r]]++;
    *sizes = (struct sizes){.least = nranks};
    for (int r = 0; !error && r < nranks; r++) {
        if (ranks[r] > 0 && ranks[r] < sizes->least)
            sizes->least = ranks[r];
        if (ranks[r] > sizes->most && domain[r] >= 0)
            sizes->most = ranks[r];
        sizes->count += ranks[r] > 0 && domain[r] >= 0;
    }
    free(key);
    free(first);
    free(ranks);
    return error;
}

/* Finds the names asked for that are known, the one with most domains first; ties are in the order
 * of enum ar_domain_kind.  number: for nranks entries. */
static int
find_named(struct given *given, int *number, const struct ar_levels *levels,
           const struct ar_domains *domains)
{
    for (int d = 0; d < AR_DOMAINS; d++) {
        bool is_asked = false;
        for (int i = levels->sizes; i < levels->n; i++)
            is_asked |= levels->value[i] == d;
        if (!is_asked || !domains->of[d])
            continue;
        struct sizes sizes;
        if (find_numbers(number, &sizes, domains->of[d], domains->nranks))
            return AR_ERR_MEMORY;
        if (sizes.count == 0)
            continue;
        int at = given->n++;
        for (; at > 0 && given->sizes[at - 1].count < sizes.count; at--) {
            given->sizes[at] = given->sizes[at - 1];
            given->value[at] = given->value[at - 1];
            given->domain[at] = given->domain[at - 1];
        }
        given->sizes[at] = sizes;
        given->value[at] = d;
        given->domain[at] = domains->of[d];
    }
    return AR_OK;
}

/* Puts levels of n sizes inside those that are given.  number: for nranks entries; room: n times as
 * many. */
static int
find_sized(struct given *given, int *number, int *room, const int *size, int n, int nranks)
{
    struct sizes sizes;
    for (int r = 0; r < nranks; r++)
        number[r] = r;
    if (given->n > 0 && find_numbers(number, &sizes, given->domain[0], nranks))
        return AR_ERR_MEMORY;
    memmove(given->value + n, given->value, (size_t)given->n * sizeof *given->value);
    memmove(given->domain + n, given->domain, (size_t)given->n * sizeof *given->domain);
    given->n += n;
    for (int i = 0; i < n; i++) {
        given->value[i] = size[i];
        given->domain[i] = room + (size_t)i * (size_t)nranks;
    }
    for (int r = 0; r < nranks; r++)
        for (int i = n - 1, outer = 0; i >= 0; i--) {
            outer = number[r] - (number[r] - outer) % size[i];
            room[(size_t)i * (size_t)nranks + (size_t)r] = outer;
        }
    return AR_OK;
}

/* --- auto --- */

/* How many units a rank reads in turn in one round.  Another level costs a round, or two for
 * slices, in which a line comes from as far as its ranks are apart. */
#define UNITS_FEW    4  /* so few are not worth a level for short vectors */
#define UNITS_SHORT  6  /* more are cut into groups of about 4 for short vectors */
#define UNITS_MOST   16 /* more are cut into groups of about UNITS_GOOD for longer ones */
#define UNITS_GOOD   8
#define ALONE_TINY   12 /* at most so many ranks, in one domain, go flat up to TINY_BYTES */
#define ALONE_SHORT  8  /* at most so many up to SHORT_BYTES; at least so many are cut beyond */
#define TINY_BYTES   ((size_t)256)
#define SHORT_BYTES  ((size_t)1 << 10)
#define ALONE_BYTES  ((size_t)512 << 10) /* the longest vector for which a lone domain is cut */
#define EVEN_BYTES   ((size_t)4 << 10)   /* up to here unequal groups are avoided: see shm.c */
#define SPLIT_BYTES  ((size_t)64 << 10)  /* the longest vector for which groups may be unequal */
#define PAIR_BYTES   ((size_t)16 << 10)  /* the longest for which two domains may be too unequal */
#define UNIT_BYTES   ((size_t)2 << 10) /* unequal groups: at most this per unit above UNITS_MOST */
#define UNEQUAL_MOST 11 /* ranks; of more, levels nearly always pay, however unequal the groups */

static bool
is_even(const struct given *given, int level, int nranks)
{
    return given->sizes[level].count * given->sizes[level].most == nranks;
}

/* Leaves out a level but the first. */
static void
leave_out(struct given *given, int level)
{
    given->n--;
    for (int i = level; i < given->n; i++) {
        given->value[i] = given->value[i + 1];
        given->domain[i] = given->domain[i + 1];
        given->sizes[i] = given->sizes[i + 1];
    }
}

/* Leaves out outer levels where the domains inside are so few that they can as well exchange at
 * once: for short vectors, levels of unequal domains; and the outermost levels, most of all where
 * the slices of a longer vector have 128 to 256 bytes. */
static void
leave_out_levels(struct given *given, int nranks, size_t bytes)
{
    const size_t ranks = (size_t)nranks;
    const int most = bytes <= AR_SHORT_BYTES / 2 * ranks ? UNITS_FEW
                     : bytes <= AR_SHORT_BYTES * ranks   ? UNITS_MOST
                                                         : 0;
    for (int level = given->n - 1; level > 0; level--)
        if (bytes <= EVEN_BYTES && !is_even(given, level, nranks) &&
            given->sizes[level - 1].count <= UNITS_MOST)
            leave_out(given, level);
    while (given->n > 1 && given->sizes[given->n - 2].count <= most)
        given->n--;
}

/* Are so few ranks in unequal domains that a short vector had better go flat?  They may be more
 * where there is one level, of larger domains, or where the slices, flat, stand in the lines of
 * their flags. */
static bool
is_better_flat(const struct given *given, int nranks, size_t bytes)
{
    const bool is_lone = given->n == 1 && given->sizes[0].most > UNITS_FEW;
    const bool is_tiny = bytes > AR_SHORT_BYTES && bytes <= AR_TINY_BYTES * (size_t)nranks;
    return !is_even(given, 0, nranks) && bytes <= 2 * SHORT_BYTES &&
           nranks <= (is_lone || is_tiny ? UNITS_MOST : UNEQUAL_MOST);
}

/* The first of these sizes of groups into which so many units can be cut evenly; 0: none. */
static int
even_radix(int units)
{
    static const int radix[] = {4, 3, 5, 2};
    for (size_t i = 0; i < sizeof radix / sizeof radix[0]; i++)
        if (units % radix[i] == 0)
            return radix[i];
    return 0;
}

/* The size that gives nearly equal groups of about good units. */
static int
near_radix(int units, int good)
{
    const int groups = (units + good - 1) / good;
    return (units + groups - 1) / groups;
}

/* Adds sizes of groups while there are more than most units.  good: about how many units a group
 * has; 0: groups are of equal size. */
static void
add_sizes(struct ar_levels *levels, int units, int most, int good)
{
    enum { ROOM = AR_LEVELS_MAX - AR_DOMAINS };
    for (int size = 1; units > most && levels->sizes < ROOM;) {
        const int radix = good > 0 ? near_radix(units, good) : even_radix(units);
        if (radix == 0)
            return;
        size *= radix;
        units = (units + radix - 1) / radix;
        levels->value[levels->sizes++] = size;
    }
}

/* Are groups of about UNITS_GOOD worth it inside domains of more than UNITS_MOST ranks?  Of equal
 * size always, since chunks overlap then. */
static bool
pays_for_long(const struct given *given, int nranks, size_t bytes)
{
    const int units = given->sizes[0].most;
    return (is_even(given, 0, nranks) && units % near_radix(units, UNITS_GOOD) == 0) ||
           (bytes <= SPLIT_BYTES && bytes <= UNIT_BYTES * (size_t)(units - UNITS_MOST));
}

/* Are domains cut into groups of few ranks?  In one domain of all ranks, few of them had better go
 * flat with short vectors, and ALONE_SHORT to UNITS_MOST are cut for longer ones, too.  Measured on
 * 16 cores of a Xeon of 2023, where a line takes 0.14 to 0.20 us: 8 bytes take 0.73 us on 8 ranks
 * flat and 0.90 us in groups of four, and 32 KiB take 20.6 us on 16 ranks flat and 16.5 us in
 * groups of four. */
static bool
is_cut(const struct given *given, size_t bytes)
{
    const int units = given->sizes[0].most;
    if (given->sizes[0].count != 1)
        return bytes <= SHORT_BYTES;
    if (bytes <= SHORT_BYTES)
        return units > (bytes <= TINY_BYTES ? ALONE_TINY : ALONE_SHORT);
    return bytes <= ALONE_BYTES && units >= ALONE_SHORT && units <= UNITS_MOST;
}

/* The sizes of groups inside domains of so many ranks, then the names. */
static struct ar_levels
split(const struct given *given, int nranks, size_t bytes)
{
    struct ar_levels levels = {.kind = AR_LEVELS_NAMES};
    const int units = given->sizes[0].most;
    const bool cuts = is_cut(given, bytes);
    if (cuts && is_even(given, 0, nranks))
        add_sizes(&levels, units, UNITS_SHORT, 0);
    if (levels.sizes == 0 && cuts && bytes <= AR_SHORT_BYTES)
        add_sizes(&levels, units, UNITS_SHORT, UNITS_FEW);
    if (levels.sizes == 0 && units > UNITS_MOST && pays_for_long(given, nranks, bytes))
        add_sizes(&levels, units, UNITS_MOST, UNITS_GOOD);
    levels.n = levels.sizes;
    for (int i = 0; i < given->n; i++)
        levels.value[levels.n++] = given->value[i];
    return levels;
}

/* Few ranks, and in one domain so many times fewer than in another? */
static bool
is_lopsided(const struct given *given, int nranks, int times)
{
    return nranks <= UNEQUAL_MOST && times * given->sizes[0].least < given->sizes[0].most;
}

/* Chunks of long vectors overlap flat, but not in unequal groups.  And where one of two domains has
 * very few ranks, the levels take as many rounds as ever and save few of the lines. */
static bool
is_too_unequal(const struct given *given, int nranks, size_t bytes)
{
    const bool is_long = bytes > SPLIT_BYTES,
               is_pair = given->sizes[0].count == 2 && bytes <= PAIR_BYTES;
    return (is_long || is_pair) && is_lopsided(given, nranks, is_long ? 2 : 3);
}

/* Is there a rank that is in none of the domains? */
static bool
has_unbound(const int *domain, int nranks)
{
    for (int r = 0; r < nranks; r++)
        if (domain[r] < 0)
            return true;
    return false;
}

int
ar_levels_auto(struct ar_levels *levels, const struct ar_domains *domains, size_t bytes)
{
    struct given given = {.n = 0};
    const int nranks = domains->nranks;
    int *const number = malloc((size_t)nranks * sizeof *number);
    const int error = number ? find_named(&given, number, &all_names, domains) : AR_ERR_MEMORY;
    free(number);
    if (error)
        return error;
    leave_out_levels(&given, nranks, bytes);
    if (given.n > 0 &&
        (is_better_flat(&given, nranks, bytes) || is_too_unequal(&given, nranks, bytes)))
        given.n = 0;
    if (given.n > 0 && has_unbound(given.domain[0], nranks))
        given.sizes[0].most = 0;
    *levels =
        given.n > 0 ? split(&given, nranks, bytes) : (struct ar_levels){.kind = AR_LEVELS_FLAT};
    return AR_OK;
}

/* --- groups --- */

/* The levels inside nodes that the grouping has of those given, of which the first so many are
 * sizes. */
static struct ar_levels
found_levels(const struct ar_grouping *grouping, const struct given *given, int sizes)
{
    struct ar_levels found = {.kind = AR_LEVELS_NAMES, .n = grouping->node_level};
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
    return ar_levels_group_nodes(grouping, found, levels, domains, NULL, nranks);
}

/* Puts the nodes, if there are several, outside the levels that are given. */
static bool
add_nodes(struct given *given, const int *node_of, int nranks)
{
    bool are_several = false;
    for (int r = 1; node_of && r < nranks; r++)
        are_several |= node_of[r] != node_of[0];
    if (are_several)
        given->domain[given->n++] = node_of;
    return are_several;
}

/* Are all ranks bound to the same domain of each level that is known? */
static bool
are_in_one(const struct ar_domains *domains)
{
    bool is_known = false;
    for (int d = 0; d < AR_DOMAINS; d++) {
        const int *const of = domains->of[d];
        for (int r = 1; of && r < domains->nranks; r++)
            if (of[r] != of[0])
                return false;
        is_known |= of && of[0] >= 0;
    }
    return is_known;
}

int
ar_levels_group_nodes(struct ar_grouping *grouping, struct ar_levels *found,
                      const struct ar_levels *levels, const struct ar_domains *domains,
                      const int *node_of, int nranks)
{
    const struct ar_levels *const asked = levels->kind == AR_LEVELS_AUTO ? &all_names : levels;
    const bool is_known = domains && domains->nranks == nranks;
    struct given given = {.n = 0};
    int *const room = malloc((1 + (size_t)asked->n) * (size_t)nranks * sizeof *room);
    bool has_nodes = false;
    int error = room ? AR_OK : AR_ERR_MEMORY, sizes = 0;
    if (!error && asked->kind == AR_LEVELS_SIZES) {
        sizes = asked->n;
    } else if (!error && asked->kind == AR_LEVELS_NAMES && is_known) {
        error = find_named(&given, room, asked, domains);
        sizes = given.n > 0 ? asked->sizes : 0;
    }
    if (!error)
        has_nodes = add_nodes(&given, node_of, nranks);
    if (!error && sizes > 0)
        error = find_sized(&given, room, room + nranks, asked->value, sizes, nranks);
    if (!error)
        error = ar_grouping_init(grouping, nranks, given.n, given.domain);
    free(room);
    if (!error)
        grouping->one_domain = is_known && !has_nodes && are_in_one(domains);
    if (!error && has_nodes && grouping->nlevels > 1) /* with one rank a node they are left out */
        grouping->node_level = grouping->nlevels - 2;
    if (!error && found)
        *found = found_levels(grouping, &given, sizes);
    return error;
}
