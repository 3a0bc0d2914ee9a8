# What the lint steps share.  Sourced with top_srcdir set, in the build directory.
# shellcheck shell=sh disable=SC2034 # failed is read by the steps

: "${top_srcdir:?}"
failed=0

# complain TEXT...: a finding; the step goes on and fails in the end.
complain() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    failed=1
}

# keep KIND NAMES: of the lines of test/lint/promised that begin with KIND, each is among NAMES, which are those of the
# tree, one a line.  With PROMISE=1 NAMES that are not promised yet are added to that file.
keep() {
    promised=$top_srcdir/test/lint/promised
    [ -z "${PROMISE-}" ] || printf '%s\n' "$2" | sed "s/^/$1 /" | LC_ALL=C sort -u -o "$promised" - "$promised"
    grep -q "^$1 " "$promised" || complain "test/lint/promised has no $1"
    while IFS= read -r name; do
        printf '%s\n' "$2" | grep -q -x -F -e "$name" || complain "$1 $name is gone, which doc/compatibility.md promises to keep"
    done <<EOF
$(sed -n "s/^$1 //p" "$promised")
EOF
}

# need_tool TOOL PACKAGE: stops where a tool is missing; a step is never skipped.
need_tool() {
    command -v "$1" >/dev/null 2>&1 && return
    printf '%s: %s not found (Debian package %s)\n' "${0##*/}" "$1" "$2" >&2
    exit 1
}

# c_files [FOLDER...]: the C sources and headers below folders of the source tree.
c_files() {
    for folder in "${@:-src}"; do
        [ ! -d "$top_srcdir/$folder" ] || find "$top_srcdir/$folder" -name '*.[ch]'
    done | sort
}

# code_of FILE: the file without comments and without the inside of string literals.
code_of() {
    gcc -fpreprocessed -dD -E -P "$1" 2>/dev/null | sed 's/"[^"]*"/""/g'
}

# code_with PATTERN FILE...: those whose code matches the extended regular expression, comments apart.
code_with() {
    pattern=$1
    shift
    grep -l -E -e "$pattern" "$@" | while read -r file; do
        ! code_of "$file" | grep -q -E -e "$pattern" || printf '%s\n' "$file"
    done
}

# mpi_includes: the -I flags by which MPICC finds mpi.h.
mpi_includes() {
    # shellcheck disable=SC2086 # MPICC may hold options
    $MPICC -show 2>/dev/null | tr ' ' '\n' | grep '^-I'
}
