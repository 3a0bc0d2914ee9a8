#!/bin/sh
# allreduce list: every format has every row, whatever rows there are.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

rows=$(./allreduce list --names | wc -l)
[ "$rows" -ge 2 ] || fail "list shows $rows rows"
[ "$(./allreduce list --csv | wc -l)" -eq $((rows + 1)) ] || fail "--csv has other rows"
[ "$(./allreduce list --markdown | wc -l)" -eq $((rows + 2)) ] || fail "--markdown has other rows"
[ "$(./allreduce list --json | grep -c '{"name": ".*"}')" -eq "$rows" ] || fail "--json has other rows"
./allreduce list | grep -Eq '^ring +8 +- +30\.0 +1\.88 ' || fail "no row of ring"
./allreduce list | grep -Eq '^butterfly +1 +yes +4\.00 +4\.00 ' || fail "no row of butterfly"
[ "$(./allreduce list | sed '/^$/q' | wc -l)" -eq $((rows + 2)) ] || fail "the text has other rows"
! ./allreduce list | grep -E '.{101}' || fail "a line is wider than a terminal of 100 columns"
# expect_bits NAME LEVEL FAMILY
expect_bits() {
    ./allreduce list --csv | grep -qE "^$1,.*,$2,$3,(\"[^\"]*\"|[^,\"]*),(\"[^\"]*\"|[^,\"]*)\$" || fail "$1: not bits $2, family $3"
}
./allreduce list --csv | grep -q '^butterfly,.*"Open MPI recursive_doubling (3), MPICH recursive_doubling, oneCCL recursive_doubling"$' ||
    fail "butterfly has no names elsewhere"
expect_bits butterfly size doubling
expect_bits ring placement ''
expect_bits hier_ring run ''
if command -v python3 >/dev/null; then
    ./allreduce list --json | python3 -c 'import json,sys; d = json.load(sys.stdin); sys.exit(d["format"] != 1 or len(d["rows"]) != '"$rows"')' ||
        fail "--json is not JSON"
fi
exit $failed
