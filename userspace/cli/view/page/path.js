// SPDX-License-Identifier: BSD-2-Clause
// The critical path of a span: for each moment from its end back to its begin, the thread that its end depended on. The rules
// are those of docs/attribution.md, "Critical path", and of analyze/span/critical_path.c, which a test compares it with.
import { firstAbove } from "./data.js";

const DEPTH_MAX = 256, STEP_MAX = 10000, WAKE_IS_END = 65536;

// The last segment of the thread that begins before that time.
function segmentBefore(page, thread, time) {
	const list = page.threadSegments[thread] ?? [];
	const at = firstAbove(list, (i) => page.segments.from[i], time - 0.5) - 1;
	return at >= 0 ? list[at] : undefined;
}

// The span that the thread was in just before that time, the one that it had entered last, and since when.
function placeBefore(page, thread, time) {
	const { pieces } = page, list = page.threadPieces[thread] ?? [];
	let since = 0;
	for (let at = firstAbove(list, (i) => pieces.from[i], time - 0.5) - 1; at >= 0; at--) {
		const end = pieces.from[list[at]] + pieces.length[list[at]];
		if (end >= time) return [pieces.span[list[at]], Math.max(since, pieces.from[list[at]])];
		since = Math.max(since, end);
		if (list.length - at > 5000) break;
	}
	return [undefined, since];
}

// A thread that ran when it woke the other; a timer, an interrupt and an unknown waker lead nowhere.
function runningWaker(page, segment, now) {
	const { waker, wake, from, length, state } = page.segments;
	if (wake[segment] < 0 || wake[segment] & 3 || !(wake[segment] & WAKE_IS_END) || from[segment] + length[segment] !== now || waker[segment] < 0) return undefined;
	const running = segmentBefore(page, waker[segment], now);
	return running !== undefined && state[running] === 0 && from[running] + length[running] >= now ? waker[segment] : undefined;
}

function firstThread(page, i) {
	const { spans, pieces } = page, end = spans.begin[i] + spans.wall[i];
	let thread = spans.end_thread[i] >= 0 ? spans.end_thread[i] : spans.thread[i];
	for (const piece of page.spanPieces.get(i) ?? [])
		if (pieces.from[piece] + pieces.length[piece] === end && (spans.end_thread[i] < 0 || pieces.thread[piece] === spans.end_thread[i])) thread = pieces.thread[piece];
	return thread;
}

// [{ from, to, thread, depth, segment, span }], by time; without a segment: the page does not have it.
export function criticalPath(page, i) {
	const { segments } = page, begin = page.spans.begin[i];
	const frames = [{ thread: firstThread(page, i), until: begin }], steps = [];
	let now = begin + page.spans.wall[i];

	const add = (from, segment) => {
		const { thread } = frames.at(-1), [span, since] = placeBefore(page, thread, now);
		const first = since > from && since < now ? since : from; // before, it worked for something else: another step
		steps.push({ from: first, to: now, thread, depth: frames.length - 1, segment, span });
		now = first;
	};
	while (now > begin && steps.length < STEP_MAX) {
		while (frames.length > 1 && now <= frames.at(-1).until) frames.pop();
		const { thread, until } = frames.at(-1), segment = segmentBefore(page, thread, now);
		const end = segment === undefined ? undefined : segments.from[segment] + segments.length[segment];
		if (segment === undefined || end <= until) add(until, undefined);
		else if (end < now) add(end, undefined);
		else {
			const from = Math.max(segments.from[segment], until);
			const waker = segments.state[segment] === 3 && frames.length < DEPTH_MAX ? runningWaker(page, segment, now) : undefined;
			if (waker === undefined) add(from, segment);
			else frames.push({ thread: waker, until: from });
		}
	}
	return steps.reverse();
}
