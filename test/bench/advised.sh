#!/bin/sh
# What allreduce explain auto advises on one node, beside flat and beside shm with its own levels, all by the model: the
# cells in which it or shm is more than 2 % slower than flat, and the means.  MACHINES and RANKS choose; 3 to 64 ranks of
# the four machines take half an hour of a core, and nothing is measured.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench-advised}/test/bench/common.sh"

machines=${MACHINES:-epyc-7742x2 epyc-7r13x2 xeon-8375cx2 graviton3}
ranks_of=${RANKS:-$(seq 3 64)}
sizes='8 16 64 128 256 512 1024 2048 4096 8192 16384 32768 65536 131072 262144 524288 1048576'

# clause BYTES: of the rules on stdin, the algorithm that serves so many bytes.
clause() {
    tr ';' '\n' | awk -v bytes="$1" '
        function size(text) {
            return text == "inf" ? 1e18 : text * (text ~ /K$/ ? 2 ^ 10 : text ~ /M$/ ? 2 ^ 20 : text ~ /G$/ ? 2 ^ 30 : 1)
        }
        {
            from = 0
            to = 1e18
            if (match($0, /:[0-9KMG]+-[0-9KMGinf]+$/)) {
                split(substr($0, RSTART + 1), range, "-")
                from = size(range[1])
                to = size(range[2])
                $0 = substr($0, 1, RSTART - 1)
            }
        }
        from <= bytes && bytes <= to { print; exit }'
}

for machine in $machines; do
    file=$srcdir/machines/$machine.machine
    for ranks in $ranks_of; do
        rules=$(./allreduce explain auto -n "$ranks" --machine "$file" | sed -n 3p)
        for size in $sizes; do
            advised=$(echo "$rules" | clause "$size")
            line="$ranks $size $advised"
            for algorithm in "$advised" 'shm(levels=flat)' shm; do
                time=$(predicted "$algorithm" "$ranks" "$size" "$file") || fail "$algorithm, $ranks ranks of $machine" >&2
                line="$line ${time% *}"
            done
            echo "$line"
        done
    done >"$scratch/cells"
    awk -v machine="$machine" '
        { advised = $4 / $5; shm = $6 / $5; than_shm = $4 / $6 }
        advised > 1.0205 { printf "%s, %d ranks, %d bytes: %s takes %.3f times as long as flat\n", machine, $1, $2, $3, advised }
        shm > 1.0205 { printf "%s, %d ranks, %d bytes: shm takes %.3f times as long as flat\n", machine, $1, $2, shm }
        { n++; all += log(than_shm); most = than_shm > most ? than_shm : most }
        END { printf "%s, %d cells: advised / shm %.3f in the mean, at most %.3f\n", machine, n, exp(all / n), most }' "$scratch/cells"
done
exit "$failed"
