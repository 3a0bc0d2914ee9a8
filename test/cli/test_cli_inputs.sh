#!/bin/sh
# Whatever a user names as a file of rules, of a machine, of hosts, of statistics, of a timeline, of settings or of
# results, the program ends at once with an error that names it.
set -u
PATH=$PWD:$PATH
failed=0
here=$(mktemp -d) || exit 99
trap 'rm -rf "$here"' EXIT
fail() {
    echo "FAIL: $*"
    failed=1
}
tried=0

mkfifo "$here/fifo"
mkdir "$here/folder"
printf 'ring\0:0-8\n' >"$here/zero"
truncate -s 3G "$here/huge_zeros"
yes '# a comment, and one more, and one more' | head -c 20000000 >"$here/huge_text"
head -c 20000000 /dev/zero | tr '\0' '{' >"$here/huge_line"
ln -s loop "$here/loop"
: >"$here/forbidden"
chmod 0 "$here/forbidden"
kinds="fifo folder zero huge_zeros huge_text huge_line loop nothing/x"
[ ! -r "$here/forbidden" ] || echo "this user may read all files"
[ -r "$here/forbidden" ] || kinds="$kinds forbidden"

# refuse COMMAND..., which ends with the file's name: ends soon, with an error whose line has the name, or says which
# option had it.
refuse() {
    tried=$((tried + 1))
    timeout -k 1 20 "$@" >"$here/out" 2>&1 </dev/null
    status=$?
    case $status in
    1 | 2) ;;
    *) fail "$*: status $status: $(tail -n 3 "$here/out")" ;;
    esac
    grep -q -F -e "$here" "$here/out" || {
        fail "$*: the file is not named:"
        cat "$here/out"
    }
}

for kind in $kinds; do
    file=$here/$kind
    refuse allreduce explain -n 4 --rules-file "$file"
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
    [ "$(bash -c 'allreduce convert --from=intel <(sleep 0.3; echo 8)' 2>&1)" = ring ] || fail "convert does not read a pipe"
fi

# Conversely, if something cannot be written, an error names it, and what is there stays.
expect_unwritten() {
    tried=$((tried + 1))
    timeout -k 1 20 "$@" >"$here/out" 2>&1 </dev/null
    status=$?
    [ $status -eq 1 ] || fail "$*: status $status: $(tail -n 3 "$here/out")"
    grep -q -F -e "$file: $why" "$here/out" || {
        fail "$*: not told: $file: $why"
        cat "$here/out"
    }
}
for kind in 'fifo:No such device or address' 'folder:Is a directory' 'nothing/x:No such file or directory' \
    'zero/x:Not a directory' '/dev/full:No space left on device'; do
    why=${kind#*:}
    file=${kind%%:*}
    [ "${file#/}" != "$file" ] || file=$here/$file
    expect_unwritten allreduce explain ring -n 3 --svg "$file"
    expect_unwritten allreduce explain ring -n 3 --html "$file"
done
# A disk that fills up while a file is written.
if mkdir "$here/small" && mount -t tmpfs -o size=8k none "$here/small" 2>/dev/null; then
    why='No space left on device'
    file=$here/small/file
    echo old >"$file"
    expect_unwritten allreduce explain ring -n 3 --html "$file"
    [ "$(cat "$file")" = old ] || fail "a full disk: what was there is lost"
    [ "$(ls -A "$here/small")" = file ] || fail "a full disk: left $(ls -A "$here/small")"
    umount "$here/small"
else
    echo "no small file system: this user may not mount one"
fi

for file in /dev/null /dev/stdout; do
    allreduce explain ring -n 3 --svg $file >"$here/out" 2>&1 || fail "$file cannot be written to: $(cat "$here/out")"
    [ "$(grep -c '</svg>' "$here/out")" -eq "$(echo $file | grep -c stdout)" ] || fail "$file: not the picture: $(cat "$here/out")"
done
{ [ -c /dev/null ] && [ -h /dev/stdout ]; } || fail "a device is no device any more"
echo "$tried tried"
exit $failed
