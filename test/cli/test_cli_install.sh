#!/bin/sh
# make install DESTDIR=... has what README.md and the manual speak of, it works where it lies, and make uninstall takes
# all of it away.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

# make_it TARGET: by paths of its own, whatever the build is for.
make_it() {
    make -s "$1" DESTDIR="$scratch" prefix=/opt/allreduce exec_prefix=/opt/allreduce libdir=/opt/allreduce/lib \
        pkgconfigdir=/opt/allreduce/lib/pkgconfig pkglibdir=/opt/allreduce/lib/liballreduce datarootdir=/opt/allreduce/share \
        docdir=/opt/allreduce/share/doc/liballreduce zshcompletiondir=/opt/allreduce/share/zsh/site-functions >"$scratch.log" 2>&1 || {
        cat "$scratch.log"
        fail "make $1"
    }
    rm -f "$scratch.log"
}

make_it install
root=$scratch/opt/allreduce
for file in bin/allreduce lib/liballreduce.so lib/liballreduce.so.0 include/allreduce.h lib/pkgconfig/liballreduce.pc \
    share/allreduce/rules/mpich.rules share/allreduce/rules/openmpi.rules share/allreduce/rules/openmpi-4.0.rules share/allreduce/machines/flat.machine \
    share/allreduce/modulefiles/allreduce/[0-9]* \
    share/bash-completion/completions/allreduce share/zsh/site-functions/_allreduce \
    share/fish/vendor_completions.d/allreduce.fish \
    share/doc/liballreduce/LICENSE share/doc/liballreduce/README.md share/doc/liballreduce/NEWS \
    share/doc/liballreduce/doc/index.md share/doc/liballreduce/doc/design/model.md share/doc/liballreduce/doc/deploy.md share/doc/liballreduce/doc/pictures/ring.svg; do
    # shellcheck disable=SC2086 # the version is a pattern
    [ -e "$root"/$file ] || fail "no $file"
done
for name in rules machines; do
    for file in "${srcdir:-.}/$name"/*; do
        [ -f "$root/share/allreduce/$name/${file##*/}" ] || fail "no ${file##*/} among the installed $name"
    done
done
for page in "${srcdir:-.}"/doc/allreduce*.[157]; do
    [ -f "$root/share/man/man${page##*.}/${page##*/}" ] || fail "no ${page##*/} among the installed pages"
done
ls "$root"/lib/liballreduce/engine-*.so "$root"/libexec/liballreduce/allreduce-* || fail "no engine or no helper"

# Links of the pages lead to files that are installed, too, but for the notebook of measurements.
for page in "$root"/share/doc/liballreduce/*.md "$root"/share/doc/liballreduce/doc/*.md "$root"/share/doc/liballreduce/doc/design/*.md; do
    for link in $(grep -h -o '](\([.A-Za-z][^):]*\))' "$page" | tr -d ']()' | sed -e 's/#.*//' -e '/measured\//d'); do
        [ -e "$(dirname "$page")/$link" ] || fail "${page##*/}: no file $link"
    done
done

# The program finds what it needs below its own folder, though it was not configured for it.
cd / && unset ALLREDUCE_MODEL ALLREDUCE_RULES
"$root/bin/allreduce" explain ring -n 4 --machine flat >"$scratch.log" 2>&1 || fail "no machine is found: $(cat "$scratch.log")"
"$root/bin/allreduce" explain --rules mpich -n 4 >"$scratch.log" 2>&1 || fail "no rules are found: $(cat "$scratch.log")"
"$root/bin/allreduce" --version | grep "$root" || fail "allreduce --version names another library"
# So does a copy, although the first one is still there; but what lies beside a program elsewhere is nobody's to run.
cp -R "$root" "$scratch/copy"
"$scratch/copy/bin/allreduce" --version | grep -F "$scratch/copy/" || fail "a copy names another library"
mv "$scratch/copy/bin" "$scratch/copy/any"
"$scratch/copy/any/allreduce" --version >"$scratch.log" || fail "a program in any folder does not run"
! grep -F "$scratch/copy/" "$scratch.log" || fail "a library beside any folder is taken"
rm -rf "$scratch.log" "$scratch/copy"

cd "$OLDPWD" && make_it uninstall
left=$(find "$scratch" -type f -o -type l)
[ -z "$left" ] || fail "left behind: $left"
exit $failed
