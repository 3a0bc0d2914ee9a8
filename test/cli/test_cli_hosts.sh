#!/bin/sh
# configure stops at once for a system on which the library could not work, and says why.
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
exit $failed
