# SPDX-License-Identifier: BSD-3-Clause
# Reads the records of bench/compare and answers questions about them: medians, ratios, spreads. Only records
# of the same state (near or far processors) are compared.
#
# A key is group,measure,variant,bytes,pes.

function load(file,    line, f, key, id)
{
	while ((getline line < file) > 0) {
		if (split(line, f, ",") < 15 || f[1] == "round" || f[8] + 0 <= 0)
			continue
		key = f[2] "," f[4] "," f[5] "," f[6] "," f[7]
		if (!(key in Unit)) {
			Unit[key] = f[9]
			Keys[++Key_count] = key
		}
		if (!(f[3] in Rank)) {
			Rank[f[3]] = ++Who_count
			Whos[Who_count] = f[3]
		}
		States[f[14]] = 1
		id = key SUBSEP f[3] SUBSEP f[14]
		Count[id]++
		Value[id, Count[id]] = f[8] + 0
		Round[id, Count[id]] = f[1]
		Line_sum[f[14]] += f[15]
		Line_count[f[14]]++
	}
	close(file)
}

function sort_values(v, n,    i, j, x)
{
	for (i = 2; i <= n; i++) {
		x = v[i]
		for (j = i - 1; j >= 1 && v[j] > x; j--)
			v[j + 1] = v[j]
		v[j + 1] = x
	}
}

# Of n sorted values, the one below which that part of them lies.
function quantile(v, n, part,    place, below)
{
	place = 1 + part * (n - 1)
	below = int(place)
	if (below >= n)
		return v[n]
	return v[below] + (place - below) * (v[below + 1] - v[below])
}

# Sets Median, Low and High (quartiles) of what was measured; returns the number of rounds.
function find_state(key, who, state,    id, i, n, v)
{
	id = key SUBSEP who SUBSEP state
	n = Count[id] + 0
	for (i = 1; i <= n; i++)
		v[i] = Value[id, i]
	if (n == 0)
		return 0
	sort_values(v, n)
	Median = quantile(v, n, 0.5)
	Low = quantile(v, n, 0.25)
	High = quantile(v, n, 0.75)
	return n
}

# How one compares with the other in that state: Ratio_low, Ratio and Ratio_high are the least, the median and the greatest
# ratio of the rounds that saw both, for the machine is not the same in all; returns the number of such rounds. Where there
# is none, Ratio is that of the medians, and 1 is returned.
function compare(key1, who1, key2, who2, state,    id1, id2, i, j, n, r, m1)
{
	if (!find_state(key1, who1, state))
		return 0
	m1 = Median
	if (!find_state(key2, who2, state))
		return 0
	Ratio = Ratio_low = Ratio_high = m1 / Median
	id1 = key1 SUBSEP who1 SUBSEP state
	id2 = key2 SUBSEP who2 SUBSEP state
	n = 0
	for (i = 1; i <= Count[id1]; i++)
		for (j = 1; j <= Count[id2]; j++)
			if (Round[id1, i] == Round[id2, j]) {
				r[++n] = Value[id1, i] / Value[id2, j]
				break
			}
	if (n == 0)
		return 1
	sort_values(r, n)
	Ratio_low = r[1]
	Ratio = quantile(r, n, 0.5)
	Ratio_high = r[n]
	if (mode == "ratios")
		print_pair(key1, key2, who2, state, n)
	return n
}

# A line of ratios.csv.
function print_pair(key1, key2, who2, state, n,    h)
{
	split(key2, h, ",")
	if (!Printed[key1, key2, who2, state]++)
		printf "%s,%s,%s,%s,%s,%s,%d,%.6g,%.6g,%.6g\n", key1, who2, h[2], h[3], h[5], state, n, Ratio, Ratio_low, Ratio_high
}
