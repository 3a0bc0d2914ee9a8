#include "model/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "model/instep.h"
#include "schedule/cost.h"

/* Of a long row of segments as many windows are simulated as the steps allow, up to most.  The
 * first fills the network and the last drains it: the others' pace is known to some 1 % (root mean
 * square) of 16 windows, 5 % of 4, 10 % of fewer. */
#define WINDOWS_FEW  4
#define WINDOWS_MOST 16

/* So many times the steps that are allowed, by one rank's count, are too many: not worth trying. */
#define TOO_MANY 2

static double
larger(double x, double y)
{
    return x > y ? x : y;
}

/* --- the question --- */

struct asked {
    const struct ar_question *q;
    struct ar_network network;
    size_t segment; /* elements */
    size_t padded;  /* the same, but enough for no rank's block to be empty */
    size_t nsegments;
    size_t simulated;
    int window;
    size_t steps; /* of one rank and segment */
    double busy;  /* of a segment's time a rank or a link, at most: ns */
    double alone; /* a segment that no other hinders: ns; where few are simulated */
};

static void
cut(struct asked *a)
{
    const struct ar_question *const q = a->q;
    a->segment = ar_algorithm_segment(q->choice->algorithm, &q->choice->params, q->nranks, q->count,
                                      q->element_bytes, q->scratch_bytes);
    a->nsegments = q->count ? (q->count + a->segment - 1) / a->segment : 1;
    a->padded = a->segment > (size_t)q->nranks ? a->segment : (size_t)q->nranks;
    a->window = q->choice->params.window;
    if ((size_t)a->window > a->nsegments)
        a->window = (int)a->nsegments;
}

/* Segments of so many windows. */
static size_t
row_of(const struct asked *a, size_t windows)
{
    const size_t segments = windows * (size_t)a->window;
    return a->nsegments < segments ? a->nsegments : segments;
}

/* Settles how many segments of so many ranks are simulated; some ranks take more steps than the
 * one that was looked at. */
static void
cut_row(struct asked *a, int nactors)
{
    const size_t steps = TOO_MANY * a->steps * (size_t)nactors + 1;
    size_t windows = a->q->most_steps / (steps * (size_t)a->window);
    if (windows > WINDOWS_MOST)
        windows = WINDOWS_MOST;
    a->simulated = row_of(a, windows > 0 ? windows : 1);
}

/* --- the simulation --- */

static void
tell_link(struct ar_prediction *p, const struct ar_network *net, double end)
{
    const size_t link = ar_network_busiest(net);
    p->busiest = end > 0 ? net->links[link].busy / end : 0;
    ar_network_name(net, link, p->link, sizeof p->link);
}

static bool
are_few(const struct asked *a)
{
    return a->simulated < a->nsegments && a->simulated < row_of(a, WINDOWS_FEW);
}

/* Of few segments: what is busiest, and so many at once as take their time alone, would let them
 * go on faster than they do; those that began together hinder each other more than later ones. */
static double
pace_of_few(const struct ar_moment *ended, const struct asked *a)
{
    const size_t window = (size_t)a->window, n = a->simulated;
    double times = 0;
    for (size_t i = 0; i < n; i++)
        times += ended[i].at - (i < window ? 0 : ended[i - window].at);
    return sqrt(times / (double)(n * window) * larger(a->busy, a->alone / (double)window));
}

/* From the end of one segment to the next, in the second half of what is simulated; not in the
 * last window, behind which nothing comes.  Never less than what is busiest takes. */
static double
pace(const struct ar_moment *ended, const struct asked *a)
{
    const size_t from = a->simulated / 2, to = a->simulated - (size_t)a->window;
    if (are_few(a))
        return pace_of_few(ended, a);
    return larger((ended[to - 1].at - ended[from - 1].at) / (double)(to - from), a->busy);
}

/* What is not simulated goes on as it did. */
static void
add_others(struct ar_prediction *p, const struct ar_moment *ended, const struct asked *a)
{
    p->end = ended[a->simulated - 1];
    if (a->simulated == a->nsegments)
        return;
    p->pace = pace(ended, a);
    p->end.at += p->pace * (double)(a->nsegments - a->simulated);
    const double factor = p->end.at / ended[a->simulated - 1].at;
    for (int i = 0; i < AR_PARTS; i++)
        p->end.parts[i] *= factor;
}

static size_t
ports_of(const struct ar_program *p)
{
    size_t most = 0;
    for (size_t k = 0; k < p->nrounds; k++) {
        const size_t n = p->rounds[k + 1].first_receive - p->rounds[k].first_receive;
        most = n > most ? n : most;
    }
    return most;
}

/* What the busiest rank does itself in a run of the program. */
static double
work_of(const struct ar_program *p, const struct ar_network *net, double element_bytes)
{
    const struct ar_machine *const m = net->machine;
    double most = 0;
    for (int actor = 0; actor < p->cast.nactors; actor++) {
        double work = 0;
        for (size_t k = p->first_round[actor]; k < p->first_round[actor + 1]; k++) {
            const struct ar_program_round *const round = &p->rounds[k];
            for (size_t i = round[0].first_send; i < round[1].first_send; i++)
                work += ar_network_travel(net, p->messages[i].from, p->messages[i].to)->overhead;
            for (size_t i = round[0].first_receive; i < round[1].first_receive; i++) {
                const struct ar_program_message *const got = &p->messages[p->receives[i]];
                work += ar_network_travel(net, got->from, got->to)->overhead;
            }
            work += element_bytes * ((double)round->reduced * m->reduce_per_byte +
                                     (double)round->copied * m->copy_per_byte);
        }
        most = larger(most, work);
    }
    return most;
}

static void
conclude(struct ar_prediction *p, const struct ar_moment *ended, struct asked *a,
         const struct ar_program *full, double element_bytes)
{
    const double end = ended[a->simulated - 1].at;
    p->ports = ports_of(full);
    p->simulated = a->simulated;
    p->messages = full->nmessages * a->simulated;
    tell_link(p, &a->network, end);
    a->busy =
        larger(p->busiest * end / (double)a->simulated, work_of(full, &a->network, element_bytes));
    add_others(p, ended, a);
}

static int
run(struct ar_prediction *p, struct asked *a, const struct ar_program *full,
    const struct ar_program *tail, double element_bytes)
{
    struct ar_trial one = {.full = full,
                           .network = &a->network,
                           .element_bytes = element_bytes,
                           .nsegments = 1,
                           .window = 1};
    struct ar_trial row = one;
    row.tail = a->simulated == a->nsegments ? tail : NULL;
    row.nsegments = a->simulated;
    row.window = a->window;
    struct ar_moment *ended = malloc(a->simulated * sizeof *ended);
    int error = ended ? AR_OK : AR_ERR_MEMORY;
    if (!error && are_few(a)) {
        error = ar_simulate(&one, ended);
        a->alone = ended[0].at;
    }
    if (!error)
        error = ar_simulate(&row, ended);
    if (!error)
        conclude(p, ended, a, full, element_bytes);
    free(ended);
    return error;
}

/* An element of the padded segment, which stands for a part of one. */
static double
padded_bytes(const struct asked *a)
{
    const size_t count = a->q->count < a->segment ? a->q->count : a->segment;
    return (double)a->q->element_bytes * (double)count / (double)a->padded;
}

/* Of all ranks; AR_ERR_PARAM where that takes too many steps. */
static int
simulate_all(struct ar_prediction *p, struct asked *a)
{
    const struct ar_question *const q = a->q;
    const struct ar_algorithm *const row = q->choice->algorithm;
    const struct ar_params *const params = &q->choice->params;
    const struct ar_cast cast = {AR_SYMMETRY_NONE, q->nranks, q->nranks};
    cut_row(a, q->nranks);
    const size_t rest = q->count % a->segment, most = q->most_steps / a->simulated;
    const bool has_tail = a->nsegments > 1 && rest > 0 && a->simulated == a->nsegments;
    struct ar_program full, tail = {.nrounds = 0};
    int error = ar_program_init(&full, &cast, row, params,
                                q->count < a->segment ? q->count : a->segment, most);
    if (error)
        return error;
    if (has_tail)
        error = ar_program_init(&tail, &cast, row, params, rest, most);
    if (!error)
        error = run(p, a, &full, has_tail ? &tail : NULL, (double)q->element_bytes);
    ar_program_fini(&tail);
    ar_program_fini(&full);
    p->how = are_few(a) ? AR_HOW_FIRST : AR_HOW_SIMULATED;
    p->nactors = q->nranks;
    return error;
}

/* Of ranks that stand for others; a short last segment passes for a whole one. */
static int
simulate_cast(struct ar_prediction *p, struct asked *a, const struct ar_cast *cast)
{
    const struct ar_question *const q = a->q;
    struct ar_program full;
    cut_row(a, cast->nactors);
    int error = ar_program_init(&full, cast, q->choice->algorithm, &q->choice->params, a->padded,
                                q->most_steps / a->simulated);
    if (error)
        return error;
    error = run(p, a, &full, NULL, padded_bytes(a));
    ar_program_fini(&full);
    p->how = are_few(a) ? AR_HOW_FIRST : AR_HOW_SYMMETRY;
    p->nactors = cast->nactors;
    return error;
}

/* --- too many ranks to simulate them all --- */

/* Ranks placed in blocks that fill their nodes, on a network whose nodes are all alike. */
static bool
is_even(const struct asked *a)
{
    const int nodes = a->network.nnodes, per_node = a->q->nranks / nodes;
    if (a->q->machine->nlevels > 0 || a->q->nranks % nodes > 0)
        return false;
    for (int r = 0; r < a->q->nranks; r++)
        if (a->network.node_of[r] != r / per_node)
            return false;
    return true;
}

/* One segment takes so long, and of it a rank or link is busy: the others follow as that lets
 * them, and so many at once as the window does. */
static struct ar_moment
in_a_row(const struct asked *a, struct ar_moment segment, double busy)
{
    const double n = (double)a->nsegments;
    const double all = larger(segment.at + busy * (n - 1), segment.at * n / a->window);
    struct ar_moment end = segment;
    for (int i = 0; i < AR_PARTS && segment.at > 0; i++)
        end.parts[i] *= all / segment.at;
    end.at = all;
    return end;
}

static int
step_through(struct ar_prediction *p, struct asked *a)
{
    struct ar_instep step;
    const int error = ar_instep(&step, a->q, &a->network, a->padded, padded_bytes(a));
    if (error)
        return error;
    p->end = in_a_row(a, step.segment, step.busy);
    p->ports = step.ports;
    p->how = step.regular ? AR_HOW_IN_STEP : AR_HOW_ROUNDS;
    return AR_OK;
}

/* Of a row of segments that would take too many steps, the first. */
static int
simulate_first(struct ar_prediction *p, struct asked *a)
{
    struct asked first = *a;
    first.nsegments = 1;
    first.window = 1;
    const int error = simulate_all(p, &first);
    if (error)
        return error;
    const double link = p->busiest * p->end.at * (double)a->nsegments;
    p->end = in_a_row(a, p->end, first.busy);
    p->busiest = p->end.at > 0 ? link / p->end.at : 0;
    p->how = AR_HOW_FIRST;
    return AR_OK;
}

/* Up to this part of the steps that are allowed, no shorter way is looked for. */
#define FEW 16

/* Of many steps; one: a rank's, in step with itself. */
static int
find_shorter(struct ar_prediction *p, struct asked *a, const struct ar_instep *one)
{
    const struct ar_question *const q = a->q;
    const size_t steps = one->steps * (size_t)q->nranks / TOO_MANY;
    struct ar_cast cast = {AR_SYMMETRY_NONE, q->nranks, q->nranks};
    int error = AR_OK;
    p->end = in_a_row(a, one->segment, one->busy);
    p->ports = one->ports;
    p->how = AR_HOW_GLANCE;
    if (q->limit > 0 && p->end.at > q->limit)
        return AR_OK;
    if (is_even(a))
        error = ar_cast_find(&cast, q->nranks / a->network.nnodes, q->choice->algorithm,
                             &q->choice->params, a->padded);
    if (error)
        return error;
    if (cast.symmetry != AR_SYMMETRY_NONE)
        error = simulate_cast(p, a, &cast);
    if (cast.symmetry == AR_SYMMETRY_NONE || error == AR_ERR_PROOF) /* the samples deceived */
        error = steps > q->most_steps / row_of(a, 1) ? AR_ERR_PARAM : simulate_all(p, a);
    if (error == AR_ERR_PARAM && a->nsegments > 1 && steps <= q->most_steps)
        error = simulate_first(p, a);
    return error == AR_ERR_PARAM ? step_through(p, a) : error;
}

static int
predict(struct ar_prediction *p, struct asked *a)
{
    const struct ar_question *const q = a->q;
    struct ar_instep one;
    const int error = ar_instep_rank(&one, q, &a->network, a->padded, padded_bytes(a));
    if (error)
        return error;
    a->steps = one.steps;
    if (one.steps * (size_t)q->nranks > q->most_steps / row_of(a, 1) / FEW)
        return find_shorter(p, a, &one);
    const int failed = simulate_all(p, a);
    return failed == AR_ERR_PARAM ? find_shorter(p, a, &one) : failed;
}

/* Asks of a choice whose nodes are indexed. */
static int
ask(struct ar_prediction *prediction, const struct ar_question *question)
{
    struct asked a = {.q = question};
    int error = ar_network_init(&a.network, question->machine, question->choice->params.node_of,
                                question->nranks);
    if (error)
        return error;
    cut(&a);
    prediction->nsegments = a.nsegments;
    error = predict(prediction, &a);
    ar_network_fini(&a.network);
    return error;
}

int
ar_predict(struct ar_prediction *prediction, const struct ar_question *question)
{
    struct ar_node_index index;
    struct ar_choice choice = *question->choice;
    struct ar_question indexed = *question;
    memset(prediction, 0, sizeof *prediction);
    int error = ar_node_index_init(&index, choice.params.node_of, question->nranks);
    if (error)
        return error;
    choice.params.node_index = &index;
    indexed.choice = &choice;
    error = ask(prediction, &indexed);
    ar_node_index_fini(&index);
    return error;
}

/* --- the bound --- */

/* Bytes that n units must send or receive each, at their best. */
static double
moved(double bytes, int n)
{
    return n > 1 ? 2 * bytes * (n - 1) / n : 0;
}

double
ar_predict_bound(const struct ar_machine *m, const int *node_of, int nranks, size_t bytes,
                 size_t ports)
{
    const double n = (double)bytes;
    if (ports == 0) /* nobody waits for anybody: there is one rank, or nothing to reduce */
        return 0;
    const int nnodes = ar_nodes_count(node_of, nranks);
    const int per_node = (nranks + nnodes - 1) / nnodes;
    const double near = m->node.latency + m->node.overhead;
    const double far = m->network.latency + m->network.overhead;
    double bound = n * (nranks - 1) / nranks * m->reduce_per_byte;
    if (nnodes == 1) {
        bound = larger(bound, near * (double)ar_bound_rounds(nranks, ports));
        return larger(bound, moved(n, nranks) * m->node.per_byte);
    }
    bound = larger(bound, far * (double)ar_bound_rounds(nnodes, ports * (size_t)per_node));
    bound = larger(bound, moved(n, nnodes) * m->network.per_byte);
    for (int l = 0; m->shape == AR_SHAPE_SWITCHES && l < m->nlevels; l++)
        bound = larger(bound, moved(n, (nnodes + m->levels[l].nodes - 1) / m->levels[l].nodes) *
                                  m->levels[l].per_byte);
    return bound;
}
