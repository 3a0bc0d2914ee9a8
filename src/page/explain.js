// A schedule, one round at a time.  The address of a round is its number behind '#'.
put_title(shown.title);
put_verdict(`${shown.notes[0]}; ${shown.notes[1]}`);
document.body.insertAdjacentHTML('beforeend', `
<p class="screen"><button id="back" type="button" aria-label="one round back">&#9664;</button>
<button id="play" type="button">Play</button>
<button id="on" type="button" aria-label="one round on">&#9654;</button>
<input id="round" type="range" min="0" value="0" aria-label="round">
<output id="says" for="round"></output></p>
<div class="wide screen"><svg id="schedule" class="schedule" role="img"></svg></div>
<div id="paper"></div>`);
put_paragraph(`Play, the slider or the arrow keys move from round to round; a printout shows all of them. An arrow is a
    message, labelled with its blocks. With a plus sign the receiver combines the message with its own data; otherwise it
    stores it. The boxes show whose contributions a rank holds after the round. Boxes with a thick edge have changed; green
    boxes hold the result.`);
put_paragraph(`${shown.notes[2]}.`);
put_table(shown.counts, [
    ['what', ([what]) => what],
    ['>here', ([, here]) => here],
    ['>no algorithm below', ([, , least]) => least || '-'],
    ['>times that', ([, , , ratio]) => ratio || '-'],
]);
put_code(shown.notes.slice(...shown.formulas).join('\n'));

const slider = get('round'), {ranks, nodes, blocks, rounds} = shown, last = rounds.length - 1;
const left = 74, arrows = 130, room = Math.min(982, get('schedule').clientWidth) - left - 8;
const column = Math.max(30, Math.min(110, room / ranks));
const center = rank => left + (rank + .5) * column;
const head = nodes ? 52 : 28, cell = 20, top_of_cells = head + arrows + 16;

const draw_node = (node, rank) => [
    svg('rect', {x: left + rank * column, y: 28, width: column, height: 20,
        fill: `hsl(${(210 + node * 137) % 360} 60% 55% / .35)`}),
    write('small middle', center(rank), 43, node),
];
const draw_arrow = ([from, to, reduces, label]) => {
    const wide = center(to) - center(from), long = Math.hypot(wide, arrows), [along, down] = [wide / long, arrows / long];
    const kind = reduces ? 'sum' : 'copy', x = center(to), y = head + arrows;
    const at = (back, aside) => `${x - back * along - aside * down} ${y - back * down + aside * along}`;
    return svg('g', {class: 'arrow'},
        svg('path', {class: kind, 'stroke-width': 1.8, d: `M${center(from)} ${head}L${at(6, 0)}`}),
        svg('path', {class: kind, d: `M${at(0, 0)}L${at(9, 4)}L${at(9, -4)}z`}),
        reduces ? write('on middle', x + 12, y - 2, '+') : '',
        svg('title', {}, `rank ${from} sends ${label} to rank ${to}, which ` +
            (reduces ? 'combines it with its own' : 'stores it')));
};
const draw_label = ([from, to, , label], i, others) => {
    const sent = others.filter(other => other[0] == from).length;
    const part = sent > 1 ? .5 : Math.max(.28 / Math.abs(to - from), .1);
    return write('on middle', center(from) + (center(to) - center(from)) * part, head + arrows * part + 4, label);
};
const draw_cell = (rank, block, [n, text], is_new) => svg('g', {class: 'cell' + (is_new ? ' new' : ''), 'data-ranks': n},
    svg('rect', {class: n == ranks ? 'all' : n ? 'part' : '', x: left + rank * column + 3, y: top_of_cells + block * cell,
        width: column - 6, height: cell - 3, 'fill-opacity': n == ranks ? 1 : .25 + .6 * n / ranks}),
    text.length * 7 < column - 6 ? write('small middle', center(rank), top_of_cells + block * cell + 13, text) : '',
    svg('title', {}, `rank ${rank}, block ${blocks[block]}: ${text || 'nothing of use'}`));

const draw_rank = (rank, work) => [
    write('middle', center(rank), 20, rank),
    svg('path', {class: 'life', d: `M${center(rank)} ${head}v${arrows}`}),
    work == '|' ? '' : write('on middle', center(rank) + 12, head + arrows - 2, work),
];
const draw_block = (block, held, fresh) => [
    write('', 4, top_of_cells + block * cell + 14, blocks[block]),
    ...Array.from({length: ranks}, (_, rank) =>
        draw_cell(rank, block, held[[rank, block]] ?? [0, ''], fresh.has(`${rank},${block}`))),
];
const draw = round => {
    const held = {}, now = rounds[round];
    const fresh = new Set(round > 0 ? now.cells.map(([rank, block]) => `${rank},${block}`) : []);
    rounds.slice(0, round + 1).forEach(({cells}) => cells.forEach(
        ([rank, block, n, text]) => held[[rank, block]] = [n, text]));
    return [
        ...nodes ? [write('', 4, 43, 'node'), ...nodes.flatMap(draw_node)] : [],
        write('', 4, 20, 'rank'),
        ...[...now.work].flatMap((work, rank) => draw_rank(rank, work)),
        ...now.arrows.map(draw_arrow),
        ...now.arrows.map(draw_label),
        ...blocks.flatMap((_, block) => draw_block(block, held, fresh)),
    ];
};

const title_of = round => round ? `round ${round} of ${last}` : `before round 1 of ${last}`;
const go = wanted => {
    const round = Math.max(0, Math.min(last, wanted));
    get('schedule').replaceChildren(...draw(round));
    slider.value = round;
    get('says').textContent = title_of(round);
};
let clock;
const stop = () => {
    clearInterval(clock);
    clock = undefined;
    get('play').textContent = 'Play';
};
const step = by => {
    stop();
    go(+slider.value + by);
};
const play = () => {
    if (clock)
        return stop();
    go(+slider.value < last ? +slider.value + 1 : 0);
    get('play').textContent = 'Pause';
    clock = setInterval(() => +slider.value < last ? go(+slider.value + 1) : stop(), 1000);
};

const width = left + ranks * column + 8, whole = `0 0 ${width} ${top_of_cells + blocks.length * cell}`;
get('schedule').style.maxWidth = 1.2 * width + 'px';
get('schedule').style.minWidth = Math.min(.7 * width, 700) + 'px';
get('schedule').setAttribute('viewBox', whole);
addEventListener('beforeprint', () => get('paper').replaceChildren(...rounds.map((_, round) => html('figure', {},
    svg('svg', {class: 'schedule', viewBox: whole}, ...draw(round)), html('figcaption', {}, title_of(round))))));
slider.max = last;
slider.oninput = () => step(0);
get('back').onclick = () => step(-1);
get('on').onclick = () => step(1);
get('play').onclick = play;
addEventListener('keydown', event => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (by && event.target != slider)
        step(by);
    if (event.key == ' ' && event.target.tagName != 'BUTTON') {
        event.preventDefault();
        play();
    }
});
go(+location.hash.slice(1) || 0);
