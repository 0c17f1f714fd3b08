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
	if ($3 != "" && $2 != "UCX" && $2 != "PMIx" && $2 != "Open MPI")
		others = others (others == "" ? "" : "; ") ($2 == "Debian" ? "" : $2 " ") $3
	next
}
NF > 7 {
	passed[$1] += $3
	failed[$1] += $4
	if ($4 > 0)
		failures = failures sprintf("| %s | %s %s | %d | %s | %s | %s |\n", release, $1, $2, $4, $7, $8, $9)
	first_day = first_day == "" || $7 < first_day ? $7 : first_day
	last_day = $7 > last_day ? $7 : last_day
}
END {
	end_release()
	printf "\n| release | what else it has |\n|---|---|\n%s", versions
	if (failures != "")
		printf "\n| release | line with failures | failed | date | source | remark |\n|---|---|---:|---|---|---|\n%s", failures
}

# A row of the first table, which is printed at once, and one of the second.
function end_release(    i)
{
	if (release == "")
		return
	printf "| %s | %s | %s | %s |", release, version["UCX"], version["PMIx"], version["Open MPI"]
	for (i = 1; i <= steps; i++)
		printf " %s |", !(step[i] in passed) ? "–" : passed[step[i]] (failed[step[i]] ? ", **" failed[step[i]] " failed**" : "")
	printf " %s%s |\n", first_day == last_day ? "" : first_day " to ", last_day
	versions = versions "| " release " | " others " |\n"
	split("", passed); split("", failed); split("", version)
	others = first_day = last_day = ""
}
