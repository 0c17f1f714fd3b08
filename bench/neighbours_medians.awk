# SPDX-License-Identifier: BSD-3-Clause
# Reads the records of bench/compare-neighbours (where,round,measure,work,transport,bytes,nanoseconds) and prints what the tree keeps: the
# median of each, and how our time compares with it, round by round. stats.awk sorts.

function median(v, n)
{
	sort_values(v, n)
	return n ? quantile(v, n, 0.5) : 0
}

function time(key, transport,    i, n, v)
{
	for (i = 1; i <= rounds; i++)
		if ((key, transport, round_number[i]) in ns)
			v[++n] = ns[key, transport, round_number[i]]
	return median(v, n)
}

# Ours to the other's, round by round; sets low and high as well.
function ratio(key, mine, other,    i, n, v, r, middle)
{
	for (i = 1; i <= rounds; i++) {
		r = round_number[i]
		if ((key, mine, r) in ns && (key, other, r) in ns)
			v[++n] = ns[key, mine, r] / ns[key, other, r]
	}
	middle = median(v, n)
	low = v[1]
	high = v[n]
	return middle
}

{
	split($0, f, ",")
	if (f[3] == "line") {
		nearest = nearest && nearest < f[7] + 0 ? nearest : f[7] + 0
		farthest = farthest > f[7] + 0 ? farthest : f[7] + 0
		next
	}
	key = f[1] "," f[3] "," f[4] "," f[6]
	if (!(key in known)) {
		known[key] = 1
		key_list[++keys] = key
	}
	if (!(f[5] in transport_known)) {
		transport_known[f[5]] = 1
		transport_list[++transport_count] = f[5]
	}
	if (!(f[2] in round_known)) {
		round_known[f[2]] = 1
		round_number[++rounds] = f[2]
	}
	ns[key, f[5], f[2]] = f[7]
}

END {
	print "where,measure,work,bytes,transport,rounds,ns,ratio,low,high"
	if (farthest)
		printf "node,line,none,64,processors,%d,%.0f,,%.0f,%.0f\n", rounds, nearest, nearest, farthest
	for (i = 1; i <= keys; i++)
		for (j = 1; j <= transport_count; j++) {
			middle = time(key_list[i], transport_list[j])
			if (!middle)
				continue
			r = transport_list[j] == "exchange" ? 0 : ratio(key_list[i], "exchange", transport_list[j])
			printf "%s,%s,%d,%.6g,%s\n", key_list[i], transport_list[j], rounds, middle, r ? sprintf("%.4g,%.4g,%.4g", r, low, high) : ",,"
		}
}
