#!/bin/sh
# Ranks that write, reduce and read, beside another MPI library that is said to be fast:
#
#     make bench-peer PEER=COMMAND [PEER_ENVIRONMENT='VARIABLE=VALUE...'] [PEER_PRELOAD=LIBRARIES]
#
# COMMAND runs test/bench/turns.c, compiled for that library, on PEER_RANKS ranks (2), and is given its
# arguments.  Each rank should have a core: MPIEXEC='mpiexec -bind-to core'.  The others are for our own
# ranks: LD_LIBRARY_PATH, where libxpmem is in a folder of its own, and libraries to preload behind ours.
# Also PEER_LEAST, PEER_MOST (bytes), PEER_CALLS, PEER_RUNS.
# A quarter of PEER_LEAST goes ahead and is left out: what is measured first suffers from the start.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench}/test/bench/common.sh"

[ -n "${PEER:-}" ] || {
    echo "bench-peer: PEER is not set: a command that runs test/bench/turns under the other MPI library" >&2
    exit 2
}
file=$measured/peer.csv
least=${PEER_LEAST:-16} most=${PEER_MOST:-67108864} calls=${PEER_CALLS:-400} ranks=${PEER_RANKS:-2}
[ "$least" -ge 16 ] 2>/dev/null || {
    echo "bench-peer: PEER_LEAST is $least, and must be at least 16" >&2
    exit 2
}
echo "who,bytes,call_us,turn_us,wrong" >"$file"

# later WHO: what turns printed in $scratch/turns, without the first size.
later() {
    sed "1d; s/^/$1,/" "$scratch/turns" >>"$file"
}

# turns WHO [VARIABLE=VALUE]: a run, without our library where WHO is native.
turns() {
    who=$1
    ours=$library:
    [ "$who" != native ] || ours=
    # shellcheck disable=SC2086 # variables
    launch "$ranks" ${PEER_ENVIRONMENT:-} ${2:-} LD_PRELOAD="$ours${PEER_PRELOAD:-}" ALLREDUCE_ALGO="${who%:*}" \
        test/bench/turns $((least / 4)) "$most" 4 "$calls" </dev/null >"$scratch/turns" || fail "$who"
    later "$who"
}

for _ in $(seq "${PEER_RUNS:-5}"); do
    # shellcheck disable=SC2086 # a command with arguments
    $PEER $((least / 4)) "$most" 4 "$calls" </dev/null >"$scratch/turns" || fail "$PEER"
    later peer
    turns native
    turns 'shm(copy=slots):never' ALLREDUCE_STREAMING=never
    turns 'shm(copy=slots)'
    turns 'shm(copy=in_place)'
    turns auto
done
echo "${PEER_RANKS:-2} ranks, medians of runs in turn; us of a call / of a whole turn, and these as parts of the peer's:"
echo
sort -t, -k1,1 -k2,2n "$file" | table peer || fail "no table"
exit "$failed"
