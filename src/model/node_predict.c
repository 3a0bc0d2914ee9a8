#include "model/node_predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "model/lines.h"

#define CHUNKS_MOST ((size_t)8) /* that are simulated */

static size_t
smaller(size_t x, size_t y)
{
    return x < y ? x : y;
}

bool
ar_node_knows(const struct ar_question *q)
{
    const int *const node_of = q->choice->params.node_of;
    return q->machine->ndomains > 0 && q->nranks > 1 && q->nranks <= q->machine->ranks_per_node &&
           q->choice->algorithm->shares_memory &&
           (!node_of || ar_nodes_count(node_of, q->nranks) == 1);
}

/* --- the accesses of all ranks --- */

static void
free_accesses(struct ar_accesses *all, int nranks)
{
    for (int r = 0; all && r < nranks; r++)
        ar_accesses_fini(&all[r]);
    free(all);
}

/* What each rank does with a chunk; the caller's to free. */
static int
find_accesses(struct ar_accesses **all, const struct ar_question *q, struct ar_emission *chunk)
{
    struct ar_accesses *const made = calloc((size_t)q->nranks, sizeof *made);
    int error = made ? AR_OK : AR_ERR_MEMORY, n = 0;
    while (n < q->nranks && !error) {
        error =
            ar_accesses_init(&made[n], n, q->nranks, q->element_bytes, ar_algorithm_source, chunk);
        n += !error;
    }
    if (error)
        free_accesses(made, n);
    else
        *all = made;
    return error;
}

/* --- the groups --- */

/* Of a line that goes up from rank 0 to a rank of another group on each level, and down again. */
static double
up_and_down(const struct ar_machine *m, const struct ar_grouping *grouping)
{
    const int last = grouping->nlevels - 1;
    double time = 0;
    for (int l = 0; l <= last; l++) {
        double farthest = 0;
        for (int place = grouping->level[l].begin[grouping->at[0]];
             place < grouping->level[l].end[grouping->at[0]]; place++) {
            const int level = ar_lines_level(m, 0, grouping->rank_at[place]);
            farthest = fmax(farthest, level < 0 ? 0 : m->domains[level].latency);
        }
        time += l < last ? 2 * farthest : farthest;
    }
    return time;
}

/* --- the time --- */

/* Simulates the chunks, or only some of them.  The others are then taken to go on at their pace,
 * and to spend their time on the same parts. */
static int
simulate_chunks(struct ar_node_prediction *p, const struct ar_node_simulation *all, double nchunks)
{
    struct ar_node_simulation run = *all;
    struct ar_node_time half;
    run.nchunks = p->simulated = smaller(p->nchunks, CHUNKS_MOST);
    int error = ar_node_simulate(&p->end, &run);
    if (error || p->simulated == p->nchunks)
        return error;
    run.nchunks = p->simulated / 2;
    error = ar_node_simulate(&half, &run);
    if (error)
        return error;
    const double more = (nchunks - (double)p->simulated) / (double)(p->simulated - run.nchunks);
    const double at = p->end.at + more * (p->end.at - half.at);
    for (int i = 0; i < AR_NODE_PARTS; i++)
        p->end.parts[i] *= at / p->end.at;
    p->end.at = at;
    return AR_OK;
}

/* Predicts all but what the groups say. */
static int
predict(struct ar_node_prediction *p, const struct ar_question *q, struct ar_emission *chunk)
{
    struct ar_accesses *all = NULL;
    const double nchunks = chunk->count > 0 ? (double)q->count / (double)chunk->count : 1;
    p->nchunks = chunk->count > 0 ? (q->count + chunk->count - 1) / chunk->count : 1;
    const int emitted = find_accesses(&all, q, chunk);
    if (emitted)
        return emitted;
    const struct ar_node_simulation run = {.machine = q->machine,
                                           .ranks = all,
                                           .nranks = q->nranks,
                                           .element_bytes = q->element_bytes,
                                           .takes_back = p->nchunks == 1};
    p->nstages = all[0].nstages;
    int error = ar_lines_count(&p->lines, q->machine, all, q->nranks, q->element_bytes);
    if (!error)
        error = simulate_chunks(p, &run, nchunks);
    free_accesses(all, q->nranks);
    if (error)
        return error;
    for (int l = 0; l < q->machine->ndomains; l++) {
        p->lines.all[l] *= p->nchunks;
        p->lines.most[l] *= p->nchunks;
    }
    p->bound = ar_node_bound_find(q->machine, q->nranks, (double)(q->count * q->element_bytes));
    const double memory = p->bound.limits[AR_NODE_LIMIT_MEMORY];
    if (memory > p->end.at) {
        p->end.parts[AR_NODE_MEMORY] += memory - p->end.at;
        p->end.at = memory;
    }
    return AR_OK;
}

/* Elements of a chunk, and which form short vectors have, as the executor's plan has them. */
static void
find_form(const struct ar_question *q, struct ar_emission *chunk, struct ar_params *params)
{
    const struct ar_shm_tuning tuning = ar_shm_tune(q->nranks, AR_USUAL_CACHE, false);
    const size_t segment = q->count > 0 ? ar_params_segment(params, q->count, q->element_bytes) : 0;
    chunk->count = smaller(smaller(q->count, segment), tuning.chunk_bytes / q->element_bytes);
    chunk->count += chunk->count == 0 && q->count > 0;
    params->whole_bytes = ar_shm_whole(&tuning, params, q->count, chunk->count, q->element_bytes);
}

int
ar_node_predict(struct ar_node_prediction *prediction, const struct ar_question *q)
{
    struct ar_node_prediction p = {.nchunks = 0};
    struct ar_grouping grouping;
    struct ar_domains domains;
    int *const room = malloc((size_t)q->nranks * AR_DOMAINS * sizeof *room);
    if (!room)
        return AR_ERR_MEMORY;
    struct ar_params params = q->choice->params;
    struct ar_emission chunk = {q->choice->algorithm, &params, q->nranks, 0};
    ar_machine_domains(&domains, room, q->machine, NULL, q->nranks);
    int error = AR_OK;
    if (params.levels.kind == AR_LEVELS_AUTO)
        error = ar_levels_auto(&params.levels, &domains, q->count * q->element_bytes);
    if (!error)
        error = ar_levels_group(&grouping, &p.levels, &params.levels, &domains, q->nranks);
    if (!error) {
        params.domains = &domains;
        params.grouping = &grouping;
        params.copy = AR_COPY_SLOTS;
        find_form(q, &chunk, &params);
        p.up_and_down = up_and_down(q->machine, &grouping);
        error = predict(&p, q, &chunk);
        ar_grouping_fini(&grouping);
    }
    free(room);
    if (!error)
        *prediction = p;
    return error;
}

/* --- the bound --- */

const char *const ar_node_limit_names[] = {"latency", "own work", "lines", "links", "memory", NULL};

/* The domains of a level that have ranks. */
static int
count_domains(const struct ar_machine *m, int nranks, int level)
{
    return (nranks + m->domains[level].ranks - 1) / m->domains[level].ranks;
}

/* Of a rank, for each byte of the vector. */
static double
own_per_byte(const struct ar_machine *m, int nranks)
{
    const double copied = nranks * m->copy_per_byte;
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
ar_node_bound_find(const struct ar_machine *m, int nranks, double bytes)
{
    struct ar_node_bound bound = {
        .limits = {
            [AR_NODE_LIMIT_LATENCY] = m->domains[ar_lines_level(m, 0, nranks - 1)].latency,
            [AR_NODE_LIMIT_OWN] = bytes * own_per_byte(m, nranks),
            [AR_NODE_LIMIT_LINES] = bytes * lines_per_byte(m, nranks),
            [AR_NODE_LIMIT_LINKS] = bytes * links_per_byte(m, nranks),
            [AR_NODE_LIMIT_MEMORY] = memory_time(m, nranks, bytes),
        }};
    for (int i = 0; i < AR_NODE_LIMITS; i++)
        if (bound.limits[i] > bound.limits[bound.most])
            bound.most = (enum ar_node_limit)i;
    return bound;
}
