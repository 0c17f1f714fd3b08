# SPDX-License-Identifier: BSD-3-Clause
# The report for programs. records.awk has read the records.

function text(s,    i, c, out) {
	gsub(/\\/, "\\\\", s)
	gsub(/"/, "\\\"", s)
	gsub(/\n/, "\\n", s)
	gsub(/\r/, "\\r", s)
	gsub(/\t/, "\\t", s)
	gsub(/[\001-\037]/, "?", s)
	return "\"" s "\""
}

# Numbers as numbers, all else as text.
function value(s) {
	return s ~ /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/ ? s : text(s)
}

function member(name, what, last) {
	return text(name) ": " what (last ? "" : ", ")
}

# Facts "info:SECTION.KEY" as an object of objects.
function write_machine(    i, key, section, last) {
	printf " \"machine\": {"
	for (i = 1; i <= lists["info"]; i++) {
		key = list_key["info", i]
		if (!match(key, /\./))
			continue
		section = substr(key, 1, RSTART - 1)
		if (section != last)
			printf "%s\n  %s: {", last == "" ? "" : "},", text(section)
		else
			printf ", "
		printf "%s: %s", text(substr(key, RSTART + 1)), value(list_value["info", i])
		last = section
	}
	print last == "" ? "}," : "}\n },"
}

# What jobs found on a path: lines of text.
function found_on(path,    i, out) {
	out = ""
	for (i = 1; i <= lists["found"]; i++)
		if (list_key["found", i] == path)
			out = out (out == "" ? "" : ", ") text(list_value["found", i])
	return "[" out "]"
}

function torus_on(path,    i) {
	for (i = 1; i <= lists["found"]; i++)
		if (list_key["found", i] == path && list_value["found", i] ~ /^Torus: /)
			return text(substr(list_value["found", i], 8))
	return "null"
}

function write_paths(    i, path) {
	printf " \"paths\": ["
	for (i = 1; i <= lists["path"]; i++) {
		path = list_key["path", i]
		printf "%s\n  {%s%s%s%s%s%s%s%s%s}", (i > 1 ? "," : ""), member("name", text(path)), member("description", text(list_value["path", i])), \
			member("settings", text(list_value["path_settings", i])), member("passed", path_counts[path, "passed"] + 0), \
			member("failed", path_counts[path, "failed"] + path_counts[path, "timeout"] + 0), \
			member("not_run", path_counts[path, "not-run"] + 0), member("seconds", path_seconds[path] + 0), \
			member("torus", torus_on(path)), member("found", found_on(path), 1)
	}
	print "\n ],"
	printf " \"paths_left_out\": {"
	for (i = 1; i <= lists["left_out"]; i++)
		printf "%s\n  %s: %s", (i > 1 ? "," : ""), text(list_key["left_out", i]), text(list_value["left_out", i])
	print "\n },"
}

function write_results(name, kind,    i, j, column, n) {
	printf " \"%s\": [", name
	for (i = 1; i <= results; i++) {
		if (result[i, "kind"] != kind)
			continue
		printf "%s\n  {", n++ ? "," : ""
		for (j = 3; j <= 12; j++) {
			column = result_columns[j]
			printf "%s", member(column == "run" ? (kind == "stress" ? "seed" : "runs") : column, value(result[i, column]), 0)
		}
		printf "%s}", member("output", text(said[result[i, "number"]]), 1)
	}
	print "\n ],"
}

function write_figures(    i, j) {
	printf " \"figures\": ["
	for (i = 1; i <= figures; i++) {
		printf "%s\n  {", (i > 1 ? "," : "")
		for (j = 1; j <= 10; j++)
			printf "%s", member(figure_columns[j], value(figure[i, figure_columns[j]]))
		printf "%s}", member("ucx_perftest", their_value(i) == "" ? "null" : their_value(i), 1)
	}
	print "\n ],"
	printf " \"ucx_perftest\": ["
	for (i = 1; i <= perftests; i++)
		printf "%s\n  {%s%s%s%s}", (i > 1 ? "," : ""), member("path", text(perftest[i, 1])), member("test", text(perftest[i, 2])), \
			member("bytes", perftest[i, 3]), member("nanoseconds", perftest[i, 4], 1)
	print "\n ]"
}

function write_settings(    i) {
	printf " \"settings\": ["
	for (i = 1; i <= lists["setting"]; i++)
		printf "%s%s", (i > 1 ? ", " : ""), text(list_value["setting", i])
	print "],"
}

END {
	print "{"
	print " \"format\": \"torushmem-report\", \"format_version\": 1,"
	print " " member("version", text(fact["version"])) member("made", text(fact["made"])) member("profile", text(fact["profile"])) \
		member("user", text(fact["user"])) member("seconds", fact["seconds"] + 0) member("time_limit", fact["time_limit"] + 0) \
		member("verdict", text(fact["verdict"]))
	print " \"counts\": {" member("passed", counts["passed"] + 0) member("failed", counts["failed"] + 0) \
		member("timeout", counts["timeout"] + 0) member("not_run", counts["not-run"] + 0, 1) "},"
	printf " \"hosts\": {%s%s%s", member("count", fact["hosts"] > 0 ? fact["hosts"] + 0 : 1), \
		member("launcher", text(fact["launcher"] == "" ? "none" : fact["launcher"])), member("kinds", fact["host_kinds"] > 0 ? fact["host_kinds"] + 0 : 1)
	print member("names", fact["host_names"] == "" ? "null" : text(fact["host_names"]), 1) "},"
	write_settings()
	write_machine()
	write_paths()
	write_results("tests", "test")
	write_results("stress", "stress")
	write_results("benchmarks", "bench")
	write_figures()
	print "}"
}
