# AR_MPI_TOOLS
# ------------
# Finds the MPI compiler and launcher before AC_PROG_CC: MPICH first, since
# plain mpicc may be either where both MPIs are installed.  MPICC, MPIEXEC and
# MPIFORT override.
AC_DEFUN([AR_MPI_TOOLS], [
AC_ARG_VAR([MPICC], [MPI C compiler (default: mpicc.mpich, mpicc)])
AC_ARG_VAR([MPIEXEC], [MPI launcher (default: the one beside MPICC)])
AC_ARG_VAR([MPIFORT], [MPI Fortran compiler, for tests only (default: the one beside MPICC)])
AC_CHECK_PROGS([MPICC], [mpicc.mpich mpicc])
AS_IF([test "x$MPICC" = x],
      [AC_MSG_ERROR([no MPI compiler found: install MPICH (Debian: libmpich-dev mpich) or set MPICC])])
ar_mpi_suffix=`expr "x$MPICC" : '.*mpicc\(.*\)'`
AC_CHECK_PROGS([MPIEXEC], ["mpiexec$ar_mpi_suffix" mpiexec])
AC_CHECK_PROGS([MPIFORT], ["mpifort$ar_mpi_suffix" mpifort])
AS_IF([test "x$CC" = x], [CC=$MPICC])
])

# AR_MPI_FEATURES
# ---------------
# Family of the MPI, the large-count call, and sessions.
AC_DEFUN([AR_MPI_FEATURES], [
AC_CHECK_FUNC([PMPI_Allreduce], [],
      [AC_MSG_ERROR([$CC does not link PMPI_Allreduce: is it an MPI compiler? set MPICC])])
AC_CHECK_DECL([MPICH_VERSION], [AR_MPI_FAMILY=mpich], [], [[#include <mpi.h>]])
AC_CHECK_DECL([OPEN_MPI], [AR_MPI_FAMILY=openmpi], [], [[#include <mpi.h>]])
AS_IF([test "x$AR_MPI_FAMILY" = x], [AR_MPI_FAMILY=other])
AC_SUBST([AR_MPI_FAMILY])
AC_DEFINE_UNQUOTED([AR_MPI_FAMILY], ["$AR_MPI_FAMILY"], [MPI library this build is for])
AM_CONDITIONAL([MPI_IS_OPENMPI], [test "x$AR_MPI_FAMILY" = xopenmpi])
AS_IF([test "x$AR_MPI_FAMILY" = xopenmpi],
      [AC_DEFINE([AR_MPI_IS_OPENMPI], [1], [Open MPI: its Fortran calls arrive at PMPI_Allreduce])])
AC_CHECK_FUNCS([PMPI_Allreduce_c PMPI_Session_init])
AM_CONDITIONAL([HAVE_MPI_SESSIONS], [test "x$ac_cv_func_PMPI_Session_init" = xyes])
])

# AR_MPI_FORTRAN
# --------------
# Fortran is used by tests alone.
AC_DEFUN([AR_MPI_FORTRAN], [
AM_CONDITIONAL([HAVE_MPIFORT], [test "x$MPIFORT" != x])
])
