#include "model/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "model/formula.h"
#include "model/node_predict.h"

/* Of many segments as many windows are simulated as the steps allow, but no more than these.  The
 * first window fills the network and the last one drains it; from those in between follows how
 * fast the other segments go on, with an error (root mean square) of some 1 % from 16 windows, 5 %
 * from 4, 10 % from fewer. */
#define WINDOWS_FEW  4
#define WINDOWS_MOST 16

/* Some ranks take more steps than the one whose steps were counted: up to so many times as many. */
#define STEPS_MARGIN 2

/* Up to this part of the steps that are allowed, all ranks are simulated at once. */
#define PART_FOR_ALL 16

/* So many steps of ranks in lockstep are always looked at, or so many times as many as may be
 * simulated, since looking at a step takes a part of the time of simulating it. */
#define LOCKSTEP_LEAST  ((size_t)1 << 16)
#define LOCKSTEP_MARGIN 4

/* Schedules are looked at if they have at most so many rounds, or at most this part of the steps
 * that are allowed: finding out which ranks are alike takes some dozens of schedules. */
#define ROUNDS_LEAST    ((size_t)1 << 13)
#define PART_FOR_ROUNDS 16
#define STEPS_OF_ROUND  4

struct predictor {
    const struct ar_question *q; /* of a choice with its nodes and groups */
    struct ar_prediction *p;
    struct ar_network network;
    size_t segment; /* elements */
    size_t padded;  /* the same, but enough for no rank's block to be empty */
    size_t nsegments;
    size_t simulated; /* segments */
    int window;
    size_t steps; /* of one rank and segment */
    double busy;  /* of a segment's time a rank or a link, at most: ns */
    double alone; /* ns that a segment takes that no other hinders; where few are simulated */
};

static size_t
segments_of(const struct predictor *a, size_t windows)
{
    const size_t segments = windows * (size_t)a->window;
    return a->nsegments < segments ? a->nsegments : segments;
}

static bool
are_few(const struct predictor *a)
{
    return a->simulated < a->nsegments && a->simulated < segments_of(a, WINDOWS_FEW);
}

/* --- the simulation --- */

/* What the busiest rank does itself in a run of the program, and those that share its core. */
static double
work_of(const struct ar_program *p, const struct ar_network *net, double element_bytes)
{
    const struct ar_machine *const m = net->machine;
    double most = 0;
    for (int rank = 0; rank < p->sample.size; rank++) {
        double work = 0;
        for (size_t k = p->first_round[rank]; k < p->first_round[rank + 1]; k++) {
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
        most = fmax(most, work);
    }
    return net->crowd * most;
}

/* The time from the end of one segment to the end of the next, in the second half of those that
 * are simulated, but not in the last window, behind which nothing comes.  It is never less than
 * what is busiest takes. */
static double
pace_of(const struct predictor *a, const struct ar_moment *ended)
{
    const size_t window = (size_t)a->window, n = a->simulated, from = n / 2, to = n - window;
    if (!are_few(a))
        return fmax((ended[to - 1].at - ended[from - 1].at) / (double)(to - from), a->busy);
    /* The mean of few is too long, since segments that began together hinder each other more than
     * later ones.  What is busiest, and a window of segments as fast as one alone, is too short.
     * The answer lies between them. */
    double times = 0;
    for (size_t i = 0; i < n; i++)
        times += ended[i].at - (i < window ? 0 : ended[i - window].at);
    return sqrt(times / (double)(n * window) * fmax(a->busy, a->alone / (double)window));
}

static void
conclude(struct predictor *a, const struct ar_moment *ended, const struct ar_program *full,
         double element_bytes)
{
    struct ar_prediction *const p = a->p;
    const size_t link = ar_network_busiest(&a->network);
    size_t last = 0; /* to end: a short last segment may pass the others */
    for (size_t i = 1; i < a->simulated; i++)
        last = ended[i].at >= ended[last].at ? i : last;
    const double end = ended[last].at;
    p->quality = are_few(a) ? AR_QUALITY_APPROXIMATE : AR_QUALITY_SIMULATED;
    p->end = ended[last];
    p->nsampled = full->sample.size;
    p->simulated = a->simulated;
    p->messages = full->nmessages * a->simulated;
    p->steps += full->nsteps * a->simulated;
    p->busiest = end > 0 ? a->network.links[link].busy / end : 0;
    ar_network_name(&a->network, link, p->link, sizeof p->link);
    p->ports = 0;
    for (size_t k = 0; k < full->nrounds; k++) {
        const size_t n = full->rounds[k + 1].first_receive - full->rounds[k].first_receive;
        p->ports = n > p->ports ? n : p->ports;
    }
    a->busy =
        fmax(p->busiest * end / (double)a->simulated, work_of(full, &a->network, element_bytes));
    if (a->simulated == a->nsegments)
        return;
    p->pace = pace_of(a, ended);
    p->end.at += p->pace * (double)(a->nsegments - a->simulated);
    for (int i = 0; i < AR_PARTS; i++)
        p->end.parts[i] *= p->end.at / end;
}

static int
run(struct predictor *a, const struct ar_program *full, const struct ar_program *tail,
    double element_bytes)
{
    const struct ar_simulation all = {.full = full,
                                      .tail = tail,
                                      .network = &a->network,
                                      .element_bytes = element_bytes,
                                      .nsegments = a->simulated,
                                      .window = a->window};
    struct ar_moment *ended = malloc(a->simulated * sizeof *ended);
    int error = ended ? AR_OK : AR_ERR_MEMORY;
    if (!error && are_few(a)) {
        struct ar_simulation one = all;
        one.nsegments = 1;
        one.window = 1;
        error = ar_simulate(&one, ended);
        a->alone = ended[0].at;
    }
    if (!error)
        error = ar_simulate(&all, ended);
    if (!error)
        conclude(a, ended, full, element_bytes);
    free(ended);
    return error;
}

/* Bytes of an element of the padded segment, which stands for a part of one. */
static double
padded_bytes(const struct predictor *a)
{
    const size_t count = a->q->count < a->segment ? a->q->count : a->segment;
    return (double)a->q->element_bytes * (double)count / (double)a->padded;
}

/* Simulates the ranks of the sample.  Where they stand for others, a short last segment passes for
 * a whole one.  AR_ERR_PARAM where there are too many steps. */
static int
simulate(struct predictor *a, const struct ar_sample *sample)
{
    const struct ar_question *const q = a->q;
    const struct ar_algorithm *const row = q->choice->algorithm;
    const struct ar_params *const params = &q->choice->params;
    const bool is_all = sample->symmetry == AR_SYMMETRY_NONE;
    const size_t count = q->count < a->segment ? q->count : a->segment;
    const size_t steps = STEPS_MARGIN * a->steps * (size_t)sample->size + 1;
    size_t windows = q->most_steps / (steps * (size_t)a->window);
    windows = windows > WINDOWS_MOST ? WINDOWS_MOST : windows > 0 ? windows : 1;
    a->simulated = segments_of(a, windows);
    const size_t rest = q->count % a->segment, most = q->most_steps / a->simulated;
    const bool has_tail = is_all && a->nsegments > 1 && rest > 0 && a->simulated == a->nsegments;
    struct ar_program full = {.nrounds = 0}, tail = full;
    int error = ar_program_init(&full, sample, row, params, is_all ? count : a->padded, most);
    a->p->steps += error == AR_ERR_PARAM ? most : full.nsteps;
    if (error)
        return error;
    if (has_tail)
        error = ar_program_init(&tail, sample, row, params, rest, most);
    if (!error)
        error = run(a, &full, has_tail ? &tail : NULL,
                    is_all ? (double)q->element_bytes : padded_bytes(a));
    ar_program_fini(&tail);
    ar_program_fini(&full);
    return error;
}

/* --- too many steps to simulate them all --- */

/* Ranks placed in blocks that fill their nodes, on a network whose nodes are all alike, each rank
 * on a core of its own. */
static bool
is_even(const struct predictor *a)
{
    const int nodes = a->network.nnodes, per_node = a->q->nranks / nodes;
    if (a->q->machine->nlevels > 0 || a->q->machine->host_nodes > 0 || a->network.crowd > 1 ||
        a->q->nranks % nodes > 0)
        return false;
    for (int r = 0; r < a->q->nranks; r++)
        if (a->network.node_of[r] != r / per_node)
            return false;
    return true;
}

/* Sets when all segments end if one takes so long and keeps a rank or a link busy for so long. */
static void
follow(struct predictor *a, struct ar_moment segment, double busy, enum ar_quality quality)
{
    a->p->quality = quality;
    a->p->end = ar_moment_follow(segment, busy, a->nsegments, a->window);
}

/* Simulates the first of many segments, on all ranks. */
static int
simulate_first(struct predictor *a, const struct ar_sample *all)
{
    struct predictor first = *a;
    first.nsegments = 1;
    first.window = 1;
    const int error = simulate(&first, all);
    if (error)
        return error;
    const double link = a->p->busiest * a->p->end.at * (double)a->nsegments;
    follow(a, a->p->end, first.busy, AR_QUALITY_APPROXIMATE);
    a->p->busiest = a->p->end.at > 0 ? link / a->p->end.at : 0;
    return AR_OK;
}

static size_t
rounds_looked_at(const struct predictor *a)
{
    const size_t part = a->q->most_steps / PART_FOR_ROUNDS;
    return part > ROUNDS_LEAST ? part : ROUNDS_LEAST;
}

/* What a formula says of a segment, and of all that follow it.  It leaves out what ranks wait for
 * each other, but for what the row's card knows of it. */
static void
take(struct predictor *a, const struct ar_formula *f, bool is_of_nodes)
{
    const struct ar_formula_time time =
        ar_formula_at(f, a->q->machine, (double)a->padded * padded_bytes(a), 1);
    const bool is_good = is_of_nodes && f->is_regular;
    a->p->steps += f->steps;
    a->p->ports = f->ports;
    follow(a, time.segment, time.busy, is_good ? AR_QUALITY_APPROXIMATE : AR_QUALITY_ESTIMATE);
}

/* By the rounds of some nodes' ranks, on all levels, unless they are too many. */
static int
add_rounds(struct predictor *a)
{
    const struct ar_question *const q = a->q;
    const size_t part = LOCKSTEP_MARGIN * q->most_steps;
    const size_t most = part > LOCKSTEP_LEAST ? part : LOCKSTEP_LEAST;
    const size_t per_node = (size_t)(q->nranks / a->network.nnodes);
    struct ar_formula f;
    if (a->steps * (per_node + 1) > most)
        return AR_OK; /* one rank's answer stands */
    const int error = ar_formula_init(&f, q->choice, &a->network, a->padded, most);
    if (error)
        return error;
    take(a, &f, true);
    ar_formula_fini(&f);
    return AR_OK;
}

/* By one rank in the middle, whose steps are counted. */
static int
add_one_rank(struct predictor *a)
{
    struct ar_formula f;
    const int error = ar_formula_init_rank(&f, a->q->choice, &a->network, a->padded);
    if (error)
        return error;
    a->steps = f.steps;
    take(a, &f, false);
    ar_formula_fini(&f);
    return AR_OK;
}

/* --- the best way --- */

static int
predict(struct predictor *a)
{
    const struct ar_question *const q = a->q;
    const struct ar_sample all = {AR_SYMMETRY_NONE, q->nranks, q->nranks};
    struct ar_sample sample = all;
    if (ar_formula_is_long(q->choice, q->nranks, (double)a->padded * padded_bytes(a),
                           rounds_looked_at(a))) {
        struct ar_formula card;
        ar_formula_init_card(&card, q->choice, &a->network);
        take(a, &card, false);
        return AR_OK;
    }
    int error = add_one_rank(a);
    if (error)
        return error;
    const size_t steps = a->steps * (size_t)q->nranks;
    if (steps <= q->most_steps / segments_of(a, 1) / PART_FOR_ALL) {
        error = simulate(a, &all);
        if (error != AR_ERR_PARAM)
            return error;
    }
    if (q->limit > 0 && a->p->end.at > q->limit)
        return AR_OK;
    if (a->steps > STEPS_OF_ROUND * rounds_looked_at(a))
        return AR_OK; /* one rank's answer stands */
    error = AR_OK;
    const size_t per_node = (size_t)(q->nranks / a->network.nnodes);
    if (a->steps * per_node <= q->most_steps && is_even(a)) /* else no sample is short enough */
        error = ar_sample_find(&sample, &a->p->steps, (int)per_node, q->choice->algorithm,
                               &q->choice->params, a->padded);
    if (error)
        return error;
    if (sample.symmetry != AR_SYMMETRY_NONE)
        error = simulate(a, &sample);
    if (sample.symmetry == AR_SYMMETRY_NONE || error == AR_ERR_PROOF) /* they were not alike */
        error = steps / STEPS_MARGIN > q->most_steps / segments_of(a, 1) ? AR_ERR_PARAM
                                                                         : simulate(a, &all);
    if (error == AR_ERR_PARAM && a->nsegments > 1 && steps / STEPS_MARGIN <= q->most_steps)
        error = simulate_first(a, &all);
    return error == AR_ERR_PARAM ? add_rounds(a) : error;
}

/* The time where ranks share memory, among those of messages. */
static int
predict_node(struct ar_prediction *p, const struct ar_question *q)
{
    struct ar_node_prediction node;
    const int error = ar_node_predict(&node, q);
    if (error)
        return error;
    const double *const parts = node.end.parts;
    p->quality = AR_QUALITY_SIMULATED;
    p->end.at = node.end.at;
    p->end.parts[AR_PART_LATENCY] = parts[AR_NODE_LATENCY] + parts[AR_NODE_BACK];
    p->end.parts[AR_PART_WIRE] = parts[AR_NODE_STREAM];
    p->end.parts[AR_PART_WAITING] = parts[AR_NODE_SERVING] + parts[AR_NODE_MEMORY];
    p->end.parts[AR_PART_REDUCTION] = parts[AR_NODE_OWN];
    p->nsampled = q->nranks;
    p->nsegments = p->simulated = node.nchunks;
    p->ports = (size_t)q->nranks - 1;
    return AR_OK;
}

int
ar_predict(struct ar_prediction *prediction, const struct ar_question *question)
{
    struct ar_node_index index;
    struct ar_formula_levels levels;
    struct ar_choice choice = *question->choice;
    struct ar_question q = *question; /* of a choice whose nodes are indexed */
    struct predictor a = {.q = &q, .p = prediction};
    memset(prediction, 0, sizeof *prediction);
    if (ar_node_knows(question))
        return predict_node(prediction, question);
    int error = ar_node_index_init(&index, choice.params.node_of, q.nranks);
    if (error)
        return error;
    choice.params.node_index = &index;
    q.choice = &choice;
    error = ar_formula_group(&levels, &choice, q.machine, &index, q.nranks);
    if (!error)
        error = ar_network_init(&a.network, q.machine, choice.params.node_of, q.nranks);
    if (!error) {
        a.segment = ar_algorithm_segment(choice.algorithm, &choice.params, q.nranks, q.count,
                                         q.element_bytes, q.scratch_bytes);
        a.padded = a.segment > (size_t)q.nranks ? a.segment : (size_t)q.nranks;
        a.nsegments = q.count ? (q.count + a.segment - 1) / a.segment : 1;
        a.window = ar_algorithm_window(choice.algorithm, &choice.params, q.nranks);
        if ((size_t)a.window > a.nsegments)
            a.window = (int)a.nsegments;
        prediction->nsegments = a.nsegments;
        error = predict(&a);
        ar_network_fini(&a.network);
    }
    ar_formula_ungroup(&levels);
    ar_node_index_fini(&index);
    return error;
}
