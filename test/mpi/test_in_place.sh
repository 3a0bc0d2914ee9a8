#!/bin/sh
# Ranks read each other's buffers in place, by a stand-in for libxpmem; where one cannot, all go through slots.
# shellcheck source=test/mpi/common.sh disable=SC2317 # functions are arguments
. "${srcdir:-.}/test/mpi/common.sh"

mkdir "$scratch/lib"
cp "$PWD/test/mpi/.libs/fake_xpmem.so" "$scratch/lib/libxpmem.so.0" || exit 99

# in_place RANKS [VARIABLE=VALUE...] PROGRAM [ARGUMENT...]: with the stand-in.
in_place() {
    on=$1
    shift
    preload "$on" LD_LIBRARY_PATH="$scratch/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ALLREDUCE_VERBOSE=1 \
        ALLREDUCE_ALGO='shm(copy=in_place)' "$@"
}

# expect_copy WHAT TEXT LEAST COMMAND...: at least LEAST calls ran shm, and a line of the table has the text.
expect_copy() {
    label=$1
    text=$2
    shift 2
    expect_row "$label" shm "$@" || return
    grep -q -e "$text" "$scratch/out" || {
        fail "$label: no line has $text"
        grep '^liballreduce:' "$scratch/out"
    }
}

lacking='shm(copy=slots).* no XPMEM on all ranks: through slots'
program=$programs/in_place
for n in 2 3 4; do
    expect_copy "$n ranks" 'shm(copy=in_place) *named' 32 in_place $n "$program" shown
    grep -q 'op takes whole vectors: through slots' "$scratch/out" || fail "$n ranks: an op was cut"
    grep 'through slots' "$scratch/out" | grep -v 'op takes whole vectors' &&
        fail "$n ranks: some did not read in place"
done
expect_copy "groups" 'shm(levels=2,copy=in_place) *named' 32 in_place 4 \
    ALLREDUCE_LEVELS=2 "$program" shown
expect_copy "groups of unequal size" 'groups of unequal size: through slots' 32 in_place 3 \
    ALLREDUCE_LEVELS=2 "$program" shown
expect_copy "ops are cut" 'derived type: through slots' 48 in_place 2 ALLREDUCE_USER_OPS=cut "$program" shown
grep -q 'op takes whole' "$scratch/out" && fail "ops are cut: some are not"
expect_copy "buffers that cannot be attached" ' 16 .*shm(copy=in_place) *named' 32 in_place 3 "$program" hidden
grep -q ' 16 .*shm(copy=slots) *buffers cannot be mapped: through slots' "$scratch/out" ||
    fail "buffers that cannot be attached: those calls are not told apart"
[ "$(grep -c 'cannot attach' "$scratch/out")" -eq 2 ] || fail "cannot attach: not told once by each of the others"
expect_copy "memory of a device" 'shm(copy=slots) *buffers cannot be mapped: through slots' 1 in_place 2 "$program" device
[ "$(grep -c 'cannot share' "$scratch/out")" -eq "$(grep -c '\[vvar\]' /proc/self/maps)" ] ||
    fail "cannot share: not told once"
expect_copy "many addresses" 'shm(copy=in_place) *named' 121 in_place 3 "$program" many
expect_copy "messages in short chunks" 'shm(copy=in_place,segment=100) *named' 32 \
    in_place 2 ALLREDUCE_ALGO='shm(copy=in_place,segment=100)' "$program" shown

# On one rank alone the library is missing, or fails.
for on_one in 'unset LD_LIBRARY_PATH' 'export XPMEM_FAILS=make' 'export XPMEM_FAILS=get' 'export XPMEM_FAILS=attach'; do
    before="[ \$rank != 1 ] || $on_one"
    expect_copy "on rank 1: $on_one" "$lacking" 32 in_place 3 "$program" shown
done
before=
# Ranks that share memory by its name alone: process 1 is another one for each.  (Open MPI's own messages fail there.)
alone="unshare -p -f --mount-proc"
# shellcheck disable=SC2086 # a command with options
if [ "$AR_MPI_FAMILY" = mpich ] && $alone true 2>/dev/null; then
    expect_copy "PID namespaces of their own" "$lacking" 32 \
        timeout -k 5 $limit $MPIEXEC -n 2 $alone env LD_PRELOAD="$library" LD_LIBRARY_PATH="$scratch/lib" \
        ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO='shm(copy=in_place)' "$program" shown
fi

# Nobody asks, so the library is not loaded; auto asks from 8 KiB on, on two ranks with a core each.
expect_copy "slots" 'shm(copy=slots) *named' 32 in_place 2 ALLREDUCE_ALGO='shm(copy=slots)' "$program" slots
# Slots can be written through the caches, and past them where the processor has streaming stores.
for streaming in never always; do
    expect_copy "streaming: $streaming" 'shm(copy=slots) *named' 32 in_place 2 ALLREDUCE_ALGO='shm(copy=slots)' \
        ALLREDUCE_STREAMING=$streaming ALLREDUCE_STATS="$scratch/$streaming" "$program" slots
    streamed=$(grep -c 'shm(copy=slots).* streamed$' "$scratch/$streaming")
    case $(uname -m)-$streaming in
    x86_64-always) [ "$streamed" -gt 0 ] ;;
    *) [ "$streamed" -eq 0 ] ;;
    esac || fail "streaming: $streaming: $(cat "$scratch/$streaming")"
done
tried=16
[ "$(uname -m)" != x86_64 ] || tried=24
[ "$(nproc)" -lt 2 ] || {
    expect_copy "auto" 'shm(copy=in_place) *auto' 2 in_place 2 ALLREDUCE_ALGO=auto "$program" long
    grep -q ' 1 .* shm *auto' "$scratch/out" || fail "auto: shorter messages are not in slots"
    # It ends before the fastest way is known.
    expect_copy "auto, again" ' 10 .*shm(copy=in_place) *auto' 18 in_place 2 ALLREDUCE_ALGO=auto "$program" again
    grep -q " $tried .*shm(copy=slots) *slots are faster than in place, or tried" "$scratch/out" ||
        fail "auto, again: not each way has four calls: $(cat "$scratch/out")"
    expect_copy "auto, settled" 'shm(copy=slots) *slots are faster than in place, or tried' 22 in_place 2 \
        ALLREDUCE_ALGO=auto "$program" settled
}
# More ranks from 256 KiB on, each with a core of a made-up machine.
mkdir "$scratch/machine"
test/cli/levels make 0 "$scratch/machine" || fail "a made-up machine: not made"
for n in 3 4; do
    expect_copy "auto, $n ranks" ' 10 .*shm(copy=in_place) *auto' 18 in_place "$n" ALLREDUCE_ALGO=auto \
        LD_PRELOAD="$programs/.libs/fake_machine.so:$library" CORES_ROOT="$scratch/machine" CORES_CPUS=0,1,2,3 \
        ALLREDUCE_LEVELS=flat ALLREDUCE_WAIT=yield "$program" again
    grep -q " $tried .*shm(copy=slots) *slots are faster than in place, or tried" "$scratch/out" ||
        fail "auto, $n ranks: not each way has four calls: $(cat "$scratch/out")"
done
expect_copy "no library for auto" 'shm *auto' 2 preload 2 ALLREDUCE_VERBOSE=1 "$program" long
exit $failed
