# What the MPI test scripts share.  Sourced in the build directory.
# shellcheck shell=sh disable=SC2034 # programs and failed are read by the tests

: "${MPIEXEC:?run me by make check}" "${AR_MPI_FAMILY:?}"

library=$PWD/.libs/liballreduce.so
programs=$PWD/test/mpi
failed=0
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
[ -e "$library" ] || {
    echo "$library was not built"
    exit 99
}

# The tests set these themselves.
for name in $(env | sed -n 's/^\(ALLREDUCE_[A-Z_]*\)=.*/\1/p'); do
    unset "$name"
done

# use_mpi FAMILY LAUNCHER: launches are of this MPI from here on.
use_mpi() {
    AR_MPI_FAMILY=$1
    MPIEXEC=$2
    [ "$1" != openmpi ] || MPIEXEC="$2 --oversubscribe"
}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Launches at once that share Open MPI's folder for sessions fail at times ("orte_session_dir failed").
export OMPI_MCA_orte_tmpdir_base="$scratch" PRTE_MCA_prte_tmpdir_base="$scratch"
# Open MPI's launcher waits this long, 1 s by default, between TERM and KILL when a rank has failed.
export OMPI_MCA_odls_base_sigkill_timeout=0
use_mpi "$AR_MPI_FAMILY" "$MPIEXEC"

# fail TEXT...: the test goes on and fails in the end.
fail() {
    echo "FAIL: $*"
    failed=1
}

# The seconds that a launch may take, times PATIENCE if programs are slow.  After SIGTERM it gets SIGKILL, since MPI
# ranks may ignore SIGTERM.
limit=90

# launch RANKS [VARIABLE=VALUE...] PROGRAM [ARGUMENT...]
launch() {
    ranks=$1
    shift
    # shellcheck disable=SC2086 # MPIEXEC may hold options
    timeout -k 5 $((limit * ${PATIENCE:-1})) $MPIEXEC -n "$ranks" env "$@"
}

# interrupt SIGNAL FILE TEXT COMMAND...: launches 2 ranks in the background, their output in $scratch/out and
# $scratch/err; sends the launcher the signal as soon as FILE has TEXT, and leaves the ranks' status in $status:
# that of MPICH's launcher is 0 at times.  $took becomes the seconds from the signal to the end.
interrupt() {
    signal=$1
    file=$2
    text=$3
    shift 3
    : >"$file"
    rm -f "$scratch/status"
    cat >"$scratch/noting" <<EOF
trap '' INT TERM
"\$@"
status=\$?
echo \$status >>"$scratch/status"
exit \$status
EOF
    # shellcheck disable=SC2086 # MPIEXEC may hold options
    env -u OMPI_MCA_odls_base_sigkill_timeout timeout --foreground -k 5 $((limit * ${PATIENCE:-1})) $MPIEXEC -n 2 sh "$scratch/noting" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null &
    launched=$!
    for _ in $(seq 600); do
        grep -q "$text" "$file" && break
        sleep 0.1
    done
    grep -q "$text" "$file" || fail "$*: never came to $text"
    took=$(date +%s)
    kill -s "$signal" "$launched" # timeout passes it on to the launcher alone
    wait "$launched"
    took=$(($(date +%s) - took))
    status=$(sort -u "$scratch/status")
}

# expect_interrupted WHAT: the ranks ended as interrupted ones.  Open MPI's launcher, once interrupted, kills those that
# wait in MPI_Finalize, and so there may be no status.
expect_interrupted() {
    case $AR_MPI_FAMILY:$status in
    *:130 | openmpi:) ;;
    *) fail "$1: exit status $status" ;;
    esac
}

# Commands of the shell that preload starts on each rank, whose rank is $rank there.  The shell does not load the library,
# because it cannot load an instrumented one.
before=

# preload RANKS [VARIABLE=VALUE...] PROGRAM [ARGUMENT...]: launch under the library; where $before is set, after it.
preload() {
    ranks=$1
    shift
    if [ -z "$before" ]; then
        launch "$ranks" LD_PRELOAD="$library" "$@"
    else
        # shellcheck disable=SC2016 # for the ranks' shells
        launch "$ranks" sh -c 'while [ "${1%%=*}" != "$1" ]; do export "$1" && shift; done
            rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-${PMIX_RANK:?}}}
            '"$before"'
            LD_PRELOAD=$0 exec "$@"' "$library" "$@"
    fi
}

# expect_ok WHAT COMMAND...: the command must succeed; its output is in $scratch/out.
expect_ok() {
    what=$1
    shift
    "$@" >"$scratch/out" 2>&1 </dev/null
    status=$?
    if [ $status -ne 0 ]; then
        fail "$what: exit status $status"
        tail -n 40 "$scratch/out"
    fi
    return $status
}

# expect_end WHAT STATUS PATTERN COMMAND...: ends with that status (of the launcher's choice
# where it is "any"), and one line, no more, matches the pattern.
expect_end() {
    what=$1
    wanted=$2
    pattern=$3
    shift 3
    "$@" >"$scratch/out" 2>&1 </dev/null
    status=$?
    case $wanted:$status in
    any:0 | any:124 | any:137) fail "$what: exit status $status" ;;
    any:*) ;;
    *) [ $status -eq "$wanted" ] || fail "$what: exit status $status, not $wanted" ;;
    esac
    [ "$(grep -c -e "$pattern" "$scratch/out")" -eq 1 ] || {
        fail "$what: not told once: $pattern"
        cat "$scratch/out"
    }
}

# expect_limited_end WHAT STATUS PATTERN [VARIABLE=VALUE...] COMMAND...: expect_end within the limit of time.
expect_limited_end() {
    what=$1
    wanted=$2
    pattern=$3
    shift 3
    # shellcheck disable=SC2086 # limit may hold options
    expect_end "$what" "$wanted" "$pattern" timeout -k 5 $limit env "$@"
}

# is_ended STATUS: the job, whose output is in $scratch/out, ended itself, because a rank lacked what others waited for.
is_ended() {
    [ "$1" -eq 2 ] && grep -q '^liballreduce: .*rank .*: the job ends$' "$scratch/out"
}

# calls_of NAME: how many calls ran NAME, with any parameters, by the summary in
# $scratch/out.
calls_of() {
    awk -v name="$1" '
        /^liballreduce: +[0-9]+ / { ran = $5; sub(/\(.*/, "", ran); if (ran == name) calls += $2 }
        END { print calls + 0 }' "$scratch/out"
}

# expect_calls WHAT NAME LEAST: at least so many calls ran NAME.
expect_calls() {
    if [ "$(calls_of "$2")" -lt "$3" ]; then
        fail "$1: $(calls_of "$2") calls ran $2, fewer than $3"
        grep '^liballreduce:' "$scratch/out"
    fi
}

# expect_row WHAT NAME LEAST COMMAND...: expect_ok, and at least so many calls ran NAME.
expect_row() {
    title=$1
    row=$2
    least=$3
    shift 3
    expect_ok "$title" "$@" && expect_calls "$title" "$row" "$least"
}

# expect_calls_in WHAT COUNT PATTERN: so many calls are in lines of the table that match.
expect_calls_in() {
    found=$(grep '^liballreduce: ' "$scratch/out" | awk -v pattern="$3" '$0 ~ pattern { n += $2 } END { print n + 0 }')
    [ "$found" -eq "$2" ] || {
        fail "$1: $found calls, not $2: $3"
        grep '^liballreduce:' "$scratch/out"
    }
}

# expect_engine WHAT LEAST COMMAND...: at least so many calls ran the ring, by the engine for the MPI in use.  The test
# has asked for the ring and for the summary.
expect_engine() {
    title=$1
    least=$2
    shift 2
    expect_row "$title" ring "$least" "$@" || return
    grep -q "^liballreduce: .* for $AR_MPI_FAMILY, calls of" "$scratch/out" || {
        fail "$title: not by the engine for $AR_MPI_FAMILY"
        cat "$scratch/out"
    }
}

# mpi_folders: a folder of each MPI that this build has an engine for, where its programs are made; the first is ".".
mpi_folders() {
    echo .
    for folder in engines/*/; do
        [ ! -e "$folder/Makefile" ] || echo "${folder%/}"
    done
}

# use_mpi_of FOLDER PROGRAM...: launches are of the MPI of this folder from here on, for which it has these programs.
use_mpi_of() {
    [ "$1" != . ] || return 0
    other=$1
    shift
    expect_ok "$other: make $*" make -s -C "$other" "$@" || return
    use_mpi "${other#engines/}" "$(sed -n 's/^MPIEXEC = //p' "$other/Makefile")"
}

# install_into PREFIX: make install there, of this build or of one for another MPI below it, whose configure was told where all
# of its folders are.
install_into() {
    expect_ok "make install" make -s install prefix="$1" exec_prefix="$1" libdir="$1/lib" libexecdir="$1/libexec" \
        datadir="$1/share" pkgconfigdir="$1/lib/pkgconfig"
}

# rename_mpich PROGRAM NAME: makes of it $scratch/renamed, which needs $scratch/NAME, a copy of Debian's libmpich.so.12 under
# this name, which may be no longer than that.  It fails where the program does not need that library.
rename_mpich() {
    file=$(LD_PRELOAD='' ldd "$1" | sed -n 's/.*libmpich\.so\.12 => \([^ ]*\) .*/\1/p')
    [ -n "$file" ] || return
    zeros=$(printf '%*s' $((14 - ${#2})) '' | sed 's/ /\\x00/g')
    LC_ALL=C sed "s/libmpich\\.so\\.12/$2$zeros/" "$file" >"$scratch/$2"
    LC_ALL=C sed "s/libmpich\\.so\\.12/$2$zeros/" "$1" >"$scratch/renamed"
    chmod +x "$scratch/renamed"
}

# files: what of ours is in /dev/shm, of this and any other job.
files() {
    find /dev/shm -name 'liballreduce-*' 2>/dev/null | sort
}

files >"$scratch/files_before"

# expect_no_files WHAT: none of our files stays in /dev/shm longer than its creation takes, 10 s at most, except for those
# that were there before this test.
expect_no_files() {
    stale=$(files | comm -13 "$scratch/files_before" -)
    for _ in $(seq 100); do
        [ -n "$stale" ] || return 0
        sleep 0.1
        printf '%s\n' "$stale" >"$scratch/files"
        stale=$(files | comm -12 - "$scratch/files")
    done
    for file in $stale; do
        fail "$1: left $file"
    done
}

# rows: the names of all algorithms.
rows() {
    ./allreduce list --names
}

[ "$(rows | wc -l)" -ge 2 ] || fail "allreduce list names fewer than 2 algorithms"

# rules_of ROW...: clauses that give each row in turn the messages of one narrow band of
# sizes, each band half as large again as the one before: all rows see short and long ones.
rules_of() {
    printf '%s\n' "$@" | awk '
        { name[NR - 1] = $1 }
        END {
            from = 0
            for (to = 3; to < 8000000; to = int(to * 3 / 2)) {
                printf "%s:%d-%d;", name[i++ % NR], from, to
                from = to + 1
            }
            print name[i % NR]
        }'
}

# expect_rows RANKS LEAST PROGRAM ROW...: the program with rules_of these rows, each of
# which at least LEAST calls ran; their messages carried as $transport says, ops of the program's own
# as $user_ops says.
transport=auto
user_ops=whole
expect_rows() {
    ranks=$1
    least=$2
    program=$3
    shift 3
    title="$* on $ranks ranks, transport $transport"
    # shellcheck disable=SC2086 # program may hold arguments
    expect_ok "$title" preload "$ranks" ALLREDUCE_VERBOSE=1 ALLREDUCE_TRANSPORT=$transport \
        ALLREDUCE_USER_OPS=$user_ops ALLREDUCE_ALGO="$(rules_of "$@")" $program ||
        return
    for row in "$@"; do
        expect_calls "$title" "$row" "$least"
    done
    echo "done: $title"
}

# by_groups N COMMAND...: runs COMMAND with N rows behind it, until each had its turn.
by_groups() {
    rows | xargs -n "$1" >"$scratch/groups"
    shift
    while read -r group; do
        # shellcheck disable=SC2086 # names have no blanks
        "$@" $group
    done <"$scratch/groups"
}
