# AR_COMPILER_FLAGS
# -----------------
# Our own flags go to AR_CFLAGS; CFLAGS belongs to the user.
AC_DEFUN([AR_COMPILER_FLAGS], [
AR_CFLAGS="-std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-stringop-overflow -fvisibility=hidden"
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [make compiler warnings errors])],
              [AS_IF([test "x$enableval" = xyes], [AR_CFLAGS="$AR_CFLAGS -Werror"])])
AC_SUBST([AR_CFLAGS])
])
