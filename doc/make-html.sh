#!/bin/sh
# Writes the documentation as a site into FOLDER: a page of HTML for each of Markdown, and the
# man pages.  Needs pandoc.
set -eu
folder=${1:?usage: make-html.sh FOLDER}
doc=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$doc")
command -v pandoc >/dev/null || {
    echo "make-html.sh: pandoc not found (Debian package pandoc)" >&2
    exit 1
}

# links: Markdown whose links lead to pages of the site.
links() {
    sed -e 's/](doc\//](/g' -e 's/](\([.a-z]*\/\)*\([A-Za-z0-9_-]*\)\.md/](\2.html/g' \
        -e 's/](\.\.\/NEWS)/](NEWS.txt)/g' -e 's/](NEWS)/](NEWS.txt)/g' \
        -e 's/](\(allreduce[a-z-]*\.[157]\))/](\1.html)/g' -e 's/](LICENSE)/](LICENSE.txt)/g' -e 's/](\(\.\.\/\)*demo\//](/g' \
        -e 's/](\.\.\/\([a-z0-9-]*\.svg\))/](\1)/g'
}

# page FORMAT TITLE: from Markdown or troff on stdin to HTML on stdout.
page() {
    pandoc --from "$1" --to html5 --standalone --css style.css --metadata "pagetitle=$2" \
        --include-before-body "$folder/top.html"
}

mkdir -p "$folder/pictures"
cp "$doc"/pictures/*.svg "$folder/pictures"
cp "$doc"/*.svg "$doc"/*.png "$folder"
cp "$doc/style.css" "$folder"
cp "$top/NEWS" "$folder/NEWS.txt"
cp "$top/LICENSE" "$folder/LICENSE.txt"
cp "$top/demo/choose.c" "$top/demo/in.melt" "$folder"
echo '<p class="top"><a href="index.html">liballreduce</a></p>' >"$folder/top.html"
for file in "$top"/README.md "$top"/HACKING.md "$doc"/*.md "$doc"/design/*.md "$doc"/measured/*.md; do
    name=$(basename "$file" .md)
    case $name in
    *.in) ;;
    *) links <"$file" | page gfm "liballreduce: $name" >"$folder/$name.html" ;;
    esac
done
for file in "$doc"/allreduce*.[157]; do
    name=$(basename "$file")
    page man "$name" <"$file" >"$folder/$name.html"
done
rm "$folder/top.html"

# dead: the links of the pages, and their pictures, that lead nowhere in the folder.
dead() {
    for file in "$folder"/*.html; do
        grep -o -E '(href|src)="[^"]*"' "$file" | sed -e 's/^[a-z]*="//' -e 's/"$//' | grep -v -E '^(https?|mailto|data):' |
            sort -u | while IFS= read -r link; do
            target=$folder/${link%%#*}
            anchor=
            case $link in
            *#*) anchor=${link#*#} ;;
            esac
            [ -n "${link%%#*}" ] || target=$file
            [ -e "$target" ] && { [ -z "$anchor" ] || grep -q -F "id=\"$anchor\"" "$target"; } || echo "$(basename "$file"): $link"
        done
    done
}
dead=$(dead)
[ -z "$dead" ] || {
    printf 'make-html.sh: dead links:\n%s\n' "$dead" >&2
    exit 1
}
echo "$folder/index.html"
