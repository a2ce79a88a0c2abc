// SPDX-License-Identifier: Apache-2.0
// Percentiles of a group's cells as curves: the share of slower messages shrinks tenfold with each mark of the x axis,
// and y is logarithmic, so that the tail doesn't hide what is usual.
import { extent } from "d3-array";
import { scaleLog } from "d3-scale";
import { select } from "d3-selection";
import { duration } from "./quantities.js";

const kHeight = 260, kTop = 10, kBottom = 24, kLeft = 60, kRight = 170;
const kColours = ["#2f6fb5", "#d4542c", "#3d9a50", "#8a5fbf", "#b8860b", "#c2356b", "#2a9d8f", "#7f7f7f"];
const kLineHeight = 14;

// `curves` has the title of a cell, its name in the group, and a [value, low, high] in ns, or null, for each of
// `names`.
export function drawCurves(svg, names, curves) {
	const width = svg.clientWidth;
	const points = curves.map(({ values }) => values.map((value, at) => ({ at, value })).filter(({ value }) => value));
	const all = points.flat();
	const last = Math.max(1, ...all.map(({ at }) => at));
	const x = (at) => kLeft + (at / last) * (width - kLeft - kRight);
	const [low, high] = extent(all.flatMap(({ value }) => value[0]));
	const y = scaleLog().domain([(low || 1) / 1.5, (high || 10) * 1.5]).range([kHeight - kBottom, kTop]).clamp(true);
	const root = select(svg).attr("height", kHeight);
	root.selectAll("*").remove();

	const axis = root.append("g").attr("class", "axis");
	for (const ns of y.ticks(5).filter((ns) => /^[125]/.test(String(ns)))) {
		axis.append("path").attr("d", `M${kLeft} ${y(ns)}H${width - kRight}`);
		axis.append("text").attr("x", kLeft - 6).attr("y", y(ns) + 4).attr("text-anchor", "end").text(duration(ns));
	}
	for (let at = 0; at <= last; ++at)
		axis.append("text").attr("x", x(at)).attr("y", kHeight - 6).attr("text-anchor", "middle").text(names[at]);

	// A name at the end of each curve, below the one above it.
	let below = -Infinity;
	const ends = curves.map((curve, number) => ({ curve, number, end: points[number][points[number].length - 1] }))
		.filter(({ end }) => end).sort((a, b) => y(a.end.value[0]) - y(b.end.value[0]));
	for (const { curve, number, end } of ends) {
		const group = root.append("g").attr("class", "curve").attr("data-cell", curve.cell)
			.attr("style", `--curve:${kColours[number % kColours.length]}`);
		group.append("title").text(curve.title);
		group.append("path")
			.attr("d", `M${points[number].map(({ at, value }) => `${x(at)} ${y(value[0])}`).join("L")}`);
		for (const { at, value } of points[number]) {
			const mark = group.append("g").attr("class", "point").attr("data-ns", value[0]);
			mark.append("title").text(`${curve.title}, ${names[at]}: ${duration(value[0])}, ` +
				`between ${duration(value[1])} and ${duration(value[2])}`);
			mark.append("path").attr("class", "thin").attr("d", `M${x(at)} ${y(Math.max(value[1], 1))}V${y(value[2])}`);
			mark.append("circle").attr("cx", x(at)).attr("cy", y(value[0])).attr("r", 3);
		}
		below = Math.max(y(end.value[0]) + 4, below + kLineHeight);
		group.append("text").attr("x", x(end.at) + 10).attr("y", below).text(curve.name);
	}
}
