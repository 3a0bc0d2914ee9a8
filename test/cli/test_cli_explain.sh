#!/bin/sh
# allreduce explain proves, draws and counts every row, and errors name what to type.
set -u
failed=0
fail() {
    echo "$*"
    failed=1
}
names=$(./allreduce list --csv | sed -n '2,$s/^"\([^"]*\)".*/\1/p')
[ -n "$names" ] || fail "no names"
for name in $names; do
    for ranks in 1 2 5 8; do
        ./allreduce explain "$name" -n $ranks >explain.out 2>&1 || fail "$name on $ranks ranks: exit $?"
        grep -q '^proved: ' explain.out || fail "$name on $ranks ranks: not proved"
        tail -n 30 explain.out | grep -Eq '^ +[A-Z-]+( +all){'$ranks'}$' ||
            fail "$name on $ranks ranks: the figure does not end with all ranks holding all"
    done
    ./allreduce explain "$name" --nodes=3x2 -s 24 >explain.out 2>&1 || fail "$name --nodes: exit $?"
done
rm -f explain.out
./allreduce explain rinf 2>&1 | grep -q "did you mean 'ring'" || fail "no hint at ring"
./allreduce explain rinf >/dev/null 2>&1
[ $? -eq 2 ] || fail "an unknown name does not exit with 2"
./allreduce explain --rules 'ring:0-8' -n 4 | grep -q '^9-.* auto: ' || fail "no auto where no clause matches"
./allreduce explain ring >/dev/full 2>/dev/null
[ $? -eq 1 ] || fail "a full disk does not exit with 1"
exit $failed
