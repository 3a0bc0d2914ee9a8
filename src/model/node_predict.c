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

/* What is asked, and the schedules of a chunk. */
struct source {
    const struct ar_question *q;
    struct ar_params params;
    struct ar_emission chunk;
    bool in_place;
};

static void
free_accesses(struct ar_accesses *all, int nranks)
{
    for (int r = 0; all && r < nranks; r++)
        ar_accesses_fini(&all[r]);
    free(all);
}

/* What a rank does with a chunk. */
static int
find_chunk(struct ar_accesses *accesses, int rank, struct source *from)
{
    const struct ar_question *const q = from->q;
    if (from->in_place)
        return ar_accesses_init_in_place(accesses, rank, q->nranks, ar_algorithm_source,
                                         &from->chunk);
    return ar_accesses_init(accesses, rank, q->nranks, q->element_bytes, ar_algorithm_source,
                            &from->chunk);
}

static int
find_meeting(struct ar_accesses *accesses, int rank, struct source *from)
{
    return ar_accesses_init_meeting(accesses, rank, from->q->nranks);
}

typedef int find_fn(struct ar_accesses *accesses, int rank, struct source *from);

/* Of all ranks; the caller's to free. */
static int
find_accesses(struct ar_accesses **all, find_fn *find, struct source *from)
{
    const int nranks = from->q->nranks;
    struct ar_accesses *const made = calloc((size_t)nranks, sizeof *made);
    int error = made ? AR_OK : AR_ERR_MEMORY, n = 0;
    while (n < nranks && !error) {
        error = find(&made[n], n, from);
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

/* --- in place --- */

#define MEETINGS 2 /* a call's, with buffers that all ranks have used before */

/* All ranks wait for all others, so that nothing overlaps with a meeting. */
static int
add_meetings(struct ar_node_prediction *p, struct source *from)
{
    const struct ar_question *const q = from->q;
    struct ar_accesses *all;
    struct ar_lines_count lines;
    struct ar_node_time end;
    int error = find_accesses(&all, find_meeting, from);
    if (error)
        return error;
    const struct ar_node_simulation run = {.machine = q->machine,
                                           .ranks = all,
                                           .nranks = q->nranks,
                                           .nchunks = 1,
                                           .element_bytes = q->element_bytes};
    error = ar_lines_count(&lines, q->machine, all, q->nranks, q->element_bytes);
    if (!error)
        error = ar_node_simulate(&end, &run);
    free_accesses(all, q->nranks);
    if (error)
        return error;
    for (int l = 0; l < q->machine->ndomains; l++) {
        p->lines.all[l] += MEETINGS * lines.all[l];
        p->lines.most[l] += MEETINGS * lines.most[l];
    }
    p->end.at += MEETINGS * end.at;
    for (int i = 0; i < AR_NODE_PARTS; i++)
        p->end.parts[i] += MEETINGS * end.parts[i];
    return AR_OK;
}

/* ns until a rank has what the others have stored in its buffer; its first line takes a latency. */
static double
reading_time(const struct ar_question *q, const struct ar_accesses *all, int rank, double nchunks)
{
    double stream = 0, latency = 0;
    for (int r = 0; r < q->nranks; r++)
        for (size_t i = 0; i < all[r].n; i++) {
            const struct ar_access *const x = &all[r].all[i];
            if (x->kind != AR_ACCESS_GIVE || x->dst.rank != rank)
                continue;
            const struct ar_machine_domain *const d =
                &q->machine->domains[ar_lines_level(q->machine, r, rank)];
            stream += (double)(x->length * q->element_bytes) * d->per_byte;
            latency = fmax(latency, d->latency);
        }
    return latency + nchunks * stream;
}

/* --- both ways --- */

/* Predicts all but what the groups say. */
static int
predict(struct ar_node_prediction *p, struct source *from)
{
    const struct ar_question *const q = from->q;
    struct ar_accesses *all = NULL;
    const double nchunks = from->chunk.count > 0 ? (double)q->count / (double)from->chunk.count : 1;
    p->nchunks = from->chunk.count > 0 ? (q->count + from->chunk.count - 1) / from->chunk.count : 1;
    const int emitted = find_accesses(&all, find_chunk, from);
    if (emitted)
        return emitted;
    const struct ar_node_simulation run = {.machine = q->machine,
                                           .ranks = all,
                                           .nranks = q->nranks,
                                           .element_bytes = q->element_bytes,
                                           .takes_back = p->nchunks == 1 && !from->in_place};
    p->nstages = all[0].nstages;
    int error = ar_lines_count(&p->lines, q->machine, all, q->nranks, q->element_bytes);
    if (!error)
        error = simulate_chunks(p, &run, nchunks);
    for (int r = 0; r < q->nranks && from->in_place; r++)
        p->later = fmax(p->later, reading_time(q, all, r, nchunks));
    free_accesses(all, q->nranks);
    if (error)
        return error;
    for (int l = 0; l < q->machine->ndomains; l++) {
        p->lines.all[l] *= p->nchunks;
        p->lines.most[l] *= p->nchunks;
    }
    if (from->in_place)
        error = add_meetings(p, from);
    if (error)
        return error;
    p->bound = ar_node_bound_find(q->machine, q->nranks, (double)(q->count * q->element_bytes),
                                  from->in_place);
    const double memory = p->bound.limits[AR_NODE_LIMIT_MEMORY];
    p->later = memory > 0 ? 0 : p->later; /* either way the result comes from memory then */
    if (memory > p->end.at) {
        p->end.parts[AR_NODE_MEMORY] += memory - p->end.at;
        p->end.at = memory;
    }
    return AR_OK;
}

/* Elements of a chunk, and which form short vectors have, as the executor's plan has them. */
static void
find_form(struct source *from)
{
    const struct ar_question *const q = from->q;
    const struct ar_params *const asked = &from->params;
    const struct ar_shm_tuning tuning = ar_shm_tune(q->nranks, AR_USUAL_CACHE, false);
    const size_t segment = q->count > 0 ? ar_params_segment(asked, q->count, q->element_bytes) : 0;
    from->chunk.count = smaller(smaller(q->count, segment), tuning.chunk_bytes / q->element_bytes);
    from->chunk.count += from->chunk.count == 0 && q->count > 0;
    from->params.whole_bytes =
        ar_shm_whole(&tuning, &from->params, q->count, from->chunk.count, q->element_bytes);
    if (from->in_place)
        from->params.whole_bytes = 0;
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
    struct source from = {.q = q, .params = q->choice->params};
    from.chunk = (struct ar_emission){q->choice->algorithm, &from.params, q->nranks, 0};
    ar_machine_domains(&domains, room, q->machine, NULL, q->nranks);
    int error = AR_OK;
    if (from.params.levels.kind == AR_LEVELS_AUTO)
        error = ar_levels_auto(&from.params.levels, &domains, q->count * q->element_bytes);
    if (!error)
        error = ar_levels_group(&grouping, &p.levels, &from.params.levels, &domains, q->nranks);
    if (!error) {
        from.params.domains = &domains;
        from.params.grouping = &grouping;
        from.in_place =
            q->choice->params.copy == AR_COPY_IN_PLACE && ar_grouping_is_even(&grouping);
        find_form(&from);
        from.params.copy = from.in_place ? AR_COPY_IN_PLACE : AR_COPY_SLOTS;
        p.in_place = from.in_place;
        p.up_and_down = up_and_down(q->machine, &grouping);
        error = predict(&p, &from);
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
