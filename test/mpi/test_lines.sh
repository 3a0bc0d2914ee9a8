#!/bin/sh
# allreduce report tells call sites by line of the source where the file that ran has debug information, and why not
# where it has none.
# shellcheck source=test/mpi/common.sh
. "${srcdir:-.}/test/mpi/common.sh"
# shellcheck source=test/browser.sh
. "${srcdir:-.}/test/browser.sh"
need_browser || echo "what pages show is not looked at"

[ "$HAVE_JANSSON" = yes ] || {
    echo "built without jansson, which allreduce report needs"
    exit 77
}
report=$PWD/allreduce
cd "$scratch" || exit 99
export LD_LIBRARY_PATH="$scratch${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

cat >part.c <<'SOURCE'
#include <mpi.h>
void
call_in_part(void)
{
    double in = 1, out;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* here: part */
}
SOURCE
cat >whole.c <<'SOURCE'
#include <mpi.h>
void call_in_part(void);
static inline __attribute__((always_inline)) void
wrap(double *x)
{
    MPI_Allreduce(MPI_IN_PLACE, x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* here: wrapped */
}
int
main(int argc, char **argv)
{
    double x = 1;
    MPI_Init(&argc, &argv);
    MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); /* here: main */
    wrap(&x);                                                                /* here: around */
    call_in_part();
    MPI_Finalize();
    return x < 0;
}
SOURCE
cat >old.f90 <<'SOURCE'
program old
  implicit none
  include 'mpif.h'
  integer :: error
  real(8) :: x, y
  call MPI_Init(error)
  x = 1
  call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error) ! here: fortran
  call MPI_Finalize(error)
end program
SOURCE

# build FLAG...: the program with a part of it in a library.
build() {
    # shellcheck disable=SC2086 # CC may hold options
    $CC -g -O2 "$@" -fPIC -shared -o libpart.so part.c && $CC -g -O2 "$@" -o whole whole.c -L. -lpart || exit 99
}

# run PROGRAM: its report in $scratch/out, with a page.
run() {
    rm -f stats.jsonl
    expect_ok "$title" preload 1 ALLREDUCE_STATS=stats.jsonl "./$1"
    tell
}
tell() {
    expect_ok "$title: report" "$report" report --html page.html stats.jsonl
}

# expect TEXT: the report has it in one line.
expect() {
    [ "$(grep -c -F -e "$1" out)" -eq 1 ] || {
        fail "$title: not once: $1"
        cat out
    }
}

# line FILE MARK: that line of it, as it is told.
line() {
    echo "$scratch/$1:$(grep -n "here: $2" "$1" | cut -d : -f 1)"
}

# expect_lines: of both files.
expect_lines() {
    expect "  $(line whole.c main) (main)"
    expect "  $(line whole.c wrapped) (wrap) inlined at $(line whole.c around) (main)"
    expect "  $(line part.c part) (call_in_part)"
    ! grep 'no lines of' out || fail "$title: some lines are missing"
}

# expect_none FILE REASON: in the place of its lines, once.
expect_none() {
    expect "no lines of $scratch/$1: $2"
    ! grep "$1+0x.*:[0-9]" out || fail "$title: a line of $1"
    page_has page.html "no lines of $scratch/$1: $2" || fail "$title: the page does not tell why"
}

title="position-independent"
build -pie -fPIE
run whole
if [ "$HAVE_LIBDW" = no ]; then
    expect "no source lines: this allreduce was built without libdw"
    exit $failed
fi
expect_lines
page_has page.html "$(line part.c part) (call_in_part)" || fail "$title: the page has no line"

title="the debug information in a file of its own"
objcopy --only-keep-debug libpart.so libpart.debug && objcopy --strip-all --add-gnu-debuglink=libpart.debug libpart.so || exit 99
tell
expect_lines

title="another file of that name, and none"
build -pie -fPIE -DANOTHER=1 -O1
rm libpart.so
tell
expect_none whole "it is not the file that ran: its build-id differs"
expect_none libpart.so "No such file or directory"
mkfifo libpart.so
tell
expect_none libpart.so "it is no regular file"
rm libpart.so

title="at a fixed address, no build-id"
build -no-pie -Wl,--build-id=none
run whole
expect_lines
touch -d tomorrow libpart.so
tell
expect_none libpart.so "it has no build-id, and was changed after the run"
expect "$(line whole.c main) (main)"

title="no debug information"
build -g0
run whole
expect_none whole "no debug information for this code; compile it with -g"
expect_none libpart.so "no debug information for this code; compile it with -g"
grep -q ' whole+0x[0-9a-f]*  *(main)$' out || fail "$title: the symbol table does not name the function: $(cat out)"

title="Fortran"
# shellcheck disable=SC2086 # MPIFORT may hold options
if [ -n "$MPIFORT" ] && $MPIFORT -g -o old old.f90 >fortran.log 2>&1; then
    run old
    expect "  $(line old.f90 fortran) (old)"
fi
exit $failed
