# Pages in headless Chromium.  Sourced; need_browser comes first, and in_page wants a folder $scratch.
# shellcheck shell=sh disable=SC2154 # scratch is the caller's

# need_browser: finds a Chromium, or returns 1 with the reason on stdout.  The one without windows starts in a quarter of
# the time.
need_browser() {
    for browser in chromium-headless-shell chromium chromium-browser google-chrome; do
        command -v "$browser" >/dev/null 2>&1 && return
    done
    browser=
    echo "no chromium found (Debian package chromium-headless-shell)"
    return 1
}

# browse FILE OPTION...: loads a page with a name for nothing but files; what Chromium writes is on stdout, its log on
# stderr.  A sandbox of its own needs privileges that containers lack.
browse() {
    address=file://$(realpath "$1")
    shift
    [ "$(id -u)" -ne 0 ] || set -- --no-sandbox "$@"
    timeout 60 "$browser" --headless --disable-gpu --hide-scrollbars --host-resolver-rules='MAP * ~NOTFOUND' "$@" "$address"
}

# photograph FILE SCHEME WIDTH HEIGHT PICTURE: in the dark or the light scheme.
photograph() {
    case $2 in
    dark) number=0 ;;
    *) number=1 ;;
    esac
    browse "$1" --blink-settings=preferredColorScheme=$number --window-size="$3,$4" --screenshot="$5" >/dev/null 2>&1 &&
        [ -s "$5" ]
}

# in_page FILE WIDTH SCRIPT: runs the body of a function behind the page's own scripts, at that width of the window (500
# or more), and prints what it returns.  Prints the errors of all scripts instead where there are any.  A Chromium that
# fails to start, or to run them in its time, is started once more.
in_page() {
    awk -v script="$3" '
        { print }
        /^<head>/ { print "<script>var failures = []; onerror = function (text) { failures.push(text) };</script>" }
        /^<\/body>/ {
            print "<script>onload = function () { var answer;"
            print "try { answer = (function () {" script "})() } catch (e) { failures.push(e) }"
            print "document.documentElement.textContent ="
            print "  \"\\nanswer: \" + (failures.length ? \"error: \" + failures.join(\"; \") : answer) + \"\\n\" }</script>"
        }' "$1" >"$scratch/in_page.html"
    for _ in 1 2; do
        browse "$scratch/in_page.html" --window-size="$2,900" --virtual-time-budget=10000 --dump-dom \
            >"$scratch/in_page.out" 2>"$scratch/browser.log"
        grep -q '^answer: ' "$scratch/in_page.out" && break
    done
    sed -n -e 's/&lt;/</g' -e 's/&gt;/>/g' -e 's/&amp;/\&/g' -e 's/^answer: //p' "$scratch/in_page.out" | grep . ||
        sed 's/^/Chromium: /' "$scratch/browser.log"
}

# page_text FILE: what a reader sees, in one line, with one blank for every gap.
page_text() {
    in_page "$1" 1200 'return document.body.innerText.replace(/\s+/g, " ")'
}

# page_has FILE TEXT...: whether a reader sees these texts; true where need_browser found no browser.  Says what is missing.
page_has() {
    [ -n "${browser:-}" ] || return 0
    shown=$(page_text "$1")
    shift
    for text; do
        case $shown in
        *"$text"*) ;;
        *)
            echo "no '$text' in a page: $shown"
            return 1
            ;;
        esac
    done
}
