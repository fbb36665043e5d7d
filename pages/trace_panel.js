/* The panel: details of a slice; statistics, flame graph and call trees of a selected time. */
const TABLE_ROWS = 500;
const TREE_ROWS = 200; /* children of one row */
const LINKS_MAX = 24;
const TABS = ["details", "statistics", "flame", "topdown", "bottomup"];
const SOURCES = {
	all: ["Calls and GPU work", () => true], kernel: ["GPU kernels", (kind) => kind === "kernel"],
	copy: ["GPU copies", (kind) => kind === "copy"], hip: ["HIP and ROCm calls", (kind) => kind === "hip"],
	region: ["Regions and markers", (kind) => !["kernel", "copy", "hip"].includes(kind)],
	samples: ["Call-stack samples", () => true],
};

let tab = "statistics";
let source = "all";
let sumsWanted = 0; /* how often sums were requested */
let sums = null; /* of the selected time: see sumUp() */
let callTree = null; /* of the same: { root, nodes } */
let flame = null;
let flameTree = null;
let sortBy = "sum";

/* The colour of a path in the timeline. */
function mark(path) {
	return make("i", { style: `background:${colourOf(path)}` });
}

/* ---- details ---- */

function absoluteText(ns) {
	return String(BigInt(head.start) + BigInt(Math.round(ns)));
}

function pathNames(path) {
	const names = [];
	for (let at = path; at; at = parentOf(at))
		names.unshift(nameOfPath(at));
	return names;
}

function factsOf(slice) {
	const process = head.processes.find((one) => one.index === slice.track.process);
	const isMerged = slice.count > 1;
	const facts = [
		["Kind", KIND_WORDS[kindOfPath(slice.path)]], ["Track", slice.track.name],
		["Process", process ? processTitle(process) : String(slice.track.pid)],
		["Start", timeText(slice.start)], ["Duration", timeText(slice.end - slice.start)],
	];
	if (isMerged)
		facts.push(["Events", countText(slice.count)], ["Busy", timeText(slice.busy)]);
	else
		facts.push(["Start (ns)", absoluteText(slice.start)], ["Length (ns)", countText(slice.end - slice.start)]);
	if (slice.corr)
		facts.push(["Correlation", String(slice.corr)]);
	if (slice.nBytes)
		facts.push(["Bytes", countText(slice.nBytes)],
			["Bandwidth", (slice.nBytes / Math.max(slice.end - slice.start, 1)).toPrecision(4) + " GB/s"]);
	for (const line of slice.detail ? tables.details[slice.detail].split("\n") : []) {
		const at = line.indexOf("=");
		facts.push([line.slice(0, 1).toUpperCase() + line.slice(1, at), line.slice(at + 1)]);
	}
	return facts;
}

/* The lines of a tip. */
function sliceText(slice) {
	const name = nameOfPath(slice.path);
	const lines = [name.length > 300 ? name.slice(0, 299) + "\u2026" : name];
	if (slice.count > 1)
		lines[0] = countText(slice.count) + " events, the longest: " + lines[0];
	lines.push(timeText(slice.end - slice.start) + " from " + timeText(slice.start));
	if (slice.nBytes)
		lines.push(countText(slice.nBytes) + " bytes");
	if (slice.track.simulated)
		lines.push("GPU times: " + head.processes.find((p) => p.index === slice.track.process).gpuTimes);
	return lines.join("\n");
}

function showDetails() {
	const pane = $("pane-details");
	pane.replaceChildren();
	if (!picked) {
		pane.append(make("p", {}, "Click a slice to see its details. Drag over the timeline to select a range of time: " +
			"the other tabs then show that range only."));
		return;
	}
	const list = make("dl", {});
	for (const [key, value] of factsOf(picked))
		list.append(make("div", {}, make("dt", {}, key), make("dd", {}, value)));
	pane.append(make("h2", {}, nameOfPath(picked.path)));
	if (picked.count > 1)
		pane.append(make("p", {}, picked.track.isWhole ?
			countText(picked.count) + " events are merged at this zoom. Zoom in to see each of them." :
			countText(picked.count) + " events are merged: this page holds events of this track from " +
			timeText(picked.track.kept[0].resolution) + " on. Their sums are in the statistics."));
	pane.append(list);
	const names = pathNames(picked.path);
	if (names.length > 1)
		pane.append(make("p", {}, "Call path: " + names.map((name) =>
			name.length > 80 ? name.slice(0, 79) + "\u2026" : name).join(" \u203a ")));
	const links = make("div", { class: "links" });
	for (const { from, to } of flows.slice(0, LINKS_MAX)) {
		const other = from.start === picked.start && from.track === picked.track ? to : from;
		const name = nameOfPath(other.path);
		links.append(make("button", { type: "button", title: name, onclick: () => goTo(other) },
			(other === to ? "launched: " : "launched by: ") + name));
	}
	pane.append(links);
}

/* ---- sums ---- */

const isSampled = () => source === "samples";

async function fillSums() {
	const time = range || whole;
	const number = ++sumsWanted;
	const made = await sumUp(time.from, time.to, isSampled());
	if (number !== sumsWanted)
		return; /* another range or source was selected meanwhile */
	sums = made;
	makeCallTree();
	showTab();
}

/*
 * Own time of a node is its time without that of the calls inside of it. Kernels and copies run beside their
 * call: their time is added to it.
 */
function makeCallTree() {
	const inner = new Float64Array(tables.n);
	const nodes = new Map();
	const root = { name: 0, file: 0, module: 0, line: 0, kind: -1, path: 0, self: 0, count: 0, total: 0, kids: new Map() };
	const isGpu = (path) => kindOfPath(path) === "kernel" || kindOfPath(path) === "copy";
	const nodeOf = (path) => {
		if (!path)
			return root;
		let node = nodes.get(path);
		if (!node) {
			node = {
				name: tables.paths[3 * path + 1], file: 0, module: 0, line: 0, kind: tables.paths[3 * path + 2],
				path, self: 0, count: 0, total: 0, kids: new Map(),
			};
			nodes.set(path, node);
			nodeOf(parentOf(path)).kids.set(path, node);
		}
		return node;
	};
	const chosen = [...sums.sums.values()].filter(({ path }) => SOURCES[source][1](kindOfPath(path)));
	for (const { path, inside } of chosen)
		if (!isGpu(path))
			inner[parentOf(path)] += inside;
	for (const { path, inside, count } of chosen) {
		const node = nodeOf(path);
		node.self = Math.max(inside - inner[path], 0);
		node.count = count;
	}
	/* Paths are numbered after their parents. */
	const sorted = [...nodes.values()].sort((a, b) => b.path - a.path);
	for (const node of sorted) {
		node.total += node.self;
		nodeOf(parentOf(node.path)).total += node.total;
	}
	callTree = { root, nodes: sorted };
}

/* ---- statistics ---- */

const COLUMNS = [
	["name", "Name"], ["count", "Count"], ["sum", "Sum"], ["share", "%", "optional"], ["mean", "Mean", "optional"],
	["min", "Min", "optional"], ["max", "Max", "optional"],
];

function statisticsRows() {
	const test = $("search").value ? matcher($("search").value) : () => true;
	const byName = new Map();
	const [, wanted] = SOURCES[source];
	for (const { path, count, sum, min, max } of sums.sums.values()) {
		const kind = kindOfPath(path);
		const key = tables.paths[3 * path + 1] * head.kinds.length + tables.paths[3 * path + 2];
		let row = byName.get(key);
		if (!wanted(kind))
			continue;
		if (!row)
			byName.set(key, row = { name: nameOfPath(path), path, kind, count: 0, sum: 0, min, max });
		row.count += count;
		row.sum += sum;
		row.min = Math.min(row.min, min);
		row.max = Math.max(row.max, max);
	}
	const rows = [...byName.values()].filter((row) => test(row.name));
	const all = rows.reduce((total, row) => total + row.sum, 0);
	for (const row of rows) {
		row.mean = row.sum / row.count;
		row.share = row.sum / (all || 1);
	}
	return rows.sort(sortBy === "name" ? (a, b) => a.name.localeCompare(b.name) : (a, b) => b[sortBy] - a[sortBy]);
}

function showStatistics() {
	const rows = statisticsRows();
	const about = sums.rough ? "\u2248 " : "";
	const body = $("table").tBodies[0];
	body.replaceChildren();
	for (const row of rows.slice(0, TABLE_ROWS)) {
		const find = () => searchFor(row.name);
		body.append(make("tr", {
			tabindex: "0", title: row.name.slice(0, 1000), onclick: find,
			onkeydown: (event) => { if (event.key === "Enter") find(); },
		}, make("td", { class: "name" }, make("div", {}, mark(row.path), make("span", { class: "label" }, row.name))),
		make("td", {}, about + countText(row.count)), make("td", {}, about + timeText(row.sum)),
		make("td", { class: "optional" }, percentText(row.share, 1)), make("td", { class: "optional" }, timeText(row.mean)),
		make("td", { class: "optional" }, timeText(row.min)), make("td", { class: "optional" }, timeText(row.max))));
	}
	$("more").textContent = [
		rows.length ? "" : "No events.",
		rows.length > TABLE_ROWS ? `The first ${TABLE_ROWS} of ${countText(rows.length)} names. Search finds the others.` : "",
		sums.rough ? "\u2248: events at the edges of the range are merged in this page, and were counted in proportion." : "",
	].filter(Boolean).join(" ");
}

function makeStatisticsHead() {
	const row = $("table").tHead.insertRow();
	for (const [key, title, kind] of COLUMNS) {
		const th = make("th", { class: key === "name" ? "name" : kind || "" }, make("button", {
			type: "button",
			onclick: () => {
				sortBy = key;
				for (const other of row.cells)
					other.removeAttribute("aria-sort");
				th.setAttribute("aria-sort", key === "name" ? "ascending" : "descending");
				showStatistics();
			},
		}, title));
		if (key === sortBy)
			th.setAttribute("aria-sort", "descending");
		row.append(th);
	}
}

/* ---- the flame graph ---- */

function showFlame() {
	if (!flame)
		flame = new FlameGraph({
			scroll: $("flame-scroll"), space: $("flame-space"), canvas: $("flame-graph"), tip: $("tip"),
			details: $("flame-details"), kinds: head.kinds, colourOf: (i) => colourOf(flameTree.path[i]),
			nameOf: (i) => i ? tables.names[flameTree.name[i]] : "all", maxHeight: () => $("flame-scroll").clientHeight,
			describe: (i) => [i ? tables.names[flameTree.name[i]] : "all",
				"total " + timeText(flameTree.total[i]) + " (" + percentText(flameTree.total[i], flameTree.total[0]) + ")",
				"self " + timeText(flameTree.self[i]) + " (" + percentText(flameTree.self[i], flameTree.total[0]) + ")",
				i ? KIND_WORDS[head.kinds[flameTree.kind[i]]] + ", " + amountText(flameTree.count[i], "event") : "",
			].filter(Boolean).join("\n"),
		});
	flameTree = layOut(callTree.root, callTree.nodes.length + 1);
	flame.show(flameTree, true);
	const words = $("search").value;
	flame.find(words ? tables.names.map(matcher(words)) : null);
}

/* ---- call trees as tables ---- */

/* A row of a tree: what it is called, its numbers, and a function that returns its children. */
function topDownRow(node) {
	return {
		name: tables.names[node.name], path: node.path, total: node.total, self: node.self, count: node.count,
		kids: () => [...node.kids.values()].map(topDownRow), hasKids: node.kids.size > 0,
	};
}

/* Who calls: @items are own times of functions, with the path that is their caller at this depth. */
function bottomUpRows(items) {
	const byName = new Map();
	for (const item of items) {
		if (!item.path)
			continue;
		const key = tables.paths[3 * item.path + 1] * head.kinds.length + tables.paths[3 * item.path + 2];
		let row = byName.get(key);
		if (!row)
			byName.set(key, row = {
				name: nameOfPath(item.path), path: item.path, total: 0, self: 0, count: 0, items: [],
			});
		row.self += item.self;
		row.total = row.self;
		row.count += item.count;
		row.items.push({ path: parentOf(item.path), self: item.self, count: item.count });
	}
	const rows = [...byName.values()];
	for (const row of rows) {
		row.hasKids = row.items.some((item) => item.path);
		row.kids = () => bottomUpRows(row.items);
	}
	return rows;
}

/* Title, what it shows of a row, and its class. */
const TREE_COLUMNS = {
	topdown: [["Function and what it called"], ["Total", (row) => timeText(row.total)],
		["%", (row, all) => percentText(row.total, all)], ["Self", (row) => timeText(row.self), "optional"],
		["Count", (row) => countText(row.count), "optional"]],
	bottomup: [["Function and who called it"], ["Self", (row) => timeText(row.self)],
		["%", (row, all) => percentText(row.self, all)], ["Count", (row) => countText(row.count), "optional"]],
};

function treeRows(body, columns, rows, depth, before) {
	const all = callTree.root.total;
	const sorted = rows.filter((row) => row.total > 0 || row.count > 0).sort((a, b) => b.total - a.total);
	for (const row of sorted.slice(0, TREE_ROWS)) {
		const tr = make("tr", { "aria-level": String(depth + 1), title: row.name.slice(0, 1000) });
		const button = make("button", { type: "button", "aria-expanded": "false", "aria-label": "Expand " + row.name.slice(0, 80) },
			"\u25b8");
		const toggle = () => {
			const isOpen = button.getAttribute("aria-expanded") === "true";
			button.setAttribute("aria-expanded", String(!isOpen));
			button.textContent = isOpen ? "\u25b8" : "\u25be";
			if (!isOpen) {
				treeRows(body, columns, row.kids(), depth + 1, tr.nextSibling);
				return;
			}
			while (tr.nextSibling && Number(tr.nextSibling.getAttribute("aria-level")) > depth + 1)
				tr.nextSibling.remove();
		};
		button.addEventListener("click", toggle);
		if (!row.hasKids)
			button.style.visibility = "hidden";
		tr.append(make("td", { class: "name" }, make("div", { style: `padding-left:${Math.min(depth, 40) * 14}px` }, button,
			mark(row.path), make("span", { class: "label" }, row.name))),
		...columns.slice(1).map(([, text, kind]) => make("td", { class: kind || "" }, text(row, all))));
		body.insertBefore(tr, before);
		if (depth < 30 && sorted.length === 1 && row.hasKids)
			toggle(); /* an only child has nothing to choose from */
	}
}

function showTree(which, rows) {
	const pane = $("pane-" + which);
	const columns = TREE_COLUMNS[which];
	const body = make("tbody", {});
	treeRows(body, columns, rows, 0, null);
	pane.replaceChildren(make("table", { class: "tree", role: "treegrid" }, make("thead", {}, make("tr", {},
		...columns.map(([title, text, kind]) => make("th", { class: text ? kind || "" : "name" }, title)))), body));
	if (!body.rows.length)
		pane.replaceChildren(make("p", { style: "margin:12px" }, "No events."));
}

/* ---- tabs ---- */

function showTab() {
	for (const name of TABS) {
		$("tab-" + name).setAttribute("aria-selected", String(name === tab));
		$("tab-" + name).tabIndex = name === tab ? 0 : -1;
		$("pane-" + name).hidden = name !== tab;
	}
	$("range").textContent = range ? timeText(range.to - range.from) + " selected, from " + timeText(range.from) :
		"whole trace, " + timeText(head.length);
	$("clear").hidden = !range;
	if (tab === "details")
		showDetails();
	else if (!sums)
		return;
	else if (tab === "statistics")
		showStatistics();
	else if (tab === "flame")
		showFlame();
	else if (tab === "topdown")
		showTree(tab, [...callTree.root.kids.values()].map(topDownRow));
	else
		showTree(tab, bottomUpRows(callTree.nodes));
}

function choose(name) {
	tab = name;
	keep();
	showTab();
}

function startPanel() {
	makeStatisticsHead();
	for (const name of TABS)
		$("tab-" + name).addEventListener("click", () => choose(name));
	$("tabs").addEventListener("keydown", (event) => {
		const step = { ArrowRight: 1, ArrowLeft: TABS.length - 1 }[event.key];
		if (!step)
			return;
		choose(TABS[(TABS.indexOf(tab) + step) % TABS.length]);
		$("tab-" + tab).focus();
		event.preventDefault();
		event.stopPropagation();
	});
	const hasSamples = tracks.some((track) => track.kind === "samples");
	for (const [key, [words]] of Object.entries(SOURCES))
		if (key !== "samples" || hasSamples)
			$("source").append(make("option", { value: key }, words));
	if (hasSamples && !tracks.some((track) => track.isGpu || track.kind === "thread"))
		source = "samples";
	$("source").value = source;
	$("source").addEventListener("change", () => {
		source = $("source").value;
		fillSums();
	});
}
