#!/bin/sh
# The program for SMPI, which has the library's sources in itself, is linked and starts without SMPI, too.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

expect_ok "its rows" launch 1 ./test/smpi/simulated rows
./allreduce list --names | cmp - "$scratch/out" || fail "its rows are others than those of allreduce list"
exit $failed
