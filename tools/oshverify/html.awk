# SPDX-License-Identifier: BSD-3-Clause
# The report for people: one page that loads nothing. records.awk has read the records; style names the file of its style sheet.

function text(s) {
	gsub(/&/, "\\&amp;", s)
	gsub(/</, "\\&lt;", s)
	gsub(/>/, "\\&gt;", s)
	gsub(/"/, "\\&quot;", s)
	return s
}

function plural(n, word) {
	return n " " word (n == 1 ? "" : "s")
}

function duration(s) {
	s = int(s + 0.5)
	if (s < 120)
		return s " s"
	if (s < 7200)
		return int(s / 60) " min " (s % 60 ? s % 60 " s" : "")
	return int(s / 3600) " h " int(s % 3600 / 60) " min"
}

function size_text(bytes) {
	if (bytes + 0 == 0)
		return ""
	if (bytes >= 1048576 && bytes % 1048576 == 0)
		return bytes / 1048576 " MiB"
	if (bytes >= 1024 && bytes % 1024 == 0)
		return bytes / 1024 " KiB"
	return bytes " B"
}

# Three digits or so, in a unit that suits.
function time_text(ns,    unit) {
	unit = "ns"
	if (ns >= 1000) { ns /= 1000; unit = "&micro;s" }
	if (ns >= 1000) { ns /= 1000; unit = "ms" }
	if (ns >= 1000) { ns /= 1000; unit = "s" }
	return sprintf(ns < 10 ? "%.2f" : ns < 100 ? "%.1f" : "%.0f", ns) " " unit
}

function is_bad(i) {
	return result[i, "result"] == "failed" || result[i, "result"] == "timeout"
}

function of_info(key,    i) {
	for (i = 1; i <= lists["info"]; i++)
		if (list_key["info", i] == key)
			return list_value["info", i]
	return ""
}

function tile(name, what) {
	if (what != "")
		print "<div class=\"tile\"><b>" text(name) "</b>" text(what) "</div>"
}

function write_head(    line) {
	print "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">"
	print "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	print "<title>torushmem " text(fact["version"]) ": " text(fact["verdict"]) "</title>\n<style>"
	while ((getline line < style) > 0)
		print line
	print "</style>\n</head>\n<body>"
	print "<h1>torushmem " text(fact["version"]) "</h1>"
	print "<p class=\"soft\">Report of oshverify, " text(fact["made"]) ", " text(fact["profile"]) " run</p>"
}

function write_verdict(    bad, line) {
	bad = counts["failed"] + counts["timeout"]
	if (fact["verdict"] == "passed")
		line = "All is well"
	else if (fact["verdict"] == "failed")
		line = plural(bad, "failure")
	else
		line = "Nothing failed, but not all was run"
	printf "<div class=\"verdict %s\">%s<small>%d passed, %d failed", fact["verdict"], line, counts["passed"], bad
	if (counts["not-run"])
		printf ", %d not run for lack of time", counts["not-run"]
	if ("stopped" in fact)
		printf ", stopped by a signal"
	print " &middot; " duration(fact["seconds"]) "</small></div>"
}

# Why something is not there, without what to do about it, which the page says under Machine.
function brief(what) {
	if (what ~ /^no: /)
		sub(/ *[(;].*/, "", what)
	return what
}

# The devices of a network that are there.
function devices(section,    i, key, out) {
	for (i = 1; i <= lists["info"]; i++) {
		key = list_key["info", i]
		if (index(key, section ".") == 1 && list_value["info", i] ~ /^yes/ && key !~ /\.(self|sysv|posix|cma|path)$/)
			out = out (out == "" ? "" : "; ") substr(key, length(section) + 2) " (" substr(list_value["info", i], 6) ")"
	}
	return out
}

function write_tiles(    i, torus) {
	for (i = 1; i <= lists["found"]; i++)
		if (list_value["found", i] ~ /^Torus: / && (torus == "" || list_key["found", i] ~ /^(hosts|tofu)/))
			torus = substr(list_value["found", i], 8)
	print "<div class=\"tiles\">"
	tile("System", of_info("machine.system"))
	tile("Hosts", fact["hosts"] > 1 ? fact["hosts"] ", jobs by " fact["launcher"] (fact["host_kinds"] > 1 ? "; they differ" : "") : "1")
	tile("Names of hosts", fact["host_names"])
	tile("Cores of this host", of_info("machine.cores") " (" of_info("machine.usable") " processors usable)")
	tile("UCX", of_info("build.ucx"))
	tile("PMIx", of_info("build.pmix"))
	tile("UCX devices", devices("ucx"))
	tile("libfabric", brief(of_info("ofi.path")))
	tile("Tofu", of_info("tofu.library") != "" ? of_info("tofu.library") : brief(of_info("tofu.path")))
	tile("Torus", torus)
	print "</div>"
}

# All of them at a glance; what each said is below.
function write_failed_names(    i) {
	print "<h2>What failed</h2><div class=\"chips\">"
	for (i = 1; i <= results; i++)
		if (is_bad(i))
			printf "<span class=\"chip r\"><a href=\"#f%d\">%s on %s</a></span>\n", i, text(result[i, "name"]), text(result[i, "path"])
	print "</div>"
}

function write_failures(    i, shown) {
	for (i = 1; i <= results; i++) {
		if (!is_bad(i))
			continue
		if (!shown++)
			write_failed_names()
		printf "<div class=\"failure\" id=\"f%d\"><h3>%s on %s, %s</h3>", i, text(result[i, "name"]), text(result[i, "path"]), plural(result[i, "pes"], "PE")
		if (result[i, "result"] == "timeout")
			printf "<p>Stopped after %s s, its limit of time is %s s", result[i, "seconds"], result[i, "limit"]
		else
			printf "<p>Exit code %d, expected %d", result[i, "exit"], result[i, "expected"]
		print (result[i, "kind"] == "stress" ? ", in round " result[i, "run"] " of the stress part" : "") ".</p>"
		if (said[result[i, "number"]] != "")
			print "<pre>" text(said[result[i, "number"]]) "</pre>"
		print "<p>To repeat it:</p><pre>" text(result[i, "repeat"]) "</pre></div>"
	}
}

# Results that failed lead to what is said about them above.
function chip(i,    class, end, inside) {
	class = is_bad(i) ? " r" : result[i, "result"] == "not-run" ? " w" : ""
	end = result[i, "result"] == "not-run" ? "not run" : result[i, "result"] == "timeout" ? "hangs" : result[i, "seconds"] " s"
	inside = text(result[i, "name"]) " &times;" result[i, "pes"]
	if (is_bad(i))
		inside = "<a href=\"#f" i "\">" inside "</a>"
	printf "<span class=\"chip%s\" title=\"%s, %s\">%s</span>\n", class, end, plural(result[i, "pes"], "PE"), inside
}

function write_path(p,    path, good, bad, none, all, i) {
	path = list_key["path", p]
	for (i = 1; i <= results; i++)
		if (result[i, "path"] == path && result[i, "kind"] == "test") {
			all++
			good += result[i, "result"] == "passed"
			bad += is_bad(i)
		}
	none = all - good - bad
	printf "<div class=\"path%s\"><div class=\"head\"><b>%s</b><span class=\"soft\">%s</span><span class=\"count\">%d of %d passed</span></div>\n", \
		(bad ? " bad" : ""), text(path), text(list_value["path", p]), good, all
	if (all)
		printf "<div class=\"meter\"><i class=\"g\" style=\"width:%.2f%%\"></i><i class=\"r\" style=\"width:%.2f%%\"></i></div>\n", 100 * good / all, 100 * bad / all
	printf "<details%s><summary>%s, %s in all</summary><div class=\"chips\">\n", (bad ? " open" : ""), plural(all, "run"), duration(path_seconds[path])
	for (i = 1; i <= results; i++)
		if (result[i, "path"] == path && result[i, "kind"] == "test")
			chip(i)
	print "</div>"
	write_found(path, list_value["path_settings", p])
	print "</details></div>"
}

function write_found(path, settings,    i, lines) {
	if (settings ~ /[^ ]/)
		lines = "Settings: " settings "\n"
	for (i = 1; i <= lists["found"]; i++)
		if (list_key["found", i] == path)
			lines = lines list_value["found", i] "\n"
	if (lines != "")
		print "<pre>" text(lines) "</pre>"
}

function write_paths(    i) {
	if (kinds["test", "passed"] + kinds["test", "failed"] + kinds["test", "timeout"] + kinds["test", "not-run"] == 0)
		return
	print "<h2>Tests</h2><p class=\"soft\">A test is a program on so many PEs (&times;). What a path is and what jobs found on it is below its runs.</p>"
	for (i = 1; i <= lists["path"]; i++)
		write_path(i)
	if (lists["left_out"]) {
		print "<details><summary>Paths that cannot be taken here</summary><dl>"
		for (i = 1; i <= lists["left_out"]; i++)
			print "<dt>" text(list_key["left_out", i]) "</dt><dd>" text(list_value["left_out", i]) "</dd>"
		print "</dl></details>"
	}
}

function write_stress(    i, shown) {
	for (i = 1; i <= results; i++) {
		if (result[i, "kind"] != "stress")
			continue
		if (!shown++)
			print "<h2>Stress</h2><p class=\"soft\">The same tests again and again, each time with other random numbers.</p><div class=\"chips\">"
		if (is_bad(i))
			printf "<span class=\"chip r\"><a href=\"#f%d\">%s on %s, round %d</a></span>\n", i, text(result[i, "name"]), text(result[i, "path"]), result[i, "run"]
		else
			printf "<span class=\"chip\">%s on %s: %s</span>\n", text(result[i, "name"]), text(result[i, "path"]), plural(result[i, "run"], "run")
	}
	if (shown)
		print "</div>"
}

function write_figure(i,    theirs_ns, ratio) {
	printf "<tr><td>%s</td><td>%s</td><td class=\"n\">%s</td><td class=\"n\">%d</td>", text(figure[i, "measure"]), text(figure[i, "variant"]), \
		size_text(figure[i, "bytes"]), figure[i, "pes"]
	if (figure[i, "unit"] == "ns")
		printf "<td class=\"n\">%s</td><td class=\"n wide\">%s .. %s</td>", time_text(figure[i, "value"]), time_text(figure[i, "low"]), time_text(figure[i, "high"])
	else
		printf "<td class=\"n\">%s %s</td><td class=\"wide\"></td>", figure[i, "value"] + 0, text(figure[i, "unit"])
	theirs_ns = their_value(i)
	if (theirs_ns == "") {
		print (perftests ? "<td></td><td></td>" : "") "</tr>"
		return
	}
	ratio = figure[i, "value"] / theirs_ns
	printf "<td class=\"n\" title=\"%s\">%s</td><td class=\"n %s\">" (ratio < 0.1 ? "%.1g" : "%.2f") "</td></tr>\n", their_test(figure[i, "measure"], figure[i, "variant"]), \
		time_text(theirs_ns), (ratio > 1.2 ? "worse" : ratio < 0.9 ? "better" : ""), ratio
}

# Those to look at first: what ucx_perftest measures too, and what all PEs do together.
function is_main(i) {
	return their_test(figure[i, "measure"], figure[i, "variant"]) != "" || figure[i, "pes"] > 2 || figure[i, "measure"] == "sync"
}

function write_table(path, main, summary,    i, n) {
	for (i = 1; i <= figures; i++)
		n += figure[i, "path"] == path && is_main(i) == main
	if (!n)
		return
	printf "<details%s><summary>%s</summary><div class=\"scroll\"><table><tr><th>What</th><th>How</th><th class=\"n\">Size</th><th class=\"n\">PEs</th><th class=\"n\">Time</th>", (main ? " open" : ""), summary
	print "<th class=\"n wide\">Quartiles</th>" (perftests ? "<th class=\"n\">ucx_<wbr>perftest</th><th class=\"n\">Ratio</th>" : "") "</tr>"
	for (i = 1; i <= figures; i++)
		if (figure[i, "path"] == path && is_main(i) == main)
			write_figure(i)
	print "</table></div></details>"
}

function write_figures(    i, path) {
	if (!figures)
		return
	print "<h2>Figures</h2><p class=\"soft\">Time of one operation: the median of several samples" \
		(perftests ? "; beside it what ucx_perftest takes for the same, and how many times that ours takes" : "; nothing of ucx_perftest is there to compare with") ".</p>"
	for (i = 1; i <= figures; i++) {
		if (figure[i, "path"] == path)
			continue
		path = figure[i, "path"]
		print "<h3>" text(path) "</h3>"
		write_table(path, 1, "the main ones")
		write_table(path, 0, "all others")
	}
}

function write_machine(    i, key, section, last) {
	print "<h2>Machine</h2><details><summary>What oshinfo says, and the settings of this run</summary>"
	for (i = 1; i <= lists["info"]; i++) {
		key = list_key["info", i]
		section = key
		sub(/\..*/, "", section)
		if (section != last)
			print (last == "" ? "" : "</dl>") "<h3>" text(section) "</h3><dl>"
		last = section
		sub(/^[^.]*\./, "", key)
		print "<dt>" text(key) "</dt><dd>" text(list_value["info", i]) "</dd>"
	}
	if (last != "")
		print "</dl>"
	print "<h3>settings</h3><dl><dt>user</dt><dd>" text(fact["user"]) "</dd>"
	for (i = 1; i <= lists["setting"]; i++)
		print "<dt>environment</dt><dd>" text(list_value["setting", i]) "</dd>"
	print "</dl></details>"
}

END {
	write_head()
	write_verdict()
	write_tiles()
	write_failures()
	write_paths()
	write_stress()
	write_figures()
	write_machine()
	print "</body>\n</html>"
}
