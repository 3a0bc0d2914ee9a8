#!/bin/sh
# Preloaded into a program without MPI, the library does nothing: it prints nothing, opens nothing, and changes neither
# errno nor how the program ends, whatever the environment contains.
# shellcheck source=test/cli/common.sh
. "${srcdir:-.}/test/cli/common.sh"

library=$PWD/.libs/liballreduce.so
program=$PWD/test/cli/elsewhere
[ -e "$library" ] || exit 99
tried=0
traced=0

# What a job may have set for everything that it starts.
export ALLREDUCE_ALGO=ring ALLREDUCE_VERBOSE=2 ALLREDUCE_STATS="$scratch/written/stats" ALLREDUCE_STATS_SIGNAL=USR1 \
    ALLREDUCE_TRACE="$scratch/written/trace" ALLREDUCE_TIMEOUT=1,abort PMI_RANK=0 PMI_SIZE=1
mkdir "$scratch/written"

# run FILE COMMAND...: writes to FILE what the command prints on both streams, and its exit status.
run() {
    to=$1
    shift
    "$@" >"$to" 2>&1 </dev/null
    echo "status $?" >>"$to"
}

# trace FILE COMMAND...: writes to FILE which files, sockets and memory the command asks for, with its threads and
# children.  A thread that ends with its process may leave a call without a name.
trace() {
    to=$1
    shift
    strace -f -qq -e trace=open,openat,creat,memfd_create,socket,connect,pipe,pipe2,inotify_init1,shmget,mknod,unlink,link,linkat \
        -e signal=none -o "$to.raw" "$@" >"$to.out" 2>&1 </dev/null
    sed 's/^[0-9]* *//; s/[0-9][0-9]*/N/g' "$to.raw" | grep -v -e liballreduce -e "<detached \.\.\.>" | sort >"$to"
}
if strace -f -qq -o "$scratch/strace" true 2>/dev/null; then
    can_trace=yes
else
    can_trace=no
    echo "no strace, or it may not look: what is opened is not compared"
fi

# same_untraced COMMAND...: prints the same and ends alike with and without the library.
same_untraced() {
    tried=$((tried + 1))
    run "$scratch/native" "$@"
    run "$scratch/ours" env LD_PRELOAD="$library" "$@"
    cmp -s "$scratch/native" "$scratch/ours" || {
        fail "$*: differs"
        diff "$scratch/native" "$scratch/ours"
    }
}

# same COMMAND...: also makes the same requests to the system.
same() {
    same_untraced "$@"
    [ $can_trace = yes ] || return
    traced=$((traced + 1))
    trace "$scratch/native" env "$@"
    trace "$scratch/ours" env LD_PRELOAD="$library" "$@"
    grep -q liballreduce "$scratch/ours.raw" || fail "$*: the library was not loaded"
    cmp -s "$scratch/native" "$scratch/ours" || {
        fail "$*: asks the system for other things"
        diff "$scratch/native" "$scratch/ours"
    }
}

for shell in sh bash dash; do
    command -v $shell >/dev/null || {
        echo "no $shell"
        continue
    }
    same $shell -c 'exit 7'
    same $shell -c 'echo a | cat; false || /bin/echo b; kill -9 $$'
done
same /bin/true
same ls /nowhere
if command -v python3 >/dev/null; then
    same "$(python3 -c 'import sys; print(sys.executable)')" -S -c 'import os, threading; t = threading.Thread(target=print, args=("x",)); t.start(); t.join(); os._exit(3)'
fi
same "$program"
same "$program" thread
same "$program" signal

# Closed streams stay closed, and their numbers free.
# shellcheck disable=SC2016 # for the inner shell
for streams in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
    same sh -c 'program=$1; "$program" '"$streams"'; echo $?' sh "$program"
done

# A program that is linked to an MPI library but never initialises it.
if ldd test/mpi/few_calls 2>/dev/null | grep -q libmpi; then
    cat >"$scratch/linked.c" <<'SOURCE'
#include <stdio.h>
extern int MPI_Initialized(int *flag), MPI_Init(int *argc, char ***argv);
int main(int argc, char **argv)
{
    puts("linked");
    return argc > 5 ? MPI_Init(&argc, &argv) : 4;
}
SOURCE
    mpi=$(ldd test/mpi/few_calls | sed -n 's/.*libmpi[^ ]* => \([^ ]*\) .*/\1/p' | head -n 1)
    if ${CC:-cc} -o "$scratch/linked" "$scratch/linked.c" -Wl,--no-as-needed "$mpi" 2>"$scratch/out"; then
        same "$scratch/linked"
    else
        fail "a program that is linked to MPI: $(cat "$scratch/out")"
    fi
fi

# A static program does not load it; for a set-user-id one the dynamic linker ignores it.
echo 'int main(void) { return 5; }' >"$scratch/static.c"
if ${CC:-cc} -static -o "$scratch/static" "$scratch/static.c" 2>/dev/null; then
    same_untraced "$scratch/static"
else
    echo "no static C library"
fi
if [ "$(id -u)" -eq 0 ] && id nobody >/dev/null 2>&1 && command -v setpriv >/dev/null; then
    cp "$program" "$scratch/set_user_id"
    chmod 4755 "$scratch/set_user_id"
    chmod 755 "$scratch"
    same_untraced setpriv --reuid=nobody --clear-groups "$scratch/set_user_id"
    grep -q 'secure 1$' "$scratch/ours" || echo "a file system without set-user-id programs: $(cat "$scratch/ours")"
else
    echo "no set-user-id program: it takes root and setpriv"
fi

[ -z "$(ls "$scratch/written")" ] || fail "files were written: $(ls "$scratch/written")"
echo "$tried programs, of $traced of which files, sockets and memory were compared"
[ $tried -ge 12 ] || fail "only $tried programs were tried"
exit $failed
