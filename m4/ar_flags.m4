# AR_COMPILER_FLAGS
# -----------------
# Our own flags go to AR_CFLAGS; CFLAGS belongs to the user.
AC_DEFUN([AR_COMPILER_FLAGS], [
AR_CFLAGS="-std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-stringop-overflow -fvisibility=hidden"
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [make compiler warnings errors])],
              [AS_IF([test "x$enableval" = xyes],
                     [AR_CFLAGS="$AR_CFLAGS -Werror"; AR_OTHER_OPTIONS=--enable-werror])])
AC_SUBST([AR_OTHER_OPTIONS])
AC_SUBST([AR_CFLAGS])
dnl Loops of unknown length are vectorised at -O2 too (GCC; clang does it anyway).
AR_VECT_CFLAGS="-ftree-vectorize -fvect-cost-model=dynamic"
ar_saved_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Werror $AR_VECT_CFLAGS"
AC_MSG_CHECKING([whether $CC takes $AR_VECT_CFLAGS])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
                  [AC_MSG_RESULT([no]); AR_VECT_CFLAGS=])
CFLAGS=$ar_saved_CFLAGS
AC_SUBST([AR_VECT_CFLAGS])
])
