# SPDX-License-Identifier: BSD-3-Clause
#
# The tables of docs/platforms.md, from the files docs/platforms/RELEASE.tsv in the order in which
# they are given. A line is one of, with tabs between fields:
#
#   version NAME VALUE
#   STEP LINE PASSED FAILED SKIPPED SECONDS DATE SOURCE REMARK

BEGIN {
	FS = "\t"
	steps = split("quickstart api tools sanitizers hosts compilers packages", step, " ")
	print "| release | UCX | PMIx | Open MPI | quickstart | API | tools | sanitizers | hosts | compilers | packages | tested |"
	print "|---|---|---|---|---|---|---|---|---|---|---|---|"
}

FNR == 1 { end_release(); release = FILENAME; gsub(/.*\/|\.tsv$/, "", release) }
$1 == "version" {
	version[$2] = $3
	names = names " " $2 " |"
	values = values " " $3 " |"
	next
}
NF > 7 {
	passed[$1] += $3
	failed[$1] += $4
	first_day = first_day == "" || $7 < first_day ? $7 : first_day
	last_day = $7 > last_day ? $7 : last_day
	table = table sprintf("| %s | %s | %d | %s | %d | %d | %s | %s | %s |\n", $1, $2, $3, $4 > 0 ? "**" $4 "**" : 0, $5, $6, $7, $8, $9)
}
END {
	end_release()
	printf "%s", text
}

# How GitHub makes the anchor of a heading.
function anchor(heading)
{
	heading = tolower(heading)
	gsub(/[^a-z0-9 _-]/, "", heading)
	gsub(/ /, "-", heading)
	return heading
}

# A row of the first table, which is printed at once, and the section of the release.
function end_release(    i, rule, heading)
{
	if (release == "")
		return
	heading = release ": " version["Debian"]
	printf "| [%s](#%s) | %s | %s | %s |", release, anchor(heading), version["UCX"], version["PMIx"], version["Open MPI"]
	for (i = 1; i <= steps; i++)
		printf " %s |", !(step[i] in passed) ? "–" : passed[step[i]] (failed[step[i]] ? ", **" failed[step[i]] " failed**" : "")
	printf " %s%s |\n", first_day == last_day ? "" : first_day " to ", last_day
	rule = names
	gsub(/[^|]+/, "---", rule)
	text = text "\n## " heading "\n\n|" names "\n|" rule "\n|" values "\n\n" \
		"| step | line | passed | failed | skipped | seconds | date | source | remark |\n|---|---|---:|---:|---:|---:|---|---|---|\n" table
	split("", passed); split("", failed); split("", version)
	names = values = table = first_day = last_day = ""
}
