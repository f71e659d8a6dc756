// SPDX-License-Identifier: BSD-2-Clause
// Flame graphs: rows as `txtrace flame` has them, or inverted: what took the time itself at the bottom, its callers above.
import { find, ink, make, prepare } from "./dom.js";
import { duration, share } from "./format.js";
import { hashColor } from "./names.js";

const ROW = 17, LEVEL_MAX = 60;

// The rows [depth, begin, total, self, is_code, name] as a tree.
function treeOf(flame) {
	const root = { name: "all", total: flame.total_ns, self: 0, children: [] };
	const path = [root];
	for (const [depth, , total, self, isCode, name] of flame.rows) {
		const node = { name, total, self, isCode: !!isCode, children: [] };
		path.length = Math.min(depth + 1, path.length);
		path.at(-1).children.push(node);
		path.push(node);
	}
	return root;
}

function invert(root) {
	const inverted = { name: root.name, total: root.total, self: 0, children: [], byName: new Map() };
	const visit = (node, path) => {
		const here = [...path, node];
		if (node.self > 0) {
			let at = inverted;
			for (let i = here.length - 1; i >= 0 && here.length - i <= LEVEL_MAX; i--) {
				let next = at.byName.get(here[i].name);
				if (!next) {
					next = { name: here[i].name, total: 0, self: 0, isCode: here[i].isCode, children: [], byName: new Map() };
					at.byName.set(here[i].name, next);
					at.children.push(next);
				}
				next.total += node.self;
				at = next;
			}
			at.self += node.self;
		}
		node.children.forEach((child) => visit(child, here));
	};
	root.children.forEach((child) => visit(child, []));
	const sort = (node) => node.children.sort((a, b) => b.total - a.total).forEach(sort);
	sort(inverted);
	return inverted;
}

export function makeFlame(page, view) {
	const canvas = find("flame"), which = find("flame-which"), search = find("flame-search"), inverted = find("flame-invert");
	let boxes = [], root, zoomed;

	page.flames.forEach((flame, at) => which.append(make("option", { value: at }, flame.title)));
	function choose() {
		const tree = treeOf(page.flames[which.value || 0]);
		root = inverted.checked ? invert(tree) : tree;
		zoomed = root;
		draw();
	}

	function place(node, left, width, depth) {
		boxes.push({ node, left, width, depth });
		let at = left;
		const whole = Math.max(node.total, 1);
		for (const child of node.children) {
			const part = (width * child.total) / whole;
			if (part >= 0.4 && depth < LEVEL_MAX) place(child, at, part, depth + 1);
			at += part;
		}
	}

	function draw() {
		boxes = [];
		place(zoomed, 0, canvas.clientWidth || 800, 0);
		const depth = boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1;
		const { context } = prepare(canvas, depth * ROW + 2);
		const wanted = search.value.toLowerCase();
		let found = 0;
		for (const { node, left, width, depth: level } of boxes) {
			const isFound = wanted && node.name.toLowerCase().includes(wanted);
			context.globalAlpha = wanted && !isFound ? 0.3 : 1;
			context.fillStyle = node === root ? ink("raised") : hashColor(node.name);
			context.fillRect(left, level * ROW, Math.max(width - 0.5, 0.5), ROW - 1);
			if (isFound) {
				context.strokeStyle = ink("mark");
				context.strokeRect(left + 0.5, level * ROW + 0.5, Math.max(width - 1.5, 0.5), ROW - 2);
			}
			if (width > 30) {
				context.save();
				context.beginPath();
				context.rect(left, level * ROW, width - 2, ROW);
				context.clip();
				context.fillStyle = node === root ? ink("ink") : "#10141a";
				context.fillText(node.name, left + 3, level * ROW + ROW / 2);
				context.restore();
			}
		}
		context.globalAlpha = 1;
		if (wanted) {
			const sum = (node) => (node !== root && node.name.toLowerCase().includes(wanted) ? node.total : node.children.reduce((all, child) => all + sum(child), 0));
			found = sum(root);
			find("flame-readout").textContent = `matching: ${duration(found)}, ${share(found, root.total)} of ${duration(root.total)}`;
		} else {
			find("flame-readout").textContent = root.total ? `${duration(root.total)} in all. Click a frame to zoom, the lowest one to go back.` : "There is nothing of it in the log.";
		}
	}

	const boxAt = (event) => boxes.find((box) => Math.floor(event.offsetY / ROW) === box.depth && event.offsetX >= box.left && event.offsetX < box.left + box.width);
	canvas.addEventListener("pointermove", (event) => {
		const box = boxAt(event);
		if (box) find("flame-readout").textContent = `${box.node.name}: ${duration(box.node.total)}, ${share(box.node.total, root.total)}; itself ${duration(box.node.self)}`;
	});
	canvas.addEventListener("click", (event) => {
		const box = boxAt(event);
		if (!box) return;
		zoomed = box.node === zoomed ? root : box.node;
		draw();
	});
	canvas.addEventListener("keydown", (event) => {
		if (event.key !== "Escape") return;
		zoomed = root;
		draw();
	});
	search.addEventListener("input", draw);
	which.addEventListener("change", choose);
	inverted.addEventListener("change", choose);
	choose();
	return draw;
}
