# SPDX-License-Identifier: BSD-3-Clause
# Data for one plot from the records of bench/compare; used with stats.awk before it. Writes blocks that gnuplot knows
# by number: first a line with the name of who, then x, median, lower and upper quartile; a block per curve.
#
#   group, measure, variant   which records; a variant may be several with a comma between; * is any
#   x                         bytes, pes, window (the number at the end of the variant) or variant
#   whos                      who, with commas between: ours,openmpi,floor; a floor's curve is the fastest method
#   floor                     measure/variant of the floor, or measure/* for the fastest

BEGIN {
	load(records)
	n = split(whos, who, ",")
	for (w = 1; w <= n; w++)
		if (who[w] == "floor") {
			if (floor != "")
				floor_curve()
		} else
			curve(who[w])
	exit
}

function wanted_variant(v,    i, n, all)
{
	n = split(variant, all, ",")
	for (i = 1; i <= n; i++)
		if (v == all[i] || (all[i] ~ /\*$/ && index(v, substr(all[i], 1, length(all[i]) - 1)) == 1))
			return 1
	return 0
}

# Where it was seen most often.
function main_state(key, who,    state, most, best)
{
	most = 0
	for (state in States)
		if (state != "mixed" && (Count[key SUBSEP who SUBSEP state] > most ||
		    (Count[key SUBSEP who SUBSEP state] == most && most > 0 && state == "near"))) {
			most = Count[key SUBSEP who SUBSEP state]
			best = state
		}
	return most > 0 ? best : ""
}

function place(g,    parts, n)
{
	if (x == "window") {
		n = split(g[3], parts, "-")
		return parts[n]
	}
	return x == "bytes" ? g[4] : x == "pes" ? g[5] : measure == "*" ? g[2] ":" g[3] : g[3]
}

function in_group(name)
{
	return name == group || (group ~ /\*$/ && index(name, substr(group, 1, length(group) - 1)) == 1)
}

function curve(who,    i, g, state, any)
{
	for (i = 1; i <= Key_count; i++) {
		split(Keys[i], g, ",")
		if (!in_group(g[1]) || (measure != "*" && g[2] != measure) || !wanted_variant(g[3]))
			continue
		state = main_state(Keys[i], who)
		if (state == "" || !find_state(Keys[i], who, state))
			continue
		if (!any++)
			printf "\"%s\"\n", who
		printf "%s %.6g %.6g %.6g\n", place(g), Median, Low, High
	}
	if (any)
		printf "\n\n"
}

function floor_curve(    i, g, m, state, best, order, count, b, any)
{
	split(floor, m, "/")
	for (i = 1; i <= Key_count; i++) {
		split(Keys[i], g, ",")
		if (!in_group(g[1]) || g[2] != m[1] || (m[2] != "*" && m[2] != g[3]))
			continue
		state = main_state(Keys[i], "floor")
		if (state == "" || !find_state(Keys[i], "floor", state))
			continue
		b = place(g)
		if (!(b in best))
			order[++count] = b
		if (!(b in best) || Median < best[b]) {
			best[b] = Median
			low[b] = Low
			high[b] = High
		}
	}
	for (i = 1; i <= count; i++) {
		if (!any++)
			print "\"floor\""
		printf "%s %.6g %.6g %.6g\n", order[i], best[order[i]], low[order[i]], high[order[i]]
	}
	if (any)
		printf "\n\n"
}
