#!/bin/sh
# Fortran programs: mpif.h, use mpi, use mpi_f08; all calls arrive.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

if [ ! -e "$programs/fortran_mpif" ]; then
    echo "configure found no MPI Fortran compiler"
    exit 77
fi
for program in fortran_mpif fortran_mpi fortran_f08; do
    for ranks in 1 2 3; do
        expect_row "$program, $ranks ranks" butterfly 11 preload $ranks \
            ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=butterfly "$programs/$program"
        if grep 'native' "$scratch/out"; then
            fail "$program: native calls"
        fi
    done
    expect_ok "$program chooses" preload 2 ALLREDUCE_VERBOSE=1 "$programs/$program"
    for row in star ring; do
        grep -q " 1 .* ${row}[^ ]*  *program$" "$scratch/out" || fail "$program chooses $row: $(cat "$scratch/out")"
    done
    # The name that a program gives to a communicator is known where MPI can no longer be asked.
    preload 1 ALLREDUCE_STATS="$scratch/$program.jsonl" "$programs/$program" leave >"$scratch/out" 2>&1
    grep -q '"comm": "by Fortran"' "$scratch/$program.jsonl.rank0" || fail "$program: its communicator has no name"
done
exit $failed
