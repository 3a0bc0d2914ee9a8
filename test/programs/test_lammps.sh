#!/bin/sh
# LAMMPS (Debian: lammps, for Open MPI): a melt whose thermostat feeds sums over all ranks back into the motion, so that
# one different bit changes the numbers, of which all 17 digits are compared.
# shellcheck source=test/programs/common.sh
. "${srcdir:-.}/test/programs/common.sh"
need lmp lammps

input=$(realpath "${srcdir:-.}/demo/in.melt")

results() {
    sed -n '/^ *Step/,/^Loop/{/^Loop/!p}' "$scratch/$1/log.lammps"
}

melt() {
    run "$@" lmp -in "$input" -var steps 50 -var every 10
}

# On 2 ranks each sum has two terms, and no algorithm can round it differently.
melt native 2 native 100
for algo in auto shm; do
    melt $algo 2 $algo 100
    expect_same native "$algo"
done
transport=mpi
melt ring 2 ring 100
expect_same native ring

# On 4 ranks the rounding of sums depends on the order of each algorithm, unless they are exact.
melt native-4 4 native 100
for algo in ring butterfly; do
    melt $algo-4 4 $algo 100 ALLREDUCE_DETERMINISM=order
done
expect_same ring-4 butterfly-4
expect_near native-4 ring-4 1e-9
exit $failed
