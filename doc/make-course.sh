#!/bin/sh
# Measures the tables of doc/teaching.md: writes course-4.csv, course-5.csv and course-16.csv beside this file.  Then
# make update-doc.  OPTIONs go to bench, as --budget=5m.  The program allreduce is found in PATH, the launcher is MPIEXEC.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
for ranks in 4 5 16; do
    # shellcheck disable=SC2086 # MPIEXEC may hold options
    ${MPIEXEC:-mpiexec} -n $ranks allreduce bench --preset=course --csv --output="$here/course-$ranks.csv" "$@" || exit 1
done
