#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# format.sh SRCDIR: every C file of the clone is as .clang-format has it. Names the lines that are not. Versions of clang-format differ
# in details, so only the one below is asked; without it, and outside a clone, nothing is checked, and a line says so.
set -u
VERSION=14
cd "$1" || exit 1

# mpif-ext.h is Fortran.
files=$(git ls-files '*.c' '*.h' ':!*/mpif-ext.h' 2>/dev/null)
# shellcheck disable=SC2086 # a list of names without blanks
if [ -z "$files" ]; then
	echo "format: not checked, this is no clone"
elif ! clang-format --version 2>/dev/null | grep -q "version $VERSION\."; then
	echo "format: not checked, there is no clang-format $VERSION"
elif clang-format --dry-run --Werror $files; then
	echo "format: C files are as .clang-format has them"
else
	echo "format: make format mends this" >&2
	exit 1
fi
