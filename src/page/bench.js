// The results of a bench.
const {bench} = shown;

// --- what follows from the rows: of one size and place each is one among its equals ---

const is_judged = row => row.result != null; // the exchange is no allreduce
const is_native = row => row.algorithm == 'native' && !row.ran;
const is_as_named = row => !row.ran || row.reason == 'named';
const equals = row => bench.results.filter(other => other.bytes == row.bytes && other.place == row.place);
const fastest_of = row => equals(row).filter(other => is_judged(other) && is_known(other.median_us)).reduce((best, other) =>
    other.median_us < best.median_us ? other : best, row);
const bound_of = rows => Math.max(0, ...rows.filter(row => !is_judged(row)).map(row => row.busbw_gbs));

// --- sections ---

const put_verdict_of_natives = natives => {
    const beaten = natives.filter(row => row.order == 'slower').map(fastest_of), sizes = `size${plural(natives.length)}`;
    const best = beaten.reduce((best, row) => row.times_native > best.times_native ? row : best, beaten[0]);
    if (best)
        put_verdict(`At ${beaten.length} of ${natives.length} ${sizes} something is faster than native, the MPI library's own
            allreduce, by more than the noise: at most ${number(best.times_native)} times, by ${best.algorithm} on
            ${size(best.bytes)} bytes.`);
    else if (natives.length > 0)
        put_verdict(`At none of ${natives.length} ${sizes} anything is known to be faster than native, the MPI library's own
            allreduce.`);
};

const put_preface = () => {
    put_paragraph(`${bench.ranks} rank${plural(bench.ranks)} on ${bench.cpus} CPU${plural(bench.cpus)} (of the first rank).
        Every algorithm was timed in turn in each of ${bench.repetitions} batch${bench.repetitions == 1 ? '' : 'es'}. Times are
        those of the slowest rank.`);
    if (shown.places)
        put_paragraph(`${shown.places}.`);
    if (shown.incomplete)
        put_paragraph(`Incomplete: ${shown.incomplete}.`);
    for (const warning of bench.warnings)
        put_paragraph(`Warning: ${warning}.`);
    if (bench.rotate_bytes > 0)
        put_paragraph(`Cold cache: calls rotate through ${bench.rotate_bytes} bytes of buffers.`);
    if (bench.fresh)
        put_paragraph(`Fresh data: each rank writes its input before each call and reads its result after it. The times are
            those of the calls alone.`);
    put_code(shown.command);
};

const interval = ({median_low_us, median_high_us}) =>
    is_known(median_low_us) ? `${number(median_low_us)} to ${number(median_high_us)}` : '-';
const error = x => is_known(x) ? x > 0 ? x.toExponential(1) : x.toFixed(0) : '-';
const bytes_column = ['>bytes', row => size(row.bytes)];
const times_native = ['>x native', row => number(row.times_native)];

// A line for each size: who was fastest.
const put_fastest = rows => {
    const bound = bound_of(rows);
    const of_the_bound = row => ({text: `${percent(row.busbw_gbs / bound)} %`, share: row.busbw_gbs / bound});
    put_table(rows.filter(row => is_judged(row) && row == fastest_of(row)), [
        bytes_column,
        ['fastest', row => is_as_named(row) ? row.algorithm : `${row.algorithm}: ${row.ran}`],
        ['>us', row => number(row.median_us)],
        ['>95 %', interval],
        ['>native, us', row => number(row.median_us * (row.times_native ?? NaN))],
        times_native,
        ['>busbw', row => rate(row.busbw_gbs)],
        ['>of the bound', row => bound > 0 ? of_the_bound(row) : '-'],
        ['>ties', row => row.order == 'fastest' ? equals(row).filter(({order}) => order == 'tie').length : '-'],
    ]);
};

const put_plots = (rows, where) => {
    const points = y_of => rows.map(row => ({line: row.algorithm, bytes: row.bytes, y: y_of(row), is_dashed: !is_judged(row)}));
    const bounds = rows.map(({bytes}) => ({line: 'bound', bytes, y: bound_of(rows), is_dashed: true}));
    put_plot(`Time, ${where}`, 'us per call', 'Median time of a call on the slowest rank. Lower is better.',
        points(row => row.median_us));
    put_plot(`Speed-up, ${where}`, 'times faster than native', `Native's median divided by the algorithm's, from the same run.
        Above 1, the algorithm is faster than the MPI library's own allreduce.`, points(row => row.times_native));
    put_plot(`Bandwidth against the bound, ${where}`, 'bus bandwidth, GB/s', `The bytes of the message times 2(p-1)/p, divided
        by the time: what each rank must at least send and receive of a long message. Exchange: each rank does just that, with
        its neighbours, and reduces nothing. Bound: the best of exchange over all sizes. Shared memory, which moves no messages,
        may exceed it.`, [...points(row => row.busbw_gbs), ...bounds]);
};

const put_all = rows => put_table(rows, [
    bytes_column,
    ['algorithm', row => row.algorithm],
    ['ran', row => is_as_named(row) ? '' : row.ran],
    ['>median, us', row => number(row.median_us)],
    ['>95 %', interval],
    ['>min', row => number(row.min_us)],
    ['>avg', row => number(row.avg_us)],
    ['>max', row => number(row.max_us)],
    ['>spread', ({spread}) => is_known(spread) ? {text: `${percent(spread)} %`, alarm: spread > shown.spread_wide} : '-'],
    times_native,
    ['>algbw', row => rate(row.algbw_gbs)],
    ['>busbw', row => rate(row.busbw_gbs)],
    ['>error', row => row.result == 'wrong' ? {text: 'wrong result', alarm: true} : error(row.error)],
    ['>from native', row => error(row.from_native)],
]);

// --- the page ---

put_title(`allreduce: ${bench.op} of ${bench.type} on ${bench.ranks} rank${plural(bench.ranks)}, ${bench.mpi}, ${shown.machine},
    ${shown.when}`);
put_verdict_of_natives(bench.results.filter(is_native));
put_preface();
for (const [place, where] of [['out', 'out of place'], ['in', 'in place']]) {
    const rows = bench.results.filter(row => row.place == place);
    if (rows.length == 0)
        continue;
    put_heading(`Fastest, ${where}`);
    put_fastest(rows);
    put_plots(rows, where);
    put_heading(`All numbers, ${where}`);
    put_all(rows);
}
put_paragraph(`95 %: the median lies between these times with a probability of 95 %, by order statistics, which need
    ${shown.interval_least} batches. Ties: rows whose interval overlaps with that of the fastest. Spread: half the distance
    between the quartiles of the batches, relative to the median; a single batch has none. Error: the largest difference from a
    reduction in long double, relative to its largest element. From native: the same difference from the result of the MPI
    library's own allreduce.`);
