/* The page of a schedule, step by step: what happens in each round, as data for
 * src/page/explain.js. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain.h"
#include "cli/page.h"
#include "report/json.h"
#include "schedule/figure.h"

struct shown {
    const struct ar_schedule *schedules;
    int nranks;
    const struct ar_svg_text *text;
};

/* All but the picture. */
static bool
print_text(const void *what)
{
    const struct ar_svg_text *const text = ((const struct shown *)what)->text;
    printf("%s\n", text->title);
    for (int i = 0; i < text->n; i++)
        printf("%s\n", text->notes[i]);
    return true;
}

/* What arrives in a round: [from, to, is it combined, blocks]. */
static void
put_arrows(struct ar_json *json, const struct ar_figure *f)
{
    ar_json_begin(json, "arrows", '[');
    for (size_t i = 0; i < f->narrows; i++)
        ar_json_put(json, NULL, "[%d,%d,%d,\"%s\"]", f->arrows[i].from, f->arrows[i].to,
                    f->arrows[i].reduces, f->arrows[i].label.at);
    ar_json_end(json, ']');
}

/* What ranks hold that differs from what they held before, which is kept in held: [rank, block, of
 * how many ranks, of which]. */
static void
put_cells(struct ar_json *json, const struct ar_figure *f, struct ar_caption *held)
{
    ar_json_begin(json, "cells", '[');
    for (int r = 0; r < f->nranks; r++)
        for (size_t b = 0; b < f->nblocks; b++, held++) {
            const struct ar_caption now = ar_figure_held(f, r, b);
            if (strcmp(held->at, now.at) == 0)
                continue;
            *held = now;
            ar_json_put(json, NULL, "[%d,%zu,%d,\"%s\"]", r, b, ar_figure_held_ranks(f, r, b),
                        now.at[0] == '.' ? "" : now.at);
        }
    ar_json_end(json, ']');
}

/* AR_OK or AR_ERR_MEMORY. */
static int
put_rounds(struct ar_json *json, struct ar_figure *f)
{
    char work[AR_HOLDINGS_RANKS_MAX + 1] = "";
    /* There may be no block: one more, since NULL is a lack of memory. */
    struct ar_caption *const held = calloc((size_t)f->nranks * f->nblocks + 1, sizeof *held);
    if (!held)
        return AR_ERR_MEMORY;
    ar_json_begin(json, "rounds", '[');
    for (size_t round = 0; round <= ar_figure_rounds(f); round++) {
        ar_figure_run(f, round);
        for (int r = 0; r < f->nranks; r++)
            work[r] = ar_figure_work(f, r, round);
        ar_json_begin(json, NULL, '{');
        ar_json_put_text(json, "work", work);
        put_arrows(json, f);
        put_cells(json, f, held);
        ar_json_end(json, '}');
    }
    ar_json_end(json, ']');
    free(held);
    return AR_OK;
}

static void
put_blocks(struct ar_json *json, const struct ar_figure *f)
{
    ar_json_begin(json, "blocks", '[');
    for (size_t b = 0; b < f->nblocks; b++) {
        struct ar_caption name = {"", 0};
        ar_caption_block(&name, b);
        ar_json_put_text(json, NULL, name.at);
    }
    ar_json_end(json, ']');
}

static void
put_nodes(struct ar_json *json, const int *node_of, int nranks)
{
    ar_json_begin(json, "nodes", '[');
    for (int r = 0; r < nranks; r++)
        ar_json_put(json, NULL, "%d", node_of[r]);
    ar_json_end(json, ']');
}

static void
put_texts(struct ar_json *json, const struct ar_svg_text *text)
{
    ar_json_put_text(json, "title", text->title);
    ar_json_begin(json, "notes", '[');
    for (int i = 0; i < text->n; i++)
        ar_json_put_text(json, NULL, text->notes[i]);
    ar_json_end(json, ']');
    ar_json_put(json, "formulas", "[%d,%d]", text->formulas, text->formulas + text->nformulas);
    ar_json_begin(json, "counts", '[');
    for (const struct ar_explain_count *c = text->counts.lines;
         c < text->counts.lines + text->counts.n; c++)
        ar_json_put(json, NULL, "[\"%s\",\"%s\",\"%s\",\"%s\"]", c->what, c->ours, c->least,
                    c->ratio);
    ar_json_end(json, ']');
}

static bool
print_document(const void *what)
{
    const struct shown *const shown = what;
    struct ar_json json = {.to = stdout};
    struct ar_figure figure;
    int error = ar_figure_init(&figure, shown->schedules, shown->nranks);
    ar_json_begin(&json, NULL, '{');
    put_texts(&json, shown->text);
    ar_json_put(&json, "ranks", "%d", shown->nranks);
    if (shown->text->node_of)
        put_nodes(&json, shown->text->node_of, shown->nranks);
    if (!error) {
        put_blocks(&json, &figure);
        error = put_rounds(&json, &figure);
    }
    ar_json_end(&json, '}');
    ar_figure_fini(&figure);
    return !error;
}

int
ar_explain_page(const char *path, const struct ar_schedule *schedules, int nranks,
                const struct ar_svg_text *text)
{
    const struct shown shown = {schedules, nranks, text};
    return ar_page_write(path, "explain.js", print_text, print_document, &shown);
}
