# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154
#
# oshverify: the benchmarks, and beside them what ucx_perftest measures over the same transports.

figure_paths=local,ucx,ucx-tcp,ofi,tofu,tofu-few,hosts,hosts-tcp,hosts-ofi,hosts-cables,hosts-tofu

figures_seconds()
{
	case $taker in
	quick) echo 90 ;;
	standard) echo 300 ;;
	full) echo 1200 ;;
	esac
}

# The limit of one run, a guard: on a machine that others use it may take four times as long.
figures_limit()
{
	echo $((4 * $(figures_seconds)))
}

# PEs and what they measure: one pair; then all.
figure_rows()
{
	case $taker in
	quick) echo "pair --quick --sizes 8,4k,256k put get pingpong atomic" ;;
	standard)
		echo "pair --quick --sizes 8,512,4k,64k,1m put get p g put-rate pingpong signal atomic"
		echo "all --quick --sizes 8,4k,64k sync broadcast reduce fcollect alltoall halo"
		;;
	full)
		echo "pair --sizes 8,64,512,4k,64k,1m,16m put get p g put-rate get-rate pingpong signal atomic strided"
		echo "all --sizes 8,512,4k,64k,1m sync broadcast reduce collect fcollect alltoall plans halo stencil gups isort histogram"
		;;
	esac
}

# How many PEs "all" is: those of the hosts, or one for each processor here, two at least.
all_pes()
{
	if [ -n "$path_launcher" ]; then
		pes_of_hosts | cut -d , -f 1
	else
		nproc | awk '{ print ($1 < 2 ? 2 : $1 > 16 ? 16 : $1) }'
	fi
}

# settings_of_figures PES: Tofu's box has a place for each PE; what paths set to make
# tests stricter stays away.
settings_of_figures()
{
	settings_of_path "$1" | tr '\n' ' '
}

# bench_path WHO OPTIONS...: of the path that was found.
bench_path()
{
	pes=2
	[ "$1" = pair ] || pes=$(all_pes)
	shift
	[ "$(seconds_left)" -gt 0 ] || return 0
	limit=$(figures_limit)
	line=$(job_line "$pes" "$limit" "$(settings_of_figures "$pes")" "$bench" --csv "$@")
	run_line "$limit" "$line" "$work/out"
	judge 0 "$limit"
	record bench "$result" bench "$path" "$pes" "$limit" 0 1 "$line"
	[ "$result" = not-run ] || show "$result" "$path" "benchmarks, $pes PEs, $(in_hundredths "$elapsed") s" "$line"
	awk -F , -v path="$path" 'NF == 14 && $1 != "measure" {
		printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", path, $1, $2, $3, $4, $5, $6, $7, $8, $11
	}' "$work/out" >>"$work/figures"
}

# --- ucx_perftest ---

perftest_there()
{
	[ -n "${perftest:-}" ] || perftest=$(command -v ucx_perftest) || return
}

# perftest_path: where the network is UCX's own, and on one machine, where UCX would
# choose its shared memory.
perftest_path()
{
	case $path in
	*tofu* | *ofi* | *cables*) return ;;
	esac
	[ "$(seconds_left)" -gt 0 ] || return 0
	server=127.0.0.1
	[ -z "$path_launcher" ] || server=$(echo "$host_names" | head -n 1)
	line=$(job_line 2 120 "$(settings_of_figures 2)" sh "$data/perftest-pair" "$perftest" "$server" $((20000 + ($$ + number) % 12000)))
	run_line 120 "$line" "$work/out"
	judge 0 120
	sed -n "s/^perftest \([a-z_]*\) \([0-9]*\) \([0-9.]*\)$/$path	\1	\2	\3/p" "$work/out" >>"$work/perftest"
	printf '[%s] %s\n' "$path" "ucx_perftest: $result, $(in_hundredths "$elapsed") s"
}

run_figures()
{
	say "Benchmarks"
	: >"$work/figures"
	: >"$work/perftest"
	for path in $(echo "$paths" | tr ',' ' '); do
		in_list "$path" "$figure_paths" || continue
		find_path "$path"
		while read -r who options <&3; do
			# shellcheck disable=SC2086 # a list of options
			bench_path "$who" $options
		done 3<<END
$(figure_rows)
END
		! perftest_there || perftest_path
	done
	perftest_there || say "ucx_perftest is not there to compare with (Debian: ucx-utils)"
}
