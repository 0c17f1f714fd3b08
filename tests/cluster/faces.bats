# SPDX-License-Identifier: BSD-3-Clause
#
# Large messages of neighbour exchanges on hosts cabled as a torus: a face to one neighbour goes over all cables of its sender, by the
# kernel's counters, unless the setting or the model forbids it; and all data is right, with several PEs a host, too. Needs root.

load "$TOP_SRCDIR/tests/lib/cluster.bash"

setup()
{
	need_cluster
}

# faces SHAPE PES PATTERN SIZES SETTING=VALUE...: three iterations of each size, and one before
faces()
{
	run timeout 100 "$cluster" exec --name "$name" h0 env -C "$PWD" "$TOP_BUILDDIR/oshrun" -q --hostfile /run/cluster/hostfile \
		-x SHMEM_SYMMETRIC_SIZE=128m -x SHMEM_TORUS="$1" ${5:+$(printf -- '-x %s ' "${@:5}")} -n "$2" \
		"$TOP_BUILDDIR/tests/cluster/faces" "$3" "$4" 3
	printf '%s\n' "$output"
	[ "$status" -eq 0 ]
}

# Bytes that each port of h0 has sent, one a line.
sent_by_ports()
{
	"$cluster" exec --name "$name" h0 sh -c 'for port in /sys/class/net/*[+-]; do
		echo "${port##*/} $(cat "$port/statistics/tx_bytes")"; done'
}

# carried BYTES LEAST MOST PORT...: since the file `before` was written, each of these carried so much, as a share
carried()
{
	sent_by_ports | awk -v bytes="$1" -v least="$2" -v most="$3" -v ports="${*:4}" '
		BEGIN { wanted = split(ports, name, " "); for (i in name) is[name[i]] = 1 }
		FNR == NR { before[$1] = $2; next }
		$1 in is {
			share = ($2 - before[$1]) / bytes
			printf "%s carried %.3f\n", $1, share
			found++
			bad += share < least || share > most
		}
		END { exit bad || found != wanted }' before -
}

@test "a face to one neighbour goes over all cables of its sender" {
	"$cluster" up --name "$name" --torus 3x3 --rate 50mbit --share "$TOP_BUILDDIR" --share "$PWD"
	sent_by_ports >before
	faces 3x3 9 one 4m
	carried $((4 * 4194304)) 0.21 0.30 x+ x- y+ y-
	sent_by_ports >before
	faces 3x3 9 one 4m SHMEM_EXCHANGE_DETOURS=no
	carried $((4 * 4194304)) 1.00 1.10 x+
	carried $((4 * 4194304)) 0.00 0.05 x- y+ y-
}

@test "where all send to all neighbours, nothing takes a detour" {
	"$cluster" up --name "$name" --torus 3x3 --rate 50mbit --share "$TOP_BUILDDIR" --share "$PWD"
	sent_by_ports >before
	faces 3x3 9 all 1m SHMEM_EXCHANGE_DETOURS=yes
	carried $((4 * 1048576)) 1.00 1.10 x+ x- y+ y-
}

@test "two PEs a host, some neighbours absent, messages of any length" {
	"$cluster" up --name "$name" --torus 2x3 --rate 200mbit --pes-per-host 2 --share "$TOP_BUILDDIR" --share "$PWD"
	for setting in SHMEM_CHECK=1 SHMEM_PROGRESS_THREAD=no SHMEM_STATS=yes; do
		faces 2x3 12 mixed 70k,600k SHMEM_EXCHANGE_DETOURS=yes "$setting"
	done
}

@test "two cables between two hosts carry half of a face each, and a face each" {
	"$cluster" up --name "$name" --torus 2dx2 --rate 50mbit --share "$TOP_BUILDDIR" --share "$PWD"
	sent_by_ports >before
	faces 2dx2 4 pair 2m
	carried $((4 * 2097152)) 1.00 1.10 x+ x-
	"$cluster" down --name "$name"
	"$cluster" up --name "$name" --torus 2d --rate 50mbit --share "$TOP_BUILDDIR" --share "$PWD"
	sent_by_ports >before
	faces 2d 2 one 2m
	carried $((4 * 2097152)) 0.48 0.56 x+ x-
	faces 2d 2 mixed 70k,600k SHMEM_EXCHANGE_DETOURS=yes SHMEM_CHECK=1
}
