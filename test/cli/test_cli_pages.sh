#!/bin/sh
# Pages of HTML, in a browser: their scripts run without an error, nothing is wider than the window, and what matters
# stands first.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

# shellcheck source=test/browser.sh
. "${srcdir:-.}/test/browser.sh"
need_browser || exit 77

# The titles of the tables that are wider than their place, and whether the page is wider than the window.
wide='[...document.querySelectorAll(".wide")].filter(w => w.scrollWidth > w.clientWidth)
    .map(w => w.querySelector("th").textContent).concat(document.documentElement.scrollWidth > innerWidth ? ["page"] : [])
    .join() || "nothing"'
# The lower edge of the first such element.
bottom='const bottom = selector => document.querySelector(selector).getBoundingClientRect().bottom;'

# expect ANSWER FILE WIDTH SCRIPT
expect() {
    answer=$(in_page "$2" "$3" "$4")
    [ "$answer" = "$1" ] || fail "${2##*/} at $3 pixels: '$answer', not '$1': $4"
}

# --- what pages share: numbers as the program itself prints them, names as text, and plots ---

./allreduce explain ring -n 2 --html "$scratch/shared.html" >/dev/null || fail "explain: exit $?"
expect '0, 1.00, 12.3, 100, 0.0123, 1230, 1.00e-5, -, -; 0 us, 1.00 ns, 999 us, 1.00 ms, 1200 s, -; 8, 12, 1K, 3K, 1M; 8, 1.5K, 977K, 1M; 24.0 kB/s, 1.23 GB/s, -; 36, 0, 3700, -' \
    "$scratch/shared.html" 500 "return [[[0, 1, 12.34, 99.96, .01234, 1234, 1e-5, NaN, null], number], [[.0001, 1, 999e3, 999.6e3, 1.2e12, null], time],
        [[8, 12, 1024, 3072, 1048576], size], [[8, 1536, 1e6, 1048576], bytes], [[24e-6, 1.234, null], rate],
        [[.3612, .001, 36.99, NaN], percent]].map(([values, print]) => values.map(print).join(', ')).join('; ')"
expect 'true, true, 0, true, over: 100.0%, under: 0.0%, true' "$scratch/shared.html" 500 "
    const name = '\$x @a {^2} <b>&amp;</b> <' + '/script> c', last = what => [...document.querySelectorAll(what)].pop();
    put_title(name);
    put_table([1], [['~a', () => ({text: name, note: name})], ['>b', () => ({text: 'x', share: 7})], ['c', () => ({text: 'x', share: -1, alarm: true})]]);
    put_plot(name, 'us', name, [8, 1024, 1048576].map(bytes => ({line: name, bytes, y: bytes})));
    const cells = [...last('tbody').rows[0].cells], texts = [...last('figure').querySelectorAll('text')].map(text => text.textContent);
    return [document.title == name, cells[0].textContent == name + name, document.querySelectorAll('b').length,
        texts.filter(text => text == name).length == 2 && texts.includes('8K') && last('figcaption').textContent == name,
        'over: ' + cells[1].style.getPropertyValue('--share'), 'under: ' + cells[2].style.getPropertyValue('--share'),
        cells[2].className == 'bar alarm'].join(', ')"
# A point is on its lines of the grid, and the points of a line are joined from left to right.  Points that cannot be shown are
# left out, with their line if it has no other, and with the plot if it has no other.
expect 'true, true, true; 3 marks, a,bound, dashed: 1; nothing; one: 2, finite' "$scratch/shared.html" 500 "
    const last = what => [...document.querySelectorAll('figure:last-of-type ' + what)], said = [];
    const draw = points => put_plot('', 'us', '', points.map(([line, bytes, y]) => ({line, bytes, y, is_dashed: line == 'bound'})));
    draw([['a', 64, 100], ['a', 8, 1]]);
    const [x, y, u, v] = last('.line')[0].getAttribute('d').match(/[0-9.]+/g).map(Number);
    const [column] = last('.grid')[0].getAttribute('d').match(/[0-9.]+/g).map(Number);
    const row = last('text').find(text => text.textContent == '100').getAttribute('y') - 4;
    said.push([x < u && y > v, Math.abs(column - x) < .11, Math.abs(row - v) < .11].join(', '));
    draw([['a', 8, 0], ['a', 16, NaN], ['a', 32, 3], ['b', 8, 0], ['b', 16, -Infinity], ['a', 64, 4], ['bound', 8, 1], ['bound', 16, 1]]);
    const lines = last('text').map(text => text.textContent).filter(text => ['a', 'b', 'bound'].includes(text));
    said.push([last('.mark').length + ' marks', lines, 'dashed: ' + last('[stroke-dasharray]').length].join(', '));
    const before = document.querySelectorAll('figure').length;
    draw([['none', 8, 0]]);
    said.push(document.querySelectorAll('figure').length == before ? 'nothing' : 'something');
    draw([['one', 12, 1]]);
    said.push('one: ' + last('.mark').length + ', ' + (/NaN|Infinity/.test(last('svg')[0].outerHTML) ? 'not finite' : 'finite'));
    return said.join('; ')"
# What is wider than its place fades out at that edge, until its end is reached.
expect 'true, false' "$scratch/shared.html" 500 "
    const wide = document.createElement('pre');
    document.body.append(wide);
    wide.textContent = 'x'.repeat(1000);
    watch_width(wide);
    const said = [wide.classList.contains('more')];
    wide.scrollLeft = 1e6;
    wide.onscroll();
    return said.concat(wide.classList.contains('more')).join(', ')"

# --- the report ---

# row BYTES RAN: of 4 ranks, with names as long as they come
row() {
    printf '{"call": "MPI_Allreduce", "comm": "solver of the coarse grid", "comm_size": 4096, "type": "MPI_DOUBLE_COMPLEX", "op": "MPI_MAXLOC", "bytes_from": %d, "bytes_to": %d, "requested": "%s", "ran": "%s", "reason": "replaced: a user op", "ranks": 4, "calls": 1234567, "bytes": 98765432100, "setup_ns": 5000000, "ns": 100300000000, "wait_ns": 100200000000, "own_ns": 0, "min_ns": 1, "median_ns": 0, "p99_ns": 0, "max_ns": 1000000000, "running_ns": null, "quickest": {"rank": 3000, "mean_ns": 1000}, "slowest": {"rank": 0, "mean_ns": 100000}, "histogram": [[100000, 1234567]]}\n' \
        "$1" $((2 * $1 - 1)) "$2" "$2"
}
statistics() {
    echo '{"format": 1, "liballreduce": "1.0", "mpi": "mpich", "program": "solver", "when": "2026-11-23 12:00:00", "world": 4, "rank": null, "lost": 0, "elapsed_ns": 200000000000, "ranks": 4, "library": "MPICH 4", "command": "./solver", "hosts": 2}'
    row 1048576 'two_level(inter=ring,segment=1M,window=1,lanes=one,intra=flat)'
    row 8 native
    echo '{"rank": 3, "host": "node-with-a-name.cluster.example.org", "cpus": "0-7,64-71", "calls": 100, "bytes": 8, "setup_ns": 0, "ns": 1000000, "wait_ns": 0, "first": 10, "last": 25, "late": 5, "compared": 50}'
    echo '{"site": "app+0x11f0", "entry": "MPI_Allreduce", "module": "/home/app", "build_id": "01", "offset": 4592, "calls": 400, "bytes": 419430400, "ns": 400000000, "wait_ns": 0, "ranks": 4}'
}
if [ "${HAVE_JANSSON:-yes}" = yes ]; then
    statistics >"$scratch/a.jsonl"
    ./allreduce report --html "$scratch/one.html" "$scratch/a.jsonl" >/dev/null || fail "report: exit $?"
    ./allreduce report --html "$scratch/two.html" "$scratch/a.jsonl" "$scratch/a.jsonl" >/dev/null || fail "report: exit $?"
    title='MPI_Allreduce in solver, 4 ranks, 2026-11-23 12:00:00'
    first_things="$bottom return [document.title, 'too wide: ' + ($wide), bottom('.verdict') < 250, bottom('table') < 900].join('; ')"
    expect "$title; too wide: nothing; true; true" "$scratch/one.html" 1200 "$first_things"
    expect "$title; beside ${title#* in }; too wide: nothing; true; true" "$scratch/two.html" 1200 "$first_things"
    expect 'true, fades' "$scratch/one.html" 400 "return [document.documentElement.scrollWidth <= innerWidth,
        document.querySelector('.wide').classList.contains('more') ? 'fades' : 'ends'].join(', ')"
    # Drawings remain readable there, beyond the edge of their own part of the page if need be.
    expect 'true, true' "$scratch/one.html" 500 "return [document.querySelector('figure text:not(:empty)').getBoundingClientRect().height > 9,
        [...document.querySelectorAll('.grid')].length >= 3 * 4].join(', ')" # of each plot two lines an axis

    # One call of a timeline: what is drawn of its two ranks, from the last arrival and whole.
    ./allreduce report --timeline "${srcdir:-.}/test/cli/timeline.json" --call 1 --html "$scratch/call.html" >/dev/null ||
        fail "report --timeline: exit $?"
    expect 'too wide: nothing; true; 39.67 us to 51 us of 51 us; 2; 0 us to 51 us of 51 us; 2 calls, waits for 1, 2 works, 2 arrows; 2.6 us' \
        "$scratch/call.html" 1200 "$bottom
        const get = id => document.getElementById(id), n = what => document.querySelectorAll('#timeline ' + what).length;
        const say = () => get('says').textContent, said = ['too wide: ' + ($wide), bottom('.verdict') < 250, say(), n('rect.wait')];
        get('whole').click();
        const wait = document.querySelector('rect.wait').nextSibling.textContent.match(/waits for ./)[0];
        said.push(say(), n('rect.call') + ' calls, ' + wait + ', ' + n('rect.work') + ' works, ' + n('path.tip') + ' arrows');
        return said.concat([...document.querySelectorAll('#timeline text')].pop().textContent).join('; ')"
    expect '500, true' "$scratch/call.html" 500 "return [document.documentElement.scrollWidth,
        document.querySelector('#timeline text').getBoundingClientRect().height > 9].join(', ')"
fi

# --- a schedule ---

for name in $(./allreduce list --names); do
    ./allreduce explain "$name" -n 16 --html "$scratch/16.html" >/dev/null || fail "explain $name: exit $?"
    [ "$(wc -c <"$scratch/16.html")" -le 200000 ] || fail "explain $name: $(wc -c <"$scratch/16.html") bytes"
done
./allreduce explain hier_ring --nodes 2x4 --html "$scratch/schedule.html" >/dev/null || fail "explain: exit $?"
expect "before round 1 of 6; round 6 of 6; 16 cells, true; round 5 of 6; false; Pause, before round 1 of 6; too wide: nothing" \
    "$scratch/schedule.html" 1200 "
    const get = id => document.getElementById(id), slider = get('round'), said = [], say = () => get('says').textContent;
    const cells = () => [...document.querySelectorAll('#schedule .cell')], full = () => cells().every(c => c.dataset.ranks == 8);
    said.push(say());
    slider.value = slider.max; slider.dispatchEvent(new Event('input'));
    said.push(say(), cells().length + ' cells, ' + full());
    dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'}));
    said.push(say(), full());
    get('on').click(); get('play').click();
    return said.concat(get('play').textContent + ', ' + say(), 'too wide: ' + ($wide)).join('; ')"
# A printout has all rounds; the table and the formulas are below.
expect '7, round 6 of 6, 16; Rounds 6 3 2.00; Time: true' "$scratch/schedule.html" 1200 "
    dispatchEvent(new Event('beforeprint'));
    const all = what => [...document.querySelectorAll('#paper ' + what)];
    const row = [...document.querySelectorAll('td')].slice(0, 4).map(cell => cell.textContent).join(' ');
    return [[all('svg').length, all('figcaption').pop().textContent, all('figure:last-child .cell').length].join(', '), row,
        'Time: ' + document.querySelector('pre').textContent.startsWith('Time: ')].join('; ')"
./allreduce explain 'two_level(inter=circulant,lanes=all,segment=64K,window=4)' --nodes 2x4 --html "$scratch/narrow.html" >/dev/null ||
    fail "explain: exit $?"
expect '500, true' "$scratch/narrow.html" 500 "return [document.documentElement.scrollWidth,
    document.querySelector('#schedule text').getBoundingClientRect().height > 9].join(', ')"
exit $failed
