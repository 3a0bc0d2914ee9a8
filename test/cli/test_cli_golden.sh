#!/bin/sh
# Every file in cli/cases is a command, what it prints and its exit code.
# UPDATE=1 writes the files anew.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

cases=${srcdir:-.}/test/cli/cases
new=$scratch/new
unset ARGP_HELP_FMT
ran=0
for file in "$cases"/*.txt; do
    command=$(sed -n '1s/^\$ //p' "$file")
    {
        printf '$ %s\n' "$command"
        (eval "$command") 2>&1
        echo "[exit $?]"
    } >"$new"
    ran=$((ran + 1))
    if [ -n "${UPDATE:-}" ]; then
        cp "$new" "$file"
    elif ! diff -u "$file" "$new"; then
        echo "differs: $file; if the new text is right, run: make update-cases"
        failed=$((failed + 1))
    fi
done
echo "$ran cases, $failed failed"
[ "$ran" -gt 0 ] && [ "$failed" -eq 0 ]
