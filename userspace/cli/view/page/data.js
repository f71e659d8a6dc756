// SPDX-License-Identifier: BSD-2-Clause
// The page's document (view_json.c), and what is asked of it: strings by number, spans by id, what lies in a time.

export async function readPage(element) {
	const text = atob(element.textContent);
	const bytes = new Uint8Array(text.length);
	for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	return index(await new Response(stream).json());
}

function index(page) {
	const { spans, segments } = page;
	for (const name of ["begin", "wall", "work", "stolen_max"]) spans[name] = Float64Array.from(spans[name]);
	for (const name of ["from", "length", "stolen"]) segments[name] = Float64Array.from(segments[name]);
	for (const name of ["thread", "state", "reason", "object", "waker", "wake"]) segments[name] = Int32Array.from(segments[name]);
	page.spanCount = spans.begin.length;
	page.segmentCount = segments.from.length;
	page.spansById = new Map();
	for (let i = 0; i < page.spanCount; i++) page.spansById.set(`${isKeyed(spans.flags[i]) ? 0 : spans.pid[i]}:${spans.id[i]}`, i);
	page.children = new Map();
	for (let i = 0; i < page.spanCount; i++) {
		const parent = parentOf(page, i);
		if (parent !== undefined) addTo(page.children, parent, i);
	}
	page.threadSegments = byThread(page, page.segmentCount, segments.thread, segments.from);
	makePieces(page);
	page.threadPieces = byThread(page, page.pieces.from.length, page.pieces.thread, page.pieces.from);
	return page;
}

// Where and when threads were in spans. Of a span without stays in the page: its own thread, unless it was of several.
function makePieces(page) {
	const { spans, stays } = page, pieces = { thread: [], from: [], length: [], span: [] };
	const add = (thread, from, length, span) => {
		pieces.thread.push(thread);
		pieces.from.push(from);
		pieces.length.push(length);
		pieces.span.push(span);
	};
	page.spanPieces = new Map();
	stays.enter.forEach((enter, i) => {
		const span = page.spansById.get(`${stays.pid[i]}:${stays.span[i]}`);
		if (span === undefined || stays.thread[i] < 0) return;
		addTo(page.spanPieces, span, pieces.from.length);
		add(stays.thread[i], enter, stays.length[i], span);
	});
	for (let i = 0; i < page.spanCount; i++) {
		if (page.spanPieces.has(i) || spans.flags[i] & 32 || spans.thread[i] < 0) continue;
		page.spanPieces.set(i, [pieces.from.length]);
		add(spans.thread[i], spans.begin[i], spans.wall[i], i);
	}
	page.pieces = pieces;
}

function addTo(lists, key, item) {
	if (!lists.has(key)) lists.set(key, []);
	lists.get(key).push(item);
}

export function isKeyed(flags) {
	return (flags & 16) !== 0;
}

export function isLowerBound(flags) {
	return (flags & 1) !== 0;
}

function byThread(page, cnt, thread, time) {
	const lists = page.threads.pid.map(() => []);
	for (let i = 0; i < cnt; i++) if (thread[i] >= 0) lists[thread[i]].push(i);
	for (const list of lists) list.sort((a, b) => time[a] - time[b]);
	return lists;
}

export function string(page, number) {
	return number < 0 ? "" : page.strings[number];
}

export function labelOf(page, i) {
	return string(page, page.spans.label[i]) || "(no label)";
}

export function threadName(page, thread) {
	if (thread < 0) return "(unknown thread)";
	const name = string(page, page.threads.name[thread]);
	return `${name || "(no name)"} ${page.threads.tid[thread]}`;
}

// Of a parent that is in the page; else undefined.
export function parentOf(page, i) {
	const parent = page.spans.parent[i];
	if (!parent) return undefined;
	return page.spansById.get(`${page.spans.flags[i] & 256 ? 0 : page.spans.pid[i]}:${parent}`);
}

// [title, ns] of the parts that a list of part, ns, part, ns, ... has.
export function partsOf(page, list) {
	const parts = [];
	for (let i = 0; i < list.length; i += 2) parts.push([page.parts[list[i]], list[i + 1]]);
	return parts;
}

// The place of the first item of a sorted list whose value is above the limit.
export function firstAbove(list, value, limit) {
	let low = 0, high = list.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (value(list[middle]) > limit) high = middle;
		else low = middle + 1;
	}
	return low;
}

export function wakerText(page, i) {
	const { waker, wake, open } = page.segments;
	if (open[i]) return "(it was not over)";
	if (wake[i] < 0) return "(not known)";
	if (wake[i] & 2) return "(not known)";
	if (wake[i] & 16) return "a timer";
	if (wake[i] & 33) return "an interrupt";
	return threadName(page, waker[i]);
}
