# SPDX-License-Identifier: BSD-3-Clause
# Tables from the records of bench/compare; used with stats.awk or medians.awk and words.awk before it.
#
#   mode=targets   what must hold: a row for each line of the file "targets", in Markdown
#   mode=lacking   the groups in which some row was not seen by all in one state often enough
#   mode=all       everything that was measured by more than one
#   mode=answers   how fast it is beside the others: the rows that a user asks for
#   mode=medians   CSV of the medians, which the tree keeps
#   mode=ratios    CSV of how two measures compare, round by round, which the tree keeps
#
# records, targets: files. wanted: rounds that are enough (lacking).

BEGIN {
	load(records, ratios)
	if (mode == "ratios")
		print "group,measure,variant,bytes,pes,who,their_measure,their_variant,their_pes,state,rounds,ratio,low,high"
	if (mode == "all" || mode == "ratios")
		all_measured()
	if (mode == "medians")
		medians()
	else if (mode == "answers")
		answers()
	else if (mode != "all")
		rows()
	exit
}

function rows(    line, f, o)
{
	if (mode == "targets") {
		print "| what | ours | other | ratio | wanted | floor | times the floor | wanted | state | |"
		print "|---|---|---|---|---|---|---|---|---|---|"
	}
	while ((getline line < targets) > 0) {
		if (line ~ /^#/ || split(line, f, ";") < 9)
			continue
		for (o in f)
			f[o] = trim(f[o])
		target(f)
	}
	if (mode == "lacking")
		for (o in Lacking)
			print o
	if (mode == "targets")
		printf "\n%d met, %d not met, %d not known.\n", Met, Missed, Unknown
}

# Worst is what decides about a row with several sizes.
function target(f,    o, others)
{
	for (o = 1; o <= Who_count; o++)
		if (Whos[o] != "ours" && Whos[o] != "floor") {
			others++
			if (f[7] != "-")
				target_against(f, Whos[o])
		}
	if (f[7] == "-" || !others)
		target_against(f, "")
}

function target_against(f, other,    i, g, m, range)
{
	Worst = Worst_floor = -1
	Seen = Apart = 0
	split(f[3], m, "/")
	if (split(f[4], range, "-") < 2)
		range[2] = range[1]
	for (i = 1; i <= Key_count; i++) {
		split(Keys[i], g, ",")
		if (g[1] == f[2] && g[2] == m[1] && g[3] == m[2] && g[5] == f[5] && g[4] + 0 >= range[1] + 0 &&
		    g[4] + 0 <= range[2] + 0)
			weigh(Keys[i], g, f, other)
	}
	if (mode == "targets" && Seen)
		print_target(f, other)
}

function with_range()
{
	return digits(Ratio) (Ratio_low < Ratio_high ? " (" digits(Ratio_low) "–" digits(Ratio_high) ")" : "")
}

# One size of a row.
function weigh(key, g, f, other,    theirs, state, n)
{
	if (!has(key, "ours"))
		return
	Seen++
	theirs = key
	if (f[6] != "=")
		theirs = g[1] "," g[2] "," f[6] "," g[4] "," g[5]
	if (other != "" && has(theirs, other)) {
		state = common_state(key, "ours", theirs, other)
		n = state == "" ? 0 : compare(key, "ours", theirs, other, state)
		Apart += n == 0
		if (n < wanted + 0)
			Lacking[g[1]] = 1
		if (n && Ratio > Worst) {
			Worst = Ratio
			Worst_text = with_range()
			Worst_size = g[4]
			Worst_state = state
			find_state(key, "ours", state)
			Worst_ours = amount(Median, Unit[key])
			find_state(theirs, other, state)
			Worst_theirs = amount(Median, Unit[key])
		}
	}
	if (f[8] != "-")
		weigh_floor(key, g, f)
}

function weigh_floor(key, g, f,    state, floor)
{
	state = best_floor(key, g, f[8])
	if (state == "") {
		Apart += Floor_seen
		return
	}
	floor = Floor
	compare(key, "ours", Floor_key, "floor", state)
	if (Ratio <= Worst_floor)
		return
	Worst_floor = Ratio
	find_state(key, "ours", state)
	Floor_text = amount(floor, "ns")
	Floor_ours = amount(Median, Unit[key])
	Floor_state = state
	Floor_size = g[4]
}

# The fastest of the variants, in the state in which we and it were seen most. Sets Floor and
# Floor_key, and Floor_seen where there is one in whatever state.
function best_floor(key, g, spec,    m, v, i, n, k, floor, state, best)
{
	split(spec, m, "/")
	n = 0
	if (m[2] == "*") {
		for (i = 1; i <= Key_count; i++) {
			split(Keys[i], k, ",")
			if (k[1] == g[1] && k[2] == m[1] && k[4] == g[4] && has(Keys[i], "floor"))
				v[++n] = k[3]
		}
	} else
		n = split(m[2], v, ",")
	best = ""
	Floor_seen = 0
	for (i = 1; i <= n; i++) {
		floor = g[1] "," m[1] "," v[i] "," g[4] ",2"
		if (!has(floor, "floor")) # one that moves no data
			floor = g[1] "," m[1] "," v[i] ",0,2"
		Floor_seen += has(floor, "floor")
		state = common_state(key, "ours", floor, "floor")
		if (state == "" || (best != "" && state != best))
			continue
		find_state(floor, "floor", state)
		if (best == "" || Median < Floor) {
			Floor = Median
			Floor_key = floor
			best = state
		}
	}
	return best
}

function has(key, who,    state)
{
	for (state in States)
		if (Count[key SUBSEP who SUBSEP state])
			return 1
	return 0
}

function print_target(f, other,    ratio, floor, verdict, state, ours)
{
	ratio = f[7] != "-" && Worst >= 0
	floor = f[8] != "-" && Worst_floor >= 0
	verdict = "met"
	if ((f[7] != "-" && !ratio) || (f[8] != "-" && f[9] != "-" && !floor))
		verdict = Apart ? "never in one state" : "not measured"
	if ((ratio && Worst > f[7] + 0) || (floor && f[9] != "-" && Worst_floor > f[9] + 0))
		verdict = "**not met**"
	if (verdict == "met")
		Met++
	else if (verdict == "**not met**")
		Missed++
	else
		Unknown++
	ours = ratio ? Worst_ours : floor ? Floor_ours : ""
	state = ratio ? Worst_state : floor ? Floor_state : ""
	if (f[4] ~ /-/ && ours != "")
		ours = ours " at " size(ratio ? Worst_size : Floor_size)
	printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", f[1] (Who_count > 3 && other != "" ? ", " other : ""),
		ours, ratio ? Worst_theirs : "", ratio ? Worst_text : "", f[7] == "-" ? "" : "≤ " f[7],
		floor ? Floor_text (f[4] ~ /-/ ? " at " size(Floor_size) : "") : "",
		floor ? digits(Worst_floor) : "", f[9] == "-" ? "" : "≤ " f[9], state, verdict
}

function all_measured(    i, o, g, state, ours, theirs)
{
	if (mode == "all") {
		print "| measure | variant | size | PEs | state | ours | other | ratio |"
		print "|---|---|---|---|---|---|---|---|"
	}
	for (i = 1; i <= Key_count; i++) {
		split(Keys[i], g, ",")
		if (mode == "all" && g[4] != 0 && g[4] != 4 && g[4] != 8 && g[4] != 4096 && g[4] != 1048576)
			continue
		for (o = 1; o <= Who_count; o++) {
			if (Whos[o] == "ours" || Whos[o] == "floor")
				continue
			state = common_state(Keys[i], "ours", Keys[i], Whos[o])
			if (state == "" || !compare(Keys[i], "ours", Keys[i], Whos[o], state))
				continue
			if (mode != "all")
				continue
			find_state(Keys[i], Whos[o], state)
			theirs = amount(Median, Unit[Keys[i]])
			find_state(Keys[i], "ours", state)
			ours = amount(Median, Unit[Keys[i]])
			printf "| %s | %s | %s | %s | %s | %s | %s | %s |\n", g[2], g[3],
				g[4] + 0 ? size(g[4]) : "", g[5], state, ours, theirs, with_range()
		}
	}
}

function medians(    i, o, state, n)
{
	print "group,measure,variant,bytes,pes,who,state,rounds,median,low,high,unit"
	for (i = 1; i <= Key_count; i++)
		for (o = 1; o <= Who_count; o++)
			for (state in States) {
				n = find_state(Keys[i], Whos[o], state)
				if (n)
					printf "%s,%s,%s,%d,%.6g,%.6g,%.6g,%s\n", Keys[i], Whos[o], state, n, Median,
						Low, High, Unit[Keys[i]]
			}
}

# What users ask for, in words; of each the medians and how many times the other's time is ours.
function answers(    line, f, i, o, state, n)
{
	printf "| what | torushmem |"
	for (o = 1; o <= Who_count; o++)
		if (Whos[o] != "ours" && Whos[o] != "floor")
			printf " %s | its time / ours |", Whos[o] == "openmpi" ? "Open MPI" : Whos[o]
	printf "\n|---|---|"
	for (o = 1; o <= Who_count; o++)
		if (Whos[o] != "ours" && Whos[o] != "floor")
			printf "---|---|"
	print ""
	while ((getline line < targets) > 0) {
		if (line ~ /^#/ || split(line, f, ";") != 2)
			continue
		f[2] = trim(f[2])
		state = best_state(f[2], "ours")
		if (state == "")
			continue
		find_state(f[2], "ours", state)
		printf "| %s | %s |", trim(f[1]), amount(Median, Unit[f[2]])
		for (o = 1; o <= Who_count; o++)
			if (Whos[o] != "ours" && Whos[o] != "floor")
				answer_of(f[2], Whos[o])
		print ""
	}
}

function best_state(key, who)
{
	return common_state(key, who, key, who)
}

function answer_of(key, other,    state)
{
	state = common_state(key, "ours", key, other)
	if (state == "" || !compare(key, "ours", key, other, state)) {
		printf " | |"
		return
	}
	find_state(key, other, state)
	printf " %s | %s |", amount(Median, Unit[key]), times(1 / Ratio)
}
