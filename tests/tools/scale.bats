#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What a job of the size of the largest torus machine costs each PE: only the size is a fake, PMIx,
# processes and messages are real. Each PE connects to its neighbours.

PES=158976

setup_file()
{
	. "${BATS_TEST_FILENAME%/*}/../lib/built.bash"
	need_built
	export OSHRUN="${OSHRUN:-$TOP_BUILDDIR/oshrun}" OSHCC="${OSHCC:-$TOP_BUILDDIR/oshcc}"
	unset "${!SHMEM_@}" "${!SMA_@}" "${!UCX_@}"
	cd "$BATS_FILE_TMPDIR" || return
	# shellcheck disable=SC2046 # a list of options
	"${CC:-cc}" -shared -fPIC -o fake_size.so "${BATS_TEST_FILENAME%/*}/scale/fake_size.c" $(pkg-config --cflags pmix) -ldl
	"$OSHCC" -O2 -o neighbours "${BATS_TEST_FILENAME%/*}/scale/neighbours.c"
}

# measure SIZE PATHS: sets the variables that the program prints
measure()
{
	local line name value

	pes='' init_bytes='' contact_bytes=''
	cd "$BATS_FILE_TMPDIR" || return
	line=$(env FAKE_JOB_SIZE="$1" LD_PRELOAD="$PWD/fake_size.so" SHMEM_NODE_PES="$2" timeout -k 2 60 \
		"$OSHRUN" -q -n 4 ./neighbours 4) || return
	echo "$line"
	while read -r name value; do
		printf -v "$name" %s "$value"
	done < <(xargs -n 2 <<<"$line")
	[ "$pes" -eq "$1" ]
}

# PEs of one node, and each alone on its node, over UCX
@test "a PE without a connection costs at most 16 bytes, and the library 16 MiB in all" {
	for node_pes in 4 1; do
		measure 4 "$node_pes"
		least=$init_bytes
		measure "$PES" "$node_pes"
		[ "$pes" -eq "$PES" ]
		[ "$init_bytes" -gt "$least" ]
		[ $((init_bytes - least)) -le $((16 * PES)) ]
		[ $((init_bytes + contact_bytes)) -le $((16 * 1024 * 1024)) ]
	done
}

# most_of_contacts PES: UCX's buffers come before or during the contact, so of several
# the one that has them all
most_of_contacts()
{
	most=0
	for _ in 1 2 3 4; do
		measure "$1" 1
		[ "$contact_bytes" -le "$most" ] || most=$contact_bytes
	done
}

@test "connecting to a neighbour costs the same in a small job and in a large one" {
	most_of_contacts 4
	small=$most
	most_of_contacts "$PES"
	[ "$most" -le $((small + small / 2)) ]
}
