#!/bin/sh
# A program without jansson says so, and refuses what needs it at once, in one line; one with it is silent about it.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

if [ "${HAVE_JANSSON:?run me by make check}" = yes ]; then
    allreduce --version | grep jansson && fail "--version tells of a lack"
    exit $failed
fi

allreduce --version | grep -q '^jansson  none; left out: .*report, .*bisect' || fail "--version does not tell what is left out"
# refuse COMMAND [ARGUMENT...]
refuse() {
    said=$(allreduce "$@" 2>&1 </dev/null)
    status=$?
    [ $status -eq 1 ] || fail "allreduce $*: status $status"
    printf '%s\n' "$said" | grep -q "^allreduce $1.*: this allreduce was built without jansson" || fail "allreduce $*: says $said"
    [ "$(printf '%s\n' "$said" | wc -l)" -eq 1 ] || fail "allreduce $*: more than a line: $said"
}
refuse report stats.jsonl
refuse report --timeline trace.json
refuse bisect true
refuse convert --from=openmpi '{}'
allreduce report --help | grep -q 'ALLREDUCE_STATS' || fail "report has no help"
exit $failed
