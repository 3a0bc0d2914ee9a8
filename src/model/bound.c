#include "model/bound.h"

#include <math.h>

#include "algorithms/nodes.h"
#include "schedule/cost.h"

/* Bytes that each of n units must send or receive, at their best. */
static double
moved(double bytes, int n)
{
    return n > 1 ? 2 * bytes * (n - 1) / n : 0;
}

double
ar_machine_bound(const struct ar_machine *m, const int *node_of, int nranks, size_t bytes,
                 size_t ports)
{
    const double n = (double)bytes;
    if (ports == 0) /* nobody waits for anybody: there is one rank, or nothing to reduce */
        return 0;
    const int nnodes = ar_nodes_count(node_of, nranks);
    const int per_node = (nranks + nnodes - 1) / nnodes;
    const double near = m->node.latency + m->node.overhead;
    const double far = m->network.latency + m->network.overhead;
    const int hosted = m->host_nodes > 0 ? m->host_nodes : 1, cores = ar_machine_cores(m);
    const int all_cores = cores * ((nnodes + hosted - 1) / hosted);
    const int reducing = cores > 0 && all_cores < nranks ? all_cores : nranks;
    double bound = n * (nranks - 1) / reducing * m->reduce_per_byte;
    if (nnodes == 1) {
        bound = fmax(bound, near * (double)ar_bound_rounds(nranks, ports));
        return fmax(bound, moved(n, nranks) * m->node.per_byte);
    }
    bound = fmax(bound, far * (double)ar_bound_rounds(nnodes, ports * (size_t)per_node));
    bound = fmax(bound, moved(n, nnodes) * m->network.per_byte);
    bound = fmax(bound, moved(n, nnodes) * (hosted < nnodes ? hosted : nnodes) * m->host_per_byte);
    for (int l = 0; m->shape == AR_SHAPE_SWITCHES && l < m->nlevels; l++)
        bound = fmax(bound, moved(n, (nnodes + m->levels[l].nodes - 1) / m->levels[l].nodes) *
                                m->levels[l].per_byte);
    return bound;
}
