#include "schedule/written_print.h"

#include <stdlib.h>

#include "schedule/grow.h"
#include "schedule/holdings.h"
#include "schedule/walk.h"

/* --- steps --- */

struct making {
    struct ar_written *w;
    struct ar_holdings holdings; /* after the last round that was made */
    struct beginnings *begins;   /* of each rank; owned */
    int error;                   /* the first */
};

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

/* What a step is about: each cell has the number of a block.  TMP has it once the round is over,
 * in which no step writes what another has written there. */
static const struct ar_cell *
cells_of(const struct ar_holdings *h, int rank, size_t i)
{
    const struct ar_step *const step = &h->schedules[rank].steps[i];
    if (step->kind == AR_SEND)
        return ar_holdings_payload(h, rank, i);
    if (ar_step_receives(step))
        return ar_holdings_payload(h, step->peer,
                                   h->timeline.partner[h->timeline.first_step[rank] + i]);
    return h->holders[rank].memory[step->dst.buffer] + step->dst.offset;
}

/* A step for each run of consecutive blocks. */
static void
make_steps(struct making *m, int rank, size_t i)
{
    struct beginnings *const b = &m->begins[rank];
    const struct ar_step *const step = &m->holdings.schedules[rank].steps[i];
    const struct ar_cell *const cells = cells_of(&m->holdings, rank, i);
    const size_t length = step->kind == AR_SEND ? step->a.length : step->dst.length;
    for (size_t at = 0, end; at < length && !m->error; at = end) {
        for (end = at + 1; end < length && cells[end].element == cells[end - 1].element + 1;)
            end++;
        const int first = (int)cells[at].element, n = (int)(end - at);
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
make_round(void *context, int rank, size_t round)
{
    struct making *const m = context;
    const struct ar_schedule *const s = &m->holdings.schedules[rank];
    for (size_t i = ar_round_begin(s, round); i < s->round_end[round]; i++)
        make_steps(m, rank, i);
    if (!m->error)
        m->w->ranks[rank].steps[m->w->ranks[rank].n - 1].ends_round = true;
}

int
ar_written_make(struct ar_written *w, const struct ar_schedule *schedules, int nranks, int nblocks)
{
    struct making m = {.w = w};
    *w = (struct ar_written){.nranks = nranks, .nblocks = nblocks};
    w->ranks = calloc((size_t)nranks, sizeof *w->ranks);
    m.begins = calloc((size_t)nranks, sizeof *m.begins);
    m.error =
        w->ranks && m.begins ? ar_holdings_init(&m.holdings, schedules, nranks) : AR_ERR_MEMORY;
    if (!m.error) {
        m.holdings.ended = make_round;
        m.holdings.context = &m;
        ar_holdings_advance(&m.holdings, m.holdings.timeline.end);
        ar_holdings_fini(&m.holdings);
    }
    for (int r = 0; m.begins && r < nranks; r++)
        free(m.begins[r].at);
    free(m.begins);
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

/* Which side of a recv_reduce is on the left, and where its result goes, is told where it is not
 * what it would be. */
static void
print_step(FILE *file, const struct ar_written *w, int rank, const struct ar_written_step *step)
{
    const bool is_local = step->kind == AR_COPY || step->kind == AR_REDUCE;
    const bool folds = step->kind == AR_RECV_REDUCE;
    const enum ar_order order = step->peer < rank ? AR_RECEIVED_FIRST : AR_LOCAL_FIRST;
    const enum ar_buffer to = step->a.buffer == AR_IN ? AR_OUT : step->a.buffer;
    const bool moves = step->dst.buffer != to || step->dst.piece != step->a.piece;
    fputs(ar_written_words[step->kind], file);
    print_region(file, w, step->kind == AR_RECV ? &step->dst : &step->a);
    if (step->kind == AR_REDUCE) {
        fputs(" with", file);
        print_region(file, w, &step->b);
    }
    if (!is_local)
        fprintf(file, " %s %d", step->kind == AR_SEND ? "to" : "from", step->peer);
    if (folds && step->order != order)
        fputs(step->order == AR_RECEIVED_FIRST ? " left" : " right", file);
    if (is_local || (folds && moves)) {
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
