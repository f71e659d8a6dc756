// SPDX-License-Identifier: BSD-2-Clause
// One span: its ledger, what the program said of it, the spans below it, and its waits with who ended them.
import { bar, find, make, table } from "./dom.js";
import { isLowerBound, labelOf, parentOf, partsOf, string, threadName, wakerText } from "./data.js";
import { criticalPath } from "./path.js";
import { count, duration, seconds, share } from "./format.js";
import { hashColor, segmentName } from "./names.js";

const CHILD_MAX = 200, WAIT_MAX = 50, PATH_MAX = 60;

function link(page, view, i, text) {
	return make("button", { class: "link", type: "button", onclick: () => view.choose(i, true) }, text ?? labelOf(page, i));
}

function flagsText(flags) {
	const words = { 2: "it never ended", 4: "lost events overlap it", 8: "its ledger does not add up", 16: "named by a key", 32: "several threads worked for it" };
	return Object.entries(words).filter(([flag]) => flags & flag).map(([, text]) => text).join("; ");
}

function facts(page, view, i) {
	const { spans } = page, parent = parentOf(page, i);
	const list = [
		["label", labelOf(page, i)],
		["tag", string(page, spans.tag[i])],
		["key", string(page, spans.key[i])],
		["id", spans.id[i]],
		["thread", threadName(page, spans.thread[i]) + (spans.end_thread[i] >= 0 && spans.end_thread[i] !== spans.thread[i] ? `, ended by ${threadName(page, spans.end_thread[i])}` : "")],
		["process", spans.pid[i]],
		["begin", `${seconds(spans.begin[i])} s`],
		["wall", duration(spans.wall[i])],
		["work", duration(spans.work[i])],
		["parent", parent !== undefined ? link(page, view, parent) : spans.parent[i] ? "(not in the page)" : ""],
		["note", (isLowerBound(spans.flags[i]) ? "A lower bound: its account is incomplete. " : "") + flagsText(spans.flags[i])],
		["may be stolen", spans.stolen_max[i] ? `at most ${duration(spans.stolen_max[i])}, which is in on-CPU` : ""],
	];
	const shown = list.filter(([, value]) => value !== "" && value !== undefined);
	return make("dl", { class: "facts" }, ...shown.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
}

function ledger(page, i) {
	const parts = partsOf(page, page.spans.parts[i]).sort((a, b) => b[1] - a[1]), work = page.spans.work[i];
	const columns = [
		{ title: "part", text: true, get: ([title]) => title },
		{ title: "time", get: ([, ns]) => duration(ns) },
		{ title: "of work", get: ([, ns]) => share(ns, work) },
		{ title: "", text: true, get: (part) => bar([part], work) },
	];
	return [make("h3", {}, "Ledger"), make("div", { class: "wide" }, table(columns, parts))];
}

// What the program said, in the order of time.
function marks(page, i) {
	const found = [];
	page.marks.span.forEach((span, at) => {
		if (span === page.spans.id[i] && page.marks.pid[at] === page.spans.pid[i]) found.push(at);
	});
	if (!found.length) return [];
	found.sort((a, b) => page.marks.time[a] - page.marks.time[b]);
	return [make("h3", {}, "Attributes and instants"), make("dl", { class: "facts" }, ...found.flatMap((at) => [make("dt", {}, `+${duration(page.marks.time[at] - page.spans.begin[i])}`), make("dd", {}, string(page, page.marks.text[at]))]))];
}

// Those below it, each below its parent.
export function below(page, i, depth = 0, list = []) {
	const children = [...(page.children.get(i) ?? [])].sort((a, b) => page.spans.begin[a] - page.spans.begin[b]);
	for (const child of children) {
		if (list.length >= CHILD_MAX || depth > 64) break;
		list.push([child, depth]);
		below(page, child, depth + 1, list);
	}
	return list;
}

function fallBar(page, root, i) {
	const { begin, wall } = page.spans, whole = Math.max(wall[root], 1);
	const box = make("div", { class: "bar" }), piece = make("span", { title: duration(wall[i]) });
	const left = Math.min(Math.max((begin[i] - begin[root]) / whole, 0), 1);
	piece.style.left = `${100 * left}%`;
	piece.style.width = `${Math.max(100 * Math.min(wall[i] / whole, 1 - left), 0.4)}%`;
	piece.style.background = hashColor(labelOf(page, i));
	box.append(piece);
	return box;
}

function waterfall(page, view, i) {
	const list = [[i, -1], ...below(page, i)];
	if (list.length === 1) return [];
	const columns = [
		{ title: "span", text: true, get: ([child, depth]) => make("span", {}, "\u00a0".repeat(2 * (depth + 1)), child === i ? labelOf(page, i) : link(page, view, child), ` ${string(page, page.spans.tag[child])}`) },
		{ title: "begin", get: ([child]) => `+${duration(page.spans.begin[child] - page.spans.begin[i])}` },
		{ title: "wall", get: ([child]) => duration(page.spans.wall[child]) },
		{ title: "", text: true, get: ([child]) => fallBar(page, i, child) },
		{ title: "where the work went", text: true, get: ([child]) => bar(partsOf(page, page.spans.parts[child]), page.spans.work[child]) },
	];
	const rest = list.length > CHILD_MAX ? `The first ${count(CHILD_MAX)} spans below it. ` : "";
	const gone = page.spans.least_ns ? `Spans below ${duration(page.spans.least_ns)} are not in the page.` : "";
	return [make("h3", {}, "Waterfall"), make("p", { class: "note" }, rest + gone), make("div", { class: "wide fall" }, table(columns, list))];
}

function wakerOf(page, view, i) {
	const span = page.segments.waker_span[i];
	const at = span ? page.spansById.get(`${page.segments.waker_pid[i]}:${span}`) : undefined;
	const text = wakerText(page, i);
	return at === undefined ? text : make("span", {}, `${text}, in `, link(page, view, at));
}

// Of threads while they were in it, or in spans below it.
export function waitsOf(page, i) {
	const found = new Map();
	for (const span of [i, ...below(page, i).map(([child]) => child)])
		for (const piece of page.spanPieces.get(span) ?? []) {
			const begin = page.pieces.from[piece], end = begin + page.pieces.length[piece];
			for (const at of page.threadSegments[page.pieces.thread[piece]] ?? []) {
				const from = Math.max(page.segments.from[at], begin), to = Math.min(page.segments.from[at] + page.segments.length[at], end);
				if (page.segments.state[at] !== 0 && to > from && to - from > (found.get(at)?.[2] ?? 0)) found.set(at, [at, from, to - from]);
			}
		}
	return [...found.values()].sort((a, b) => b[2] - a[2]);
}

function waits(page, view, i) {
	const found = waitsOf(page, i);
	if (!found.length) return [];
	const columns = [
		{ title: "what", text: true, get: ([at]) => segmentName(page, at) },
		{ title: "on", text: true, get: ([at]) => string(page, page.segments.object[at]) },
		{ title: "at", key: ([, from]) => from, get: ([, from]) => `+${duration(from - page.spans.begin[i])}` },
		{ title: "time", key: ([, , ns]) => ns, get: ([, , ns]) => duration(ns) },
		{ title: "thread", text: true, get: ([at]) => threadName(page, page.segments.thread[at]) },
		{ title: "ended by", text: true, get: ([at]) => (page.segments.state[at] === 3 ? wakerOf(page, view, at) : "") },
	];
	const note = found.length > WAIT_MAX ? `The ${count(WAIT_MAX)} longest of ${count(found.length)} waits of its threads meanwhile.` : "What its threads waited for meanwhile, the longest first.";
	return [make("h3", {}, "Waits"), make("p", { class: "note" }, note), make("div", { class: "wide" }, table(columns, found.slice(0, WAIT_MAX)))];
}

function path(page, view, i) {
	const steps = criticalPath(page, i);
	if (!page.segmentCount || !steps.length) return [];
	const longest = [...steps].sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, PATH_MAX).sort((a, b) => a.from - b.from);
	const columns = [
		{ title: "at", key: (step) => step.from, get: (step) => `+${duration(step.from - page.spans.begin[i])}` },
		{ title: "time", key: (step) => step.to - step.from, get: (step) => duration(step.to - step.from) },
		{ title: "thread", text: true, get: (step) => "\u00a0".repeat(2 * Math.min(step.depth, 20)) + threadName(page, step.thread) },
		{ title: "what", text: true, get: (step) => (step.segment === undefined ? "(not in the page)" : segmentName(page, step.segment)) },
		{ title: "for", text: true, get: (step) => (step.span === undefined ? "" : link(page, view, step.span)) },
	];
	const note = `What its end waited for, moment by moment; the timeline shows it as a line. ${steps.length > PATH_MAX ? `The ${PATH_MAX} longest of ${count(steps.length)} steps.` : ""}`;
	return [make("h3", {}, "Critical path"), make("p", { class: "note" }, note), make("div", { class: "wide", id: "path-table" }, table(columns, longest))];
}

export function drawSpan(page, view) {
	const i = view.state.span;
	if (i === undefined) {
		find("span-title").textContent = "Span";
		find("span-body").replaceChildren(make("p", { class: "note" }, "No span is chosen. Click one in the timeline or in a table."));
		return;
	}
	find("span-title").textContent = `Span ${labelOf(page, i)}, ${duration(page.spans.wall[i])}`;
	find("span-body").replaceChildren(facts(page, view, i), ...ledger(page, i), ...marks(page, i), ...waterfall(page, view, i), ...waits(page, view, i), ...path(page, view, i));
}
