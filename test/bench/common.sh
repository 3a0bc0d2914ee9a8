# What the sections of make bench share.  Sourced in the build directory.
# shellcheck shell=sh disable=SC2034 # measured is read by the sections

# shellcheck source=test/mpi/common.sh
. "${srcdir:?run me by make bench}/test/mpi/common.sh"

limit=600
measured=test/bench # where measurements are left
mkdir -p "$measured"

# contest RANKS SIZES OPTION...: allreduce bench, as CSV.  What is measured first suffers from the
# start: one float goes ahead of the sizes, and is left out.
contest() {
    ranks=$1
    sizes=$2
    shift 2
    launch "$ranks" ./allreduce bench --csv "--sizes=4,$sizes" "$@" </dev/null >"$scratch/contest" ||
        fail "allreduce bench on $ranks ranks" >&2
    awk -F, '$2 != 4' "$scratch/contest"
}

# columns FILE: bytes, algorithm and microseconds of what contest printed, with tabs between them.
columns() {
    awk -f "$srcdir/test/bench/columns.awk" "$1"
}

# table NAME [FILE]: what NAME.awk makes of it.
table() {
    name=$1
    shift
    awk -f "$srcdir/test/bench/format.awk" -f "$srcdir/test/bench/$name.awk" "$@"
}

# speedup FILE: what contest printed, as a table.
speedup() {
    columns "$1" | table speedup
}

median() {
    sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

# in_turn RUNS ALGORITHM RANKS PROGRAM [ARGUMENT...]: medians of the number that the program prints,
# without the preload and with ALGORITHM under it.
in_turn() {
    runs=$1
    algorithm=$2
    ranks=$3
    shift 3
    : >"$scratch/without"
    : >"$scratch/with"
    while [ "$runs" -gt 0 ]; do
        launch "$ranks" "$@" </dev/null >>"$scratch/without" || return 1
        preload "$ranks" ALLREDUCE_ALGO="$algorithm" "$@" </dev/null >>"$scratch/with" || return 1
        runs=$((runs - 1))
    done
    echo "$(median <"$scratch/without"),$(median <"$scratch/with")"
}

# predicted ALGORITHM RANKS BYTES MACHINE: by the model, microseconds, and how many times the bound.  Nothing, and status
# 1, if there is no prediction.
predicted() {
    ./allreduce explain "$1" -n "$2" -s "$3" --machine "$4" | awk '
        BEGIN { us["ns,"] = 1e-3; us["us,"] = 1; us["ms,"] = 1e3; us["s,"] = 1e6 }
        $1 == "time" { print $2 * us[$3], $4; found = 1 }
        END { exit !found }'
}
