#!/bin/sh
# Profilers that are found before us or behind us, or are part of the program, in C and in Fortran. Each sees what it
# sees without us, except that those behind us miss the allreduces that we run. All results are right. If a profiler
# hides us, a line says which.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=60
export ALLREDUCE_VERBOSE=1
next=$programs/.libs/profiler_next.so
pmpi=$programs/.libs/profiler_pmpi.so
handle=$programs/.libs/profiler_handle.so

# alone PROGRAM TOOL...: what these tools print without us, in $scratch/alone.
alone() {
    profiled=$1
    shift
    expect_ok "$profiled without us" launch 2 LD_PRELOAD="$(echo "$*" | tr ' ' :)" "$profiled" &&
        grep '^tool' "$scratch/out" | sort >"$scratch/alone"
    case $AR_MPI_FAMILY:$profiled:$(wc -l <"$scratch/alone") in
    openmpi:*/fortran_*:0) ;; # its Fortran bindings call the PMPI_ symbols, past all tools
    *:[24]) ;;
    *) fail "$profiled without us: the tools said: $(cat "$scratch/alone")" ;;
    esac
}

# expect_counts WHAT ALGO CALLS PRELOADED...: the tools print what is in $scratch/alone, and we got so many calls.
expect_counts() {
    what="$1, $2"
    algo=$2
    calls=$3
    shift 3
    expect_ok "$what" launch 2 ALLREDUCE_ALGO="$algo" LD_PRELOAD="$(echo "$*" | tr ' ' :)" "$profiled" || return
    [ "$(calls_of "$algo")" -eq "$calls" ] || {
        fail "$what: $(calls_of "$algo") calls, not $calls"
        cat "$scratch/out"
    }
    grep '^tool' "$scratch/out" | sort >"$scratch/counts"
    diff "$scratch/alone" "$scratch/counts" || fail "$what: the tools saw something else than without us"
}

# take_allreduces TOOL: removes the allreduces from what the tool prints alone, as for a tool behind us.
take_allreduces() {
    sed -i -E "/^tool $1:/s/ [0-9]+ Allreduce(_c)?\\b//g" "$scratch/alone"
}

alone "$programs/profiled" "$next"
blocking=12
! grep -q 'Allreduce_c' "$scratch/alone" || blocking=13
all=$((blocking + 2)) # the nonblocking ones are counted as native

for way in next pmpi; do
    tool=$programs/.libs/profiler_$way.so
    alone "$programs/profiled" "$tool"
    expect_counts "$way, before us" ring $blocking "$tool" "$library"
    expect_counts "$way, before us" native $all "$tool" "$library"
    expect_counts "$way, behind us" native $all "$library" "$tool"
    take_allreduces $way
    expect_counts "$way, behind us" ring $blocking "$library" "$tool"

    # Linked into the program, which is searched before everything that is preloaded.
    alone "$programs/profiled_$way"
    expect_counts "$way, in the program" ring $blocking "$library"
    expect_counts "$way, in the program" native $all "$library"
done

alone "$programs/profiled" "$next" "$pmpi"
expect_counts "one on each side" native $all "$next" "$library" "$pmpi"
take_allreduces pmpi
expect_counts "one on each side" ring $blocking "$next" "$library" "$pmpi"

# Fortran.
for program in fortran_mpif fortran_f08; do
    [ -e "$programs/$program" ] || continue
    alone "$programs/$program" "$pmpi"
    expect_counts "$program, before us" butterfly 13 "$pmpi" "$library"
    expect_counts "$program, behind us" native 13 "$library" "$pmpi"
done

# A tool that bypasses us.
alone "$programs/profiled" "$handle"
expect_ok "by the library's file" launch 2 LD_PRELOAD="$handle:$library" ALLREDUCE_ALGO=ring "$profiled"
[ "$(grep -c '^liballreduce:' "$scratch/out"):$(grep -c "^liballreduce: no call has arrived: .*$handle" "$scratch/out")" = 1:1 ] || {
    fail "a tool that hides us is not told once"
    cat "$scratch/out"
}
exit $failed
