/* The flame graph: reads #data, draws #graph, fills #table. */
const data = JSON.parse($("data").textContent);
const FIELDS = 8; /* of a node: see put_nodes() in profile/flame.c */
const TABLE_ROWS = 500;

const state = { view: 0, thread: -1, search: "", icicle: false };
let tree = null; /* of the view and thread that are shown */
let flame = null;
let functions = []; /* of the table */
let sortBy = "self";

/* ---- trees ---- */

function newNode(from, i) {
	return {
		name: from[i + 1], file: from[i + 2], module: from[i + 3], line: from[i + 4], kind: from[i + 5],
		path: 0, self: 0, count: 0, total: 0, kids: new Map(),
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

function nameOf(i) {
	return i ? data.texts[tree.name[i]] : "all";
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

/* ---- searching ---- */

function search() {
	const test = state.search ? matcher(state.search) : null;
	const sum = flame.find(test && data.texts.map(test));
	$("matched").textContent = test ? "matched " + percentText(sum, tree.total[0]) : "";
	fillTable();
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
	fillLegend();
	addUp();
	flame.show(tree, state.icicle);
	search();
}

function start() {
	document.title = "Flame graph \u2013 " + data.program;
	$("title").textContent = document.title;
	if (!data.views.length) {
		$("note").textContent = "Nothing was recorded.";
		return;
	}
	flame = new FlameGraph({
		scroll: $("scroll"), space: $("space"), canvas: $("graph"), tip: $("tip"), details: $("details"),
		kinds: data.kinds, nameOf, describe, maxHeight: () => Math.round(innerHeight * 0.68),
	});
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
	$("reset").addEventListener("click", () => flame.zoomTo(0));
	addEventListener("hashchange", () => {
		readAddress();
		$("view").value = String(state.view);
		$("search").value = state.search;
		fillThreads();
		show();
	});
	show();
}

start();
