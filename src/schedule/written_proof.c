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

/* A message has the same blocks on both sides, so that it has the same length on both and is empty
 * on both whatever the count is. */
static int
compare_blocks(char why[AR_REFUTED_TEXT], const struct ar_written *w,
               const struct ar_unit_times *times)
{
    char sent[64], received[64];
    for (int r = 0; r < w->nranks; r++)
        for (size_t i = 0; i < w->ranks[r].n; i++) {
            const struct ar_written_step *const send = &w->ranks[r].steps[i];
            if (send->kind != AR_SEND)
                continue;
            const struct ar_written_step *const receive =
                &w->ranks[send->peer].steps[times->partner[times->first_step[r] + i]];
            if (send->a.first == receive->dst.first && send->a.n == receive->dst.n)
                continue;
            print_blocks(sent, sizeof sent, &send->a);
            print_blocks(received, sizeof received, &receive->dst);
            snprintf(why, AR_REFUTED_TEXT,
                     "line %d: refuted: rank %d sends %s to rank %d, which receives %s (line %d)",
                     send->line, r, sent, send->peer, received, receive->line);
            return AR_ERR_PROOF;
        }
    return AR_OK;
}

/* With an element in each block no step is dropped, so that those of the file have their numbers.
 */
static void
tell_refuted(char why[AR_REFUTED_TEXT], const struct ar_verdict *verdict,
             const struct ar_written *w)
{
    char line[32] = "";
    if (verdict->step != AR_NO_STEP)
        snprintf(line, sizeof line, "line %d: ", w->ranks[verdict->rank].steps[verdict->step].line);
    snprintf(why, AR_REFUTED_TEXT, "%srefuted: %s", line, verdict->text);
}

/* What waits forever has no times, and the checker says where. */
int
ar_written_prove(struct ar_written_proof *proof, const struct ar_written *w,
                 char why[AR_REFUTED_TEXT])
{
    struct ar_unit_times times = {.end = 0};
    struct ar_verdict verdict;
    struct ar_schedule *const schedules = emit_all(w);
    if (!schedules)
        return AR_ERR_MEMORY;
    const int waits = ar_unit_times_init(&times, schedules, w->nranks);
    int error = waits ? AR_OK : compare_blocks(why, w, &times);
    if (!error) {
        error = ar_check_both(&verdict, schedules, w->nranks);
        if (error == AR_ERR_PROOF)
            tell_refuted(why, &verdict, w);
        error = error ? error : waits;
    }
    if (!error) {
        *proof = (struct ar_written_proof){verdict.in_rank_order, verdict.alike, {0}};
        ar_cost_count_timed(&proof->cost, schedules, w->nranks, &times);
    }
    ar_unit_times_fini(&times);
    ar_schedules_destroy(schedules, w->nranks);
    return error;
}
