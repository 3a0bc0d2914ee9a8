/* The calls of a run on another machine, by its model. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "select/number.h"
#include "tuning/advise.h"

/* Communicators of one size there. */
struct group {
    int nranks;
    int *node_of; /* owned */
    struct ar_advice_request request;
    struct ar_advice advice; /* what auto goes by */
};

struct there {
    const struct ar_facts *facts;
    struct ar_machine machine;
    int here;   /* ranks of the program */
    int nranks; /* the same there */
    struct group *groups;
    size_t ngroups;
    double gain; /* ns of all ranks, by auto */
};

/* Microseconds of a call; NAN: the model does not know. */
struct times {
    double as_ran, by_auto;
};

/* --- groups --- */

/* Communicators grow as the program does, and have two ranks at least. */
static int
ranks_of(const struct there *there, const struct ar_row *row)
{
    const int here = there->here;
    const long long scaled = ((long long)row->key.nranks * there->nranks + here / 2) / here;
    return scaled < 2 ? 2 : scaled > there->nranks ? there->nranks : (int)scaled;
}

/* AR_OK, AR_ERR_MEMORY, or an error of ar_advise. */
static int
add_group(struct there *there, int nranks)
{
    struct group *const g = &there->groups[there->ngroups];
    *g = (struct group){.nranks = nranks, .node_of = ar_machine_place(&there->machine, nranks)};
    if (!g->node_of)
        return AR_ERR_MEMORY;
    there->ngroups++;
    g->request = (struct ar_advice_request){.machine = &there->machine,
                                            .node_of = g->node_of,
                                            .nranks = nranks,
                                            .shares_memory = true,
                                            .scratch_bytes = AR_CLI_SCRATCH};
    return ar_advise(&g->advice, &g->request);
}

static const struct group *
find_group(const struct there *there, int nranks)
{
    size_t i = 0;
    while (i < there->ngroups && there->groups[i].nranks != nranks)
        i++;
    return i < there->ngroups ? &there->groups[i] : NULL;
}

/* The files of single ranks need not be those of all ranks. */
static int
ranks_of_job(const struct ar_facts *facts)
{
    int most = facts->run->ranks;
    for (size_t i = 0; i < facts->n; i++)
        most = facts->facts[i].row->key.nranks > most ? facts->facts[i].row->key.nranks : most;
    return facts->run->world ? facts->run->world : most;
}

/* Is there anything to predict, and a time beside which to put it? */
static bool
counts(const struct ar_fact *fact)
{
    return fact->cause != AR_CAUSE_UNTIMED && fact->row->key.nranks > 1 && fact->bytes >= 1;
}

static int
make_groups(struct there *there)
{
    int error = AR_OK;
    there->groups = calloc(there->facts->n + 1, sizeof *there->groups);
    if (!there->groups)
        return AR_ERR_MEMORY;
    for (size_t i = 0; i < there->facts->n && !error; i++) {
        const struct ar_fact *const fact = &there->facts->facts[i];
        const int nranks = ranks_of(there, fact->row);
        if (counts(fact) && !find_group(there, nranks))
            error = add_group(there, nranks);
    }
    return error;
}

/* --- times --- */

int
ar_ran_predict(struct ar_prediction *prediction, bool *is_known, const struct ar_machine *machine,
               const int *node_of, int nranks, struct ar_choice choice, double bytes)
{
    const size_t element = bytes >= 4 ? 4 : 1;
    *is_known = choice.kind == AR_CHOICE_ALGORITHM &&
                !(choice.algorithm->shares_memory && ar_nodes_count(node_of, nranks) > 1);
    if (!*is_known)
        return AR_OK;
    choice.params.node_of = node_of;
    const struct ar_question question = {
        .machine = machine,
        .choice = &choice,
        .nranks = nranks,
        .count = (size_t)bytes / element,
        .element_bytes = element,
        .scratch_bytes = AR_CLI_SCRATCH,
        .most_steps = AR_PREDICT_STEPS,
    };
    return ar_predict(prediction, &question);
}

/* *ns: NAN where the model does not know. */
static int
predict(double *ns, const struct group *g, struct ar_choice choice, double bytes)
{
    struct ar_prediction prediction;
    bool is_known;
    const int error = ar_ran_predict(&prediction, &is_known, g->request.machine, g->node_of,
                                     g->nranks, choice, bytes);
    *ns = is_known && !error ? prediction.end.at : NAN;
    return error;
}

static const struct ar_choice *
advised(const struct group *g, double bytes)
{
    int i = 0;
    while (i < g->advice.n - 1 && (double)g->advice.entries[i].bytes < bytes)
        i++;
    return &g->advice.entries[i].best[0].choice;
}

static int
find_times(struct times *times, const struct group *g, const struct ar_fact *fact)
{
    struct ar_choice ran;
    if (!ar_ran_read(&ran, fact->row->key.ran))
        ran = (struct ar_choice){.kind = AR_CHOICE_NATIVE};
    int error = predict(&times->as_ran, g, ran, fact->bytes);
    if (!error)
        error = predict(&times->by_auto, g, *advised(g, fact->bytes), fact->bytes);
    return error;
}

/* --- printing --- */

static void
print_us(double ns)
{
    char text[AR_NUMBER_TEXT];
    printf(" %10s", ar_number_print(ns * 1e-3, text, sizeof text));
}

static void
print_line(const struct group *g, const struct ar_fact *fact, const struct times *times)
{
    const struct ar_row *const row = fact->row;
    char size[AR_ROW_SIZE_TEXT], best[AR_CHOICE_TEXT];
    printf("%9.0f %6d %7s", (double)row->counts.calls / (row->ranks ? row->ranks : 1), g->nranks,
           ar_row_size_print(row, size));
    print_us(fact->own_ns);
    print_us(times->as_ran);
    print_us(times->by_auto);
    printf("  %-24s %s\n", row->key.ran,
           ar_choice_print(advised(g, fact->bytes), best, sizeof best));
}

static char *
print_seconds(const struct there *there, double ns, char *text, size_t room)
{
    return ar_time_print(1e9 * ar_facts_seconds(there->facts, ns), text, room);
}

/* What the lines come to.  as_ran: NAN where the model does not know a line's. */
static void
print_sums(const struct there *there, double here, double as_ran, double by_auto)
{
    char text[AR_NUMBER_TEXT];
    printf("\non average a rank spent %s in the algorithms here; there it takes ",
           print_seconds(there, here, text, sizeof text));
    if (!isnan(as_ran))
        printf("%s with what ran here, ", print_seconds(there, as_ran, text, sizeof text));
    printf("%s with auto\n", print_seconds(there, by_auto, text, sizeof text));
    if (isnan(as_ran))
        printf("-: the model has no time for native, exact sums, and shm across nodes\n");
}

static int
print_rules(const struct there *there)
{
    for (size_t i = 0; i < there->ngroups; i++) {
        char *const rules = ar_advice_rules(&there->groups[i].advice, 0, 0);
        if (!rules)
            return AR_ERR_MEMORY;
        printf("auto there on %d rank%s: %s\n", there->groups[i].nranks,
               ar_plural((size_t)there->groups[i].nranks), rules);
        free(rules);
    }
    return AR_OK;
}

static int
print_all(struct there *there)
{
    const struct ar_facts *const facts = there->facts;
    double here = 0, as_ran = 0, by_auto = 0, untimed = 0;
    int error = AR_OK;
    printf("\non %d rank%s of: %s, by its model, with no rank late\n\n%9s %6s %7s %10s %10s %10s  "
           "%-24s %s\n",
           there->nranks, ar_plural((size_t)there->nranks),
           *there->machine.title ? there->machine.title : "a machine without a title", "calls",
           "ranks", "size", "here us", "there us", "by auto us", "ran here", "auto there");
    for (size_t i = 0; i < facts->n && !error; i++) {
        const struct ar_fact *const fact = &facts->facts[i];
        const struct group *const g = find_group(there, ranks_of(there, fact->row));
        const double calls = (double)fact->row->counts.calls;
        struct times times;
        untimed += fact->cause == AR_CAUSE_UNTIMED ? calls / facts->run->ranks : 0;
        if (!counts(fact))
            continue;
        error = find_times(&times, g, fact);
        if (error)
            break;
        print_line(g, fact, &times);
        here += calls * fact->own_ns;
        as_ran += calls * times.as_ran;
        by_auto += calls * times.by_auto;
    }
    if (!error) {
        print_sums(there, here, as_ran, by_auto);
        if (untimed > 0)
            printf("not predicted: %.0f call%s on a rank that were not timed here\n", untimed,
                   ar_plural((size_t)untimed));
        error = print_rules(there);
    }
    return error;
}

static int
tell_error(const struct there *there, int error)
{
    if (error == AR_ERR_PARAM)
        fprintf(stderr,
                "allreduce report: --machine: it has too few places for the nodes of %d ranks\n",
                there->nranks);
    else if (error)
        fprintf(stderr, "allreduce report: %s\n",
                error == AR_ERR_MEMORY ? "out of memory" : "an algorithm failed");
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}

/* Makes the groups, does what is to be done, and tells what went wrong.  An enum ar_exit. */
static int
look_there(struct there *there, int (*what)(struct there *))
{
    int error = make_groups(there);
    if (!error)
        error = what(there);
    for (size_t i = 0; i < there->ngroups; i++)
        free(there->groups[i].node_of);
    free(there->groups);
    return tell_error(there, error);
}

int
ar_report_print_machine(const struct ar_facts *facts, const struct ar_machine *machine, int nranks)
{
    const int here = ranks_of_job(facts);
    struct there there = {
        .facts = facts, .machine = *machine, .here = here, .nranks = nranks ? nranks : here};
    if (facts->run->ranks < 1) {
        fprintf(stderr, "allreduce report: --machine: %s has no ranks\n", facts->run->path);
        return AR_EXIT_FAILED;
    }
    return look_there(&there, print_all);
}

static int
add_gains(struct there *there)
{
    int error = AR_OK;
    for (size_t i = 0; i < there->facts->n && !error; i++) {
        const struct ar_fact *const fact = &there->facts->facts[i];
        const struct group *const g = find_group(there, fact->row->key.nranks);
        double by_auto;
        if (!counts(fact) || ar_row_why_fixed(fact->row))
            continue;
        error = predict(&by_auto, g, *advised(g, fact->bytes), fact->bytes);
        if (!error && by_auto < fact->own_ns)
            there->gain += (double)fact->row->counts.calls * (fact->own_ns - by_auto);
    }
    return error;
}

double
ar_report_gain(const struct ar_facts *facts, const struct ar_machine *machine)
{
    const int nranks = ranks_of_job(facts);
    struct there there = {.facts = facts, .machine = *machine, .here = nranks, .nranks = nranks};
    return look_there(&there, add_gains) == AR_EXIT_DONE ? there.gain : NAN;
}
