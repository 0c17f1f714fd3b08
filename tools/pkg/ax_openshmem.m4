# SPDX-License-Identifier: BSD-3-Clause
#
# AX_OPENSHMEM([ACTION-IF-FOUND], [ACTION-IF-NOT-FOUND])
#
# Looks for an OpenSHMEM library for the current language, C or C++. In this order: what
# the user gave in OPENSHMEM_CFLAGS and OPENSHMEM_LIBS; nothing at all (the compiler is
# a wrapper such as oshcc);
# pkg-config's openshmem; what the wrapper oshcc or oshcxx in PATH says with --showme.
#
# Sets and substitutes OPENSHMEM_CFLAGS, OPENSHMEM_LIBS and OSHRUN, the launcher. Without an
# ACTION-IF-FOUND it defines HAVE_OPENSHMEM; without an ACTION-IF-NOT-FOUND configure ends.

AC_DEFUN([_AX_OPENSHMEM_TRY], [
  ax_openshmem_save_CPPFLAGS=$CPPFLAGS
  ax_openshmem_save_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $1"
  LIBS="$2 $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <shmem.h>]], [[shmem_init(); shmem_finalize();]])],
    [ax_openshmem_found=yes OPENSHMEM_CFLAGS="$1" OPENSHMEM_LIBS="$2"])
  CPPFLAGS=$ax_openshmem_save_CPPFLAGS
  LIBS=$ax_openshmem_save_LIBS
])

AC_DEFUN([AX_OPENSHMEM], [
  AC_ARG_VAR([OPENSHMEM_CFLAGS], [compiler flags for OpenSHMEM])
  AC_ARG_VAR([OPENSHMEM_LIBS], [linker flags for OpenSHMEM])
  AC_MSG_CHECKING([for OpenSHMEM])
  ax_openshmem_found=no
  ax_openshmem_how=
  _AX_OPENSHMEM_TRY([$OPENSHMEM_CFLAGS], [$OPENSHMEM_LIBS])
  AS_IF([test "$ax_openshmem_found" = yes],
    [AS_IF([test -n "$OPENSHMEM_CFLAGS$OPENSHMEM_LIBS"],
      [ax_openshmem_how="as given"], [ax_openshmem_how="the compiler knows it"])])
  AS_IF([test "$ax_openshmem_found" = no && ${PKG_CONFIG:-pkg-config} --exists openshmem 2>/dev/null], [
    ax_openshmem_how="by pkg-config"
    ax_openshmem_c=`${PKG_CONFIG:-pkg-config} --cflags openshmem`
    ax_openshmem_l=`${PKG_CONFIG:-pkg-config} --libs openshmem`
    _AX_OPENSHMEM_TRY([$ax_openshmem_c], [$ax_openshmem_l])
  ])
  AS_IF([test "$ax_openshmem_found" = no], [
    AC_LANG_CASE([C++], [ax_openshmem_wrapper=oshcxx], [ax_openshmem_wrapper=oshcc])
    ax_openshmem_how="by $ax_openshmem_wrapper"
    AS_IF([ax_openshmem_c=`$ax_openshmem_wrapper --showme:compile 2>/dev/null` &&
           ax_openshmem_l=`$ax_openshmem_wrapper --showme:link 2>/dev/null`],
      [_AX_OPENSHMEM_TRY([$ax_openshmem_c], [$ax_openshmem_l])])
  ])
  AS_IF([test "$ax_openshmem_found" = yes],
    [AC_MSG_RESULT([yes, $ax_openshmem_how])], [AC_MSG_RESULT([no])])
  AC_SUBST([OPENSHMEM_CFLAGS])
  AC_SUBST([OPENSHMEM_LIBS])
  AC_PATH_PROG([OSHRUN], [oshrun])
  AS_IF([test "$ax_openshmem_found" = yes],
    [m4_default([$1], [AC_DEFINE([HAVE_OPENSHMEM], [1], [Define to 1 if OpenSHMEM is there.])])],
    [m4_default([$2], [AC_MSG_ERROR([no OpenSHMEM found; put oshcc into PATH, openshmem.pc into PKG_CONFIG_PATH, or set OPENSHMEM_CFLAGS and OPENSHMEM_LIBS])])])
])
