// SPDX-License-Identifier: Apache-2.0
// report.html: choosing cells, the flame graph, and search. The page is complete without it, but for the flame graph.
import { select, selectAll } from "d3-selection";
import { choose, chosen } from "./address.js";
import { drawCurves } from "./curves.js";
import { flameGraph } from "./flame.js";
import { compared, drawHeatMaps, keyedRange } from "./heat_map.js";
import { duration, percent, seconds } from "./quantities.js";
import { drawSlowest } from "./timelines.js";

const data = JSON.parse(document.getElementById("data").textContent);
const [svg, messages, box, found, told, groupBox, curves, heat, rangeTable, slowestBox, timelines] =
	["graph", "messages", "search", "found", "told", "group", "percentiles", "heat", "range", "slowest-of", "timelines"]
		.map((id) => document.getElementById(id));
const kNothing = "\u00a0"; // keeps the line's height
let graph = null;

function drawFlame() {
	const of = data[messages.value];
	const group = document.createElementNS("http://www.w3.org/2000/svg", "g");
	svg.replaceChildren(group);
	graph = flameGraph(group, of, {
		tell: (text) => { told.textContent = text || kNothing; },
		changed: () => { choose({ zoom: graph.place() }); find(); },
	});
	svg.setAttribute("height", graph.height);
	graph.resize(svg.clientWidth);
}

function find() {
	const { ns, share } = graph.search(box.value);
	found.textContent = box.value ? `${duration(ns)}, ${percent(share)}` : "";
	choose({ search: box.value });
}

// Nothing for no cell.
function groupOf(cell) {
	const at = data.groups.findIndex((cells) => cells.some((one) => String(one.cell) === cell));
	return at < 0 ? "" : String(at);
}

// "3.2-5.1": seconds of the run; null: none was chosen.
function chosenRange() {
	const range = (chosen().time || "").split("-").map(Number);
	return range.length === 2 && range[0] < range[1] ? range : null;
}

function drawRange(cells, range) {
	rangeTable.hidden = !range;
	if (!range)
		return;
	const figure = (ns) => (ns === null ? "–" : duration(ns));
	select(rangeTable).select("caption")
		.text(`From ${seconds(range[0])} to ${seconds(range[1])}, and in the rest of the run, within 6 %`);
	const rows = select(rangeTable).select("tbody").selectAll("tr")
		.data(compared(data.over_time, cells, range)).join("tr");
	rows.selectAll("td")
		.data(({ name, within, without }) => [name, within[0], without[0], within[1], without[1]]).join("td")
		.text((value) => (typeof value === "string" ? value : figure(value)));
}

function drawGroup() {
	const cells = data.groups[groupBox.value] || [];
	drawCurves(curves, data.percentiles, cells);
	drawHeatMaps(heat, data.over_time, cells, chosenRange(), chooseRange);
	drawRange(cells, chosenRange());
	mark(chosen().cell);
}

function chooseRange(range) {
	choose({ time: range ? range.join("-") : "" });
	drawGroup();
}

// The cell whose slowest message is the slowest of all.
function slowestCell() {
	const slowest = data.slowest.cells.map((messages) => (messages.length ? messages[0].ns : 0));
	return String(slowest.indexOf(Math.max(...slowest)));
}

function drawTimelines(cell) {
	const has = (one) => (data.slowest.cells[one] || []).length > 0;
	slowestBox.value = has(cell) ? cell : slowestCell();
	drawSlowest(timelines, data.slowest, slowestBox.value);
}

function showGroup(group) {
	groupBox.value = group;
	drawGroup();
}

// The flame graph has only cells with a complete path.
function placeOf(cell) {
	const at = data[messages.value].cells.findIndex((frame) => frame.name === data.cells[cell]);
	return at < 0 ? "" : String(at);
}

function mark(cell) {
	selectAll("[data-cell]").classed("chosen", function () { return this.dataset.cell === cell; });
}

function chooseCell(cell) {
	choose({ cell });
	showGroup(groupOf(cell) || groupBox.value);
	drawTimelines(cell);
	graph.zoom(cell === "" ? "" : placeOf(cell));
	const tail = document.querySelector(`#tails [data-cell="${cell}"] details`);
	if (tail)
		tail.open = true;
}

// Only one kind of time in colour.
function isolate(kind) {
	const picture = select("#picture");
	picture.selectAll("rect[class^=kind-]").classed("faded", function () {
		return kind !== "" && !this.classList.contains(`kind-${kind}`);
	});
	picture.selectAll("button").attr("aria-pressed", function () { return this.dataset.kind === kind; });
	choose({ kind });
}

// Goes along the rows of the table.
function step(by) {
	const rows = [...document.querySelectorAll("tbody [data-cell]")].map((row) => row.dataset.cell);
	const at = rows.indexOf(chosen().cell);
	chooseCell(rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]);
	document.querySelector("tbody .chosen").scrollIntoView({ block: "nearest" });
}

function show() {
	const { zoom = "", search = "", cell = "", kind = "", group = "0", messages: which = "all" } = chosen();
	messages.value = ["typical", "tail"].includes(which) ? which : "all";
	box.value = search;
	drawFlame();
	showGroup(groupOf(cell) || (group in data.groups ? group : "0"));
	isolate(kind);
	drawTimelines(cell);
	graph.zoom(zoom || (cell === "" ? "" : placeOf(cell)));
}

selectAll("#picture [data-cell], tbody [data-cell]").on("click", function () {
	chooseCell(this.dataset.cell === chosen().cell ? "" : this.dataset.cell);
});
selectAll(".legend button").on("click", function () {
	isolate(chosen().kind === this.dataset.kind ? "" : this.dataset.kind);
});
box.addEventListener("input", find);
groupBox.addEventListener("change", () => {
	choose({ group: groupBox.value === "0" ? "" : groupBox.value });
	drawGroup();
});
messages.addEventListener("change", () => {
	choose({ messages: messages.value === "all" ? "" : messages.value, zoom: "" });
	show();
});
slowestBox.addEventListener("change", () => chooseCell(slowestBox.value));
heat.addEventListener("keydown", (event) => {
	const range = keyedRange(data.over_time, chosenRange(), event.key, event.shiftKey);
	if (!event.key.startsWith("Arrow"))
		return;
	event.preventDefault();
	chooseRange(range);
});
document.getElementById("reset").addEventListener("click", () => { box.value = ""; chooseCell(""); });
svg.addEventListener("keydown", (event) => {
	if (graph.key(event.key))
		event.preventDefault();
});
document.addEventListener("keydown", (event) => {
	if (["INPUT", "SELECT"].includes(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey)
		return;
	if (event.key === "j" || event.key === "k")
		step(event.key === "j" ? 1 : -1);
	else if (event.key === "/") {
		event.preventDefault();
		box.focus();
	} else if (event.key === "Enter" && event.target.dataset && event.target.dataset.cell)
		chooseCell(event.target.dataset.cell);
	else if (event.key === "Escape") {
		choose({ time: "" });
		chooseCell("");
	}
});
window.addEventListener("resize", () => { graph.resize(svg.clientWidth); drawGroup(); drawTimelines(chosen().cell); });
window.addEventListener("hashchange", show);
show();
