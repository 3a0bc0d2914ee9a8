// What the scripts of all pages share.  Names may come from anywhere: they are put in as text, never as HTML.
const shown = JSON.parse(document.getElementById('document').textContent);

const get = id => document.getElementById(id);
const make = (space, name, values, inside) => {
    const element = document.createElementNS('http://www.w3.org/' + space, name);
    for (const [key, value] of Object.entries(values))
        element.setAttribute(key, value);
    element.append(...inside);
    return element;
};
const html = (name, values = {}, ...inside) => make('1999/xhtml', name, values, inside);
const svg = (name, values = {}, ...inside) => make('2000/svg', name, values, inside);
const write = (kind, x, y, text) => svg('text', {class: kind, x, y}, text);

// --- numbers as people read them, like those of src/select/number.h: null or NaN is not known ---

const plural = n => n == 1 ? '' : 's';
const is_known = x => Number.isFinite(x);

// Three digits that count.
const number = x => {
    const size = Math.abs(x);
    let digits = 0;
    if (!is_known(x))
        return '-';
    for (let limit = 99.95; size > 0 && size < limit && digits < 6; limit /= 10)
        digits++;
    return size > 0 && size < 9.995e-5 ? x.toExponential(2) :
        size < 999.5 ? x.toFixed(digits) : (+x.toPrecision(3)).toFixed(0);
};
// units: [size, name] of each, the smallest first
const in_units = (x, units) => {
    const [size, name] = units.find(([size]) => Math.abs(x) < 999.5 * size) ?? units.at(-1);
    return is_known(x) ? `${number(x / size)} ${name}` : '-';
};
const time = ns => Math.abs(ns ?? NaN) < .0005 ? '0 us' : in_units(ns, [[1, 'ns'], [1e3, 'us'], [1e6, 'ms'], [1e9, 's']]);
const rate = gbytes => in_units(gbytes, [[1e-9, 'B/s'], [1e-6, 'kB/s'], [1e-3, 'MB/s'], [1, 'GB/s']]);
const percent = part => is_known(part) ? (Math.abs(part) < 9.995 ? 100 * part : +(100 * part).toPrecision(3)).toFixed(0) : '-';
const letters = ['', 'K', 'M', 'G', 'T', 'P'];
const bytes = sum => {
    const unit = [5, 4, 3, 2, 1].find(power => sum >= 999.5 * 1024 ** (power - 1)) ?? 0;
    return +(sum / 1024 ** unit).toPrecision(3) + letters[unit];
};
// Of the message: an exact number.
const size = bytes => {
    const unit = [5, 4, 3, 2, 1].find(power => bytes > 0 && bytes % 1024 ** power == 0) ?? 0;
    return bytes / 1024 ** unit + letters[unit];
};

// --- the parts of a page, from top to bottom ---

const put = (...elements) => document.body.append(...elements);
const put_title = text => {
    document.title = text;
    put(html('h1', {}, text));
};
const put_heading = text => put(html('h2', {}, text));
const put_paragraph = text => put(html('p', {}, text));
const put_verdict = text => put(html('p', {class: 'verdict'}, text));
const put_code = text => put(html('pre', {}, text));

// A name may break behind signs that join its parts.
const breakable = text => text.split(/(?<=[_,(=/+])/).flatMap(part => [html('wbr'), part]);

// value: a text; or {text, and what of these there is: note, a text in small type below it; share, from 0 to 1, of the cell
// that a bar fills; alarm, true where something is wrong}
const make_cell = (value, kind) => {
    const {text, note, share, alarm} = value instanceof Object ? value : {text: value};
    const cell = html('td', {}, ...note == undefined ? [text] : breakable(text));
    if (note)
        cell.append(html('small', {}, note));
    cell.className = [kind, share == undefined ? '' : 'bar', alarm ? 'alarm' : ''].join(' ').trim();
    if (share != undefined)
        cell.style.setProperty('--share', `${(100 * Math.min(Math.max(share, 0), 1)).toFixed(1)}%`);
    return cell;
};

// A table with a row for each of rows.  columns: [title, what a cell has, made from a row].  A '>' before a title sets the
// cells right, as for numbers, and a '~' lets their lines break, as for names of any length.
const put_table = (rows, columns) => {
    const kinds = columns.map(([title]) => ({'>': 'right', '~': 'breaks'}[title[0]] ?? ''));
    const titles = columns.map(([title], i) => html('th', {class: kinds[i]}, title.slice(kinds[i] ? 1 : 0)));
    const lines = rows.map(row => html('tr', {}, ...columns.map(([, value], i) => make_cell(value(row), kinds[i]))));
    put(html('div', {class: 'wide'}, html('table', {}, html('thead', {}, html('tr', {}, ...titles)),
        html('tbody', {}, ...lines))));
};

// --- plots of what depends on the size of the message: lines through points, with a logarithmic scale on both axes ---

// To be read on white and on near black.
const colours = ['#3b7dd8', '#e0702a', '#2a9d5c', '#c8508c', '#8a63d2', '#b8860b', '#1f9aa8', '#d04545', '#7a8a99', '#6b8e23'];

// Paths around the point: disc, square, triangle, diamond, cross, plus.
const marks = ['m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z', 'm-3.5-3.5h7v7h-7z', 'm0-5l4.5 8.5h-9z', 'm0-5l5 5-5 5-5-5z',
    'm-4-4l8 8m0-8l-8 8', 'm-5 0h10m-5-5v10'];

// Where values lie in pixels from begin to end.
const make_scale = ([least, most], begin, end) =>
    value => begin + (end - begin) * Math.log(value / least) / Math.log(most / least);

// The values at the edges of the area.  They leave some room around the points, so that a single point has an area, too.
// Where few lines of the grid would be between them, the edges are such lines, since values cannot be read from one line.
const edges_of = (values, narrow, below, above) => {
    const edges = [Math.min(...values) / 1.25, Math.max(...values) * 1.25];
    return edges[1] < narrow * edges[0] ? [below(edges[0]), above(edges[1])] : edges;
};
const line_below = value => {
    const power = 10 ** Math.floor(Math.log10(value));
    return ([5, 2].find(digit => value >= digit * power) ?? 1) * power;
};
// Sizes at powers of two, ten at most.
const sizes_between = ([least, most]) => {
    const first = Math.max(0, Math.ceil(Math.log2(least))), last = Math.floor(Math.log2(most));
    const step = Math.floor((last - first) / 10) + 1;
    return Array.from({length: Math.floor((last - first) / step) + 1}, (_, i) => 2 ** (first + i * step));
};
// 1, 10, 100, ... as texts, and where these are few also 2, 5, 20, 50, ...
const lines_between = ([least, most]) => {
    const digits = most / least < 300 ? [1, 2, 5] : [1], first = Math.floor(Math.log10(least));
    const powers = Array.from({length: Math.ceil(Math.log10(most)) - first + 1}, (_, i) => first + i);
    return powers.flatMap(power => digits.map(digit => (digit * 10 ** power).toFixed(Math.max(0, -power))))
        .filter(value => value >= least * (1 - 1e-9) && value <= most * (1 + 1e-9));
};

// all: {line, its name; bytes, y, of a point; is_dashed, the line has no marks: a bound, something expected}.  A point that
// is not known, or not above 0, is left out; without any other there is no plot.
const put_plot = (title, y_title, caption, all) => {
    const points = all.filter(({bytes, y}) => bytes > 0 && y > 0 && is_known(y));
    const lines = [...new Set(points.map(({line}) => line))];
    if (lines.length == 0)
        return;
    const left = 80, top = 40, right = left + 560, bottom = top + Math.max(320, 22 * lines.length);
    const x_edges = edges_of(points.map(({bytes}) => bytes), 4, x => 2 ** Math.floor(Math.log2(x)),
        x => 2 ** Math.ceil(Math.log2(x)));
    const y_edges = edges_of(points.map(({y}) => y), 10, line_below, y => 1 / line_below(1 / y));
    const x_of = make_scale(x_edges, left, right), y_of = make_scale(y_edges, bottom, top);
    const at = ({bytes, y}) => `${x_of(bytes).toFixed(1)} ${y_of(y).toFixed(1)}`;
    const draw_column = value => {
        const x = x_of(value).toFixed(1);
        return [svg('path', {class: 'grid', d: `M${x} ${top}V${bottom}`}), write('middle', x, bottom + 18, size(value))];
    };
    const draw_row = value => {
        const y = y_of(value);
        return [svg('path', {class: 'grid', d: `M${left} ${y.toFixed(1)}H${right}`}), write('end', left - 8, y + 4, value)];
    };
    const draw_line = (line, number) => {
        const mine = points.filter(point => point.line == line).sort((a, b) => a.bytes - b.bytes), {is_dashed} = mine[0];
        const colour = colours[number % colours.length], mark = marks[number % marks.length];
        const x = right + 20, y = top + 10 + 22 * number;
        const path = svg('path', {class: 'line', d: `M${mine.map(at).join('L')}M${x} ${y}h30`});
        if (is_dashed)
            path.setAttribute('stroke-dasharray', '6 4');
        const spots = is_dashed ? [] : [...mine.map(at), `${x + 15} ${y}`];
        return [svg('g', {stroke: colour, fill: number / colours.length % 2 < 1 ? colour : 'none'}, path,
            ...spots.map(spot => svg('path', {class: 'mark', d: `M${spot}${mark}`}))), write('', x + 40, y + 4, line)];
    };
    const width = right + 70 + 7.5 * Math.max(...lines.map(line => line.length));
    put(html('figure', {}, svg('svg', {viewBox: `0 0 ${width} ${bottom + 56}`, role: 'img',
        style: `min-width: ${Math.min(.75 * width, 960).toFixed(0)}px`},
        write('middle', (left + right) / 2, top - 18, title),
        ...sizes_between(x_edges).flatMap(draw_column), ...lines_between(y_edges).flatMap(draw_row),
        svg('path', {class: 'axes', d: `M${left} ${top}V${bottom}H${right}`}),
        write('middle', (left + right) / 2, bottom + 42, 'bytes of the message'),
        svg('g', {transform: `translate(18 ${(top + bottom) / 2}) rotate(-90)`}, write('middle', 0, 0, y_title)),
        ...lines.flatMap(draw_line)), html('figcaption', {}, caption)));
};

// --- what is wider than its place shows that it goes on ---

const watch_width = place => {
    const look = () => place.classList.toggle('more', place.scrollLeft + place.clientWidth < place.scrollWidth - 1);
    place.onscroll = look;
    new ResizeObserver(look).observe(place);
    look();
};
addEventListener('load', () => document.querySelectorAll('pre, figure, .wide').forEach(watch_width));
