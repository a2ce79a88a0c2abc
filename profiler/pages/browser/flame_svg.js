// SPDX-License-Identifier: Apache-2.0
// latency.svg: the flame graph in a window of its own. ../flame_svg.cc has drawn it already; this draws it again, so
// that it can be used.
import { select } from "d3-selection";
import { choose, chosen } from "./address.js";
import { flameGraph } from "./flame.js";
import { duration, percent } from "./quantities.js";

const kMargin = 10, kLeastWidth = 600, kTop = 86, kBox = 340;
const svg = document.currentScript.ownerSVGElement;
const details = svg.querySelector("#details");
const group = svg.querySelector("#frames");
group.replaceChildren();
group.setAttribute("transform", `translate(${kMargin},${kTop})`);

const graph = flameGraph(group, JSON.parse(svg.querySelector("#flame").textContent), {
	tell: (text) => { details.textContent = text; },
	changed: () => { choose({ zoom: graph.place() }); find(); },
});

const foreign = select(svg).append("foreignObject").attr("y", 42).attr("width", kBox).attr("height", 30);
const bar = foreign.append("xhtml:div").attr("class", "search");
const found = bar.append("xhtml:span");
const box = bar.append("xhtml:input").attr("type", "search").attr("placeholder", "search (ctrl-F)")
	.attr("aria-label", "search frames").on("input", find).node();
bar.append("xhtml:button").text("reset").on("click", () => { box.value = ""; graph.zoom(""); });

function find() {
	const { ns, share } = graph.search(box.value);
	found.text(box.value ? `${duration(ns)}, ${percent(share)}` : "");
	choose({ search: box.value });
}

function fit() {
	const width = Math.max(kLeastWidth, window.innerWidth), height = kTop + graph.height + 2 * kMargin;
	svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
	svg.setAttribute("width", width);
	svg.setAttribute("height", height);
	foreign.attr("x", width - kBox - kMargin);
	graph.resize(width - 2 * kMargin);
}

function show() {
	const { zoom = "", search = "" } = chosen();
	box.value = search;
	graph.zoom(zoom);
}

window.addEventListener("resize", fit);
window.addEventListener("hashchange", show);
document.addEventListener("keydown", (event) => {
	if (event.key === "f" && (event.ctrlKey || event.metaKey) || event.key === "/" && event.target !== box) {
		event.preventDefault();
		box.focus();
	} else if (event.key === "Escape") {
		box.value = "";
		graph.key("Escape");
	} else if (event.target !== box && graph.key(event.key))
		event.preventDefault();
});
fit();
show();
