// SPDX-License-Identifier: BSD-2-Clause
// The page: one state (filter, window of time, chosen span), which the URL's fragment restores; whatever changes it draws.
import { find, make } from "./dom.js";
import { labelOf, readPage, string, threadName } from "./data.js";
import { drawReport, drawSlowest } from "./report.js";
import { makeRates } from "./rates.js";
import { makeHeat } from "./heat.js";
import { makeTimeline } from "./timeline.js";
import { drawSpan } from "./span.js";
import { criticalPath } from "./path.js";
import { makeStrip } from "./strip.js";
import { makeFlame } from "./flame.js";
import { drawCapture, drawLosses, drawNeighbours } from "./others.js";

const KEYS = [
	["w, s", "zoom in and out"],
	["a, d", "move to the left and right"],
	["left, right", "in the timeline: the span before and behind"],
	["/", "filter by label"],
	["f", "search the flame graph"],
	["?", "this help"],
	["Escape", "all again: no filter, no span, the whole time"],
];

function makeView(page) {
	const end = Math.max(page.end_ns, 1);
	const state = { label: "", tag: "", thread: "", from: undefined, to: undefined, span: undefined, window: undefined };
	const matches = (text, wanted) => !wanted || text.toLowerCase().includes(wanted.toLowerCase());
	const view = {
		state,
		draws: [],
		hasTime: () => state.from !== undefined || state.to !== undefined,
		time: () => [state.from ?? 0, state.to ?? end],
		hasSpanFilter: () => state.tag !== "" || state.thread !== "",
		hasLabel: (label) => matches(label, state.label),
		hasThread: (thread) => matches(threadName(page, thread), state.thread),
		buckets() {
			const [from, to] = view.time(), width = page.grid.width_ns;
			return [Math.floor(from / width), Math.max(Math.ceil(to / width) - 1, 0)];
		},
		hasSpan(i) {
			const ended = page.spans.begin[i] + page.spans.wall[i], [from, to] = view.time();
			return view.hasLabel(labelOf(page, i)) && matches(string(page, page.spans.tag[i]), state.tag) && (!state.thread || (page.spans.thread[i] >= 0 && view.hasThread(page.spans.thread[i]))) && (!view.hasTime() || (ended >= from && ended < to));
		},
		window: () => state.window ?? [0, end],
		setWindow(from, to) {
			const length = to - from, first = Math.min(Math.max(from, -end * 0.02), Math.max(end * 1.02 - length, -end * 0.02));
			state.window = [first, first + length];
			view.timeline.draw();
			view.keep();
		},
		set(changes) {
			Object.assign(state, changes);
			if (("from" in changes || "to" in changes) && view.hasTime()) state.window = view.time();
			view.draw();
		},
		choose(i, wants_focus) {
			state.span = i;
			if (i !== undefined) {
				const [from, to] = view.window(), begin = page.spans.begin[i], wall = page.spans.wall[i];
				if (begin < from || begin + wall > to || wall < (to - from) / 500) state.window = [begin - wall * 0.5 - 500, begin + wall * 1.5 + 500];
			}
			view.draw();
			if (wants_focus) {
				find("span").focus();
				find("span").scrollIntoView({ block: "nearest" });
			}
		},
		draw() {
			for (const name of ["label", "tag", "thread"]) if (find(`filter-${name}`).value !== state[name]) find(`filter-${name}`).value = state[name];
			for (const name of ["from", "to"]) find(`filter-${name}`).value = state[name] === undefined ? "" : (state[name] / 1e9).toFixed(6);
			view.draws.forEach((draw) => draw());
			view.keep();
		},
		keep() {
			if (location.protocol === "about:") return; // a part of another page
			clearTimeout(view.timer);
			view.timer = setTimeout(() => {
				const shown = new URLSearchParams();
				for (const name of ["label", "tag", "thread", "from", "to"]) if (state[name] !== undefined && state[name] !== "") shown.set(name, state[name]);
				if (state.window) shown.set("window", state.window.map(Math.round).join(","));
				if (state.span !== undefined) shown.set("span", `${page.spans.pid[state.span]}:${page.spans.id[state.span]}`);
				view.kept = `#${shown}`;
				history.replaceState(null, "", shown.size ? `#${shown}` : location.pathname + location.search);
			}, 150);
		},
		restore() {
			const shown = new URLSearchParams(location.hash.slice(1));
			const number = (text) => (text !== null && Number.isFinite(Number(text)) ? Number(text) : undefined);
			for (const name of ["label", "tag", "thread"]) state[name] = shown.get(name) ?? "";
			state.from = number(shown.get("from"));
			state.to = number(shown.get("to"));
			const window = (shown.get("window") ?? "").split(",").map(Number);
			state.window = window.length === 2 && window.every(Number.isFinite) && window[1] > window[0] ? window : undefined;
			const [pid, id] = (shown.get("span") ?? "").split(":");
			state.span = page.spansById.get(`${pid}:${id}`) ?? page.spansById.get(`0:${id}`);
		},
		clear() {
			Object.assign(state, { label: "", tag: "", thread: "", from: undefined, to: undefined, span: undefined, window: undefined });
			view.draw();
		},
	};
	return view;
}

function listenToFilter(view) {
	for (const name of ["label", "tag", "thread"]) find(`filter-${name}`).addEventListener("input", (event) => view.set({ [name]: event.target.value }));
	for (const name of ["from", "to"])
		find(`filter-${name}`).addEventListener("change", (event) => {
			const text = event.target.value.trim(), value = Number(text);
			view.set({ [name]: text !== "" && Number.isFinite(value) ? value * 1e9 : undefined });
		});
	find("filter").addEventListener("submit", (event) => event.preventDefault());
	find("clear").addEventListener("click", () => view.clear());
	find("help-button").addEventListener("click", toggleHelp);
	find("help").append(make("dl", {}, ...KEYS.flatMap(([key, text]) => [make("dt", {}, key), make("dd", {}, text)])));
}

// A server (txtrace view --serve) draws a part of the log as it draws the whole: the page then has room for more of that part.
function offerDetails(page, view) {
	if (!location.protocol.startsWith("http")) return;
	const moment = (ns) => (BigInt(page.begin_ns) + BigInt(Math.max(Math.floor(ns), 0))).toString();
	find("detail").hidden = false;
	find("detail-whole").disabled = location.search === "";
	find("detail-whole").addEventListener("click", () => location.assign(location.pathname));
	find("detail-part").addEventListener("click", () => {
		const [from, to] = view.window();
		location.assign(`${location.pathname}?from=${moment(from)}&to=${moment(to + 1)}`);
	});
}

function toggleHelp() {
	const help = find("help");
	help.hidden = !help.hidden;
	find("help-button").setAttribute("aria-expanded", String(!help.hidden));
}

function listenToKeys(view) {
	const keys = {
		w: () => view.timeline.zoom(1 / 1.3, 0.5),
		s: () => view.timeline.zoom(1.3, 0.5),
		a: () => view.timeline.move(-0.15),
		d: () => view.timeline.move(0.15),
		"/": () => find("filter-label").focus(),
		f: () => find("flame-search").focus(),
		"?": toggleHelp,
		Escape: () => view.clear(),
	};
	document.addEventListener("keydown", (event) => {
		const isTyping = event.target.matches?.("input:not([type=checkbox]), select");
		if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key] || (isTyping && event.key !== "Escape")) return;
		if (event.defaultPrevented) return;
		event.preventDefault();
		if (isTyping) event.target.blur();
		keys[event.key]();
	});
}

async function start() {
	const page = await readPage(find("data"));
	const view = makeView(page);
	find("title").textContent = page.title;
	document.title = `${page.title} - txtrace`;
	view.restore();
	view.timeline = makeTimeline(page, view);
	const rates = makeRates(page, view), heat = makeHeat(page, view), flame = makeFlame(page, view);
	view.draws.push(() => drawReport(page, view), rates.draw, heat, () => drawSlowest(page, view), view.timeline.draw, () => drawSpan(page, view), () => drawNeighbours(page, view));
	drawLosses(page);
	drawCapture(page);
	listenToFilter(view);
	listenToKeys(view);
	offerDetails(page, view);
	view.draw();
	const again = () => {
		rates.draw();
		heat();
		flame();
		view.timeline.draw();
	};
	window.addEventListener("resize", again);
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
	window.addEventListener("hashchange", () => {
		if (location.hash === view.kept) return;
		view.restore();
		view.draw();
	});
	window.txtrace = { page, view, rates, criticalPath, makeStrip, ready_ms: performance.now() };
	document.documentElement.dataset.ready = "true";
}

start().catch((error) => {
	find("warning").textContent = `This browser cannot show the page: ${error.message}. It needs DecompressionStream (2023 or later).`;
	throw error;
});
