// SPDX-License-Identifier: BSD-2-Clause
// The parts of a ledger and the states of a thread: one colour for each, everywhere. They were chosen so that people who do not
// see red, green or blue can tell any two apart (tests/cli/view_colors.py).

const PART_COLORS = {
	"on-CPU": "#0072b2",
	stolen: "#b493cf",
	interrupt: "#6f98f2",
	runnable: "#ffbe1c",
	detached: "#88a3a8",
	unknown: "#c8c8e5",
};
const REASON_COLORS = {
	lock: "#f86c02",
	disk: "#02673c",
	network: "#5eca9a",
	sleep: "#7267e3",
	fault: "#83390c",
	page_fault: "#83390c",
	pipe: "#b0702c",
	wait: "#24319a",
	stopped: "#423b49",
	other: "#a3766b",
	throttled: "#b0447a",
	poll: "#a6d886",
};

export function partColor(title) {
	return PART_COLORS[title] ?? REASON_COLORS[title] ?? PART_COLORS.unknown;
}

// The states of the grid: on-CPU, stolen, runnable, then blocked for each reason.
export function stateColor(state, reasons) {
	return state === 0 ? PART_COLORS["on-CPU"] : state === 1 ? PART_COLORS.stolen : state === 2 ? PART_COLORS.runnable : partColor(reasons[state - 3]);
}

export function segmentColor(page, i) {
	const state = page.segments.state[i];
	return state === 3 ? partColor(page.reasons[page.segments.reason[i]]) : stateColor(state, page.reasons);
}

export function segmentName(page, i) {
	const state = page.segments.state[i];
	return state === 0 ? "on-CPU" : state === 2 ? "runnable" : `blocked: ${page.reasons[page.segments.reason[i]]}`;
}

// A colour for a name that has none: the same name has the same.
export function hashColor(name) {
	let hash = 0;
	for (let i = 0; i < name.length; i++) hash = (hash * 31 + name.charCodeAt(i)) | 0;
	return `hsl(${(hash >>> 0) % 360} 45% ${58 + ((hash >>> 9) % 14)}%)`;
}
