# SPDX-License-Identifier: BSD-3-Clause
# What stats.awk computes from all rounds, read from the records that the tree keeps: medians.csv has the median and the quartiles of each
# measure, ratios.csv how two measures compare round by round. The pages and plots are made with this file, so that they can be made again.

function load(medians, ratios,    line, f, key)
{
	while ((getline line < medians) > 0) {
		if (split(line, f, ",") < 12 || f[1] == "group")
			continue
		key = f[1] "," f[2] "," f[3] "," f[4] "," f[5]
		if (!(key in Unit)) {
			Unit[key] = f[12]
			Keys[++Key_count] = key
		}
		if (!(f[6] in Rank)) {
			Rank[f[6]] = ++Who_count
			Whos[Who_count] = f[6]
		}
		States[f[7]] = 1
		Count[key, f[6], f[7]] = f[8]
		Quartiles[key, f[6], f[7]] = f[9] " " f[10] " " f[11]
	}
	close(medians)
	while ((getline line < ratios) > 0)
		if (split(line, f, ",") >= 14)
			Pairs[f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10]] = f[11] " " f[12] " " f[13] " " f[14]
	close(ratios)
}

# Sets Median, Low and High (quartiles) of what was measured; returns the number of rounds.
function find_state(key, who, state,    q)
{
	if (!((key, who, state) in Quartiles))
		return 0
	split(Quartiles[key, who, state], q, " ")
	Median = q[1] + 0
	Low = q[2] + 0
	High = q[3] + 0
	return Count[key, who, state] + 0
}

# As in stats.awk; where the rounds of both were never the same, Ratio is that of the medians.
function compare(key1, who1, key2, who2, state,    g, h, r, mine)
{
	if (!find_state(key1, who1, state))
		return 0
	mine = Median
	if (!find_state(key2, who2, state))
		return 0
	Ratio = Ratio_low = Ratio_high = mine / Median
	split(key1, g, ",")
	split(key2, h, ",")
	if (!((g[1], g[2], g[3], g[4], g[5], who2, h[2], h[3], h[5], state) in Pairs))
		return 1
	split(Pairs[g[1], g[2], g[3], g[4], g[5], who2, h[2], h[3], h[5], state], r, " ")
	Ratio = r[2] + 0
	Ratio_low = r[3] + 0
	Ratio_high = r[4] + 0
	return r[1] + 0
}
