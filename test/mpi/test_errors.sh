#!/bin/sh
# Wrong calls end as they do without the library: same class, same handler calls; and
# the same death where the MPI library dies of it.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=20

# all_cases FILE COMMAND...: what all cases print under the command, without what the launcher adds to a death.  Behind
# a case that kills the program, which an MPI library without checks may do, it is started again.
all_cases() {
    file=$1
    shift
    : >"$file"
    next=0
    while [ "$next" -lt 100 ]; do
        "$@" "$programs/errors" "$next" >"$scratch/part" 2>>"$file.stderr"
        status=$?
        grep -E '^case|handler called' "$scratch/part" >>"$file"
        [ $status -ne 0 ] || return
        last=$(sed -n 's/^case //p' "$scratch/part" | tail -n 1)
        [ -n "$last" ] || break
        echo "dies" >>"$file"
        next=$((last + 1))
    done
    fail "$*: does not end: status $status"
}

all_cases "$scratch/native" launch 2
all_cases "$scratch/ours" preload 2 ALLREDUCE_ALGO=ring
diff "$scratch/native" "$scratch/ours" || {
    fail "cases differ from native (<)"
    cat "$scratch/ours.stderr"
}
cat "$scratch/native"

# The MPI library judges a first call before its ranks meet.  Open MPI's own call waits for the others in some cases.
expect_ok "a wrong first call of one rank" preload 2 ALLREDUCE_ALGO=ring "$programs/errors" alone

# A message that fails is named, as it is by the native call.
for row in ring rhd; do
    preload 2 ALLREDUCE_ALGO=$row ALLREDUCE_TRANSPORT=mpi "$programs/errors" counts >"$scratch/out" 2>&1
    grep -q -i 'message truncated' "$scratch/out" || {
        fail "$row: counts that differ"
        cat "$scratch/out"
    }
done
[ "$(grep -c '^case' "$scratch/native")" -ge 10 ] || fail "fewer than 10 cases ran"
exit $failed
