# SPDX-License-Identifier: BSD-3-Clause
"""report.py FOLDER OUTPUT yes|no: writes what oshverify knows to OUTPUT.json and OUTPUT.html.

report.sh and suite.sh write the files in FOLDER. "no" leaves addresses out; the file "private" has the other words to replace.
"""

import json
import re
import sys
from collections import Counter
from html import escape
from pathlib import Path

RESULT_COLUMNS = "number kind result name path pes seconds limit exit expected run repeat".split()
FIGURE_COLUMNS = "path measure variant bytes pes value unit low high state".split()
BAD = ("failed", "timeout")
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$")
ADDRESS = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+|[0-9a-f]+:[0-9a-f]*:[0-9a-f:]*:[0-9a-f]+")
# The test of ucx_perftest that does what a figure measures.
THEIR_TESTS = {
    ("pingpong", "p"): "ucp_put_lat",
    ("put", "nbi"): "ucp_put_bw",
    ("get", "blocking"): "ucp_get",
    ("atomic", "fetch-add"): "ucp_fadd",
}


class Records:
    """The records of a run: facts by name, lists of facts as pairs, results and figures as dictionaries."""

    def __init__(self, folder, with_names):
        self.folder, self.with_names = folder, with_names
        pairs = [line.split("\t") for line in self.read("private").splitlines()] if (folder / "private").exists() else []
        self.private = {what: by for what, by in pairs if what not in ("", "localhost")}
        # Longer ones first: a full name before the short one in it. Words are replaced whole: a
        # host "node" leaves "nodes" alone.
        words = "|".join(re.escape(word) for word in sorted(self.private, key=len, reverse=True))
        self.word = re.compile("(?<![A-Za-z0-9_])(?:%s)(?![A-Za-z0-9_])" % words) if words else None
        self.facts, self.lists = {}, {}
        for key, value in self.rows("facts"):
            name, _, rest = key.partition(":")
            self.lists.setdefault(name, []).append((rest, value))
            self.facts[key] = value
        self.results = [dict(zip(RESULT_COLUMNS, row)) for row in self.rows("results")]
        self.figures = [dict(zip(FIGURE_COLUMNS, row)) for row in self.rows("figures")]
        self.perftest = self.rows("perftest")
        self.theirs = {(path, test, size): time for path, test, size, time in self.perftest}
        for result in self.results:
            said = Path("said", result["number"])
            result["output"] = self.redact(self.read(said)).rstrip("\n") if (folder / said).exists() else ""
        self.counts = Counter(result["result"] for result in self.results)

    def read(self, name):
        return (self.folder / name).read_text(encoding="utf-8", errors="replace")

    def rows(self, name):
        return [line.split("\t") for line in self.redact(self.read(name)).split("\n") if line]

    def redact(self, text):
        if self.word:
            text = self.word.sub(lambda match: self.private[match.group()], text)
        return text if self.with_names else ADDRESS.sub("(address)", text)

    def pairs(self, name):
        return self.lists.get(name, [])

    def found_on(self, path):
        return [value for key, value in self.pairs("found") if key == path]

    def tests_on(self, path):
        return [result for result in self.results if result["path"] == path and result["kind"] == "test"]

    def seconds_on(self, path):
        return sum(float(result["seconds"]) for result in self.results if result["path"] == path)

    def sections(self):
        """What oshinfo says: facts "info:SECTION.KEY" or "info:SECTION", by section."""
        sections = {}
        for name, value in self.pairs("info"):
            section, _, key = name.partition(".")
            sections.setdefault(section, {})[key or section] = value
        return sections

    def their_time(self, figure):
        """What ucx_perftest took for the same, in nanoseconds, as text; None: nothing."""
        size = figure["bytes"] if float(figure["bytes"] or 0) > 0 else "8"
        return self.theirs.get((figure["path"], their_test(figure), size))


def their_test(figure):
    return THEIR_TESTS.get((figure["measure"], figure["variant"]))


# --- For programs ---


def value(text):
    """Numbers as numbers, all else as text."""
    return json.loads(text) if NUMBER.match(text) else text


def torus_in(lines):
    return next((line[len("Torus: ") :] for line in lines if line.startswith("Torus: ")), None)


def path_object(records, name, description, settings):
    counts = Counter(result["result"] for result in records.results if result["path"] == name)
    found = records.found_on(name)
    return {
        "name": name,
        "description": description,
        "settings": settings,
        "passed": counts["passed"],
        "failed": counts["failed"] + counts["timeout"],
        "not_run": counts["not-run"],
        "seconds": round(records.seconds_on(name), 2),
        "torus": torus_in(found),
        "found": found,
    }


def result_objects(records, kind):
    run = "seed" if kind == "stress" else "runs"
    columns = RESULT_COLUMNS[2:] + ["output"]
    return [
        {run if column == "run" else column: result[column] if column == "output" else value(result[column]) for column in columns}
        for result in records.results
        if result["kind"] == kind
    ]


def figure_objects(records):
    for figure in records.figures:
        theirs = records.their_time(figure)
        yield dict({column: value(figure[column]) for column in FIGURE_COLUMNS}, ucx_perftest=theirs and value(theirs))


def path_objects(records):
    for (name, description), (_, settings) in zip(records.pairs("path"), records.pairs("path_settings")):
        yield path_object(records, name, description, settings)


def report_object(records):
    fact, counts = records.facts, records.counts
    return {
        "format": "torushmem-report",
        "format_version": 1,
        **{key: fact.get(key, "") for key in ("version", "made", "profile", "user")},
        "seconds": value(fact["seconds"]),
        "time_limit": value(fact["time_limit"]),
        "verdict": fact["verdict"],
        "counts": {"passed": counts["passed"], "failed": counts["failed"], "timeout": counts["timeout"], "not_run": counts["not-run"]},
        "hosts": {
            "count": int(fact.get("hosts", 1)),
            "launcher": fact.get("launcher", "none"),
            "kinds": int(fact.get("host_kinds", 1)) or 1,
            "names": fact.get("host_names"),
        },
        "settings": [setting for _, setting in records.pairs("setting")],
        "machine": {name: {key: value(text) for key, text in section.items()} for name, section in records.sections().items()},
        "paths": list(path_objects(records)),
        "paths_left_out": dict(records.pairs("left_out")),
        "tests": result_objects(records, "test"),
        "stress": result_objects(records, "stress"),
        "benchmarks": result_objects(records, "bench"),
        "figures": list(figure_objects(records)),
        "ucx_perftest": [
            {"path": path, "test": test, "bytes": value(size), "nanoseconds": value(time)} for path, test, size, time in records.perftest
        ],
    }


def line_of(what):
    return json.dumps(what, ensure_ascii=False)


def write_json(report, file):
    """One line for each member, and in a list or an object of objects one for each of those, so that grep finds them."""
    members = []
    for key, member in report.items():
        inner = list(member.values()) if isinstance(member, dict) else member
        text = line_of(member)
        if isinstance(inner, list) and inner and isinstance(inner[0], dict):
            named = member.items() if isinstance(member, dict) else [(None, item) for item in member]
            lines = ["  " + (line_of(name) + ": " if name else "") + line_of(item) for name, item in named]
            text = "%s\n%s\n %s" % (text[0], ",\n".join(lines), text[-1])
        members.append(" %s: %s" % (line_of(key), text))
    file.write("{\n" + ",\n".join(members) + "\n}\n")


# --- For people: one page that loads nothing ---


def plural(n, word):
    return "%s %s%s" % (n, word, "" if int(n) == 1 else "s")


def duration(seconds):
    s = int(seconds + 0.5)
    if s < 120:
        return "%d s" % s
    if s < 7200:
        return "%d min%s" % (s // 60, " %d s" % (s % 60) if s % 60 else "")
    return "%d h %d min" % (s // 3600, s % 3600 // 60)


def size_text(size):
    size = int(size or 0)
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "B")):
        if size >= unit and size % unit == 0:
            return "%d %s" % (size // unit, name)
    return ""


def time_text(nanoseconds):
    """Three digits or so, in a unit that suits."""
    time, units = float(nanoseconds), ["ns", "&micro;s", "ms", "s"]
    while time >= 1000 and len(units) > 1:
        time, units = time / 1000, units[1:]
    return "%.*f %s" % (2 if time < 10 else 1 if time < 100 else 0, time, units[0])


def is_bad(result):
    return result["result"] in BAD


def is_main(figure):
    """Those to look at first: what ucx_perftest measures, too, and what all PEs do together."""
    return their_test(figure) or int(figure["pes"]) > 2 or figure["measure"] == "sync"


class Page:
    def __init__(self, records, file):
        self.records, self.file = records, file
        for number, result in enumerate(records.results, 1):
            result["anchor"] = "f%d" % number

    def put(self, *lines):
        for line in lines:
            print(line, file=self.file)

    def chips(self, chips):
        self.put('<div class="chips">', *chips, "</div>")

    def terms(self, pairs):
        self.put("<dl>", *("<dt>%s</dt><dd>%s</dd>" % (escape(term), escape(what)) for term, what in pairs), "</dl>")

    def head(self, style):
        fact = self.records.facts
        self.put('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">')
        self.put('<meta name="viewport" content="width=device-width, initial-scale=1">')
        self.put("<title>torushmem %s: %s</title>" % (escape(fact["version"]), escape(fact["verdict"])))
        self.put("<style>", style, "</style>\n</head>\n<body>", "<h1>torushmem %s</h1>" % escape(fact["version"]))
        self.put('<p class="soft">Report of oshverify, %s, %s run</p>' % (escape(fact["made"]), escape(fact["profile"])))

    def verdict(self):
        fact, counts = self.records.facts, self.records.counts
        bad = counts["failed"] + counts["timeout"]
        line = {"passed": "All is well", "failed": plural(bad, "failure")}.get(fact["verdict"], "Nothing failed, but not all was run")
        detail = "%d passed, %d failed" % (counts["passed"], bad)
        if counts["not-run"]:
            detail += ", %d not run for lack of time" % counts["not-run"]
        if "stopped" in fact:
            detail += ", stopped by a signal"
        detail += " &middot; " + duration(float(fact["seconds"]))
        self.put('<div class="verdict %s">%s<small>%s</small></div>' % (fact["verdict"], line, detail))

    def tiles(self):
        records, fact, info = self.records, self.records.facts, dict(self.records.pairs("info"))
        hosts = "1"
        if int(fact.get("hosts", 1)) > 1:
            differ = "; they differ" if int(fact["host_kinds"]) > 1 else ""
            hosts = "%s, jobs by %s%s" % (fact["hosts"], fact["launcher"], differ)
        elsewhere = [line for path, line in records.pairs("found") if path.startswith(("hosts", "tofu"))]
        # The page says under Machine what to do about what is not there.
        brief = {key: re.sub(r" *[(;].*", "", what) if what.startswith("no: ") else what for key, what in info.items()}
        tiles = (
            ("System", info.get("machine.system")),
            ("Hosts", hosts),
            ("Names of hosts", fact.get("host_names")),
            ("Cores of this host", "%s (%s processors usable)" % (info.get("machine.cores", ""), info.get("machine.usable", ""))),
            ("UCX", info.get("build.ucx")),
            ("PMIx", info.get("build.pmix")),
            ("UCX devices", self.devices("ucx")),
            ("libfabric", brief.get("ofi.path")),
            ("Tofu", info.get("tofu.library") or brief.get("tofu.path")),
            ("Torus", torus_in(elsewhere) or torus_in(line for _, line in records.pairs("found"))),
        )
        shown = ['<div class="tile"><b>%s</b>%s</div>' % (escape(name), escape(what)) for name, what in tiles if what]
        self.put('<div class="tiles">', *shown, "</div>")

    def devices(self, section):
        """The devices of a network that are there."""
        return "; ".join(
            "%s (%s)" % (key, what[len("yes: ") :])
            for key, what in self.records.sections().get(section, {}).items()
            if what.startswith("yes") and key.split(".")[-1] not in ("self", "sysv", "posix", "cma", "path")
        )

    def failures(self):
        bad = [result for result in self.records.results if is_bad(result)]
        if not bad:
            return
        self.put("<h2>What failed</h2>")
        self.chips(self.bad_chip(result) for result in bad)
        for result in bad:
            name, path = escape(result["name"]), escape(result["path"])
            self.put('<div class="failure" id="%s"><h3>%s on %s, %s</h3>' % (result["anchor"], name, path, plural(result["pes"], "PE")))
            why = "Exit code {exit}, expected {expected}"
            if result["result"] == "timeout":
                why = "Stopped after {seconds} s, its limit of time is {limit} s"
            if result["kind"] == "stress":
                why += ", in round {run} of the stress part"
            self.put("<p>%s.</p>" % why.format(**result))
            if result["output"]:
                self.put("<pre>%s</pre>" % escape(result["output"]))
            self.put("<p>To repeat it:</p><pre>%s</pre></div>" % escape(result["repeat"]))

    def bad_chip(self, result, more=""):
        text = "%s on %s%s" % (escape(result["name"]), escape(result["path"]), more)
        return '<span class="chip r"><a href="#%s">%s</a></span>' % (result["anchor"], text)

    def chip(self, result):
        """Results that failed lead to what is said about them above."""
        style, end = "", result["seconds"] + " s"
        inside = "%s &times;%s" % (escape(result["name"]), result["pes"])
        if result["result"] == "not-run":
            style, end = " w", "not run"
        elif is_bad(result):
            style, inside = " r", '<a href="#%s">%s</a>' % (result["anchor"], inside)
            end = "hangs" if result["result"] == "timeout" else end
        return '<span class="chip%s" title="%s, %s">%s</span>' % (style, end, plural(result["pes"], "PE"), inside)

    def path(self, path, description, settings):
        tests = self.records.tests_on(path)
        good = sum(test["result"] == "passed" for test in tests)
        bad = sum(map(is_bad, tests))
        count = '<span class="count">%d of %d passed</span>' % (good, len(tests))
        self.put('<div class="path%s"><div class="head"><b>%s</b>' % (" bad" if bad else "", escape(path)))
        self.put('<span class="soft">%s</span>%s</div>' % (escape(description), count))
        if tests:
            bar = '<i class="%s" style="width:%.2f%%"></i>'
            parts = [bar % (style, 100 * n / len(tests)) for style, n in (("g", good), ("r", bad))]
            self.put('<div class="meter">%s</div>' % "".join(parts))
        summary = "%s, %s in all" % (plural(len(tests), "run"), duration(self.records.seconds_on(path)))
        self.put("<details%s><summary>%s</summary>" % (" open" if bad else "", summary))
        self.chips(self.chip(test) for test in tests)
        lines = (["Settings: " + settings] if settings.strip() else []) + self.records.found_on(path)
        if lines:
            self.put("<pre>%s</pre>" % escape("\n".join(lines)))
        self.put("</details></div>")

    def paths(self):
        if not any(result["kind"] == "test" for result in self.records.results):
            return
        self.put("<h2>Tests</h2>", '<p class="soft">A test is a program on so many PEs (&times;).')
        self.put("What a path is and what jobs found on it is below its runs.</p>")
        for (path, description), (_, settings) in zip(self.records.pairs("path"), self.records.pairs("path_settings")):
            self.path(path, description, settings)
        if self.records.pairs("left_out"):
            self.put("<details><summary>Paths that cannot be taken here</summary>")
            self.terms(self.records.pairs("left_out"))
            self.put("</details>")

    def stress(self):
        stress = [result for result in self.records.results if result["kind"] == "stress"]
        if not stress:
            return
        self.put('<h2>Stress</h2><p class="soft">The same tests again and again, each time with other random numbers.</p>')
        good = '<span class="chip">%s on %s: %s</span>'
        self.chips(
            self.bad_chip(r, ", round " + r["run"]) if is_bad(r) else good % (escape(r["name"]), escape(r["path"]), plural(r["run"], "run"))
            for r in stress
        )

    def figure(self, figure):
        cell = '<td class="n">%s</td>'
        row = "<td>%s</td><td>%s</td>" % (escape(figure["measure"]), escape(figure["variant"]))
        row += cell % size_text(figure["bytes"]) + cell % figure["pes"]
        if figure["unit"] == "ns":
            row += cell % time_text(figure["value"])
            row += '<td class="n wide">%s .. %s</td>' % (time_text(figure["low"]), time_text(figure["high"]))
        else:
            row += cell % ("%g %s" % (float(figure["value"]), escape(figure["unit"]))) + '<td class="wide"></td>'
        theirs = self.records.their_time(figure)
        if theirs:
            ratio = float(figure["value"]) / float(theirs)
            style = "worse" if ratio > 1.2 else "better" if ratio < 0.9 else ""
            row += '<td class="n" title="%s">%s</td>' % (their_test(figure), time_text(theirs))
            row += '<td class="n %s">%s</td>' % (style, ("%.1g" if ratio < 0.1 else "%.2f") % ratio)
        elif self.records.perftest:
            row += "<td></td><td></td>"
        self.put("<tr>%s</tr>" % row)

    def table(self, figures, summary, is_open):
        if not figures:
            return
        self.put('<details%s><summary>%s</summary><div class="scroll"><table>' % (" open" if is_open else "", summary))
        self.put('<tr><th>What</th><th>How</th><th class="n">Size</th><th class="n">PEs</th><th class="n">Time</th>')
        self.put('<th class="n wide">Quartiles</th>')
        if self.records.perftest:
            self.put('<th class="n">ucx_<wbr>perftest</th><th class="n">Ratio</th>')
        self.put("</tr>")
        for figure in figures:
            self.figure(figure)
        self.put("</table></div></details>")

    def all_figures(self):
        figures = self.records.figures
        if not figures:
            return
        beside = "nothing of ucx_perftest is there to compare with"
        if self.records.perftest:
            beside = "beside it what ucx_perftest takes for the same, and how many times that ours takes"
        self.put('<h2>Figures</h2><p class="soft">Time of one operation: the median of several samples; %s.</p>' % beside)
        for path in dict.fromkeys(figure["path"] for figure in figures):
            own = [figure for figure in figures if figure["path"] == path]
            self.put("<h3>%s</h3>" % escape(path))
            self.table([figure for figure in own if is_main(figure)], "the main ones", True)
            self.table([figure for figure in own if not is_main(figure)], "all others", False)

    def machine(self):
        self.put("<h2>Machine</h2><details><summary>What oshinfo says, and the settings of this run</summary>")
        for section, facts in self.records.sections().items():
            self.put("<h3>%s</h3>" % escape(section))
            self.terms(facts.items())
        self.put("<h3>settings</h3>")
        self.terms([("user", self.records.facts["user"])] + [("environment", what) for _, what in self.records.pairs("setting")])
        self.put("</details>")

    def write(self, style):
        self.head(style)
        self.verdict()
        self.tiles()
        self.failures()
        self.paths()
        self.stress()
        self.all_figures()
        self.machine()
        self.put("</body>\n</html>")


def main():
    folder, output, with_names = sys.argv[1:]
    records = Records(Path(folder), with_names == "yes")
    with open(output + ".json", "w", encoding="utf-8") as file:
        write_json(report_object(records), file)
    with open(output + ".html", "w", encoding="utf-8") as file:
        Page(records, file).write(Path(__file__).with_name("report.css").read_text())


main()
