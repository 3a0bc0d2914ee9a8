# AR_LIBDW
# --------
# The program alone asks libdw for the lines of call sites; what is preloaded links nothing.
AC_DEFUN([AR_LIBDW], [
AC_ARG_WITH([libdw],
            [AS_HELP_STRING([--without-libdw],
                            [allreduce report tells call sites by address, without lines of the source (default: so only where libdw is not found)])])
HAVE_LIBDW=no
AS_IF([test "x$with_libdw" != xno], [PKG_CHECK_MODULES([LIBDW], [libdw], [HAVE_LIBDW=yes], [:])])
AS_CASE(["$with_libdw,$HAVE_LIBDW"],
        [yes,no], [AC_MSG_ERROR([libdw not found (Debian: libdw-dev); --without-libdw leaves out lines of the source])],
        [*,no], [AC_MSG_WARN([without libdw (Debian: libdw-dev) allreduce report leaves out lines of the source])
                 AR_OTHER_OPTIONS="$AR_OTHER_OPTIONS --without-libdw"])
AC_SUBST([HAVE_LIBDW])
AM_CONDITIONAL([HAVE_LIBDW], [test $HAVE_LIBDW = yes])
])
