// SPDX-License-Identifier: Apache-2.0
// Latencies over the time of the run, a strip for each cell: what drifts, and which states the machine changes between.
// A range of time can be chosen, to compare it with the rest.
import { max, min, sum } from "d3-array";
import { brushX } from "d3-brush";
import { scaleLinear, scaleLog } from "d3-scale";
import { event, select } from "d3-selection";
import { duration, percent, seconds } from "./quantities.js";

const kLeft = 190, kRight = 10, kTop = 4, kStrip = 84, kGap = 10, kBottom = 24;
const kSteps = 40; // of the keys, over the whole run

// [begin, end, blocks, first bin, [messages of each bin…]]
const columns = (rows) => rows.map(([begin, end, blocks, first, counts]) => ({ begin, end, blocks, first, counts }));

// The latency that a share of the columns' messages doesn't exceed, as well as bins tell.
function quantile(some, edges, share) {
	const counts = new Array(edges.length).fill(0);
	for (const { first, counts: its } of some)
		its.forEach((count, at) => { counts[first + at] += count; });
	const wanted = share * sum(counts);
	let seen = 0;
	for (let bin = 0; bin + 1 < edges.length; ++bin) {
		if (counts[bin] > 0 && seen + counts[bin] >= wanted)
			return edges[bin] * (edges[bin + 1] / edges[bin]) ** ((wanted - seen) / counts[bin]);
		seen += counts[bin];
	}
	return null;
}

function drawStrip(strip, shown, edges, x, y, title) {
	strip.append("title").text(title);
	for (const { begin, end, blocks, first, counts } of shown) {
		const most = Math.max(...counts), all = sum(counts);
		const column = strip.append("g").attr("class", "column").attr("data-begin", begin).attr("data-messages", all);
		counts.forEach((count, at) => {
			if (count === 0)
				return;
			const top = y(edges[first + at + 1]);
			column.append("rect").attr("x", x(begin)).attr("width", Math.max(0.8, x(end) - x(begin) - 0.4))
				.attr("y", top).attr("height", Math.max(0.8, y(edges[first + at]) - top))
				.attr("fill-opacity", 0.12 + 0.88 * Math.sqrt(count / most)).append("title")
				.text(`${title}, from ${seconds(begin)}, ${blocks} block${blocks === 1 ? "" : "s"}: ` +
					`${percent(count / all)} of the messages took ${duration(edges[first + at])} to ` +
					`${duration(edges[first + at + 1])}`);
		});
	}
}

// Draws into `svg` the strips of `cells`: [{cell, name, title}]. `range`: [from, to] in seconds, or null.
// `changed(range)` is called when the reader chooses one.
export function drawHeatMaps(svg, { edges, cells: all }, cells, range, changed) {
	const shown = cells.map((one) => ({ ...one, its: columns(all[one.cell]) })).filter(({ its }) => its.length > 0);
	const width = svg.clientWidth, height = kTop + shown.length * (kStrip + kGap) + kBottom;
	const root = select(svg).attr("height", height);
	root.selectAll("*").remove();
	const last = max(shown, ({ its }) => its[its.length - 1].end) || 0;
	const x = scaleLinear().domain([0, last || 1]).range([kLeft, width - kRight]);
	shown.forEach(({ cell, name, title, its }, number) => {
		const top = kTop + number * (kStrip + kGap);
		const low = edges[min(its, ({ first }) => first)];
		const high = edges[max(its, ({ first, counts }) => first + counts.length)];
		const y = scaleLog().domain([low, high]).range([top + kStrip, top]);
		const strip = root.append("g").attr("class", "strip").attr("data-cell", cell);
		strip.append("rect").attr("class", "back").attr("x", kLeft).attr("y", top)
			.attr("width", width - kLeft - kRight).attr("height", kStrip);
		strip.append("text").attr("x", 0).attr("y", top + 14).text(name.length > 18 ? `${name.slice(0, 17)}…` : name);
		for (const [ns, at] of [[high, top + 10], [low, top + kStrip - 1]])
			strip.append("text").attr("class", "axis").attr("x", kLeft - 6).attr("y", at)
				.attr("text-anchor", "end").text(duration(ns));
		drawStrip(strip, its, edges, x, y, title);
	});
	const axis = root.append("g").attr("class", "axis");
	for (const at of x.ticks(8))
		axis.append("text").attr("x", x(at)).attr("y", height - 8).attr("text-anchor", "middle").text(seconds(at));

	const brush = brushX().extent([[kLeft, 0], [width - kRight, height - kBottom]]).on("end", () => {
		if (event.sourceEvent)
			changed(event.selection && event.selection.map((at) => Math.round(1e3 * x.invert(at)) / 1e3));
	});
	const over = root.append("g").attr("class", "brush").call(brush);
	if (range)
		over.call(brush.move, range.map((at) => x(Math.max(0, Math.min(at, last)))));
}

// The range after an arrow key: moved, or with Shift longer or shorter. `range` itself for other keys.
export function keyedRange({ cells }, range, key, longer) {
	const last = max(cells, (rows) => (rows.length ? rows[rows.length - 1][1] : 0)) || 0, step = last / kSteps;
	const by = { ArrowRight: step, ArrowLeft: -step }[key];
	if (!by)
		return range;
	const [from, to] = range || [0, 0];
	const moved = longer || !range ? [from, Math.max(from + step, to + by)] : [from + by, to + by];
	return moved[0] < 0 || moved[1] > last + 1e-9 ? range : moved.map((at) => Math.round(1e3 * at) / 1e3);
}

// Of each cell: p50 and p99 of the columns that begin in the range, and of the others.
export function compared({ edges, cells: all }, cells, [from, to]) {
	return cells.map((one) => {
		const its = columns(all[one.cell]), isIn = ({ begin }) => begin >= from && begin < to;
		const figures = (some) => [0.5, 0.99].map((share) => quantile(some, edges, share));
		return { ...one, within: figures(its.filter(isIn)), without: figures(its.filter((column) => !isIn(column))) };
	});
}
