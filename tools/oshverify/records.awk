# SPDX-License-Identifier: BSD-3-Clause
# Reads the records of a run into arrays, for json.awk and html.awk, whose END writes the report.

BEGIN {
	FS = "\t"
	split("number kind result name path pes seconds limit exit expected run repeat", result_columns, " ")
	split("path measure variant bytes pes value unit low high state", figure_columns, " ")
}

$1 == "fact" {
	if (split($2, part, ":") == 1)
		fact[$2] = $3
	list = part[1]
	lists[list]++
	list_key[list, lists[list]] = substr($2, length(list) + 2)
	list_value[list, lists[list]] = $3
}

$1 == "result" {
	results++
	for (i = 1; i <= 12; i++)
		result[results, result_columns[i]] = $(i + 1)
	counts[$4]++
	path_counts[$6, $4]++
	path_seconds[$6] += $8
	kinds[$3, $4]++
	stress_runs[$5, $6] += $3 == "stress"
}

$1 == "figure" {
	figures++
	for (i = 1; i <= 10; i++)
		figure[figures, figure_columns[i]] = $(i + 1)
}

$1 == "perftest" {
	perftests++
	for (i = 1; i <= 4; i++)
		perftest[perftests, i] = $(i + 1)
	theirs[$2, $3, $4] = $5
}

$1 == "said" {
	if ($2 in said)
		said[$2] = said[$2] "\n" $3
	else
		said[$2] = $3
}

# The test of ucx_perftest that does what a figure measures, or "".
function their_test(measure, variant) {
	if (measure == "pingpong" && variant == "p") return "ucp_put_lat"
	if (measure == "put" && variant == "nbi") return "ucp_put_bw"
	if (measure == "get" && variant == "blocking") return "ucp_get"
	if (measure == "atomic" && variant == "fetch-add") return "ucp_fadd"
	return ""
}

# What ucx_perftest took for figure i, in nanoseconds, or "".
function their_value(i,    test, key) {
	test = their_test(figure[i, "measure"], figure[i, "variant"])
	key = figure[i, "path"] SUBSEP test SUBSEP (figure[i, "bytes"] > 0 ? figure[i, "bytes"] : 8)
	return test != "" && (key in theirs) ? theirs[key] : ""
}
