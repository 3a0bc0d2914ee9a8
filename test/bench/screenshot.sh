#!/bin/sh
# Renders pages of --html in headless Chromium, light and dark, for a look: PAGE.light.png and
# PAGE.dark.png stand beside each PAGE.  Fails where a page loads anything or is not rendered.
set -u
[ $# -gt 0 ] || {
    echo "usage: $0 PAGE.html..." >&2
    exit 2
}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "no chromium found (Debian package chromium)" >&2
    exit 1
}
# A sandbox of its own needs privileges that containers lack.
sandbox=
[ "$(id -u)" -ne 0 ] || sandbox=--no-sandbox
failed=0

# render PAGE SCHEME NUMBER: NUMBER is Chromium's of the colour scheme.
render() {
    # shellcheck disable=SC2086 # sandbox may be empty
    timeout 60 "$browser" --headless --disable-gpu $sandbox --hide-scrollbars \
        --blink-settings="preferredColorScheme=$3" --window-size=1200,3000 \
        --screenshot="$1.$2.png" "file://$(realpath "$1")" >/dev/null 2>&1 && [ -s "$1.$2.png" ]
}

for page in "$@"; do
    ! grep -n -o -E '(src|href)="?(https?:)?//[^"]*|@import.*|url\([^)]*' "$page" || {
        echo "$page: loads from elsewhere" >&2
        failed=1
    }
    for scheme in dark:0 light:1; do
        render "$page" "${scheme%:*}" "${scheme#*:}" || {
            echo "$page: $browser did not render it" >&2
            failed=1
        }
    done
done
exit $failed
