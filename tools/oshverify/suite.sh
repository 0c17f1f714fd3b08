# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154
#
# oshverify: the tests of the API, and the stress part, which runs some of them again and again.

# How much less the tests do: quickly, and where every message crosses a network.
ease_of_path()
{
	case $taker in
	quick) echo $((4 * path_ease)) ;;
	*) echo "$path_ease" ;;
	esac
}

# record KIND RESULT NAME PATH PES LIMIT CODE RUNS LINE: a row for the report, with tabs between.
record()
{
	number=$((number + 1))
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$number" "$1" "$2" "$3" "$4" "$5" "$(in_hundredths "$elapsed")" "$6" \
		"$status" "$7" "$8" "$9" >>"$work/results"
}

# show RESULT COUNT TEXT LINE: the line of a run, and if it failed what it
# said and how to repeat it.
show()
{
	case $1 in
	passed) word='ok    ' ;;
	timeout) word='HANGS ' ;;
	*) word='FAILED' ;;
	esac
	printf '[%s] %s %s\n' "$2" "$word" "$3"
	[ "$1" != passed ] || return 0
	excerpt "$work/out" >"$work/said/$number"
	sed 's/^/      | /' "$work/said/$number"
	printf '      to repeat it: %s\n' "$4"
}

# run_test COUNT NAME PATH PES SECONDS CODE SETTINGS...: one test; false when
# there is no time left for it.
run_test()
{
	count=$1 name=$2 path=$3 pes=$4 seconds=$5 code=$6
	shift 6
	find_path "$path"
	line=$(job_line "$pes" "$seconds" "TEST_PATH=$path_as TEST_EASE=$(ease_of_path) $(settings_of_path "$pes" | tr '\n' ' ')$*" "$programs/$name")
	[ "$(seconds_left)" -gt 0 ] || return
	run_line "$seconds" "$line" "$work/out"
	judge "$code" "$seconds"
	[ "$result" != not-run ] || return
	record test "$result" "$name" "$path" "$pes" "$seconds" "$code" 1 "$line"
	[ "$pes" = 1 ] && word=PE || word=PEs
	show "$result" "$count" "$name on $path, $pes $word, $(in_hundredths "$elapsed") s" "$line"
}

# Those for which there was no time.
record_rest()
{
	elapsed=0 status=0
	while read -r name path pes seconds code settings; do
		record test not-run "$name" "$path" "$pes" "$seconds" "$code" 0 ''
	done
}

run_suite()
{
	make_plan >"$work/plan"
	planned=$(wc -l <"$work/plan")
	[ "$planned" -gt 0 ] || fail "no test matches --only $only on the paths $paths; --list shows them"
	say "Tests: $planned runs on the paths $(echo "$paths" | sed 's/,/, /g')"
	ran=0
	while read -r name path pes seconds code settings <&3; do
		# shellcheck disable=SC2086 # a list of settings
		run_test "$((ran + 1))/$planned" "$name" "$path" "$pes" "$seconds" "$code" $settings || break
		ran=$((ran + 1))
	done 3<"$work/plan"
	tail -n "+$((ran + 1))" "$work/plan" >"$work/rest"
	record_rest <"$work/rest"
	[ "$ran" -eq "$planned" ] || say "No time is left for $((planned - ran)) tests ($limit_from)"
}

# --- Stress: what goes wrong once in a while, with another seed each time ---

stress_tests=concurrent,threads,locks,contexts,collective_storm
stress_paths=local,ucx-tcp,ucx,ofi,mixed,tofu-few,hosts,hosts-ofi,hosts-cables,hosts-tofu

stress_seconds()
{
	case $taker in
	quick) echo 30 ;;
	standard) echo 300 ;;
	full) echo 3600 ;;
	esac
}

plan_stress()
{
	(
		only=${only:-$stress_tests} counts_taken=largest paths_given=no
		paths=$(echo "$paths" | tr ',' '\n' | grep -Fx "$(echo "$stress_paths" | tr ',' '\n')" | paste -sd , -)
		while read -r test_name tags; do
			in_list "$test_name" "$stress_tests" && plan_test "$test_name" "$tags"
		done <"$data/runs"
	)
}

# stress_round SEED: each test that has not failed once.
stress_round()
{
	: >"$work/stress.next"
	while read -r name path pes seconds code settings <&3; do
		[ "$(now_seconds)" -lt "$stress_end" ] || break
		find_path "$path"
		line=$(job_line "$pes" "$seconds" "TEST_PATH=$path_as TEST_EASE=$(ease_of_path) TEST_SEED=$1 $(settings_of_path "$pes" | tr '\n' ' ')$settings" "$programs/$name")
		run_line "$seconds" "$line" "$work/out"
		judge "$code" "$seconds"
		[ "$result" != not-run ] || break
		stress_runs=$((stress_runs + 1))
		if [ "$result" = passed ]; then
			printf '%s\t%s\t%s\t%s\n' "$name" "$path" "$pes" "$elapsed" >>"$work/stress.passed"
			echo "$name $path $pes $seconds $code $settings" >>"$work/stress.next"
		else
			record stress "$result" "$name" "$path" "$pes" "$seconds" "$code" "$1" "$line"
			show "$result" "round $1" "$name on $path, $pes PEs, $(in_hundredths "$elapsed") s" "$line"
		fi
	done 3<"$work/stress"
	mv "$work/stress.next" "$work/stress"
}

run_stress()
{
	plan_stress >"$work/stress"
	[ -s "$work/stress" ] || return 0
	stress_end=$(($(now_seconds) + $(stress_seconds)))
	# Some of the time belongs to the benchmarks.
	[ "$stress_end" -le $((deadline - $(figures_seconds))) ] || stress_end=$((deadline - $(figures_seconds)))
	[ "$stress_end" -gt "$(now_seconds)" ] || return 0
	say "Stress: $(wc -l <"$work/stress") tests, for $((stress_end - $(now_seconds))) s"
	seed=0 stress_runs=0
	: >"$work/stress.passed"
	while [ -s "$work/stress" ] && [ "$(now_seconds)" -lt "$stress_end" ]; do
		seed=$((seed + 1))
		stress_round "$seed"
		printf '[round %d] %d runs\n' "$seed" "$stress_runs"
	done
	status=0 line=''
	awk -F '\t' '{ row = $1 " " $2 " " $3; runs[row]++; time[row] += $4 } END { for (row in runs) print row, time[row], runs[row] }' \
		"$work/stress.passed" | sort >"$work/stress.sums"
	while read -r name path pes elapsed runs; do
		record stress passed "$name" "$path" "$pes" 0 0 "$runs" ''
	done <"$work/stress.sums"
}
