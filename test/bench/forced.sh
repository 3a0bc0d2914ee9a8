#!/bin/sh
# auto beside each of the MPI library's own algorithms, forced: a run each, ours and theirs in turn
# within it.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

# How each is forced: a name, and settings of the environment.
settings() {
    echo default
    case $AR_MPI_FAMILY in
    mpich)
        for name in recursive_doubling reduce_scatter_allgather nb; do
            echo "$name MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE=0 MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM=$name"
        done
        echo release_gather MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM=release_gather
        ;;
    openmpi)
        i=1
        for name in basic_linear nonoverlapping recursive_doubling ring segmented_ring rabenseifner; do
            echo "$name OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm=$i"
            i=$((i + 1))
        done
        echo sm OMPI_MCA_coll_sm_priority=90
        echo han OMPI_MCA_coll_han_priority=90
        ;;
    esac
}

# theirs NAME [VARIABLE=VALUE...]: lines of bytes, name, native's and auto's microseconds
theirs() (
    name=$1
    shift
    # shellcheck disable=SC2163 # the values come with the names
    [ $# -eq 0 ] || export "$@"
    contest 2 8-64M --algo=auto --time=0.2 >"$scratch/theirs"
    columns "$scratch/theirs" | awk -F '\t' -v OFS=, -v name="$name" '
        $2 == "native" { native = $3 }
        $2 == "auto" { print $1, name, native, $3 }'
    exit "$failed"
)

echo "2 ranks, auto compared with each of the MPI library's own algorithms:"
echo
file=$measured/forced.csv
echo bytes,algorithm,native_us,auto_us >"$file"
settings >"$scratch/settings"
while read -r name setting; do
    # shellcheck disable=SC2086 # several settings
    theirs "$name" $setting >>"$file" || fail "$name"
done <"$scratch/settings"
table forced "$file"
exit "$failed"
