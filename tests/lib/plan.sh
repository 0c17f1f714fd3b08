# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# Which tests run, on which paths and numbers of PEs, with which settings and limits: for
# tests/run and oshverify, which set
#   taker paths paths_given only pes_wanted counts_taken most_pes patience with_long tool
# and define fail, build_has NEED and pes_of_hosts, which prints the numbers of PEs of the
# path of hosts that was found.

# --- The paths ---

# A path is a row here; nothing else depends on its name. The columns:
#   name    as --paths takes it. A pattern stands for hosts: what follows its first word is their
#           number or how they are cabled
#   PEs     the tag that says a test's own number of PEs, and the number of a test that does not say
#           one; "all": those of the hosts
#   sort    the path's name in a test's tag paths=, one for paths that are alike
#   time    the factor of a test's time limit
#   ease    the factor of TEST_EASE: tests do less where every message crosses a network and two
#           programs' threads
#   taken   who takes the path if --paths is not given: tests/run without a tool ("plain") or with
#           these, oshverify (its three levels), or "-": nobody
# then in any order, all optional:
#   needs=  what the build needs for it, see build_has; "hosts": a machine on which a test cluster
#           can be made
#   tests=  "tagged": only tests with its tag run on it; "transfers": only transfer_tests, unless
#           --paths names it
#   without= tests that do not run on it: their shape of a torus would replace that of the path, or
#           they take too long there
#   least=  the fewest PEs that differ from another path
#   bears=  so many PEs run with every tool, even with one that else allows fewer
#   as=     its name in TEST_PATH
#   launcher= cluster=  what starts a program on hosts, and cluster's options in front of their
#                       shape
#   NAME=value  a setting; the values that begin with @ depend on the path or the number of PEs, see
#               settings_of_path
# and below them what --help says. Paths that are taken run in the order of the rows.
path_rows()
{
	cat <<'END'
local          local=1,2,4  local        1  1   plain,tsan,qemu,quick,standard,full
	load and store on one node
ucx-tcp        ucx-tcp=2,3  ucx-tcp      1  3   plain,tsan,qemu,valgrind,quick,standard,full  SHMEM_PATHS=ucx UCX_TLS=tcp,self
	UCX over TCP
ucx-rma        pes=2        ucx-tcp      1  3   plain,full  tests=transfers SHMEM_PATHS=ucx UCX_TLS=tcp,self SHMEM_UCX_PROTOCOL=rma
	ucx-tcp with puts and gets by UCX's own
ucx-v1         pes=2        ucx-tcp      1  3   plain,full  needs=ucx-takes-y tests=transfers SHMEM_PATHS=ucx UCX_TLS=tcp,self UCX_PROTO_ENABLE=n
	ucx-tcp with UCX_PROTO_ENABLE=n, the older of UCX's two methods to choose protocols
ucx-v2         pes=2        ucx-tcp      1  3   plain,full  needs=ucx-takes-n tests=transfers SHMEM_PATHS=ucx UCX_TLS=tcp,self UCX_PROTO_ENABLE=y
	ucx-tcp with UCX_PROTO_ENABLE=y, the newer
ucx-shm        ucx-shm=2    ucx-shm      1  1   plain,standard,full  SHMEM_PATHS=ucx UCX_TLS=posix,self
	UCX over shared memory
mixed          mixed=4      mixed        1  3   plain,asan,ubsan,standard,full  least=3 bears=4 SHMEM_NODE_PES=2
	UCX between nodes of two PEs
mixed3         mixed3=      mixed3       1  3   plain,standard,full  tests=tagged SHMEM_NODE_PES=3
	UCX between nodes of three PEs
split          split=       split        1  3   plain,standard,full  tests=tagged SHMEM_SHARE_GLOBALS=no
	the heap is shared, global data is not
cables         pes=3        ucx-tcp      1  3   full  tests=transfers SHMEM_PATHS=cables
	the network of cables without forwarding, all PEs on one host
cables-ring    cables-ring=4 ucx-tcp     1  3   plain,full  bears=4 without=fortran_types SHMEM_PATHS=cables SHMEM_NODE_PES=1 SHMEM_TORUS=@ring
	the same as if each PE were a host of a ring: others relay
cables-relay   pes=4        ucx-tcp      1  3   asan,tsan  tests=transfers bears=4 SHMEM_PATHS=cables SHMEM_NODE_PES=1 SHMEM_TORUS=@ring
	cables-ring for the tests that move data, with tools
ofi            ofi=2        ucx-tcp      2  3   plain,standard,full  needs=ofi SHMEM_PATHS=ofi FI_PROVIDER=tcp;ofi_rxm
	libfabric over TCP
tofu-few       tofu-few=    tofu-few     1  3   plain,asan,ubsan,tsan,qemu,standard,full  needs=tofu tests=tagged SHMEM_PATHS=tofu SOFTOFU_SHAPE=@nodes
	software Tofu, for the tests that ask for it
check          local=1,2,4  local        2  1   full  as=local SHMEM_CHECK=1
	local with SHMEM_CHECK=1
check-tcp      ucx-tcp=2,3  ucx-tcp      2  3   full  as=ucx-tcp SHMEM_CHECK=1 SHMEM_PATHS=ucx UCX_TLS=tcp,self
	ucx-tcp with SHMEM_CHECK=1
ofi-mixed      mixed=4      mixed        2  3   full  needs=ofi least=3 bears=4 SHMEM_PATHS=local,ofi SHMEM_NODE_PES=2 FI_PROVIDER=tcp;ofi_rxm
	libfabric between nodes of two PEs
tofu           pes=2,3      tofu         1  3   full  needs=tofu SHMEM_PATHS=tofu SOFTOFU_SHAPE=@nodes
	software Tofu, for all tests, as on the paths below
tofu-mixed     pes=4        tofu-mixed   1  3   full  needs=tofu SOFTOFU_RANKS_PER_NODE=2 SOFTOFU_SHAPE=@pairs
	two PEs to a node
tofu-mixed4    pes=8        tofu-mixed4  1  10  full  needs=tofu SOFTOFU_RANKS_PER_NODE=4 SOFTOFU_SHAPE=3x1x1x2x3x1 SOFTOFU_HOLES=1,0,0,0,0,0
	four PEs to a node, and a node is missing
tofu-errors    pes=2,3      tofu-errors  1  10  full  needs=tofu SHMEM_PATHS=tofu SOFTOFU_SHAPE=3x3x1x2x1x1 SOFTOFU_NET=packets:errors=1e-4
	links with errors
tofu-odd       pes=5        tofu-odd     1  3   full  needs=tofu SHMEM_PATHS=tofu SOFTOFU_SHAPE=3x1x5mx1x3x1
	odd axes, one of them no ring
tofu-holes     pes=6        tofu-holes   1  30  full  needs=tofu SOFTOFU_RANKS_PER_NODE=2 SOFTOFU_SHAPE=3mx3x1x1x1x2 SOFTOFU_HOLES=1,0,0,0,0,0 SOFTOFU_NET=packets:errors=1e-4
	two PEs to a node, a node is missing, links with errors
hosts[1-9]*    all          hosts        2  10  -  needs=hosts launcher=mpirun cluster=--switch
	hosts4: four hosts at a switch, by tests/cluster/cluster and mpirun; hosts4x2: with two PEs each; takes root
prterun[1-9]*  all          hosts        2  10  -  needs=hosts launcher=prterun cluster=--switch
	the same by prterun
slurm[1-9]*    all          hosts        2  10  -  needs=hosts launcher=srun cluster=--slurm,--switch
	the same by srun
torus[1-9]*    all          hosts        2  10  -  needs=hosts launcher=mpirun cluster=--torus SHMEM_TORUS=@cables
	torus3x3: hosts that are cabled so, by mpirun; torus3x3:2: with two PEs each
own[1-9]*      all          hosts        2  10  -  needs=hosts launcher=mpirun cluster=--cables,own,--torus without=grid,torus_damaged,torus_teams SHMEM_PATHS=local,cables SHMEM_CABLES_ONLY=yes SHMEM_TORUS_FILE=@cluster
	own4, own3x3:2: the same, but each cable is a network of its own, and hosts forward nothing
END
}

# What differs between ucx-tcp and its variants; the other tests run on these if they are asked for.
transfer_tests=amo,amo_domains,contexts,exchange,nbi,order,plans,rdma,rma,rma_sizes,signals,threads

# Rows of whoever has more paths than these.
own_path_rows()
{
	:
}

# use_paths: reads the table.
use_paths()
{
	rows=$({ path_rows && own_path_rows; } | grep '^[a-z]')
	path_tags=$(echo "$rows" | awk '$2 ~ /=/ { sub(/=.*/, "", $2); print $2 }' | paste -sd , -)
}

# find_path PATH: its row, in variables.
find_path()
{
	row=''
	set -f # names are patterns, not for files
	IFS='
'
	for line in $rows; do
		# shellcheck disable=SC2254 # it is a pattern
		case $1 in
		${line%% *}) row=$line ;;
		esac
	done
	unset IFS
	# shellcheck disable=SC2086 # a row's words
	[ -z "$row" ] || read_row "$1" $row
	set +f
	[ -n "$row" ]
}

# read_row PATH WORDS...
read_row()
{
	path_shape=${1#"${2%%\[*}"} path_per_host=1 # of hosts
	path_pes=$3 path_sort=$4 path_time=$5 path_ease=$6 path_taken=$7
	path_needs='' path_tests='' path_without='' path_least=1 path_bears=0 path_as=$1 path_launcher='' path_cluster='' path_cables='' path_settings=''
	shift 7
	for word in "$@"; do
		case $word in
		needs=*) path_needs=${word#*=} ;;
		tests=*) path_tests=${word#*=} ;;
		without=*) path_without=${word#*=} ;;
		least=*) path_least=${word#*=} ;;
		bears=*) path_bears=${word#*=} ;;
		as=*) path_as=${word#*=} ;;
		launcher=*) path_launcher=${word#*=} ;;
		cluster=*--cables,own*) path_cluster=$(echo "${word#*=}" | tr ',' ' ') path_cables=own ;;
		cluster=*) path_cluster=$(echo "${word#*=}" | tr ',' ' ') ;;
		*) path_settings="$path_settings $word" ;;
		esac
	done
	# torus3x3:2: hosts that are cabled as 3x3, with 2 PEs each.
	# hosts4x2: 4 hosts with 2 PEs each.
	case $path_cluster,$path_shape in
	*--torus,*:*) path_per_host=${path_shape#*:} path_shape=${path_shape%:*} ;;
	*--switch,*x*) path_per_host=${path_shape#*x} path_shape=${path_shape%x*} ;;
	esac
}

# A box of Tofu nodes with room for so many.
shape_for()
{
	if [ "$1" -le 4 ]; then
		echo 2x2x1x1x1x1
	else
		echo "$((($1 + 11) / 12))x1x1x2x3x2"
	fi
}

# settings_of_path PES: those of the path that was found, for so many PEs.
settings_of_path()
{
	for setting in $path_settings; do
		case $setting in
		*=@nodes) setting=${setting%@*}$(shape_for "$1") ;;
		*=@pairs) setting=${setting%@*}$(shape_for $((($1 + 1) / 2))) ;;
		*=@ring) setting=${setting%@*}$1 ;;
		*=@cables) setting=${setting%@*}$path_shape ;;
		*=@cluster) setting=${setting%@*}/run/cluster/shape ;; # which tests/cluster/cluster writes
		esac
		echo "$setting"
	done
}

# Does the tree have all that the path needs that was found?
path_can_run()
{
	for need in $(echo "$path_needs" | tr ',' ' '); do
		build_has "$need" || return
	done
}

# The paths that are taken where none is named, by who calls himself $taker.
paths_taken()
{
	for path in $(names_of_paths); do
		find_path "$path"
		in_list "$taker" "$path_taken" || continue
		path_can_run || continue
		echo "$path"
	done | paste -sd , -
}

# All but those of hosts.
names_of_paths()
{
	echo "$rows" | sed 's/ .*//' | grep -v '\*'
}

list_paths()
{
	path_rows | awk '/^[a-z]/ { name = $1; sub(/\[.*/, "N", name); next } { printf "      %-12s%s\n", name, substr($0, 2) }'
}

in_list()
{
	case ,$2, in
	*,"$1",*) return 0 ;;
	esac
	return 1
}

# --- The plan: lines of "name path pes seconds exit-code settings..." ---

is_wanted()
{
	set -f # the patterns are for names of tests, not for files
	for pattern in $(echo "${only:-*}" | tr ',' ' '); do
		# shellcheck disable=SC2254 # it is a pattern
		case $1 in
		$pattern | *"$pattern"*) set +f && return 0 ;;
		esac
	done
	set +f
	return 1
}

# The numbers of PEs for the path that was found: all up to $most_pes, or with
# counts_taken=largest the largest of these.
choose_pes()
{
	chosen=
	for count in $(echo "$1" | tr ',' ' '); do
		[ "$count" -ge "$path_least" ] || continue
		[ "$count" -le "$most_pes" ] || [ "$count" -le "$path_bears" ] || continue
		if [ "$counts_taken" = largest ]; then
			chosen=$count
		else
			chosen="$chosen $count"
		fi
	done
	echo "$chosen"
}

# run_tags SOURCE: what the comment "run: ..." of a test says.
run_tags()
{
	sed -n -e '1,5s|^/\* run: \(.*\) \*/$|\1|p' -e '1,5s|^! run: \(.*\)$|\1|p' "$1"
}

# plan_test NAME TAGS: a line for each run of the test.
plan_test()
{
	name=$1
	is_wanted "$name" || return 0
	tag_pes='' tag_paths='' tag_env='' counts_on_paths='' seconds=60 code=0 long=no not=''
	for tag in $2; do
		case $tag in
		pes=*) tag_pes=${tag#*=} ;;
		paths=*) tag_paths=${tag#*=} ;;
		env=*) tag_env="$tag_env ${tag#*=}" ;;
		time=*) seconds=${tag#*=} ;;
		exit=*) code=${tag#*=} ;;
		not=*) not=${tag#*=} ;;
		long) long=yes ;;
		*=*)
			in_list "${tag%%=*}" "$path_tags" || fail "test $1: unknown tag '$tag'"
			counts_on_paths="$counts_on_paths $tag"
			;;
		*) fail "test $1: unknown tag '$tag'" ;;
		esac
	done
	[ "$long" = no ] || [ "$with_long" = yes ] || return 0
	if [ -n "$tool" ] && in_list "$tool" "$not"; then
		return 0
	fi
	for path in $(echo "$paths" | tr ',' ' '); do
		find_path "$path"
		[ -z "$tag_paths" ] || in_list "$path_sort" "$tag_paths" || continue
		! in_list "$name" "$path_without" || continue
		counts=
		for tag in $counts_on_paths; do
			[ "${tag%%=*}" != "${path_pes%%=*}" ] || counts=${tag#*=}
		done
		# These do not differ from others for most tests, or take long.
		case $path_tests in
		transfers) [ "$paths_given" = yes ] || in_list "$name" "$transfer_tests" || continue ;;
		tagged) [ -n "$counts" ] || continue ;;
		esac
		if [ "$path_pes" = all ]; then
			counts=$(pes_of_hosts)
		else
			counts=${counts:-${tag_pes:-${path_pes#*=}}}
		fi
		for pes in $(choose_pes "${pes_wanted:-$counts}"); do
			echo "$name $path $pes $((seconds * patience * path_time)) $code$tag_env"
		done
	done
}

# --- One run ---

# How often the test starts the library, at most.
starts_of()
{
	case $1 in
	heaps) echo 3 ;;
	reinit | detours | torus_*) echo 25 ;;
	*) echo 1 ;;
	esac
}

# Hundredths of a second since the machine came up.
now()
{
	read -r uptime _ </proc/uptime
	echo "${uptime%.*}${uptime#*.}"
}

# What a program said: all of it, or the beginning and the end.
excerpt()
{
	if [ "$(wc -l <"$1")" -le 40 ]; then
		cat "$1"
	else
		head -n 20 "$1"
		echo ...
		tail -n 15 "$1"
	fi
}
