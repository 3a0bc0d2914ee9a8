#!/bin/sh
# An op of the program's own gets the whole vector in each call, as aligned as the program's, whatever was named, and the summary
# says what ran in its place; ALLREDUCE_USER_OPS=cut, or a clause with op=user, says that it can do
# with parts.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

reason='user op needs the whole vector'

# counted: how many calls of the summary in $scratch/out have the reason.
counted() {
    awk -v reason="$reason\$" '/^liballreduce: +[0-9]+ / && $0 ~ reason { calls += $2 }
        END { print calls + 0 }' "$scratch/out"
}

# expect_whole WHAT LEAST COMMAND...: the program passes, and at least so many calls have the reason.
expect_whole() {
    title=$1
    least=$2
    shift 2
    expect_ok "$title" "$@" || return
    [ "$(counted)" -ge "$least" ] || {
        fail "$title: $(counted) calls say '$reason', fewer than $least"
        grep '^liballreduce:' "$scratch/out"
    }
    echo "done: $title, $(counted) calls"
}

# Open MPI itself hands ops that commute parts of all but short messages.
[ "$AR_MPI_FAMILY" != mpich ] || expect_ok natively launch 3 "$programs/whole_vector" 100000

# Each row in turn, on messages of some size.
# shellcheck disable=SC2046 # names have no blanks
all_rows=$(rules_of $(rows))
# all_rows_on RANKS TRANSPORT
all_rows_on() {
    expect_whole "all rows on $1 ranks, transport $2" 20 preload "$1" ALLREDUCE_VERBOSE=1 \
        ALLREDUCE_TRANSPORT="$2" ALLREDUCE_ALGO="$all_rows" "$programs/whole_vector" 1000000 aligned
}
all_rows_on 2 auto
all_rows_on 3 mpi
all_rows_on 4 auto
all_rows_on 7 auto
all_rows_on 7 mpi
expect_whole "auto on 2 ranks" 1 preload 2 ALLREDUCE_VERBOSE=1 "$programs/whole_vector"
expect_whole "auto on 5 ranks" 1 preload 5 ALLREDUCE_VERBOSE=1 "$programs/whole_vector"
expect_calls "auto on 5 ranks" shm 10
expect_whole "segments" 10 preload 3 ALLREDUCE_VERBOSE=1 \
    ALLREDUCE_ALGO='butterfly(segment=1K,window=3):0-10K;shm(segment=100):0-50K;shm(whole=1);' \
    "$programs/whole_vector" 200000
expect_ok "an open window and little scratch" preload 2 ALLREDUCE_SCRATCH=64K \
    ALLREDUCE_ALGO='circle(segment=inf,window=auto)' "$programs/whole_vector" 20000
if [ "$AR_MPI_FAMILY" = mpich ]; then # whose own allreduce takes what our scratch is too little for
    expect_whole "little scratch" 10 preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=butterfly \
        ALLREDUCE_SCRATCH=64K "$programs/whole_vector" 200000
    expect_calls "little scratch" native 10
fi
expect_whole "a list without the one that stands in" 10 preload 4 ALLREDUCE_VERBOSE=1 \
    ALLREDUCE_ALGO_LIST=ring,star "$programs/whole_vector" 20000
expect_calls "a list without the one that stands in" star 10
expect_whole "bits that the size must not change" 10 preload 3 ALLREDUCE_VERBOSE=1 \
    ALLREDUCE_DETERMINISM=size "$programs/whole_vector" 200000

# expect_cut WHAT [VARIABLE=VALUE...]: the op sees parts, which this program's cannot do with.
expect_cut() {
    title=$1
    shift
    preload 3 ALLREDUCE_VERBOSE=1 "$@" "$programs/whole_vector" 20000 >"$scratch/out" 2>&1 &&
        fail "$title: the op saw no part"
    [ "$(counted)" -eq 0 ] || fail "$title: said '$reason'"
    grep -q ' parts, ' "$scratch/out" || fail "$title: not told of parts"
}
expect_cut "ALLREDUCE_USER_OPS=cut" ALLREDUCE_USER_OPS=cut ALLREDUCE_ALGO=rhd
expect_cut "op=user" ALLREDUCE_ALGO='rhd:op=user;native'
expect_whole "auto under op=user" 1 preload 3 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO='ring:op=sum;double_tree' \
    "$programs/whole_vector" 20000
# Three levels have no room for a long vector on each.
reason='no room for levels: flat'
expect_whole "levels" 3 preload 5 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO='shm(levels=2+4)' "$programs/whole_vector" 200000
exit $failed
