#!/bin/sh
# Whatever a user names as a file of rules, of a machine, of hosts, of statistics, of a timeline, of settings or of
# results, the program ends at once with an error that names it.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

tried=0

mkfifo "$scratch/fifo"
mkdir "$scratch/folder"
printf 'ring\0:0-8\n' >"$scratch/zero"
truncate -s 3G "$scratch/huge_zeros"
yes '# a comment, and one more, and one more' | head -c 20000000 >"$scratch/huge_text"
head -c 20000000 /dev/zero | tr '\0' '{' >"$scratch/huge_line"
ln -s loop "$scratch/loop"
: >"$scratch/forbidden"
chmod 0 "$scratch/forbidden"
kinds="fifo folder zero huge_zeros huge_text huge_line loop nothing/x"
[ ! -r "$scratch/forbidden" ] || echo "this user may read all files"
[ -r "$scratch/forbidden" ] || kinds="$kinds forbidden"

# refuse COMMAND..., which ends with the file's name: ends soon, with an error whose line has the name, or says which
# option had it.
refuse() {
    tried=$((tried + 1))
    timeout -k 1 20 "$@" >"$scratch/out" 2>&1 </dev/null
    status=$?
    case $status in
    1 | 2) ;;
    *) fail "$*: status $status: $(tail -n 3 "$scratch/out")" ;;
    esac
    grep -q -F -e "$scratch" "$scratch/out" || {
        fail "$*: the file is not named:"
        cat "$scratch/out"
    }
}

for kind in $kinds; do
    file=$scratch/$kind
    refuse allreduce explain -n 4 --rules "$file"
    refuse allreduce explain ring -n 4 --machine "$file"
    refuse allreduce explain ring --nodes="$file"
    refuse env ALLREDUCE_RULES="$file" allreduce run true
    refuse env ALLREDUCE_MODEL="$file" allreduce run true
    case $kind in
    nothing/x) ;;                  # a text and no file
    fifo) ;;                       # an empty text
    *) [ "$kind" = loop ] || refuse allreduce convert --from=intel "$file" ;;
    esac
    [ "${HAVE_JANSSON:-yes}" = yes ] || continue
    refuse allreduce report "$file"
    refuse allreduce report --timeline "$file"
done

# The FIFO or pipe of a shell's <(...) is read to its end.
if command -v bash >/dev/null; then
    # shellcheck disable=SC2016 # for the inner shell
    [ "$(bash -c 'allreduce convert --from=intel <(sleep 0.3; echo 8)' 2>/dev/null)" = ring ] || fail "convert does not read a pipe"
fi

# Conversely, if something cannot be written, an error names it, and what is there stays.
expect_unwritten() {
    tried=$((tried + 1))
    timeout -k 1 20 "$@" >"$scratch/out" 2>&1 </dev/null
    status=$?
    [ $status -eq 1 ] || fail "$*: status $status: $(tail -n 3 "$scratch/out")"
    grep -q -F -e "$file: $why" "$scratch/out" || {
        fail "$*: not told: $file: $why"
        cat "$scratch/out"
    }
}
for kind in 'fifo:No such device or address' 'folder:Is a directory' 'nothing/x:No such file or directory' \
    'zero/x:Not a directory' '/dev/full:No space left on device'; do
    why=${kind#*:}
    file=${kind%%:*}
    [ "${file#/}" != "$file" ] || file=$scratch/$file
    expect_unwritten allreduce explain ring -n 3 --svg "$file"
    expect_unwritten allreduce explain ring -n 3 --html "$file"
done
# A disk that fills up while a file is written.
if mkdir "$scratch/small" && mount -t tmpfs -o size=8k none "$scratch/small" 2>/dev/null; then
    why='No space left on device'
    file=$scratch/small/file
    echo old >"$file"
    expect_unwritten allreduce explain ring -n 3 --html "$file"
    [ "$(cat "$file")" = old ] || fail "a full disk: what was there is lost"
    [ "$(ls -A "$scratch/small")" = file ] || fail "a full disk: left $(ls -A "$scratch/small")"
    umount "$scratch/small"
else
    echo "no small file system: this user may not mount one"
fi


# What is lost on stdout is told, whatever prints it.
for command in list 'list --json' 'explain ring' 'convert --from=intel 2' --help --version 'list --help' 'explain --rules auto'; do
    # shellcheck disable=SC2086 # words
    allreduce $command 2>"$scratch/err" >/dev/full && fail "$command: no error on a full disk"
    grep -q '^allreduce.*: stdout: cannot be written: No space left on device$' "$scratch/err" || fail "$command: not told: $(cat "$scratch/err")"
    # shellcheck disable=SC2086 # words
    allreduce $command 2>"$scratch/err" >&- && fail "$command: no error without a stdout"
    grep -q '^allreduce.*: stdout: cannot be written: Bad file descriptor$' "$scratch/err" || fail "$command: not told: $(cat "$scratch/err")"
done

for file in /dev/null /dev/stdout; do
    allreduce explain ring -n 3 --svg $file >"$scratch/out" 2>&1 || fail "$file cannot be written to: $(cat "$scratch/out")"
    [ "$(grep -c '</svg>' "$scratch/out")" -eq "$(echo $file | grep -c stdout)" ] || fail "$file: not the picture: $(cat "$scratch/out")"
done
{ [ -c /dev/null ] && [ -h /dev/stdout ]; } || fail "a device is no device any more"
echo "$tried tried"
exit $failed
