// One call of a timeline.  Times are microseconds.
const {call, rows} = shown, us = x => time(1e3 * x);
put_title(shown.title);
put_verdict(shown.verdict);
put_paragraph(`Call ${call.number} of the run: ${size(call.bytes)} bytes of ${call.type}, ${call.op}, on ${call.ranks}
    rank${plural(call.ranks)} of ${call.comm || 'a communicator'}, by ${call.ran} (${call.reason}).`);
put_paragraph(shown.path);
if (shown.caution)
    put_paragraph(shown.caution);
document.body.insertAdjacentHTML('beforeend', `
<p class="screen"><button id="whole" type="button">Whole call</button>
<button id="inside" type="button">From the last arrival</button>
<button id="closer" type="button" aria-label="closer">+</button>
<button id="wider" type="button" aria-label="wider">&minus;</button>
<button id="back" type="button" aria-label="earlier">&#9664;</button>
<button id="on" type="button" aria-label="later">&#9654;</button>
<output id="says"></output></p>
<svg id="timeline" role="img"></svg>`);
put_paragraph(`Ranks run down, and time since the first arrival runs across. Orange is waiting, blue is combining and
    copying, grey is set-up, and a thin frame above is a round. A dashed line means that a rank has not come yet. An arrow is
    a message, and a dashed arrow is a flag in shared memory. The critical path is red. The model's time begins with the last
    arrival. Point at anything to see its times; drag across a stretch to enlarge it.`);
if (rows.length < shown.nrows)
    put_paragraph(`Of ${shown.nrows} ranks, ${rows.length} are drawn: those on the critical path and those that came last.`);
if (shown.slices_left_out)
    put_paragraph(`Of ${shown.slices_left_out[0]} slices, only those longer than ${us(shown.slices_left_out[1])} are drawn.`);
if (shown.arrows_left_out)
    put_paragraph(`Of ${shown.arrows_left_out[0]} messages and flags, only those that took longer than
        ${us(shown.arrows_left_out[1])} and those on the critical path are drawn.`);
put_paragraph(shown.model_supposes);
put_heading('Ranks');
put_table(rows, [
    ['>rank', row => row.rank],
    ['~host', row => row.host],
    ['>came after', row => us(row.came)],
    ['>set-up', row => us(row.setup)],
    ['>waiting', row => us(row.waiting)],
    ['>work', row => us(row.work)],
    ['>left after', row => us(row.left)],
    ['waited longest for', row => row.awaited < 0 ? '-' : `rank ${row.awaited}`],
]);
put_heading('Calls of this run');
put_table(shown.calls, [
    ['>call', call => call.number],
    ['>time', call => us(call.span)],
    ['>late ranks', call => us(call.last)],
    ['>exchange', call => us(call.span - call.last)],
    ['>ranks', call => call.ranks],
    ['>bytes', call => size(call.bytes)],
    ['~ran', call => ({text: call.ran, note: call.reason})],
    ['~communicator', call => call.comm || '-'],
]);
put_paragraph(`${shown.calls.length} of ${shown.ncalls} call${plural(shown.ncalls)}, the longest first. --call N shows
    another.`);

// --- the picture: time from..to, in pixels of the screen ---

const picture = get('timeline'), wide = Math.max(360, Math.min(1090, picture.clientWidth)), left = wide < 600 ? 64 : 110;
const right = wide - 10, head = 30, high = 40, foot = head + rows.length * high, tall = foot + 50;
let from, to;
const at = time => left + (time - from) / (to - from) * (right - left);
const inside = x => Math.max(left, Math.min(right, x)).toFixed(1);
const y_of = row => head + row * high + 10;
const units = [['s', 1e6], ['ms', 1e3], ['us', 1], ['ns', 1e-3]];
const unit_of = time => units.find(([, size]) => time >= size) ?? units[2];
const exact = (time, digits = 3) => {
    const [unit, size] = unit_of(time);
    return `${+(time / size).toPrecision(digits)} ${unit}`;
};

const draw_box = (kind, begin, lasts, y, height, says, label) => {
    const x = Math.max(at(begin), left), end = Math.min(at(begin + lasts), right);
    if (end < left || x > right)
        return '';
    return svg('g', {},
        svg('rect', {class: kind, x: x.toFixed(1), y, height, width: Math.max(end - x, .6).toFixed(1)}),
        svg('title', {}, says),
        label.length * 6.2 < end - x ? write('small middle', (x + end) / 2, y + height / 2 + 4, label) : '');
};
const draw_slice = ([row, kind, begin, lasts, detail]) => {
    const [name, label, is_labelled] = [
        ['call', call.ran],
        ['setup', 'set-up', true],
        ['round', `round ${detail}`],
        ['wait', detail < 0 ? 'waits' : `waits for ${detail}`, true],
        ['work', 'works'],
    ][kind];
    const [y, height] = name == 'round' ? [y_of(row) - 5, 4] : [y_of(row), 20];
    return draw_box(name, begin, lasts, y, height,
        `rank ${rows[row].rank}: ${label}: ${exact(lasts)}, from ${exact(begin)} on`, is_labelled ? label : '');
};
const draw_arrow = ([sender, receiver, begin, end, bytes, is_flag, on_path]) => {
    if (end < from || begin > to)
        return '';
    const down = receiver > sender ? 20 : 0, kind = on_path ? 'path' : 'arrow';
    const [x, y, u, v] = [at(begin), y_of(sender) + down, at(end), y_of(receiver) + 20 - down];
    const long = Math.hypot(u - x, v - y) || 1, [a, b] = [(u - x) / long, (v - y) / long], short = n => n.toFixed(1);
    return svg('g', {},
        svg('path', {class: kind + (is_flag ? ' flag' : ''), d: `M${short(x)} ${y}L${short(u)} ${v}`}),
        svg('path', {class: kind + ' tip', d: `M${short(u)} ${v}l${short(-7 * a - 3 * b)} ${short(-7 * b + 3 * a)}` +
            `l${short(6 * b)} ${short(-6 * a)}z`}),
        svg('title', {}, `rank ${rows[sender].rank} to rank ${rows[receiver].rank}: ` +
            (is_flag ? 'a flag' : `${bytes} bytes`) + `, ${exact(begin)} to ${exact(end)}`));
};
const draw_axis = () => {
    const raw = (to - from) / (right + 10 - left) * 90, power = 10 ** Math.floor(Math.log10(raw));
    const step = power * [1, 2, 5, 10].find(n => n * power >= raw), [unit, size] = unit_of(to);
    const all = [write('small', 4, 16, unit)];
    for (let n = Math.ceil(from / step); n * step <= to; n++)
        all.push(svg('path', {class: 'grid', d: `M${at(n * step).toFixed(1)} ${head - 6}V${tall - 8}`}),
            write('small middle', at(n * step), 16, `${+(n * step / size).toPrecision(12)}`));
    return all;
};
const draw_row = ({rank, came}, row) => [
    write('', 4, y_of(row) + 15, `rank ${rank}`),
    came > from ? svg('path', {class: 'before', d: `M${left} ${y_of(row) + 10}H${inside(at(came))}`}) : '',
];
const draw_leg = ([row, begin, end]) => end < from || begin > to ? '' :
    svg('path', {class: 'path', d: `M${inside(at(begin))} ${y_of(row) + 22}H${inside(at(end))}`});
const draw_model = () => {
    const name = write('', 4, foot + 28, 'model');
    let begin = call.last;
    if (shown.model.length == 0)
        return [name, write('small', left, foot + 28, 'no time is known')];
    const parts = shown.model.map(([name, lasts], part) => {
        begin += lasts;
        return lasts > 0 ? draw_box('part' + part, begin - lasts, lasts, foot + 13, 20, `model: ${name} ${exact(lasts)}`,
            name) : '';
    });
    return [name, ...parts, begin > from && call.last < to ?
        write('small', Math.max(left, at(begin)) + 6, foot + 28, exact(begin - call.last)) : ''];
};
const draw = (begin, end) => {
    from = Math.max(0, begin);
    to = Math.min(call.span, Math.max(end, from + 1e-3));
    const within = {x: left, y: 0, width: right - left, height: tall, viewBox: `${left} 0 ${right - left} ${tall}`};
    picture.replaceChildren(...draw_axis(), ...rows.flatMap(draw_row), ...shown.slices.map(draw_slice),
        ...shown.legs.map(draw_leg), svg('svg', within, ...shown.arrows.map(draw_arrow)), ...draw_model());
    get('says').textContent = `${exact(from, 4)} to ${exact(to, 4)} of ${exact(call.span, 4)}`;
};

const zoom = (by, shift) => {
    const middle = (from + to) / 2 + shift * (to - from), half = (to - from) / 2 * by;
    draw(Math.min(middle - half, call.span - 2 * half), Math.max(middle + half, 2 * half));
};
const show_whole = () => draw(0, call.span);
const show_inside = () => draw(call.last - .03 * (call.span - call.last), call.span);
const time_of = event => {
    const edge = picture.getBoundingClientRect(), x = (event.clientX - edge.left) / edge.width * wide;
    return from + (x - left) / (right - left) * (to - from);
};
let held;
picture.setAttribute('viewBox', `0 0 ${wide} ${tall}`);
picture.onpointerdown = event => held = time_of(event);
picture.onpointerup = event => {
    const now = time_of(event);
    if (Math.abs(at(now) - at(held)) > 5)
        draw(Math.min(held, now), Math.max(held, now));
};
picture.ondblclick = show_whole;
get('whole').onclick = show_whole;
get('inside').onclick = show_inside;
get('closer').onclick = () => zoom(.5, 0);
get('wider').onclick = () => zoom(2, 0);
get('back').onclick = () => zoom(1, -.25);
get('on').onclick = () => zoom(1, .25);
if (call.last > .75 * call.span)
    show_inside();
else
    show_whole();
