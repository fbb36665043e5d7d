/* The trace page: moving about, selecting, searching, keys. */
const KEYS = [
	["w  s", "zoom in, zoom out (also + and -)"], ["a  d", "move left, right (also the arrow keys)"],
	["\u2191  \u2193", "scroll the tracks"], ["0", "show the whole trace"],
	["f", "zoom to the selected slice or range"], ["m", "select the time of the selected slice"],
	[",  .", "previous, next slice of the row"], ["e", "follow the arrow: from a call to its kernel, and back"],
	["/", "search"], ["n  N", "next, previous match"], ["1 \u2026 5", "tabs of the panel"], ["Esc", "clear the selection"],
	["Drag", "select a range of time; with Shift, move the timeline"],
	["Ctrl + wheel", "zoom (also pinch)"], ["Shift + wheel", "move left and right"],
	["Double click", "zoom to a slice"],
];
const FLOW_TILES = 8; /* of a track that are searched for the other end of an arrow */
const FLOWS_MAX = 64;
const ZOOM_KEY = 0.6; /* part of the view that is left */

/* ---- moving ---- */

let moving = 0;

function setView(from, to) {
	const length = Math.min(Math.max(to - from, MIN_LENGTH), whole.to * 1.02);
	const spare = length * 0.02;
	const start = Math.min(Math.max(from, -spare), Math.max(whole.to + spare - length, -spare));
	view.from = start;
	view.to = start + length;
	redraw();
	keepSoon();
}

/* In a few frames, so that the eye can follow; at once where the reader prefers that. */
function moveTo(from, to) {
	cancelAnimationFrame(moving);
	if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
		setView(from, to);
		return;
	}
	const start = { ...view, at: performance.now() };
	const step = (now) => {
		const part = Math.min(Math.max((now - start.at) / 140, 0), 1);
		const eased = 1 - (1 - part) ** 3;
		setView(start.from + (from - start.from) * eased, start.to + (to - start.to) * eased);
		if (part < 1)
			moving = requestAnimationFrame(step);
	};
	moving = requestAnimationFrame(step);
}

function zoomAt(ns, factor, move) {
	const from = ns - (ns - view.from) * factor;
	move(from, from + (view.to - view.from) * factor);
}

function panBy(share) {
	const step = (view.to - view.from) * share;
	moveTo(view.from + step, view.to + step);
}

function showTime(from, to) {
	const spare = Math.max((to - from) * 0.1, MIN_LENGTH);
	moveTo(from - spare, to + spare);
}

/* Bring a slice into view, without zooming unless it would not be seen. */
function reveal(slice) {
	const place = placeOf.get(slice.track);
	const length = view.to - view.from;
	const box = graph();
	if (place) {
		const top = rowTop(place, slice.row);
		if (top < box.scrollTop + 10 || top + ROW > box.scrollTop + box.clientHeight - 10)
			box.scrollTop = top - box.clientHeight / 2;
	}
	if (slice.end - slice.start > length || (slice.end - slice.start) * 400 < length)
		showTime(slice.start - (slice.end - slice.start) * 3, slice.end + (slice.end - slice.start) * 3);
	else if (slice.start < view.from || slice.end > view.to)
		moveTo(slice.start - length / 3, slice.start + length * 2 / 3);
}

/* ---- selecting ---- */

async function pick(slice, switchTab = true) {
	picked = slice;
	flows = [];
	redraw();
	if (!slice) {
		showTab();
		return;
	}
	$("said").textContent = sliceText(slice);
	if (switchTab && tab !== "details")
		choose("details");
	showTab();
	const found = await flowsOf(slice);
	if (picked === slice) {
		flows = found;
		showTab();
		redraw();
	}
}

function goTo(slice) {
	reveal(slice);
	pick(slice);
}

function selectRange(from, to) {
	range = to - from > 0 ? { from: Math.max(from, 0), to: Math.min(to, whole.to) } : null;
	if (tab === "details")
		tab = "statistics";
	keepSoon();
	redraw();
	fillSums();
}

function clearSelection() {
	const had = range;
	range = null;
	pick(null);
	if (had)
		fillSums();
	keepSoon();
}

/* ---- arrows: from a call to what it launched ---- */

/* The slices of a track with this correlation id, from the tile at @ns on, in direction @step. */
async function withCorrelation(track, corr, ns, step, test) {
	const level = track.levels[0];
	const found = [];
	if (!track.isWhole)
		return found;
	let i = 0;
	while (i + 1 < level.nTiles && level.end[i] < ns)
		i++;
	/* The call may be in the next tile: it is put there when it ends. */
	i = step < 0 ? Math.min(i + 2, level.nTiles - 1) : i;
	for (let n = 0; n < FLOW_TILES && i >= 0 && i < level.nTiles && found.length < FLOWS_MAX; n++, i += step) {
		const tile = await loadTile(level, i);
		for (let k = 0; tile.corr && k < tile.n; k++)
			if (tile.corr[k] === corr && (!test || test(tile, k)))
				found.push(sliceOf(track, level, tile, k));
		if (found.length && step < 0)
			break;
	}
	return found;
}

async function flowsOf(slice) {
	const made = [];
	if (!slice.corr || slice.count > 1 || !slice.isExact)
		return made;
	if (slice.caller) {
		for (const from of await withCorrelation(tracks[slice.caller - 1], slice.corr, slice.start, -1))
			made.push({ from, to: slice });
		return made;
	}
	for (const track of tracks.filter((one) => one.isGpu && one.process === slice.track.process))
		for (const to of await withCorrelation(track, slice.corr, slice.start, 1,
			(tile, k) => tile.caller && tile.caller[k] === slice.track.number + 1))
			made.push({ from: slice, to });
	return made;
}

function follow() {
	if (flows.length && picked)
		goTo(flows[0].from.track === picked.track && flows[0].from.start === picked.start ? flows[0].to : flows[0].from);
}

/* The slice before or after the selected one, in its row. */
async function neighbour(step) {
	if (!picked || !picked.track.isWhole)
		return;
	const { track, row, start } = picked;
	const level = track.levels[0];
	const order = [...Array(level.nTiles).keys()];
	let best = null;
	for (const i of step > 0 ? order : order.reverse()) {
		if (step > 0 ? level.end[i] < start : level.start[i] > start)
			continue;
		const tile = await loadTile(level, i);
		for (let k = 0; k < tile.n; k++) {
			if ((tile.row ? tile.row[k] : 0) !== row || (tile.start[k] - start) * step <= 0)
				continue;
			if (!best || (tile.start[k] - best.start) * step < 0)
				best = sliceOf(track, level, tile, k);
		}
		if (best && (step > 0 ? level.start[i] : -level.end[i]) < (step > 0 ? best.start : -best.start))
			break;
	}
	if (best)
		goTo(best);
}

/* ---- searching ---- */

let searched = 0;

async function search() {
	const words = $("search").value;
	const number = ++searched;
	foundPaths = null;
	$("found").textContent = "";
	if (words) {
		const byName = tables.names.map(matcher(words));
		foundPaths = new Uint8Array(tables.n);
		let names = 0;
		for (let i = 1; i < tables.n; i++)
			foundPaths[i] = byName[tables.paths[3 * i + 1]] ? 1 : 0;
		for (let i = 1; i < byName.length; i++)
			names += byName[i] ? 1 : 0;
		redraw();
		const counts = await countsByPath();
		if (number !== searched)
			return;
		const count = counts.reduce((sum, n, path) => sum + (foundPaths[path] ? n : 0), 0);
		$("found").textContent = amountText(count, "event") + ", " + amountText(names, "name");
	}
	keepSoon();
	redraw();
	if (tab === "statistics" || tab === "flame")
		showTab();
}

function searchFor(name) {
	$("search").value = name;
	search();
}

/* The match of a track that is next to @ns: later for a @step of 1, earlier for -1. */
async function matchIn(track, ns, step, but) {
	const level = track.levels[0];
	const sought = foundPaths;
	let best = null;
	let i = step > 0 ? level.end.findIndex((end) => end >= ns) : level.start.findLastIndex((start) => start <= ns);
	for (; i >= 0 && sought === foundPaths && (i = await tileWithMatch(track, i, step)) >= 0; i += step) {
		if (step > 0 ? level.end[i] < ns : level.start[i] > ns)
			continue;
		if (best && (step > 0 ? level.start[i] > best.start : level.end[i] < best.start))
			break;
		if (!track.isWhole) {
			if ((level.start[i] - ns) * step > 0)
				return matchInSummary(track, i);
			continue;
		}
		const tile = await loadTile(level, i);
		for (let k = 0; k < tile.n; k++) {
			if (!sought[tile.path[k]] || (tile.start[k] - ns) * step < 0)
				continue;
			if (but && but.track === track && but.start === tile.start[k] && but.path === tile.path[k])
				continue;
			/* Of those that begin together, one is enough. */
			if ((tile.start[k] - ns) * step === 0 && but)
				continue;
			if (!best || (tile.start[k] - best.start) * step < 0)
				best = sliceOf(track, level, tile, k);
		}
	}
	return best;
}

async function nextMatch(step) {
	if (!foundPaths)
		return;
	const from = picked && foundPaths[picked.path] ? picked.start : step > 0 ? view.from : view.to;
	const but = picked && foundPaths[picked.path] ? picked : null;
	let best = null;
	for (const track of tracks.filter((one) => !one.isCounter)) {
		const found = await matchIn(track, from, step, but);
		if (found && (!best || (found.start - best.start) * step < 0))
			best = found;
	}
	if (best)
		goTo(best);
	else
		$("said").textContent = "no further match";
}

/* ---- the address keeps what is shown, so that a link leads to the same picture ---- */

let keeping = 0;
function keepSoon() {
	clearTimeout(keeping);
	keeping = setTimeout(keep, 150);
}

function keep() {
	const words = new URLSearchParams({ from: String(Math.round(view.from)), to: String(Math.round(view.to)), tab });
	if (range)
		words.set("range", Math.round(range.from) + "-" + Math.round(range.to));
	if ($("search").value)
		words.set("search", $("search").value);
	history.replaceState(null, "", "#" + words);
}

function readAddress() {
	const words = new URLSearchParams(location.hash.slice(1));
	const from = Number(words.get("from"));
	const to = Number(words.get("to"));
	const [start, end] = (words.get("range") || "").split("-").map(Number);
	if (words.has("to") && to > from)
		setView(from, to);
	if (end > start)
		range = { from: Math.max(start, 0), to: Math.min(end, whole.to) };
	if (TABS.includes(words.get("tab")))
		tab = words.get("tab");
	$("search").value = words.get("search") || "";
}

/* ---- the mouse and fingers ---- */

const pointers = new Map(); /* that are down: id to { x, y } */
let drag = null; /* what a movement does: see onDown() */

const isTouch = (event) => event.pointerType === "touch";

function spread() {
	const [a, b] = [...pointers.values()];
	return { x: (a.x + b.x) / 2, width: Math.max(Math.abs(a.x - b.x), 10) };
}

function placeOfEvent(event) {
	const box = $("graph").getBoundingClientRect();
	return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function onDown(event) {
	const at = placeOfEvent(event);
	if (event.button > 1)
		return;
	pointers.set(event.pointerId, at);
	$("graph").setPointerCapture(event.pointerId);
	cancelAnimationFrame(moving);
	$("tip").hidden = true;
	if (pointers.size === 2)
		drag = { kind: "pinch", ...spread(), from: view.from, to: view.to };
	else {
		const moves = isTouch(event) || event.shiftKey || event.button === 1;
		const selects = $("ranging").getAttribute("aria-pressed") === "true";
		drag = { kind: moves && !(selects && isTouch(event)) ? "move" : "range", x: at.x, y: at.y, from: view.from,
			to: view.to, top: graph().scrollTop, ns: nsAt(at.x), moved: false };
	}
	graph().focus({ preventScroll: true });
	event.preventDefault();
}

function onMove(event) {
	const at = placeOfEvent(event);
	if (!pointers.has(event.pointerId)) {
		hover(event, at);
		return;
	}
	pointers.set(event.pointerId, at);
	if (drag.kind === "pinch" && pointers.size === 2) {
		const now = spread();
		const factor = drag.width / now.width;
		const perPixel = (drag.to - drag.from) / widthOfView();
		const ns = drag.from + (drag.x - gutter) * perPixel;
		const from = ns - (now.x - gutter) * perPixel * factor;
		setView(from, from + (drag.to - drag.from) * factor);
		return;
	}
	if (!drag.moved && Math.hypot(at.x - drag.x, at.y - drag.y) < 4)
		return;
	drag.moved = true;
	if (drag.kind === "move") {
		const step = (drag.x - at.x) * (drag.to - drag.from) / widthOfView();
		graph().scrollTop = drag.top + drag.y - at.y;
		setView(drag.from + step, drag.to + step);
	} else if (drag.kind === "range") {
		const ns = nsAt(Math.max(at.x, gutter));
		range = { from: Math.max(Math.min(ns, drag.ns), 0), to: Math.min(Math.max(ns, drag.ns), whole.to) };
		$("range").textContent = timeText(range.to - range.from) + " selected";
		redraw();
	}
}

function onUp(event) {
	const at = placeOfEvent(event);
	if (!pointers.delete(event.pointerId) || !drag)
		return;
	if (!drag.moved && drag.kind !== "pinch" && event.type === "pointerup")
		pick(sliceAt(at.x, at.y));
	else if (drag.kind === "range" && range)
		selectRange(range.from, range.to);
	if (!pointers.size)
		drag = null;
}

function hover(event, at) {
	const slice = sliceAt(at.x, at.y);
	if (!slice !== !hovered || (slice && (slice.start !== hovered.start || slice.row !== hovered.row ||
		slice.track !== hovered.track)))
		redraw();
	hovered = slice;
	placeTip($("tip"), slice ? sliceText(slice) : valueAt(at.x, at.y), event);
}

function onWheel(event) {
	const at = placeOfEvent(event);
	const sideways = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
	if (event.ctrlKey || event.metaKey) {
		zoomAt(nsAt(Math.max(at.x, gutter)), Math.exp(Math.max(Math.min(event.deltaY, 120), -120) / 240), setView);
		event.preventDefault();
	} else if (Math.abs(sideways) > Math.abs(event.deltaY) || event.shiftKey) {
		const step = sideways * nsPerPixel();
		setView(view.from + step, view.to + step);
		event.preventDefault();
	}
}

/* The overview: the view goes where the pointer is. */
function onOverview(event) {
	if (!event.buttons)
		return;
	const box = $("overview").getBoundingClientRect();
	const middle = (event.clientX - box.left - gutter) / widthOfView() * whole.to;
	const half = (view.to - view.from) / 2;
	setView(middle - half, middle + half);
}

function onRuler(event) {
	if (event.buttons && event.movementX)
		setView(view.from - event.movementX * nsPerPixel(), view.to - event.movementX * nsPerPixel());
}

function startDivider() {
	const height = (value) => {
		const pixels = Math.min(Math.max(value, 60), innerHeight - 220);
		document.documentElement.style.setProperty("--panel", pixels + "px");
		redraw();
		if (tab === "flame" && flame)
			flame.redraw();
	};
	$("divider").addEventListener("pointerdown", (event) => $("divider").setPointerCapture(event.pointerId));
	$("divider").addEventListener("pointermove", (event) => {
		if (event.buttons)
			height(innerHeight - event.clientY);
	});
	$("divider").addEventListener("keydown", (event) => {
		const step = { ArrowUp: 30, ArrowDown: -30 }[event.key];
		if (step) {
			height($("panel").clientHeight + step);
			event.preventDefault();
			event.stopPropagation();
		}
	});
}

/* ---- keys ---- */

function actionOf(key) {
	const middle = (view.from + view.to) / 2;
	const actions = {
		w: () => zoomAt(middle, ZOOM_KEY, moveTo), s: () => zoomAt(middle, 1 / ZOOM_KEY, moveTo),
		a: () => panBy(-0.25), d: () => panBy(0.25),
		ArrowUp: () => graph().scrollBy(0, -60), ArrowDown: () => graph().scrollBy(0, 60),
		0: () => moveTo(whole.from, whole.to),
		f: () => picked ? showTime(picked.start, picked.end) : range && showTime(range.from, range.to),
		m: () => picked && selectRange(picked.start, picked.end),
		",": () => neighbour(-1), ".": () => neighbour(1), e: follow,
		n: () => nextMatch(1), N: () => nextMatch(-1), "?": () => $("help").showModal(),
		"/": () => {
			$("search").focus();
			$("search").select();
		},
		Escape: clearSelection,
	};
	Object.assign(actions, { "+": actions.w, "=": actions.w, "-": actions.s, ArrowLeft: actions.a, ArrowRight: actions.d,
		Home: actions[0] });
	TABS.forEach((name, i) => { actions[i + 1] = () => choose(name); });
	return actions[key];
}

function onKey(event) {
	const inField = event.target.closest("input, select, dialog, #panel, #divider");
	const action = actionOf(event.key);
	if (!action || event.ctrlKey || event.altKey || event.metaKey || (inField && event.key !== "Escape") ||
		$("help").open)
		return;
	action();
	event.preventDefault();
}

/* ---- beginning ---- */

function showFacts() {
	const names = [...new Set(head.processes.map((process) => process.program))];
	const software = head.processes.filter((process) => process.software);
	const merged = tracks.filter((track) => !track.isWhole);
	const notes = [...head.notes];
	document.title = names.join(", ") + " \u2013 trace";
	$("title").textContent = names.join(", ");
	$("title").title = names.join(", ");
	$("facts").textContent = amountText(head.events, "event") + ", " + timeText(head.length) +
		(head.processes.length > 1 ? ", " + head.processes.length + " processes" : "");
	if (software.length) {
		$("badge").hidden = false;
		$("badge").textContent = "software GPU, times: " + [...new Set(software.map((one) => one.gpuTimes))].join("; ");
	}
	if (merged.length)
		notes.push("This page holds the events of " + merged.length + " tracks merged below " +
			timeText(Math.max(...merged.map((track) => track.kept[0].resolution))) +
			" to stay small. Statistics and call trees count every event.");
	if (notes.length) {
		$("notes").hidden = false;
		$("notes").textContent = notes.join(" \u00b7 ");
	}
	for (const [keys, what] of KEYS)
		$("keys").tBodies[0].append(make("tr", {}, make("td", {}, ...keys.split("  ").flatMap((key) =>
			[make("kbd", {}, key), " "])), make("td", {}, what)));
}

function listen() {
	$("graph").addEventListener("pointerdown", onDown);
	$("graph").addEventListener("pointermove", onMove);
	$("graph").addEventListener("pointerup", onUp);
	$("graph").addEventListener("pointercancel", onUp);
	$("graph").addEventListener("pointerleave", () => {
		$("tip").hidden = true;
		hovered = null;
		redraw();
	});
	$("graph").addEventListener("dblclick", () => picked && showTime(picked.start, picked.end));
	graph().addEventListener("wheel", onWheel, { passive: false });
	graph().addEventListener("scroll", redraw);
	for (const kind of ["pointerdown", "pointermove"])
		$("overview").addEventListener(kind, onOverview);
	$("ruler").addEventListener("pointermove", onRuler);
	$("search").addEventListener("input", search);
	$("search").addEventListener("keydown", (event) => {
		if (event.key === "Enter")
			nextMatch(event.shiftKey ? -1 : 1);
		else if (event.key === "Escape")
			graph().focus();
		else
			return;
		event.preventDefault();
		event.stopPropagation();
	});
	$("previous").addEventListener("click", () => nextMatch(-1));
	$("next").addEventListener("click", () => nextMatch(1));
	$("fit").addEventListener("click", () => moveTo(whole.from, whole.to));
	$("clear").addEventListener("click", clearSelection);
	$("ask").addEventListener("click", () => $("help").showModal());
	$("ranging").addEventListener("click", () => $("ranging").setAttribute("aria-pressed",
		String($("ranging").getAttribute("aria-pressed") !== "true")));
	addEventListener("keydown", onKey);
	addEventListener("resize", () => {
		layTracks();
		redraw();
	});
	onDarkChange(() => {
		readColours();
		redraw();
		showTab();
	});
	startDivider();
}

async function start() {
	showFacts();
	if (typeof DecompressionStream === "undefined") {
		$("notes").hidden = false;
		$("notes").textContent = "This browser is too old for this page: it needs DecompressionStream (Chrome 80, " +
			"Firefox 113, Safari 16.4).";
		return;
	}
	layTracks();
	await loadTables();
	readColours(); /* behind what is waited for: they may have changed meanwhile */
	startPanel();
	readAddress();
	listen();
	drawAll();
	performance.mark("painted");
	showTab();
	if ($("search").value)
		search();
	await fillSums();
}

start();
