/*
 * Draws a roofline from the data that stands beside it. A module of its own: strict, no globals;
 * no library, no network. Who embeds it defines `root` before: the document, or the shadow root
 * that the elements are in.
 */

const data = JSON.parse(root.getElementById('data').textContent);
const SVG = 'http://www.w3.org/2000/svg';
const DASHES = ['', '9 4', '3 3', '12 4 3 4', '6 2', '1 4'];
const PAD = { left: 84, right: 26, top: 22, bottom: 58 };
const plot = root.getElementById('plot');
const chart = root.getElementById('chart');
const tip = root.getElementById('tip');
const state = {
	/* FLOPs and integer operations do not share an axis: the first type decides. */
	types: new Set(data.types.slice(0, data.shown)
		.filter((t) => t.integer === data.types[0].integer).map((t) => t.name)),
	levels: new Set(data.shownLevels),
	hidden: new Set(),
	chosen: new Set(), /* letters that stand out while nothing is hovered */
};

function make(name, attributes, parent, text) {
	const element = document.createElementNS(SVG, name);

	for (const key in attributes)
		element.setAttribute(key, attributes[key]);
	if (text !== undefined)
		element.textContent = text;
	if (parent)
		parent.appendChild(element);
	return element;
}

function line(parent, cls, x1, y1, x2, y2) {
	return make('line', { class: cls, x1: x1, y1: y1, x2: x2, y2: y2 }, parent);
}

function label(parent, cls, anchor, x, y, text) {
	return make('text', { class: cls, 'text-anchor': anchor, x: x, y: y }, parent, text);
}

function html(name, parent, text, className) {
	const element = document.createElement(name);

	if (text !== undefined)
		element.textContent = text;
	if (className)
		element.className = className;
	parent.appendChild(element);
	return element;
}

/* ---- numbers for people ---- */

function digits(value, n) {
	if (value === null || !isFinite(value))
		return 'N/A';
	if (value === 0)
		return '0';
	const size = Math.abs(value);

	if (size < 1e-4 || size >= 1e6)
		return value.toExponential(n - 1);
	const places = Math.max(0, n - 1 - Math.floor(Math.log10(size)));

	return places ? String(parseFloat(value.toFixed(places))) : value.toFixed(0);
}

function scaled(value, unit) {
	const steps = ['', 'K', 'M', 'G', 'T', 'P', 'E'];
	let step = 0;

	if (value === null || !isFinite(value))
		return 'N/A';
	while (Math.abs(value) >= 1000 && step < steps.length - 1) {
		value /= 1000;
		step++;
	}
	return digits(value, 3) + ' ' + steps[step] + unit;
}

function time(ns) {
	const steps = [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'], [1, 'ns']];
	const step = steps.find((s) => ns >= s[0]) || steps[3];

	return digits(ns / step[0], 4) + ' ' + step[1];
}

/* ---- the model ---- */

const shownTypes = () => data.types.filter((t) => state.types.has(t.name));
const shownLevels = () => data.levels.filter((l) => state.levels.has(l));
const isInteger = () => shownTypes()[0].integer;
const opUnit = () => (isInteger() ? 'OP' : 'FLOP');
const peakOf = (type) => Math.max(type.valu || 0, type.mfma || 0);
const highest = () => Math.max.apply(null, shownTypes().map(peakOf));
const bandwidth = (level) => data.types[0].bandwidth[level] || null;
const opsOf = (point) => (isInteger() ? point.iops : point.flops);

/* Damaged counters would stretch the axes beyond all measure. */
const plausible = (value) => (value >= 1e-9 && value <= 1e15 ? value : null);

function rateOf(point) {
	const ops = opsOf(point);

	return ops > 0 && point.meanNs > 0 ? plausible(ops / point.meanNs) : null;
}

function intensityOf(point, level) {
	const ops = opsOf(point), bytes = point.bytes[level];

	return ops > 0 && bytes > 0 ? plausible(ops / bytes) : null;
}

function boundOf(level, intensity) {
	return Math.min(highest(), intensity * bandwidth(level));
}

const isMemoryBound = (level, intensity) => intensity < highest() / bandwidth(level);

function range() {
	const r = { x0: data.xMin, x1: data.xMax, y0: Infinity, y1: highest() };

	for (const level of shownLevels())
		if (bandwidth(level))
			r.y0 = Math.min(r.y0, data.xMin * bandwidth(level));
	for (const point of data.points) {
		const rate = rateOf(point);

		if (!rate)
			continue;
		for (const level of data.levels) {
			const x = intensityOf(point, level);

			if (!x)
				continue;
			r.x0 = Math.min(r.x0, x);
			r.x1 = Math.max(r.x1, x);
			r.y0 = Math.min(r.y0, rate);
			r.y1 = Math.max(r.y1, rate);
		}
	}
	if (!isFinite(r.y0))
		r.y0 = r.y1 / 1e5;
	return {
		x0: Math.floor(Math.log10(r.x0) + 1e-9),
		x1: Math.ceil(Math.log10(r.x1) - 1e-9),
		y0: Math.floor(Math.log10(r.y0) + 1e-9),
		y1: Math.log10(r.y1) + 0.3,
	};
}

/* ---- drawing ---- */

const SHAPES = {
	HBM: (r) => `M${-r * 0.4} ${-r * 1.1}h${r * 0.8}v${r * 0.7}h${r * 0.7}v${r * 0.8}` +
		`h${-r * 0.7}v${r * 0.7}h${-r * 0.8}v${-r * 0.7}h${-r * 0.7}v${-r * 0.8}h${r * 0.7}z`,
	L2: (r) => `M0 ${-r * 1.2}L${r * 1.2} 0L0 ${r * 1.2}L${-r * 1.2} 0Z`,
	L1: (r) => `M${-r * 0.9} ${-r * 0.9}h${r * 1.8}v${r * 1.8}h${-r * 1.8}z`,
	LDS: (r) => `M0 ${-r * 1.15}l${r * 1.1} ${r * 2}h${-r * 2.2}z`,
};

let view; /* scales of the last drawing */

function drawAxes(back) {
	const r = view.range;

	for (let e = r.x0; e <= r.x1; e++) {
		const x = view.x(10 ** e);

		for (let i = 2; i < 10 && e < r.x1; i++) {
			const minor = view.x(i * 10 ** e);

			line(back, 'grid2', minor, view.top, minor, view.bottom);
		}
		line(back, 'grid', x, view.top, x, view.bottom);
		label(back, 'tick', 'middle', x, view.bottom + 20, digits(10 ** e, 1));
	}
	for (let e = Math.ceil(r.y0); e <= r.y1; e++) {
		const y = view.y(10 ** e);

		line(back, 'grid', view.left, y, view.right, y);
		label(back, 'tick', 'end', view.left - 10, y + 4, scaled(1e9 * 10 ** e, '').trim());
	}
	make('rect', {
		class: 'frame', x: view.left, y: view.top,
		width: view.right - view.left, height: view.bottom - view.top,
	}, back);
	label(back, 'axis', 'middle', (view.left + view.right) / 2, view.bottom + 46,
		`Arithmetic intensity (${opUnit()}/byte)`);
	label(back, 'axis', 'middle', 0, 0, `Performance (${opUnit()}/s)`).setAttribute('transform',
		`translate(20 ${(view.top + view.bottom) / 2}) rotate(-90)`);
}

/* Where markers will stand, so that labels can keep away from them. */
function markerSpots() {
	const spots = [];

	for (const point of data.points) {
		const rate = state.hidden.has(point.letter) ? null : rateOf(point);

		for (const level of shownLevels()) {
			const x = rate && intensityOf(point, level);

			if (x)
				spots.push([view.x(x), view.y(rate)]);
		}
	}
	return spots;
}

function distance(spot, ax, ay, bx, by) {
	const dx = bx - ax, dy = by - ay;
	const along = ((spot[0] - ax) * dx + (spot[1] - ay) * dy) / (dx * dx + dy * dy);
	const t = Math.max(0, Math.min(1, along));

	return Math.hypot(spot[0] - ax - t * dx, spot[1] - ay - t * dy);
}

/* How far up its slope a label of @n characters begins: low, unless points are there. */
function labelStart(x0, y0, x1, y1, n) {
	const length = Math.hypot(x1 - x0, y1 - y0);
	const ux = (x1 - x0) / length, uy = (y1 - y0) / length;
	const spots = markerSpots(), long = n * 6.6;

	for (let d = 26; d + long < length - 10; d += 30) {
		const ax = x0 + ux * d + uy * 11, ay = y0 + uy * d - ux * 11;
		const bx = ax + ux * long, by = ay + uy * long;

		if (spots.every((s) => distance(s, ax, ay, bx, by) > 17))
			return d;
	}
	return Math.min(26, length / 2);
}

function drawSlope(layer, level) {
	const gbs = bandwidth(level), peak = highest();
	const from = Math.max(10 ** view.range.x0, 10 ** view.range.y0 / gbs);
	const x0 = view.x(from), y0 = view.y(from * gbs);
	const x1 = view.x(peak / gbs), y1 = view.y(peak);
	const length = Math.hypot(x1 - x0, y1 - y0);
	const ux = (x1 - x0) / length, uy = (y1 - y0) / length;
	const text = `${level}  ${scaled(gbs * 1e9, 'B/s')}`;
	const up = labelStart(x0, y0, x1, y1, text.length);
	const group = make('g', { class: 'ceiling', 'data-level': level }, layer);

	line(group, `slope s-${level}`, x0, y0, x1, y1);
	label(group, `name t-${level}`, 'start', 0, 0, text).setAttribute('transform',
		`translate(${x0 + ux * up + uy * 7} ${y0 + uy * up - ux * 7}) ` +
		`rotate(${Math.atan2(uy, ux) * 180 / Math.PI})`);
	hover(line(group, 'hit', x0, y0, x1, y1), () => [`${level} bandwidth, measured`, [
		['Bandwidth', scaled(gbs * 1e9, 'B/s')],
		['Ridge point', `${digits(peak / gbs, 4)} ${opUnit()}/byte`],
	]]);
}

function drawRoof(layer, type, kind, dash, slowest) {
	const peak = type[kind.toLowerCase()], y = view.y(peak);
	const x = view.x(Math.max(10 ** view.range.x0, slowest ? peak / slowest : 0));
	const rate = scaled(peak * 1e9, opUnit() + '/s');
	const group = make('g', {
		class: 'ceiling', 'data-type': type.name, 'data-unit': kind,
	}, layer);

	line(group, `roof s-${kind}`, x, y, view.right, y).setAttribute('stroke-dasharray', dash);
	hover(line(group, 'hit', x, y, view.right, y), () =>
		[`${kind} peak for ${type.name}, measured`, [['Peak', rate]]]);
	return { y: y, kind: kind, group: group, text: `${kind} ${type.name}  ${rate}` };
}

function drawRoofs(layer) {
	const slowest = shownLevels().map(bandwidth).filter(Boolean).pop();
	const spots = markerSpots(), labels = [];
	let last = Infinity;

	shownTypes().forEach((type, i) => {
		for (const kind of ['VALU', 'MFMA'])
			if (type[kind.toLowerCase()])
				labels.push(drawRoof(layer, type, kind, DASHES[i % DASHES.length],
					slowest));
	});
	/* Upwards from the lowest, so that no label stands on another. */
	labels.sort((a, b) => b.y - a.y);
	for (const name of labels) {
		const wide = name.text.length * 6.8;
		let right = view.right - 8;
		const isTaken = (s) => s[0] > right - wide - 12 && s[0] < right + 12 &&
			Math.abs(s[1] - last + 4) < 17;

		last = Math.min(name.y - 7, last - 15);
		/* To the left of points, if there is a place. */
		while (right - wide > (view.left + view.right) / 2 && spots.some(isTaken))
			right -= 20;
		label(name.group, `name t-${name.kind}`, 'end', right, last, name.text);
	}
}

function pointTip(point, level) {
	const rate = rateOf(point), x = intensityOf(point, level);
	const bound = boundOf(level, x), perSecond = opUnit() + '/s';
	const rows = [
		['Performance', scaled(rate * 1e9, perSecond)],
		['Intensity', `${digits(x, 4)} ${opUnit()}/byte of ${level}`],
		['Attained', `${digits(100 * rate / bound, 3)} % of ` +
			scaled(bound * 1e9, perSecond)],
		['Bound', isMemoryBound(level, x) ? `${level} memory` : 'compute'],
		[`${level} traffic`, scaled(point.bytes[level], 'B') + ', ' +
			scaled(point.bytes[level] / point.meanNs * 1e9, 'B/s')],
		['Mean time', time(point.meanNs)],
		['Dispatches', String(point.n)],
	];

	for (const other of shownLevels()) {
		const at = other === level ? null : intensityOf(point, other);

		if (at)
			rows.push([`At ${other}`, `${digits(at, 4)} ${opUnit()}/byte, ` +
				`${digits(100 * rate / boundOf(other, at), 3)} %`]);
	}
	if (point.share !== null)
		rows.splice(6, 0, ['Share of time', `${digits(point.share, 3)} %`]);
	for (const part of point.parts)
		if (part.integer === isInteger())
			rows.push([part.name, `${digits(100 * part.ops / opsOf(point), 3)} %`]);
	return [`${point.letter}  ${point.name}`, rows];
}

function drawMarker(kernel, point, spot, size, rate) {
	const x = view.x(spot.x), y = view.y(rate);
	const group = make('g', {
		class: 'point', tabindex: 0, role: 'img',
		'data-kernel': point.letter, 'data-level': spot.level,
		'data-x': spot.x, 'data-y': rate, transform: `translate(${x} ${y})`,
		'aria-label': `${point.name}: ${spot.level}, ${digits(spot.x, 4)} ${opUnit()} ` +
			`per byte, ${scaled(rate * 1e9, opUnit() + '/s')}`,
	}, kernel);

	make('circle', { r: 13, fill: 'transparent' }, group);
	make('path', { d: SHAPES[spot.level](size), class: `marker f-${spot.level}` }, group);
	hover(group, () => pointTip(point, spot.level), () => {
		light(point.letter);
		line(kernel, 'room', x, y - size - 3, x, view.y(boundOf(spot.level, spot.x)));
	}, () => {
		light(null);
		kernel.querySelectorAll('.room').forEach((room) => room.remove());
	});
}

/* Beside its points, where no other letter stands. */
function placeLetter(letters, letter, left, right, y, size, placed) {
	const side = size + 11, over = size + 12;
	const places = [
		[right + side, y], [left - side, y], [right + side, y - 14], [right + side, y + 14],
		[left - side, y - 14], [left - side, y + 14], [right, y - over], [right, y + over],
		[right + side + 15, y],
	];
	const isNear = (p, q) => Math.abs(p[0] - q[0]) < 14 && Math.abs(p[1] - q[1]) < 14;
	const free = places.find((p) => !placed.some((q) => isNear(p, q))) || places[0];

	placed.push(free);
	label(letters, 'letter', 'middle', free[0], free[1] + 4.5, letter).dataset.kernel = letter;
}

function drawPoint(layer, letters, point, placed) {
	const rate = rateOf(point);
	const spots = shownLevels().map((level) => ({ level: level, x: intensityOf(point, level) }))
		.filter((spot) => rate && spot.x);

	if (!spots.length)
		return;
	const size = 5 + 4.5 * Math.sqrt(point.sumNs / data.points[0].sumNs || 0), y = view.y(rate);
	const xs = spots.map((spot) => view.x(spot.x));
	const left = Math.min.apply(null, xs), right = Math.max.apply(null, xs);
	const kernel = make('g', { class: 'kernel', 'data-kernel': point.letter }, layer);

	line(kernel, 'join', left, y, right, y);
	/* Levels that coincide stand inside each other, the outermost memory on top. */
	for (let i = spots.length - 1; i >= 0; i--) {
		const above = xs.slice(0, i).filter((x) => Math.abs(x - xs[i]) < 6).length;

		drawMarker(kernel, point, spots[i], size * 1.5 ** above, rate);
	}
	placeLetter(letters, point.letter, left, right, y, size, placed);
}

function setView(width, height) {
	const r = range(), left = PAD.left, right = width - PAD.right;
	const top = PAD.top, bottom = height - PAD.bottom;
	const linear = (lo, hi, a, b) => (v) => a + (Math.log10(v) - lo) / (hi - lo) * (b - a);

	view = {
		range: r, left: left, right: right, top: top, bottom: bottom,
		x: linear(r.x0, r.x1, left, right), y: linear(r.y0, r.y1, bottom, top),
	};
}

function draw() {
	const width = Math.max(480, chart.clientWidth - 16);
	const height = Math.max(420, Math.min(640, width * 0.56));

	setView(width, height);
	plot.setAttribute('viewBox', `0 0 ${width} ${height}`);
	plot.setAttribute('height', height);
	plot.textContent = '';
	hide();
	const layers = ['axes', 'ceilings', 'points', 'letters'].map((name) =>
		make('g', { id: name }, plot));

	drawAxes(layers[0]);
	for (const level of shownLevels())
		if (bandwidth(level))
			drawSlope(layers[1], level);
	drawRoofs(layers[1]);
	const placed = [];

	for (const point of data.points.slice().reverse())
		if (!state.hidden.has(point.letter))
			drawPoint(layers[2], layers[3], point, placed);
	fillTable();
	explainEmpty();
	light(null);
}

/* ---- hovering ---- */

function show(title, rows, x, y) {
	tip.textContent = '';
	html('b', tip, title);
	const list = html('dl', tip);

	for (const row of rows) {
		html('dt', list, row[0]);
		html('dd', list, row[1]);
	}
	tip.hidden = false;
	const box = chart.getBoundingClientRect();
	let left = x - box.left + 18, top = y - box.top + 14;

	if (left + tip.offsetWidth > chart.clientWidth)
		left = Math.max(4, x - box.left - tip.offsetWidth - 18);
	if (top + tip.offsetHeight > chart.clientHeight)
		top = Math.max(4, chart.clientHeight - tip.offsetHeight - 4);
	tip.style.left = `${left}px`;
	tip.style.top = `${top}px`;
}

function hide() {
	tip.hidden = true;
}

function hover(element, content, on, off) {
	const enter = (x, y) => {
		const what = content();

		show(what[0], what[1], x, y);
	};

	element.addEventListener('mouseenter', (e) => {
		enter(e.clientX, e.clientY);
		if (on)
			on();
	});
	element.addEventListener('mousemove', (e) => enter(e.clientX, e.clientY));
	element.addEventListener('mouseleave', () => { hide(); if (off) off(); });
	element.addEventListener('focus', () => {
		const box = element.getBoundingClientRect();

		enter(box.right, box.bottom);
		if (on)
			on();
	});
	element.addEventListener('blur', () => { hide(); if (off) off(); });
}

/* Fade all kernels but one; null: but those that are chosen, if any. */
function light(letter) {
	const lit = letter === null ? state.chosen : new Set([letter]);

	root.querySelectorAll('g.kernel, text.letter').forEach((e) =>
		e.classList.toggle('faded', lit.size > 0 && !lit.has(e.dataset.kernel)));
	root.querySelectorAll('tbody tr').forEach((e) =>
		e.classList.toggle('lit', lit.has(e.dataset.kernel)));
}

/* A page around this one puts the name of the kernel that its reader chose at the host. */
function followChoice() {
	const name = root.host?.dataset.kernel;

	state.chosen = new Set(data.points.filter((p) => p.name === name).map((p) => p.letter));
	light(null);
}

/* ---- controls and table ---- */

function chip(parent, label, pressed, click, level) {
	const button = html('button', parent, undefined, 'chip');

	button.type = 'button';
	if (level) {
		const icon = make('svg', { viewBox: '-8 -8 16 16' }, button);

		make('path', { d: SHAPES[level](6), class: `f-${level}` }, icon);
	}
	html('span', button, label);
	button.setAttribute('aria-pressed', String(pressed()));
	button.addEventListener('click', () => {
		click();
		root.querySelectorAll('.chip').forEach((c) => c.refresh());
		draw();
	});
	button.refresh = () => button.setAttribute('aria-pressed', String(pressed()));
	return button;
}

function flip(set, name, least) {
	if (!set.has(name))
		set.add(name);
	else if (set.size > least)
		set.delete(name);
}

function buildControls() {
	const types = root.getElementById('types');
	const levels = root.getElementById('levels');

	for (const type of data.types) {
		chip(types, type.name, () => state.types.has(type.name), () => {
			for (const other of data.types)
				if (other.integer !== type.integer)
					state.types.delete(other.name);
			flip(state.types, type.name, 1);
		}).dataset.type = type.name;
	}
	for (const level of data.levels)
		chip(levels, level, () => state.levels.has(level),
			() => flip(state.levels, level, 1), level).dataset.level = level;
}

function fillTable() {
	const table = root.getElementById('table');

	table.textContent = '';
	if (!data.points.length)
		return;
	const head = html('tr', html('thead', table)), body = html('tbody', table);

	const what = data.by === 'kernel' ? 'Kernel' : 'Dispatch';

	['', '', what, 'Dispatches', 'Time', 'Performance'].forEach((t, i) =>
		html('th', head, t, i === 2 ? 'kernel' : ''));
	for (const level of shownLevels())
		html('th', head, `${level} ${opUnit()}/byte`);
	for (const point of data.points) {
		const row = html('tr', body), rate = rateOf(point);

		row.dataset.kernel = point.letter;
		const box = html('input', html('td', row));

		box.type = 'checkbox';
		box.checked = !state.hidden.has(point.letter);
		box.setAttribute('aria-label', `show ${point.letter}`);
		box.addEventListener('change', () => {
			if (box.checked)
				state.hidden.delete(point.letter);
			else
				state.hidden.add(point.letter);
			draw();
		});
		html('td', row, point.letter, 'mark');
		html('td', row, point.name, 'kernel');
		html('td', row, String(point.n));
		html('td', row, time(point.sumNs) +
			(point.share === null ? '' : ` (${digits(point.share, 3)} %)`));
		html('td', row, rate ? scaled(rate * 1e9, opUnit() + '/s') :
			opsOf(point) === null ? 'not counted' : 'none');
		for (const level of shownLevels()) {
			const x = intensityOf(point, level);
			const cell = html('td', row, x ? digits(x, 3) : '\u2013');

			if (x && bandwidth(level))
				html('small', cell, ' ' + digits(100 * rate / boundOf(level, x), 2) +
					' % ' + (isMemoryBound(level, x) ? 'mem' : 'comp'));
		}
		row.addEventListener('mouseenter', () => light(point.letter));
		row.addEventListener('mouseleave', () => light(null));
	}
}

function explainEmpty() {
	const note = root.getElementById('empty');
	const what = isInteger() ? 'integer' : 'floating-point';

	if (data.points.some((p) => rateOf(p)))
		note.textContent = '';
	else if (!data.points.length)
		note.textContent = 'No dispatch is selected, so there are roofs only.';
	else if (data.points.every((p) => opsOf(p) === null))
		note.textContent = `No points: ${what} operations were not counted` +
			(data.missing ? ` (${data.missing} is missing).` : '.');
	else
		note.textContent = `No points: these kernels execute no ${what} operations.`;
}

buildControls();
draw();
followChoice();
root.host?.addEventListener('choose', followChoice);
window.addEventListener('resize', draw);
