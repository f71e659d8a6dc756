# SPDX-License-Identifier: BSD-2-Clause
"""view_browser.py FOLDER [huge | real NAME...]: the pages shop, strange, empty and small there, as people use them; or the page huge, of the log short again and again;
or these pages, of recordings. Prints TAP."""
import json
import os
import subprocess
import sys
import time
import traceback

from browser import Browser

folder = sys.argv[1]
txtrace = os.environ["BUILD"] + "/txtrace"
number = 0


def duration(ns):
	"""As txtrace prints it: three digits, cut and not rounded."""
	ns = int(ns)
	for unit, size in ("s", 1000000000), ("ms", 1000000), ("µs", 1000):
		if ns >= size:
			whole, rest = divmod(ns, size)
			hundredths = int(rest / size * 100)
			return f"{whole:,} {unit}" if whole >= 100 else f"{whole}.{hundredths // 10} {unit}" if whole >= 10 else f"{whole}.{hundredths:02} {unit}"
	return f"{ns} ns"


def same(what, got, wanted):
	assert got == wanted, f"{what}: {got!r}, not {wanted!r}"


def texts(page, selector):
	return page.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((element) => element.textContent)")


def rows(page, where):
	return page.run(f"[...document.querySelectorAll('#{where} tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")


def box(page, name):
	page.run(f"document.getElementById('{name}').scrollIntoView({{ block: 'center' }})")
	page.frame()
	return page.run(f"(() => {{ const box = document.getElementById('{name}').getBoundingClientRect(); return [box.left, box.top, box.width, box.height]; }})()")


def show(page, name, text):
	page.run(f"document.getElementById('{name}').focus(); document.getElementById('{name}').select()")
	page.type(text)


def report_of(name):
	with open(f"{folder}/{name}.json", encoding="utf-8") as opened:
		return json.load(opened)


# ---- cases ----

def same_report(page, name):
	shown = {row[0]: row[1:8] for row in rows(page, "report-table")}
	wanted = {}
	for row in report_of(name)["labels"]:
		wall = row["wall_ns"]
		bounds = (row["lower_bounds"] or {}).get("count", 0)
		wanted[row["label"]] = [f"{row['count']:,}", f"{bounds:,}" if bounds else "", duration(row["sum"]["wall_ns"] // row["count"]) if row["count"] else "-", duration(wall["p50"]), duration(wall["p99"]), duration(wall["max"]),
			duration(row["sum"]["work_ns"])]
	same("the report", shown, wanted)


def figures(browser):
	page = browser.open(f"file://{folder}/shop.html")
	same_report(page, "shop")
	slowest = max(page.run("[...txtrace.page.spans.wall]"))
	same("the slowest span", rows(page, "slow-table")[0][3], duration(slowest))
	return page


def filters(browser):
	page = browser.open(f"file://{folder}/shop.html")
	page.key("/")
	page.type("pay")
	same("labels", [row[0] for row in rows(page, "report-table")], ["payment"])
	same("slowest", {row[0] for row in rows(page, "slow-table")}, {"payment"})
	page.key("Escape")
	same("labels behind Escape", len(rows(page, "report-table")), 3)
	show(page, "filter-tag", "shard=1")
	same("spans with the tag", sum(int(row[1]) for row in rows(page, "report-table")), page.run("txtrace.page.spans.tag.filter((tag) => txtrace.page.strings[tag] === 'shard=1').length"))
	show(page, "filter-thread", "worker-12")
	tid = page.run("[...new Set([...Array(txtrace.page.spanCount).keys()].filter(txtrace.view.hasSpan).map((i) => txtrace.page.threads.tid[txtrace.page.spans.thread[i]]))]")
	same("threads", tid, [12])
	return page


def sorting(browser):
	page = browser.open(f"file://{folder}/shop.html")
	for expected in (False, True):
		page.run("[...document.querySelectorAll('#report-table th button')].find((button) => button.textContent === 'label').click()")
		labels = [row[0] for row in rows(page, "report-table")]
		same("labels", labels, sorted(labels, reverse=expected))
	return page


def times(browser):
	page = browser.open(f"file://{folder}/shop.html")
	left, top, width, height = box(page, "heat")
	page.mouse("mousePressed", left + width * 0.4, top + height / 2, button="left", buttons=1, clickCount=1)
	page.mouse("mouseMoved", left + width * 0.6, top + height / 2, button="left", buttons=1)
	page.mouse("mouseReleased", left + width * 0.6, top + height / 2, button="left", clickCount=1)
	page.frame()
	begin, end = page.run("txtrace.view.time()")
	assert 0 < begin < end, f"{begin} to {end}"
	wanted = page.run(f"[...Array(txtrace.page.spanCount).keys()].filter((i) => {{ const at = txtrace.page.spans.begin[i] + txtrace.page.spans.wall[i]; return at >= {begin} && at < {end}; }}).length")
	assert 0 < wanted < page.run("txtrace.page.spanCount"), wanted
	same("spans of the time", sum(int(row[1]) for row in rows(page, "report-table")), wanted)
	same("the window", page.run("txtrace.view.window()"), [begin, end])
	return page


def chart(browser):
	"""Its columns add up to the report, of all labels and of one; dragging chooses the time of columns."""
	page = browser.open(f"file://{folder}/shop.html")
	width, labels = page.run("txtrace.page.grid.width_ns"), report_of("shop")["labels"]
	for wanted in "", "payment":
		page.run(f"txtrace.view.set({{ label: {json.dumps(wanted)} }})")
		times, rates, means, quantiles = page.run("txtrace.rates.data()")
		counts = [round(rate * width / 1e9) for rate in rates]
		chosen = [row for row in labels if wanted in row["label"]]
		same(f"spans of '{wanted}'", sum(counts), sum(row["count"] for row in chosen))
		wall = sum(mean * cnt for mean, cnt in zip(means, counts) if cnt)
		assert abs(wall - sum(row["sum"]["wall_ns"] for row in chosen)) <= len(counts), wall
		assert all((cnt > 0) == (mean is not None) == (quantile is not None) for cnt, mean, quantile in zip(counts, means, quantiles)), counts
		most = max(row["wall_ns"]["max"] for row in chosen)
		assert most <= max(quantile for quantile in quantiles if quantile) * 1.01, quantiles
	page.key("Escape")
	left, top, _, _ = box(page, "rates")
	plot = page.run("(() => { const over = document.querySelector('#rates .u-over').getBoundingClientRect(); return [over.left, over.top, over.width, over.height]; })()")
	at = lambda part: plot[0] + plot[2] * part
	page.mouse("mousePressed", at(0.3), plot[1] + 20, button="left", buttons=1, clickCount=1)
	page.mouse("mouseMoved", at(0.6), plot[1] + 20, button="left", buttons=1)
	page.mouse("mouseReleased", at(0.6), plot[1] + 20, button="left", clickCount=1)
	page.frame()
	begin, end = page.run("txtrace.view.time()")
	same("whole columns", [begin % width, end % width], [0, 0])
	last = times[-1]
	assert abs(begin / last - 0.3) < 0.05 and abs(end / last - 0.6) < 0.1, (begin, end, last)
	drawn = page.run("(() => { const canvas = document.querySelector('#rates canvas'); return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value); })()")
	same("something is drawn", drawn, True)
	return page


def one_span(browser):
	page = browser.open(f"file://{folder}/shop.html")
	label, tag, _, wall, _ = rows(page, "slow-table")[2]
	page.run("document.querySelectorAll('#slow-table tbody tr')[2].querySelector('button').click()")
	page.frame()
	same("its title", texts(page, "#span-title"), [f"Span {label}, {wall}"])
	assert tag in texts(page, "#span-body dd"), texts(page, "#span-body dd")
	parts = page.run("txtrace.page.spans.parts[txtrace.view.state.span]")
	same("its ledger", sorted(row[1] for row in rows(page, "span-body") if row[0] in ("on-CPU", "lock")), sorted(duration(ns) for ns in parts[1::2]))
	assert "ended by" in " ".join(texts(page, "#span-body th")), texts(page, "#span-body th")
	waker = page.run("(() => { const i = txtrace.view.state.span, all = [...document.querySelectorAll('#span-body tbody tr')].map((row) => row.textContent); return all.some((text) => /worker-1\\d 1\\d$/.test(text)); })()")
	same("a waker is named", waker, True)
	return page


def paths(browser):
	"""Of the 60 longest spans, step by step, as the command says."""
	page = browser.open(f"file://{folder}/shop.html")
	begin_ns, followed = page.run("Number(txtrace.page.begin_ns)"), 0
	for i, span in page.run("[...txtrace.page.spans.wall.keys()].sort((a, b) => txtrace.page.spans.wall[b] - txtrace.page.spans.wall[a]).slice(0, 60).map((i) => [i, txtrace.page.spans.id[i]])"):
		said = json.loads(subprocess.run([txtrace, "critical-path", "--json", f"{folder}/shop.txtrace", span], capture_output=True, text=True, check=True).stdout)
		wanted = [[step["from_ns"], step["to_ns"], step["tid"], step["depth"], step["state"], step["span"]] for step in said["steps"]]
		got = page.run(f"""txtrace.criticalPath(txtrace.page, {i}).map((step) => [step.from + {begin_ns}, step.to + {begin_ns}, txtrace.page.threads.tid[step.thread], step.depth,
			step.segment === undefined ? "unknown" : ["on_cpu", "", "runnable", "blocked"][txtrace.page.segments.state[step.segment]], step.span === undefined ? null : txtrace.page.spans.id[step.span]])""")
		same(f"the path of span {span}", got, wanted)
		followed += any(step[3] > 0 for step in got)
	assert followed > 10, f"only {followed} paths follow a waker"
	page.run("txtrace.view.choose(txtrace.page.spans.wall.indexOf(Math.max(...txtrace.page.spans.wall)))")
	page.frame()
	assert rows(page, "path-table"), "no path is shown"
	return page


def timeline(browser):
	page = browser.open(f"file://{folder}/shop.html")
	before = page.run("txtrace.view.window()")
	page.key("w")
	after = page.run("txtrace.view.window()")
	assert after[1] - after[0] < before[1] - before[0], (before, after)
	page.key("d")
	moved = page.run("txtrace.view.window()")
	assert moved[0] > after[0] and abs((moved[1] - moved[0]) - (after[1] - after[0])) < 1, (after, moved)
	page.key("Escape")
	left, top, width, _ = box(page, "timeline")
	page.mouse("mouseMoved", left + width * 0.5, top + 20 + 15 + 6)
	page.mouse("mouseWheel", left + width * 0.5, top + 41, deltaX=0, deltaY=-120)
	page.frame()
	assert page.run("txtrace.view.window()[1] - txtrace.view.window()[0]") < before[1] - before[0]
	page.mouse("mouseMoved", left + width * 0.5 + 1, top + 41)
	page.frame()
	assert " s" in texts(page, "#timeline-readout")[0], texts(page, "#timeline-readout")
	chosen = None
	for at in range(120): # where the first thread was in a span
		if chosen is None:
			page.click(left + width * (at // 6) / 20, top + 41 + 13 * (at % 6))
			chosen = page.run("txtrace.view.state.span ?? null")
	assert chosen is not None, "a click on a span chose none"
	page.run("document.getElementById('timeline').focus()")
	page.key("ArrowRight")
	assert page.run("txtrace.view.state.span") != chosen
	return page


# 20,000 stretches one after the other, of any length up to a thousand columns, and as many of which any may overlap. In each window, a column that none covers
# shows the longest of those that begin in it, and what is as wide as a column is shown by itself, from its begin to its end.
STRIPS = """(() => {
	let seed = 12345, wrong = [];
	const random = () => ((seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648);
	for (const overlaps of [false, true]) {
		const from = [], length = [], list = [];
		for (let at = 0; list.length < 20000;) {
			list.push(list.length);
			from.push(at);
			length.push(Math.floor(random() ** 8 * 100000));
			at += Math.floor(overlaps ? random() * 100 : length.at(-1) + (random() < 0.5 ? 0 : random() * 300));
		}
		const strip = txtrace.makeStrip(list, from, length), end = from.at(-1) + length.at(-1), width = 500;
		for (let round = 0; round < 60; round++) {
			const begin = Math.floor(random() * end * 0.9), size = Math.ceil(end / 1.3 ** (round % 40)), scale = width / size;
			const x = (ns) => (ns - begin) * scale, columns = new Map(), wide = new Map(), starts = new Map();
			let steps = 0;
			strip.each(begin, begin + size, width, (i, left, right) => {
				steps++;
				if (length[i] * scale >= 1) wide.set(i, [left, right]);
				else columns.set(left, i);
			});
			if (!overlaps && steps > 2 * width + 2) wrong.push(["steps", round, steps]);
			for (const i of list) {
				const right = Math.min(x(from[i]) + length[i] * scale, width), column = Math.floor(x(from[i]));
				if (from[i] >= begin + size || right <= 0) continue;
				if (length[i] * scale >= 1) {
					const seen = wide.get(i);
					if (!overlaps && (!seen || seen[0] !== Math.max(x(from[i]), 0) || seen[1] !== right)) wrong.push(["wide", round, i, seen]);
				} else if (column >= 0 && !(length[starts.get(column)] >= length[i])) starts.set(column, i);
			}
			if (!overlaps) for (const [column, i] of starts) if (!columns.has(column) || length[columns.get(column)] !== length[i]) wrong.push(["column", round, column, i, columns.get(column)]);
		}
		for (let i = 0; i < 20000; i += 7) if (length[i] && !overlaps && strip.near(from[i] + length[i] / 2, 0.1) !== i) wrong.push(["near", i]);
		for (let round = 0; round < 500; round++) {
			const first = Math.floor(random() * 20000), last = first + 1 + Math.floor(random() * (20000 - first));
			if (length[strip.longest(first, last)] !== length.slice(first, last).reduce((a, b) => Math.max(a, b))) wrong.push(["longest", first, last]);
		}
	}
	return JSON.stringify(wrong.slice(0, 5));
})()"""


def strips(browser):
	page = browser.open(f"file://{folder}/shop.html")
	same("what is wrong", page.run(STRIPS), "[]")
	return page


# What is drawn where, of logs/stolen.txt and a loss: the worker is above, since it has spans, on two levels; main is below.
def colors(browser):
	page = browser.open(f"file://{folder}/stolen.html")
	page.frame()
	read = """(places) => {
		const canvas = document.getElementById("timeline"), [from, to] = txtrace.view.window();
		const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
		return places.map(([ns, y]) => {
			const at = 4 * (Math.round(y * devicePixelRatio) * width + Math.floor((ns - from) / (to - from) * width)), color = [...data.slice(at, at + 3)];
			return data[at + 3] === 255 ? "#" + color.map((byte) => byte.toString(16).padStart(2, "0")).join("") : data[at + 3] ? "tinted" : "";
		});
	}"""
	on_cpu, stolen, runnable, sleep = "#0072b2", "#b493cf", "#ffbe1c", "#7267e3"
	upper, lower = 20 + 41 + 2, 20 + 41 + 8  # of the worker's strip
	main_upper, main_lower, below = 20 + 58 + 15 + 2, 20 + 58 + 15 + 8, 20 + 41 + 13
	wanted = [
		(70000, lower, runnable), (130000, upper, on_cpu), (130000, lower, on_cpu), (190000, upper, stolen), (190000, lower, on_cpu), (250000, lower, sleep), (340000, lower, runnable),
		(450000, upper, on_cpu), (550000, lower, ""), (50000, main_upper, on_cpu), (90000, main_upper, stolen), (90000, main_lower, on_cpu),
		(300000, below, ""), (340000, below, "tinted"), (380000, below, ""),
	]
	spans = [(430000, 20 + 15 + 6), (430000, 20 + 15 + 13 + 6), (300000, 20 + 15 + 13 + 6), (10000, 20 + 15 + 6)]
	got = page.run(f"({read})({json.dumps([place[:2] for place in wanted + spans])})")
	same("the colours", got[:len(wanted)], [color for _, _, color in wanted])
	spans = got[len(wanted):]
	assert spans[0] and spans[1] and spans[0] != spans[1] and spans[2:] == ["", ""], spans
	return page


def fragment(browser):
	page = browser.open(f"file://{folder}/shop.html")
	show(page, "filter-label", "ship")
	page.run("txtrace.view.choose(5)")
	page.wait("location.hash.includes('span=')")
	kept = page.run("location.href")
	state = page.run("JSON.stringify([txtrace.view.state.label, txtrace.view.state.span, txtrace.view.window().map(Math.round)])")
	again = browser.open(kept)
	same("the state", again.run("JSON.stringify([txtrace.view.state.label, txtrace.view.state.span, txtrace.view.window().map(Math.round)])"), state)
	page.errors += again.errors
	return page


def flames(browser):
	page = browser.open(f"file://{folder}/shop.html")
	total = page.run("txtrace.page.flames[0].total_ns")
	same("its total", texts(page, "#flame-readout")[0].split(" in all")[0], duration(total))
	page.key("f")
	page.type("order")
	wanted = page.run("txtrace.page.flames[0].rows.filter((row) => row[0] === 0 && row[5] === 'order').reduce((sum, row) => sum + row[2], 0)")
	same("what matches", texts(page, "#flame-readout")[0], f"matching: {duration(wanted)}, {100 * wanted / total:.1f} % of {duration(total)}")
	page.run("document.getElementById('flame-invert').click()")
	page.frame()
	same("and inverted", texts(page, "#flame-readout")[0], f"matching: {duration(wanted)}, {100 * wanted / total:.1f} % of {duration(total)}")
	return page


def strange(browser):
	page = browser.open(f"file://{folder}/strange.html")
	page.run("txtrace.view.choose(0)")
	page.frame()
	labels = {row[0] for row in rows(page, "report-table")}
	same("labels", labels, {"<img src=x onerror=window.hacked=1>", "__proto__", "toString"})
	same("elements of labels", page.run("document.querySelectorAll('main img, main svg, main script, h1 b').length"), 0)
	page.run("const script = document.createElement('script'); script.textContent = 'window.hacked = 1'; document.body.append(script)")
	same("what a label did", page.run("window.hacked ?? null"), None)
	assert any("Content Security Policy" in error for error in page.errors), "the policy let a script in"
	page.errors = [error for error in page.errors if "Content Security Policy" not in error]
	return page


def no_spans(browser):
	page = browser.open(f"file://{folder}/empty.html")
	assert "There are no spans in the log." in texts(page, "#report-table")[0]
	return page


def losses(browser):
	page = browser.open(f"file://{folder}/small.html")
	report = report_of("small")
	warning = texts(page, "#warning")[0]
	bounds = report["totals"]["lower_bounds"]["count"]
	assert f"{bounds} spans are lower bounds" in warning, warning
	lost = report["losses"]["lost"]
	assert not lost or f"{lost:,} events were lost." in warning, warning
	return page


def part(browser):
	"""Of a log that is whole: nothing is said to be missing."""
	page = browser.open(f"file://{folder}/part.html")
	assert 0 < page.run("txtrace.page.spanCount") < sum(row["count"] for row in report_of("shop")["labels"]), page.run("txtrace.page.spanCount")
	assert "did not close" not in texts(page, "#warning")[0], texts(page, "#warning")
	return page


def narrow(browser):
	for dark in False, True:
		page = browser.open(f"file://{folder}/shop.html", width=400, height=800, dark=dark)
		page.run("txtrace.view.choose(3)")
		page.frame()
		same("what is wider than the window", page.run("Math.max(document.documentElement.scrollWidth - 400, 0)"), 0)
		same("dark", page.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 31)", dark)
		assert not page.errors, page.errors
	return page


def keyboard(browser):
	page = browser.open(f"file://{folder}/shop.html")
	page.key("?")
	same("the help", page.run("document.getElementById('help').hidden"), False)
	same("titles of the parts", [text for text in texts(page, "h2")][:5], ["Report", "Spans over time", "Latency over time", "Slowest spans", "Timeline"])
	unnamed = page.run("[...document.querySelectorAll('button, input, select, canvas')].filter((element) => !(element.labels?.length || element.textContent || element.getAttribute('aria-label'))).length")
	same("what a screen reader has no name for", unnamed, 0)
	page.run("document.getElementById('heat').focus()")
	page.key("ArrowRight")
	same("a time by key", page.run("txtrace.view.hasTime()"), True)
	return page


def huge(browser):
	page = browser.open(f"file://{folder}/huge.html")
	same_report(page, "huge")
	short = {row["label"]: row for row in report_of("short")["labels"]}
	rounds = {row["count"] / short[row["label"]]["count"] for row in report_of("huge")["labels"]}
	assert len(rounds) == 1 and rounds.pop().is_integer(), f"not each label is there as often: {rounds}"
	for row in report_of("huge")["labels"]:
		same(f"the longest {row['label']}", row["wall_ns"]["max"], short[row["label"]]["wall_ns"]["max"])
	count = sum(row["count"] for row in report_of("huge")["labels"])
	assert any(text.startswith(f"Of {count:,} spans, the page has those of ") for text in texts(page, ".note")), texts(page, ".note")
	return page


def huge_in_use(browser):
	page = browser.open(f"file://{folder}/huge.html")
	page.key("/")
	page.type("lock")
	same("labels", [row[0] for row in rows(page, "report-table")], ["lock accounts"])
	page.key("Escape")
	longest = max(page.run("[...txtrace.page.spans.wall]"))
	same("the slowest span", rows(page, "slow-table")[0][3], duration(longest))
	page.run("document.querySelector('#slow-table tbody tr button').click()")
	page.frame()
	assert texts(page, "#span-title")[0].endswith(f", {duration(longest)}"), texts(page, "#span-title")
	assert rows(page, "path-table"), "no critical path is shown"
	for _ in range(40):
		page.key("w")
		page.frame()
	begin, end = page.run("txtrace.view.window()")
	assert end - begin < page.run("txtrace.page.end_ns") / 1000, (begin, end)
	page.key("f")
	page.type("journal")
	assert texts(page, "#flame-readout")[0].startswith("matching: "), texts(page, "#flame-readout")
	return page


def sides(browser):
	"""Of txtrace diff: a page of each side, in which what runs is ours alone, and which it can't leave."""
	page = browser.open(f"file://{folder}/sides.html", ready="document.readyState === 'complete'")
	frames = browser.frames(page, "document.documentElement?.dataset.ready")
	same("frames", len(frames), 2)
	frames.sort(key=lambda frame: frame.run("txtrace.page.spanCount"))
	for name, frame in zip(("strange", "shop"), frames):
		same(f"labels of {name}", {row[0]: row[1] for row in rows(frame, "report-table")}, {row["label"]: f"{row['count']:,}" for row in report_of(name)["labels"]})
		frame.run("txtrace.view.choose(0)")
		before = frame.run("txtrace.view.window()")
		frame.run("txtrace.view.timeline.zoom(0.5, 0.5)")
		time.sleep(0.3) # the address is kept behind that, where there is one
		after = frame.run("txtrace.view.window()")
		assert after[1] - after[0] < before[1] - before[0], (before, after)
		same("the timeline is first", frame.run("[...document.querySelectorAll('section')].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)[0].contains(document.getElementById('timeline'))"), True)
		same("what a label did", frame.run("window.hacked ?? null"), None)
		same("what it may read around it", frame.run("(() => { try { return parent.document.title; } catch { return null; } })()"), None)
		page.errors += frame.errors
	return page


CASES = [
	("the figures are those of the report", figures),
	("a filter by label, tag and thread", filters),
	("a title sorts", sorting),
	("a time is chosen in the heat map", times),
	("the chart of spans over time adds up to the report", chart),
	("one span: ledger, attributes, waits and wakers", one_span),
	("the critical path is that of txtrace critical-path", paths),
	("the timeline zooms, moves and chooses", timeline),
	("states, stolen time and losses have their colours where they were", colors),
	("a row of intervals shows the longest of each column, in few steps", strips),
	("the fragment of the address restores what was shown", fragment),
	("flame graphs: search and inversion", flames),
	("labels are never markup, and no other script runs", strange),
	("a log without spans", no_spans),
	("losses and lower bounds stand above all else", losses),
	("a part of a log is not said to lack its end", part),
	("400 pixels wide, light and dark", narrow),
	("by keyboard alone, with names for a screen reader", keyboard),
	("two logs beside each other, of txtrace diff", sides),
]

def real(name):
	def case(browser):
		page, report = browser.open(f"file://{folder}/{name}.html"), report_of(name)
		same_report(page, name)
		lost = report["losses"]["lost"]
		same("the losses are said", f"{lost:,} events were lost." in texts(page, "#warning")[0], lost > 0)
		if page.run("txtrace.page.spanCount"):
			page.run("document.querySelector('#slow-table tbody tr button').click()")
			page.frame()
			assert texts(page, "#span-title")[0].endswith(f", {duration(max(page.run('[...txtrace.page.spans.wall]')))}"), texts(page, "#span-title")
		for key in "wwdas":
			page.key(key)
		page.key("Escape")
		return page
	return case


REAL_CASES = [(f"the page of {name}", real(name)) for name in sys.argv[3:]]
HUGE_CASES = [
	("the figures are those of the report, which are those of the short log", huge),
	("filter, slowest span, critical path, zoom and search", huge_in_use),
]

with Browser() as started:
	for name, case in REAL_CASES or (HUGE_CASES if sys.argv[2:] == ["huge"] else CASES):
		number += 1
		try:
			errors = case(started).errors
			assert not errors, f"the console said {errors}"
			print(f"ok {number} - {name}", flush=True)
		except Exception: # of any kind: the next case is tried
			print(f"not ok {number} - {name}")
			print("\n".join(f"# {line}" for line in traceback.format_exc().splitlines()[-4:]), flush=True)
print(f"1..{number}")
