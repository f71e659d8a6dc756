// SPDX-License-Identifier: BSD-2-Clause
// Neighbours, what is missing, and what the capture was.
import { find, make, table } from "./dom.js";
import { count, duration, seconds, share } from "./format.js";

function neighbourName(cell) {
	const kinds = { idle: "(idle)", others: "(all others)", hypervisor: "(hypervisor)" };
	return kinds[cell.kind] ?? `${cell.name ?? "(no name)"} ${cell.tid || cell.pid}${cell.label ? `, in ${cell.label}` : ""}`;
}

export function drawNeighbours(page, view) {
	const lines = page.neighbours.filter((row) => view.hasLabel(row.label ?? "(all other labels)")).flatMap((row) => row.neighbours.slice(0, 5).map((cell) => ({ row, cell })));
	const columns = [
		{ title: "spans of", text: true, key: ({ row }) => row.label ?? "", get: ({ row }) => row.label ?? "(all other labels)" },
		{ title: "runnable", key: ({ row }) => row.runnable_ns, get: ({ row }) => duration(row.runnable_ns) },
		{ title: "who had the CPU", text: true, key: ({ cell }) => neighbourName(cell), get: ({ cell }) => neighbourName(cell) },
		{ title: "time", key: ({ cell }) => cell.ns, get: ({ cell }) => duration(cell.ns) },
		{ title: "of runnable", get: ({ row, cell }) => share(cell.ns, row.runnable_ns) },
	];
	find("neighbours-table").replaceChildren(lines.length ? table(columns, lines.slice(0, 100)) : make("p", { class: "note" }, "Nobody is known, or no span was runnable."));
}

// Sentences about what is missing; the same ones as in the report's foot.
export function missing(page) {
	const { losses } = page, damage = page.damage ?? {}, list = [];
	const bounds = page.report.totals.lower_bounds.count;
	if (losses?.lost) list.push(`${count(losses.lost)} events were lost.`);
	if (losses?.dropped_spans || losses?.dropped_records) list.push(`${count(losses.dropped_records)} records were dropped, ${count(losses.dropped_spans)} of them spans: the disk did not keep up.`);
	if (damage.bytes) list.push(`${count(damage.bytes)} bytes of the log are damaged.`);
	if (page.complete === false && !page.is_part) list.push("The log is not complete: its recorder did not close it.");
	if (bounds) list.push(`${count(bounds)} spans are lower bounds: their accounts are incomplete.`);
	if (page.report.coarse) list.push("The memory for quantiles was used up: they are coarse.");
	return list;
}

function leftOut(page) {
	const list = [];
	const say = (cnt, what) => cnt && list.push(`${count(cnt)} ${what}`);
	say(page.spans.all - page.spanCount, `spans below ${duration(page.spans.least_ns)} are in the report, the heat map and the flame graphs, not in the timeline.`);
	say(page.segments.all - page.segmentCount, `stretches of threads below ${duration(page.segments.least_ns)} are in the timeline as sums.`);
	say(page.marks.left_out, "attributes and instants have no room in the page.");
	say(page.threads.left_out, "records are of threads that the page has no room for.");
	say(page.lost.left_out, "losses are not drawn in the timeline.");
	return list;
}

export function drawLosses(page) {
	const lost = missing(page), out = leftOut(page);
	const list = (items) => make("ul", {}, ...items.map((item) => make("li", {}, item)));
	const rows = page.lost.first.map((first, i) => [first, page.lost.last[i], page.lost.events[i]]);
	const columns = [
		{ title: "from, s", key: ([first]) => first, get: ([first]) => seconds(first) },
		{ title: "to, s", key: ([, last]) => last, get: ([, last]) => seconds(last) },
		{ title: "events, or dropped spans", key: ([, , cnt]) => cnt, get: ([, , cnt]) => count(cnt) },
	];
	find("losses-body").replaceChildren(
		lost.length ? list(lost) : make("p", {}, "Nothing was lost, and no span is a lower bound."),
		...(rows.length ? [make("div", { class: "wide" }, table(columns, rows.slice(0, 50)))] : []),
		...(out.length ? [make("h3", {}, "What this page does not include"), list(out)] : []),
	);
	find("warning").textContent = lost.join(" ");
}

export function drawCapture(page) {
	const facts = Object.entries(page.capture).filter(([, value]) => value !== null && value !== "" && typeof value !== "object");
	find("capture-body").replaceChildren(make("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])));
}
