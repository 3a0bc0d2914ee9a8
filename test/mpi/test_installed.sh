#!/bin/sh
# What is installed is enough to build and run the example program by pkg-config.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

command -v pkg-config >/dev/null || exit 77
limit=60
install_into "$scratch/usr" || exit 1
export PKG_CONFIG_PATH="$scratch/usr/lib/pkgconfig" LD_LIBRARY_PATH="$scratch/usr/lib"
flags=$(pkg-config --define-variable=prefix="$scratch/usr" --define-variable=libdir="$scratch/usr/lib" --cflags --libs liballreduce) ||
    fail "pkg-config"
# shellcheck disable=SC2086 # CC and flags hold options
expect_ok "the example's compilation" ${CC:?} -Wall -Werror "${srcdir:-.}/demo/choose.c" $flags -o "$scratch/choose" || exit 1
for ran in butterfly ring; do
    variable=
    [ $ran = butterfly ] || variable=ALLREDUCE_ALGO=$ran
    expect_ok "the example" launch 3 $variable "$scratch/choose"
    grep -q "the sum is 3; $ran ran" "$scratch/out" || {
        fail "the example says"
        cat "$scratch/out"
    }
done
exit $failed
