# AR_COMPILER_TAKES(VARIABLE, FLAGS, [TESTED = FLAGS])
# ----------------------------------------------------
# Sets VARIABLE to FLAGS if the compiler takes those that are TESTED without a warning, else to nothing.
AC_DEFUN([AR_COMPILER_TAKES], [
ar_saved_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Werror m4_default([$3], [$2])"
AC_MSG_CHECKING([whether $CC takes $2])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])
                  $1="$2"],
                  [AC_MSG_RESULT([no])
                  $1=])
CFLAGS=$ar_saved_CFLAGS
])

# AR_COMPILER_FLAGS
# -----------------
# Our own flags go to AR_CFLAGS; CFLAGS belongs to the user.
AC_DEFUN([AR_COMPILER_FLAGS], [
dnl A flag that turns off what is unknown is refused by clang, and by GCC only where there is something to tell.
AR_COMPILER_TAKES([ar_quiet], [-Wno-stringop-overflow], [-Wstringop-overflow])
dnl The stack is unwound to find call sites; on RISC-V the default of older GCCs has no tables for that.
AR_CFLAGS="-std=gnu11 -fasynchronous-unwind-tables -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes $ar_quiet -fvisibility=hidden -fPIC"
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [make compiler warnings errors])],
              [AS_IF([test "x$enableval" = xyes],
                     [AR_CFLAGS="$AR_CFLAGS -Werror"; AR_OTHER_OPTIONS=--enable-werror])])
dnl Libtool drops warning flags where it links, but -flto warns there.
AC_SUBST([AR_QUIET_LINK], [${ar_quiet:+-Wc,$ar_quiet}])
AC_SUBST([AR_OTHER_OPTIONS])
AC_SUBST([AR_CFLAGS])
dnl Loops of unknown length are vectorised at -O2 too (GCC; clang does it anyway).
AR_COMPILER_TAKES([AR_VECT_CFLAGS], [-ftree-vectorize -fvect-cost-model=dynamic])
AC_SUBST([AR_VECT_CFLAGS])
dnl A call at each basic block, by which a test counts steps.
AR_COMPILER_TAKES([AR_COUNT_CFLAGS], [-fsanitize-coverage=trace-pc])
AC_SUBST([AR_COUNT_CFLAGS])
AM_CONDITIONAL([COUNTS_STEPS], [test "x$AR_COUNT_CFLAGS" != x])
])
