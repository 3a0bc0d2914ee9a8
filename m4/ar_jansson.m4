# AR_JANSSON
# ----------
# The program alone reads JSON by jansson; all JSON is written without it.
AC_DEFUN([AR_JANSSON], [
AR_WITHOUT_JANSSON="report, advise, bisect, tune --from, JSON in convert"
AC_ARG_WITH([jansson],
            [AS_HELP_STRING([--without-jansson],
                            [leave out of the program what needs jansson (default: leave it out only where jansson is not found)])])
HAVE_JANSSON=no
AS_IF([test "x$with_jansson" != xno], [PKG_CHECK_MODULES([JANSSON], [jansson], [HAVE_JANSSON=yes], [:])])
AS_CASE(["$with_jansson,$HAVE_JANSSON"],
        [yes,no], [AC_MSG_ERROR([jansson not found (Debian: libjansson-dev); --without-jansson leaves out $AR_WITHOUT_JANSSON])],
        [*,no], [AC_MSG_WARN([without jansson (Debian: libjansson-dev) the program leaves out $AR_WITHOUT_JANSSON])
                 AR_OTHER_OPTIONS="$AR_OTHER_OPTIONS --without-jansson"])
AC_SUBST([HAVE_JANSSON])
AM_CONDITIONAL([HAVE_JANSSON], [test $HAVE_JANSSON = yes])
AS_IF([test $HAVE_JANSSON = no],
      [AC_DEFINE_UNQUOTED([AR_WITHOUT_JANSSON], ["$AR_WITHOUT_JANSSON"], [What the program leaves out, without jansson])])
])
