// SPDX-License-Identifier: BSD-2-Clause
// The table by label. Without a filter its figures are those of `txtrace report`; of a time they are sums of buckets; of a tag
// or thread they are those of the spans that the page has. What they are is said above it.
import { bar, find, make, table } from "./dom.js";
import { labelOf, partsOf, isLowerBound, string } from "./data.js";
import { count, duration } from "./format.js";
import { partColor } from "./names.js";

function reportParts(page, sum) {
	const parts = [["on-CPU", sum.on_cpu_ns], ["runnable", sum.runnable_ns]];
	for (const [reason, ns] of Object.entries(sum.blocked ?? {})) parts.push([page.parts[2 + page.reasons.indexOf(reason)], ns]);
	parts.push(["detached", sum.detached_ns], ["unknown", sum.unknown_ns], ["interrupt", sum.interrupt_ns ?? 0], ["stolen", sum.stolen_ns ?? 0]);
	return parts.filter(([, ns]) => ns > 0);
}

function ofReport(page) {
	return page.report.labels.map((row) => ({
		label: row.is_rest ? "(all other labels)" : (row.label ?? "(no label)"),
		cnt: row.count, bounds: row.lower_bounds?.count ?? 0, wall: row.sum.wall_ns, work: row.sum.work_ns,
		p50: row.wall_ns.p50, p99: row.wall_ns.p99, max: row.wall_ns.max, parts: reportParts(page, row.sum),
	}));
}

// The upper edge of the bin that the quantile is in.
export function binEdge(page, bin) {
	return page.grid.first_bin_ns * 2 ** (bin >> 1) * (bin & 1 ? 2 : 1.5);
}

export function quantile(page, bins, cnt, part) {
	let left = Math.ceil(cnt * part);
	for (const [bin, in_bin] of [...bins].sort((a, b) => a[0] - b[0])) {
		left -= in_bin;
		if (left <= 0) return binEdge(page, bin);
	}
	return 0;
}

function addParts(sums, parts) {
	for (const [title, ns] of parts) sums.set(title, (sums.get(title) ?? 0) + ns);
}

function ofBuckets(page, view) {
	const [first, last] = view.buckets();
	return page.grid.labels.map((grid) => {
		const row = { label: grid.is_rest ? "(all other labels)" : (grid.label ?? "(no label)"), cnt: 0, bounds: 0, wall: 0, work: 0, max: undefined };
		const sums = new Map(), bins = new Map();
		for (const [bucket, cnt, bounds, wall, work, parts] of grid.buckets) {
			if (bucket < first || bucket > last) continue;
			row.cnt += cnt; row.bounds += bounds; row.wall += wall; row.work += work;
			addParts(sums, partsOf(page, parts));
		}
		for (let i = 0; i < grid.heat.length; i += 3)
			if (grid.heat[i] >= first && grid.heat[i] <= last) bins.set(grid.heat[i + 1], (bins.get(grid.heat[i + 1]) ?? 0) + grid.heat[i + 2]);
		row.p50 = quantile(page, bins, row.cnt, 0.5);
		row.p99 = quantile(page, bins, row.cnt, 0.99);
		row.parts = [...sums];
		return row;
	}).filter((row) => row.cnt + row.bounds > 0);
}

function ofSpans(page, view) {
	const rows = new Map();
	for (let i = 0; i < page.spanCount; i++) {
		if (!view.hasSpan(i)) continue;
		const label = labelOf(page, i);
		if (!rows.has(label)) rows.set(label, { label, cnt: 0, bounds: 0, wall: 0, work: 0, walls: [], sums: new Map() });
		const row = rows.get(label);
		if (isLowerBound(page.spans.flags[i])) {
			row.bounds++;
			continue;
		}
		row.cnt++; row.wall += page.spans.wall[i]; row.work += page.spans.work[i];
		row.walls.push(page.spans.wall[i]);
		addParts(row.sums, partsOf(page, page.spans.parts[i]));
	}
	for (const row of rows.values()) {
		row.walls.sort((a, b) => a - b);
		const at = (part) => row.walls[Math.max(Math.ceil(row.walls.length * part) - 1, 0)] ?? 0;
		row.p50 = at(0.5); row.p99 = at(0.99); row.max = row.walls.at(-1) ?? 0; row.parts = [...row.sums];
	}
	return [...rows.values()];
}

function note(page, view, kind) {
	if (kind === "report") return "All spans of the log, as in txtrace report.";
	const time = view.hasTime() ? "of the chosen time " : "";
	if (kind === "buckets") return `Spans that ended in the chosen time, in steps of ${duration(page.grid.width_ns)}; quantiles are upper bounds, at most 1.5 times too high.`;
	const all = page.spanCount === page.spans.all;
	return all ? `Spans ${time}that match.` : `Spans ${time}that match, of the ${count(page.spanCount)} longest of ${count(page.spans.all)} alone.`;
}

export function drawReport(page, view) {
	const kind = view.hasSpanFilter() ? "spans" : view.hasTime() ? "buckets" : "report";
	const rows = (kind === "spans" ? ofSpans(page, view) : kind === "buckets" ? ofBuckets(page, view) : ofReport(page)).filter((row) => view.hasLabel(row.label));
	const columns = [
		{ title: "label", text: true, key: (row) => row.label, get: (row) => make("button", { class: "link", type: "button", title: "only this label", onclick: () => view.set({ label: row.label }) }, row.label) },
		{ title: "spans", key: (row) => row.cnt, get: (row) => count(row.cnt) },
		{ title: "lower bounds", key: (row) => row.bounds, get: (row) => (row.bounds ? count(row.bounds) : "") },
		{ title: "mean", key: (row) => row.wall / Math.max(row.cnt, 1), get: (row) => (row.cnt ? duration(row.wall / row.cnt) : "-") },
		{ title: "p50", key: (row) => row.p50, get: (row) => (row.cnt ? duration(row.p50) : "-") },
		{ title: "p99", key: (row) => row.p99, get: (row) => (row.cnt ? duration(row.p99) : "-") },
		{ title: "max", key: (row) => row.max ?? 0, get: (row) => (row.cnt && row.max !== undefined ? duration(row.max) : "-") },
		{ title: "work", key: (row) => row.work, get: (row) => duration(row.work) },
		{ title: "where the work went", text: true, get: (row) => bar(row.parts, row.work) },
	];
	find("report-note").textContent = note(page, view, kind) + (page.report.left_out && kind === "report" ? ` ${count(page.report.left_out)} more labels with less work are not included.` : "");
	find("report-table").replaceChildren(rows.length ? table(columns, rows, { sorted: 7 }) : make("p", { class: "note" }, page.report.labels.length ? "No span matches." : "There are no spans in the log."));
	const used = new Set(rows.flatMap((row) => row.parts.map(([title]) => title)));
	find("legend").replaceChildren(...page.parts.filter((title) => used.has(title)).map((title) => {
		const sample = make("i");
		sample.style.background = partColor(title);
		return make("span", {}, sample, title);
	}));
}

export function drawSlowest(page, view) {
	const spans = [];
	for (let i = 0; i < page.spanCount; i++) if (view.hasSpan(i)) spans.push(i);
	spans.sort((a, b) => page.spans.wall[b] - page.spans.wall[a]);
	const columns = [
		{ title: "label", text: true, key: (i) => labelOf(page, i), get: (i) => make("button", { class: "link", type: "button", onclick: () => view.choose(i, true) }, labelOf(page, i)) },
		{ title: "tag", text: true, key: (i) => string(page, page.spans.tag[i]), get: (i) => string(page, page.spans.tag[i]) },
		{ title: "begin, s", key: (i) => page.spans.begin[i], get: (i) => (page.spans.begin[i] / 1e9).toFixed(6) },
		{ title: "wall", key: (i) => page.spans.wall[i], get: (i) => (isLowerBound(page.spans.flags[i]) ? "≥ " : "") + duration(page.spans.wall[i]) },
		{ title: "where the work went", text: true, get: (i) => bar(partsOf(page, page.spans.parts[i]), page.spans.work[i]) },
	];
	find("slow-note").textContent = page.spans.least_ns ? `Of ${count(page.spans.all)} spans, the page has those of ${duration(page.spans.least_ns)} and more one by one.` : "";
	find("slow-table").replaceChildren(spans.length ? table(columns, spans.slice(0, 25), { sorted: 3, isChosen: (i) => i === view.state.span }) : make("p", { class: "note" }, "No span matches."));
}
