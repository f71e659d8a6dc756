// SPDX-License-Identifier: BSD-2-Clause
// The parts of a ledger and the states of a thread: one colour for each, everywhere. They differ in lightness, too.

const PART_COLORS = {
	"on-CPU": "#0072b2",
	stolen: "#cc79a7",
	interrupt: "#56b4e9",
	runnable: "#f0a830",
	detached: "#9aa3ad",
	unknown: "#c9ccd1",
};
const REASON_COLORS = {
	lock: "#d55e00",
	disk: "#00795c",
	network: "#4cb391",
	sleep: "#7d6cc4",
	fault: "#8c2d04",
	page_fault: "#8c2d04",
	pipe: "#a6761d",
	wait: "#5d4a9c",
	stopped: "#444c58",
	other: "#8d7f71",
	throttled: "#b0447a",
	poll: "#a8d08d",
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
