#!/bin/sh
# The man pages are clean, allreduce(1) has every subcommand and option, all help is spaced alike,
# and a schedule in the manual holds.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

doc=${srcdir:-.}/doc
for name in $(./allreduce --help | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p'); do
    grep -q "^\.SS allreduce $name" "$doc/allreduce.1" || fail "allreduce.1: no section of $name"
    for option in $(./allreduce "$name" --help | grep -o -E -e '--[a-z-]{2,}' | sort -u); do
        case $option in --help | --usage | --version) continue ;; esac
        grep -q -- "$(echo "$option" | sed 's/-/\\\\-/g')" "$doc/allreduce.1" ||
            fail "allreduce.1: no $option of $name"
    done
    ./allreduce "$name" --help | grep '\.  [A-Z]' && fail "$name --help: two spaces after a full stop"
    # In the sections of this subcommand a short name stands on a line with its long one.
    ./allreduce "$name" --help | sed -n -e '/--help\|--version/d' -e 's/^  -\([A-Za-z]\), --\([a-z-]*\).*/\1 \2/p' >"$scratch/short"
    awk -v name="$name" '/^\.S[SH]/ { own = $1 == ".SS" && $3 == name } own' "$doc/allreduce.1" |
        sed 's/\\-/-/g' >"$scratch/section"
    while read -r short long; do
        grep -q -e "^\.B.* -${short}[ \"].*--$long" "$scratch/section" || fail "allreduce.1: no -$short of $name"
    done <"$scratch/short"
done
# The schedule that allreduce-schedule(5) shows is proved.
sed -e '1,/^\.EX/d' -e '/^\.EE/,$d' -e 's/\\-/-/g' "$doc/allreduce-schedule.5" >"$scratch/shown.schedule"
./allreduce explain "$scratch/shown.schedule" >"$scratch/proved" || fail "allreduce-schedule.5: what it shows is refuted"
if command -v man >/dev/null && command -v groff >/dev/null; then
    for page in "$doc"/allreduce*.[157]; do
        warnings=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
        [ -z "$warnings" ] || fail "$page: $warnings"
    done
fi
exit $failed
