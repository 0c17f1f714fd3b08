# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154
#
# oshverify: starts jobs. The command that is shown to repeat a job is the one that was run.

# quoted WORD: as a shell reads it.
quoted()
{
	case $1 in
	'' | *[!A-Za-z0-9_./:=,@%+-]*) printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" ;;
	*) printf '%s' "$1" ;;
	esac
}

# Names of variables that other launchers would not carry to other hosts by themselves.
names_to_export()
{
	for setting in "$@"; do
		echo "${setting%%=*}"
	done | grep -v -e '^SHMEM_' -e '^UCX_'
	env | sed -n 's/^\(FI_[A-Z0-9_]*\|LD_LIBRARY_PATH\|LD_PRELOAD\)=.*/\1/p'
}

# job_line PES SECONDS SETTINGS PROGRAM...: the command for a job on the path that was found.
job_line()
{
	job_pes=$1 job_limit=$2 job_settings=$3
	shift 3
	line='env'
	for setting in $job_settings; do
		line="$line $(quoted "$setting")"
	done
	[ "$is_moved" = no ] || line="$line $(quoted "LD_LIBRARY_PATH=$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")"
	line="$line $(quoted "$oshrun") -q -n $job_pes --timeout $job_limit"
	if [ -n "$path_launcher" ]; then
		# shellcheck disable=SC2086 # settings are words
		for name in $({ names_to_export $job_settings; [ "$is_moved" = no ] || echo LD_LIBRARY_PATH; } | sort -u); do
			line="$line -x $name"
		done
		line="$line${launcher:+ --launcher $(quoted "$launcher")} --host $(hosts_for "$job_pes")"
	else
		line="$line --launcher none"
	fi
	for word in "$@"; do
		line="$line $(quoted "$word")"
	done
	echo "$line"
}

# --- Time ---

now_seconds()
{
	read -r uptime _ </proc/uptime
	echo "${uptime%.*}"
}

# An allocation may end before our own limit; the report has to be written before that.
begin_clock()
{
	started=$(now_seconds)
	deadline=$((started + time_limit)) limit_from="--time-limit"
	if [ -n "${SLURM_JOB_END_TIME:-}" ]; then
		left=$((SLURM_JOB_END_TIME - $(date +%s) - 60))
		if [ "$left" -lt "$time_limit" ]; then
			deadline=$((started + left)) limit_from="the end of the allocation"
		fi
	fi
}

seconds_left()
{
	echo $((deadline - $(now_seconds)))
}

# --- One job ---

# run_line SECONDS LINE OUT: runs it, and leaves $status and $elapsed, in hundredths of a second,
# and in $cut_short whether the end of all came before its limit. The launcher ends the job at its
# limit; where it does not, timeout ends the launcher.
run_line()
{
	most=$(($1 + 15)) left=$(seconds_left) cut_short=no
	[ "$1" -le "$left" ] || cut_short=yes
	[ "$most" -le "$left" ] || most=$left
	[ "$most" -gt 0 ] || most=1
	began=$(now)
	(
		TMPDIR=$work/tmp
		export TMPDIR
		eval "exec timeout -k 10 $most $2"
	) </dev/null >"$3" 2>&1 &
	running=$!
	wait "$running"
	status=$?
	running=''
	elapsed=$(($(now) - began))
}

in_hundredths()
{
	printf '%d.%02d' $(($1 / 100)) $(($1 % 100))
}

# judge CODE LIMIT: the result of the job that ended, by what it was to end with.
judge()
{
	if [ "$status" -eq "$1" ]; then
		result=passed
	elif [ "$cut_short" = yes ] && [ "$(seconds_left)" -le 0 ]; then
		result=not-run # and nothing is known about it
	elif [ "$status" -eq 124 ] || [ "$status" -eq 137 ] || [ "$elapsed" -ge $(($2 * 100)) ]; then
		result=timeout
	else
		result=failed
	fi
}

# A run that is stopped still reports what it found until then.
stop_at_signal()
{
	trap '' INT TERM HUP
	[ -z "${running:-}" ] || kill "$running" 2>/dev/null
	wait
	stopped=$1
	echo
	end_report
}
