# AR_HOST
# -------
# Stops where the library could be built, if at all, but not work.
AC_DEFUN([AR_HOST], [
AC_REQUIRE([AC_CANONICAL_HOST])
AS_CASE([$host_os],
        [linux*], [],
        [AC_MSG_ERROR([liballreduce is for Linux and not for $host_os: it takes calls by LD_PRELOAD, and its ranks share memory by memfd_create and wait by futexes, all as Linux has them])])
])
