// SPDX-License-Identifier: BSD-2-Clause
// A row of intervals, drawn in as many steps as it has columns, however many intervals there are. Where several begin in one
// column, the longest of them is shown.
import { firstAbove } from "./data.js";

const FAN = 32;

// list: numbers of intervals by their begins; from, length: of each by its number.
export function makeStrip(list, from, length) {
	const numbers = Int32Array.from(list), cnt = numbers.length, levels = [];
	const longer = (a, b) => (length[numbers[b]] > length[numbers[a]] ? b : a);
	let reach = 0, overlaps = false;

	// levels[0]: the place of the longest of the first FAN, of the next, and so on; levels[1]: of FAN times as many
	for (let below = numbers.map((_, at) => at); below.length >= FAN; below = levels.at(-1)) {
		const level = new Int32Array(Math.floor(below.length / FAN));
		for (let i = 0; i < level.length; i++) {
			level[i] = below[i * FAN];
			for (let j = i * FAN + 1; j < (i + 1) * FAN; j++) level[i] = longer(level[i], below[j]);
		}
		levels.push(level);
	}
	for (let at = 0, end = -Infinity; at < cnt; at++) {
		const i = numbers[at];
		overlaps ||= from[i] < end;
		end = Math.max(end, from[i] + length[i]);
		reach = Math.max(reach, length[i]);
	}

	// The place of the longest of those from first to before end.
	function longest(first, end) {
		let best = first;
		while (first < end) {
			let size = 1, level = -1;
			while (level + 1 < levels.length && first % (size * FAN) === 0 && first + size * FAN <= end) {
				size *= FAN;
				level++;
			}
			best = longer(best, level < 0 ? first : levels[level][first / size]);
			first += size;
		}
		return best;
	}

	// The place of the first that begins at the limit or later; most often it is near.
	function firstFrom(at, limit) {
		let step = 1;
		while (at + step < cnt && from[numbers[at + step]] < limit) {
			at += step;
			step *= 2;
		}
		let end = Math.min(at + step, cnt);
		while (at < end) {
			const middle = (at + end) >> 1;
			if (from[numbers[middle]] < limit) at = middle + 1;
			else end = middle;
		}
		return at;
	}

	// visit(interval, left, right) from left to right: what of the time is seen on so many columns.
	function each(begin, end, width, visit) {
		const scale = width / (end - begin), left = (at) => (from[numbers[at]] - begin) * scale;
		const isWide = (at) => length[numbers[at]] * scale >= 1;
		let at = firstAbove(numbers, (i) => from[i], overlaps ? begin - reach : begin);
		if (!overlaps && at > 0) at--;
		while (at < cnt && from[numbers[at]] < end) {
			if (isWide(at)) {
				const x = left(at), right = x + length[numbers[at]] * scale;
				if (right > 0) visit(numbers[at], Math.max(x, 0), Math.min(right, width));
				at++;
				continue;
			}
			const column = Math.floor(left(at));
			let next = Math.max(firstFrom(at, begin + (column + 1) / scale), at + 1);
			if (next - at > 1 && isWide(next - 1)) next--;
			if (column >= 0) visit(numbers[longest(at, next)], column, column + 1);
			at = next;
		}
	}

	// The interval that each() shows at that moment, give or take; undefined: none.
	function near(time, slack) {
		const first = firstAbove(numbers, (i) => from[i], time - slack), end = firstAbove(numbers, (i) => from[i], time + slack);
		for (let at = end - 1; at >= Math.max(first - (overlaps ? 1000 : 1), 0); at--) {
			const i = numbers[at];
			if (from[i] <= time && from[i] + length[i] >= time && (at < first || length[i] >= slack)) return i;
		}
		if (end > first) return numbers[longest(first, end)];
		return first > 0 && from[numbers[first - 1]] + length[numbers[first - 1]] >= time - slack ? numbers[first - 1] : undefined;
	}

	return { each, near, longest, cnt };
}
