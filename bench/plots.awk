# SPDX-License-Identifier: BSD-3-Clause
# Draws one plot of what bench/compare measured; used with stats.awk or medians.awk, words.awk and draw.awk before it.
#
#   group, measure, variant   which records; a variant may be several with a comma between; * is any
#   x                         bytes, pes, window (the number at the end of the variant) or variant
#   whos                      who, with commas between: ours,openmpi,floor; a floor's curve is the fastest method
#   floor                     measure/variant of the floor, or measure/* for the fastest; with > and a name: the place beside which it is drawn
#   kind                      time, bandwidth (of curves), or bars
#   title, output             of the drawing; the file

BEGIN {
	load(records, ratios)
	split(floor, beside, ">")
	draw_begin(kind == "bars" ? "bars" : "curves", "log", title, kind == "bandwidth" ? "B/s" : "s")
	draw_axis(x == "bytes" ? "bytes" : "number", x == "bytes" ? "" : x == "pes" ? "PEs" : "messages in a window")
	n = split(whos, who, ",")
	for (w = 1; w <= n; w++)
		if (who[w] == "floor") {
			if (floor != "")
				floor_curve()
		} else
			curve(who[w])
	if (!Draw_points)
		exit 1
	draw_end(output)
}

function add_point(who, at, median, low, high)
{
	if (kind == "bandwidth")
		draw_point(who, at, at / median * 1e9, at / high * 1e9, at / low * 1e9)
	else
		draw_point(who, at, median * 1e-9, low * 1e-9, high * 1e-9)
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

function curve(who,    i, g, state)
{
	for (i = 1; i <= Key_count; i++) {
		split(Keys[i], g, ",")
		if (!in_group(g[1]) || (measure != "*" && g[2] != measure) || !wanted_variant(g[3]))
			continue
		state = main_state(Keys[i], who)
		if (state == "" || !find_state(Keys[i], who, state))
			continue
		add_point(who, place(g), Median, Low, High)
	}
}

function floor_curve(    i, g, m, state, best, order, count, b)
{
	split(beside[1], m, "/")
	for (i = 1; i <= Key_count; i++) {
		split(Keys[i], g, ",")
		if (!in_group(g[1]) || g[2] != m[1] || (m[2] != "*" && m[2] != g[3]))
			continue
		state = main_state(Keys[i], "floor")
		if (state == "" || !find_state(Keys[i], "floor", state))
			continue
		b = place(g)
		if (beside[2] != "") {
			b = beside[2]
			sub(/\*/, g[3], b)
		}
		if (!(b in best))
			order[++count] = b
		if (!(b in best) || Median < best[b]) {
			best[b] = Median
			low[b] = Low
			high[b] = High
		}
	}
	for (i = 1; i <= count; i++)
		add_point("floor", order[i], best[order[i]], low[order[i]], high[order[i]])
}
