#!/bin/sh
# configure stops at once, and says why: for a system on which the library could not work, and where several MPI
# libraries would be built for in the source folder.
set -u
configure=$(cd "${srcdir:-.}" && pwd)/configure
here=$(mktemp -d) || exit 99
trap 'rm -rf "$here"' EXIT
failed=0
for host in aarch64-apple-darwin23 x86_64-unknown-freebsd14; do
    (cd "$here" && "$configure" --host=$host >out 2>&1) && {
        echo "FAIL: $host is taken"
        failed=1
    }
    grep "error: liballreduce is for Linux and not for ${host##*-}" "$here/out" || {
        echo "FAIL: $host is not told"
        cat "$here/out"
        failed=1
    }
done

# What a compiler of each MPI library would say of its mpi.h.
for family in mpich openmpi; do
    printf '#!/bin/sh\necho family %s\n' $family >"$here/mpicc.$family"
    chmod +x "$here/mpicc.$family"
done
mkdir -p "$here/source/src/schedule" && : >"$here/source/src/schedule/schedule.h"
cp -R "$configure" "${configure%/*}/build-aux" "$here/source"
(cd "$here/source" && ./configure --with-mpi="$here/mpicc.mpich,$here/mpicc.openmpi" >"$here/out" 2>&1) && {
    echo "FAIL: two MPI libraries in the source folder are taken"
    failed=1
}
grep 'error: .* build folder' "$here/out" || {
    echo "FAIL: what two MPI libraries need is not told"
    cat "$here/out"
    failed=1
}
exit $failed
