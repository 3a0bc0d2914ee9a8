#!/bin/sh
# LAMMPS (Debian: lammps, for Open MPI): a melt whose thermostat feeds sums over all ranks back into the motion, so that
# one different bit changes the numbers, of which all 17 digits are compared.
# shellcheck source=test/programs/common.sh
. "${srcdir:-.}/test/programs/common.sh"
need lmp lammps

cat >"$scratch/in.melt" <<'END'
units lj
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 1 delay 0 check yes
fix 1 all nvt temp 1.5 1.5 0.5
thermo 10
thermo_style custom step temp pe ke press
thermo_modify format float %.17g norm no
run 50
END

results() {
    sed -n '/^ *Step/,/^Loop/{/^Loop/!p}' "$scratch/$1/log.lammps"
}

melt() {
    run "$@" lmp -in "$scratch/in.melt"
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
