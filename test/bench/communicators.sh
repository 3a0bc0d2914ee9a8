#!/bin/sh
# What communicators cost that live for one allreduce or for ten, on one node and on 4 hosts at 1 Gbit/s: the same program
# with and without the preload, in turn.  $COMMUNICATORS_PLACES: only these of node:2, node:4, hosts:1 and hosts:2, with
# so many ranks on the node or on each host; $COMMUNICATORS_RUNS: so many runs of each.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

runs=${COMMUNICATORS_RUNS:-5}

# launch RANKS [VARIABLE=VALUE...] PROGRAM: in $place.
launch() {
    ranks=$1
    shift
    # shellcheck disable=SC2086 # MPIEXEC may hold options
    case $place in
    node:*) timeout -k 5 $limit $MPIEXEC -n "$ranks" env "$@" ;;
    hosts:*) timeout -k 5 $limit "$srcdir/test/cluster/cluster" --hosts 4 --ranks "$ranks" --rate 1gbit -- env "$@" ;;
    esac
}

# measure RANKS: a run without the preload and one with it, at the end of $file.
measure() {
    for how in native auto; do
        preload=$library
        [ $how = auto ] || preload=
        launch "$1" LD_PRELOAD="$preload" test/bench/communicators </dev/null >"$scratch/out" || return 1
        sed "s/^/$how,/" "$scratch/out" >>"$file"
    done
}

echo "MPI_Comm_split, MPI_Allreduce and MPI_Comm_free, us; medians of $runs runs each, in turn:"
for place in ${COMMUNICATORS_PLACES:-node:2 node:4 hosts:1 hosts:2}; do
    ranks=${place#*:}
    case $place in
    node:[1-9]*) title="one node, ranks: $ranks" ;;
    hosts:[1-9]*) title="4 hosts, ranks per host: $ranks" ;;
    *)
        echo "COMMUNICATORS_PLACES cannot have '$place'; allowed: node:RANKS, hosts:RANKS"
        exit 1
        ;;
    esac
    file=$measured/communicators-$place.csv
    echo how,ranks,bytes,calls,us >"$file"
    for _ in $(seq "$runs"); do
        measure "$ranks" || {
            fail "$title"
            break
        }
    done
    echo
    echo "$title:"
    echo
    sort -t, -k2,2 -k3,3n -k5,5g "$file" | table communicators
done
exit "$failed"
