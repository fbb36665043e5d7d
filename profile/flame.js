/* The flame graph: reads #data, draws #graph, fills #table. */
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const canvas = $("graph");
const ROW = 18; /* height of a function in the graph */
const MIN_WIDTH = 0.5; /* narrower ones are not drawn */
const FIELDS = 8; /* of a node: see put_nodes() in flame.c */
const TABLE_ROWS = 500;
const KIND_WORDS = {
	c: "C", cpp: "C++", python: "Python", hip: "HIP and ROCm", region: "Regions and markers",
	kernel: "GPU kernels", copy: "GPU copies",
};

const state = { view: 0, thread: -1, search: "", icicle: false };
let tree = null; /* of the view and thread that are shown */
let functions = []; /* of the table */
let zoom = 0; /* node that fills the width */
let selected = 0;
let matches = null; /* by node: 1 where the search finds its name */
let colours = {};
let sortBy = "self";

/* ---- trees ---- */

function newNode(from, i) {
	return {
		name: from[i + 1], file: from[i + 2], module: from[i + 3], line: from[i + 4], kind: from[i + 5],
		self: 0, count: 0, total: 0, kids: new Map(),
	};
}

/* The trees of @threads as one. Node 0 is the root. */
function makeTree(threads) {
	const root = newNode([0, 0, 0, 0, 0, -1], 0);
	const nodes = [root];
	for (const thread of threads) {
		const path = [root];
		const from = thread.nodes;
		for (let i = 0; i < from.length; i += FIELDS) {
			const parent = path[from[i]];
			const key = from[i + 1] * data.kinds.length + from[i + 5];
			let node = parent.kids.get(key);
			if (!node) {
				node = newNode(from, i);
				parent.kids.set(key, node);
				nodes.push(node);
			}
			node.self += from[i + 6];
			node.count += from[i + 7];
			path[from[i] + 1] = node;
		}
	}
	/* Children are made after their parents, so that going backwards adds them up. */
	for (let i = nodes.length - 1; i >= 0; i--) {
		nodes[i].total = nodes[i].self;
		for (const kid of nodes[i].kids.values())
			nodes[i].total += kid.total;
	}
	return layOut(root, nodes.length);
}

/* The nodes as arrays. Descendants follow their node, up to `end`; the largest child is first. */
function layOut(root, n) {
	const t = { n, depths: 0 };
	for (const key of ["name", "file", "module", "line", "kind", "parent", "depth", "end"])
		t[key] = new Int32Array(n);
	for (const key of ["self", "total", "count", "start"])
		t[key] = new Float64Array(n);
	const stack = [{ node: root, parent: -1, start: 0 }];
	for (let at = 0; at < n; at++) {
		const { node, parent, start } = stack.pop();
		for (const key of ["name", "file", "module", "line", "kind", "self", "total", "count"])
			t[key][at] = node[key];
		t.parent[at] = parent;
		t.start[at] = start;
		t.depth[at] = parent < 0 ? 0 : t.depth[parent] + 1;
		t.depths = Math.max(t.depths, t.depth[at] + 1);
		const kids = [...node.kids.values()].sort((a, b) => b.total - a.total);
		let next = start + node.total - node.self;
		/* The first child is taken from the stack first. */
		for (const kid of kids.reverse()) {
			next -= kid.total;
			stack.push({ node: kid, parent: at, start: next });
		}
	}
	for (let at = n - 1; at >= 0; at--) {
		t.end[at] = Math.max(t.end[at], at + 1);
		if (at)
			t.end[t.parent[at]] = Math.max(t.end[t.parent[at]], t.end[at]);
	}
	return t;
}

function nameOf(i) {
	return i ? data.texts[tree.name[i]] : "all";
}

/* ---- numbers as text ---- */

function timeText(ns) {
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]])
		if (ns >= size)
			return (ns / size).toPrecision(4) + " " + unit;
	return ns + " ns";
}

function percentText(part, whole) {
	return (whole > 0 ? 100 * part / whole : 0).toFixed(2) + " %";
}

function placeText(i) {
	const file = data.texts[tree.file[i]];
	const line = tree.line[i] ? ":" + tree.line[i] : "";
	return [file ? file + line : "", data.texts[tree.module[i]]].filter(Boolean).join("\n");
}

function describe(i) {
	const lines = [nameOf(i)];
	if (i && placeText(i))
		lines.push(placeText(i));
	lines.push("total " + timeText(tree.total[i]) + " (" + percentText(tree.total[i], tree.total[0]) + ")");
	lines.push("self " + timeText(tree.self[i]) + " (" + percentText(tree.self[i], tree.total[0]) + ")");
	if (i)
		lines.push(KIND_WORDS[data.kinds[tree.kind[i]]] + ", counted " + tree.count[i] + " times");
	return lines.join("\n");
}

/* ---- drawing ---- */

function readColours() {
	const style = getComputedStyle(document.documentElement);
	colours = {};
	for (const key of [...data.kinds, "card", "ink", "rule", "match", "focus", "frame-ink", "soft"])
		colours[key] = style.getPropertyValue("--" + key).trim();
}

/* Where a depth is, from the top of the whole graph. */
function topOf(depth) {
	return (state.icicle ? depth : tree.depths - 1 - depth) * ROW;
}

/* Place and width of a node; those around the zoomed one are as wide as the graph. */
function spanOf(i, width) {
	const scale = tree.total[zoom] > 0 ? width / tree.total[zoom] : 0;
	if (i <= zoom && tree.end[i] > zoom)
		return [0, width];
	return [(tree.start[i] - tree.start[zoom]) * scale, tree.total[i] * scale];
}

function drawFrame(g, i, x, w, y) {
	const found = matches && matches[i];
	g.fillStyle = i ? colours[data.kinds[tree.kind[i]]] : colours.rule;
	g.globalAlpha = matches && !found ? 0.35 : 1;
	g.fillRect(x, y, Math.max(w - 1, MIN_WIDTH), ROW - 1);
	g.globalAlpha = 1;
	if (found) {
		g.fillStyle = colours.match;
		g.fillRect(x, y + ROW - 4, Math.max(w - 1, MIN_WIDTH), 3);
	}
	if (i === selected) {
		g.strokeStyle = colours.focus;
		g.lineWidth = 2;
		g.strokeRect(x + 1, y + 1, Math.max(w - 3, 1), ROW - 3);
	}
	if (w < 24)
		return;
	const room = Math.floor((w - 8) / 6.6); /* characters of the font below */
	const name = nameOf(i);
	g.fillStyle = i ? colours["frame-ink"] : colours.ink;
	g.fillText(name.length > room ? name.slice(0, Math.max(room - 1, 1)) + "\u2026" : name, x + 4, y + ROW - 5);
}

function draw() {
	const box = $("scroll");
	const width = box.clientWidth;
	const height = Math.min(tree.depths * ROW, Math.round(innerHeight * 0.68));
	const ratio = devicePixelRatio || 1;
	const offset = box.scrollTop;
	$("space").style.height = tree.depths * ROW + "px";
	if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.height = height + "px";
	}
	const g = canvas.getContext("2d");
	g.setTransform(ratio, 0, 0, ratio, 0, 0);
	g.fillStyle = colours.card;
	g.fillRect(0, 0, width, height);
	g.font = "11px ui-monospace, \"DejaVu Sans Mono\", monospace";
	for (let i = 0; i < tree.n;) {
		const outside = tree.end[i] <= zoom || i >= tree.end[zoom];
		const [x, w] = outside ? [0, 0] : spanOf(i, width);
		if (w < MIN_WIDTH) {
			i = tree.end[i];
			continue;
		}
		const y = topOf(tree.depth[i]) - offset;
		if (y > -ROW && y < height)
			drawFrame(g, i, x, w, y);
		i++;
	}
}

let drawn = 0;
function redraw() {
	cancelAnimationFrame(drawn);
	drawn = requestAnimationFrame(draw);
}

/* The node at a place of the canvas, or -1. */
function nodeAt(event) {
	const box = canvas.getBoundingClientRect();
	const row = Math.floor((event.clientY - box.top + $("scroll").scrollTop) / ROW);
	const depth = state.icicle ? row : tree.depths - 1 - row;
	const x = event.clientX - box.left;
	for (let i = 0; i < tree.n;) {
		const outside = tree.end[i] <= zoom || i >= tree.end[zoom];
		const [from, w] = outside ? [0, 0] : spanOf(i, box.width);
		if (x < from || x >= from + w || tree.depth[i] > depth) {
			i = tree.end[i];
			continue;
		}
		if (tree.depth[i] === depth)
			return i;
		i++;
	}
	return -1;
}

/* ---- searching ---- */

function matcher(text) {
	if (text.length > 2 && text.startsWith("/") && text.endsWith("/")) {
		try {
			const pattern = new RegExp(text.slice(1, -1));
			return (name) => pattern.test(name);
		} catch {
			return () => false;
		}
	}
	const lower = text.toLowerCase();
	return (name) => name.toLowerCase().includes(lower);
}

/* Time below what was found counts once, however often it is found. */
function search() {
	matches = null;
	$("matched").textContent = "";
	if (state.search) {
		const test = matcher(state.search);
		const byName = data.texts.map(test);
		let sum = 0;
		matches = new Uint8Array(tree.n);
		for (let i = 1, until = 0; i < tree.n; i++) {
			matches[i] = byName[tree.name[i]] ? 1 : 0;
			if (matches[i] && i >= until) {
				sum += tree.total[i];
				until = tree.end[i];
			}
		}
		$("matched").textContent = "matched " + percentText(sum, tree.total[0]);
	}
	fillTable();
	redraw();
}

/* ---- the table ---- */

/*
 * Own time and calls add up; total time counts the outermost call of a recursion only, and so do
 * samples, which are on all functions of a stack.
 */
function addUp() {
	const sampled = data.views[state.view].sampled;
	const rows = new Map();
	const open = []; /* nodes around the current one */
	for (let i = 1; i < tree.n; i++) {
		const key = tree.name[i] * data.kinds.length + tree.kind[i];
		while (open.length && open[open.length - 1].end <= i)
			open.pop().row.depth--;
		let row = rows.get(key);
		if (!row)
			rows.set(key, row = { node: i, self: 0, total: 0, count: 0, depth: 0 });
		row.self += tree.self[i];
		if (!row.depth || !sampled)
			row.count += tree.count[i];
		if (!row.depth++)
			row.total += tree.total[i];
		open.push({ end: tree.end[i], row });
	}
	functions = [...rows.values()];
}

function cell(row, text, kind) {
	const td = document.createElement("td");
	if (kind) {
		const mark = document.createElement("i");
		mark.style.background = "var(--" + kind + ")";
		td.className = "name";
		td.append(mark);
	}
	td.append(text);
	row.append(td);
	return td;
}

function fillTable() {
	const test = state.search ? matcher(state.search) : () => true;
	const rows = functions.filter((f) => test(nameOf(f.node)));
	const body = $("table").tBodies[0];
	const whole = tree.total[0];
	rows.sort(sortBy === "name" ? (a, b) => nameOf(a.node).localeCompare(nameOf(b.node)) :
		(a, b) => b[sortBy] - a[sortBy]);
	body.replaceChildren();
	for (const f of rows.slice(0, TABLE_ROWS)) {
		const tr = document.createElement("tr");
		const name = cell(tr, nameOf(f.node), data.kinds[tree.kind[f.node]]);
		const place = document.createElement("small");
		place.textContent = " " + placeText(f.node).split("\n")[0];
		name.append(place);
		cell(tr, timeText(f.self));
		cell(tr, percentText(f.self, whole));
		cell(tr, timeText(f.total));
		cell(tr, percentText(f.total, whole));
		cell(tr, String(f.count));
		const find = () => {
			state.search = $("search").value = nameOf(f.node);
			keep();
			search();
		};
		tr.tabIndex = 0;
		tr.addEventListener("click", find);
		tr.addEventListener("keydown", (event) => {
			if (event.key === "Enter")
				find();
		});
		body.append(tr);
	}
	$("more").textContent = rows.length > TABLE_ROWS ?
		"The first " + TABLE_ROWS + " of " + rows.length + " functions. Search finds the others." : "";
}

function makeTableHead() {
	const row = $("table").tHead.insertRow();
	for (const [key, title, span] of [["name", "Function", 1], ["self", "Self", 2], ["total", "Total", 2],
		["count", "Count", 1]]) {
		const th = document.createElement("th");
		const button = document.createElement("button");
		th.colSpan = span;
		th.className = key;
		button.type = "button";
		button.textContent = title;
		button.addEventListener("click", () => {
			sortBy = key;
			for (const other of row.cells)
				other.removeAttribute("aria-sort");
			th.setAttribute("aria-sort", key === "name" ? "ascending" : "descending");
			fillTable();
		});
		if (key === sortBy)
			th.setAttribute("aria-sort", "descending");
		th.append(button);
		row.append(th);
	}
}

/* ---- selecting and zooming ---- */

function select(i) {
	const box = $("scroll");
	const top = topOf(tree.depth[i]);
	selected = i;
	$("details").textContent = describe(i).replaceAll("\n", " \u00b7 ");
	if (top < box.scrollTop || top + ROW > box.scrollTop + box.clientHeight)
		box.scrollTop = top - box.clientHeight / 2;
	redraw();
}

function zoomTo(i) {
	zoom = i;
	select(i);
}

/* The sibling before or after, inside of what is shown. */
function sibling(i, step) {
	const parent = tree.parent[i];
	let before = i;
	if (i === zoom || parent < 0)
		return i;
	for (let k = parent + 1; k < tree.end[parent]; k = tree.end[k]) {
		if (step < 0 && k === i)
			return before;
		if (step > 0 && k > i)
			return k;
		before = k;
	}
	return i;
}

function onKey(event) {
	const outer = () => Math.max(tree.parent[selected], 0);
	const inner = () => tree.end[selected] > selected + 1 ? selected + 1 : selected;
	const actions = {
		ArrowLeft: () => select(sibling(selected, -1)),
		ArrowRight: () => select(sibling(selected, 1)),
		ArrowUp: () => select(state.icicle ? outer() : inner()),
		ArrowDown: () => select(state.icicle ? inner() : outer()),
		Home: () => select(zoom),
		Enter: () => zoomTo(selected),
		Escape: () => zoomTo(0),
	};
	if (!actions[event.key] || event.ctrlKey || event.altKey || event.metaKey)
		return;
	actions[event.key]();
	event.preventDefault();
}

function onMove(event) {
	const i = nodeAt(event);
	const tip = $("tip");
	tip.hidden = i < 0;
	if (i < 0)
		return;
	tip.textContent = describe(i);
	tip.style.left = Math.max(0, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)) + "px";
	tip.style.top = Math.max(0, Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)) + "px";
}

/* ---- what is shown ---- */

/* In the address, so that a link leads to the same picture. */
function keep() {
	const words = new URLSearchParams();
	for (const [key, value] of Object.entries(state))
		words.set(key, String(value));
	history.replaceState(null, "", "#" + words);
}

function readAddress() {
	const words = new URLSearchParams(location.hash.slice(1));
	state.view = Math.min(Math.max(Number(words.get("view")) || 0, 0), data.views.length - 1);
	state.thread = words.has("thread") ? Number(words.get("thread")) || 0 : -1;
	state.search = words.get("search") || "";
	state.icicle = words.get("icicle") === "true";
	if (!data.views[state.view].threads[state.thread])
		state.thread = -1;
}

function option(list, text, value) {
	const made = document.createElement("option");
	made.textContent = text;
	made.value = String(value);
	list.append(made);
}

function fillThreads() {
	const threads = data.views[state.view].threads;
	$("thread").replaceChildren();
	option($("thread"), threads.length > 1 ? "All " + threads.length + " threads, merged" : "All threads", -1);
	threads.forEach((thread, i) => option($("thread"), thread.title, i));
	$("thread").value = String(state.thread);
}

function fillLegend() {
	const used = new Set(tree.kind.slice(1));
	$("legend").replaceChildren();
	data.kinds.forEach((kind, i) => {
		if (!used.has(i))
			return;
		const item = document.createElement("span");
		const mark = document.createElement("i");
		mark.style.background = "var(--" + kind + ")";
		item.append(mark, KIND_WORDS[kind]);
		$("legend").append(item);
	});
}

function show() {
	const view = data.views[state.view];
	tree = makeTree(state.thread < 0 ? view.threads : [view.threads[state.thread]]);
	$("note").textContent = view.title + ": " + timeText(tree.total[0]) + ", " + (tree.n - 1) +
		" call paths (" + view.note + ")";
	$("icicle").setAttribute("aria-pressed", String(state.icicle));
	zoom = selected = 0;
	fillLegend();
	addUp();
	search();
	draw();
	$("scroll").scrollTop = state.icicle ? 0 : tree.depths * ROW;
	select(0);
	draw();
}

function start() {
	document.title = "Flame graph \u2013 " + data.program;
	$("title").textContent = document.title;
	if (!data.views.length) {
		$("note").textContent = "Nothing was recorded.";
		return;
	}
	readColours();
	readAddress();
	data.views.forEach((view, i) => option($("view"), view.title, i));
	$("view").value = String(state.view);
	$("search").value = state.search;
	fillThreads();
	makeTableHead();
	$("view").addEventListener("change", (event) => {
		state.view = Number(event.target.value);
		state.thread = -1;
		fillThreads();
		keep();
		show();
	});
	$("thread").addEventListener("change", (event) => {
		state.thread = Number(event.target.value);
		keep();
		show();
	});
	$("search").addEventListener("input", (event) => {
		state.search = event.target.value;
		keep();
		search();
	});
	$("icicle").addEventListener("click", () => {
		state.icicle = !state.icicle;
		keep();
		show();
	});
	$("reset").addEventListener("click", () => zoomTo(0));
	$("scroll").addEventListener("scroll", redraw);
	$("scroll").addEventListener("keydown", onKey);
	canvas.addEventListener("mousemove", onMove);
	canvas.addEventListener("mouseleave", () => { $("tip").hidden = true; });
	canvas.addEventListener("click", (event) => {
		const i = nodeAt(event);
		if (i >= 0)
			zoomTo(i);
	});
	addEventListener("resize", redraw);
	addEventListener("hashchange", () => {
		readAddress();
		$("view").value = String(state.view);
		$("search").value = state.search;
		fillThreads();
		show();
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
		readColours();
		redraw();
	});
	show();
}

start();
