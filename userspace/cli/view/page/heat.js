// SPDX-License-Identifier: BSD-2-Clause
// How long spans took, over the time at which they ended: each cell is as dark as it has spans. Dragging chooses a time.
import { find, ink, prepare } from "./dom.js";
import { binEdge } from "./report.js";
import { count, duration, seconds } from "./format.js";

const HEAT_HEIGHT = 190, HEAT_LEFT = 70, HEAT_BOTTOM = 20, HEAT_TOP = 8;

export function makeHeat(page, view) {
	const canvas = find("heat");
	let cells, lowest, highest, most, from;

	function collect() {
		cells = new Map();
		lowest = Infinity; highest = -1; most = 0;
		for (const grid of page.grid.labels) {
			if (!view.hasLabel(grid.is_rest ? "(all other labels)" : (grid.label ?? "(no label)"))) continue;
			for (let i = 0; i < grid.heat.length; i += 3) {
				const [bucket, bin, cnt] = grid.heat.slice(i, i + 3);
				const sum = (cells.get(bucket * 256 + bin) ?? 0) + cnt;
				cells.set(bucket * 256 + bin, sum);
				lowest = Math.min(lowest, bin); highest = Math.max(highest, bin); most = Math.max(most, sum);
			}
		}
		highest = Math.max(highest, lowest + 5);
	}

	const bucketCount = () => Math.min(page.grid.buckets, Math.ceil(Math.max(page.end_ns, 1) / page.grid.width_ns) + 1);
	const size = (width, height) => ({ w: (width - HEAT_LEFT) / bucketCount(), h: (height - HEAT_BOTTOM - HEAT_TOP) / (highest - lowest + 1) });

	function draw() {
		collect();
		const { context, width, height } = prepare(canvas, HEAT_HEIGHT);
		context.fillStyle = ink("soft");
		if (most === 0) {
			context.fillText("no exact spans", HEAT_LEFT, HEAT_HEIGHT / 2);
			return;
		}
		const { w, h } = size(width, height);
		context.textAlign = "right";
		for (let bin = lowest; bin <= highest; bin += Math.max(2, Math.ceil((highest - lowest) / 8)))
			context.fillText(duration(binEdge(page, bin)), HEAT_LEFT - 6, height - HEAT_BOTTOM - (bin - lowest + 0.5) * h);
		context.textAlign = "left";
		const ticks = Math.max(Math.floor((width - HEAT_LEFT) / 160), 2);
		for (let i = 0; i < ticks; i++) context.fillText(`${seconds((bucketCount() * page.grid.width_ns * i) / ticks)} s`, HEAT_LEFT + ((width - HEAT_LEFT) * i) / ticks, height - 9);
		context.fillStyle = ink("accent");
		for (const [cell, cnt] of cells) {
			context.globalAlpha = 0.15 + 0.85 * (Math.log(cnt + 1) / Math.log(most + 1));
			context.fillRect(HEAT_LEFT + (cell >> 8) * w, height - HEAT_BOTTOM - ((cell & 255) - lowest + 1) * h, Math.max(w - 0.5, 1), Math.max(h - 0.5, 1));
		}
		context.globalAlpha = 1;
		if (view.hasTime()) {
			context.strokeStyle = ink("mark");
			context.lineWidth = 2;
			const [begin, end] = view.time();
			context.strokeRect(HEAT_LEFT + (begin / page.grid.width_ns) * w, 1, Math.max(((end - begin) / page.grid.width_ns) * w, 2), height - HEAT_BOTTOM - 2);
		}
	}

	const bucketAt = (event) => {
		const { w } = size(canvas.clientWidth, HEAT_HEIGHT);
		return Math.min(Math.max(Math.floor((event.offsetX - HEAT_LEFT) / w), 0), bucketCount() - 1);
	};
	canvas.addEventListener("pointerdown", (event) => {
		from = bucketAt(event);
		canvas.setPointerCapture(event.pointerId);
	});
	canvas.addEventListener("pointermove", (event) => {
		const bucket = bucketAt(event);
		const { h } = size(canvas.clientWidth, HEAT_HEIGHT);
		const bin = lowest + Math.floor((HEAT_HEIGHT - HEAT_BOTTOM - event.offsetY) / h);
		const cnt = cells.get(bucket * 256 + bin) ?? 0;
		find("heat-readout").textContent = `${seconds(bucket * page.grid.width_ns)} s, up to ${duration(binEdge(page, bin))}: ${count(cnt)} spans`;
	});
	canvas.addEventListener("pointerup", (event) => {
		if (from === undefined) return;
		const [first, last] = [from, bucketAt(event)].sort((a, b) => a - b);
		from = undefined;
		view.set({ from: first * page.grid.width_ns, to: (last + 1) * page.grid.width_ns });
	});
	canvas.addEventListener("keydown", (event) => {
		const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
		if (!step) return;
		event.preventDefault();
		const width = page.grid.width_ns;
		const begin = view.hasTime() ? view.time()[0] : step > 0 ? -width : bucketCount() * width;
		const at = Math.min(Math.max(begin + step * width, 0), (bucketCount() - 1) * width);
		view.set({ from: at, to: at + width });
	});
	find("heat-note").textContent = `Drag to choose a time; columns are ${duration(page.grid.width_ns)} wide.`;
	return draw;
}
