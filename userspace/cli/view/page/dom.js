// SPDX-License-Identifier: BSD-2-Clause
// Elements. Whatever a log says becomes text, never markup.
import { duration } from "./format.js";
import { partColor } from "./names.js";

export function find(id) {
	return document.getElementById(id);
}

export function make(tag, attributes = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
		else if (value !== undefined) element.setAttribute(name, value);
	}
	element.append(...children.map((child) => (child instanceof Node ? child : String(child ?? ""))));
	return element;
}

// pieces: [title, ns]; the widths are shares of whole.
export function bar(pieces, whole) {
	const box = make("div", { class: "bar", role: "img", "aria-label": pieces.map(([title, ns]) => `${title} ${duration(ns)}`).join(", ") });
	for (const [title, ns] of pieces) {
		const piece = make("span", { title: `${title} ${duration(ns)}` });
		piece.style.width = `${(100 * ns) / Math.max(whole, 1)}%`;
		piece.style.background = partColor(title);
		box.append(piece);
	}
	return box;
}

// columns: { title, text?, get(row) -> string or Node, key?(row) -> for sorting }. A title sorts; again: the other way round.
export function table(columns, rows, options = {}) {
	let sorted = options.sorted ?? null, descending = true;
	const body = make("tbody");
	const heads = columns.map((column, at) => {
		const name = column.key ? make("button", { type: "button", onclick: () => sort(at) }, column.title) : column.title;
		return make("th", { scope: "col", class: column.text ? "text" : undefined }, name);
	});
	function fill() {
		let shown = rows;
		if (sorted !== null) {
			const key = columns[sorted].key;
			const order = descending ? -1 : 1;
			shown = [...rows].sort((a, b) => (key(a) < key(b) ? -order : key(a) > key(b) ? order : 0));
		}
		heads.forEach((head, at) => (at === sorted ? head.setAttribute("aria-sort", descending ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
		body.replaceChildren(...shown.slice(0, options.limit ?? shown.length).map((row) => {
			const line = make("tr", { class: options.isChosen?.(row) ? "chosen" : undefined });
			for (const column of columns) line.append(make("td", { class: column.text ? "text" : undefined }, column.get(row)));
			return line;
		}));
	}
	function sort(at) {
		descending = sorted === at ? !descending : !columns[at].text;
		sorted = at;
		fill();
	}
	fill();
	return make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body);
}

// A canvas in the pixels of the screen: its context, width and height in CSS pixels.
export function prepare(canvas, height) {
	const ratio = window.devicePixelRatio || 1;
	const width = canvas.clientWidth || 800;
	canvas.style.height = `${height}px`;
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	const context = canvas.getContext("2d");
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, width, height);
	context.font = "12px system-ui, sans-serif";
	context.textBaseline = "middle";
	return { context, width, height };
}

export function ink(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
