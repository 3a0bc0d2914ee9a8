#!/bin/sh
# Colour on a terminal alone, and none where NO_COLOR asks for that; the same words either way.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

escape=$(printf '\033')

# on_terminal VARIABLE=VALUE COMMAND: what a terminal gets.
on_terminal() {
    env TERM=xterm "$1" script -q -e -c "$2" /dev/null </dev/null | tr -d '\r'
}

for command in './allreduce explain ring -n 3' './allreduce list' "./allreduce explain --rules 'ring:0-8;star:0-8'"; do
    eval "$command" | grep -q "$escape" && fail "$command: colour in a pipe"
    command -v script >/dev/null || continue
    on_terminal NO_COLOR= "$command" | grep -q "$escape\\[" || fail "$command: no colour on a terminal"
    on_terminal NO_COLOR=1 "$command" | grep -q "$escape" && fail "$command: colour in spite of NO_COLOR"
    on_terminal OMPI_COMM_WORLD_RANK=0 "$command" | grep -q "$escape" && fail "$command: colour of a rank"
    on_terminal TERM=dumb "$command" | grep -q "$escape" && fail "$command: colour on a dumb terminal"
    [ "$(on_terminal NO_COLOR= "$command" | sed "s/$escape\\[[0-9]*m//g")" = "$(eval "$command")" ] ||
        fail "$command: a terminal gets other words"
done

# A long comparison shows on a terminal how far it is, and takes that away.
if command -v script >/dev/null; then
    on_terminal NO_COLOR=1 './allreduce explain --compare -n 512 -N 64x8 -s 1M' >"$scratch/out"
    grep -q "allreduce explain: prediction [0-9]* for 1M$escape\[K" "$scratch/out" || fail "a long comparison: no progress: $(cat "$scratch/out")"
    ./allreduce explain --compare -n 512 -N 64x8 -s 1M 2>&1 | grep 'prediction' && fail "a long comparison: progress in a pipe"
fi
exit $failed
