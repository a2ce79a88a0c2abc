// SPDX-License-Identifier: Apache-2.0
// report.html: choosing cells, the flame graph, and search. The page is complete without it, but for the flame graph.
import { select, selectAll } from "d3-selection";
import { choose, chosen } from "./address.js";
import { drawCurves } from "./curves.js";
import { flameGraph } from "./flame.js";
import { duration, percent } from "./quantities.js";

const data = JSON.parse(document.getElementById("data").textContent);
const [svg, messages, box, found, told, groupBox, curves] =
	["graph", "messages", "search", "found", "told", "group", "percentiles"].map((id) => document.getElementById(id));
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

function drawGroup() {
	drawCurves(curves, data.percentiles, data.groups[groupBox.value] || []);
	mark(chosen().cell);
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
	graph.zoom(zoom || (cell === "" ? "" : placeOf(cell)));
}

selectAll("#picture [data-cell], tbody [data-cell]").on("click", function () {
	chooseCell(this.dataset.cell === chosen().cell ? "" : this.dataset.cell);
});
selectAll(".legend button").on("click", function () {
	isolate(chosen().kind === this.dataset.kind ? "" : this.dataset.kind);
});
box.addEventListener("input", find);
groupBox.addEventListener("change", () => { choose({ group: groupBox.value === "0" ? "" : groupBox.value }); drawGroup(); });
messages.addEventListener("change", () => {
	choose({ messages: messages.value === "all" ? "" : messages.value, zoom: "" });
	show();
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
	else if (event.key === "Escape")
		chooseCell("");
});
window.addEventListener("resize", () => { graph.resize(svg.clientWidth); drawGroup(); });
window.addEventListener("hashchange", show);
show();
