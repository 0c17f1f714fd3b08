#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# fill.sh TEMPLATE NAME=value ...: the template with each @NAME@ replaced, on standard output.
# Run by make rather than configure, so that "make prefix=... all install" means what it says.
set -eu
template=$1
shift
for pair in "$@"; do
	shift
	value=$(printf '%s' "${pair#*=}" | sed 's/[\\&|]/\\&/g')
	set -- "$@" -e "s|@${pair%%=*}@|$value|g"
done
exec sed "$@" "$template"
