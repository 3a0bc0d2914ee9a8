#!/bin/sh
# Writes doc/algorithms.md to stdout from doc/algorithms.in.md: behind a line
# "$ command" comes what the command prints, in one block with it; in place of a
# line "% command", its output as it is.  The program allreduce is found in PATH.
set -eu
echo "<!-- Made from algorithms.in.md by make update-doc: edit that. -->"
while IFS= read -r line; do
    case $line in
    '$ '*)
        printf '```\n%s\n\n' "$line"
        output=$(eval "${line#??}")
        printf '%s\n```\n' "$output"
        ;;
    '% '*)
        output=$(eval "${line#??}")
        printf '%s\n' "$output"
        ;;
    *)
        printf '%s\n' "$line"
        ;;
    esac
done <"${1:?usage: make-algorithms.sh algorithms.in.md}"
