#include "model/node_bound.h"

#include <math.h>

#include "model/lines.h"

const char *const ar_node_limit_names[] = {"latency", "own work", "lines", "links", "memory", NULL};

/* The domains of a level that have ranks. */
static int
count_domains(const struct ar_machine *m, int nranks, int level)
{
    return (nranks + m->domains[level].ranks - 1) / m->domains[level].ranks;
}

/* Of a rank, for each byte of the vector. */
static double
own_per_byte(const struct ar_machine *m, int nranks, bool in_place)
{
    const double copied = in_place ? 0 : nranks * m->copy_per_byte;
    const double made = m->reduce_per_byte + fmin(m->reduce_per_byte, m->copy_per_byte);
    return (copied + (nranks - 1) * made) / nranks;
}

/* The same.  What comes from without a domain may come from any level further out, so that it takes
 * as long as on the fastest of them. */
static double
lines_per_byte(const struct ar_machine *m, int nranks)
{
    double all = 0, inside = 0;
    for (int l = 0; l < m->ndomains; l++) {
        double least = m->domains[l].per_byte;
        for (int k = l + 1; k < m->ndomains; k++)
            least = fmin(least, m->domains[k].per_byte);
        const int groups = l == 0 ? nranks : count_domains(m, nranks, l - 1);
        all += 2 * (groups - 1) * (least - inside);
        inside = least;
    }
    return all / nranks;
}

static double
links_per_byte(const struct ar_machine *m, int nranks)
{
    double most = 0;
    for (int l = 0; l < m->ndomains; l++) {
        const double groups = count_domains(m, nranks, l);
        most = fmax(most, 2 * (groups - 1) / groups * m->domains[l].link_per_byte);
    }
    return most;
}

static double
memory_time(const struct ar_machine *m, int nranks, double bytes)
{
    double most = 0;
    for (int l = 0; l < m->ndomains; l++) {
        const int ranks = nranks < m->domains[l].ranks ? nranks : m->domains[l].ranks;
        if (l == 0 && 2 * bytes * ranks <= (double)m->domains[0].cache_bytes)
            return 0;
        most = fmax(most, 3 * bytes * ranks * m->domains[l].memory_per_byte);
    }
    return most;
}

struct ar_node_bound
ar_node_bound_find(const struct ar_machine *m, int nranks, double bytes, bool in_place)
{
    struct ar_node_bound bound = {
        .limits = {
            [AR_NODE_LIMIT_LATENCY] = m->domains[ar_lines_level(m, 0, nranks - 1)].latency,
            [AR_NODE_LIMIT_OWN] = bytes * own_per_byte(m, nranks, in_place),
            [AR_NODE_LIMIT_LINES] = bytes * lines_per_byte(m, nranks),
            [AR_NODE_LIMIT_LINKS] = bytes * links_per_byte(m, nranks),
            [AR_NODE_LIMIT_MEMORY] = memory_time(m, nranks, bytes),
        }};
    for (int i = 0; i < AR_NODE_LIMITS; i++)
        if (bound.limits[i] > bound.limits[bound.most])
            bound.most = (enum ar_node_limit)i;
    return bound;
}
