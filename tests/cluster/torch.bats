# SPDX-License-Identifier: BSD-3-Clause
#
# torch.distributed over torushmem on clusters: all collectives, works and training on four hosts at a switch, on a ring
# whose every cable is a network of its own, and on 3x3. Needs root.

load "$TOP_SRCDIR/tests/lib/cluster.bash"

setup()
{
	need_cluster
	/usr/bin/python3 -c 'import torch.distributed' 2>/dev/null || skip "no torch; on Debian: apt-get install python3-torch"
}

# python HOSTS PROGRAM [ARGUMENT...]: a PE on each host
python()
{
	timeout 280 "$cluster" exec --name "$name" h0 sh -c 'n=$1 && shift &&
		exec "$0" -q --hostfile "$CLUSTER_HOSTFILE" -n "$n" -x PYTHONPATH -x TORUSHMEM_LIBRARY -x PYTHONDONTWRITEBYTECODE \
			-x GLOO_SOCKET_IFNAME -x SHMEM_TORUS_FILE="${CLUSTER_SHAPE_FILE:-}" /usr/bin/python3 -W ignore "$@"' \
		"$TOP_BUILDDIR/oshrun" "$@"
}

# all HOSTS: every test of the backend
all()
{
	export PYTHONPATH=$TOP_SRCDIR/python TORUSHMEM_LIBRARY=$TOP_BUILDDIR/.libs/libtorushmem.so.0 PYTHONDONTWRITEBYTECODE=1
	python "$1" "$TOP_SRCDIR/tests/python/collectives_of_torch.py" "$PWD/store"
	mkdir stores
	python "$1" "$TOP_SRCDIR/tests/python/works_of_torch.py" "$PWD/stores" 200
}

@test "four hosts at a switch" {
	"$cluster" up --name "$name" --share "$TOP_BUILDDIR" --share "$PWD" --switch 4
	GLOO_SOCKET_IFNAME=eth0 all 4
}

@test "a ring of four whose every cable is a network of its own" {
	"$cluster" up --name "$name" --share "$TOP_BUILDDIR" --share "$PWD" --torus 4 --cables own
	GLOO_SOCKET_IFNAME=eth0 all 4
}

@test "training on own cables, started by torch's four variables alone" {
	"$cluster" up --name "$name" --share "$TOP_BUILDDIR" --share "$PWD" --torus 4 --cables own
	export PYTHONPATH=$TOP_SRCDIR/python TORUSHMEM_LIBRARY=$TOP_BUILDDIR/.libs/libtorushmem.so.0 PYTHONDONTWRITEBYTECODE=1
	sed -n '/^<!-- block: file train.py -->$/,/^```$/p' "$TOP_SRCDIR/docs/guide/22-training.md" | sed '1,2d; $d' >train.py
	address=$("$cluster" exec --name "$name" h0 ip -4 -o addr show eth0 | awk '{ sub("/.*", "", $4); print $4; exit }')
	for rank in 1 2 3 0; do
		# shellcheck disable=SC2016 # for the shell over there
		timeout 100 "$cluster" exec --name "$name" "h$rank" sh -c 'export RANK=$0 WORLD_SIZE=4 MASTER_ADDR=$1 MASTER_PORT=29500
			export SHMEM_TORUS_FILE=$CLUSTER_SHAPE_FILE SHMEM_PATHS=local,cables SHMEM_INFO=1
			cd "$2" && exec /usr/bin/python3 -W ignore train.py' "$rank" "$address" "$PWD" >"out$rank" 2>&1 &
	done
	for _ in 0 1 2 3; do
		wait -n || { cat out?; return 1; }
	done
	cat out0
	grep -qx 'the loss fell: True' out0
	grep -q 'others by cables' out0
}

@test "3x3, on which hosts forward" {
	"$cluster" up --name "$name" --share "$TOP_BUILDDIR" --share "$PWD" --torus 3x3
	GLOO_SOCKET_IFNAME=node0 all 9
}
