#include "algorithms/domains.h"

#include <stdlib.h>

#include "schedule/error.h"

const char *const ar_domain_names[] = {"l3", "numa", "socket", NULL};

static const struct ar_levels all_names = {
    AR_LEVELS_NAMES, AR_DOMAINS, {AR_DOMAIN_L3, AR_DOMAIN_NUMA, AR_DOMAIN_SOCKET}};

bool
ar_levels_equal(const struct ar_levels *a, const struct ar_levels *b)
{
    bool equal = a->kind == b->kind && a->n == b->n;
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
        for (int i = 0; i < levels->n; i++)
            is_asked |= levels->value[i] == d;
        if (!is_asked || !domains->of[d])
            continue;
        const int count = count_domains(domains->of[d], domains->nranks);
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

/* The domain of a rank is the first rank of its group. */
static void
find_sized(struct given *given, int *room, const struct ar_levels *levels, int nranks)
{
    given->n = levels->n;
    for (int i = levels->n - 1; i >= 0; i--) {
        int *const domain = room + (size_t)i * (size_t)nranks;
        given->value[i] = levels->value[i];
        given->domain[i] = domain;
        for (int r = 0; r < nranks; r++) {
            const int outer = i + 1 < levels->n ? given->domain[i + 1][r] : 0;
            domain[r] = r - (r - outer) % levels->value[i];
        }
    }
}

int
ar_levels_group(struct ar_grouping *grouping, struct ar_levels *found,
                const struct ar_levels *levels, const struct ar_domains *domains, int nranks)
{
    struct given given = {.n = 0};
    int *room = NULL;
    if (levels->kind == AR_LEVELS_SIZES) {
        room = malloc((size_t)levels->n * (size_t)nranks * sizeof *room);
        if (!room)
            return AR_ERR_MEMORY;
        find_sized(&given, room, levels, nranks);
    } else if (levels->kind != AR_LEVELS_FLAT && domains && domains->nranks == nranks) {
        find_named(&given, levels->kind == AR_LEVELS_AUTO ? &all_names : levels, domains);
    }
    const int error = ar_grouping_init(grouping, nranks, given.n, given.domain);
    free(room);
    if (error || !found)
        return error;
    *found = (struct ar_levels){.kind = grouping->nlevels == 1           ? AR_LEVELS_FLAT
                                        : levels->kind == AR_LEVELS_AUTO ? AR_LEVELS_NAMES
                                                                         : levels->kind,
                                .n = grouping->nlevels - 1};
    for (int l = 0; l < found->n; l++)
        found->value[l] = given.value[grouping->given[l]];
    return AR_OK;
}
