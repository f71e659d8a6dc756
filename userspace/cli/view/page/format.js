// SPDX-License-Identifier: BSD-2-Clause
// Numbers for people, with three digits, as txtrace prints them.

export function duration(ns) {
	const units = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]];
	for (const [unit, size] of units)
		if (Math.abs(ns) >= size) return `${digits(ns / size)} ${unit}`;
	return `${Math.round(ns)} ns`;
}

function digits(value) {
	const size = Math.abs(value);
	return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

export function count(value) {
	return value.toLocaleString("en-US");
}

export function share(part, whole) {
	return whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : "-";
}

export function seconds(ns) {
	return (ns / 1e9).toFixed(6);
}
