// SPDX-License-Identifier: Apache-2.0
// The flame graph of latency.svg and of report.html: cells at the top, their layers, parts and threads below them. Its
// data is flame_json() of ../flamegraph.h.
import { max, ticks } from "d3-array";
import { hierarchy, partition } from "d3-hierarchy";
import { select } from "d3-selection";
import { duration, percent } from "./quantities.js";

const kAxis = 22, kRow = 20; // pixels
const kCharacter = 7.25, kPadding = 6; // of the 12-pixel monospace font
const kNarrowest = 0.3; // narrower frames can't be seen
const kNsPerUs = 1e3;

// What each frame shows: its means, which are those of its stacks, and the kind that most of its time is of.
function measured(data) {
	const root = hierarchy({ name: "", children: data.cells })
		.sum((frame) => (frame.children ? 0 : Math.max(frame.ns, frame.other_ns || 0)));
	root.eachAfter((node) => {
		const sum = (key) => node.children.reduce((all, child) => all + child[key], 0);
		node.mean = node.children ? sum("mean") : node.data.ns;
		node.other = node.children ? sum("other") : node.data.other_ns || 0;
		const leaves = node.children ? node.leaves() : [node];
		const byKind = data.kinds.map((_, kind) =>
			leaves.reduce((all, leaf) => all + (leaf.data.kind === kind ? leaf.value : 0), 0));
		node.kind = byKind.indexOf(Math.max(...byKind));
	});
	root.eachBefore((node) => {
		const at = node.parent ? node.parent.children.indexOf(node) : 0;
		node.place = !node.parent ? "" : node.parent.place === "" ? `${at}` : `${node.parent.place}.${at}`;
	});
	return partition()(root);
}

function fitted(name, pixels) {
	const room = Math.floor((pixels - kPadding) / kCharacter);
	const characters = Array.from(name);
	if (characters.length <= room)
		return name;
	return room < 4 ? "" : characters.slice(0, room - 1).join("") + "…";
}

// Draws into `group`, an SVG's <g>. `tell(text)` is called with what the reader points at, `changed()` when the reader
// zooms.
export function flameGraph(group, data, { tell, changed }) {
	const root = measured(data);
	const nodes = root.descendants().slice(1);
	const mostChange = max(nodes, (node) => Math.abs(node.mean - node.other)) || 0;
	let width = 0, focus = root, cursor = null, wanted = "";

	const isFound = (node) => wanted !== "" && node.data.name.toLowerCase().includes(wanted);
	const cellOf = (node) => node.ancestors().reverse()[1];

	function told(node) {
		const way = node.ancestors().reverse().slice(1).map((one) => one.data.name).join(" → ");
		const cell = cellOf(node);
		if (data.other === null)
			return `${way}: ${duration(node.mean)} of a message, ` +
				`${percent(cell.mean > 0 ? node.mean / cell.mean : 0)} of its ${duration(cell.mean)}`;
		const change = node.mean - node.other;
		return `${way}: ${change > 0 ? "+" : ""}${duration(change)} a message: ${duration(node.mean)}, and ` +
			`${duration(node.other)} in ${data.other}`;
	}

	function style(node) {
		if (data.other !== null)
			return node.mean > node.other ? "grew" : "shrank";
		return node.depth === 1 ? "cell" : `kind-${node.kind}`;
	}

	const scale = () => (focus.x1 > focus.x0 ? width / (focus.x1 - focus.x0) : 0);
	const left = (node) => Math.max(0, (node.x0 - focus.x0) * scale());
	const right = (node) => Math.min(width, (node.x1 - focus.x0) * scale());

	function drawAxis() {
		const us = focus.value / kNsPerUs;
		const values = us > 0 ? ticks(0, us, 10) : [];
		const marks = select(group).selectAll("g.tick").data(values).join("g").attr("class", "tick axis")
			.attr("transform", (value) => `translate(${(value / us) * width},0)`);
		marks.selectAll("path").data([0]).join("path").attr("d", `M0 ${kAxis - 6}v5`);
		marks.selectAll("text").data((value) => [value]).join("text")
			.attr("text-anchor", (value) => (value === 0 ? "start" : "middle"))
			.attr("y", kAxis - 9).text((value) => `${value} µs`);
	}

	function draw() {
		drawAxis();
		const seen = nodes.filter((node) => right(node) - left(node) >= kNarrowest);
		const frames = select(group).selectAll("g.frame").data(seen, (node) => node.place).join((enter) => {
			const made = enter.append("g");
			made.append("title").text(told);
			made.append("rect");
			made.append("text");
			return made;
		});
		frames.attr("class", (node) => `frame ${style(node)}`)
			.classed("found", isFound)
			.classed("cursor", (node) => node === cursor)
			.classed("above", (node) => node !== focus && focus.ancestors().includes(node))
			.attr("data-place", (node) => node.place)
			.attr("data-ns", (node) => node.mean)
			.attr("transform", (node) => `translate(${left(node)},${kAxis + (node.depth - 1) * kRow})`)
			.on("click", (node) => zoom(node === focus ? node.parent.place : node.place))
			.on("mouseenter", (node) => tell(told(node)))
			.on("mouseleave", () => tell(cursor ? told(cursor) : ""));
		frames.select("rect").attr("height", kRow - 1)
			.attr("width", (node) => Math.max(0.1, right(node) - left(node) - 0.5))
			.attr("fill-opacity", (node) =>
				data.other === null ? null : mostChange > 0 ? Math.abs(node.mean - node.other) / mostChange : 0);
		frames.select("text").attr("x", 3).attr("y", 14)
			.text((node) => fitted(node.data.name, right(node) - left(node)));
	}

	function zoom(place) {
		focus = root.descendants().find((node) => node.place === place) || root;
		draw();
		changed();
	}

	// Marks the frames with `text` in their names. Returns their time: frames within found ones aren't added again.
	function search(text) {
		wanted = text.toLowerCase();
		draw();
		const found = (node) =>
			(isFound(node) ? node.mean : (node.children || []).reduce((all, one) => all + found(one), 0));
		return { ns: found(focus), share: focus.mean > 0 ? found(focus) / focus.mean : 0 };
	}

	function point(node) {
		cursor = node;
		tell(told(node));
		draw();
	}

	// Arrows go along the frames, Enter zooms to the one that they are at, Escape zooms out. Returns whether the key
	// was one of these.
	function key(name) {
		const from = cursor || focus.children && focus.children[0];
		const siblings = from && from.parent ? from.parent.children : [];
		const beside = (by) => siblings[siblings.indexOf(from) + by];
		const to = {
			ArrowRight: () => (cursor ? beside(1) : from),
			ArrowLeft: () => beside(-1),
			ArrowDown: () => (cursor ? from.children && from.children[0] : from),
			ArrowUp: () => from && from.parent !== root ? from.parent : null,
		}[name];
		if (name === "Escape")
			zoom("");
		else if (name === "Enter" && cursor)
			zoom(cursor.place);
		else if (!to)
			return false;
		else if (to())
			point(to());
		return true;
	}

	return {
		height: kAxis + root.height * kRow,
		resize: (pixels) => { width = pixels; draw(); },
		place: () => focus.place,
		zoom, search, key,
	};
}
