// SPDX-License-Identifier: BSD-2-Clause
// How many spans ended, and how long they took, over time: sums of the grid's columns, in a chart. Dragging chooses a time.
import uPlot from "./uplot/uPlot.esm.js";
import { find, ink } from "./dom.js";
import { quantile } from "./report.js";
import { count, duration, seconds } from "./format.js";

const RATES_HEIGHT = 190;

export function makeRates(page, view) {
	const place = find("rates"), width = page.grid.width_ns;
	const columns = Math.min(page.grid.buckets, Math.ceil(Math.max(page.end_ns, 1) / width));
	let chart;

	// [time, spans a second, mean, p99], null where no exact span ended.
	function collect() {
		const cnts = new Float64Array(columns), walls = new Float64Array(columns), bins = Array.from({ length: columns }, () => new Map());
		for (const grid of page.grid.labels) {
			if (!view.hasLabel(grid.is_rest ? "(all other labels)" : (grid.label ?? "(no label)"))) continue;
			for (const [bucket, cnt, , wall] of grid.buckets) {
				if (bucket >= columns) continue;
				cnts[bucket] += cnt;
				walls[bucket] += wall;
			}
			for (let i = 0; i < grid.heat.length; i += 3) {
				const [bucket, bin, cnt] = grid.heat.slice(i, i + 3);
				if (bucket < columns) bins[bucket].set(bin, (bins[bucket].get(bin) ?? 0) + cnt);
			}
		}
		const at = [...cnts.keys()];
		return [
			at.map((i) => i * width),
			at.map((i) => cnts[i] / (width / 1e9)),
			at.map((i) => (cnts[i] ? walls[i] / cnts[i] : null)),
			at.map((i) => (cnts[i] ? quantile(page, bins[i], cnts[i], 0.99) : null)),
		];
	}

	function make(data) {
		const axis = { stroke: () => ink("soft"), grid: { stroke: () => ink("line"), width: 1 }, ticks: { stroke: () => ink("line"), width: 1 }, font: "12px system-ui, sans-serif" };
		const line = (label, color, scale, text) => ({ label, scale, stroke: () => ink(color), width: 1.5, points: { show: columns < 50 }, value: (_, value) => (value === null || value === undefined ? "-" : text(value)) });
		const rate = (value) => `${value >= 100 ? count(Math.round(value)) : value.toFixed(1)}/s`;
		return new uPlot({
			width: place.clientWidth || 800,
			height: RATES_HEIGHT,
			scales: { x: { time: false }, rate: { range: (_, least, most) => [0, Math.max(most ?? 0, 1) * 1.05] }, wall: { range: (_, least, most) => [0, Math.max(most ?? 0, 1) * 1.05] } },
			axes: [
				{ ...axis, values: (_, values) => values.map((value) => `${seconds(value)} s`), space: 110 },
				{ ...axis, scale: "wall", size: 80, values: (_, values) => values.map(duration) },
				{ ...axis, scale: "rate", side: 1, size: 80, grid: { show: false }, values: (_, values) => values.map(rate) },
			],
			series: [
				{ label: "time", value: (_, value) => (value === null || value === undefined ? "-" : `${seconds(value)} s`) },
				line("spans ended", "soft", "rate", rate),
				line("mean", "accent", "wall", duration),
				line("p99, at most", "mark", "wall", duration),
			],
			cursor: { drag: { x: true, y: false, setScale: false } },
			hooks: { setSelect: [choose] },
		}, data, place);
	}

	function choose(u) {
		if (u.select.width < 2) return;
		const [first, last] = [u.select.left, u.select.left + u.select.width].map((x) => Math.min(Math.max(Math.floor(u.posToVal(x, "x") / width), 0), columns - 1));
		u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
		view.set({ from: first * width, to: (last + 1) * width });
	}

	function draw() {
		const data = collect();
		find("rates-note").textContent = `Exact spans that ended, in columns of ${duration(width)}. The quantile is an upper bound, at most 1.5 times too high. Drag to choose a time.`;
		if (!chart) {
			chart = make(data);
			chart.root.querySelector("canvas").setAttribute("aria-label", "Chart: spans that ended each second, their mean and 99th percentile, over time");
		} else {
			chart.setSize({ width: place.clientWidth || 800, height: RATES_HEIGHT });
			chart.setData(data);
		}
	}

	return { draw, data: () => chart.data };
}
