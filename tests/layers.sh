#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# layers.sh SRCDIR: calls go down only, shmem -> comms -> rte. Fails and names
# the line where one does not.
set -u
cd "$1" || exit 1
bad=0

# forbid FOLDER PATTERN: no file in FOLDER, or in a folder in it, may include what matches
forbid() {
	[ -d "$1" ] || return 0
	if grep -rnE --include='*.[ch]' "^#[[:space:]]*include[[:space:]]*[<\"]($2)" "$1"; then
		echo "layers: $1 must not include that" >&2
		bad=1
	fi
}
# forbid_but FOLDER PATTERN EXCEPTIONS: as forbid, but for lines that match the exceptions
forbid_but() {
	[ -d "$1" ] || return 0
	if grep -rnE --include='*.[ch]' "^#[[:space:]]*include[[:space:]]*[<\"]($2)" "$1" | grep -vE "$3"; then
		echo "layers: $1 must not include that" >&2
		bad=1
	fi
}
forbid rte 'comms/|shmem/|pshmem\.h|shmem\.h|ucp/|\.\./'
forbid comms 'shmem/|pshmem\.h|shmem\.h|pmix|\.\./'
forbid shmem 'ucp/|uct/|ucs/|utofu|jtofu|rdma/f|pmix|comms/net/|\.\./'
# comms/torus is computation alone: no bytes move there, no clock is read, no file is opened.
forbid_but comms/torus 'comms/|rte/|shmem|pmix|ucp/|uct/|\.\./|time\.h|sys/|unistd\.h|fcntl\.h' '"comms/torus/'
# rte knows no routine of the interfaces above: it prints the names that shmem/caller.c hands down.
# The launcher has pages about them.
if grep -rnE --exclude-dir=oshrun --include='*.[ch]' '"(p?shmemx?_|start_pes|[^" ]*fortran)' rte; then
	echo "layers: rte must not name that" >&2
	bad=1
fi
# The library of a network is known to the folder of that network, and to no other room; a
# network knows no other network.
forbid_but comms 'ucp/|uct/|ucs/' '^comms/net/ucx/'
forbid_but comms 'utofu|jtofu' '^comms/net/tofu/'
forbid_but comms 'rdma/f' '^comms/net/ofi/'
for folder in comms/net/*/; do
	forbid_but comms "$folder" "^$folder"
done
# softofu can be lifted out: it includes and compiles nothing of the three layers, nor does it link
# a library of theirs, and of the rest one file of oshrun includes it.
forbid softofu '(comms|rte|shmem|include|tools)/|p?shmemx?\.h|\.\./'
if grep -rnE --include='*.mk' '^[^#]*(\b(comms|rte|shmem)/|libtorus|librte)' softofu; then
	echo "layers: softofu must not be built from that" >&2
	bad=1
fi
forbid_but rte 'softofu/' '^rte/oshrun/tofu_ranks\.c:'
forbid comms 'softofu/'
forbid shmem 'softofu/'
# The Fortran interface is a program like others: it sees what is installed.
forbid fortran 'comms/|rte/|shmem/|softofu/|pshmem\.h|\.\./'
[ "$bad" = 0 ] && echo "layers: calls go down only"
exit "$bad"
