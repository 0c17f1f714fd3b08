# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# The part of bench/compare that compiles and runs. What is not set here comes from there.
# shellcheck disable=SC2154

# --- Who takes part: a folder each, with its programs and a script that starts them ---

# For a line of a script.
quoted()
{
	printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"
}

# prepare NAME COMPILER LAUNCHER PIN FREE: the last four are words for a shell.
prepare()
{
	mkdir -p "$work/$1" || exit 2
	for kind in "pinned $4" "free $5"; do
		printf '#!/bin/sh\nexec %s %s "$@"\n' "$3" "${kind#* }" >"$work/$1/${kind%% *}"
		chmod +x "$work/$1/${kind%% *}"
	done
	printf '#!/bin/sh\nexec %s "$@"\n' "$2" >"$work/$1/compile"
	chmod +x "$work/$1/compile"
	set -- "$1"
	for source in "$here"/*.c; do
		case ${source##*/} in
		breakdown.c | floor* | neighbours_* | simulate* | processes.c | stopwatch.c | hello.c) ;;
		*) set -- "$@" "$source" ;;
		esac
	done
	name=$1
	shift
	{
		"$work/$name/compile" -std=gnu11 -O3 -march=native -o "$work/$name/bench" "$@" -lm &&
			"$work/$name/compile" -O2 -o "$work/$name/hello" "$here/hello.c"
	} >"$out/compile-$name.log" 2>&1 || fail "$name does not compile the benchmarks; see $out/compile-$name.log"
}

note()
{
	grep -Fqx -- "$1" "$out/notes" 2>/dev/null || printf '%s\n' "$1" >>"$out/notes"
}

# --- Running ---

# run_one ROUND GROUP WHO PES COMMANDS: what comes out goes to records.csv, with who, when and what before it.
run_one()
{
	set -- "$1" "$2" "$3" "$4" "$(echo "$5" | tr ',' ' ')"
	[ ! -e "$work/stopped.$2.$3" ] || return 0
	show "$1" "$2" "$3"
	shm_files >"$work/shm.before"
	set -- "$@" "$work/$3/pinned"
	[ "$4" -le "$processors" ] || set -- "$1" "$2" "$3" "$4" "$5" "$work/$3/free"
	if [ "$5" = hello ]; then
		start_jobs "$@"
		return
	fi
	# shellcheck disable=SC2046,SC2086 # lists of words
	if [ "$3" = floor ]; then
		env $(settings_of "$2") "$stopwatch" -q -l "$limit" "$floor" --csv $fast --sizes "$(sizes_of "$2")" $5
	else
		env $(settings_of "$2") "$stopwatch" -q -l "$limit" "$6" -n "$4" "$work/$3/bench" --csv $fast \
			--sizes "$(sizes_of "$2")" $5
	fi </dev/null >"$work/records" 2>"$work/log"
	status=$?
	if [ "$status" -ne 0 ]; then
		{ echo "round $1, $2, $3: exit code $status" && tail -n 20 "$work/log"; } >>"$out/failures.log"
	fi
	case $status in
	0) ;;
	124)
		note "$3 did not end within $limit s in $2 and was left out of it from then on."
		: >"$work/stopped.$2.$3"
		sweep
		;;
	*) note "$3 ended with exit code $status in $2; what it had measured counts." ;;
	esac
	sed -n "/^[a-z0-9-]*,[^,]*,[0-9]*,[0-9]*,[0-9.e+-]*,[A-Za-z]*,.*,.*,.*,[0-9]*,/s/^/$1,$2,$3,/p" "$work/records" \
		>>"$out/records.csv"
}

# --- What a job that was ended may leave in /dev/shm: files of these libraries that no process has open any more ---

shm_files()
{
	find /dev/shm -mindepth 1 -maxdepth 1 -type f -user "$(id -u)" \
		'(' -name 'vader_segment.*' -o -name 'sm_segment.*' -o -name 'ucx_shm_posix_*' -o -name 'mpich_shm*' ')' 2>/dev/null | sort
}

sweep()
{
	shm_files | comm -13 "$work/shm.before" - >"$work/shm.new"
	[ -s "$work/shm.new" ] || return 0
	{
		cat /proc/[0-9]*/maps
		ls -l /proc/[0-9]*/fd
	} 2>/dev/null | grep -o '/dev/shm/[^ ]*' | sort -u >"$work/shm.used"
	grep -Fvx -f "$work/shm.used" "$work/shm.new" | while read -r file; do
		rm -f "$file"
	done
}

settings_of()
{
	case $1 in
	ucx-tcp) echo SHMEM_PATHS=ucx UCX_TLS=tcp,self UCX_NET_DEVICES=lo ;;
	ucx-posix) echo SHMEM_PATHS=ucx UCX_TLS=posix,self ;;
	esac
	echo "SHMEM_SYMMETRIC_SIZE=$(heap_of "$1")"
}

# The time of whole jobs that do nothing.
start_jobs()
{
	for count in $(start_counts); do
		launcher=$work/$3/pinned
		[ "$count" -le "$processors" ] || launcher=$work/$3/free
		[ ! -e "$work/stopped.start-$count.$3" ] || continue
		show "$1" "$2, $count PEs" "$3"
		"$stopwatch" -n 3 -l "$limit" "$launcher" -n "$count" "$work/$3/hello" </dev/null 2>"$work/log" >"$work/times"
		if grep -q ' 124$' "$work/times"; then
			note "$3: hello on $count PEs did not end within $limit s and was left out from then on."
			: >"$work/stopped.start-$count.$3"
			sweep
			continue
		fi
		if grep -qv ' 0$' "$work/times"; then
			note "$3: hello on $count PEs ended with exit code $(sed -n 's/.* \([1-9].*\)/\1/p' "$work/times" | tail -n 1)."
		fi
		sort -n "$work/times" | awk -v before="$1,$2,$3,start,hello,0,$count" '
			{ t[NR] = $1 * 1e6 }
			END { if (NR == 3) printf "%s,%.0f,ns,%.0f,%.0f,%.0f,3,any,0,,\n", before, t[2], t[1], t[3], t[1] }
		' >>"$out/records.csv"
	done
}

# Are the processors near each other or far?
state_now()
{
	"$floor" --csv --quick line 2>/dev/null | awk -F , 'NR == 2 { print $11 }'
}

# ucx_perftest between two processes, where it is installed: a cross-check of floor's ucx.
run_perftest()
{
	command -v ucx_perftest >/dev/null || {
		note "ucx_perftest is not installed (Debian: ucx-utils); bare UCP calls of floor stand alone."
		return 0
	}
	show "$1" "$2" ucx_perftest
	for test in ucp_put_lat/put-lat ucp_get/get ucp_fadd/fetch-add ucp_cswap/compare-swap; do
		[ ! -e "$work/stopped.$2.${test%/*}" ] || continue
		state=$(state_now)
		time=$(perftest "$2" "${test%/*}" $((20000 + ($$ + ${#test} + $1 * 7) % 9000)))
		[ "$state" = "$(state_now)" ] || state=mixed
		if [ -z "$time" ]; then
			note "ucx_perftest -t ${test%/*} did not end within 6 s in $2 and was left out from then on."
			: >"$work/stopped.$2.${test%/*}"
			continue
		fi
		echo "$1,$2,floor,perftest,${test#*/},8,2,$time,ns,$time,$time,$time,1,$state,0,," >>"$out/records.csv"
	done
}

# perftest GROUP TEST PORT: prints the median in ns, if it ends in time.
perftest()
{
	# shellcheck disable=SC2046,SC2016 # a list of settings; a script for another shell
	env $(settings_of "$1") "$stopwatch" -q -l 6 sh -c '
		# Built with MPI, it expects mpirun unless an option says otherwise.
		ucx_perftest -h 2>&1 | grep -q -e "^ *-P " && no_mpi="-P 0" || no_mpi=
		ucx_perftest $no_mpi -c 1 -p "$2" >/dev/null 2>&1 &
		sleep 0.3
		ucx_perftest 127.0.0.1 $no_mpi -c 0 -p "$2" -t "$1" -s 8 -n 20000 -w 1000 -O 1 -f -v 2>/dev/null
		wait' sh "$2" "$3" </dev/null 2>/dev/null | awk -F , '$1 == 20000 { printf "%.1f", $2 * 1e3 }'
}

show()
{
	[ -t 2 ] || return 0
	done_so_far=$((done_so_far + 1))
	printf '\r[%s] round %s of %s: %s, %s\033[K' "$(bar "$done_so_far" "$steps")" "$1" "$rounds" "$2" "$3" >&2
}

bar()
{
	awk -v n="$1" -v of="$2" 'BEGIN { for (i = 1; i <= 20; i++) printf i * of <= n * 20 ? "#" : " " }'
}

# round NUMBER [GROUPS]: one after the other, so that all see the same moods of the machine.
run_round()
{
	[ -t 2 ] || printf 'round %s of %s\n' "$1" "$rounds" >&2
	round=$1
	chosen=" ${2:-} "
	plan >"$work/plan"
	while read -r group pes commands floors <&3; do
		is_wanted "$group" || continue
		case $chosen in
		"  " | *" $group "*) ;;
		*) continue ;;
		esac
		run_one "$round" "$group" ours "$pes" "$commands"
		case $group in
		ucx-*) run_perftest "$round" "$group" ;;
		*) run_others "$round" "$group" "$pes" "$commands" ;;
		esac
		[ "$floors" = - ] || run_one "$round" "$group" floor 2 "$floors"
	done 3<"$work/plan"
}

run_others()
{
	i=0
	while [ "$i" -lt "$others" ]; do
		i=$((i + 1))
		eval "run_one \"\$1\" \"\$2\" \"\$NAME_$i\" \"\$3\" \"\$4\""
	done
}
