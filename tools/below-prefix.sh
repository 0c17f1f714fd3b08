#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# below-prefix.sh PREFIX FOLDER: FOLDER with ${prefix} in the place of PREFIX,
# where it is below PREFIX.
# shellcheck disable=SC2016 # pkg-config expands it
case $2/ in
"$1"/*) rest=${2#"$1"} && printf '${prefix}%s\n' "$rest" ;;
*) printf '%s\n' "$2" ;;
esac
