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
// Of the message: an exact number.
const size = bytes => {
    const unit = [5, 4, 3, 2, 1].find(power => bytes > 0 && bytes % 1024 ** power == 0) ?? 0;
    return bytes / 1024 ** unit + ['', 'K', 'M', 'G', 'T', 'P'][unit];
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

// --- what is wider than its place shows that it goes on ---

addEventListener('load', () => document.querySelectorAll('pre, figure, .wide').forEach(place => {
    const look = () => place.classList.toggle('more', place.scrollLeft + place.clientWidth < place.scrollWidth - 1);
    place.onscroll = look;
    new ResizeObserver(look).observe(place);
}));
