#!/bin/sh
# Buffers in windows of MPI_Win_allocate_shared are read in place where all ranks have mapped the window; where one has not,
# and of a window that is freed, all go through slots.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

# windows LEAST RANKS [VARIABLE=VALUE...] PROGRAM [ARGUMENT...]: of whose calls at least LEAST run shm.
windows() {
    calls=$1
    on=$2
    shift 2
    expect_row "$* on $on ranks" shm "$calls" preload "$on" ALLREDUCE_VERBOSE=1 \
        ALLREDUCE_ALGO='shm(copy=in_place)' "$@"
}

program=$programs/windows

# shared RANKS [VARIABLE=VALUE...]: all buffers are where all ranks have mapped them.
shared() {
    windows 108 "$@" "$program" shared
    expect_calls_in "shared: $*" $(($1 > 2 ? 117 : 108)) 'shm[(]copy=in_place[)] +named'
    expect_calls_in "shared: $*" 0 'through slots'
}

# apart RANKS [VARIABLE=VALUE...]: some are not, except for three calls in place of the rank whose IN is elsewhere.
apart() {
    windows 47 "$@" "$program" apart
    expect_calls_in "apart: $*" 3 'shm[(]copy=in_place[)] +named'
    expect_calls_in "apart: $*" $(($(calls_of shm) - 3)) 'buffers cannot be mapped: through slots'
}

for n in 2 3 4; do
    shared $n
    apart $n
done
# A tool passes the calls on, from before us or behind us.
tool=$programs/.libs/tool_pmpi.so
shared 2 LD_PRELOAD="$tool:$library"
apart 2 LD_PRELOAD="$tool:$library"
apart 2 LD_PRELOAD="$library:$tool"
# shellcheck disable=SC2016 # for the ranks' shells
expect_row "a tool on one rank" shm 108 launch 2 ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO='shm(copy=in_place)' \
    sh -c '[ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" != 1 ] || tool=:$2; LD_PRELOAD=$1$tool exec "$0" shared' \
    "$program" "$library" "$tool"
expect_calls_in "a tool on one rank" 108 'shm[(]copy=in_place[)] +named'

windows 6 2 "$program" late
expect_calls_in "no window" 1 'no XPMEM or shared memory on all ranks: through slots'
expect_calls_in "a window, a block" 5 'shm[(]copy=in_place[)] +named'
windows 300 2 "$program" threads && expect_calls_in "threads" 0 'through slots'

# Fortran's bindings call other names.
if [ -e "$programs/fortran_f08" ]; then
    windows 12 2 "$programs/fortran_f08" window
    expect_calls_in "fortran_f08" 2 'shm[(]copy=in_place[)] +named'
fi
exit $failed
