/* The page of a schedule, step by step.  C writes what happens in each round as data, and a script
 * draws one round at a time. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/explain.h"
#include "cli/html.h"
#include "schedule/figure.h"

/* In the page's own colours; those that it lacks: messages, what is held, and the nodes. */
static const char style[] =
    "<style>\n"
    ".schedule{--sum:#1f5fa8;--copy:#b3541e;--part:#5b9bd5;--all:#8fd19e;width:100%;height:auto}\n"
    "@media screen and (prefers-color-scheme:dark){.schedule{--sum:#7db8f5;--copy:#f0a070;"
    "--part:#3b78b5;--all:#2e7d4a}}\n"
    "#round{width:min(20rem,40%);vertical-align:middle}"
    ".schedule text{text-anchor:middle}.schedule .left{text-anchor:start}"
    ".schedule .on{stroke:var(--paper);stroke-width:4px;paint-order:stroke}"
    ".schedule .held{font-size:11px}\n"
    ".schedule .life{stroke:var(--line)}"
    ".schedule .sum{stroke:var(--sum);fill:var(--sum)}"
    ".schedule .copy{stroke:var(--copy);fill:var(--copy)}"
    ".schedule .cell rect{stroke:var(--line);fill:none}"
    ".schedule .cell .part{fill:var(--part)}.schedule .cell .all{fill:var(--all)}"
    ".schedule .new rect{stroke:var(--ink);stroke-width:2}\n"
    "#paper{display:none}@media print{.screen{display:none}#paper{display:block}}\n"
    "</style>\n";

static const char controls[] =
    "<p class=\"screen\"><button id=\"back\" type=\"button\" aria-label=\"one round "
    "back\">&#9664;</button>\n"
    "<button id=\"play\" type=\"button\">Play</button>\n"
    "<button id=\"on\" type=\"button\" aria-label=\"one round on\">&#9654;</button>\n"
    "<input id=\"round\" type=\"range\" min=\"0\" value=\"0\" aria-label=\"round\">\n"
    "<output id=\"says\" for=\"round\"></output></p>\n"
    "<div class=\"wide screen\"><svg id=\"schedule\" class=\"schedule\" role=\"img\"></svg></div>\n"
    "<div id=\"paper\"></div>\n"
    "<noscript><p>This picture needs scripts, all of which are in this file.</p></noscript>\n";

/* A round's address is its number behind '#'. */
static const char script[] =
    "const get = id => document.getElementById(id), slider = get('round');\n"
    "const last = explained.rounds.length - 1, ranks = explained.ranks;\n"
    "const left = 74, arrows = 130, room = Math.min(982, get('schedule').clientWidth) - left - "
    "8;\n"
    "const column = Math.max(30, Math.min(110, room / ranks));\n"
    "const center = rank => left + (rank + .5) * column;\n"
    "const head = explained.nodes ? 52 : 28, cell = 20, top_of_cells = head + arrows + 16;\n"
    "const tag = (name, values, inside) => '<' + name + Object.entries(values)\n"
    "    .map(([key, value]) => ` ${key}=\"${value}\"`).join('') + `>${inside ?? ''}</${name}>`;\n"
    "const write = (kind, x, y, text) => tag('text', {class: kind, x, y}, text);\n"
    "const draw_node = (node, rank) => tag('rect', {x: left + rank * column, y: 28, width: "
    "column,\n"
    "    height: 20, fill: `hsl(${(210 + node * 137) % 360} 60% 55% / .35)`}) +\n"
    "    write('held', center(rank), 43, node);\n"
    "const draw_arrow = ([from, to, reduces, label]) => {\n"
    "    const x = center(from), y = head, wide = center(to) - x, long = Math.hypot(wide, "
    "arrows);\n"
    "    const [along, down] = [wide / long, arrows / long], kind = reduces ? 'sum' : 'copy';\n"
    "    const tip = [center(to), y + arrows], at = (back, aside) => [tip[0] - back * along -\n"
    "        aside * down, tip[1] - back * down + aside * along].join(' ');\n"
    "    return tag('g', {class: 'arrow'}, tag('path', {class: kind, 'stroke-width': 1.8,\n"
    "        d: `M${x} ${y}L${at(6, 0)}`}) + tag('path', {class: kind,\n"
    "        d: `M${at(0, 0)}L${at(9, 4)}L${at(9, -4)}z`}) + (reduces ? write('on', tip[0] + 12,\n"
    "        tip[1] - 2, '+') : '') + tag('title', {}, `rank ${from} sends ${label} to rank ${to}, "
    "which ` +\n"
    "        (reduces ? 'combines it with its own' : 'stores it')));\n"
    "};\n"
    "const draw_label = ([from, to, , label], i, others) => {\n"
    "    const sent = others.filter(other => other[0] == from).length;\n"
    "    const part = sent > 1 ? .5 : Math.max(.28 / Math.abs(to - from), .1);\n"
    "    return write('on', center(from) + (center(to) - center(from)) * part,\n"
    "        head + arrows * part + 4, label);\n"
    "};\n"
    "const draw_cell = (rank, block, [n, text], is_new) => {\n"
    "    const x = left + rank * column + 3, y = top_of_cells + block * cell;\n"
    "    const kind = n == ranks ? 'all' : n ? 'part' : '';\n"
    "    return tag('g', {class: 'cell' + (is_new ? ' new' : ''), 'data-ranks': n}, tag('rect',\n"
    "        {class: kind, x, y, width: column - 6, height: cell - 3,\n"
    "        'fill-opacity': n == ranks ? 1 : .25 + .6 * n / ranks}) +\n"
    "        (text.length * 7 < column - 6 ? write('held', center(rank), y + 13, text) : '') +\n"
    "        tag('title', {}, `rank ${rank}, block ${explained.blocks[block]}: ` +\n"
    "            (text || 'nothing of use')));\n"
    "};\n"
    "const draw = round => {\n"
    "    const held = {}, now = explained.rounds[round], fresh = new Set();\n"
    "    explained.rounds.slice(0, round + 1).forEach(({cells}) => cells.forEach(\n"
    "        ([rank, block, n, text]) => held[[rank, block]] = [n, text]));\n"
    "    now.cells.forEach(([rank, block]) => fresh.add(`${rank},${block}`));\n"
    "    let all = explained.nodes ? write('left', 4, 43, 'node') +\n"
    "        explained.nodes.map(draw_node).join('') : '';\n"
    "    all += write('left', 4, 20, 'rank');\n"
    "    for (let rank = 0; rank < ranks; rank++)\n"
    "        all += write('', center(rank), 20, rank) + tag('path', {class: 'life',\n"
    "            d: `M${center(rank)} ${head}v${arrows}`}) + (now.work[rank] == '|' ? '' :\n"
    "            write('on', center(rank) + 12, head + arrows - 2, now.work[rank]));\n"
    "    all += now.arrows.map(draw_arrow).join('') + now.arrows.map(draw_label).join('');\n"
    "    explained.blocks.forEach((name, block) => {\n"
    "        all += write('left', 4, top_of_cells + block * cell + 14, name);\n"
    "        for (let rank = 0; rank < ranks; rank++)\n"
    "            all += draw_cell(rank, block, held[[rank, block]] || [0, ''],\n"
    "                round > 0 && fresh.has(`${rank},${block}`));\n"
    "    });\n"
    "    return all;\n"
    "};\n"
    "const title_of = round => round ? `round ${round} of ${last}` : `before round 1 of ${last}`;\n"
    "const show = round => {\n"
    "    get('schedule').innerHTML = draw(round);\n"
    "    slider.value = round;\n"
    "    get('says').textContent = title_of(round);\n"
    "};\n"
    "const go = round => show(Math.max(0, Math.min(last, round)));\n"
    "let clock;\n"
    "const stop = () => {\n"
    "    clearInterval(clock);\n"
    "    clock = undefined;\n"
    "    get('play').textContent = 'Play';\n"
    "};\n"
    "const step = by => {\n"
    "    stop();\n"
    "    go(+slider.value + by);\n"
    "};\n"
    "const play = () => {\n"
    "    if (clock)\n"
    "        return stop();\n"
    "    go(+slider.value < last ? +slider.value + 1 : 0);\n"
    "    get('play').textContent = 'Pause';\n"
    "    clock = setInterval(() => +slider.value < last ? go(+slider.value + 1) : stop(), 1000);\n"
    "};\n"
    "const width = left + ranks * column + 8;\n"
    "get('schedule').style.maxWidth = 1.2 * width + 'px';\n"
    "get('schedule').style.minWidth = Math.min(.7 * width, 700) + 'px';\n"
    "const whole = `0 0 ${width} ${top_of_cells + explained.blocks.length * cell}`;\n"
    "get('schedule').setAttribute('viewBox', whole);\n"
    "addEventListener('beforeprint', () => {\n"
    "    get('paper').innerHTML = explained.rounds.map((_, round) => tag('figure', {},\n"
    "        tag('svg', {class: 'schedule', viewBox: whole}, draw(round)) +\n"
    "        tag('figcaption', {}, title_of(round)))).join('');\n"
    "});\n"
    "slider.max = last;\n"
    "slider.oninput = () => step(0);\n"
    "get('back').onclick = () => step(-1);\n"
    "get('on').onclick = () => step(1);\n"
    "get('play').onclick = play;\n"
    "addEventListener('keydown', event => {\n"
    "    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];\n"
    "    if (by && event.target != slider)\n"
    "        step(by);\n"
    "    if (event.key == ' ' && event.target.tagName != 'BUTTON') {\n"
    "        event.preventDefault();\n"
    "        play();\n"
    "    }\n"
    "});\n"
    "go(+location.hash.slice(1) || 0);\n";

/* --- the data --- */

static void
put_arrows(FILE *file, const struct ar_figure *f)
{
    fputs("{arrows:[", file);
    for (size_t i = 0; i < f->narrows; i++)
        fprintf(file, "[%d,%d,%d,\"%s\"],", f->arrows[i].from, f->arrows[i].to,
                f->arrows[i].reduces, f->arrows[i].label.at);
    fputs("],", file);
}

static void
put_work(FILE *file, const struct ar_figure *f, size_t round)
{
    fputs("work:\"", file);
    for (int r = 0; r < f->nranks; r++)
        fputc(ar_figure_work(f, r, round), file);
    fputs("\",", file);
}

/* What ranks hold that differs from what they held before, which is kept in held. */
static void
put_cells(FILE *file, const struct ar_figure *f, struct ar_caption *held)
{
    fputs("cells:[", file);
    for (int r = 0; r < f->nranks; r++)
        for (size_t b = 0; b < f->nblocks; b++, held++) {
            const struct ar_caption now = ar_figure_held(f, r, b);
            if (strcmp(held->at, now.at) == 0)
                continue;
            *held = now;
            fprintf(file, "[%d,%zu,%d,\"%s\"],", r, b, ar_figure_held_ranks(f, r, b),
                    now.at[0] == '.' ? "" : now.at);
        }
    fputs("]},\n", file);
}

/* AR_OK or AR_ERR_MEMORY. */
static int
put_rounds(FILE *file, struct ar_figure *f)
{
    /* There may be no block: one more, since NULL is a lack of memory. */
    struct ar_caption *const held = calloc((size_t)f->nranks * f->nblocks + 1, sizeof *held);
    if (!held)
        return AR_ERR_MEMORY;
    fputs("rounds:[\n", file);
    for (size_t round = 0; round <= ar_figure_rounds(f); round++) {
        ar_figure_run(f, round);
        put_arrows(file, f);
        put_work(file, f, round);
        put_cells(file, f, held);
    }
    fputs("]", file);
    free(held);
    return AR_OK;
}

/* All that the script wants to know.  AR_OK or AR_ERR_MEMORY. */
static int
put_data(FILE *file, struct ar_figure *f, const int *node_of)
{
    fprintf(file, "<script>\nconst explained = {ranks:%d,\n", f->nranks);
    if (node_of) {
        fputs("nodes:[", file);
        for (int r = 0; r < f->nranks; r++)
            fprintf(file, "%d,", node_of[r]);
        fputs("],\n", file);
    }
    fputs("blocks:[", file);
    for (size_t b = 0; b < f->nblocks; b++) {
        struct ar_caption name = {"", 0};
        ar_caption_block(&name, b);
        fprintf(file, "\"%s\",", name.at);
    }
    fputs("],\n", file);
    const int error = put_rounds(file, f);
    fputs("};\n</script>\n", file);
    return error;
}

/* --- what stands below --- */

static void
add_numbers(struct ar_html *page, const struct ar_svg_text *text)
{
    char formulas[AR_SVG_NOTES * AR_SVG_NOTE_TEXT] = "";
    struct ar_text lines;
    ar_html_paragraph(page, "%s.", text->notes[2]);
    ar_html_table_begin(page, "what|>here|>no algorithm below|>times that");
    for (int i = 0; i < text->ncounts; i++) {
        const struct ar_svg_count *const c = &text->counts[i];
        ar_html_cell(page, "%s", c->what);
        ar_html_cell(page, "%s", c->ours);
        ar_html_cell(page, "%s", *c->least ? c->least : "-");
        ar_html_cell(page, "%s", *c->ratio ? c->ratio : "-");
    }
    ar_html_table_end(page);
    ar_text_init(&lines, formulas, sizeof formulas);
    for (int i = text->formulas; i < text->formulas + text->nformulas; i++)
        ar_text_add(&lines, "%s%s", i > text->formulas ? "\n" : "", text->notes[i]);
    ar_html_code(page, formulas);
}

int
ar_explain_page(const char *path, const struct ar_schedule *schedules, int nranks,
                const struct ar_svg_text *text)
{
    struct ar_figure figure;
    struct ar_html page;
    int error = ar_figure_init(&figure, schedules, nranks);
    int status = error ? AR_EXIT_DONE : ar_html_open(&page, path, text->title);
    if (!error && !status) {
        ar_html_verdict(&page, "%s; %s", text->notes[0], text->notes[1]);
        fprintf(page.file, "%s%s", style, controls);
        error = put_data(page.file, &figure, text->node_of);
        fprintf(page.file, "<script>\n%s</script>\n", script);
        ar_html_paragraph(
            &page,
            "Play, the slider or the arrow keys move from round to round; a printout shows all of "
            "them. An arrow is a message, labelled with its blocks. With a plus sign the receiver "
            "combines the message with its own data; otherwise it stores it. The boxes show whose "
            "contributions a rank holds after the round. Boxes with a thick edge have changed; "
            "green boxes hold the result.");
        add_numbers(&page, text);
        if (error)
            ar_html_drop(&page);
        else
            status = ar_html_close(&page);
    }
    if (error) {
        fprintf(stderr, "allreduce explain: out of memory\n");
        status = AR_EXIT_FAILED;
    }
    ar_figure_fini(&figure);
    return status;
}
