#include "schedule/written_print.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/grow.h"
#include "schedule/unit_times.h"
#include "schedule/walk.h"

/* --- which blocks each step is about --- */

/* The places of IN and OUT have their blocks' numbers.  What stands in TMP has that of the place
 * from which it came. */
struct making {
    const struct ar_schedule *schedules;
    int nranks;
    struct ar_written *w;
    int error; /* the first */
    struct ar_unit_times times;
    int *numbers; /* of all that follows; owned */
    int **tmp;    /* of each rank, by place; owned */
    int **blocks; /* of each step, by the times' index; owned */
};

static size_t
length_of(const struct ar_step *step)
{
    return step->kind == AR_SEND ? step->a.length : step->dst.length;
}

static void
load(const struct making *m, int *numbers, int rank, struct ar_region from)
{
    for (size_t i = 0; i < from.length; i++)
        numbers[i] = from.buffer == AR_TMP ? m->tmp[rank][from.offset + i] : (int)(from.offset + i);
}

/* What a round sends is taken as it begins. */
static void
post_sends(const struct making *m, int rank, size_t round)
{
    const struct ar_schedule *const s = &m->schedules[rank];
    for (size_t i = ar_round_begin(s, round); round < s->nrounds && i < s->round_end[round]; i++)
        if (s->steps[i].kind == AR_SEND)
            load(m, m->blocks[m->times.first_step[rank] + i], rank, s->steps[i].a);
}

/* Plain receives are done before the local part. */
static void
run_round(const struct making *m, int rank, size_t round)
{
    const struct ar_schedule *const s = &m->schedules[rank];
    for (int local = 0; local < 2; local++)
        for (size_t i = ar_round_begin(s, round); i < s->round_end[round]; i++) {
            const struct ar_step *const step = &s->steps[i];
            const size_t index = m->times.first_step[rank] + i;
            int *const numbers = m->blocks[index];
            if (step->kind == AR_SEND || (step->kind != AR_RECV) != local)
                continue;
            if (ar_step_receives(step))
                memcpy(numbers,
                       m->blocks[m->times.first_step[step->peer] + m->times.partner[index]],
                       step->dst.length * sizeof *numbers);
            else
                load(m, numbers, rank, step->a);
            if (step->dst.buffer == AR_TMP)
                memcpy(m->tmp[rank] + step->dst.offset, numbers,
                       step->dst.length * sizeof *numbers);
        }
    post_sends(m, rank, round + 1);
}

/* Room for the numbers of all steps and of all of TMP. */
static int
lay_out(struct making *m)
{
    size_t n = 1;
    for (int r = 0; r < m->nranks; r++) {
        n += m->schedules[r].tmp_length;
        for (size_t i = 0; i < m->schedules[r].nsteps; i++)
            n += length_of(&m->schedules[r].steps[i]);
    }
    m->numbers = calloc(n, sizeof *m->numbers);
    m->tmp = calloc((size_t)m->nranks, sizeof *m->tmp);
    m->blocks = calloc(m->times.first_step[m->nranks] + 1, sizeof *m->blocks);
    if (!m->numbers || !m->tmp || !m->blocks)
        return AR_ERR_MEMORY;
    int *at = m->numbers;
    for (int r = 0; r < m->nranks; r++) {
        m->tmp[r] = at;
        at += m->schedules[r].tmp_length;
        for (size_t i = 0; i < m->schedules[r].nsteps; i++) {
            m->blocks[m->times.first_step[r] + i] = at;
            at += length_of(&m->schedules[r].steps[i]);
        }
    }
    return AR_OK;
}

/* One unit of time after the other, so that what arrives has been posted. */
static int
find_blocks(struct making *m)
{
    size_t *const rounds = calloc((size_t)m->nranks, sizeof *rounds);
    const int error = rounds ? lay_out(m) : AR_ERR_MEMORY;
    for (int r = 0; r < m->nranks && !error; r++)
        post_sends(m, r, 0);
    for (size_t time = 0; time <= m->times.end && !error; time++)
        for (int r = 0; r < m->nranks; r++) {
            const size_t *const end = m->times.round_end + m->times.first_round[r];
            for (; rounds[r] < m->schedules[r].nrounds && end[rounds[r]] <= time; rounds[r]++)
                run_round(m, r, rounds[r]);
        }
    free(rounds);
    return error;
}

/* --- steps --- */

/* Where the pieces of one rank begin in its TMP, had each all blocks from the first on. */
struct beginnings {
    size_t *at; /* owned; blocks further on, so that none is below 0 */
    size_t n, room;
};

/* The number of the piece with that beginning.  Ranks share pieces: the n-th of each rank is the
 * n-th of all. */
static size_t
find_piece(struct making *m, struct beginnings *b, size_t begin)
{
    struct ar_written *const w = m->w;
    size_t i = 0;
    while (i < b->n && b->at[i] != begin)
        i++;
    size_t *const at = ar_grow(b->at, i + 1, &b->room, sizeof *at);
    struct ar_written_piece *const pieces =
        ar_grow(w->pieces, i + 1, &w->pieces_room, sizeof *pieces);
    b->at = at ? at : b->at;
    w->pieces = pieces ? pieces : w->pieces;
    if (!at || !pieces) {
        m->error = AR_ERR_MEMORY;
        return 0;
    }
    if (i == b->n)
        at[b->n++] = begin;
    if (i == w->npieces) {
        pieces[w->npieces++] = (struct ar_written_piece){.n = 0};
        snprintf(pieces[i].name, sizeof pieces[i].name, "t%zu", i);
    }
    return i;
}

/* Places at and further of a region that has those blocks there. */
static struct ar_written_region
make_region(struct making *m, struct beginnings *b, struct ar_region region, size_t at, int first,
            int n)
{
    struct ar_written_region made = {region.buffer, first, n, 0};
    if (region.length == 0 || region.buffer != AR_TMP)
        return made;
    const size_t i = find_piece(m, b, region.offset + at + (size_t)m->w->nblocks - (size_t)first);
    if (m->error)
        return made;
    struct ar_written_piece *const piece = &m->w->pieces[i];
    const int end = piece->first + piece->n;
    piece->first = piece->n == 0 || first < piece->first ? first : piece->first;
    piece->n = (first + n > end ? first + n : end) - piece->first;
    made.piece = (int)i;
    return made;
}

/* A step for each run of consecutive blocks. */
static void
make_steps(struct making *m, struct beginnings *b, int rank, size_t i)
{
    const struct ar_step *const step = &m->schedules[rank].steps[i];
    const int *const blocks = m->blocks[m->times.first_step[rank] + i];
    const size_t length = length_of(step);
    for (size_t at = 0, end; at < length && !m->error; at = end) {
        for (end = at + 1; end < length && blocks[end] == blocks[end - 1] + 1;)
            end++;
        const int first = blocks[at], n = (int)(end - at);
        const struct ar_written_step made = {
            .kind = step->kind,
            .order = step->order,
            .peer = step->peer,
            .dst = make_region(m, b, step->dst, at, first, n),
            .a = make_region(m, b, step->a, at, first, n),
            .b = make_region(m, b, step->b, at, first, n),
        };
        if (!m->error)
            m->error = ar_written_append(m->w, rank, &made);
    }
}

static void
make_rank(struct making *m, int rank)
{
    const struct ar_schedule *const s = &m->schedules[rank];
    struct beginnings b = {.at = NULL};
    for (size_t round = 0; round < s->nrounds && !m->error; round++) {
        for (size_t i = ar_round_begin(s, round); i < s->round_end[round]; i++)
            make_steps(m, &b, rank, i);
        if (!m->error)
            m->w->ranks[rank].steps[m->w->ranks[rank].n - 1].ends_round = true;
    }
    free(b.at);
}

int
ar_written_make(struct ar_written *w, const struct ar_schedule *schedules, int nranks, int nblocks)
{
    struct making m = {.schedules = schedules, .nranks = nranks, .w = w};
    *w = (struct ar_written){.nranks = nranks, .nblocks = nblocks};
    w->ranks = calloc((size_t)nranks, sizeof *w->ranks);
    m.error = w->ranks ? ar_unit_times_init(&m.times, schedules, nranks) : AR_ERR_MEMORY;
    if (!m.error) {
        m.error = find_blocks(&m);
        for (int r = 0; r < nranks && !m.error; r++)
            make_rank(&m, r);
        ar_unit_times_fini(&m.times);
    }
    free(m.numbers);
    free(m.tmp);
    free(m.blocks);
    if (m.error)
        ar_written_fini(w);
    return m.error;
}

/* --- the text --- */

static void
print_blocks(FILE *file, const struct ar_written *w, int first, int n)
{
    if (n == w->nblocks)
        fputc('*', file);
    else if (n == 1)
        fprintf(file, "%d", first);
    else
        fprintf(file, "%d..%d", first, first + n - 1);
}

static void
print_region(FILE *file, const struct ar_written *w, const struct ar_written_region *region)
{
    static const char *const names[] = {[AR_IN] = "in", [AR_OUT] = "out", [AR_TMP] = "tmp"};
    fprintf(file, " %s.", names[region->buffer]);
    if (region->buffer == AR_TMP) {
        const struct ar_written_piece *const piece = &w->pieces[region->piece];
        fputs(piece->name, file);
        if (piece->first == region->first && piece->n == region->n)
            return;
        fputc('.', file);
    }
    print_blocks(file, w, region->first, region->n);
}

static void
print_recv_reduce(FILE *file, const struct ar_written *w, int rank,
                  const struct ar_written_step *step)
{
    const enum ar_order usual = step->peer < rank ? AR_RECEIVED_FIRST : AR_LOCAL_FIRST;
    const enum ar_buffer to = step->a.buffer == AR_IN ? AR_OUT : step->a.buffer;
    print_region(file, w, &step->a);
    fprintf(file, " from %d", step->peer);
    if (step->order != usual)
        fputs(step->order == AR_RECEIVED_FIRST ? " left" : " right", file);
    if (step->dst.buffer != to || step->dst.piece != step->a.piece) {
        fputs(" to", file);
        print_region(file, w, &step->dst);
    }
}

static void
print_step(FILE *file, const struct ar_written *w, int rank, const struct ar_written_step *step)
{
    fputs(ar_written_words[step->kind], file);
    switch (step->kind) {
    case AR_SEND:
        print_region(file, w, &step->a);
        fprintf(file, " to %d", step->peer);
        break;
    case AR_RECV:
        print_region(file, w, &step->dst);
        fprintf(file, " from %d", step->peer);
        break;
    case AR_RECV_REDUCE:
        print_recv_reduce(file, w, rank, step);
        break;
    case AR_COPY:
    case AR_REDUCE:
        print_region(file, w, &step->a);
        if (step->kind == AR_REDUCE) {
            fputs(" with", file);
            print_region(file, w, &step->b);
        }
        fputs(" to", file);
        print_region(file, w, &step->dst);
    }
}

void
ar_written_print(FILE *file, const struct ar_written *w, const char *comment)
{
    fprintf(file, "%s\n# %s\nname %s\nranks %d\nblocks %d\n", AR_WRITTEN_VERSION, comment, w->name,
            w->nranks, w->nblocks);
    for (size_t i = 0; i < w->npieces; i++) {
        fprintf(file, "tmp %s = block ", w->pieces[i].name);
        print_blocks(file, w, w->pieces[i].first, w->pieces[i].n);
        fputc('\n', file);
    }
    for (int r = 0; r < w->nranks; r++) {
        if (w->ranks[r].n > 0)
            fprintf(file, "rank %d: ", r);
        for (size_t i = 0; i < w->ranks[r].n; i++) {
            const bool is_last = i + 1 == w->ranks[r].n;
            print_step(file, w, r, &w->ranks[r].steps[i]);
            fputs(is_last ? "\n" : w->ranks[r].steps[i].ends_round ? " | " : "; ", file);
        }
    }
}
