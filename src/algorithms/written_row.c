#include "algorithms/written_row.h"

#include <stdio.h>
#include <stdlib.h>

#include "schedule/written_print.h"

/* Makes elements of units of so many; false where a region begins or ends inside a unit. */
static bool
shorten(struct ar_region *region, size_t unit)
{
    if (region->offset % unit || region->length % unit)
        return false;
    region->offset /= unit;
    region->length /= unit;
    return true;
}

/* Emits all ranks' schedules for that many units.  *made is NULL where they are not made of
 * units. */
static int
emit_units(struct ar_schedule **made, const struct ar_emission *e, size_t units, size_t unit)
{
    struct ar_emission of = *e;
    bool is_even = true;
    int error = AR_OK;
    struct ar_schedule *const schedules = calloc((size_t)e->nranks, sizeof *schedules);
    *made = NULL;
    if (!schedules)
        return AR_ERR_MEMORY;
    of.count = units * unit;
    for (int r = 0; r < e->nranks && is_even && !error; r++) {
        error = ar_algorithm_source(&of, &schedules[r], r);
        for (size_t i = 0; !error && is_even && i < schedules[r].nsteps; i++) {
            struct ar_step *const step = &schedules[r].steps[i];
            is_even =
                shorten(&step->dst, unit) && shorten(&step->a, unit) && shorten(&step->b, unit);
        }
        schedules[r].count = units;
        schedules[r].tmp_length /= unit;
    }
    if (error || !is_even)
        ar_schedules_destroy(schedules, e->nranks);
    else
        *made = schedules;
    return error;
}

/* Blocks of one element would not show where the row cuts: each has two or more. */
int
ar_written_row_make(struct ar_written *w, const struct ar_emission *emission)
{
    struct ar_schedule *schedules = NULL;
    size_t blocks = 0;
    int error = AR_OK;
    while (!error && !schedules && blocks < AR_WRITTEN_BLOCKS_MAX) {
        const size_t unit = emission->count / ++blocks;
        error = emit_units(&schedules, emission, blocks, unit > 2 ? unit : 2);
    }
    if (error || !schedules)
        return error ? error : AR_ERR_PARAM;
    error = ar_written_make(w, schedules, emission->nranks, (int)blocks);
    ar_schedules_destroy(schedules, emission->nranks);
    const struct ar_written_row *const written = emission->params->written;
    if (!error)
        snprintf(w->name, sizeof w->name, "%s",
                 written ? written->written.name : emission->row->name);
    return error;
}

/* --- files as rows --- */

static int
emit(struct ar_schedule *s, int rank, int nranks, size_t count, const struct ar_params *params)
{
    if (params->written && params->written->written.nranks == nranks)
        return ar_written_emit(s, &params->written->written, rank, count);
    ar_schedule_fail(s, AR_ERR_STEP);
    return ar_schedule_finish(s);
}

/* What a file may promise at most: its proof is asked when it is known. */
const struct ar_algorithm ar_row_of_file = {
    .name = "schedule",
    .aliases = "",
    .emit = emit,
    .keeps = AR_DETERMINISM_SIZE,
    .keeps_order = true,
    .takes = AR_TAKES_FILE,
    .defaults = {.window = 1},
    .title = "a schedule that is written in a file",
    .card = {"0", "0", "0", "0", "0"},
    .needs = "this number of ranks",
    .source = "its author",
};

/* One more, or one less, of each block; returns the most of any, or most if that is more. */
static size_t
hold(size_t *vectors, int first, int n, int more, size_t most)
{
    for (int i = first; i < first + n; i++) {
        vectors[i] += (size_t)more;
        most = vectors[i] > most ? vectors[i] : most;
    }
    return most;
}

/* How often TMP has room for the same block, and how often one round receives it to combine. Other
 * counts only make some blocks shorter than others.  0 without memory. */
static size_t
count_vectors(const struct ar_written *w)
{
    size_t *const vectors = calloc((size_t)w->nblocks, sizeof *vectors), scratch = 0, landing = 0;
    if (!vectors)
        return 0;
    for (int r = 0; r < w->nranks; r++) {
        const struct ar_written_step *const steps = w->ranks[r].steps;
        for (size_t i = 0, begin = 0; i < w->ranks[r].n; i++) {
            if (steps[i].kind == AR_RECV_REDUCE)
                landing = hold(vectors, steps[i].dst.first, steps[i].dst.n, 1, landing);
            for (; steps[i].ends_round && begin <= i; begin++)
                if (steps[begin].kind == AR_RECV_REDUCE)
                    hold(vectors, steps[begin].dst.first, steps[begin].dst.n, -1, 0);
        }
    }
    for (size_t i = 0; i < w->npieces; i++)
        scratch = hold(vectors, w->pieces[i].first, w->pieces[i].n, 1, scratch);
    free(vectors);
    return scratch + landing > 2 ? scratch + landing : 2;
}

/* The cost was counted with an element in each block. */
static void
write_card(struct ar_written_row *r)
{
    const int n = r->written.nblocks;
    const struct ar_cost *const cost = &r->proof.cost;
    const size_t elements[] = {[AR_CARD_SENT] = cost->sent.most,
                               [AR_CARD_REDUCED] = cost->reduced.most,
                               [AR_CARD_SCRATCH] = cost->scratch.most};
    snprintf(r->card[AR_CARD_ROUNDS], AR_WRITTEN_CARD, "%zu", cost->rounds);
    for (int i = AR_CARD_SENT; i <= AR_CARD_SCRATCH; i++)
        snprintf(r->card[i], AR_WRITTEN_CARD, n > 1 ? "%zun/%d" : "%zun", elements[i], n);
    snprintf(r->card[AR_CARD_TIME], AR_WRITTEN_CARD,
             n > 1 ? "about %zua + (%zun/B + %zunC)/%d" : "about %zua + %zun/B + %zunC",
             cost->rounds, cost->sent.most, cost->reduced.most, n);
    for (int i = 0; i < AR_CARD_LINES; i++)
        r->row.card[i] = r->card[i];
}

/* Tells files of one name apart (FNV-1a). */
static unsigned
hash_of(const char *text)
{
    uint32_t hash = UINT32_C(2166136261);
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT32_C(16777619);
    return hash;
}

int
ar_written_row_init(struct ar_written_row *r, const struct ar_written *written,
                    const struct ar_written_proof *proof, const char *text)
{
    r->vectors = count_vectors(written);
    if (r->vectors == 0)
        return AR_ERR_MEMORY;
    r->written = *written;
    r->proof = *proof;
    r->row = ar_row_of_file;
    r->row.name = r->name;
    r->row.takes = 0;
    r->row.scratch = AR_SCRATCH_WRITTEN;
    r->row.defaults.written = r;
    r->row.keeps_order = proof->in_rank_order;
    r->row.keeps = proof->alike ? AR_DETERMINISM_SIZE : AR_DETERMINISM_PLACEMENT;
    r->row.stand_in = proof->cost.least_reduced < (size_t)written->nblocks ? "butterfly" : NULL;
    snprintf(r->name, sizeof r->name, "schedule:%s#%08x", written->name, hash_of(text));
    write_card(r);
    return AR_OK;
}

char *
ar_written_path(char path[AR_WRITTEN_PATH], const char *file, int nranks)
{
    size_t n = 0;
    for (const char *at = file; *at; at++)
        if (at[0] == '%' && *++at == 'n')
            n += (size_t)snprintf(path + n, AR_WRITTEN_PATH - n, "%d", nranks);
        else
            path[n++] = *at;
    path[n] = '\0';
    return path;
}
