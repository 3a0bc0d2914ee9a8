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
