/* The timeline on its canvases: where tracks are, what they look like, and what is at a place. */
const ROW = 18; /* height of a slice with the line below it */
const COUNTER_HEIGHT = 44;
const PROCESS_HEIGHT = 26;
const PAD = 5; /* above and below the rows of a track */
const TWO_LINES = 42; /* a lower track has its name and the note about it in one line */
const LABEL_HEIGHT = 16; /* of a track's name, where there is no gutter */
const OVERVIEW_HEIGHT = 40;
const RULER_HEIGHT = 24;
const MIN_LENGTH = 20; /* nanoseconds: the closest view */
const LABEL_WIDTH = 26; /* slices that are narrower have no name */

/* What is in view, in nanoseconds from the start of the trace. */
const view = { from: 0, to: Math.max(head.length, MIN_LENGTH) };
const whole = { from: 0, to: view.to };
const closed = new Set(); /* processes whose tracks are hidden */
let gutter = 230;
let places = []; /* what is drawn, from top to bottom: { process } or { track }, top, height */
let placeOf = new Map(); /* track to its place */
let contentHeight = 0;
let picked = null; /* the selected slice: see sliceAt() */
let hovered = null;
let range = null; /* the selected time: { from, to } */
let flows = []; /* arrows of the selected slice */
let foundPaths = null; /* by path: 1 where the search finds its name */
let style = {};

const widthOfView = () => Math.max(graph().clientWidth - gutter, 1);
const graph = () => $("scroll");
const nsPerPixel = () => (view.to - view.from) / widthOfView();
const xOf = (ns) => gutter + (ns - view.from) / nsPerPixel();
const nsAt = (x) => view.from + (x - gutter) * nsPerPixel();

/* ---- colours: by name, in a family for each kind ---- */

/* kind: hue, how far names may be from it, saturation; kernels and copies stand out. */
const FAMILIES = {
	kernel: [205, 125, 44], copy: [46, 12, 64], hip: [212, 16, 26], region: [20, 20, 40],
	c: [34, 14, 52], cpp: [20, 14, 56], python: [205, 16, 52],
};
let colourCache = new Map();

function hashOf(text) {
	let hash = 2166136261;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
	return (hash ^ hash >>> 15) >>> 0;
}

function colourOf(path) {
	let colour = colourCache.get(path);
	if (!colour) {
		const [hue, spread, saturation] = FAMILIES[kindOfPath(path)] || FAMILIES.c;
		const hash = hashOf(nameOfPath(path));
		const turn = ((hash % 1000) / 999 * 2 - 1) * spread;
		const light = (style.dark ? 60 : 74) + (hash >>> 12) % 9 - 4;
		colour = `hsl(${Math.round(hue + turn)} ${saturation * (style.dark ? 0.72 : 1)}% ${light}%)`;
		colourCache.set(path, colour);
	}
	return colour;
}

function readColours() {
	style = readStyle(["card", "ink", "soft", "rule", "line", "head", "match", "focus", "frame-ink", "shade", "page"]);
	style.dark = matchMedia("(prefers-color-scheme: dark)").matches;
	colourCache = new Map();
}

/* ---- places ---- */

function heightOf(track) {
	const label = gutter ? 0 : LABEL_HEIGHT;
	if (track.isCounter)
		return COUNTER_HEIGHT + label;
	return Math.max(track.rows * ROW + 2 * PAD, gutter ? 30 : 0) + label;
}

function trackNote(track) {
	if (track.isCounter)
		return "up to " + valueText(track, track.max) + (track.simulated ? ", simulated" : "");
	const finest = track.kept[0];
	return amountText(track.events, track.kind === "samples" ? "slice" : "event") +
		(track.isWhole ? "" : ", merged below " + timeText(finest.resolution));
}

function valueText(track, value) {
	const unit = track.unit ? " " + track.unit : "";
	if (track.unit === "bytes")
		for (const [word, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 1024]])
			if (value >= size)
				return Number((value / size).toPrecision(4)) + " " + word;
	return Number(value.toPrecision(6)).toLocaleString("en-US") + unit;
}

function processTitle(process) {
	return process.program + " (" + process.pid + ")";
}

function layTracks() {
	let top = 0;
	gutter = innerWidth <= 700 ? 0 : 230;
	places = [];
	placeOf = new Map();
	$("heads").replaceChildren();
	for (const process of head.processes) {
		const own = head.order.map((i) => tracks[i]).filter((track) => track.process === process.index);
		const isOpen = !closed.has(process.index);
		if (!own.length)
			continue;
		places.push({ process, top, height: PROCESS_HEIGHT });
		$("heads").append(make("button", {
			type: "button", class: "process", "aria-expanded": String(isOpen), style: `top:${top}px`,
			onclick: () => {
				if (!closed.delete(process.index))
					closed.add(process.index);
				layTracks();
				redraw();
			},
		}, processTitle(process), make("small", {}, process.host)));
		top += PROCESS_HEIGHT;
		for (const track of isOpen ? own : []) {
			const place = { track, top, height: heightOf(track) };
			const note = trackNote(track);
			places.push(place);
			placeOf.set(track, place);
			$("heads").append(make("div", {
				class: place.height < TWO_LINES ? "track short" : "track", title: track.name + "\n" + note, style: `top:${top}px;height:${place.height}px`,
			}, track.name, make("small", {}, note)));
			top += place.height;
		}
	}
	contentHeight = top;
	$("space").style.height = top + "px";
}

/* The top of a row of slices, from the top of the content. */
function rowTop(place, row) {
	return place.top + (gutter ? 0 : LABEL_HEIGHT) + PAD + row * ROW;
}

/* ---- slices ---- */

/* The finest level for this zoom whose tiles are all there; they are loaded where they are not. */
function readyTiles(track) {
	const pixel = nsPerPixel();
	for (let i = track.levelFor(pixel); i < track.kept.length; i++) {
		const level = track.kept[i];
		const numbers = tilesIn(level, view.from, view.to);
		const tiles = numbers.map((k) => tileNow(level, k, redraw));
		if (tiles.every(Boolean) || i + 1 === track.kept.length)
			return { level, numbers, tiles };
	}
	return { level: null, numbers: [], tiles: [] };
}

function drawSlice(g, tile, k, x, w, y, isFound) {
	const share = tile.count ? Math.min(tile.busy[k] / (tile.end[k] - tile.start[k] || 1), 1) : 1;
	const dim = foundPaths && !isFound ? 0.25 : 1;
	g.fillStyle = colourOf(tile.path[k]);
	g.globalAlpha = dim * (tile.count && tile.count[k] > 1 ? 0.35 + 0.65 * share : 1);
	g.fillRect(x, y, w, ROW - 1);
	g.globalAlpha = 1;
	if (isFound) {
		g.fillStyle = style.match;
		g.fillRect(x, y + ROW - 4, w, 3);
	}
}

function drawLabel(g, tile, k, x, w, y) {
	const left = Math.max(x, gutter);
	const room = Math.min(x + w, graph().clientWidth) - left;
	if (room < LABEL_WIDTH || (tile.count && tile.count[k] > 1))
		return;
	g.fillStyle = style["frame-ink"];
	g.fillText(fitText(nameOfPath(tile.path[k]), room - 8), left + 4, y + ROW - 5);
}

function drawSlices(g, place, offset) {
	const { tiles } = readyTiles(place.track);
	const reached = new Float64Array(place.track.rows).fill(-1); /* by row: where it is painted up to */
	const right = graph().clientWidth;
	for (const tile of tiles) {
		if (!tile)
			continue;
		for (let k = 0; k < tile.n; k++) {
			if (tile.end[k] < view.from || tile.start[k] > view.to)
				continue;
			const row = tile.row ? tile.row[k] : 0;
			const isFound = foundPaths && foundPaths[tile.path[k]];
			const x = Math.max(xOf(tile.start[k]), gutter - 2);
			const end = Math.min(xOf(tile.end[k]), right + 2);
			const w = Math.max(end - x - (end - x > 3 ? 1 : 0), 1);
			/* What falls into a pixel that is painted already would not be seen. */
			if (w <= 1 && x + w <= reached[row] && !isFound)
				continue;
			const y = rowTop(place, row) - offset;
			drawSlice(g, tile, k, x, w, y, isFound);
			if (w >= LABEL_WIDTH)
				drawLabel(g, tile, k, x, w, y);
			reached[row] = Math.max(reached[row], x + w);
		}
	}
}

/* ---- counters ---- */

function drawCounter(g, place, offset) {
	const track = place.track;
	const { tiles } = readyTiles(track);
	const low = Math.min(track.min, 0);
	const scale = (COUNTER_HEIGHT - 10) / (track.max - low || 1);
	const bottom = place.top + place.height - 4 - offset;
	const yOf = (value) => bottom - (value - low) * scale;
	const right = graph().clientWidth;
	const points = tiles.filter(Boolean).sort((a, b) => a.start[0] - b.start[0]);
	g.beginPath();
	let y = null;
	for (const tile of points) {
		for (let k = 0; k < tile.n; k++) {
			const x = Math.min(Math.max(xOf(tile.start[k]), gutter), right);
			if (y === null)
				g.moveTo(x, bottom);
			else
				g.lineTo(x, y);
			if (tile.max[k] !== tile.min[k]) {
				g.lineTo(x, yOf(tile.max[k]));
				g.lineTo(x, yOf(tile.min[k]));
			}
			y = yOf(tile.value[k]);
			g.lineTo(x, y);
		}
	}
	if (y === null)
		return;
	g.lineTo(right, y);
	g.lineTo(right, bottom);
	g.closePath();
	g.fillStyle = style.shade;
	g.fill();
	g.strokeStyle = style.focus;
	g.lineWidth = 1;
	g.stroke();
}

/* ---- arrows and selections ---- */

function drawFlows(g, offset) {
	g.strokeStyle = style.ink;
	g.fillStyle = style.ink;
	g.lineWidth = 1.4;
	for (const { from, to } of flows) {
		const a = placeOf.get(from.track);
		const b = placeOf.get(to.track);
		if (!a || !b)
			continue;
		const x1 = xOf(from.start);
		const y1 = rowTop(a, from.row) + ROW / 2 - offset;
		const x2 = xOf(to.start);
		const y2 = rowTop(b, to.row) + ROW / 2 - offset;
		const bend = Math.min(Math.max(Math.abs(x2 - x1) / 2, 24), 160);
		g.beginPath();
		g.moveTo(x1, y1);
		g.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2 - 5, y2);
		g.stroke();
		g.beginPath();
		g.moveTo(x2, y2);
		g.lineTo(x2 - 7, y2 - 4);
		g.lineTo(x2 - 7, y2 + 4);
		g.fill();
	}
}

function outline(g, slice, offset, colour, width) {
	const place = slice && placeOf.get(slice.track);
	if (!place)
		return;
	const x = Math.max(xOf(slice.start), gutter - 3);
	const end = Math.min(xOf(slice.end), graph().clientWidth + 3);
	g.strokeStyle = colour;
	g.lineWidth = width;
	g.strokeRect(x, rowTop(place, slice.row) - offset + 0.5, Math.max(end - x - 1, 2), ROW - 2);
}

function drawRange(g, top, height) {
	if (!range)
		return;
	const x = Math.max(xOf(range.from), gutter);
	const end = Math.min(xOf(range.to), graph().clientWidth);
	if (end <= x)
		return;
	g.fillStyle = style.shade;
	g.fillRect(x, top, end - x, height);
	g.fillStyle = style.focus;
	g.fillRect(x, top, 1, height);
	g.fillRect(end - 1, top, 1, height);
}

/* ---- the ruler and the overview ---- */

/* Steps of 1, 2 or 5 times a power of ten, about 110 pixels apart. */
function stepOfTime() {
	const least = nsPerPixel() * 110;
	const power = 10 ** Math.floor(Math.log10(least));
	return [1, 2, 5, 10].find((factor) => factor * power >= least) * power;
}

/* A time on the ruler: as many digits as the step needs. */
function tickText(ns, step) {
	const [unit, size] = [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3], ["ns", 1]].find(([, s]) =>
		Math.max(step * 10, Math.min(Math.abs(ns), 1e9)) >= s) || ["ns", 1];
	const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
	return (ns / size).toFixed(Math.min(digits, 9)) + " " + unit;
}

function drawRuler() {
	const width = graph().clientWidth;
	const g = fitCanvas($("ruler"), width, RULER_HEIGHT);
	const step = stepOfTime();
	g.fillStyle = style.card;
	g.fillRect(0, 0, width, RULER_HEIGHT);
	g.font = LABEL_FONT;
	g.fillStyle = style.soft;
	for (let ns = Math.ceil(view.from / step) * step; ns <= view.to; ns += step) {
		const x = xOf(ns);
		g.fillRect(Math.round(x), RULER_HEIGHT - 6, 1, 6);
		g.fillText(tickText(ns, step), x + 4, RULER_HEIGHT - 8);
	}
	if (gutter) {
		g.clearRect(0, 0, gutter, RULER_HEIGHT);
		g.fillText(timeText(view.to - view.from) + " in view", 10, RULER_HEIGHT - 8);
	}
	drawRange(g, 0, RULER_HEIGHT);
	g.fillStyle = style.rule;
	g.fillRect(0, RULER_HEIGHT - 1, width, 1);
}

/* What the whole trace is busy with: the GPU, or where there is none, the threads. */
const busyTracks = tracks.some((track) => track.isGpu) ? tracks.filter((track) => track.isGpu) :
	tracks.filter((track) => track.kind === "thread");
const overviewX = (ns) => gutter + (graph().clientWidth - gutter) * ns / whole.to;

/* Nanoseconds of work in each pixel of the overview. */
function busyByPixel(width) {
	const busy = new Float64Array(width);
	const scale = width / whole.to;
	for (const track of busyTracks) {
		const level = track.kept[track.kept.length - 1];
		for (let i = 0; i < level.nTiles; i++) {
			const tile = tileNow(level, i, redraw);
			for (let k = 0; tile && k < tile.n; k++) {
				if (!track.isGpu && tile.row && tile.row[k])
					continue;
				const from = tile.start[k] * scale;
				const to = Math.max(tile.end[k] * scale, from + 1e-9);
				const work = tile.busy ? tile.busy[k] : tile.end[k] - tile.start[k];
				for (let x = Math.floor(from); x <= to && x < width; x++)
					busy[x] += work * (Math.min(to, x + 1) - Math.max(from, x)) / (to - from);
			}
		}
	}
	return busy;
}

function drawOverview() {
	const width = graph().clientWidth;
	const g = fitCanvas($("overview"), width, OVERVIEW_HEIGHT);
	const room = Math.max(Math.floor(width - gutter), 1);
	const busy = busyByPixel(room);
	const most = Math.max(...busy, 1);
	g.fillStyle = style.head;
	g.fillRect(0, 0, width, OVERVIEW_HEIGHT);
	g.fillStyle = style.dark ? "hsl(150 26% 42%)" : "hsl(150 32% 66%)";
	for (let x = 0; x < room; x++)
		if (busy[x])
			g.fillRect(gutter + x, OVERVIEW_HEIGHT, 1, -Math.max(1, (OVERVIEW_HEIGHT - 6) * busy[x] / most));
	const from = overviewX(view.from);
	const to = Math.max(overviewX(view.to), from + 3);
	g.fillStyle = style.page;
	g.globalAlpha = 0.72;
	g.fillRect(gutter, 0, from - gutter, OVERVIEW_HEIGHT);
	g.fillRect(to, 0, width - to, OVERVIEW_HEIGHT);
	g.globalAlpha = 1;
	g.strokeStyle = style.focus;
	g.lineWidth = 1.5;
	g.strokeRect(from + 0.75, 0.75, Math.max(to - from - 1.5, 2), OVERVIEW_HEIGHT - 1.5);
	if (range) {
		g.fillStyle = style.shade;
		g.fillRect(overviewX(range.from), 0, Math.max(overviewX(range.to) - overviewX(range.from), 2), OVERVIEW_HEIGHT);
	}
	if (gutter) {
		g.fillStyle = style.head;
		g.fillRect(0, 0, gutter - 1, OVERVIEW_HEIGHT);
		g.fillStyle = style.soft;
		g.font = LABEL_FONT;
		g.fillText(tracks.some((track) => track.isGpu) ? "GPU busy, whole trace" : "whole trace", 10, 24);
	}
	g.fillStyle = style.rule;
	g.fillRect(0, OVERVIEW_HEIGHT - 1, width, 1);
}

/* ---- everything ---- */

function drawGraph() {
	const box = graph();
	const width = box.clientWidth;
	const height = box.clientHeight;
	const offset = box.scrollTop;
	const g = fitCanvas($("graph"), width, height);
	const step = stepOfTime();
	g.fillStyle = style.card;
	g.fillRect(0, 0, width, height);
	g.fillStyle = style.line;
	for (let ns = Math.ceil(view.from / step) * step; ns <= view.to; ns += step)
		g.fillRect(Math.round(xOf(ns)), 0, 1, height);
	g.font = LABEL_FONT;
	for (const place of places) {
		if (!place.track || place.top + place.height < offset || place.top > offset + height)
			continue;
		if (place.track.isCounter)
			drawCounter(g, place, offset);
		else
			drawSlices(g, place, offset);
		g.fillStyle = style.line;
		g.fillRect(0, place.top + place.height - 1 - offset, width, 1);
	}
	drawRange(g, 0, height);
	outline(g, hovered, offset, style.soft, 1);
	outline(g, picked, offset, style.focus, 2);
	drawFlows(g, offset);
}

function drawAll() {
	if (!tables.n)
		return;
	drawOverview();
	drawRuler();
	drawGraph();
}

let frame = 0;
function redraw() {
	if (!frame)
		frame = requestAnimationFrame(() => {
			frame = 0;
			drawAll();
		});
}

/* ---- what is at a place ---- */

function sliceOf(track, level, tile, k) {
	return {
		track, start: tile.start[k], end: tile.end[k], path: tile.path[k], row: tile.row ? tile.row[k] : 0,
		corr: tile.corr ? tile.corr[k] : 0, caller: tile.caller ? tile.caller[k] : 0,
		detail: tile.detail ? tile.detail[k] : 0, nBytes: tile.nBytes ? tile.nBytes[k] : 0,
		count: tile.count ? tile.count[k] : 1, busy: tile.busy ? tile.busy[k] : tile.end[k] - tile.start[k],
		isExact: level.resolution === 0,
	};
}

function placeAt(y) {
	return places.find((place) => y >= place.top && y < place.top + place.height);
}

/* The slice at a place of the canvas, or null: the one under the pointer, or the nearest within 3 pixels. */
function sliceAt(x, y) {
	const content = y + graph().scrollTop;
	const place = placeAt(content);
	if (!place || !place.track || place.track.isCounter || x < gutter)
		return null;
	const row = Math.floor((content - rowTop(place, 0)) / ROW);
	const ns = nsAt(x);
	const near = 3 * nsPerPixel();
	const { level, tiles } = readyTiles(place.track);
	let best = null;
	let distance = near;
	for (const tile of tiles) {
		for (let k = 0; tile && k < tile.n; k++) {
			if ((tile.row ? tile.row[k] : 0) !== row)
				continue;
			const away = Math.max(tile.start[k] - ns, ns - tile.end[k], 0);
			if (away < distance || (away === 0 && distance === 0)) {
				distance = away;
				best = sliceOf(place.track, level, tile, k);
			}
		}
	}
	return best;
}

/* The value of a counter track at a place, as text. */
function valueAt(x, y) {
	const place = placeAt(y + graph().scrollTop);
	if (!place || !place.track || !place.track.isCounter || x < gutter)
		return "";
	const ns = nsAt(x);
	let best = null;
	for (const tile of readyTiles(place.track).tiles)
		for (let k = 0; tile && k < tile.n && tile.start[k] <= ns; k++)
			if (!best || tile.start[k] >= best.start)
				best = { start: tile.start[k], value: tile.value[k], min: tile.min[k], max: tile.max[k] };
	if (!best)
		return "";
	return place.track.name + "\n" + valueText(place.track, best.value) +
		(best.min !== best.max ? "\nfrom " + valueText(place.track, best.min) + " to " +
			valueText(place.track, best.max) : "") + "\nat " + timeText(ns) +
		(place.track.simulated ? "\nsimulated" : "");
}
