// SPDX-License-Identifier: BSD-2-Clause
// Threads over time: the spans that each was in above, what it did below. What is too short to be here one by one is drawn as
// what its column of the grid had most of, paler.
import { find, ink, prepare } from "./dom.js";
import { firstAbove, labelOf, string, threadName, wakerText } from "./data.js";
import { criticalPath } from "./path.js";
import { makeStrip } from "./strip.js";
import { duration, seconds, share } from "./format.js";
import { hashColor, segmentColor, segmentName, stateColor } from "./names.js";

const TOP = 20, SPAN = 13, STATE = 10, GAP = 7, NAME = 15, HEIGHT = 460, LEVELS = 6;

function clippedText(context, text, left, top, width) {
	context.fillStyle = "#10141a";
	context.save();
	context.beginPath();
	context.rect(left, top, width, SPAN);
	context.clip();
	context.fillText(text, left + 3, top + SPAN / 2);
	context.restore();
}

// Paints from left to right. What has the same colour and follows is one rectangle.
function makeBrush(context, top, height) {
	let color, alpha, left = 0, right = -1;
	function flush() {
		if (right < left) return;
		context.globalAlpha = alpha;
		context.fillStyle = color;
		context.fillRect(left, top, Math.max(right - left, 1), height);
		right = -1;
		left = 0;
	}
	function paint(newColor, newAlpha, from, to) {
		if (newColor !== color || newAlpha !== alpha || from > right) {
			flush();
			[color, alpha, left] = [newColor, newAlpha, from];
		}
		right = Math.max(right, to);
	}
	return { paint, flush };
}

export function makeTimeline(page, view) {
	const canvas = find("timeline");
	const end = Math.max(page.end_ns, 1);
	const { pieces } = page, levels = new Int8Array(pieces.from.length);
	let rows = [], scroll = 0, drag = null, frame = 0, lastChosen;

	// Where spans of a thread overlap, each has a level of its own; deeper ones than LEVELS are drawn on the last.
	for (const list of page.threadPieces) {
		const ends = [];
		for (const i of list) {
			while (ends.length && ends.at(-1) <= pieces.from[i]) ends.pop();
			levels[i] = Math.min(ends.length, LEVELS - 1);
			ends.push(Math.max(pieces.from[i] + pieces.length[i], ends.at(-1) ?? 0));
		}
	}
	const depths = page.threadPieces.map((list) => list.reduce((most, i) => Math.max(most, levels[i] + 1), 0));
	const spanStrips = page.threadPieces.map((list, thread) => Array.from({ length: depths[thread] }, (_, level) => makeStrip(list.filter((i) => levels[i] === level), pieces.from, pieces.length)));
	const stateStrips = page.threadSegments.map((list) => makeStrip(list, page.segments.from, page.segments.length));
	const order = page.threads.pid.map((_, thread) => thread).filter((thread) => depths[thread] || stateStrips[thread].cnt);
	order.sort((a, b) => (depths[b] > 0) - (depths[a] > 0) || page.threads.pid[a] - page.threads.pid[b] || page.threads.tid[a] - page.threads.tid[b]);

	function layout() {
		let y = 0;
		rows = [];
		for (const thread of order) {
			if (!view.hasThread(thread)) continue;
			const depth = depths[thread];
			rows.push({ thread, y, spansAt: y + NAME, statesAt: y + NAME + depth * SPAN, height: NAME + depth * SPAN + STATE + GAP });
			y += rows.at(-1).height;
		}
		return y;
	}

	// When another span is chosen, its thread is moved to where it can be seen.
	function showChosen(height) {
		const chosen = view.state.span, piece = page.spanPieces.get(chosen)?.[0];
		const row = rows.find(({ thread }) => piece !== undefined && thread === pieces.thread[piece]);
		if (row && chosen !== lastChosen && (row.y < scroll || row.y + row.height > scroll + height)) scroll = Math.max(row.y + row.height / 2 - height / 2, 0);
		lastChosen = chosen;
	}

	const shown = () => view.window();
	const place = (width) => {
		const [from, to] = shown();
		return (ns) => ((ns - from) / (to - from)) * width;
	};

	// [column of the grid, state, ns] of what it had most of.
	const grids = [];
	function gridOf(thread) {
		if (!grids[thread]) {
			const cells = page.grid.threads[thread] ?? [], best = new Map();
			for (let i = 0; i < cells.length; i += 3) if (!best.has(cells[i]) || best.get(cells[i])[2] < cells[i + 2]) best.set(cells[i], cells.slice(i, i + 3));
			grids[thread] = [...best.values()];
		}
		return grids[thread];
	}

	function drawGrid(context, row, x, width) {
		const w = page.grid.width_ns;
		context.globalAlpha = 0.3;
		for (const [bucket, state, ns] of gridOf(row.thread)) {
			const left = x(bucket * w), right = x((bucket + 1) * w);
			if (right < 0 || left > width) continue;
			context.fillStyle = stateColor(state, page.reasons);
			context.fillRect(left, row.statesAt + 2, Math.max((right - left) * Math.min(ns / w, 1), 1), STATE - 4);
		}
		context.globalAlpha = 1;
	}

	function drawStates(context, row, width) {
		const { length, stolen } = page.segments, brush = makeBrush(context, row.statesAt, STATE);
		stateStrips[row.thread].each(...shown(), width, (i, left, right) => {
			brush.paint(segmentColor(page, i), 1, left, right);
			if (stolen[i] <= 0 || right - left <= 1) return;
			brush.flush();
			context.fillStyle = stateColor(1, page.reasons);
			context.fillRect(right - (right - left) * (stolen[i] / length[i]), row.statesAt, (right - left) * (stolen[i] / length[i]), STATE / 2);
		});
		brush.flush();
	}

	function spanText(i) {
		return `${labelOf(page, i)} ${string(page, page.spans.tag[i])}`;
	}

	const colors = new Map();
	function spanColor(i) {
		const label = page.spans.label[i];
		if (!colors.has(label)) colors.set(label, hashColor(labelOf(page, i)));
		return colors.get(label);
	}

	function drawSpans(context, row, x, width) {
		spanStrips[row.thread].forEach((strip, level) => {
			const y = row.spansAt + level * SPAN, brush = makeBrush(context, y, SPAN - 1);
			strip.each(...shown(), width, (piece, left, right) => {
				const i = pieces.span[piece];
				brush.paint(spanColor(i), view.hasSpan(i) ? 1 : 0.25, left, right);
				if (right - left <= 40) return;
				brush.flush();
				clippedText(context, spanText(i), left, y, right - left);
			});
			brush.flush();
		});
		context.globalAlpha = 1;
		drawChosen(context, row, x, width);
	}

	function drawChosen(context, row, x, width) {
		const chosen = view.state.span;
		for (const piece of page.spanPieces.get(chosen) ?? []) {
			const left = Math.max(x(pieces.from[piece]), 0), right = Math.min(x(pieces.from[piece] + pieces.length[piece]), width);
			if (pieces.thread[piece] !== row.thread || right < 0 || left > width) continue;
			const y = row.spansAt + levels[piece] * SPAN, w = Math.max(right - left, 1);
			context.fillStyle = spanColor(chosen);
			context.fillRect(left, y, w, SPAN - 1);
			if (w > 40) clippedText(context, spanText(chosen), left, y, w);
			context.strokeStyle = ink("mark");
			context.lineWidth = 2;
			context.strokeRect(left, y, Math.max(w, 3), SPAN - 1);
		}
	}

	function drawLosses(context, x, width, height) {
		context.fillStyle = ink("mark");
		context.globalAlpha = 0.25;
		page.lost.first.forEach((first, i) => {
			const left = Math.max(x(first), 0), right = Math.min(x(page.lost.last[i]), width);
			if (right >= 0 && left <= width) context.fillRect(left, TOP, Math.max(right - left, 2), height - TOP);
		});
		context.globalAlpha = 1;
	}

	// From step to step, below the strips of their threads.
	function drawPath(context, x) {
		const chosen = view.state.span;
		if (chosen === undefined || !page.segmentCount) return;
		const places = new Map(rows.map((row) => [row.thread, row.statesAt + STATE + 2]));
		let last;
		context.strokeStyle = ink("mark");
		context.lineWidth = 2;
		context.beginPath();
		for (const { from, to, thread } of pathOf(chosen)) {
			const y = places.get(thread);
			if (y === undefined) continue;
			if (last === undefined) context.moveTo(x(from), y);
			else context.lineTo(x(from), last), context.lineTo(x(from), y);
			context.lineTo(x(to), y);
			last = y;
		}
		context.stroke();
	}

	let pathSpan, path;
	function pathOf(span) {
		if (span !== pathSpan) path = criticalPath(page, span);
		pathSpan = span;
		return path;
	}

	function draw() {
		frame = 0;
		const all = layout();
		const height = Math.min(HEIGHT, Math.max(TOP + all + 4, 80));
		showChosen(height - TOP);
		scroll = Math.min(scroll, Math.max(all + TOP - height, 0));
		const { context, width } = prepare(canvas, height);
		const x = place(width), [from, to] = shown();
		context.fillStyle = ink("soft");
		if (!rows.length) context.fillText("no thread matches", 8, 40);
		const ticks = Math.max(Math.floor(width / 160), 2);
		for (let i = 0; i < ticks; i++) context.fillText(`${seconds(from + ((to - from) * i) / ticks)} s`, 4 + (width * i) / ticks, TOP / 2);
		drawLosses(context, x, width, height);
		context.save();
		context.beginPath();
		context.rect(0, TOP, width, height - TOP);
		context.clip();
		context.translate(0, TOP - scroll);
		for (const row of rows) {
			if (row.y + row.height < scroll || row.y > scroll + height) continue;
			if (page.segments.least_ns) drawGrid(context, row, x, width);
			drawStates(context, row, width);
			drawSpans(context, row, x, width);
			context.fillStyle = ink("soft");
			context.fillText(threadName(page, row.thread), 4, row.y + NAME / 2);
		}
		drawPath(context, x);
		context.restore();
	}

	function request() {
		frame ||= requestAnimationFrame(draw);
	}

	function zoom(factor, at) {
		const [from, to] = shown(), center = from + (to - from) * at;
		const length = Math.min(Math.max((to - from) * factor, 1000), end * 1.02);
		view.setWindow(center - length * at, center - length * at + length);
	}

	function move(part) {
		const [from, to] = shown(), by = (to - from) * part;
		view.setWindow(from + by, to + by);
	}

	function rowAt(y) {
		const at = y - TOP + scroll;
		return y < TOP ? undefined : rows.find((row) => at >= row.y && at < row.y + row.height);
	}

	function timeAt(event) {
		const [from, to] = shown();
		return from + ((to - from) * event.offsetX) / canvas.clientWidth;
	}

	function spanAt(event) {
		const row = rowAt(event.offsetY);
		if (!row) return undefined;
		const level = Math.floor((event.offsetY - TOP + scroll - row.spansAt) / SPAN), time = timeAt(event);
		const [from, to] = shown(), slack = (to - from) / canvas.clientWidth;
		const piece = spanStrips[row.thread][level]?.near(time, slack);
		return piece === undefined ? undefined : pieces.span[piece];
	}

	function segmentAt(event) {
		const row = rowAt(event.offsetY);
		if (!row) return undefined;
		const time = timeAt(event), list = page.threadSegments[row.thread];
		const at = firstAbove(list, (i) => page.segments.from[i], time) - 1;
		return at >= 0 && page.segments.from[list[at]] + page.segments.length[list[at]] >= time ? list[at] : undefined;
	}

	function describe(event) {
		const span = spanAt(event), segment = segmentAt(event);
		const words = [`${seconds(timeAt(event))} s`];
		if (span !== undefined) words.push(`${labelOf(page, span)} ${duration(page.spans.wall[span])} ${string(page, page.spans.tag[span])}`);
		if (segment !== undefined) {
			words.push(`${segmentName(page, segment)} ${duration(page.segments.length[segment])}`);
			if (page.segments.state[segment] === 3) words.push(string(page, page.segments.object[segment]), `ended by ${wakerText(page, segment)}`);
		}
		find("timeline-readout").textContent = words.filter(Boolean).join(" · ");
	}

	function stepSpan(by) {
		const piece = page.spanPieces.get(view.state.span)?.[0];
		const thread = piece === undefined ? rows.find((row) => page.threadPieces[row.thread].length)?.thread : pieces.thread[piece];
		const list = page.threadPieces[thread] ?? [];
		const next = piece === undefined ? list[0] : list[list.indexOf(piece) + by];
		if (next !== undefined) view.choose(pieces.span[next], false);
	}

	canvas.addEventListener("wheel", (event) => {
		event.preventDefault();
		if (event.shiftKey) move(event.deltaY / 1000);
		else if (event.ctrlKey || event.metaKey || Math.abs(event.deltaY) < 4 || event.altKey) scroll = Math.max(scroll + event.deltaY, 0);
		else zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, event.offsetX / canvas.clientWidth);
		request();
	}, { passive: false });
	canvas.addEventListener("pointerdown", (event) => {
		drag = { x: event.offsetX, y: event.offsetY, window: shown(), scroll, moved: false };
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener("pointermove", (event) => {
		if (!drag) return describe(event);
		const [from, to] = drag.window, by = ((drag.x - event.offsetX) / canvas.clientWidth) * (to - from);
		drag.moved ||= Math.abs(drag.x - event.offsetX) + Math.abs(drag.y - event.offsetY) > 4;
		if (!drag.moved) return undefined;
		scroll = Math.max(drag.scroll + drag.y - event.offsetY, 0);
		view.setWindow(from + by, to + by);
		return request();
	});
	canvas.addEventListener("pointerup", (event) => {
		const click = drag && !drag.moved;
		drag = null;
		if (click) view.choose(spanAt(event), false);
	});
	canvas.addEventListener("keydown", (event) => {
		const keys = { ArrowRight: () => stepSpan(1), ArrowLeft: () => stepSpan(-1), ArrowDown: () => (scroll += 60), ArrowUp: () => (scroll = Math.max(scroll - 60, 0)), Enter: () => find("span").focus() };
		if (!keys[event.key]) return;
		event.preventDefault();
		keys[event.key]();
		request();
	});
	const missing = page.segments.all - page.segmentCount;
	const notes = [];
	if (missing) notes.push(`Stretches below ${duration(page.segments.least_ns)} (${share(missing, page.segments.all)} of all) are drawn as sums, paler.`);
	if (page.spans.least_ns) notes.push(`Spans below ${duration(page.spans.least_ns)} are not included.`);
	if (!page.segments.all) notes.push("The log has no states of threads over time (it was recorded with --sched ledger, or without).");
	find("timeline-note").textContent = notes.join(" ");
	return { draw: request, zoom, move };
}
