/* The page of one call of a timeline.  C writes what happened as data, and a script draws it. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/html.h"
#include "cli/read_timeline.h"
#include "select/number.h"

/* What a page of 200 KB has room for; of more, that which lasted longest is drawn. */
#define SLICES_DRAWN 3000
#define ARROWS_DRAWN 1500
#define ROWS_DRAWN   64

static const char style[] =
    "<style>\n"
    "#timeline{--call:#dfe6ee;--setup:#a9b1ba;--wait:#f0b35b;--work:#3f86cf;--path:#c2255c;"
    "--arrow:#5b6570;width:100%;height:auto;touch-action:none;cursor:crosshair}\n"
    "@media screen and (prefers-color-scheme:dark){#timeline{--call:#2b333c;--setup:#69737e;"
    "--wait:#b9761b;--work:#3b78b5;--path:#ff6b9d;--arrow:#9aa5b1}}\n"
    "#timeline .call{fill:var(--call)}#timeline .setup{fill:var(--setup)}"
    "#timeline .wait{fill:var(--wait)}#timeline .work{fill:var(--work)}"
    "#timeline .round{fill:none;stroke:var(--soft);stroke-width:.8}"
    "#timeline .before{stroke:var(--soft);stroke-dasharray:2 4}"
    "#timeline .arrow{stroke:var(--arrow);stroke-width:1;fill:none}"
    "#timeline .flag{stroke-dasharray:4 3}"
    "#timeline .path{stroke:var(--path);stroke-width:2.2;fill:none}"
    "#timeline .tip{fill:var(--arrow);stroke:none}#timeline .path.tip{fill:var(--path)}"
    "#timeline .small{font-size:11px}#timeline .m{text-anchor:middle}#timeline .e{text-anchor:end}"
    "#timeline .part0{fill:#7a8fa8}#timeline .part1{fill:#a9b1ba}#timeline .part2{fill:#5fa777}"
    "#timeline .part3{fill:var(--wait)}#timeline .part4{fill:var(--work)}"
    "#timeline .pick{fill:var(--bar);opacity:.5}\n"
    "@media print{.screen{display:none}}\n"
    "</style>\n";

static const char controls[] =
    "<p class=\"screen\"><button id=\"whole\" type=\"button\">Whole call</button>\n"
    "<button id=\"inside\" type=\"button\">From the last arrival</button>\n"
    "<button id=\"closer\" type=\"button\" aria-label=\"closer\">+</button>\n"
    "<button id=\"wider\" type=\"button\" aria-label=\"wider\">&minus;</button>\n"
    "<button id=\"back\" type=\"button\" aria-label=\"earlier\">&#9664;</button>\n"
    "<button id=\"on\" type=\"button\" aria-label=\"later\">&#9654;</button>\n"
    "<output id=\"says\"></output></p>\n"
    "<svg id=\"timeline\" role=\"img\"></svg>\n"
    "<noscript><p>This picture needs scripts, all of which are in this file.</p></noscript>\n";

static const char script[] =
    "const get = id => document.getElementById(id), picture = get('timeline');\n"
    "const wide = Math.max(360, Math.min(1090, picture.clientWidth)), left = wide < 600 ? 64 : "
    "110;\n"
    "const head = 30, high = 40, kinds = ['call', 'setup', 'round', 'wait', 'work'];\n"
    "const rows = call.rows.length, foot = head + rows * high, tall = foot + 50;\n"
    "let from, to;\n"
    "const at = time => left + (time - from) / (to - from) * (wide - left - 10);\n"
    "const tag = (name, values, inside) => '<' + name + Object.entries(values)\n"
    "    .map(([key, value]) => ` ${key}=\"${value}\"`).join('') + `>${inside ?? ''}</${name}>`;\n"
    "const write = (kind, x, y, text) => tag('text', {class: kind, x, y}, text);\n"
    "const units = [['s', 1e6], ['ms', 1e3], ['us', 1], ['ns', 1e-3]];\n"
    "const unit_of = time => units.find(([, size]) => time >= size) || units[2];\n"
    "const us = (time, digits = 3) => {\n"
    "    const [unit, size] = unit_of(time);\n"
    "    return `${+(time / size).toPrecision(digits)} ${unit}`;\n"
    "};\n"
    "const y_of = row => head + row * high + 10;\n"
    "const box = (kind, begin, lasts, y, height, says, label) => {\n"
    "    const x = Math.max(at(begin), left), end = Math.min(at(begin + lasts), wide - 10);\n"
    "    if (end < left || x > wide - 10)\n"
    "        return '';\n"
    "    return tag('g', {}, tag('rect', {class: kind, x: x.toFixed(1), y, height,\n"
    "        width: Math.max(end - x, .6).toFixed(1)}) + tag('title', {}, says) +\n"
    "        (label && label.length * 6.2 < end - x ? write('small m', (x + end) / 2,\n"
    "            y + height / 2 + 4, label) : ''));\n"
    "};\n"
    "const draw_slice = ([row, kind, begin, lasts, detail]) => {\n"
    "    const rank = call.rows[row][0], y = y_of(row), span = `${us(lasts)}, from ${us(begin)} "
    "on`;\n"
    "    const label = [call.ran, 'set-up', `round ${detail}`, detail < 0 ? 'waits' :\n"
    "        `waits for ${detail}`, 'works'][kind];\n"
    "    return box(kinds[kind], begin, lasts, kind == 2 ? y - 5 : y, kind == 2 ? 4 : 20,\n"
    "        `rank ${rank}: ${label}: ${span}`, kind == 3 || kind == 1 ? label : '');\n"
    "};\n"
    "const line = (kind, [x, y], [u, v], says) => {\n"
    "    const long = Math.hypot(u - x, v - y) || 1, [a, b] = [(u - x) / long, (v - y) / long];\n"
    "    return tag('g', {}, tag('path', {class: kind, d: `M${x.toFixed(1)} ${y}L${u.toFixed(1)} "
    "${v}`}) +\n"
    "        tag('path', {class: kind.replace('flag', '') + ' tip', d: `M${u.toFixed(1)} ${v}` +\n"
    "            `l${(-7 * a - 3 * b).toFixed(1)} ${(-7 * b + 3 * a).toFixed(1)}` +\n"
    "            `l${(6 * b).toFixed(1)} ${(-6 * a).toFixed(1)}z`}) + tag('title', {}, says));\n"
    "};\n"
    "const draw_arrow = ([sender, receiver, begin, end, bytes, is_flag, on_path]) => {\n"
    "    if (end < from || begin > to)\n"
    "        return '';\n"
    "    const down = receiver > sender;\n"
    "    return line((on_path ? 'path' : 'arrow') + (is_flag ? ' flag' : ''),\n"
    "        [at(begin), y_of(sender) + (down ? 20 : 0)], [at(end), y_of(receiver) + (down ? 0 : "
    "20)],\n"
    "        `rank ${call.rows[sender][0]} to rank ${call.rows[receiver][0]}: ` + (is_flag ? 'a "
    "flag' :\n"
    "            `${bytes} bytes`) + `, ${us(begin)} to ${us(end)}`);\n"
    "};\n"
    "const draw_axis = () => {\n"
    "    const raw = (to - from) / (wide - left) * 90, power = 10 ** "
    "Math.floor(Math.log10(raw));\n"
    "    const step = power * [1, 2, 5, 10].find(n => n * power >= raw);\n"
    "    const [unit, size] = unit_of(to);\n"
    "    let all = '';\n"
    "    for (let n = Math.ceil(from / step); n * step <= to; n++)\n"
    "        all += tag('path', {class: 'grid', d: `M${at(n * step).toFixed(1)} ${head - 6}V${tall "
    "-"
    " 8}`}) +\n"
    "            write('small m', at(n * step), 16, `${+(n * step / size).toPrecision(12)}`);\n"
    "    return all + write('small', 4, 16, unit);\n"
    "};\n"
    "const draw_model = () => {\n"
    "    let begin = call.last, all = write('', 4, foot + 28, 'model');\n"
    "    if (!call.model)\n"
    "        return all + write('small', left, foot + 28, 'no time is known');\n"
    "    call.model.forEach(([name, lasts], part) => {\n"
    "        all += lasts > 0 ? box('part' + part, begin, lasts, foot + 13, 20, `model: ${name} "
    "${us(lasts)}`, name) : '';\n"
    "        begin += lasts;\n"
    "    });\n"
    "    return all + (begin > from && call.last < to ? write('small', Math.max(left, at(begin)) + "
    "6,\n"
    "        foot + 28, us(begin - call.last)) : '');\n"
    "};\n"
    "const draw = (begin, end) => {\n"
    "    from = Math.max(0, begin);\n"
    "    to = Math.min(call.span, Math.max(end, from + 1e-3));\n"
    "    let all = draw_axis();\n"
    "    call.rows.forEach(([rank, came], row) => {\n"
    "        all += write('', 4, y_of(row) + 15, `rank ${rank}`);\n"
    "        all += came > from ? tag('path', {class: 'before', d: `M${left} ${y_of(row) + 10}` +\n"
    "            `H${Math.min(at(came), wide - 10).toFixed(1)}`}) : '';\n"
    "    });\n"
    "    all += call.slices.map(draw_slice).join('') + call.legs.map(([row, begin, end]) =>\n"
    "        end < from || begin > to ? '' : tag('path', {class: 'path', d: `M${Math.max(left,\n"
    "            at(begin)).toFixed(1)} ${y_of(row) + 22}H${Math.min(wide - 10, at(end))"
    ".toFixed(1)}`})).join('');\n"
    "    picture.innerHTML = all + tag('svg', {x: left, y: 0, width: wide - left - 10, height: "
    "tall,\n"
    "        viewBox: `${left} 0 ${wide - left - 10} ${tall}`}, "
    "call.arrows.map(draw_arrow).join('')) +\n"
    "        draw_model();\n"
    "    get('says').textContent = `${us(from, 4)} to ${us(to, 4)} of ${us(call.span, 4)}`;\n"
    "};\n"
    "const zoom = (by, shift) => {\n"
    "    const middle = (from + to) / 2 + shift * (to - from), half = (to - from) / 2 * by;\n"
    "    draw(Math.min(middle - half, call.span - 2 * half), Math.max(middle + half, 2 * half));\n"
    "};\n"
    "const inside = () => draw(call.last - .03 * (call.span - call.last), call.span);\n"
    "picture.setAttribute('viewBox', `0 0 ${wide} ${tall}`);\n"
    "get('whole').onclick = () => draw(0, call.span);\n"
    "get('inside').onclick = inside;\n"
    "get('closer').onclick = () => zoom(.5, 0);\n"
    "get('wider').onclick = () => zoom(2, 0);\n"
    "get('back').onclick = () => zoom(1, -.25);\n"
    "get('on').onclick = () => zoom(1, .25);\n"
    "const time_of = event => { const edge = picture.getBoundingClientRect();\n"
    "    const x = (event.clientX - edge.left) / edge.width * wide;\n"
    "    return from + (x - left) / (wide - left - 10) * (to - from); };\n"
    "let held;\n"
    "picture.onpointerdown = event => { held = time_of(event); };\n"
    "picture.onpointerup = event => { const now = time_of(event);\n"
    "    if (Math.abs(at(now) - at(held)) > 5)\n"
    "        draw(Math.min(held, now), Math.max(held, now)); };\n"
    "picture.ondblclick = () => draw(0, call.span);\n"
    "if (call.last > .75 * call.span)\n"
    "    inside();\n"
    "else\n"
    "    draw(0, call.span);\n";

/* --- what is drawn --- */

/* What there is more of than room; the others lasted no longer than shortest. */
struct sieve {
    size_t n, kept;
    double shortest;
};

static int
compare_lengths(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return a > b ? -1 : a < b;
}

/* Sorts lengths. */
static struct sieve
make_sieve(double *lengths, size_t n, size_t room)
{
    struct sieve sieve = {.n = n, .kept = n < room ? n : room, .shortest = -1};
    if (n > room) {
        qsort(lengths, n, sizeof *lengths, compare_lengths);
        sieve.shortest = lengths[room];
        while (sieve.kept > 0 && lengths[sieve.kept - 1] <= sieve.shortest)
            sieve.kept--;
    }
    return sieve;
}

/* The row's place in the picture; -1: not drawn.  Of too many rows those on the critical path come
 * first, and then those of the last arrivals. */
static int *
place_rows(const struct ar_read_trace_view *v)
{
    const size_t n = (size_t)v->call->nparts;
    int *const place = calloc(n + 1, sizeof *place);
    size_t left = ROWS_DRAWN;
    int next = 0;
    if (!place)
        return NULL;
    for (size_t i = 0; i < v->nlegs && left > 0; i++) {
        left -= !place[v->legs[i].row];
        place[v->legs[i].row] = 1;
    }
    for (; left > 0; left--) {
        size_t latest = n;
        for (size_t i = 0; i < n; i++)
            if (!place[i] && (latest == n || v->rows[i].begin > v->rows[latest].begin))
                latest = i;
        if (latest == n)
            break;
        place[latest] = 1;
    }
    for (size_t i = 0; i < n; i++)
        place[i] = place[i] ? next++ : -1;
    return place;
}

static int
place_of(const struct ar_read_trace_view *v, const int *places, int rank)
{
    for (int i = 0; i < v->call->nparts; i++)
        if (v->rows[i].rank == rank)
            return places[i];
    return -1;
}

/* --- the data --- */

static void
put_rows(FILE *file, const struct ar_read_trace_view *v, const int *places)
{
    fprintf(file, "<script>\nconst call = {span:%.3f,last:%.3f,ran:\"",
            v->call->end - v->call->begin, v->call->last - v->call->begin);
    ar_html_escape(file, v->call->ran, strcspn(v->call->ran, "\\\"\n"));
    fputs("\",\nrows:[", file);
    for (int i = 0; i < v->call->nparts; i++)
        if (places[i] >= 0)
            fprintf(file, "[%d,%.3f],", v->rows[i].rank, v->rows[i].begin - v->call->begin);
    fputs("],\nlegs:[", file);
    for (size_t i = 0; i < v->nlegs; i++)
        if (places[v->legs[i].row] >= 0)
            fprintf(file, "[%d,%.3f,%.3f],", places[v->legs[i].row],
                    v->legs[i].begin - v->call->begin, v->legs[i].end - v->call->begin);
    fputs("],\n", file);
}

static struct sieve
put_slices(FILE *file, const struct ar_read_trace_view *v, const int *places, double *lengths)
{
    const struct ar_slice *const slices = &v->timeline->slices[v->call->first_slice];
    for (size_t i = 0; i < v->call->nslices; i++)
        lengths[i] = slices[i].kind == AR_SLICE_CALL ? INFINITY : slices[i].end - slices[i].begin;
    struct sieve sieve = make_sieve(lengths, v->call->nslices, SLICES_DRAWN);
    fputs("slices:[\n", file);
    for (size_t i = 0; i < v->call->nslices; i++) {
        const struct ar_slice *const s = &slices[i];
        const int place = place_of(v, places, s->rank);
        if (place >= 0 && (s->kind == AR_SLICE_CALL || s->end - s->begin > sieve.shortest))
            fprintf(file, "[%d,%d,%.3f,%.3f,%d],\n", place, s->kind, s->begin - v->call->begin,
                    s->end - s->begin, s->detail);
    }
    fputs("],\n", file);
    return sieve;
}

static bool
is_on_path(const struct ar_read_trace_view *v, const struct ar_read_trace_arrow *arrow)
{
    for (size_t i = 0; i < v->nlegs; i++)
        if (v->legs[i].arrow == arrow)
            return true;
    return false;
}

static struct sieve
put_arrows(FILE *file, const struct ar_read_trace_view *v, const int *places, double *lengths)
{
    const struct ar_read_trace_arrow *const arrows = &v->timeline->arrows[v->call->first_arrow];
    for (size_t i = 0; i < v->call->narrows; i++)
        lengths[i] = arrows[i].end - arrows[i].begin;
    struct sieve sieve = make_sieve(lengths, v->call->narrows, ARROWS_DRAWN);
    fputs("arrows:[\n", file);
    for (size_t i = 0; i < v->call->narrows; i++) {
        const struct ar_read_trace_arrow *const a = &arrows[i];
        const int from = place_of(v, places, a->from), to = place_of(v, places, a->to);
        const bool on_path = is_on_path(v, a);
        if (from >= 0 && to >= 0 && (on_path || a->end - a->begin > sieve.shortest))
            fprintf(file, "[%d,%d,%.3f,%.3f,%.0f,%d,%d],\n", from, to, a->begin - v->call->begin,
                    a->end - v->call->begin, a->bytes, a->is_flag, on_path);
    }
    fputs("],\n", file);
    return sieve;
}

static void
put_model(FILE *file, const struct ar_read_trace_view *v)
{
    if (v->unknown) {
        fputs("model:null};\n</script>\n", file);
        return;
    }
    fputs("model:[", file);
    for (int i = 0; i < AR_PARTS; i++)
        fprintf(file, "[\"%s\",%.3f],", ar_part_names[i], v->predicted.end.parts[i] * 1e-3);
    fputs("]};\n</script>\n", file);
}

static void
say_what_is_left_out(struct ar_html *page, const struct ar_read_trace_view *v,
                     const struct sieve *slices, const struct sieve *arrows)
{
    char time[AR_NUMBER_TEXT];
    if (v->call->nparts > ROWS_DRAWN)
        ar_html_paragraph(
            page, "Of %d ranks, %d are drawn: those on the critical path and those that came last.",
            v->call->nparts, ROWS_DRAWN);
    if (slices->kept < slices->n)
        ar_html_paragraph(page, "Of %zu slices, only those longer than %s are drawn.", slices->n,
                          ar_time_print(slices->shortest * 1e3, time, sizeof time));
    if (arrows->kept < arrows->n)
        ar_html_paragraph(
            page,
            "Of %zu messages and flags, only those that took longer than %s and those "
            "on the critical path are drawn.",
            arrows->n, ar_time_print(arrows->shortest * 1e3, time, sizeof time));
}

/* False without memory. */
static bool
add_picture(struct ar_html *page, const struct ar_read_trace_view *v)
{
    const size_t most = v->call->nslices > v->call->narrows ? v->call->nslices : v->call->narrows;
    double *const lengths = malloc((most + 1) * sizeof *lengths);
    int *const places = place_rows(v);
    const bool is_done = lengths && places;
    if (is_done) {
        fprintf(page->file, "%s%s", style, controls);
        put_rows(page->file, v, places);
        const struct sieve slices = put_slices(page->file, v, places, lengths);
        const struct sieve arrows = put_arrows(page->file, v, places, lengths);
        put_model(page->file, v);
        fprintf(page->file, "<script>\n%s</script>\n", script);
        ar_html_paragraph(
            page, "Ranks run down, and time since the first arrival runs across. Orange is "
                  "waiting, blue is combining and copying, grey is set-up, and a thin frame above "
                  "is a round. A dashed line means that a rank has not come yet. An arrow is a "
                  "message, and a dashed arrow is a flag in shared memory. The critical path is "
                  "red. The model's time begins with the last arrival. Point at anything to see "
                  "its times; drag across a stretch to enlarge it.");
        say_what_is_left_out(page, v, &slices, &arrows);
    }
    free(lengths);
    free(places);
    return is_done;
}

/* --- tables --- */

static void
add_time(struct ar_html *page, double us)
{
    char text[AR_NUMBER_TEXT];
    ar_html_cell(page, "%s", ar_time_print(us * 1e3, text, sizeof text));
}

static void
add_ranks(struct ar_html *page, const struct ar_read_trace_view *v)
{
    ar_html_heading(page, "Ranks");
    ar_html_table_begin(page, ">rank|~host|>came after|>set-up|>waiting|>work|>left after|"
                              "waited longest for");
    for (int i = 0; i < v->call->nparts && i < ROWS_DRAWN; i++) {
        const struct ar_read_trace_row *const row = &v->rows[i];
        ar_html_cell(page, "%d", row->rank);
        ar_html_cell(page, "%s", ar_read_trace_host(v->timeline, row->rank));
        add_time(page, row->begin - v->call->begin);
        add_time(page, row->setup);
        add_time(page, row->waiting);
        add_time(page, row->work);
        add_time(page, row->end - v->call->begin);
        if (row->awaited >= 0)
            ar_html_cell(page, "rank %d", row->awaited);
        else
            ar_html_cell(page, "-");
    }
    ar_html_table_end(page);
    if (v->call->nparts > ROWS_DRAWN)
        ar_html_paragraph(page, "The first %d of %d ranks.", ROWS_DRAWN, v->call->nparts);
}

static void
add_calls(struct ar_html *page, const struct ar_read_trace_view *v)
{
    const struct ar_read_trace *const t = v->timeline;
    size_t numbers[AR_READ_TRACE_CALLS_TOLD];
    const size_t n = ar_read_trace_longest(t, numbers, AR_READ_TRACE_CALLS_TOLD);
    ar_html_heading(page, "Calls of this run");
    ar_html_table_begin(page, ">call|>time|>late ranks|>exchange|>ranks|>bytes|~ran|~communicator");
    for (size_t i = 0; i < n; i++) {
        const struct ar_read_trace_call *const call = &t->calls[numbers[i]];
        char text[AR_SIZE_TEXT];
        ar_html_cell(page, "%zu", numbers[i] + 1);
        add_time(page, call->end - call->begin);
        add_time(page, call->last - call->begin);
        add_time(page, call->end - call->last);
        ar_html_cell(page, "%d", call->nranks);
        ar_html_cell(page, "%s", ar_size_print((size_t)call->bytes, text, sizeof text));
        ar_html_cell_noted(page, call->ran, call->reason);
        ar_html_cell(page, "%s", *call->comm ? call->comm : "-");
    }
    ar_html_table_end(page);
    ar_html_paragraph(page, "%zu of %zu call%s, the longest first. --call N shows another.", n,
                      t->ncalls, ar_plural(t->ncalls));
}

int
ar_read_trace_write_html(const char *path, const struct ar_read_trace_view *v)
{
    const struct ar_read_trace *const t = v->timeline;
    const struct ar_read_trace_call *const call = v->call;
    struct ar_html page;
    char title[AR_READ_TRACE_TEXT], text[AR_READ_TRACE_TEXT];
    snprintf(title, sizeof title, "A call of MPI_Allreduce in %s, %d rank%s, %s", t->program,
             t->ranks, ar_plural((size_t)t->ranks), t->when);
    const int status = ar_html_open(&page, path, title);
    if (status != AR_EXIT_DONE)
        return status;
    ar_html_verdict(&page, "%s", ar_read_trace_verdict(v, text, sizeof text));
    ar_size_print((size_t)call->bytes, text, sizeof text);
    ar_html_paragraph(
        &page, "Call %zu of the run: %s bytes of %s, %s, on %d rank%s of %s, by %s (%s).",
        v->number, text, call->type, call->op, call->nranks, ar_plural((size_t)call->nranks),
        *call->comm ? call->comm : "a communicator", call->ran, call->reason);
    ar_html_paragraph(&page, "%s", ar_read_trace_path(v, text, sizeof text));
    if (*ar_read_trace_caution(v, text, sizeof text))
        ar_html_paragraph(&page, "%s", text);
    if (!add_picture(&page, v)) {
        ar_html_drop(&page);
        fprintf(stderr, "allreduce report: out of memory\n");
        return AR_EXIT_FAILED;
    }
    ar_html_paragraph(&page, "%s", ar_read_trace_model(v, text, sizeof text));
    add_ranks(&page, v);
    add_calls(&page, v);
    return ar_html_close(&page);
}
