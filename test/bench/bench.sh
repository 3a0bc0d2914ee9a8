#!/bin/sh
# bench.sh bench | bench-SECTION: prints the tables of doc/performance.md, all or those of one section.
# The machine should have nothing else to do.
: "${srcdir:?run me by make bench}" "${1:?}"

sections='sizes counts ranks forced limits communicators levels native online plot'
[ "$1" = bench ] || sections=${1#bench-}
failed=0

echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores;" \
    "$("$MPIEXEC" --version 2>&1 | sed -n 's/ *Version: */MPICH /p; s/^.*(OpenRTE)/Open MPI/p')"
for section in $sections; do
    echo
    sh "$srcdir/test/bench/$section.sh" || failed=1
done
exit $failed
