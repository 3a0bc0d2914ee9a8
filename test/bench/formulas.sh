#!/bin/sh
# How far auto's formulas are off, by simulation: test/bench/formulas on some machines.  MACHINES and NODES choose; all of
# them take a quarter of an hour of a core, and nothing is measured.
# shellcheck source=test/bench/common.sh
. "${srcdir:?run me by make bench-formulas}/test/bench/common.sh"

for machine in ${MACHINES:-gigabit fat-tree dragonfly torus accelerators}; do
    # shellcheck disable=SC2086 # words
    test/bench/formulas "$srcdir/machines/$machine.machine" ${NODES:-4x1 8x1 100x1 4x2 7x3 16x4 4x16} || fail "$machine"
done
exit "$failed"
