/* ALLREDUCE_DETERMINISM=order: sums of floating-point numbers as sums of integers.  So any row of
 * the registry serves, and kernels, engines and proofs are those of integers. */
#include "communicator/decide.h"

#include <stdlib.h>

#include "execute/group.h"
#include "record/record.h"
#include "reduce/exact.h"

/* Numbers that share a window.  A number that needs a wide one makes only these more expensive. */
#define BLOCK ((size_t)1024)

/* Blocks whose windows are joined at a time. */
#define BLOCKS ((size_t)512)

/* Words summed at a time; a block in the window of all doubles on AR_EXACT_RANKS_MAX ranks fits. */
#define WORDS ((size_t)1 << 17)

/* Up to so many words no window is looked for: that takes one exchange instead of two. */
#define WORDS_AT_ONCE ((size_t)256)

struct ar_exact_sum {
    struct ar_reduction windows, words; /* what is exchanged */
    struct ar_window window[BLOCKS];
    int64_t word[WORDS];
};

/* One call.  Its numbers, complex ones too, are seen as floats or doubles. */
struct sum {
    struct ar_communicator *c;
    MPI_Comm comm;
    enum ar_exact_format format;
    size_t size; /* of a number */
};

/* --- integers --- */

/* Reduces integers in place.  They are counted in a row of their own, but their time is in that of
 * the sum. */
static int
allreduce(const struct sum *s, const struct ar_reduction *r, void *buffer, size_t count)
{
    int error;
    struct ar_communicator *const c = s->c;
    struct ar_decision *const d =
        ar_communicator_decide_on(c, s->comm, r, count, AR_IN_PLACE, NULL, &error);
    if (!d)
        return error;
    struct ar_record *const record =
        c->records.recorder ? ar_decision_record(c, d, NULL, r, count, AR_IN_PLACE) : NULL;
    if (record)
        ar_record_pass(record, count * r->size);
    if (d->runner != AR_RUN_NATIVE)
        return ar_communicator_run(c, s->comm, d, r, buffer, buffer, count);
    /* There is no engine.  Integers have the same bits by any algorithm. */
    return ar_reduce_all(buffer, (int)count, r->type, r->op, s->comm);
}

/* --- numbers --- */

static size_t
block_length(size_t count, size_t i)
{
    return count - i * BLOCK < BLOCK ? count - i * BLOCK : BLOCK;
}

/* Moves the numbers of blocks first to end - 1 into words, or the sums out of them. */
enum direction { ENCODE, DECODE };

static void
convert(const struct sum *s, enum direction direction, char *numbers, size_t count, size_t first,
        size_t end)
{
    struct ar_exact_sum *const e = s->c->buffers.exact_sum;
    const int nranks = s->c->nranks;
    int64_t *words = e->word;
    for (size_t i = first; i < end; i++) {
        const size_t length = block_length(count, i);
        char *const at = numbers + i * BLOCK * s->size;
        if (direction == ENCODE)
            ar_exact_encode(s->format, words, at, length, e->window[i], nranks);
        else
            ar_exact_decode(s->format, at, words, length, e->window[i], nranks);
        words += ar_exact_words(e->window[i], nranks) * length;
    }
}

/* Sums the numbers of at most BLOCKS blocks, whose windows are known. */
static int
sum_blocks(const struct sum *s, const char *in, char *out, size_t count)
{
    struct ar_exact_sum *const e = s->c->buffers.exact_sum;
    int error = MPI_SUCCESS;
    for (size_t first = 0, end = 0; first * BLOCK < count && !error; first = end) {
        size_t words = 0;
        for (; end * BLOCK < count; end++) {
            const size_t more =
                ar_exact_words(e->window[end], s->c->nranks) * block_length(count, end);
            if (words + more > WORDS)
                break;
            words += more;
        }
        convert(s, ENCODE, (char *)in, count, first, end);
        if (words > 0)
            error = allreduce(s, &e->words, e->word, words);
        if (!error)
            convert(s, DECODE, out, count, first, end);
    }
    return error;
}

static int
sum_piece(const struct sum *s, const char *in, char *out, size_t count)
{
    struct ar_exact_sum *const e = s->c->buffers.exact_sum;
    const struct ar_window whole = ar_window_whole(s->format);
    const size_t n = (count + BLOCK - 1) / BLOCK;
    int error = MPI_SUCCESS;
    if (count * ar_exact_words(whole, s->c->nranks) <= WORDS_AT_ONCE) {
        e->window[0] = whole;
    } else {
        for (size_t i = 0; i < n; i++)
            e->window[i] =
                ar_window_of(s->format, in + i * BLOCK * s->size, block_length(count, i));
        error = allreduce(s, &e->windows, e->window, n * AR_WINDOW_NUMBERS);
    }
    return error ? error : sum_blocks(s, in, out, count);
}

int
ar_exact_sum_run(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                 const void *in, void *out, size_t count)
{
    const size_t parts = r->type_class == AR_TYPE_COMPLEX ? 2 : 1, size = r->size / parts;
    const struct sum s = {c, comm, size == sizeof(float) ? AR_EXACT_FLOAT : AR_EXACT_DOUBLE, size};
    int error = MPI_SUCCESS;
    if (c->nranks > AR_EXACT_RANKS_MAX)
        return MPI_ERR_UNSUPPORTED_OPERATION;
    if (!c->buffers.exact_sum) {
        struct ar_exact_sum *const e = malloc(sizeof *e);
        if (!e || !ar_reduction_resolve(&e->windows, MPI_MAX, MPI_INT32_T) ||
            !ar_reduction_resolve(&e->words, MPI_SUM, MPI_INT64_T)) {
            free(e);
            return MPI_ERR_NO_MEM;
        }
        e->windows.comm = e->words.comm = comm;
        c->buffers.exact_sum = e;
    }
    for (size_t done = 0; done < count * parts && !error; done += BLOCK * BLOCKS) {
        const size_t left = count * parts - done, at = done * s.size;
        error = sum_piece(&s, (const char *)in + at, (char *)out + at,
                          left < BLOCK * BLOCKS ? left : BLOCK * BLOCKS);
    }
    return error;
}
