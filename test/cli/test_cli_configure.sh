#!/bin/sh
# configure stops at once, and says why: for a system or a machine on which the library could not work, and where several MPI
# libraries would be built for in the source folder.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

configure=$(cd "${srcdir:-.}" && pwd)/configure
for host in aarch64-apple-darwin23 x86_64-unknown-freebsd14; do
    (cd "$scratch" && "$configure" --host=$host >out 2>&1) && {
        echo "FAIL: $host is taken"
        failed=1
    }
    grep "error: liballreduce is for Linux and not for ${host##*-}" "$scratch/out" || {
        echo "FAIL: $host is not told"
        cat "$scratch/out"
        failed=1
    }
done

# Before MPI is looked for, so that any compiler does.
(cd "$scratch" && "$configure" CC="${CC:-cc}" CPPFLAGS=-U__SIZEOF_INT128__ >out 2>&1) && fail "a machine of 32 bits is taken"
grep 'error: liballreduce needs a machine of 64 bits' "$scratch/out" || fail "what a machine of 32 bits lacks is not told: $(cat "$scratch/out")"

# What a compiler of each MPI library would say of its mpi.h.
for family in mpich openmpi; do
    printf '#!/bin/sh\necho family %s\n' $family >"$scratch/mpicc.$family"
    chmod +x "$scratch/mpicc.$family"
done
mkdir -p "$scratch/source/src/schedule" && : >"$scratch/source/src/schedule/schedule.h"
cp -R "$configure" "${configure%/*}/build-aux" "$scratch/source"
(cd "$scratch/source" && ./configure --with-mpi="$scratch/mpicc.mpich,$scratch/mpicc.openmpi" >"$scratch/out" 2>&1) && {
    echo "FAIL: two MPI libraries in the source folder are taken"
    failed=1
}
grep 'error: .* build folder' "$scratch/out" || {
    echo "FAIL: what two MPI libraries need is not told"
    cat "$scratch/out"
    failed=1
}
exit $failed
