#include "select/written_read.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/grow.h"
#include "select/written_words.h"

#define HELD_MOST ((size_t)50000000) /* blocks of all buffers of all ranks */

/* --- regions --- */

/* Blocks: an expression, first..last, or * for all. */
static void
read_blocks(struct ar_reader *in, struct ar_written_region *region)
{
    int first = 0, last = in->w->nblocks - 1;
    if (!ar_reader_take(in, "*"))
        ar_reader_run(in, in->w->nblocks, "block", &first, &last);
    region->first = first;
    region->n = last - first + 1;
}

/* The number of a piece; w->npieces: there is none of this name. */
static size_t
find_piece(struct ar_reader *in, struct ar_word name)
{
    size_t i = 0;
    while (i < in->w->npieces && !(name.length == strlen(in->w->pieces[i].name) &&
                                   memcmp(in->w->pieces[i].name, name.at, name.length) == 0))
        i++;
    ar_reader_count_work(in, i);
    return i;
}

/* All blocks of a piece, or those behind a point. */
static void
read_piece(struct ar_reader *in, struct ar_written_region *region)
{
    const struct ar_word word = ar_reader_word(in);
    const size_t i = find_piece(in, word);
    if (i == in->w->npieces) {
        ar_reader_refuse(
            in, word.at,
            "no such piece of scratch; allowed: the names of lines such as tmp a = block 3");
        return;
    }
    in->at += word.length;
    const struct ar_written_piece *const piece = &in->w->pieces[i];
    *region = (struct ar_written_region){AR_TMP, piece->first, piece->n, (int)i};
    if (*in->at != '.')
        return;
    const char *const at = ++in->at;
    read_blocks(in, region);
    if (region->first < piece->first || region->first + region->n > piece->first + piece->n)
        ar_reader_refuse(
            in, at, "the piece of scratch has no such blocks; allowed: those that its line names");
}

/* False: bare blocks, whose buffer is to be found. */
static bool
read_region(struct ar_reader *in, struct ar_written_region *region)
{
    *region = (struct ar_written_region){.buffer = AR_OUT};
    if (ar_reader_take(in, "tmp.")) {
        read_piece(in, region);
        return true;
    }
    const bool is_in = ar_reader_take(in, "in."), is_out = !is_in && ar_reader_take(in, "out.");
    region->buffer = is_in ? AR_IN : AR_OUT;
    read_blocks(in, region);
    return is_in || is_out;
}

static uint32_t *
held_by(struct ar_reader *in, int block)
{
    return &in->held[(size_t)in->r * (size_t)in->w->nblocks + (size_t)block];
}

/* What the rank holds of bare blocks: OUT where one of that many first steps has written them, else
 * IN. */
static void
find_buffer(struct ar_reader *in, struct ar_written_region *region, size_t steps, const char *at)
{
    int written = 0;
    for (int i = 0; i < region->n; i++) {
        const uint32_t held = *held_by(in, region->first + i);
        written += held > 0 && held <= steps;
    }
    if (written > 0 && written < region->n)
        ar_reader_refuse(in, at,
                         "the rank has written some of these blocks and not others; allowed: in. "
                         "or out. before them");
    region->buffer = written > 0 ? AR_OUT : AR_IN;
}

/* A region that is read, as the rank holds it after that many steps. */
static struct ar_written_region
read_source(struct ar_reader *in, size_t steps)
{
    struct ar_written_region region;
    const char *const at = ar_reader_skip_blanks(in);
    if (!read_region(in, &region) && !in->error)
        find_buffer(in, &region, steps, at);
    return region;
}

static void
write_to(struct ar_reader *in, const struct ar_written_region *region, const char *at)
{
    if (region->buffer == AR_IN)
        ar_reader_refuse(in, at, "the input cannot be written; allowed: a block, out. or tmp.");
    for (int i = 0; region->buffer == AR_OUT && !in->error && i < region->n; i++) {
        uint32_t *const held = held_by(in, region->first + i);
        *held = *held > 0 ? *held : (uint32_t)in->w->ranks[in->r].n + 1;
    }
}

static struct ar_written_region
read_target(struct ar_reader *in)
{
    struct ar_written_region region;
    const char *const at = ar_reader_skip_blanks(in);
    read_region(in, &region);
    write_to(in, &region, at);
    return region;
}

static void
compare_lengths(struct ar_reader *in, const char *at, const struct ar_written_region *a,
                const struct ar_written_region *b)
{
    if (a->first != b->first || a->n != b->n)
        ar_reader_refuse(in, at,
                         "both must be the same blocks, or pieces of scratch as long as these");
}

/* --- steps --- */

static void
read_peer(struct ar_reader *in, struct ar_written_step *step)
{
    const char *const at = ar_reader_skip_blanks(in);
    step->peer = ar_reader_wrapped(in, in->w->nranks);
    if (step->peer == in->r)
        ar_reader_refuse(in, at, "a rank has no messages with itself (rank %d)", in->r);
}

static void
read_recv_reduce(struct ar_reader *in, struct ar_written_step *step)
{
    struct ar_written_region region;
    const char *const at = ar_reader_skip_blanks(in);
    const bool is_named = read_region(in, &region);
    step->a = step->dst = region;
    if (!is_named && !in->error)
        find_buffer(in, &step->a, SIZE_MAX, at);
    if (step->dst.buffer == AR_IN)
        step->dst.buffer = AR_OUT;
    ar_reader_expect(in, "from");
    read_peer(in, step);
    step->order = step->peer < in->r ? AR_RECEIVED_FIRST : AR_LOCAL_FIRST;
    if (ar_reader_take_word(in, "left"))
        step->order = AR_RECEIVED_FIRST;
    else if (ar_reader_take_word(in, "right"))
        step->order = AR_LOCAL_FIRST;
    if (ar_reader_take_word(in, "to"))
        step->dst = read_target(in);
    else
        write_to(in, &step->dst, at);
    compare_lengths(in, at, &step->a, &step->dst);
}

static void
read_local(struct ar_reader *in, struct ar_written_step *step)
{
    const char *const at = ar_reader_skip_blanks(in);
    step->peer = -1;
    step->a = read_source(in, SIZE_MAX);
    if (step->kind == AR_REDUCE) {
        ar_reader_expect(in, "with");
        step->b = read_source(in, SIZE_MAX);
        compare_lengths(in, at, &step->a, &step->b);
    }
    ar_reader_expect(in, "to");
    step->dst = read_target(in);
    compare_lengths(in, at, &step->a, &step->dst);
}

static void
append(struct ar_reader *in, const struct ar_written_step *step, const char *at)
{
    ar_reader_count_work(in, (size_t)(step->kind == AR_SEND ? step->a.n : step->dst.n));
    if (++in->nsteps > AR_WRITTEN_STEPS_MAX)
        ar_reader_refuse(in, at, "too many steps; allowed: a million, of all ranks together");
    if (!in->error)
        in->error = ar_written_append(in->w, in->r, step);
}

static void
read_step(struct ar_reader *in)
{
    struct ar_written_step step = {.line = in->number};
    const char *const at = ar_reader_skip_blanks(in);
    const int word = ar_reader_expect_word(in, ar_written_words);
    if (word < 0)
        return;
    step.kind = (enum ar_step_kind)word;
    switch (step.kind) {
    case AR_SEND:
        step.a = read_source(in, in->round[in->r]);
        ar_reader_expect(in, "to");
        read_peer(in, &step);
        break;
    case AR_RECV:
        step.dst = read_target(in);
        ar_reader_expect(in, "from");
        read_peer(in, &step);
        break;
    case AR_RECV_REDUCE:
        read_recv_reduce(in, &step);
        break;
    default:
        read_local(in, &step);
    }
    append(in, &step, at);
}

static void
end_round(struct ar_reader *in, int r)
{
    struct ar_written_rank *const rank = &in->w->ranks[r];
    if (rank->n > in->round[r])
        rank->steps[rank->n - 1].ends_round = true;
    in->round[r] = rank->n;
}

/* The steps of one rank, to the end of the line. */
static void
read_steps(struct ar_reader *in, int r)
{
    const char *const begin = in->at;
    in->r = r;
    do
        read_step(in);
    while (!in->error &&
           (ar_reader_take(in, ";") || (ar_reader_take(in, "|") && (end_round(in, r), true))));
    if (!in->error && !ar_reader_is_at_end(in))
        ar_reader_refuse(in, in->at,
                         "something else is expected here; allowed: ';' and a step, '|' for the "
                         "next round, or the end of the line");
    in->r = -1;
    ar_reader_count_work(in, (size_t)(in->at - begin));
}

/* --- lines --- */

/* all r: STEPS, or rank 0 3..5: STEPS.  within: in a for, whose pass is the round. */
static void
read_ranks(struct ar_reader *in, bool is_all, bool within)
{
    const int p = in->w->nranks;
    unsigned char *const listed = calloc((size_t)p, 1);
    if (!listed) {
        ar_reader_lack_memory(in);
        return;
    }
    if (is_all)
        ar_reader_expect(in, "r");
    do {
        int first = 0, last = p - 1;
        if (!is_all)
            ar_reader_run(in, p, "rank", &first, &last);
        ar_reader_count_work(in, (size_t)p);
        for (int r = first; r <= last && !in->error; r++)
            listed[r] = 1;
    } while (!is_all && !in->error && *ar_reader_skip_blanks(in) != ':');
    ar_reader_expect(in, ":");
    const char *const steps = in->at;
    for (int r = 0; r < p && !in->error; r++)
        if (listed[r]) {
            in->at = steps;
            read_steps(in, r);
            if (!within)
                end_round(in, r);
        }
    free(listed);
}

static bool
is_indented(const struct ar_reader *in)
{
    return *in->line == ' ' || *in->line == '\t';
}

/* The lines below that are indented, once for each k. */
static void
read_for(struct ar_reader *in)
{
    static const char *const words[] = {"all", "rank", NULL};
    ar_reader_expect(in, "k");
    ar_reader_expect(in, "in");
    const long first = ar_reader_expression(in);
    ar_reader_expect(in, "..");
    const long last = ar_reader_expression(in);
    if (!in->error && !ar_reader_is_at_end(in))
        ar_reader_refuse(in, in->at,
                         "the steps stand on the next lines; allowed: the end of the line");
    if (last - first > AR_WRITTEN_STEPS_MAX || first < 0)
        ar_reader_refuse(in, in->at, "too many passes; allowed: from 0 to a million");
    if (in->error)
        return;
    ar_reader_next_line(in);
    const struct ar_reader begin = *in;
    for (long k = first; k <= last || k == first; k++) {
        in->at = in->line = begin.at;
        in->number = begin.number;
        in->k = (int)k;
        for (; *in->at && !in->error; ar_reader_next_line(in)) {
            if (ar_reader_is_at_end(in))
                continue;
            if (!is_indented(in))
                break;
            const int word = k <= last ? ar_reader_expect_word(in, words) : -1;
            if (word >= 0)
                read_ranks(in, word == 0, true);
        }
        ar_reader_count_work(in, (size_t)in->w->nranks);
        for (int r = 0; r < in->w->nranks && !in->error; r++)
            end_round(in, r);
        if (in->error)
            break;
    }
    in->k = -1;
}

static void
read_piece_line(struct ar_reader *in)
{
    struct ar_written *const w = in->w;
    const struct ar_word name = ar_reader_word(in);
    struct ar_written_region blocks;
    struct ar_written_piece *const pieces =
        ar_grow(w->pieces, w->npieces + 1, &w->pieces_room, sizeof *pieces);
    if (!pieces) {
        ar_reader_lack_memory(in);
        return;
    }
    w->pieces = pieces;
    if (name.length == 0 || name.length >= AR_WRITTEN_NAME)
        ar_reader_refuse(in, name.at,
                         "a name is expected here; allowed: up to 63 letters, digits and '_'");
    if (find_piece(in, name) < w->npieces)
        ar_reader_refuse(in, name.at, "this was told before");
    in->at += name.length;
    ar_reader_expect(in, "=");
    ar_reader_expect(in, "block");
    read_blocks(in, &blocks);
    if (in->error)
        return;
    struct ar_written_piece *const piece = &pieces[w->npieces];
    *piece = (struct ar_written_piece){.first = blocks.first, .n = blocks.n};
    memcpy(piece->name, name.at, name.length);
    w->npieces++;
    in->scratch += (size_t)blocks.n;
}

/* What the steps need, once ranks and blocks are known. */
static void
prepare(struct ar_reader *in)
{
    struct ar_written *const w = in->w;
    const size_t p = (size_t)w->nranks, n = (size_t)w->nblocks;
    if (w->nranks == 0 || w->nblocks == 0)
        ar_reader_refuse(in, in->at, "lines 'ranks N' and 'blocks N' come first");
    if (p * (2 * n + in->scratch) > HELD_MOST)
        ar_reader_refuse(in, in->at,
                         "too many blocks for so many ranks; allowed: 50000000 of input, result "
                         "and scratch of all ranks");
    if (in->error || w->ranks)
        return;
    w->ranks = calloc(p, sizeof *w->ranks);
    in->round = calloc(p, sizeof *in->round);
    in->held = calloc(p * n, sizeof *in->held);
    if (!w->ranks || !in->round || !in->held)
        ar_reader_lack_memory(in);
}

/* Takes the number, which is 0 as long as it was not told. */
static void
read_number(struct ar_reader *in, int *number, int most)
{
    const struct ar_word word = ar_reader_word(in);
    int value = 0;
    if (*number > 0)
        ar_reader_refuse(in, word.at, "this was told before");
    if (!ar_word_int(word, 1, most, &value))
        ar_reader_refuse(in, word.at, "a number is expected here; allowed: 1 to %d", most);
    if (!in->error)
        *number = value;
    in->at += word.length;
}

static void
read_name(struct ar_reader *in)
{
    ar_reader_skip_blanks(in);
    size_t n = 0;
    while (ar_is_name_char(in->at[n]))
        n++;
    if (n == 0 || n >= AR_WRITTEN_NAME)
        ar_reader_refuse(
            in, in->at,
            "a name is expected here; allowed: up to 63 letters, digits, '_', '-' and '.'");
    else
        snprintf(in->w->name, sizeof in->w->name, "%.*s", (int)n, in->at);
    in->at += n;
}

static void
read_line(struct ar_reader *in)
{
    static const char *const words[] = {"name", "ranks", "blocks", "tmp",
                                        "for",  "all",   "rank",   NULL};
    enum { NAME, RANKS, BLOCKS, TMP, FOR, ALL, RANK };
    struct ar_written *const w = in->w;
    if (is_indented(in))
        ar_reader_refuse(in, in->line, "only what belongs to a 'for' is indented");
    const int word = ar_reader_expect_word(in, words);
    if (word >= TMP && !in->error)
        prepare(in);
    if (in->error)
        return;
    if (word == NAME)
        read_name(in);
    else if (word == RANKS)
        read_number(in, &w->nranks, AR_WRITTEN_RANKS_MAX);
    else if (word == BLOCKS)
        read_number(in, &w->nblocks, AR_WRITTEN_BLOCKS_MAX);
    else if (word == TMP)
        read_piece_line(in);
    else if (word == FOR)
        read_for(in);
    else
        read_ranks(in, word == ALL, false);
    if (word != FOR && !in->error && !ar_reader_is_at_end(in))
        ar_reader_refuse(in, in->at,
                         "something follows that is not expected; allowed: the end of the line");
}

static void
read_all(struct ar_reader *in)
{
    if (!ar_reader_take(in, AR_WRITTEN_VERSION) || !ar_reader_is_at_end(in))
        ar_reader_refuse(
            in, in->at,
            "the first line is that of another form or version; allowed: '" AR_WRITTEN_VERSION "'");
    while (!in->error && *in->at) {
        const bool is_empty = ar_reader_is_at_end(in);
        const bool is_first = in->number == 1;
        if (!is_empty)
            read_line(in);
        /* A for ends where the line behind it begins. */
        if (!in->error && (is_first || is_empty || in->at != in->line))
            ar_reader_next_line(in);
    }
    if (!in->error)
        prepare(in);
}

int
ar_written_read(struct ar_written *w, const char *text, struct ar_text *why)
{
    struct ar_reader in = {
        .at = text, .line = text, .number = 1, .w = w, .why = why, .r = -1, .k = -1};
    *w = (struct ar_written){.name = "schedule"};
    read_all(&in);
    free(in.round);
    free(in.held);
    if (in.error)
        ar_written_fini(w);
    return in.error;
}

int
ar_written_row_read(struct ar_written_row *row, const char *text,
                    const struct ar_written_proof *given, size_t most_work, struct ar_text *why)
{
    struct ar_written w;
    struct ar_written_proof proof;
    char refuted[AR_REFUTED_TEXT] = "";
    int error = ar_written_read(&w, text, why);
    if (error)
        return error;
    if (!given && ar_written_work(&w) > most_work)
        error = AR_ERR_PARAM;
    else if (!given)
        error = ar_written_prove(&proof, &w, refuted);
    ar_text_add(why, "%s", refuted);
    if (!error)
        error = ar_written_row_init(row, &w, given ? given : &proof, text);
    if (error)
        ar_written_fini(&w);
    return error;
}
