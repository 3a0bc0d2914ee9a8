#!/bin/sh
# doc/algorithms.md has a section for every row and is what the program prints now.
set -u
doc=${srcdir:-.}/doc
failed=0
PATH=$PWD:$PATH
for name in $(allreduce list --csv | sed -n '2,$s/^"\([^"]*\)".*/\1/p'); do
    grep -qx "## $name" "$doc/algorithms.in.md" || {
        echo "doc/algorithms.in.md: no section '## $name'; write a paragraph and '\$ allreduce explain $name'"
        failed=1
    }
done
new=$(mktemp) || exit 99
trap 'rm -f "$new"' EXIT
"$doc/make-algorithms.sh" "$doc/algorithms.in.md" >"$new" || failed=1
diff -u "$doc/algorithms.md" "$new" || {
    echo "doc/algorithms.md is out of date; run: make update-doc"
    failed=1
}
exit $failed
