#!/bin/sh
# MIT Photonic Bands (Debian: mpb-mpi, for Open MPI): the frequencies of a crystal's modes, iterated until they change
# by less than 1e-7; each step sums matrices over all ranks.
# shellcheck source=test/programs/common.sh
. "${srcdir:-.}/test/programs/common.sh"
need mpb-mpi mpb-mpi

cat >"$scratch/bands.ctl" <<'END'
(set! num-bands 4)
(set! k-points (list (vector3 0.1 0 0) (vector3 0.5 0 0) (vector3 0.5 0.5 0)))
(set! geometry-lattice (make lattice (size 1 1 no-size)))
(set! geometry (list (make cylinder (center 0 0 0) (radius 0.2) (height infinity) (material (make dielectric (epsilon 12))))))
(set! resolution 16)
(set! deterministic? true)
(run-tm)
END

results() {
    sed -n 's/^tmfreqs:,/frequencies/p' "$scratch/$1/out" | tr ',' ' '
}

run native 2 native 100 mpb-mpi "$scratch/bands.ctl"
for algo in auto rhd; do
    run $algo 2 $algo 100 mpb-mpi "$scratch/bands.ctl"
    expect_near native "$algo" 2e-6 # what is printed has 6 digits
done
transport=mpi
run ring 3 ring 100 mpb-mpi "$scratch/bands.ctl"
expect_near native ring 2e-6
exit $failed
