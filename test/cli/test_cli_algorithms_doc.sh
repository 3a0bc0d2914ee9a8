#!/bin/sh
# doc/algorithms.md has a section for every row, and it and its pictures are what the program
# prints now: three that show each kind of line, or all with ALL_PICTURES=1 (make check-release).
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

doc=${srcdir:-.}/doc
for name in $(allreduce list --names); do
    grep -qx "## $name" "$doc/algorithms.in.md" || {
        echo "doc/algorithms.in.md: no section '## $name'; write a paragraph and '\$ allreduce explain $name'"
        failed=1
    }
done
mkdir "$scratch/pictures"
"$doc/make-page.sh" "$doc/algorithms.in.md" >"$scratch/algorithms.md" || failed=1
draw() {
    "$doc/make-pictures.sh" "$scratch/pictures" "$@" || failed=1
}
pictures_are_alike() {
    if [ -n "${ALL_PICTURES:-}" ]; then
        draw && diff -r -q "$doc/pictures" "$scratch/pictures"
        return
    fi
    draw ring double_tree hier_ring
    for name in ring double_tree hier_ring; do
        cmp "$doc/pictures/$name.svg" "$scratch/pictures/$name.svg" || return
    done
}
{ diff -u "$doc/algorithms.md" "$scratch/algorithms.md" && pictures_are_alike; } || {
    echo "doc/algorithms.md or its pictures are out of date; run: make update-doc"
    failed=1
}
"$doc/make-page.sh" "$doc/teaching.in.md" >"$scratch/teaching.md" || failed=1
diff -u "$doc/teaching.md" "$scratch/teaching.md" || {
    echo "doc/teaching.md is out of date; run: make update-doc"
    failed=1
}
exit $failed
