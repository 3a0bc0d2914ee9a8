#!/bin/sh
# Draws into FOLDER what the lines "$ allreduce explain ..." of doc/algorithms.in.md explain,
# all or those of these NAMEs; a file is named after the algorithm and its parameters.  The
# program allreduce is found in PATH.
set -eu
folder=${1:?usage: make-pictures.sh FOLDER [NAME...]}
shift
wanted=$*
sed -n 's/^\$ allreduce explain //p' "$(dirname "$0")/algorithms.in.md" | while IFS= read -r arguments; do
    name=$(printf '%s\n' "$arguments" | sed -e "s/^'\{0,1\}\([^' ]*\).*/\1/" -e 's/[^a-z0-9_]\{1,\}/-/g' -e 's/-$//')
    case " ${wanted:-$name} " in *" $name "*) ;; *) continue ;; esac
    eval "allreduce explain $arguments --svg -" >"$folder/$name.svg"
done
