# SPDX-License-Identifier: BSD-2-Clause
"""What a page for a browser takes: to write it, to open it, and to draw its timeline while it is zoomed."""
import base64
import gzip
import json
import os
import re
import sys

from figures import row, title
from log_figures import Cost, captures

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from browser import CHROMIUM, Browser  # pylint: disable=wrong-import-position

MEGABYTES = 100
ROUNDS = 5
FRAMES = 120

# The time from one frame to the next, while each shows another part: in from all of it, and out again.
ZOOM = """new Promise((done) => {
	const times = [], view = txtrace.view;
	let last = 0;
	view.setWindow(0, txtrace.page.end_ns);
	const next = (now) => {
		if (last) times.push(now - last);
		last = now;
		if (times.length === FRAMES) return done(times);
		view.timeline.zoom(times.length < FRAMES / 2 ? 1 / 1.1 : 1.1, 0.4);
		return requestAnimationFrame(next);
	};
	requestAnimationFrame(next);
})""".replace("FRAMES", str(FRAMES))
# What a frame takes the script.
DRAW = """(() => {
	const times = [], view = txtrace.view, request = window.requestAnimationFrame;
	let draw;
	window.requestAnimationFrame = (call) => { draw = call; return 1; };
	view.setWindow(0, txtrace.page.end_ns);
	for (let i = 0; i < FRAMES; i++) {
		const begin = performance.now();
		draw(begin);
		times.push(performance.now() - begin);
		view.timeline.zoom(i < FRAMES / 2 ? 1 / 1.1 : 1.1, 0.4);
	}
	window.requestAnimationFrame = request;
	draw();
	return times;
})()""".replace("FRAMES", str(FRAMES))


def enlarge(html, path, least_cnt):
    """A page with as many stretches: those that are there, again and again, one after the other. A log's page has no room for them."""
    with open(html, encoding="utf-8") as file:
        text = file.read()
    before, data, after = re.fullmatch(r'(.*id="data"[^>]*>)([^<]*)(<.*)', text, re.S).groups()
    page = json.loads(gzip.decompress(base64.b64decode(data)))
    segments, end = page["segments"], page["end_ns"]
    cnt = len(segments["from"])
    times = -(-least_cnt // cnt)
    for name, values in segments.items():
        if isinstance(values, list):
            segments[name] = [value + end * i if name == "from" else value for i in range(times) for value in values]
    page["end_ns"] = end * times
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + base64.b64encode(gzip.compress(json.dumps(page).encode(), 1)).decode() + after)


def percentiles(values):
    ordered = sorted(values)
    return ", ".join(f"p{part} {ordered[min(len(ordered) * part // 100, len(ordered) - 1)]:.1f}" for part in (50, 90, 99))


def page(bench):
    title(f"A page of a log of {MEGABYTES} MB (aims: < 10 s, < 256 MB, < 10 MB; first paint < 1 s; 16.7 ms a frame)")
    path = captures(bench)[1].repeat("paged", "--megabytes", str(MEGABYTES))
    html = os.path.join(bench.scratch, "page.html")
    costs = [Cost([os.path.join(bench.build, "txtrace"), "view", "-o", html, path], bench.scratch) for _ in range(ROUNDS)]
    row("to write it", [cost.wall for cost in costs], "s", note=f"{max(cost.mib for cost in costs):.0f} MiB at most; {os.path.getsize(html) / 1e6:.2f} MB")
    os.remove(path)
    if not CHROMIUM:
        print("  there is no chromium to open it with")
        return
    paints, readies = open_page(html, "as it is written")
    row("first paint", paints, "ms")
    row("all of it is drawn", readies, "ms")
    large = os.path.join(bench.scratch, "large.html")
    enlarge(html, large, 1_000_000)
    open_page(large, "with its stretches again and again")
    os.remove(large)


def open_page(html, what):
    paints, readies, frames, draws = [], [], [], []
    for _ in range(ROUNDS):
        with Browser() as browser:
            opened = browser.open(f"file://{html}")
            opened.frame()
            paints.append(opened.run("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"))
            readies.append(opened.run("txtrace.ready_ms"))
            intervals = opened.run("txtrace.page.segmentCount + txtrace.page.pieces.from.length")
            frames += opened.run(ZOOM)
            opened.frame()
            draws += opened.run(DRAW)
    print(f"  {what}: zooming over {intervals:,} intervals at 1280x800, without a GPU: ms from frame to frame: {percentiles(frames)}; ms of script: {percentiles(draws)}")
    return paints, readies
