#!/bin/sh
# A build with engines for several MPIs: one library, and one program allreduce, serve programs of each MPI by its own
# engine, as they were built and installed, whatever the MPI library is called and however it was loaded.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"

limit=60
export ALLREDUCE_VERBOSE=1 ALLREDUCE_ALGO=ring

prefix=$scratch/usr
install_into "$prefix" || exit 1

checked=
for folder in $(mpi_folders); do
    use_mpi_of "$folder" test/mpi/few_calls test/mpi/plugin.la || continue
    family=$AR_MPI_FAMILY
    checked="$checked $family"
    few_calls=$PWD/$folder/test/mpi/few_calls
    expect_engine "$family: a program" 4 launch 2 LD_PRELOAD="$library" "$few_calls"
    expect_engine "$family: allreduce run" 4 launch 2 ./allreduce run "$few_calls"
    expect_engine "$family: a module's private MPI" 1 \
        launch 2 LD_PRELOAD="$library" "$programs/plugin_loader" "$PWD/$folder/test/mpi/.libs/plugin.so"
    expect_engine "$family: installed" 4 launch 2 LD_PRELOAD="$prefix/lib/liballreduce.so" "$few_calls"
    expect_engine "$family: installed, allreduce run" 4 launch 2 "$prefix/bin/allreduce" run "$few_calls"
    if rename_mpich "$few_calls" libmpi.so.12; then
        expect_engine "$family: libmpi.so.12" 4 launch 2 LD_PRELOAD="$library" LD_LIBRARY_PATH="$scratch" "$scratch/renamed"
    fi
    # What runs in MPI itself: each engine's helper is taken by the launcher.
    expect_ok "$family: allreduce bench" launch 2 "$prefix/bin/allreduce" bench --repetitions=2 --time=0.01 --algo=ring --sizes=8
    expect_ok "$family: allreduce doctor" launch 2 NO_COLOR=1 "$prefix/bin/allreduce" doctor # mpirun gives a terminal
    case $family:$(sed -n 's/^ok *MPI *//p' "$scratch/out") in
    mpich:MPICH* | openmpi:Open\ MPI*) ;;
    *)
        fail "$family: allreduce doctor ran under another MPI"
        cat "$scratch/out"
        ;;
    esac
done
[ "$(echo "$checked" | wc -w)" -ge 2 ] || fail "there are engines for$checked alone"
exit $failed
