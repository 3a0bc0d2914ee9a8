#!/bin/sh
# What runs in MPI is handed to the helper for the launcher's MPI library, or else to that for MPI 5's ABI.  Without either it
# is refused, except for doctor, which tells what is wrong from any MPI.  The helpers here are scripts that print their names
# and arguments, or programs that need a library which is nowhere.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

installed=$(sed -n 's/^#define AR_PKGLIBEXECDIR "\(.*\)"$/\1/p' installed.h)
for helper in "$installed"/allreduce-*; do
    [ ! -e "$helper" ] || {
        echo "skipped: $helper would be found"
        exit 77
    }
done

cp allreduce "$scratch" || exit 99
# offer FAMILY...: there are helpers for these, and no others.
offer() {
    rm -f "$scratch"/allreduce-*
    for family in "$@"; do
        # shellcheck disable=SC2016 # expanded by the script
        printf '#!/bin/sh\necho "${0##*/}" "$@"\n' >"$scratch/allreduce-$family"
        chmod +x "$scratch/allreduce-$family"
    done
}

# break_helpers FAMILY...: those of these lack a library.
break_helpers() {
    for family in "$@"; do
        sed 's/libc\.so\.6/libx.so.6/' allreduce >"$scratch/allreduce-$family"
        chmod +x "$scratch/allreduce-$family"
    done
}

# expect STATUS TEXT VARIABLE=VALUE... -- SUBCOMMAND [ARGUMENT...]: says that, begun by a launcher that sets these.
expect() {
    status=$1
    text=$2
    shift 2
    variables=
    while [ "$1" != -- ]; do
        variables="$variables $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # words
    said=$(env $variables "$scratch/allreduce" "$@" 2>&1 </dev/null)
    [ $? -eq "$status" ] || fail "$variables $*: exit status is not $status"
    # shellcheck disable=SC2254 # a pattern
    case $said in
    $text) ;;
    *) fail "$variables $*: said '$said'" ;;
    esac
}

hydra='PMI_RANK=0 MPI_LOCALRANKID=0 PMI_SIZE=2'
mpirun='OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_SIZE=2'
for variable in $(env | sed -n -E 's/^((OMPI|PMIX?|PALS|FLUX|MV2|SLURM|MPI)_[A-Z_]*)=.*/\1/p'); do
    unset "$variable"
done

# shellcheck disable=SC2086 # words
for command in bench tune model doctor; do
    offer mpich openmpi abi
    expect 0 "allreduce-mpich $command -x" $hydra -- $command -x
    expect 0 "allreduce-openmpi $command -x" $mpirun -- $command -x
    offer abi
    expect 0 "allreduce-abi $command -x" $hydra -- $command -x
    expect 0 "allreduce-abi $command -x" $mpirun -- $command -x
done

# One of several MPI libraries may be missing on this machine, or in this container.
offer openmpi
break_helpers mpich
expect 0 'allreduce-openmpi doctor' -- doctor
offer mpich
break_helpers openmpi
expect 0 'allreduce-mpich doctor' -- doctor
offer
break_helpers mpich openmpi
expect 1 "allreduce doctor: $scratch/allreduce-*: libx.so.6: *; load the module of that MPI, or set LD_LIBRARY_PATH" -- doctor
# shellcheck disable=SC2086 # words
for command in bench doctor; do
    offer abi
    break_helpers mpich
    expect 0 "allreduce-abi $command" $hydra -- $command
done

# Where no launcher tells, doctor is about the program's MPI: here one that loads this build's under the name of another.
case $AR_MPI_FAMILY in
mpich) other=openmpi name=libmpi.so.40 ;;
openmpi) other=mpich name=libmpi.so.12 ;;
*) other= ;;
esac
file=$(ldd "allreduce-$AR_MPI_FAMILY" | sed -n 's/^.*libmpi\(ch\)\{0,1\}\.so\.[0-9]* => \([^ ]*\) .*/\2/p')
if [ -n "$other" ] && [ -n "$file" ]; then
    ln -s "$file" "$scratch/$name"
    sed -e "s/libmpich\.so\.12/$name\x00\x00/" -e "s/libmpi\.so\.[0-9][0-9]/$name/" "allreduce-$AR_MPI_FAMILY" >"$scratch/program"
    chmod +x "$scratch/program"
    offer mpich openmpi
    for variable in NONE=1 SLURM_PROCID=0; do
        expect 0 "allreduce-$other doctor --json $scratch/program -x" $variable LD_LIBRARY_PATH="$scratch" -- doctor --json "$scratch/program" -x
        expect 0 "allreduce-$AR_MPI_FAMILY doctor" $variable -- doctor
    done
else
    echo "skipped: a program of another MPI"
fi

offer "$AR_MPI_FAMILY"
foreign=$mpirun
[ "$AR_MPI_FAMILY" != openmpi ] || foreign=$hydra
# shellcheck disable=SC2086 # words
expect 0 "allreduce-$AR_MPI_FAMILY doctor" $foreign -- doctor
# shellcheck disable=SC2086 # words
expect 1 'allreduce bench: it runs under MPI, but this launcher starts programs of *, for which there is no allreduce-*; *' \
    $foreign -- bench
exit $failed
