#!/bin/sh
# ScaLAPACK's own tests of least squares and of the Schur decomposition (Debian: scalapack-mpi-test, for either MPI), in
# Fortran: matrices of many shapes on grids of ranks, with sums over rows, columns and all ranks. Each test judges its
# own residuals.
# shellcheck source=test/programs/common.sh
. "${srcdir:-.}/test/programs/common.sh"

folder=/usr/lib/$("$CC" -print-multiarch)/scalapack/$AR_MPI_FAMILY-tests
need "$folder/xdls" scalapack-mpi-test

# The grids of the package's files, without those of more than 4 ranks.
prepare() {
    mkdir -p "$scratch/$1"
    cp "$folder/LS.dat" "$folder/NEP.dat" "$scratch/$1"
}

# Verdicts without times; "illegal" marks grids with more ranks than there are.
results() {
    sed -n -E -e 's/ +[0-9.]+ +[0-9.]+( (PASSED|FAILED))/\1/p' -e '/^ *[0-9]+ tests /p' "$scratch/$1/out"
}

# solve NAME RANKS ALGO LEAST
solve() {
    for program in xdls xdnep; do
        prepare "$1-$program"
        run "$1-$program" "$2" "$3" "$4" "$folder/$program"
        grep -q '^ *0 tests completed and failed' "$scratch/$1-$program/out" || fail "$1-$program: residuals are too large"
        [ "$1" = native ] || expect_same "native-$program" "$1-$program"
    done
}

solve native 2 native 100
for algo in auto shm; do
    solve $algo 2 $algo 100
done
transport=mpi
solve ring 2 ring 100
exit $failed
