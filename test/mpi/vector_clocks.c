#include "vector_clocks.h"

#include <stdio.h>
#include <stdlib.h>

/* How far each rank was when a rank last saw it. */
struct clock {
    size_t of[ORDER_RANKS];
};

struct raise {
    uint64_t value;
    struct clock known;
    const struct raise *next; /* of the same flag; NULL: none */
};

#define RAISES_MAX ((size_t)1 << 16)
#define WORDS_MAX  (ORDER_BYTES / sizeof(uint64_t))

/* Of a word of the shared memory: who wrote it last, and how far each rank was when it last read
 * it. */
struct word {
    size_t run; /* the one that this is of */
    int writer; /* -1: nobody */
    size_t written;
    struct clock read;
    struct raise *first, *last; /* if it is a flag; NULL: none yet */
};

struct machine {
    const struct trace *traces;
    int nranks;
    const struct order_faults *faults;
    struct clock known[ORDER_RANKS];
    size_t next[ORDER_RANKS];
};

static struct word words[WORDS_MAX];
static size_t nruns;
static struct raise raises[RAISES_MAX];
static size_t nraises;

/* A run touches few of the words.  It finds those as new that it has not touched before. */
static struct word *
word_at(const struct machine *m, size_t byte)
{
    const size_t at = m->faults->moved ? m->faults->moved(byte) : byte;
    if (at >= ORDER_BYTES)
        abort();
    struct word *const w = &words[at / sizeof(uint64_t)];
    if (w->run != nruns)
        *w = (struct word){.run = nruns, .writer = -1};
    return w;
}

/* Reads, writes or takes.  False if a conflicting access of another rank is not known to have come
 * before. */
static bool
touch(struct machine *m, int rank, const struct access *x)
{
    const struct clock *const known = &m->known[rank];
    const bool is_alone = x->kind == WRITE || x->kind == TAKE;
    for (size_t at = x->at; at < x->end; at += sizeof(uint64_t)) {
        struct word *const w = word_at(m, at);
        if (w->writer >= 0 && w->writer != rank && w->written > known->of[w->writer])
            return false;
        for (int i = 0; i < m->nranks && is_alone; i++)
            if (i != rank && w->read.of[i] > known->of[i])
                return false;
        if (is_alone) {
            w->writer = rank;
            w->written = known->of[rank];
        } else {
            w->read.of[rank] = known->of[rank];
        }
    }
    return true;
}

static void
raise_flag(struct machine *m, int rank, const struct access *x)
{
    struct word *const w = word_at(m, x->at);
    if (nraises == RAISES_MAX)
        abort();
    struct raise *const made = &raises[nraises++];
    *made = (struct raise){x->value, m->known[rank], NULL};
    if (w->last && (w->writer != rank || w->last->value >= x->value)) {
        printf("rank %d raises a flag of rank %d to %zu\n", rank, w->writer, (size_t)x->value);
        exit(EXIT_FAILURE);
    }
    if (w->last)
        w->last->next = made;
    else
        w->first = made;
    w->last = made;
    w->writer = rank;
}

/* False where nobody has raised it so far. */
static bool
see_flag(struct machine *m, int rank, const struct access *x)
{
    const struct raise *seen = word_at(m, x->at)->first;
    const bool is_relaxed = m->faults->is_relaxed && m->faults->is_relaxed(x->at);
    while (seen && seen->value < x->value)
        seen = seen->next;
    for (int k = 0; seen && k < m->nranks && !is_relaxed; k++)
        if (seen->known.of[k] > m->known[rank].of[k])
            m->known[rank].of[k] = seen->known.of[k];
    return seen || m->faults->ignores_flags;
}

/* Runs a rank until it waits for a flag that nobody has raised. */
static enum order
advance(struct machine *m, int rank)
{
    const struct trace *const t = &m->traces[rank];
    for (; m->next[rank] < t->n; m->next[rank]++) {
        const struct access *const x = &t->of[m->next[rank]];
        if (x->kind == AWAIT && !see_flag(m, rank, x))
            return ORDERED;
        m->known[rank].of[rank] = m->next[rank] + 1;
        if (x->kind == RAISE)
            raise_flag(m, rank, x);
        else if (!touch(m, rank, x))
            return CONFLICT;
    }
    return ORDERED;
}

enum order
order_of(const struct trace *traces, int nranks, const struct order_faults *faults)
{
    struct machine m = {.traces = traces, .nranks = nranks, .faults = faults};
    nruns++;
    nraises = 0;
    for (size_t before = SIZE_MAX, all = 0; before != all;) {
        before = all;
        all = 0;
        for (int rank = 0; rank < nranks; rank++) {
            if (advance(&m, rank) == CONFLICT)
                return CONFLICT;
            all += m.next[rank];
        }
    }
    for (int rank = 0; rank < nranks; rank++)
        if (m.next[rank] < traces[rank].n)
            return DEADLOCK;
    return ORDERED;
}
