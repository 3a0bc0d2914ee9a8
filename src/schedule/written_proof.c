#include "schedule/written_proof.h"

#include <stdio.h>
#include <stdlib.h>

#include "schedule/checker.h"

size_t
ar_written_work(const struct ar_written *w)
{
    size_t work = 2 * (size_t)w->nblocks;
    for (size_t i = 0; i < w->npieces; i++)
        work += (size_t)w->pieces[i].n;
    work *= (size_t)w->nranks;
    for (int r = 0; r < w->nranks; r++)
        for (size_t i = 0; i < w->ranks[r].n; i++) {
            const struct ar_written_step *const step = &w->ranks[r].steps[i];
            work += 1 + (size_t)(step->kind == AR_SEND ? step->a.n : step->dst.n);
        }
    return work;
}

/* With an element in each block; NULL without memory. */
static struct ar_schedule *
emit_all(const struct ar_written *w)
{
    struct ar_schedule *const schedules = calloc((size_t)w->nranks, sizeof *schedules);
    for (int r = 0; schedules && r < w->nranks; r++)
        if (ar_written_emit(&schedules[r], w, r, (size_t)w->nblocks)) {
            ar_schedules_destroy(schedules, w->nranks);
            return NULL;
        }
    return schedules;
}

static void
print_blocks(char *text, size_t room, const struct ar_written_region *region)
{
    if (region->n == 1)
        snprintf(text, room, "block %d", region->first);
    else
        snprintf(text, room, "blocks %d..%d", region->first, region->first + region->n - 1);
}

static int
tell_mismatch(char why[AR_REFUTED_TEXT], const struct ar_written_mismatch *m)
{
    char sent[64], received[64];
    print_blocks(sent, sizeof sent, &m->send->a);
    print_blocks(received, sizeof received, &m->receive->dst);
    snprintf(why, AR_REFUTED_TEXT,
             "line %d: refuted: rank %d sends %s to rank %d, which receives %s (line %d)",
             m->send->line, m->from, sent, m->to, received, m->receive->line);
    return AR_ERR_PROOF;
}

/* With an element in each block no step is dropped, so that those of the file have their numbers.
 */
static int
tell_refuted(char why[AR_REFUTED_TEXT], const struct ar_verdict *verdict,
             const struct ar_written *w)
{
    char line[32] = "";
    if (verdict->step != AR_NO_STEP)
        snprintf(line, sizeof line, "line %d: ", w->ranks[verdict->rank].steps[verdict->step].line);
    snprintf(why, AR_REFUTED_TEXT, "%srefuted: %s", line, verdict->text);
    return AR_ERR_PROOF;
}

/* A message has the same blocks on both sides, so that it has the same length on both and is empty
 * on both whatever the count is. */
int
ar_written_prove(struct ar_written_proof *proof, const struct ar_written *w,
                 char why[AR_REFUTED_TEXT])
{
    struct ar_written_mismatch m;
    struct ar_verdict verdict;
    int error = ar_written_compare(&m, w);
    if (!error && m.send)
        return tell_mismatch(why, &m);
    struct ar_schedule *const schedules = error ? NULL : emit_all(w);
    if (!schedules)
        return AR_ERR_MEMORY;
    error = ar_check_both(&verdict, schedules, w->nranks);
    proof->in_rank_order = verdict.in_rank_order;
    proof->alike = verdict.alike;
    if (error == AR_ERR_PROOF)
        tell_refuted(why, &verdict, w);
    if (!error)
        error = ar_cost_count(&proof->cost, schedules, w->nranks);
    ar_schedules_destroy(schedules, w->nranks);
    return error;
}
