#!/bin/sh
# doc/doctor.md has each broken set-up of doc/doctor.in.md with its command, and the verdict that belongs to it.
# shellcheck disable=SC2016 # commands are compared, not run
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

here=$(cd "${srcdir:-.}" && pwd)/doc
set_ups=0

# block COMMAND: what stands below it.
block() {
    awk -v command="\$ $1" '$0 == command { inside = 1; next } /^```/ { inside = 0 } inside' "$here/doctor.md"
}

# expect PATTERN COMMAND: a verdict of this set-up.
expect() {
    set_ups=$((set_ups + 1))
    grep -q -x -F "\$ $2" "$here/doctor.in.md" || fail "doctor.in.md has not: $2"
    block "$2" | grep -q -e "$1" || {
        fail "doctor.md has not $1 below: $2"
        block "$2"
    }
}

expect '^ok  *binding  *node1: ranks 0,1 are bound to one core each' 'mpiexec -n 2 -bind-to core allreduce doctor ./app'
expect '^wrong  *program  .*: started by mpirun of Open MPI' \
    'mpirun.openmpi -n 2 allreduce doctor ./app 2>/dev/null || echo "exit status $?"'
expect '^wrong  *program .* is statically linked' 'allreduce doctor ./app-static || echo "exit status $?"'
expect '^wrong  *program .* is set-user-ID' 'allreduce doctor ./app-setuid || echo "exit status $?"'
expect '^wrong    preload .* bare name liballreduce.so' 'LD_PRELOAD=liballreduce.so allreduce doctor || echo "exit status $?"'
expect '^wrong  *program .*Open MPI.* has no engine' 'allreduce doctor ./app-openmpi || echo "exit status $?"'
expect '^warning  binding  *node1: 2 ranks share CPU 0$' 'mpiexec -n 2 -bind-to user:0,0 allreduce doctor'
expect '^warning  binding  *node1: 5 ranks share CPUs 0,1$' 'mpiexec -n 5 allreduce doctor'
expect '^note  *binding  *node1: ranks 0,1 are not bound' 'mpiexec -n 2 allreduce doctor'
expect '^note  *memory .*/dev/shm, too, which has 0 MiB free' \
    "unshare -rm sh -c 'mount -t tmpfs -o size=64k none /dev/shm && allreduce doctor'"
expect '^warning  kernel  *process_vm_readv is refused by a filter of system calls' \
    'mpiexec -n 2 ./forbid memfd_create process_vm_readv -- allreduce doctor'
expect "^wrong  *settings .*did you mean 'ring'" 'ALLREDUCE_ALGO=rinng allreduce doctor || echo "exit status $?"'
expect '^warning  rules .*tuned elsewhere: .*cpu=a laptop' \
    'mpiexec -n 2 env ALLREDUCE_RULES=./laptop.rules ALLREDUCE_MODEL=./laptop.machine allreduce doctor'
expect '^warning  machine  *ALLREDUCE_MODEL (a laptop) says ' \
    'mpiexec -n 2 env ALLREDUCE_RULES=./laptop.rules ALLREDUCE_MODEL=./laptop.machine allreduce doctor'
expect '^warning  limits  *only 64 open files' "sh -c 'ulimit -n 64 && allreduce doctor'"
[ $set_ups -ge 9 ] || fail "fewer than 8 broken set-ups"

# Each command of the page's source is there, with an output.
grep '^\$ ' "$here/doctor.in.md" | sed 's/^\$ //' | while IFS= read -r command; do
    [ -n "$(block "$command")" ] || echo "$command"
done | grep . && fail "without an output: the above"
exit $failed
