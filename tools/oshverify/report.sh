# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154
#
# oshverify: what is known about the machine and the run, as lines "key<tab>value", and the
# report that is made of it.

say()
{
	printf '%s\n' "$1"
}

# A report that cannot be written should be known before the tests run.
begin_report()
{
	command -v python3 >/dev/null || fail "python3 is not there, which writes the report; install it (Debian: python3)"
	number=0
	for file in results figures perftest facts; do
		: >"$work/$file"
	done
	for end in html json; do
		(: >>"$output.$end") 2>/dev/null || fail "--output $output: $output.$end cannot be written; give another name"
	done
}

say_hello()
{
	say "oshverify, torushmem $version: $taker run, at most $((time_limit / 60)) min"
	if [ "$host_count" -gt 1 ]; then
		say "$host_count hosts, jobs by $host_launcher"
	else
		say "One machine; between hosts: run it in an allocation of several, or give --hostfile"
	fi
}

# note KEY VALUE
note()
{
	printf '%s\t%s\n' "$1" "$(printf '%s' "$2" | tr '\t\n' '  ')" >>"$work/facts"
}

# describe_path PATH: what the table says below it.
describe_path()
{
	{ path_rows && own_path_rows; } | awk -v path="$1" '/^[a-z]/ { name = $1; next } name == path { print substr($0, 2) }'
}

# What the library says that a job found on this path: PEs by path, heap, torus.
note_found()
{
	[ "$(seconds_left)" -gt 0 ] || return 0
	pes=2
	[ -z "$path_launcher" ] || pes=$(pes_of_hosts | cut -d , -f 1)
	line=$(job_line "$pes" 60 "SHMEM_INFO=1 $(settings_of_path "$pes" | tr '\n' ' ')" "$hello")
	run_line 60 "$line" "$work/out"
	sed '/^Settings:/,$d; s/^ *//' "$work/out" | grep -v '^torushmem ' | head -n 12 | while read -r found; do
		note "found:$path" "$found"
	done
}

# The settings that the caller has: they hold for all jobs.
note_settings()
{
	env | grep -E '^(SHMEM_|SMA_|UCX_|FI_|SOFTOFU_|LD_PRELOAD=|LD_LIBRARY_PATH=|OMPI_MCA_|PRTE_MCA_)' | sort | while read -r setting; do
		note setting "$setting"
	done
}

# How many kinds of hosts there are. UCX names its devices in any order, so
# words are compared, not lines.
note_hosts()
{
	[ "$host_count" -gt 1 ] || return 0
	find_path hosts
	pes=$(pes_of_hosts | cut -d , -f 1)
	# shellcheck disable=SC2016 # for the shells of the job
	line=$(job_line "$pes" 60 '' sh -c '"$0" --parsable | grep -E "^(machine.(system|cores|memory)|ucx|ofi|tofu.library)" | tr ", " "\n\n" | sort | cksum | sed "s/^/same /"' "$oshinfo")
	run_line 60 "$line" "$work/out"
	kinds=$(grep '^same ' "$work/out" | sort -u | wc -l)
	note hosts "$host_count"
	note launcher "$host_launcher"
	note host_kinds "$kinds"
	[ "$with_host_names" = no ] || note host_names "$(echo "$host_names" | paste -sd ' ' -)"
}

find_facts()
{
	say "The machine"
	note version "$version"
	note made "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
	note profile "$taker"
	note time_limit "$time_limit"
	note user "$([ "$(id -u)" -eq 0 ] && echo root || echo 'not root')"
	note_settings
	printf '%s\n' "$facts" | grep -E '^(version|specification|build|machine|limits|paths|tofu|cables|ucx|ofi|torus|launchers)[.:]' |
		grep -v '^machine.host:' | sed 's/:/	/; s/^/info:/' >>"$work/facts"
	for path in $(names_of_paths); do
		find_path "$path"
		why=$(why_not_path)
		if in_list "$path" "$paths"; then
			note "path:$path" "$(describe_path "$path")"
			note "path_settings:$path" "$(settings_of_path 2 | tr '\n' ' ')"
			note_found
		elif [ -n "$why" ] && [ "$path_needs" != hosts ]; then
			note "left_out:$path" "$why"
		fi
	done
	note_hosts
	if perftest_there; then
		note ucx_perftest "$(fact build.ucx | sed 's/.*running //')"
	fi
}

# --- The report ---

# private_words: lines "what<tab>by what".
# shellcheck disable=SC2016 # the shell that a command is pasted into puts the user's own in
private_words()
{
	if [ "$with_host_names" = no ]; then
		echo "$host_names" | awk 'NF { print $1 "\thost" (NR - 1); if (sub(/\..*/, "", $1)) print $1 "\thost" (NR - 1) }'
		printf '%s\thost0\n%s\thost0\n' "$(uname -n)" "$(uname -n | sed 's/\..*//')"
	fi
	user=$(id -un 2>/dev/null)
	[ "$user" = root ] || printf '%s\t$USER\n' "$user"
	case ${HOME:-/} in
	/ | /root | /nonexistent) ;;
	*) printf '%s\t$HOME\n' "$HOME" ;;
	esac
}

count_of()
{
	awk -F '\t' -v result="$1" '$3 == result' "$work/results" | wc -l
}

write_report()
{
	private_words >"$work/private" && python3 "$data/report.py" "$work" "$output" "$with_host_names"
}

end_report()
{
	trap '' INT TERM HUP
	failed=$(($(count_of failed) + $(count_of timeout))) missing=$(count_of not-run) passed=$(count_of passed)
	if [ "$failed" -gt 0 ]; then
		verdict=failed code=1
	elif [ "$missing" -gt 0 ] || [ -n "${stopped:-}" ]; then
		verdict=incomplete code=3
	else
		verdict=passed code=0
	fi
	note verdict "$verdict"
	note seconds "$(($(now_seconds) - started))"
	[ -z "${stopped:-}" ] || note stopped 'by a signal'
	write_report || fail "the report cannot be written to $output.html and $output.json"
	say ''
	say "$passed passed, $failed failed$([ "$missing" -eq 0 ] || echo ", $missing not run")"
	awk -F '\t' '$3 == "failed" || $3 == "timeout" { print "  " ($3 == "timeout" ? "hangs: " : "failed: ") $4 " on " $5 ", " $6 " PEs" }' "$work/results" | sort -u
	say "Report: $output.html, and $output.json for programs"
	exit "${stopped:-$code}"
}
