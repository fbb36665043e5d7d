/* What the scripts of all pages share. */
const $ = (id) => document.getElementById(id);

/* An element with attributes and children; texts are text, never markup. */
function make(tag, attributes, ...children) {
	const made = document.createElement(tag);
	for (const [key, value] of Object.entries(attributes || {}))
		if (key === "class")
			made.className = value;
		else if (key.startsWith("on"))
			made.addEventListener(key.slice(2), value);
		else if (value !== undefined && value !== false)
			made.setAttribute(key, value === true ? "" : value);
	made.append(...children);
	return made;
}

/* ---- numbers as text ---- */

function timeText(ns) {
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["\u00b5s", 1e3]])
		if (Math.abs(ns) >= size)
			return (ns / size).toPrecision(4) + " " + unit;
	return Number(ns.toPrecision(4)) + " ns";
}

function percentText(part, whole) {
	return (whole > 0 ? 100 * part / whole : 0).toFixed(2) + " %";
}

function countText(n) {
	return Math.round(n).toLocaleString("en-US");
}

/* "1 event", "2,000 events" */
function amountText(n, word) {
	return countText(n) + " " + word + (Math.round(n) === 1 ? "" : "s");
}

/* ---- names ---- */

/* What a search field means: a part of the name, or a /pattern/. */
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

const KIND_WORDS = {
	c: "C", cpp: "C++", python: "Python", hip: "HIP and ROCm", region: "Regions and markers",
	kernel: "GPU kernels", copy: "GPU copies",
};

/* As many characters of @text as fit into @width pixels of the font of labels. */
const LABEL_FONT = "11px ui-monospace, \"DejaVu Sans Mono\", monospace";
function fitText(text, width) {
	const room = Math.floor(width / 6.6);
	return text.length > room ? text.slice(0, Math.max(room - 1, 1)) + "\u2026" : text;
}

/* The colours of the style sheet by name, for canvases. */
function readStyle(names) {
	const style = getComputedStyle(document.documentElement);
	return Object.fromEntries(names.map((name) => [name, style.getPropertyValue("--" + name).trim()]));
}

function onDarkChange(fn) {
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", fn);
}

/* Show @tip with @text beside the pointer, inside of the window. */
function placeTip(tip, text, event) {
	tip.hidden = !text;
	if (!text)
		return;
	tip.textContent = text;
	tip.style.left = Math.max(0, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)) + "px";
	tip.style.top = Math.max(0, Math.min(event.clientY + 16, innerHeight - tip.offsetHeight - 8)) + "px";
}

/* A canvas as sharp as the screen; returns its context, scaled to CSS pixels. */
function fitCanvas(canvas, width, height) {
	const ratio = devicePixelRatio || 1;
	const w = Math.round(width * ratio);
	const h = Math.round(height * ratio);
	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
	}
	const g = canvas.getContext("2d");
	g.setTransform(ratio, 0, 0, ratio, 0, 0);
	return g;
}

/* "3-7,9" of ascending numbers */
function rangesText(numbers) {
	const parts = [];
	for (let i = 0, first = 0; i < numbers.length; i++)
		if (numbers[i + 1] !== numbers[i] + 1) {
			parts.push(first === i ? String(numbers[i]) : numbers[first] + "-" + numbers[i]);
			first = i + 1;
		}
	return parts.join(",");
}
