# AR_MPI_FAMILY_OF(VARIABLE, COMPILER)
# ------------------------------------
# Sets VARIABLE to whose ABI the compiler's mpi.h has: mpich, openmpi, abi (that of MPI 5), other; empty where there is no
# mpi.h.  MPI 5's is known by its value of MPI_COMM_WORLD, since others' headers may define MPI_ABI_VERSION, too.
AC_DEFUN([AR_MPI_FAMILY_OF], [
cat >conftest.c <<'END'
#include <mpi.h>
world MPI_COMM_WORLD
#if defined OPEN_MPI
family openmpi
#elif defined MPICH_VERSION || defined I_MPI_VERSION || defined MVAPICH_VERSION
family mpich
#else
family other
#endif
END
$1=`$2 -E conftest.c 2>&AS_MESSAGE_LOG_FD | sed -n -e 's/^world ((MPI_Comm) *0x0*101)$/abi/p' -e 's/^world ((MPI_Comm) *257)$/abi/p' -e 's/^family //p' | sed 1q`
rm -f conftest.c
])

# AR_MPI_TOOLS
# ------------
# Finds the MPI compilers and launcher before AC_PROG_CC.  The first compiler builds all, each
# other one an engine more; MPICC or CC stands for one alone.  Plain mpicc may be any MPI's where
# several are installed.  MPICC, MPIEXEC, MPIFORT and MPICXX override.
AC_DEFUN([AR_MPI_TOOLS], [
AC_ARG_VAR([MPICC], [MPI C compiler, for this MPI alone (default: see --with-mpi)])
AC_ARG_VAR([MPIEXEC], [MPI launcher (default: the one beside MPICC)])
AC_ARG_VAR([MPIFORT], [MPI Fortran compiler, for tests only (default: the one beside MPICC)])
AC_ARG_VAR([MPICXX], [MPI C++ compiler, for tests only (default: the one beside MPICC)])
AC_ARG_WITH([mpi],
            [AS_HELP_STRING([--with-mpi=MPICC,...],
                            [MPI C compilers for which engines are built (default: of mpicc.mpich, mpicc.openmpi and mpicc those that are there)])])
ar_mpi_list=`echo "$with_mpi" | tr ',' ' '`
AS_CASE(["$with_mpi"], [yes | no], [AC_MSG_ERROR([--with-mpi wants MPI C compilers: --with-mpi=mpicc,/opt/x/bin/mpicc])])
AS_IF([test "x$ar_mpi_list" = x && test "x$MPICC$CC" = x], [
  for ar_mpicc in mpicc.mpich mpicc.openmpi mpicc; do
    AS_IF([command -v $ar_mpicc >/dev/null 2>&1], [ar_mpi_list="$ar_mpi_list $ar_mpicc"])
  done])
ar_mpi_known=
AR_OTHER_MPI=
for ar_mpicc in $ar_mpi_list; do
  AC_MSG_CHECKING([whose ABI $ar_mpicc has])
  AR_MPI_FAMILY_OF([ar_family], [$ar_mpicc])
  AC_MSG_RESULT([${ar_family:-none}])
  AS_CASE(["$ar_family: $ar_mpi_known "],
          [:*], [AS_IF([test "x$with_mpi" != x], [AC_MSG_ERROR([--with-mpi: $ar_mpicc is no MPI C compiler])])],
          [*" ${ar_family} "*], [AS_IF([test "x$with_mpi" != x],
                                       [AC_MSG_ERROR([--with-mpi: $ar_mpicc has the ABI of one before it, whose engine serves both])])],
          [AS_IF([test "x$ar_mpi_known" = x], [MPICC=$ar_mpicc], [AR_OTHER_MPI="$AR_OTHER_MPI $ar_family=$ar_mpicc"])
           ar_mpi_known="$ar_mpi_known $ar_family"])
done
AC_SUBST([AR_OTHER_MPI])
AC_CHECK_PROGS([MPICC], [mpicc.mpich mpicc])
AS_IF([test "x$MPICC" = x],
      [AC_MSG_ERROR([no MPI compiler found: install MPICH (Debian: libmpich-dev mpich) or set MPICC])])
ar_mpi_suffix=`expr "x$MPICC" : '.*mpicc\(.*\)'`
ar_mpi_folder=`expr "x$MPICC" : 'x\(.*/\)mpicc'`
AS_IF([test "x$ar_mpi_folder" != x], [
  test "x$MPIEXEC" != x || test ! -x "${ar_mpi_folder}mpiexec$ar_mpi_suffix" || MPIEXEC=${ar_mpi_folder}mpiexec$ar_mpi_suffix
  test "x$MPIFORT" != x || test ! -x "${ar_mpi_folder}mpifort$ar_mpi_suffix" || MPIFORT=${ar_mpi_folder}mpifort$ar_mpi_suffix
  test "x$MPICXX" != x || test ! -x "${ar_mpi_folder}mpicxx$ar_mpi_suffix" || MPICXX=${ar_mpi_folder}mpicxx$ar_mpi_suffix])
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
AR_MPI_FAMILY_OF([AR_MPI_FAMILY], [$CC])
AS_IF([test "x$AR_MPI_FAMILY" = x], [AC_MSG_ERROR([$CC finds no mpi.h])])
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
