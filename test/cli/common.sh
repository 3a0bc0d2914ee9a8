# What the tests of the program share.  Sourced: the program of this build is the one that PATH finds; $scratch is a folder
# that is removed at the end; a test ends with exit "$failed".
# shellcheck shell=sh disable=SC2034 # failed is read by the tests

set -u
PATH=$PWD:$PATH
failed=0
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "FAIL: $*"
    failed=1
}
