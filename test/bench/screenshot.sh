#!/bin/sh
# Renders pages of --html in headless Chromium, light and dark, for a look: PAGE.light.png and
# PAGE.dark.png stand beside each PAGE.  Fails where a page loads anything or is not rendered.
set -u
[ $# -gt 0 ] || {
    echo "usage: $0 PAGE.html..." >&2
    exit 2
}
# shellcheck source=test/browser.sh
. "${0%/*}/../browser.sh"
need_browser >&2 || exit 1
failed=0

for page in "$@"; do
    ! grep -n -o -E '(src|href)="?(https?:)?//[^"]*|@import.*|url\([^)]*' "$page" || {
        echo "$page: loads from elsewhere" >&2
        failed=1
    }
    for scheme in dark light; do
        photograph "$page" $scheme 1200 3000 "$page.$scheme.png" || {
            echo "$page: $browser did not render it" >&2
            failed=1
        }
    done
done
exit $failed
