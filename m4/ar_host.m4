# AR_HOST
# -------
# Stops where the library could be built, if at all, but not work.
AC_DEFUN([AR_HOST], [
AC_REQUIRE([AC_CANONICAL_HOST])
AS_CASE([$host_os],
        [linux*], [],
        [AC_MSG_ERROR([liballreduce is for Linux and not for $host_os: it takes calls by LD_PRELOAD, and its ranks share memory by memfd_create and wait by futexes, all as Linux has them])])
])

# AR_WORD
# -------
# Offsets have 62 bits, and exact sums are made of 128-bit integers.
AC_DEFUN([AR_WORD], [
AC_PREPROC_IFELSE([AC_LANG_SOURCE([[
#include <stdint.h>
#if SIZE_MAX < UINT64_MAX || !defined __SIZEOF_INT128__
#error
#endif
]])], [], [AC_MSG_ERROR([liballreduce needs a machine of 64 bits, and $CC does not make programs for one, or has no __int128])])
])
