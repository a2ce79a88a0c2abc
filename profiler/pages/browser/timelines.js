// SPDX-License-Identifier: Apache-2.0
// A cell's slowest messages, each from send to recv: a lane for each thread that had it.
import { select } from "d3-selection";
import { duration, percent } from "./quantities.js";

const kLeft = 190, kRight = 10, kTitle = 24, kLane = 20, kGap = 12;

// The message as objects.
function read({ texts }, message) {
	return message.steps.map(([kind, from, ns, thread, layer, known, bound, culprit]) => ({
		kind, from, ns, bound,
		thread: texts[thread], layer: texts[layer], known: texts[known], culprit: texts[culprit],
	}));
}

function told({ layer, ns, known, bound, culprit }, whole) {
	return `${layer}: ${duration(ns)}, ${percent(ns / whole)}, ${known}` +
		`${bound > 0 ? ` within ${duration(bound)}` : ""}${culprit ? `, ${culprit}` : ""}`;
}

function drawMessage(root, message, steps, top, width) {
	const lanes = [...new Set(steps.map(({ thread }) => thread))];
	const longest = steps.reduce((one, other) => (other.ns > one.ns ? other : one));
	const x = (ns) => kLeft + (ns / message.ns) * (width - kLeft - kRight);
	const y = (thread) => top + kTitle + lanes.indexOf(thread) * kLane;
	const group = root.append("g").attr("class", "message").attr("data-ns", message.ns);
	group.append("text").attr("x", 0).attr("y", top + 15).attr("class", "name")
		.text(`${duration(message.ns)} · mostly ${told(longest, message.ns)} · --message ${message.name}`);
	for (const thread of lanes) {
		group.append("text").attr("class", "axis").attr("x", 0).attr("y", y(thread) + 13)
			.text(thread.length > 26 ? `${thread.slice(0, 25)}…` : thread);
		group.append("path").attr("class", "lane").attr("d", `M${kLeft} ${y(thread) + kLane / 2}H${width - kRight}`);
	}
	let before = null;
	for (const step of steps) {
		if (before && before.thread !== step.thread)
			group.append("path").attr("class", "passed")
				.attr("d", `M${x(step.from)} ${y(before.thread) + kLane / 2}V${y(step.thread) + kLane / 2}`);
		const shape = {
			x: x(step.from), width: Math.max(0.6, x(step.from + step.ns) - x(step.from)),
			y: y(step.thread) + 2, height: kLane - 4,
		};
		const piece = group.append("g").attr("class", `step kind-${step.kind}`).attr("data-step", step.ns);
		piece.append("title").text(told(step, message.ns));
		for (const pattern of step.known.startsWith("inferred") ? ["", "hatched"] : [""]) {
			const rect = piece.append("rect").attr("class", pattern);
			for (const [name, value] of Object.entries(shape))
				rect.attr(name, value);
		}
		before = step;
	}
	return kTitle + lanes.length * kLane + kGap + (message.left_out ? 14 : 0);
}

// Draws into `svg` the messages of cell number `cell`.
export function drawSlowest(svg, slowest, cell) {
	const root = select(svg);
	root.selectAll("*").remove();
	const hatch = root.append("defs").append("pattern").attr("id", "hatch").attr("width", 6).attr("height", 6)
		.attr("patternUnits", "userSpaceOnUse").attr("patternTransform", "rotate(45)");
	hatch.append("path").attr("d", "M0 0V6");
	let top = 0;
	for (const message of slowest.cells[cell] || []) {
		const height = drawMessage(root, message, read(slowest, message), top, svg.clientWidth);
		if (message.left_out)
			root.append("text").attr("class", "axis").attr("x", kLeft).attr("y", top + height - kGap)
				.text(`without its ${message.left_out} shortest pieces`);
		top += height;
	}
	root.attr("height", top);
}
