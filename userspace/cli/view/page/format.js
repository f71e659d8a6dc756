// SPDX-License-Identifier: BSD-2-Clause
// Numbers for people, with three digits, cut and not rounded, as txtrace prints them (userspace/base/units.c).

export function duration(ns) {
	const units = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]];
	const sign = ns < 0 ? "-" : "", value = Math.floor(Math.abs(ns));
	for (const [unit, size] of units)
		if (value >= size) return `${sign}${digits(value, size)} ${unit}`;
	return `${sign}${value} ns`;
}

function digits(value, size) {
	const whole = Math.floor(value / size), hundredths = Math.floor(((value % size) / size) * 100);
	if (whole >= 100) return count(whole);
	return whole >= 10 ? `${whole}.${Math.floor(hundredths / 10)}` : `${whole}.${String(hundredths).padStart(2, "0")}`;
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
