#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# layers.sh SRCDIR: calls go down only, shmem -> comms -> rte. Fails and names the line where one does not.
set -u
cd "$1" || exit 1
bad=0

# forbid FOLDER PATTERN: no file of FOLDER may include what matches
forbid() {
	if grep -nE "^#[[:space:]]*include[[:space:]]*[<\"]($2)" "$1"/*.c "$1"/*.h; then
		echo "layers: $1 must not include that" >&2
		bad=1
	fi
}
forbid rte 'comms/|shmem/|pshmem\.h|shmem\.h|ucp/|\.\./'
forbid comms 'shmem/|pshmem\.h|shmem\.h|pmix|\.\./'
forbid shmem 'ucp/|uct/|pmix|comms/ucx\.h|\.\./'
# Thinking about the torus needs nobody: no bytes, no clock, no files. What does things stands in comms/.
forbid comms/torus 'comms/|rte/|shmem|pmix|ucp/|uct/|\.\./|time\.h|sys/|unistd\.h|fcntl\.h'
[ "$bad" = 0 ] && echo "layers: calls go down only"
exit "$bad"
