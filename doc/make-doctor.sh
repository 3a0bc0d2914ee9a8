#!/bin/sh
# Makes the broken set-ups of doc/doctor.in.md, and writes the page to stdout with what the doctor says of each.  Needs
# root, for the set-user-ID program and for namespaces, MPICH and Open MPI, and two cores.  The program allreduce, of
# a build for MPICH, and its mpiexec are found in PATH.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ "$(id -u)" = 0 ] || {
    echo "make-doctor.sh: needs root, for the set-user-ID program" >&2
    exit 1
}
top=$(dirname "$(command -v allreduce)")
host=$(uname -n)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset LD_PRELOAD
for name in $(env | sed -n 's/^\(ALLREDUCE_[A-Z_]*\)=.*/\1/p'); do
    unset "$name"
done
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 NO_COLOR=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM NO_COLOR

cat >app.c <<END
#include <mpi.h>
int main(int argc, char **argv) { MPI_Init(&argc, &argv); return MPI_Finalize(); }
END
mpicc.mpich -o app app.c
mpicc.openmpi -o app-openmpi app.c
echo 'int main(void) { return 0; }' >static.c
gcc -static -o app-static static.c
cp app app-setuid
chown nobody app-setuid
chmod u+s app-setuid
gcc -o forbid "$here/../test/mpi/forbid_system_calls.c"
printf '%s\n' '#! tuned: mpi=MPICH Version: 3.4; cpu=a laptop; ranks=8' ring >laptop.rules
printf '%s\n' 'title a laptop' 'rank reduction 1GB/s' 'node ranks 8 latency 90ms bandwidth 1GB/s' \
    'network latency 90ms bandwidth 1GB/s' >laptop.machine

# The first output is whole; behind it lines that are ok are left out, and the load of this machine.
"$here/make-page.sh" "$here/doctor.in.md" >page
sed -e '/^## The launcher/,$ { /^ok  /d; /^warning  load /,/^  *->/d; }' -e '/^warning  load /,/^  *->/d' \
    -e '/^## Ranks that are not bound/,$ { /^warning  messages /,/^  *->/d; }' -e "s|$top/.libs|/opt/allreduce/lib|g" -e "s|$top|/opt/allreduce/bin|g" -e "s|$folder|/home/user|g" \
    -e "s|\b$host: |node1: |g" page
