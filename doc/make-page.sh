#!/bin/sh
# Writes a page of Markdown to stdout from FILE: behind a line "$ command" comes what the
# command prints, in one block with it; in place of a line "% command", its output as it is.
# Commands share one shell, so a folder or a variable stays set.  Above the block of an
# "$ allreduce explain ALGORITHM" stands its picture, if doc/pictures has it.  The program
# allreduce is found in PATH.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
file=${1:?usage: make-page.sh FILE}
output=$(mktemp) || exit 1
trap 'rm -f "$output"' EXIT

# picture COMMAND: the name of its picture; see make-pictures.sh.
picture() {
    printf '%s\n' "$1" | sed -n "s/^allreduce explain '\{0,1\}\([a-z][^' ]*\).*/\1/p" |
        sed -e 's/[^a-z0-9_]\{1,\}/-/g' -e 's/-$//'
}

# run COMMAND: in this shell, its output into the file; ends where the command fails, unless
# it says so itself.
run() {
    eval "$1" >"$output" 2>&1 </dev/null || {
        printf '%s: %s: exit status %s\n' "$file" "$1" $? >&2
        cat "$output" >&2
        exit 1
    }
}

echo "<!-- Made from $(basename "$file") by make-page.sh: edit that. -->"
while IFS= read -r line; do
    case $line in
    '$ '*)
        name=$(picture "${line#??}")
        if [ -n "$name" ] && [ -e "$here/pictures/$name.svg" ]; then
            printf '![%s, drawn](pictures/%s.svg)\n\n' "$name" "$name"
        fi
        run "${line#??}"
        printf '```\n%s\n' "$line"
        [ ! -s "$output" ] || sed -e '1s/^/\n/' "$output"
        printf '```\n'
        ;;
    '% '*)
        run "${line#??}"
        cat "$output"
        ;;
    *)
        printf '%s\n' "$line"
        ;;
    esac
done <"$file"
