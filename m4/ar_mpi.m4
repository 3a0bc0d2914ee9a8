# AR_MPI_TOOLS
# ------------
# Finds the MPI compiler and launcher before AC_PROG_CC: MPICH first, since
# plain mpicc may be either where both MPIs are installed.  MPICC, MPIEXEC,
# MPIFORT and MPICXX override.
AC_DEFUN([AR_MPI_TOOLS], [
AC_ARG_VAR([MPICC], [MPI C compiler (default: mpicc.mpich, mpicc)])
AC_ARG_VAR([MPIEXEC], [MPI launcher (default: the one beside MPICC)])
AC_ARG_VAR([MPIFORT], [MPI Fortran compiler, for tests only (default: the one beside MPICC)])
AC_ARG_VAR([MPICXX], [MPI C++ compiler, for tests only (default: the one beside MPICC)])
AC_CHECK_PROGS([MPICC], [mpicc.mpich mpicc])
AS_IF([test "x$MPICC" = x],
      [AC_MSG_ERROR([no MPI compiler found: install MPICH (Debian: libmpich-dev mpich) or set MPICC])])
ar_mpi_suffix=`expr "x$MPICC" : '.*mpicc\(.*\)'`
AC_CHECK_PROGS([MPIEXEC], ["mpiexec$ar_mpi_suffix" mpiexec])
AC_CHECK_PROGS([MPIFORT], ["mpifort$ar_mpi_suffix" mpifort])
AC_CHECK_PROGS([MPICXX], ["mpicxx$ar_mpi_suffix" mpicxx])
AS_IF([test "x$CC" = x], [CC=$MPICC])
])

# AR_MPI_FEATURES
# ---------------
# Family of the MPI, the large-count call, and sessions.  AR_CC is the compiler behind the
# MPI compiler, which links what is preloaded: without the MPI library.
AC_DEFUN([AR_MPI_FEATURES], [
AC_CHECK_FUNC([PMPI_Allreduce], [],
      [AC_MSG_ERROR([$CC does not link PMPI_Allreduce: is it an MPI compiler? set MPICC])])
AC_CHECK_DECL([MPICH_VERSION], [AR_MPI_FAMILY=mpich], [], [[#include <mpi.h>]])
AC_CHECK_DECL([OPEN_MPI], [AR_MPI_FAMILY=openmpi], [], [[#include <mpi.h>]])
AC_COMPUTE_INT([ar_abi], [MPI_ABI_VERSION], [[#include <mpi.h>]], [ar_abi=-1])
AS_IF([test "$ar_abi" -ge 1], [AR_MPI_FAMILY=abi])
AS_IF([test "x$AR_MPI_FAMILY" = x], [AR_MPI_FAMILY=other])
AC_SUBST([AR_MPI_FAMILY])
AC_DEFINE_UNQUOTED([AR_MPI_FAMILY], ["$AR_MPI_FAMILY"], [MPI library this build is for])
AM_CONDITIONAL([MPI_IS_ABI], [test "x$AR_MPI_FAMILY" = xabi])
AM_CONDITIONAL([MPI_IS_MPICH], [test "x$AR_MPI_FAMILY" = xmpich])
AM_CONDITIONAL([MPI_IS_OPENMPI], [test "x$AR_MPI_FAMILY" = xopenmpi])
AM_CONDITIONAL([MPI_IS_OTHER], [test "x$AR_MPI_FAMILY" = xother])
AS_IF([test "x$AR_MPI_FAMILY" = xopenmpi],
      [AC_DEFINE([AR_MPI_IS_OPENMPI], [1], [Open MPI: its Fortran calls arrive at PMPI_Allreduce])])
AC_MSG_CHECKING([for the compiler behind $MPICC])
AR_CC=`$MPICC -show 2>/dev/null | sed 's/ -.*//'`
echo 'int main(void) { return 0; }' >conftest.c
AS_IF([test "x$AR_CC" != x && $AR_CC -o conftest$EXEEXT conftest.c >&AS_MESSAGE_LOG_FD 2>&1],
      [], [AR_CC=$CC])
rm -f conftest.c conftest$EXEEXT
AC_MSG_RESULT([$AR_CC])
AC_SUBST([AR_CC])
AC_CHECK_FUNCS([PMPI_Allreduce_c PMPI_Allreduce_init PMPI_Session_init])
AM_CONDITIONAL([HAVE_MPI_SESSIONS], [test "x$ac_cv_func_PMPI_Session_init" = xyes])
])

# AR_MPI_WORKS(VARIABLE, SUFFIX, SOURCE, [FLAGS])
# -----------------------------------------------
# Whether the compiler in VARIABLE, with FLAGS, makes a program of SOURCE (a
# one-liner in a file with SUFFIX); sets ar_works to yes or no.
AC_DEFUN([AR_MPI_WORKS], [
AC_MSG_CHECKING([whether ${$1:-no $1} $4 works])
echo '$3' >conftest.$2
AS_IF([test "x$$1" != x && $$1 $4 -o conftest$EXEEXT conftest.$2 >&AS_MESSAGE_LOG_FD 2>&1],
      [ar_works=yes], [ar_works=no])
AC_MSG_RESULT([$ar_works])
rm -f conftest.$2 conftest$EXEEXT
])

# AR_MPI_FORTRAN
# --------------
# Fortran and C++ are used by tests alone.  gfortran is told that one procedure
# may take arguments of many types: mpif.h needs it.
AC_DEFUN([AR_MPI_FORTRAN], [
AR_MPI_WORKS([MPIFORT], [f90], [end])
AM_CONDITIONAL([HAVE_MPIFORT], [test "x$ar_works" = xyes])
AR_MPI_WORKS([MPIFORT], [f90], [end], [-w -fallow-argument-mismatch])
AR_FCFLAGS=
AS_IF([test "x$ar_works" = xyes], [AR_FCFLAGS="-w -fallow-argument-mismatch"])
AC_SUBST([AR_FCFLAGS])
AR_MPI_WORKS([MPICXX], [cpp], [int main() { return 0; }])
AM_CONDITIONAL([HAVE_MPICXX], [test "x$ar_works" = xyes])
])
