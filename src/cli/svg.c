/* Two passes over one figure: the first finds the width of a column, the second
 * draws, from top to bottom.  All lengths are in pixels. */
#include "cli/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page.h"
#include "schedule/figure.h"

#define LEFT         64  /* of the first column */
#define RIGHT        16  /* behind the last */
#define LETTER       7.2 /* a character of the notes and labels, in a wide font */
#define NOTE_LINE    18
#define COLUMN_LEAST 30
#define COLUMN_MOST  96
#define COLUMNS_MOST 2400 /* of all columns, if they need not be narrower than COLUMN_LEAST */
#define WIDTH_LEAST  640  /* of the picture: the legend needs it */
#define PLUS         6    /* radius of the sign where a message is combined */
#define ARROWS_LEAST 46   /* height of the arrows of a round */
#define ARROWS_MOST  110
#define HELD_MOST    14 /* height of what a rank holds of a block */
#define HELD_LEAST   4
#define HELD_ALL     112 /* of all blocks, if they need not be lower than HELD_LEAST */
#define HELD_LETTERS 11  /* height from which there is room for letters */

struct drawing {
    FILE *file;
    struct ar_figure figure;
    int column; /* width */
    int held;   /* height of a block */
    int y;      /* next free line */
};

static int
center(const struct drawing *d, int rank)
{
    return LEFT + rank * d->column + d->column / 2;
}

/* --- measuring --- */

static int
clamp(int x, int least, int most)
{
    return x < least ? least : x > most ? most : x;
}

/* Finds the width of a column and the height of what is held.  AR_OK or AR_ERR_MEMORY. */
static int
measure(struct drawing *d)
{
    struct ar_figure *const f = &d->figure;
    const int even = (WIDTH_LEAST - LEFT - RIGHT) / f->nranks;
    const int most = clamp(COLUMNS_MOST / f->nranks, COLUMN_LEAST, COLUMN_MOST);
    size_t letters = 0;
    d->held = clamp(HELD_ALL / (int)f->nblocks, HELD_LEAST, HELD_MOST);
    for (size_t round = 0; round <= ar_figure_rounds(f); round++) {
        ar_figure_run(f, round);
        for (size_t i = 0; i < f->narrows; i++) {
            const struct ar_arrow *const arrow = &f->arrows[i];
            const size_t length = arrow->label.length;
            /* Neighbours may exchange: then two labels stand side by side. */
            const size_t beside = abs(arrow->to - arrow->from) == 1 ? 2 * length + 1 : length;
            letters = beside > letters ? beside : letters;
        }
        for (size_t b = 0; d->held >= HELD_LETTERS && b < f->nblocks; b++)
            for (int r = 0; r < f->nranks; r++) {
                const size_t length = ar_figure_held(f, r, b).length;
                letters = length > letters ? length : letters;
            }
    }
    const int needed = (int)((double)letters * LETTER) + 14;
    d->column = clamp(needed > even ? needed : even, COLUMN_LEAST, most);
    return ar_figure_restart(f);
}

static int
width_of(const struct drawing *d, const struct ar_svg_text *text)
{
    int width = center(d, d->figure.nranks) - d->column / 2 + RIGHT;
    for (int i = 0; i < text->n; i++) {
        const int needed = (int)((double)strlen(text->notes[i]) * LETTER) + 2 * RIGHT;
        width = needed > width ? needed : width;
    }
    return width;
}

/* The longer the way of a round's longest arrow, the higher its part of the picture. */
static int
arrows_height(const struct ar_figure *f)
{
    int most = 0;
    for (size_t i = 0; i < f->narrows; i++) {
        const int way = abs(f->arrows[i].to - f->arrows[i].from);
        most = way > most ? way : most;
    }
    return clamp(ARROWS_LEAST + 7 * most, ARROWS_LEAST, ARROWS_MOST);
}

static int
total_height(struct drawing *d)
{
    struct ar_figure *const f = &d->figure;
    const int held = d->held * (int)f->nblocks + 6;
    int height = d->y + held;
    for (size_t round = 0; round <= ar_figure_rounds(f); round++) {
        ar_figure_run(f, round);
        height += round > 0 ? arrows_height(f) + held : 0;
    }
    return ar_figure_restart(f) ? -1 : height + 30;
}

/* --- the head --- */

static const char style[] =
    "<style>\n"
    "text{font:12px sans-serif;fill:#223}\n"
    ".title{font-size:16px;font-weight:bold}\n"
    ".rank{font-weight:bold;text-anchor:middle}\n"
    ".left{fill:#567}\n"
    "g rect{stroke:#b8c4d0}\n"
    ".life{stroke:#b8c4d0}\n"
    ".sum{stroke:#1f5fa8;stroke-width:1.6;fill:none;marker-end:url(#sum)}\n"
    ".copy{stroke:#b3541e;stroke-width:1.6;fill:none;marker-end:url(#copy)}\n"
    ".on{text-anchor:middle;stroke:#fff;stroke-width:4px;paint-order:stroke}\n"
    ".held{font-size:10px;text-anchor:middle}\n"
    ".home{font-weight:bold;text-anchor:middle;fill:#1f5fa8;stroke:#fff;stroke-width:4px;"
    "paint-order:stroke}\n"
    "</style>\n"
    "<defs>\n"
    "<marker id=\"sum\" viewBox=\"0 0 9 9\" refX=\"8.5\" refY=\"4.5\" markerWidth=\"9\" "
    "markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
    "<path d=\"M0 0 9 4.5 0 9z\" fill=\"#1f5fa8\"/></marker>\n"
    "<marker id=\"copy\" viewBox=\"0 0 9 9\" refX=\"8.5\" refY=\"4.5\" markerWidth=\"9\" "
    "markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
    "<path d=\"M0 0 9 4.5 0 9z\" fill=\"#b3541e\"/></marker>\n"
    "<g id=\"plus\" stroke=\"#1f5fa8\" stroke-width=\"1.4\"><circle r=\"5.3\" fill=\"#fff\"/>"
    "<path d=\"M-3.2 0h6.4M0-3.2v6.4\"/></g>\n"
    "</defs>\n";

static void
draw_text(const struct drawing *d, const char *class, int x, int y, const char *text, size_t length)
{
    fprintf(d->file, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
    ar_html_escape(d->file, text, length);
    fputs("</text>\n", d->file);
}

static void
draw_legend(struct drawing *d)
{
    const int y = d->y;
    fprintf(d->file,
            "<path class=\"sum\" d=\"M%d %dh40\"/><use href=\"#plus\" x=\"%d\" y=\"%d\"/>"
            "<text x=\"%d\" y=\"%d\">combined</text>\n"
            "<path class=\"copy\" d=\"M%d %dh44\"/><text x=\"%d\" y=\"%d\">stored</text>\n",
            RIGHT, y - 4, RIGHT + 46, y - 4, RIGHT + 58, y, RIGHT + 138, y - 4, RIGHT + 188, y);
    for (int i = 0; i < 4; i++)
        fprintf(
            d->file,
            "<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"12\" fill=\"%s\" stroke=\"#b8c4d0\"/>\n",
            RIGHT + 248 + 14 * i, y - 10,
            (const char *[]){"#fff", "#e4eefa", "#9cc3ee", "#8fd19e"}[i]);
    fprintf(d->file,
            "<text x=\"%d\" y=\"%d\">held: nothing of use, of few ranks, of many, of all</text>\n",
            RIGHT + 310, y);
    d->y += NOTE_LINE;
}

/* A node has the same colour wherever its ranks are; few share one. */
static void
draw_nodes(struct drawing *d, const int *node_of)
{
    static const char *const tints[] = {"#fbe3c0", "#d5ecd4", "#e3d9f2", "#fbd5d5",
                                        "#d3eef2", "#f4efb8", "#e2e2e2", "#f6d7ec"};
    const int height = NOTE_LINE - 2;
    d->y += 4;
    draw_text(d, "left", RIGHT, d->y + height - 4, "node", strlen("node"));
    for (int r = 0; r < d->figure.nranks; r++)
        fprintf(d->file,
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>"
                "<text class=\"held\" x=\"%d\" y=\"%d\">%d</text>\n",
                center(d, r) - d->column / 2, d->y, d->column, height,
                tints[(size_t)node_of[r] % (sizeof tints / sizeof tints[0])], center(d, r),
                d->y + height - 4, node_of[r]);
    d->y += height - 2;
}

/* AR_OK or AR_ERR_MEMORY. */
static int
draw_head(struct drawing *d, const struct ar_svg_text *text)
{
    const int width = clamp(width_of(d, text), WIDTH_LEAST, 1 << 20);
    /* The title, the notes, the legend, the ranks, their nodes. */
    d->y = (3 + text->n + (text->node_of != NULL)) * NOTE_LINE + 12;
    const int height = total_height(d);
    if (height < 0)
        return AR_ERR_MEMORY;
    fprintf(d->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" role=\"img\">\n<title>",
            width, height, width, height);
    ar_html_escape(d->file, text->title, strlen(text->title));
    fprintf(d->file, "</title>\n%s<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", style, width,
            height);
    draw_text(d, "title", RIGHT, 24, text->title, strlen(text->title));
    d->y = 2 * NOTE_LINE + 8;
    for (int i = 0; i < text->n; i++, d->y += NOTE_LINE)
        draw_text(d, "note", RIGHT, d->y, text->notes[i], strlen(text->notes[i]));
    draw_legend(d);
    d->y += 6;
    fprintf(d->file, "<text class=\"left\" x=\"%d\" y=\"%d\">rank</text>\n", RIGHT, d->y);
    for (int r = 0; r < d->figure.nranks; r++)
        fprintf(d->file, "<text class=\"rank\" x=\"%d\" y=\"%d\">%d</text>\n", center(d, r), d->y,
                r);
    if (text->node_of)
        draw_nodes(d, text->node_of);
    d->y += 6;
    return AR_OK;
}

/* --- a round --- */

/* Pale to dark blue with the share of the ranks; green is the result. */
static void
draw_cell(const struct drawing *d, int rank, size_t block, int y)
{
    const struct ar_figure *const f = &d->figure;
    const struct ar_caption held = ar_figure_held(f, rank, block);
    struct ar_caption name = {"", 0};
    const int width = d->column - 8;
    const int ranks = ar_figure_held_ranks(f, rank, block);
    const double share = f->nranks > 2 ? (double)(ranks - 1) / (f->nranks - 2) : 0;
    char blue[16];
    snprintf(blue, sizeof blue, "#%02x%02x%02x", (unsigned)(228 - 84 * share) & 255,
             (unsigned)(238 - 50 * share) & 255, (unsigned)(250 - 14 * share) & 255);
    ar_caption_block(&name, block);
    fprintf(d->file,
            "<g><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>"
            "<title>rank %d, block %s: %s</title>",
            center(d, rank) - width / 2, y, width, d->held,
            ranks == 0           ? "#fff"
            : ranks == f->nranks ? "#8fd19e"
                                 : blue,
            rank, name.at, held.at[0] == '.' ? "nothing of use" : held.at);
    if (d->held >= HELD_LETTERS && (double)held.length * 6 <= width && held.at[0] != '.')
        fprintf(d->file, "<text class=\"held\" x=\"%d\" y=\"%d\">%s</text>", center(d, rank),
                y + d->held - 3, held.at);
    fputs("</g>\n", d->file);
}

static void
draw_held(struct drawing *d)
{
    for (size_t b = 0; b < d->figure.nblocks; b++) {
        struct ar_caption name = {"", 0};
        ar_caption_block(&name, b);
        if (d->held >= HELD_LETTERS)
            draw_text(d, "left", LEFT - 18, d->y + d->held - 3, name.at, name.length);
        for (int r = 0; r < d->figure.nranks; r++)
            draw_cell(d, r, b, d->y);
        d->y += d->held;
    }
    d->y += 6;
}

/* The arrow ends at the rim of the sign, if the message is combined. */
static void
draw_arrow(const struct drawing *d, const struct ar_arrow *arrow, int height)
{
    const int from = center(d, arrow->from), to = center(d, arrow->to);
    const int drop = height - (arrow->reduces ? PLUS : 0);
    const double length = sqrt((double)(to - from) * (to - from) + (double)drop * drop);
    const double part = arrow->reduces ? 1 - PLUS / length : 1;
    fprintf(d->file, "<g><path class=\"%s\" d=\"M%d %dL%.1f %.1f\"/>",
            arrow->reduces ? "sum" : "copy", from, d->y, from + part * (to - from),
            d->y + part * drop);
    if (arrow->reduces)
        fprintf(d->file, "<use href=\"#plus\" x=\"%d\" y=\"%d\"/>", to, d->y + drop);
    fprintf(d->file, "<title>rank %d sends %s to rank %d, which %s</title></g>\n", arrow->from,
            arrow->label.at, arrow->to, arrow->reduces ? "combines it with its own" : "stores it");
}

/* On the arrow, near its tail, where no other sender's label is; but where tails
 * meet, halfway. */
static void
draw_label(const struct drawing *d, const struct ar_arrow *arrow, int height)
{
    const struct ar_figure *const f = &d->figure;
    const int from = center(d, arrow->from), to = center(d, arrow->to);
    int sent = 0;
    for (size_t i = 0; i < f->narrows; i++)
        sent += f->arrows[i].from == arrow->from;
    const double near_tail = 0.28 / abs(arrow->to - arrow->from);
    const double least = 10.0 / height; /* clear of what stands above */
    const double at = sent > 1 ? 0.5 : near_tail > least ? near_tail : least;
    fprintf(d->file, "<text class=\"on\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
            from + at * (to - from), d->y + at * height + 4, arrow->label.at);
}

static void
draw_round(struct drawing *d, size_t round)
{
    const int height = arrows_height(&d->figure);
    fprintf(d->file, "<text class=\"left\" x=\"%d\" y=\"%d\">round %zu</text>\n", 8,
            d->y + height / 2 + 4, round);
    for (int r = 0; r < d->figure.nranks; r++)
        fprintf(d->file, "<path class=\"life\" d=\"M%d %dv%d\"/>\n", center(d, r), d->y - 6,
                height + 6);
    for (size_t i = 0; i < d->figure.narrows; i++)
        draw_arrow(d, &d->figure.arrows[i], height);
    for (size_t i = 0; i < d->figure.narrows; i++)
        draw_label(d, &d->figure.arrows[i], height);
    for (int r = 0; r < d->figure.nranks; r++) {
        const char mark = ar_figure_work(&d->figure, r, round);
        if (mark != '|')
            fprintf(d->file,
                    "<text class=\"home\" x=\"%d\" y=\"%d\">%c<title>%s at home</title></text>\n",
                    center(d, r) + 14, d->y + height - 4, mark,
                    mark == '+' ? "combines" : "copies");
    }
    d->y += height;
}

int
ar_svg_draw(FILE *file, const struct ar_schedule *schedules, int nranks,
            const struct ar_svg_text *text)
{
    struct drawing d = {.file = file};
    int error = ar_figure_init(&d.figure, schedules, nranks);
    if (error)
        return error;
    error = measure(&d);
    if (!error)
        error = draw_head(&d, text);
    for (size_t round = 0; !error && round <= ar_figure_rounds(&d.figure); round++) {
        ar_figure_run(&d.figure, round);
        if (round > 0)
            draw_round(&d, round);
        draw_held(&d);
    }
    fputs("</svg>\n", file);
    ar_figure_fini(&d.figure);
    return error;
}
