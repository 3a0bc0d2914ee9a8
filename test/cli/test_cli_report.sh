#!/bin/sh
# allreduce report: what a run's statistics say, of one run, of its ranks' files, of two runs.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"
# shellcheck source=test/browser.sh
. "${srcdir:-.}/test/browser.sh"
need_browser || echo "what pages show is not looked at"

[ "${HAVE_JANSSON:-yes}" = yes ] || {
    echo "built without jansson, which allreduce report needs"
    exit 77
}

# head_of RANKS
head_of() {
    printf '{"format": 1, "liballreduce": "1.0", "mpi": "mpich", "program": "<app>", "when": "then", "world": 4, "rank": null, "lost": 0, "elapsed_ns": 2000000000, "ranks": %d}\n' "$1"
}

# row RAN BYTES CALLS NS WAIT_NS SETUP_NS QUICKEST SLOWEST HISTOGRAM: the quickest and the slowest rank's mean
row() {
    printf '{"call": "MPI_Allreduce", "comm_size": 4, "nodes": 1, "type": "MPI_DOUBLE", "op": "MPI_SUM", "bytes_from": %d, "bytes_to": %d, "requested": "auto", "ran": "%s", "reason": "auto", "ranks": 4, "calls": %d, "bytes": %d, "setup_ns": %d, "ns": %d, "wait_ns": %s, "own_ns": 0, "min_ns": 1, "median_ns": 0, "p99_ns": 0, "max_ns": 1000000000, "running_ns": null, "quickest": {"rank": 3, "mean_ns": %d}, "slowest": {"rank": 0, "mean_ns": %d}, "histogram": [%s], "sizes": [[%d, %d, %d]]}\n' \
        "$2" $(($2 * 2 - 1)) "$1" "$3" $(($2 * $3)) "$6" "$4" "$5" "$7" "$8" "$9" "$2" "$3" "$4"
}

# expect PATTERN COMMAND...: the command succeeds and prints that.
expect() {
    pattern=$1
    shift
    "$@" >"$scratch/out" 2>&1 || fail "$*: status $?"
    grep -q -e "$pattern" "$scratch/out" || {
        fail "$*: no '$pattern' in"
        cat "$scratch/out"
    }
}

# refuse PATTERN STATUS COMMAND...
refuse() {
    pattern=$1
    wanted=$2
    shift 2
    "$@" >"$scratch/out" 2>&1
    status=$?
    [ $status -eq "$wanted" ] || fail "$*: status $status"
    grep -q -e "$pattern" "$scratch/out" || {
        fail "$*: no '$pattern' in"
        cat "$scratch/out"
    }
}

# Rank 3 comes last: its 100 calls take 1 us, those of the others 1 ms.  Then an algorithm that
# takes 1 ms where another took a tenth.  Then set-up.
{
    head_of 4
    row shm 8 400 300100000 299000000 0 1000 1000000 '[1000, 100], [1000000, 300]'
    row ring 1048576 400 400000000 0 0 1000000 1000000 '[1000000, 400]'
    row double_tree 1048576 4 400000 0 0 100000 100000 '[100000, 4]'
    row butterfly 64 4 4000 0 40000000 1000 1000 '[1000, 4]'
} >"$scratch/a.jsonl"
expect '^<app>\|: <app> with liballreduce 1.0 (mpich), 4 ranks' allreduce report "$scratch/a.jsonl"
# What a terminal would obey is not printed.
sed 's/<app>/\\u001b[2J\\u009b2Japp/' "$scratch/a.jsonl" >"$scratch/names.jsonl"
expect ': ?\[2J??2Japp ' allreduce report "$scratch/names.jsonl"
expect '^185 ms (9\.3 %) in allreduces: 100 ms in the algorithms, 74\.8 ms waiting for late ranks, 10\.0 ms on set-up' \
    allreduce report "$scratch/a.jsonl"
expect ' 100 *4 *8 *MPI_DOUBLE *MPI_SUM *shm (auto) .* 100 % .*late ranks, mainly rank 3' allreduce report "$scratch/a.jsonl"
expect ' 1M .* ring (auto) .* 9\.92  the algorithm' allreduce report "$scratch/a.jsonl"
expect ' 1M .* double_tree (auto) .* 1\.00  the algorithm' allreduce report "$scratch/a.jsonl"
expect ' 64 .*set-up' allreduce report "$scratch/a.jsonl"
expect 'of 1M on 4 ranks: double_tree took 102 us in this run, which would save 91\.3 ms per rank' allreduce report "$scratch/a.jsonl"

# The file has each size of a row; the bin is printed if there are several sizes, or if the file is an old one.
sed 's/"sizes": \[\[8, [0-9]*,/"sizes": [[8, 100, 1000], [12, 300,/' "$scratch/a.jsonl" >"$scratch/sizes.jsonl"
expect ' 100 *4 *8+ *MPI_DOUBLE .*shm' allreduce report "$scratch/sizes.jsonl"
sed 's/, "sizes": .*/}/' "$scratch/a.jsonl" >"$scratch/old.jsonl"
expect ' 100 *4 *8+ *MPI_DOUBLE .*shm' allreduce report "$scratch/old.jsonl"
expect 'Most time went into MPI_DOUBLE MPI_SUM from 1M on 4 ranks' allreduce report "$scratch/old.jsonl"
# Most of the time is in the calls of 12 bytes.
sed -e '/"ran": "shm"/!{/"call"/d}' -e 's/"wait_ns": [0-9]*/"wait_ns": 0/' "$scratch/sizes.jsonl" >"$scratch/advice.jsonl"
expect 'to compare algorithms: mpiexec -n 4 allreduce bench --sizes 12$' allreduce report "$scratch/advice.jsonl"
for bad in '[16, 1, 1]' '[8, 0, 1]' '[8, 1]' '[8, 1.5, 1]' '[8, -1, 1]' '8'; do
    sed "s/\"sizes\": \[\[8, .*/\"sizes\": [$bad]}/" "$scratch/a.jsonl" >"$scratch/bad.jsonl"
    refuse 'line 2: not a row of statistics' 1 allreduce report "$scratch/bad.jsonl"
done

# No rule chooses for these, and one of the program's ops or types is not another.
sed -e '/"ring"/s/"reason": "auto"/"reason": "intercommunicator"/' "$scratch/a.jsonl" >"$scratch/inter.jsonl"
sed -e '/"ring"/s/"reason": "auto"/"reason": "device memory: by messages"/' "$scratch/a.jsonl" >"$scratch/device.jsonl"
sed -e 's/"MPI_SUM"/"user"/' "$scratch/a.jsonl" >"$scratch/user.jsonl"
sed -e 's/"MPI_DOUBLE"/"derived"/' "$scratch/a.jsonl" >"$scratch/derived.jsonl"
for fixed in inter device user derived; do
    allreduce report "$scratch/$fixed.jsonl" | grep -e 'would save' -e 'to compare' && fail "$fixed: advice that nobody can take"
done
# Two runs of one program have the same ops and types of its own.
for own in user derived; do
    expect "^ *4 *1M .* ring, \\.\\.\\. .* 1\\.00\$" allreduce report "$scratch/$own.jsonl" "$scratch/$own.jsonl"
done

# Only calls of one size are compared, on communicators of one shape.
sed -e '/"double_tree"/s/"sizes": \[\[1048576/"sizes": [[1966080/' "$scratch/a.jsonl" >"$scratch/size.jsonl"
sed -e '/"double_tree"/s/"sizes": .*/"sizes": [[1048576, 1, 1], [1966080, 3, 3]]}/' "$scratch/a.jsonl" >"$scratch/several.jsonl"
sed -e '/"double_tree"/s/"nodes": 1/"nodes": 2/' "$scratch/a.jsonl" >"$scratch/nodes.jsonl"
sed -e 's/"nodes": 1, //' "$scratch/a.jsonl" >"$scratch/unknown.jsonl"
sed -e '/"double_tree"/s/}$/, "in_place": true}/' "$scratch/a.jsonl" >"$scratch/place.jsonl"
for unlike in size several nodes unknown place; do
    expect 'of 1M on 4 ranks: to compare algorithms' allreduce report "$scratch/$unlike.jsonl"
    grep 'would save' "$scratch/out" && fail "$unlike: unlike calls are compared"
done

# 2(p-1)/p n is 1.5M, at 10 GB/s 157 us.
expect ' 1M .* ring (auto) .* 6\.[0-9][0-9]  the algorithm' allreduce report --bandwidth 10 "$scratch/a.jsonl"
# Also where no other row shows that a call can be faster.
sed '/"call"/{/"ran": "ring"/!d}' "$scratch/a.jsonl" >"$scratch/alone.jsonl"
expect ' 1M .* ring (auto) .* 6\.[0-9][0-9]  the algorithm' allreduce report --bandwidth 10 "$scratch/alone.jsonl"

# The files of single ranks are added up.
for rank in 0 1; do
    sed -e '1s/"ranks": 4/"ranks": 1/' -e 's/"ranks": 4, "calls"/"ranks": 1, "calls"/' "$scratch/a.jsonl" >"$scratch/b.jsonl.rank$rank"
done
# Copies that an editor or a user has left count for nothing.
for copy in 0.bak 0~ 00 01 1x; do
    cp "$scratch/b.jsonl.rank0" "$scratch/b.jsonl.rank$copy"
done
cp "$scratch/b.jsonl.rank0" "$scratch/b.jsonl.rank"
expect 'mpich), 2 ranks' allreduce report "$scratch/b.jsonl"
mv "$scratch/b.jsonl.rank1" "$scratch/b.jsonl.rank1023" # ranks of any number of digits
expect '2 files of single ranks' allreduce report "$scratch/b.jsonl"
mv "$scratch/b.jsonl.rank1023" "$scratch/b.jsonl.rank1"
expect '2 files of single ranks' allreduce report "$scratch/b.jsonl"
expect ' 400 *4 *8 ' allreduce report "$scratch/b.jsonl"

# Files of several runs are not.  The first line of the others' differs, and one run has one number of ranks.
refuse_strangers() {
    for rank in 2 3; do
        sed -e "1$1" "$scratch/b.jsonl.rank0" >"$scratch/b.jsonl.rank$rank"
        refuse "b.jsonl.rank$rank is of another run than .*b.jsonl.rank0: " 1 allreduce report "$scratch/b.jsonl"
    done
    rm "$scratch/b.jsonl.rank2" "$scratch/b.jsonl.rank3"
}
refuse_strangers 's/"world": 4/"world": 6/'
refuse_strangers 's/<app>/another/'
refuse_strangers 's/"ranks": 1/&, "command": "<app> -x"/'
expect '2 files of single ranks' allreduce report "$scratch/b.jsonl"
# Different programs of one run are at work at the same time.
sed -i '1s/"then"/"2026-11-27 12:00:10"/' "$scratch/b.jsonl.rank0" "$scratch/b.jsonl.rank1"
sed '1s/:10", "world"/:11", "world"/; 1s/<app>/another/' "$scratch/b.jsonl.rank0" >"$scratch/b.jsonl.rank2"
expect '3 files of single ranks' allreduce report "$scratch/b.jsonl"
refuse_strangers 's/:10", "world"/:12", "world"/; 1s/<app>/another/'

# Where there is a file of all ranks it counts, and a newer one of a single rank is told.
cp "$scratch/a.jsonl" "$scratch/b.jsonl"
touch -d '1 hour ago' "$scratch/b.jsonl.rank0" "$scratch/b.jsonl.rank1"
expect 'mpich), 4 ranks' allreduce report "$scratch/b.jsonl"
grep -q newer "$scratch/out" && fail "older files of single ranks were told"
touch -d '1 hour' "$scratch/b.jsonl.rank1"
expect 'b.jsonl.rank1 is newer than ' allreduce report "$scratch/b.jsonl"
grep -q 'mpich), 4 ranks' "$scratch/out" || fail "the file of all ranks was not shown"

# Two runs.
{
    head_of 4
    row rhd 1048576 400 200000000 0 0 500000 500000 '[500000, 400]'
    row native 2 4 4000 null 0 1000 1000 '[1000, 4]'
} >"$scratch/c.jsonl"
expect "^B spends 0\.[0-9]* of A's time in allreduces, .* less per rank; it waits .* less for late ranks\. How much runs differ" \
    allreduce report "$scratch/a.jsonl" "$scratch/c.jsonl"
[ "$(head -n 1 "$scratch/out" | cut -c 1-9)" = 'B spends ' ] || fail "the verdict is not first"
expect '^B spends 1\.00 of .* (single runs: 1\.00 to 1\.00), which is the same; the waiting for late ranks is the same\. Runs of the same' \
    allreduce report "$scratch/c.jsonl" "$scratch/c.jsonl" -- "$scratch/c.jsonl" "$scratch/c.jsonl"
expect '^with 1 more run, whose calls are added$' allreduce report "$scratch/a.jsonl" "$scratch/c.jsonl" -- "$scratch/c.jsonl"
expect '^part,calls,ranks,comm,bytes,type,op,ran,median,own,late_us,bound,cause$' allreduce report --csv "$scratch/a.jsonl"
[ "$(wc -l <"$scratch/out")" -eq 5 ] || fail "--csv: not a line for each kind of call"
expect '^ranks,bytes_from,bytes_to,type,op,a_ran,a_own,b_ran,b_own,ratio,comm$' \
    allreduce report --csv "$scratch/a.jsonl" "$scratch/c.jsonl"
expect '^3 more kinds of calls$' allreduce report --top 1 "$scratch/a.jsonl"
refuse 'give one of --csv and --json' 2 allreduce report --csv --json "$scratch/a.jsonl"
if command -v python3 >/dev/null; then
    allreduce report --json "$scratch/a.jsonl" "$scratch/c.jsonl" |
        python3 -c 'import json,sys; d = json.load(sys.stdin); sys.exit(d["format"] != 1 or len(d["runs"]) != 2 or "spends" not in d["verdict"])' ||
        fail "--json is not the document"
fi
expect '^A .*185 ms ' allreduce report "$scratch/a.jsonl" "$scratch/c.jsonl"
expect '^ *4 *1M .* ring, \.\.\. .* rhd .* [12]\.[0-9]*$' allreduce report "$scratch/a.jsonl" "$scratch/c.jsonl"
expect '^ *4 *2 .* - .*native .* -$' allreduce report "$scratch/a.jsonl" "$scratch/c.jsonl"
# Long names are whole, and a line has one size: of 64K and 120K no ratio is told, nor of unlike mixtures or nodes.
long='two_level(intra=shm,segment=64K,window=4,levels=2x2)'
sed "s/\"ring\"/\"$long\"/" "$scratch/a.jsonl" >"$scratch/long.jsonl"
expect " $long, \\.\\.\\.  *[0-9.]*  rhd " allreduce report "$scratch/long.jsonl" "$scratch/c.jsonl"
for size in 65536 122880; do
    {
        head_of 4
        row ring 65536 400 200000000 0 0 500000 500000 '[500000, 400]' | sed "s/\"sizes\": .*/\"sizes\": [[$size, 400, 200000000]]}/"
        row ring 8 400 4000000 0 0 10000 10000 '[10000, 400]' |
            sed "s/\"sizes\": .*/\"sizes\": [[8, $((size / 1024)), 9], [12, $((400 - size / 1024)), 9]]}/"
    } >"$scratch/$size.jsonl"
done
expect '^ *4 *64K .* ring .* - .* -$' allreduce report "$scratch/65536.jsonl" "$scratch/122880.jsonl"
grep -q '^ *4 *120K .* - .* ring .* -$' "$scratch/out" || fail "no line of 120K: $(cat "$scratch/out")"
grep -q '^ *4 *8+ .* ring .* ring .* -$' "$scratch/out" || fail "unlike mixtures are compared: $(cat "$scratch/out")"
expect '^ *4 *8+ .* ring .* ring .* 1\.00$' allreduce report "$scratch/65536.jsonl" "$scratch/65536.jsonl"
expect '^ *4 *1M .* ring, \.\.\. .* rhd .* -$' allreduce report "$scratch/nodes.jsonl" "$scratch/c.jsonl"

# Many jobs: what is named, or is in a folder, by what could be won: 400 ms that ring took, 1.1 that others did.
mkdir "$scratch/jobs"
cp "$scratch/c.jsonl" "$scratch/jobs/c.jsonl"
cp "$scratch/a.jsonl" "$scratch/jobs/a.jsonl"
for rank in 0 1; do # of a job without a file of all ranks, and of one with it
    cp "$scratch/c.jsonl" "$scratch/jobs/few.jsonl.rank$rank"
    cp "$scratch/c.jsonl" "$scratch/jobs/a.jsonl.rank$rank"
    sed -i '1s/"ranks": 4/"ranks": 1/' "$scratch/jobs"/*.rank$rank
    touch -d '1 hour ago' "$scratch/jobs/a.jsonl.rank$rank"
done
echo 'of a batch job' >"$scratch/jobs/slurm.out"
expect '^ *0\.402 *0\.0502 *0\.0926 *0\.0374  2\.00 *4  <app> *.*/jobs/a.jsonl$' allreduce report "$scratch/jobs"
# order_of FILE...: these, in this order.
order_of() {
    [ "$(sed -n 's,.*<app>.*/\([^/]*\)$,\1,p' "$scratch/out" | paste -s -d ' ')" = "$*" ] || {
        fail "the jobs are not $*"
        cat "$scratch/out"
    }
}
order_of a.jsonl few.jsonl c.jsonl
expect ' 2  <app> ' allreduce report "$scratch/a.jsonl" "$scratch/c.jsonl" "$scratch/jobs/few.jsonl"
order_of a.jsonl few.jsonl c.jsonl
expect '^2 more jobs$' allreduce report --top 1 "$scratch/jobs"
order_of a.jsonl
expect '^won_s,won,share,late,run_s,ranks,program,file$' allreduce report --csv "$scratch/jobs"
[ "$(wc -l <"$scratch/out")" -eq 4 ] || fail "--csv: not a line for each job"
expect '^{"format": 1, "unread": 0, "jobs": \[$' allreduce report --json "$scratch/jobs"
grep -q '"late": 0.0374, "run_s": 2, "ranks": 4, "program": "<app>", "file": ".*a.jsonl"}' "$scratch/out" || fail "--json: $(cat "$scratch/out")"
# Device memory and intercommunicators are not what rules choose for, and a model says less than all time.
expect '^ *0\.00150 .*inter.jsonl$' allreduce report "$scratch/inter.jsonl" "$scratch/jobs"
won=$(allreduce report --csv --machine fat-tree "$scratch/jobs" | sed -n 's/,.*a.jsonl$//p')
awk -v won="$won" 'BEGIN { exit !(won > 0.3 && won < 0.4) }' || fail "by the model $won s could be won"
# What cannot be read is told and left out.
echo 'no statistics' >"$scratch/jobs/x.json"
refuse 'x.json: line 1: not JSON' 1 allreduce report "$scratch/jobs"
order_of a.jsonl few.jsonl c.jsonl
grep -q '^allreduce report: 1 could not be read, left out$' "$scratch/out" || fail "the files that are left out are not counted"
mkdir "$scratch/empty_folder"
refuse 'empty_folder: no file of statistics' 1 allreduce report "$scratch/empty_folder"
refuse 'for one run or two' 2 allreduce report --html "$scratch/x.html" "$scratch/jobs"

# What the watchdog sees, of one run and between runs on 4 and on 5 ranks; its lines are read over.
{
    head_of 5
    row rhd 1048576 500 25000000 0 0 50000 50000 '[50000, 500]' | sed 's/"comm_size": 4/"comm_size": 5/; s/"ranks": 4/"ranks": 5/'
    echo '{"watchdog": "what was said"}'
} >"$scratch/five.jsonl"
allreduce report "$scratch/five.jsonl" | grep watchdog && fail "an alarm without a cause"
expect '^watchdog: MPI_SUM of 1M on 4 ranks by ring .* takes .* times as long as MPI_SUM of 1M on 5 ranks by rhd .* rhd:1M@4$' \
    allreduce report "$scratch/a.jsonl" "$scratch/five.jsonl"

# Rows of communicators with names, in a run of its own and beside one without.
{
    head_of 4
    row rhd 1048576 400 200000000 0 0 500000 500000 '[500000, 400]' | sed 's/"comm_size"/"comm": "<solver>", &/'
    row ring 1048576 400 100000000 0 0 500000 500000 '[250000, 400]' | sed 's/"comm_size"/"comm": "coarse", &/'
} >"$scratch/names.jsonl"
expect ' 100 *4  <solver>  *1M ' allreduce report "$scratch/names.jsonl"
expect 'of 1M on 4 ranks of <solver>: ring took' allreduce report "$scratch/names.jsonl"
expect ' rhd  *[0-9.]*  *rhd  *[0-9.]*  *1\.00  <solver>$' allreduce report "$scratch/names.jsonl" "$scratch/names.jsonl"
expect ' - .* rhd .*  <solver>$' allreduce report "$scratch/c.jsonl" "$scratch/names.jsonl"
expect 'A/B' allreduce report --html "$scratch/names.html" "$scratch/names.jsonl" "$scratch/c.jsonl"
page_has "$scratch/names.html" '<solver> 4 ranks' || fail "the page does not name the communicator"

# What is told of ranks, and the run.
{
    head_of 4 | sed 's/"ranks": 4}/"ranks": 4, "library": "MPICH 4", "command": ".\/<app> -x", "hosts": 2}/'
    row ring 1048576 400 400000000 0 0 1000000 1000000 '[1000000, 400]'
    echo '{"rank": 0, "host": "<h1>", "cpus": "0-3", "calls": 100, "bytes": 8, "setup_ns": 0, "ns": 1000000, "wait_ns": 0, "first": 10, "last": 25, "late": 5, "compared": 50}'
    echo '{"rank": 1, "host": "<h2>", "cpus": "", "calls": 100, "bytes": 8, "setup_ns": 0, "ns": 2000000, "wait_ns": 1000000, "first": null, "last": null, "late": null, "compared": 0}'
    echo '{"site": "app+0x11f0", "entry": "MPI_Allreduce", "module": "/<home>/app", "build_id": "01", "offset": 4592, "calls": 400, "bytes": 419430400, "ns": 400000000, "wait_ns": 0, "ranks": 4}'
    echo '{"site": "(others)", "entry": "-", "module": "", "build_id": "", "offset": 0, "calls": 1, "bytes": 8, "ns": 0, "wait_ns": 0, "ranks": 1}'
} >"$scratch/ranks.jsonl"
expect '^ *400 *400M *400 *0 *4  MPI_Allreduce *app+0x11f0$' allreduce report "$scratch/ranks.jsonl"
expect '^ *1 *8 *0 *0 *1  -  *(others)$' allreduce report "$scratch/ranks.jsonl"
for legend in 'calls to wait are sums' 'first, last: the percentage'; do # a wait of 0 says nothing of native calls
    expect "^$legend.*; wait is that in algorithms of liballreduce: that of native calls is not known\$" \
        allreduce report "$scratch/ranks.jsonl"
done
expect '^MPICH 4; 2 hosts; ./<app> -x$' allreduce report "$scratch/ranks.jsonl"
expect '^ *0  <h1>  0-3 *100 *1\.00 *0 *0 *20 *50 *10$' allreduce report "$scratch/ranks.jsonl"
expect '^ *1  <h2>  - *100 *2\.00 *1\.00 *0 *- *- *-$' allreduce report --html "$scratch/ranks.html" "$scratch/ranks.jsonl"
waiting='Waiting is that in algorithms of liballreduce: that of native calls is not known.'
page_has "$scratch/ranks.html" 'MPICH 4; 2 hosts; ./<app> -x Where the program calls' \
    "400 400M 400 ms 0 us 4 MPI_Allreduce app+0x11f0 1 8 0 us 0 us 1 - (others) Calls to waiting are sums over all ranks. $waiting" \
    '0 <h1> 0-3 100 1.00 ms 0 us 0 us 20 50 10 1 <h2> 100 2.00 ms 1.00 ms 0 us - - -' \
    "for at least twice its time. $waiting" || fail "the page of ranks and sites"

# Where one call could take the place of many, by the times of calls of that size, or of the next more; and who is late.
# site_with RUNS CALLS BYTES NS: in runs
site_with() {
    printf '{"site": "app+0x11f0", "entry": "MPI_Allreduce", "module": "/nowhere/app", "build_id": "01", "offset": 4592, "calls": 4000, "bytes": 32000, "ns": 400000000, "wait_ns": 0, "ranks": 4, "runs": %d, "runs_calls": %d, "runs_comm_size": 4, "runs_bytes": %d, "runs_ns": %d}\n' "$@"
}
# rank_with RANK LATE LATE_NS
rank_with() {
    printf '{"rank": %d, "host": "h%d", "cpus": "0", "calls": 3290, "bytes": 8, "setup_ns": 0, "ns": 1000000, "wait_ns": 0, "first": 10, "last": 25, "late": %d, "late_ns": %s, "compared": 64}\n' "$1" "$1" "$2" "$3"
}
{
    head_of 4
    row shm 8 13160 26320000 0 0 2000 2000 '[2000, 13160]'
} >"$scratch/short.jsonl"
{
    cat "$scratch/short.jsonl"
    row shm 2632 4 40000 0 0 10000 10000 '[10000, 4]'
    row shm 4096 4 80000 0 0 20000 20000 '[20000, 4]'
} >"$scratch/sizes.jsonl"
sentence='^app+0x11f0 makes runs of 329 calls of 8 bytes in a row'
unless='if no result is needed before the last$'
# with FILE SITE...: that file, and a site with such runs
with() {
    cat "$1" >"$scratch/with.jsonl"
    shift
    site_with "$@" >>"$scratch/with.jsonl"
}
with "$scratch/sizes.jsonl" 40 13160 105280 26320000
expect "$sentence: one call of 2632 bytes would take 9\.[0-9]* us instead of 6[0-9][0-9] us, $unless" allreduce report "$scratch/with.jsonl"
sed -i '/"sizes": \[\[2632/d' "$scratch/with.jsonl"
expect "$sentence: one call of 2632 bytes would take at most [12][0-9]\.[0-9]* us instead of 6[0-9][0-9] us, $unless" allreduce report "$scratch/with.jsonl"
with "$scratch/short.jsonl" 40 13160 105280 24000000
expect "$sentence, which take 600 us: one call of 2632 bytes would do, $unless" allreduce report "$scratch/with.jsonl"
if command -v python3 >/dev/null; then
    allreduce report --json "$scratch/with.jsonl" |
        python3 -c 'import json,sys; sys.exit("makes runs of 329" not in json.load(sys.stdin)["runs"][0]["advice"][0])' || fail "--json has no runs"
fi
with "$scratch/short.jsonl" 40 13162 105280 24000000
expect 'makes runs of about 329 calls of 8 bytes' allreduce report "$scratch/with.jsonl"
# What ranks waited in the runs is not saved: of 25 s a call takes 2 us.
with "$scratch/short.jsonl" 40 13160 105280 100000000000
expect "$sentence, which take 6[0-9][0-9] us: " allreduce report "$scratch/with.jsonl"
# Too little is saved: few of the calls, or one call takes as long; or the place is not known.
with "$scratch/short.jsonl" 4 1316 10528 1200000
expect '^ *4000 ' allreduce report "$scratch/with.jsonl"
grep 'makes runs' "$scratch/out" && fail "runs of little time are told"
with "$scratch/short.jsonl" 40 13160 105280 24000000
row ring 2632 4 40000000 0 0 10000000 10000000 '[10000000, 4]' >>"$scratch/with.jsonl"
expect '^ *4000 ' allreduce report "$scratch/with.jsonl"
grep 'makes runs' "$scratch/out" && fail "runs are told where one call takes longer"
with "$scratch/short.jsonl" 40 13160 105280 24000000
sed -i 's,"/nowhere/app","",' "$scratch/with.jsonl"
expect '^ *4000 ' allreduce report "$scratch/with.jsonl"
grep 'makes runs' "$scratch/out" && fail "runs of unknown places are told"
with "$scratch/short.jsonl" 40 13160 26951680 24000000
expect '^ *4000 ' allreduce report "$scratch/with.jsonl"
grep 'makes runs' "$scratch/out" && fail "runs of long calls are told, of which one call may take as long"
with "$scratch/short.jsonl" 40 0 105280 24000000
expect '^ *4000 ' allreduce report "$scratch/with.jsonl"
grep 'makes runs' "$scratch/out" && fail "runs of no calls are told"

# Late in most of the calls, and the waiting is much of the time.
{
    cat "$scratch/a.jsonl"
    rank_with 0 0 0
    rank_with 3 48 48000000
} >"$scratch/late.jsonl"
expect '^Rank 3 on h3 came late to 75 % of its calls, by 1\.00 ms on average$' allreduce report "$scratch/late.jsonl"
sed -i 's/"late_ns": [0-9]*, //' "$scratch/late.jsonl" # an older file
expect '^Rank 3 on h3 came late to 75 % of its calls$' allreduce report "$scratch/late.jsonl"
sed -i 's/"late": 48/"late": 42/' "$scratch/late.jsonl"
expect '^ *3  h3 ' allreduce report "$scratch/late.jsonl"
grep 'came late to' "$scratch/out" && fail "a rank is told that is late to less than two thirds of its calls"
{
    cat "$scratch/short.jsonl"
    rank_with 3 60 6000
} >"$scratch/late.jsonl"
expect '^ *3  h3 ' allreduce report "$scratch/late.jsonl"
grep 'came late to' "$scratch/out" && fail "a rank is told for which hardly anybody waits"

# A page, which loads nothing and escapes what it shows.
expect 'A/B' allreduce report --html "$scratch/page.html" "$scratch/a.jsonl" "$scratch/c.jsonl"
[ -z "$browser" ] || [ "$(in_page "$scratch/page.html" 1200 "const text = document.body.innerText;
    return [document.querySelectorAll('figure svg').length, text.includes('MPI_Allreduce in <app>, 4 ranks'),
        text.includes('Watchdog')].join()")" = 3,true,false ] ||
    fail "the page has no plots, does not name the program, or knows of alarms that there are not"
page_has "$scratch/page.html" "$(allreduce report "$scratch/a.jsonl" "$scratch/c.jsonl" | head -n 1)" 'A: Allreduces took' \
    'B: Allreduces took' 'A / B above 1: B is faster.' || fail "the page of two runs has no verdict on them"
expect 'watchdog' allreduce report --html "$scratch/cliff.html" "$scratch/a.jsonl" "$scratch/five.jsonl"
page_has "$scratch/cliff.html" 'Watchdog: results that no allreduce should have MPI_SUM of 1M on 4 ranks by ring' ||
    fail "the page has no watchdog"
if [ "$(grep -o '<script' "$scratch/page.html" | wc -l)" -ne 3 ] || grep -E '<app>|(src|href)="?http|url\(|@import' "$scratch/page.html"; then
    fail "the page is not self-contained"
fi
grep -q 'A: .*: &lt;app&gt; with liballreduce' "$scratch/page.html" || fail "the page says nothing without scripts"
refuse 'nowhere' 1 allreduce report --html /nowhere/x.html "$scratch/a.jsonl"
# What is read is not replaced, by whatever name.
cp "$scratch/a.jsonl" "$scratch/kept.jsonl"
ln -s kept.jsonl "$scratch/link.jsonl"
refuse '\-\-html would replace .*link.jsonl, which is read' 2 allreduce report "$scratch/link.jsonl" -o "$scratch/kept.jsonl"
refuse '\-\-html would replace .*kept.jsonl, which is read' 2 allreduce report --timeline "$scratch/kept.jsonl" -o "$scratch/kept.jsonl"
cmp -s "$scratch/a.jsonl" "$scratch/kept.jsonl" || fail "the statistics are no longer there"
# Each algorithm has its line in the plots.
{
    head_of 4
    for i in 1 2 3 4 5 6 7 8 9 10; do
        row "ring(window=$i)" 1048576 4 400000 0 0 100000 100000 "[$((100000 / i)), 4]"
    done
} >"$scratch/lines.jsonl"
expect 'ring' allreduce report --html "$scratch/lines.html" "$scratch/lines.jsonl"
[ -z "$browser" ] || [ "$(page_text "$scratch/lines.html" | grep -o 'ring(window=10) on 4 ranks' | wc -l)" -eq 3 ] ||
    fail "plots leave out a line"

# The same calls on another machine: what explain predicts there, and the sums of the lines.
us() {
    allreduce explain "$1" -n 64 -s "$2" --machine fat-tree | sed -n 's/^  time *\([0-9.]*\) us.*/\1/p'
}
elsewhere() {
    allreduce report --machine fat-tree --ranks 64 "$1"
}
best=$(us 'rhd(segment=64K,window=4)' 1M)
expect "^ *100 *64 *1M *1020 *$(us ring 1M) *$best  ring *rhd(segment=64K,window=4)\$" elsewhere "$scratch/a.jsonl"
expect "^ *1 *64 *64 *0\.992 *$(us butterfly 64) *$(us butterfly 64)  butterfly *butterfly\$" elsewhere "$scratch/a.jsonl"
expect '^ *100 *64 *8 *0\.992 *- ' elsewhere "$scratch/a.jsonl"
# expect_sum WORDS FILE MICROSECONDS: a rank's sum there by them, to the digits that are printed.
expect_sum() {
    told=$(elsewhere "$2" | sed -n "s/.*[ ]\([0-9.]*\) ms with $1.*/\1/p")
    awk -v told="$told" -v want="$3" 'BEGIN { exit !(told > 0.99 * want / 1000 && told < 1.01 * want / 1000) }' ||
        fail "a sum of $told ms with $1, not $3 us"
}
expect_sum auto "$scratch/a.jsonl" "$(awk "BEGIN { print $best * 101 + $(us butterfly 8) * 100 + $(us butterfly 64) }")"
grep -v '"shm"' "$scratch/a.jsonl" >"$scratch/far.jsonl"
expect_sum 'what ran' "$scratch/far.jsonl" "$(awk "BEGIN { print $(us ring 1M) * 100 + $(us double_tree 1M) + $(us butterfly 64) }")"
expect '^auto there on 64 ranks: butterfly:0-' elsewhere "$scratch/a.jsonl"
expect '^on 4 ranks of: fat tree' allreduce report --machine fat-tree "$scratch/a.jsonl"
# Calls that were not timed are on no side, and a file of one rank of 4 is of a job of 4.
{
    cat "$scratch/far.jsonl"
    row native 1048576 4000 0 0 0 0 0 '' | sed 's/"MPI_Allreduce"/"MPI_Iallreduce"/; s/"\(ns\|wait_ns\|min_ns\|max_ns\)": [0-9]*/"\1": null/g'
} >"$scratch/untimed.jsonl"
expect '^not predicted: 1000 calls on a rank that were not timed here$' elsewhere "$scratch/untimed.jsonl"
elsewhere "$scratch/far.jsonl" >"$scratch/timed.out"
sed '/^not predicted/d' "$scratch/out" | sed -n '/^on 64 ranks/,$p' >"$scratch/untimed.out"
sed -n '/^on 64 ranks/,$p' "$scratch/timed.out" | cmp -s - "$scratch/untimed.out" || fail "untimed calls count: $(cat "$scratch/untimed.out")"
expect '^on 4 ranks of: fat tree' allreduce report --machine fat-tree "$scratch/b.jsonl.rank0"
refuse "'nowhere' is neither a file" 2 allreduce report --machine nowhere "$scratch/a.jsonl"
[ "$(wc -l <"$scratch/out")" -eq 1 ] || fail "--machine nowhere: a report is printed before the error"
sed 's/"ranks": 4}/"ranks": 0}/' "$scratch/a.jsonl" >"$scratch/none.jsonl"
refuse 'none.jsonl has no ranks' 1 allreduce report --machine fat-tree "$scratch/none.jsonl"
refuse '\-\-machine is for one run, or for many' 2 allreduce report --machine fat-tree "$scratch/a.jsonl" "$scratch/a.jsonl"
refuse '\-\-ranks needs --machine' 2 allreduce report --ranks 8 "$scratch/a.jsonl"
refuse "ranks must be a whole number from 2 to 65536, not '1'" 2 allreduce report --machine fat-tree --ranks 1 "$scratch/a.jsonl"

# Work grows with the number of rows, not with its square.
{
    head_of 4
    row ring 1048576 400 400000000 0 0 1000000 1000000 '[1000000, 400]' |
        awk '{ for (i = 0; i < 10000; i++) { line = $0; sub(/"comm_size"/, "\"comm\": \"c" i "\", &", line); print line } }'
} >"$scratch/many.jsonl"
timeout 40 ./allreduce report "$scratch/many.jsonl" "$scratch/many.jsonl" >"$scratch/out" 2>&1 || fail "10000 rows: status $?"
[ "$(grep -c ' ring .* 1\.00  c[0-9]*$' "$scratch/out")" -eq 10000 ] || fail "10000 rows: not all are told"

# What cannot be read is told by file and line.
echo 'calls and times' >"$scratch/text"
refuse 'text: line 1: .*FILE.jsonl' 1 allreduce report "$scratch/text"
: >"$scratch/empty"
refuse 'empty: is empty' 1 allreduce report "$scratch/empty"
{
    head_of 4
    echo '{"call": "MPI_Bcast", "calls": 1}'
} >"$scratch/bad"
refuse 'bad: line 2: not a row' 1 allreduce report "$scratch/bad"
{
    head_of 4
    echo '{"rank": 0}'
} >"$scratch/bad_rank"
{
    head_of 4
    echo '{"site": "app", "calls": 1}'
} >"$scratch/bad_site"
refuse 'bad_site: line 2: not a row of a call site' 1 allreduce report "$scratch/bad_site"
refuse 'bad_rank: line 2: not a row of a rank' 1 allreduce report "$scratch/bad_rank"
# Numbers have their ranges, and a row is there once.
# refuse_number COLUMN VALUE MOST LINE
refuse_number() {
    sed "2s/\"$1\": [0-9]*/\"$1\": $2/; 1s/\"$1\": [0-9]*/\"$1\": $2/" "$scratch/ranks.jsonl" >"$scratch/bad"
    refuse "bad: line $4: $1 must be a whole number from 0 to $3" 1 allreduce report "$scratch/bad"
}
refuse_number comm_size 2147483648 2147483647 2
refuse_number comm_size 4294967300 2147483647 2
refuse_number calls -4 9223372036854775807 2
refuse_number nodes -1 2147483647 2
refuse_number elapsed_ns 1.5 9223372036854775807 1
sed '1s/"format": 1/"format": 2/' "$scratch/ranks.jsonl" >"$scratch/bad"
refuse 'bad: line 1: was written by a later version, in format 2' 1 allreduce report "$scratch/bad"
for twice in 2 3 5; do
    sed "${twice}p" "$scratch/ranks.jsonl" >"$scratch/bad"
    refuse "bad: line $((twice + 1)): the same row is in an earlier line" 1 allreduce report "$scratch/bad"
done
refuse 'nothing: No such file' 1 allreduce report "$scratch/nothing"
refuse 'ALLREDUCE_STATS' 2 allreduce report
refuse '3 could not be read' 1 allreduce report nosuch nowhere nothing
refuse "cannot be '0'" 2 allreduce report --bandwidth 0 a

# A timeline: the longest call, another, and the machine that the model goes by.
trace=${srcdir:-.}/test/cli/timeline.json
# shellcheck disable=SC2317 # expect and refuse call it
timeline() {
    allreduce report --timeline "$trace" "$@"
}
expect '^call 2: 8 bytes of MPI_DOUBLE, MPI_SUM, on 2 ranks of MPI_COMM_WORLD, by native (named)$' timeline
expect '^The model has no time for native: it has no schedule for what ran\.$' timeline
expect '^ *2 *80\.0 *20\.0 *60\.0 *2 *8  native ' timeline
# 1 us, and 8000 bytes at 10 GB/s on the wire and in the reduction.
expect '^Rank 1 came 40\.0 us after rank 0\. From then on the exchange took 11\.0 us; .* 2\.60 us, so it took 4\.23 times' timeline --call 1
expect '^The critical path leads from the arrival of rank 1 to the last return, through ranks 1, 0\.$' timeline --call 1
expect '^The clocks of the hosts agree to within 250 ns\. 3 calls of single ranks could not be recorded for lack of memory\.$' timeline --call 1
expect '^ *0 *0 *0 *43\.0 *2\.00 *51\.0  rank 1$' timeline --call 1
there=$(allreduce explain butterfly -s 8000 --machine fat-tree --nodes 1x2 | sed -n 's/^  time *\([0-9.]* [um]s\).*/\1/p')
expect "; the model predicts $there, so" timeline --call 1 --machine fat-tree
# Rank 0 sends to rank 1, which awaits that rank 2, who came late, takes its message: no arrow tells that.
awk 'BEGIN {
    args = "\"args\": {\"call\": 1, \"comm\": \"0.0\""
    print "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"format\": 1, \"liballreduce\": \"0.1.0\", \"mpi\": \"mpich\", \"program\": \"app\", \"when\": \"then\", \"world\": 3, \"ranks\": 3, \"calls_lost\": 0, \"clock_error_us\": 0}, \"traceEvents\": ["
    for (r = 0; r < 3; r++)
        printf "{\"ph\": \"X\", \"pid\": %d, \"tid\": 0, \"ts\": %.1f, \"dur\": %.1f, \"name\": \"ring\", \"cat\": \"call\", %s, \"comm_rank\": %d, \"comm_size\": 3, \"bytes\": 8, \"comm_name\": \"\", \"type\": \"MPI_INT\", \"op\": \"MPI_SUM\", \"ran\": \"ring\", \"reason\": \"named\"}},\n", r, r == 2 ? 70 : r, r == 1 ? 99 : r == 2 ? 20 : 50, args, r
    print "{\"ph\": \"X\", \"pid\": 1, \"tid\": 0, \"ts\": 2, \"dur\": 8, \"name\": \"wait for rank 0\", \"cat\": \"wait\", " args ", \"rank\": 0}},"
    print "{\"ph\": \"X\", \"pid\": 1, \"tid\": 0, \"ts\": 20, \"dur\": 60, \"name\": \"wait for rank 2\", \"cat\": \"wait\", " args ", \"rank\": 2}},"
    print "{\"ph\": \"s\", \"pid\": 0, \"tid\": 1, \"ts\": 5, \"id\": 0, \"name\": \"message\", \"cat\": \"message\", " args ", \"bytes\": 8}},"
    print "{\"ph\": \"f\", \"pid\": 1, \"tid\": 1, \"ts\": 10, \"id\": 0, \"name\": \"message\", \"cat\": \"message\", \"bp\": \"e\"}]}"
}' >"$scratch/taken.json"
expect '^The critical path leads from the arrival of rank 2 to the last return, through ranks 2, 1\.$' \
    allreduce report --timeline "$scratch/taken.json"
# Where it is not known who was awaited, an earlier wait tells.
sed 's/"wait for rank 2"/"wait"/; s/, "rank": 2}/}/' "$scratch/taken.json" >"$scratch/earlier.json"
expect '^The critical path leads from the arrival of rank 0 to the last return, through ranks 0, 1\.$' \
    allreduce report --timeline "$scratch/earlier.json"
# As many rounds, waits and messages of 16 ranks as no page has room for.
awk 'BEGIN {
    args = "\"args\": {\"call\": 1, \"comm\": \"0.0\""
    print "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"format\": 1, \"liballreduce\": \"0.1.0\", \"mpi\": \"mpich\", \"program\": \"app\", \"when\": \"then\", \"world\": 16, \"ranks\": 16, \"calls_lost\": 0, \"clock_error_us\": 0}, \"traceEvents\": ["
    for (r = 0; r < 16; r++)
        printf "{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": %d, \"tid\": 0, \"args\": {\"name\": \"rank %d on node-with-a-name.cluster.example.org\"}},\n", r, r
    for (r = 0; r < 16; r++) {
        slice = "{\"ph\": \"X\", \"pid\": " r ", \"tid\": 0, \"ts\": "
        printf "%s%.3f, \"dur\": 700000, \"name\": \"ring\", \"cat\": \"call\", %s, \"comm_rank\": %d, \"comm_size\": 16, \"bytes\": 80000000, \"comm_name\": \"MPI_COMM_WORLD\", \"type\": \"MPI_DOUBLE\", \"op\": \"MPI_SUM\", \"ran\": \"ring(segment=64K,window=auto)\", \"reason\": \"named\"}},\n", slice, r * 1000.123, args, r
        for (k = 1; k <= 120; k++) {
            at = r * 1000.123 + k * 5000.457
            printf "%s%.3f, \"dur\": 4900.789, \"name\": \"round %d\", \"cat\": \"round\", %s, \"schedule\": 1, \"segment\": %d, \"round\": %d}},\n", slice, at, k % 30 + 1, args, k / 30, k % 30 + 1
            printf "%s%.3f, \"dur\": %.3f, \"name\": \"wait for rank %d\", \"cat\": \"wait\", %s, \"rank\": %d}},\n", slice, at, 3000 + k, (r + 15) % 16, args, (r + 15) % 16
            printf "%s%.3f, \"dur\": %.3f, \"name\": \"work\", \"cat\": \"work\", %s, \"bytes\": 65536}},\n", slice, at + 3500, 1000 + k, args
            printf "{\"ph\": \"s\", \"pid\": %d, \"tid\": 1, \"ts\": %.3f, \"id\": %d, \"name\": \"message\", \"cat\": \"message\", %s, \"bytes\": 65536}},\n", r, at, ++id, args
            printf "{\"ph\": \"f\", \"pid\": %d, \"tid\": 1, \"ts\": %.3f, \"id\": %d, \"name\": \"message\", \"cat\": \"message\", \"bp\": \"e\"}%s\n", (r + 1) % 16, at + 3000, id, r < 15 || k < 120 ? "," : "]}"
        }
    }
}' >"$scratch/large.json"
allreduce report --timeline "$scratch/large.json" --html "$scratch/large.html" >"$scratch/out" 2>&1 || fail "16 ranks: $(cat "$scratch/out")"
[ "$(wc -c <"$scratch/large.html")" -le 200000 ] || fail "16 ranks: a page of $(wc -c <"$scratch/large.html") bytes"
page_has "$scratch/large.html" 'messages and flags, only those that took longer' || fail "16 ranks: the page does not say what it leaves out"
# Of 70 ranks, those that came last: the first 6 are not drawn.
awk 'BEGIN {
    print "{\"displayTimeUnit\": \"ns\", \"otherData\": {\"format\": 1, \"liballreduce\": \"0.1.0\", \"mpi\": \"mpich\", \"program\": \"app\", \"when\": \"then\", \"world\": 70, \"ranks\": 70, \"calls_lost\": 0, \"clock_error_us\": 0}, \"traceEvents\": ["
    for (r = 0; r < 70; r++)
        printf "{\"ph\": \"X\", \"pid\": %d, \"tid\": 0, \"ts\": %d, \"dur\": 100, \"name\": \"ring\", \"cat\": \"call\", \"args\": {\"call\": 1, \"comm\": \"0.0\", \"comm_rank\": %d, \"comm_size\": 70, \"bytes\": 8, \"comm_name\": \"\", \"type\": \"MPI_DOUBLE\", \"op\": \"MPI_SUM\", \"ran\": \"ring\", \"reason\": \"named\"}}%s\n", r, r, r, r < 69 ? "," : "]}"
}' >"$scratch/70.json"
expect '^ *69 ' allreduce report --timeline "$scratch/70.json" --html "$scratch/70.html"
grep -q '^The first 64 of 70 ranks$' "$scratch/70.html" || fail "70 ranks: the page has more of them without scripts"
[ -z "$browser" ] || [ "$(in_page "$scratch/70.html" 1200 "const said = document.body.innerText.includes('Of 70 ranks, 64 are drawn: those');
    return [said, document.querySelectorAll('rect.call').length, document.querySelector('td').textContent].join()")" = true,64,6 ] ||
    fail "70 ranks: the page draws others"
refuse 'timeline.json: line 1: this is a timeline: give it by --timeline' 1 allreduce report "$trace"
refuse '\-\-call: .*timeline.json has calls 1 to 2, but no call 3$' 2 timeline --call 3
refuse "call must be a whole number from 1 to [0-9]*, not '0'" 2 timeline --call 0
refuse '\-\-timeline takes its own file' 2 timeline "$scratch/a.jsonl"
refuse '\-\-call needs --timeline' 2 allreduce report --call 1 "$scratch/a.jsonl"
refuse "'nowhere' is neither a file" 2 timeline --machine nowhere
refuse 'nothing: .*No such file' 1 allreduce report --timeline "$scratch/nothing"
refuse 'a.jsonl: .*it looks like statistics, which are read without --timeline' 1 allreduce report --timeline "$scratch/a.jsonl"
head -n 9 "$trace" >"$scratch/cut.json"
refuse 'cut.json: line [0-9]*: .*it is truncated, or not a file' 1 allreduce report --timeline "$scratch/cut.json"
echo '{"traceEvents": []}' >"$scratch/other.json"
refuse 'other.json: is JSON, but not a timeline' 1 allreduce report --timeline "$scratch/other.json"
sed 's/"format": 1/"format": 2/' "$trace" >"$scratch/later.json"
refuse 'later.json: was written by a later version' 1 allreduce report --timeline "$scratch/later.json"
sed 's/"dur": 43.0, //' "$trace" >"$scratch/bad.json"
refuse 'bad.json: event 6 of traceEvents is not from' 1 allreduce report --timeline "$scratch/bad.json"
exit $failed
