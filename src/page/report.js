// What the statistics of a run say, or those of two.
const runs = shown.runs.map(run => {
    const [head, ...others] = run.statistics, rows = others.filter(row => 'ran' in row);
    return {
        ...head, ...run,
        facts: run.facts.map(fact => ({...rows[fact.row], ...fact})),
        sites: others.filter(row => 'site' in row).map((site, i) => ({...site, line: run.lines[i]})),
        rank_rows: others.filter(row => 'cpus' in row),
    };
});
const is_pair = runs.length == 2, which = is_pair ? ['A: ', 'B: '] : [''];
const ranks = n => `${n ?? 0} rank${plural(n)}`;
const of_ours = 'Waiting is that in algorithms of liballreduce: that of native calls is not known.';

// --- columns that several tables have ---

const communicator = ['~communicator', ({comm, comm_size}) => comm ? {text: comm, note: ranks(comm_size)} : ranks(comm_size)];
const operation = ['type, op', ({type, op}) => ({text: type || '-', note: op})];
const size_column = ['>size', fact => fact.size];
const median = ['>median', fact => time(fact.median_ns)];

// --- sections ---

const put_verdicts = () => {
    if (is_pair)
        put_verdict(shown.verdict);
    runs.forEach(({verdict, advice}, i) => {
        put_verdict(which[i] + verdict);
        advice.forEach(text => put_paragraph(text + '.'));
    });
};

const put_alarms = () => {
    put_heading('Watchdog: results that no allreduce should have');
    shown.alarms.forEach(put_paragraph);
};

const put_pairs = () => {
    const side = i => [
        [`~${'AB'[i]} ran`, ({sides}) => ({text: sides[i].ran, note: sides[i].is_mixed ? 'and others' : ''})],
        ['>own', ({sides}) => time(sides[i].own_ns)],
    ];
    put_heading('Side by side');
    put_table(shown.pairs, [communicator, size_column, operation, ...side(0), ...side(1),
        ['>A / B', ({ratio}) => number(ratio || NaN)]]);
    put_paragraph('own: the estimated time of a call when no rank is late. A / B above 1: B is faster.');
};

// The columns that fit beside each other on a page of 1200 pixels; put_details has the others.
const put_facts = run => {
    put_heading('Calls');
    put_table(run.facts, [
        ['>share', ({share}) => ({text: `${(100 * share).toFixed(1)} %`, share})],
        ['>calls', fact => (fact.calls / (fact.ranks || 1)).toFixed(0)],
        communicator, size_column, operation,
        ['~ran, why', fact => ({text: fact.ran, note: fact.why})],
        median,
        ['>own', fact => time(fact.own_ns)],
        ['>late', ({late_ns, ns}) => ({text: ns == null ? '-' : `${percent(ns && late_ns / ns)} %`, share: ns && late_ns / ns})],
        ['>x bound', ({bound_ns, own_ns}) => number(bound_ns > 0 ? own_ns / bound_ns : NaN)],
        ['~what took the time', fact => fact.cause],
    ]);
    put_paragraph(`calls: the number on one rank. size: the bytes of each message; 16+ is from 16 to below twice as many, of
        several sizes. own: the time of a call when no rank is late, estimated from the shortest times, because the rank that
        comes last waits for no other. late: waiting for late ranks. x bound: own divided by the bound, which is the best rate
        of calls on as many ranks in this run, or --bandwidth.`);
};

const put_totals = () => {
    const part = (title, name, of) => [title, run => (
        {text: time(run[name] / run.ranks), share: of(run) && run[name] / of(run)})];
    put_heading('Where the time went');
    put_paragraph('Average of the ranks; the run is from the first allreduce to the end.');
    put_table(runs, [
        ['~statistics', run => run.path],
        ['>run', run => time(run.elapsed_ns)],
        part('>in allreduces', 'total_ns', run => run.elapsed_ns * run.ranks),
        part('>in the algorithms', 'own_ns', run => run.total_ns),
        part('>waiting for late ranks', 'late_ns', run => run.total_ns),
        part('>set-up', 'setup_ns', run => run.total_ns),
    ]);
};

// A line has the rows of a run on so many ranks that ran the same.
const put_plots = () => {
    const timed = runs.flatMap((run, i) => run.facts.filter(fact => fact.own_ns > 0 && fact.comm_size > 1).map(fact => ({
        ...fact, line: `${which[i]}${fact.ran} on ${fact.comm_size} ranks`, bytes: fact.bytes / fact.calls})));
    const plot = (y_title, caption, y_of) => put_plot('', y_title, caption, timed.map(fact => ({...fact, y: y_of(fact)})));
    put_heading('By size of the message');
    plot('us', 'Own time of a call: when no rank is late.', ({own_ns}) => own_ns / 1e3);
    plot('us', `Median of all calls, late ranks included. Where it is far above the own time, the ranks come at different
        times.`, ({median_ns}) => median_ns / 1e3);
    plot('GB/s', 'Rate: the bytes that any allreduce has to send, 2(p-1)/p n, divided by the own time.',
        ({comm_size, bytes, own_ns}) => 2 * (comm_size - 1) / comm_size * bytes / own_ns);
};

const put_run = run => {
    put_paragraph(`${run.path}: ${run.program} with liballreduce ${run.liballreduce} (${run.mpi}), ${ranks(run.ranks)},
        ${run.when}`);
    if (run.library)
        put_paragraph(`${run.library}; ${run.hosts} host${plural(run.hosts)}; ${run.command}`);
};

const put_sites = run => {
    put_heading('Where the program calls');
    put_table(run.sites, [
        ['>calls', site => site.calls],
        ['>bytes', site => bytes(site.bytes)],
        ['>time', site => time(site.ns)],
        ['>waiting', site => time(site.wait_ns)],
        ['>ranks', site => site.ranks],
        ['call', site => site.entry],
        ['~called from', ({site, line}) => ({text: line || site, note: line && site})],
    ]);
    put_paragraph(`Calls to waiting are sums over all ranks. ${of_ours}`);
    if (run.no_lines)
        put_code(run.no_lines);
};

const put_ranks = run => {
    const share = name => [`>${name} %`, row => ({text: percent(row[name] == null ? NaN : row[name] / row.compared),
        share: row[name] / (row.compared || 1)})];
    put_heading('Ranks');
    put_table(run.rank_rows, [
        ['>rank', row => row.rank],
        ['~host', row => row.host],
        ['~CPUs', row => row.cpus],
        ['>calls', row => row.calls],
        ['>time', row => time(row.ns)],
        ['>waiting', row => time(row.wait_ns)],
        ['>set-up', row => time(row.setup_ns)],
        share('first'), share('last'), share('late'),
    ]);
    put_paragraph(`first, last: the percentage of its calls to which the rank came before or after all others. late: it came
        last, and the first rank was in the call for at least twice its time. ${of_ours}` +
        (run.rank_rows.length < run.nranks ? ' These are the ranks that were late most often.' : ''));
};

const put_details = run => {
    put_heading('More about these calls');
    put_table(run.facts, [
        size_column, communicator, operation,
        ['~asked for', fact => ({text: fact.requested, note: ''})],
        ['~ran', fact => ({text: fact.ran, note: ''})],
        ['>bytes', fact => bytes(fact.bytes)],
        ['>minimum', fact => time(fact.min_ns)],
        median,
        ['>99 %', fact => time(fact.p99_ns)],
        ['>maximum', fact => time(fact.max_ns)],
        ['>set-up', fact => time(fact.setup_ns)],
    ]);
    put_paragraph(`bytes: the sum over all ranks. minimum to maximum: times of single calls, waiting included. 99 %: the time
        that 99 of 100 calls do not exceed. set-up: in first calls, the sum over all ranks.`);
};

// --- the page ---

put_title('MPI_Allreduce in ' + runs.map(run => `${run.program}, ${ranks(run.ranks)}, ${run.when}`).join('; beside '));
put_verdicts();
if (shown.alarms.length > 0)
    put_alarms();
if (is_pair)
    put_pairs();
else
    put_facts(runs[0]);
put_totals();
put_plots();
for (const run of runs) {
    put_run(run);
    if (is_pair)
        put_facts(run);
    if (run.sites.length > 0)
        put_sites(run);
    if (run.rank_rows.length > 0)
        put_ranks(run);
    put_details(run);
}
