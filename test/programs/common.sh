# What the tests of packaged programs share.  Sourced in the build directory.
# shellcheck shell=sh
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# need PROGRAM PACKAGE
need() {
    command -v "$1" >/dev/null || {
        echo "$1 is not installed (Debian: $2)"
        exit 77
    }
}

# of the following runs: messages, or the node's memory if possible
transport=auto

# run NAME RANKS ALGO LEAST [VARIABLE=VALUE...] PROGRAM [ARGUMENT...]: runs it in the folder $scratch/NAME, with its
# output in $scratch/NAME/out.  By the library's summary on stderr, at least LEAST calls run ALGO (for auto: any
# algorithm, or native by its own choice, as on one rank), and no call is native that need not be.
run() {
    name=$1
    size=$2
    algo=$3
    least=$4
    shift 4
    mkdir -p "$scratch/$name"
    (
        cd "$scratch/$name" &&
            preload "$size" ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO="$algo" ALLREDUCE_TRANSPORT="$transport" "$@" >out 2>"$scratch/out" </dev/null
    ) || {
        fail "$name: exit status $?"
        tail -n 20 "$scratch/$name/out" "$scratch/out"
    }
    ran=$(awk -v algo="$algo" '
        /^liballreduce: +[0-9]+ / {
            row = $5; sub(/\(.*/, "", row)
            if (row == algo || (algo == "auto" && (row != "native" || $6 == "auto"))) n += $2
        }
        END { print n + 0 }' "$scratch/out")
    left=$(awk '/^liballreduce: +[0-9]+ / && $5 == "native" && $6 != "auto" { n += $2 } END { print n + 0 }' "$scratch/out")
    [ "$ran" -ge "$least" ] || fail "$name: $ran calls ran $algo, fewer than $least"
    [ "$algo" = native ] || [ "$left" -eq 0 ] || fail "$name: $left calls were native"
    echo "done: $name, $size ranks, $ran calls by $algo"
}

# expect_same NAME NAME: both runs printed the same results, without one bit of difference, as extracted by `results
# NAME`, the test's own function.
expect_same() {
    results "$1" >"$scratch/first"
    results "$2" >"$scratch/second"
    [ -s "$scratch/first" ] || fail "$1: no results"
    diff "$scratch/first" "$scratch/second" || fail "$1 and $2: other results"
}

# expect_near NAME NAME TOLERANCE: the same words, and numbers whose relative difference is at most TOLERANCE.
expect_near() {
    results "$1" | tr -s ' ' '\n' >"$scratch/first"
    results "$2" | tr -s ' ' '\n' >"$scratch/second"
    [ -s "$scratch/first" ] || fail "$1: no results"
    paste "$scratch/first" "$scratch/second" | awk -v tolerance="$3" '
        function absolute(x) { return x < 0 ? -x : x }
        $1 == $2 { next }
        $1 !~ /^[-+]?[0-9]/ || $2 !~ /^[-+]?[0-9]/ { print; bad = 1; next }
        absolute($1 - $2) > tolerance * (absolute($1) > 1 ? absolute($1) : 1) { print; bad = 1 }
        END { exit bad }' || fail "$1 and $2: other results"
}
