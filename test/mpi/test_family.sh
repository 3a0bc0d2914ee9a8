#!/bin/sh
# A build for one MPI, preloaded into a program of another one, says so and ends it.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=30

# expect_refusal VERSION
expect_refusal() {
    preload 1 "$programs/family" "$1" >"$scratch/out" 2>&1 && fail "$1: taken"
    grep -q "^liballreduce: this build is for .*, but the program runs with" "$scratch/out" || {
        fail "$1: no word of it"
        cat "$scratch/out"
    }
}

mpich='MPICH Version:	4.0.2
MPICH Release date:	Thu Apr  7 12:34:45 CDT 2022'
intel='Intel(R) MPI Library 2021.9 for Linux* OS'
openmpi='Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022'

case $AR_MPI_FAMILY in
mpich) expect_refusal "$openmpi" ;;
openmpi) expect_refusal "$mpich" && expect_refusal "$intel" ;;
esac
[ "$AR_MPI_FAMILY" = mpich ] && expect_ok "the ABI's other libraries" preload 1 "$programs/family" "$intel"
expect_ok "an unknown library" preload 1 "$programs/family" "Some MPI 1.0"
exit $failed
