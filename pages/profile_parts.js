/* The profile page: its data, and the small parts that sections are made of. */
const data = JSON.parse($("profile-data").textContent);
const SVG = "http://www.w3.org/2000/svg";
const several = data.runs.length > 1;

/* What the reader chose: a view (0: all kernels), a search, only what differs. */
const state = { view: 0, find: "", differing: false };

const letterOf = (run) => String.fromCharCode(65 + run);
const viewOf = (run) => data.views[run][state.view];

/* ---- numbers ---- */

function numberText(value) {
	if (value === null || value === undefined)
		return "N/A";
	if (typeof value === "string")
		return value;
	if (value !== 0 && (Math.abs(value) >= 1e15 || Math.abs(value) < 0.5 * 10 ** -data.decimals))
		return value.toExponential(2);
	return value.toLocaleString("en-US", {
		minimumFractionDigits: Number.isInteger(value) ? 0 : data.decimals,
		maximumFractionDigits: data.decimals,
	});
}

const isNumber = (value) => typeof value === "number";

/* In percent of the baseline; null: there is no such number. */
function changeOf(base, now) {
	if (!isNumber(base) || !isNumber(now))
		return null;
	if (base === now)
		return 0;
	return base === 0 ? null : 100 * (now - base) / Math.abs(base);
}

function changeText(percent) {
	if (percent === null || percent === 0)
		return percent === 0 ? "=" : "";
	const sign = percent > 0 ? "+" : "\u2212";
	const size = Math.abs(percent);
	return sign + (size >= 1000 ? countText(size) : size.toFixed(size < 10 ? 1 : 0)) + " %";
}

function changeElement(base, now) {
	const percent = changeOf(base, now);
	return make("small", {
		class: "change" + (percent === null || Math.abs(percent) < 1 ? "" : percent > 0 ? " more" : " less"),
	}, changeText(percent));
}

function dispatchesText(n) {
	return countText(n) + (n === 1 ? " dispatch" : " dispatches");
}

/* ---- drawings ---- */

function draw(name, attributes, ...children) {
	const made = document.createElementNS(SVG, name);
	for (const [key, value] of Object.entries(attributes))
		made.setAttribute(key, value);
	made.append(...children);
	return made;
}

/* A bar before the text of a cell; what is beyond 100 % is marked. */
function addBar(cell, percent) {
	const inner = make("i", { class: percent > 100 ? "beyond" : "" });
	inner.style.width = Math.max(0, Math.min(100, percent)) + "%";
	const number = make("span", { class: "number" });
	number.append(...cell.childNodes);
	cell.classList.add("with-bar");
	cell.append(make("span", { class: "bar", "aria-hidden": "true" }, inner), number);
}

/* How values are distributed between their minimum and maximum; @text makes text of one. */
function histogram(spread, width, height, text) {
	if (!spread.bins)
		return make("small", {}, spread.n === 1 ? "one dispatch" : "all equal");
	const label = `${dispatchesText(spread.n)}: minimum ${text(spread.min)}, ` +
		`median ${text(spread.median)}, maximum ${text(spread.max)}`;
	const image = draw("svg", {
		class: "histogram", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label,
	});
	const bins = spread.bins;
	const most = Math.max(...bins);
	const step = width / bins.length;
	const floor = height - 5;
	bins.forEach((n, i) => {
		const tall = n ? Math.max(2, (floor - 1) * n / most) : 0;
		image.append(draw("rect", { class: "bin", x: i * step + 0.5, y: floor - tall, width: Math.max(1, step - 1), height: tall }));
	});
	const place = (v) => (v - spread.min) / (spread.max - spread.min) * width;
	image.append(draw("rect", {
		class: "box", x: place(spread.q1), y: height - 3, width: Math.max(1, place(spread.q3) - place(spread.q1)), height: 3,
	}), draw("rect", { class: "median", x: Math.max(0, Math.min(width - 2, place(spread.median) - 1)), y: height - 5, width: 2, height: 5 }));
	image.append(draw("title", {}, label + `. Bar below: middle half, ${text(spread.q1)} to ${text(spread.q3)}.`));
	return image;
}

function classTag(number) {
	const what = data.classes[number];
	return make("span", { class: "class c-" + what.word, title: what.text }, what.word);
}

/* ---- sections ---- */

/* A card with a heading; listed in the contents. */
function section(id, title, ...children) {
	return make("section", { id, "data-title": title }, make("h2", {}, title), ...children);
}

function scroller(...children) {
	return make("div", { class: "scroller", tabindex: 0 }, ...children);
}

/* Long names are cut to two lines, and whole when they are hovered over. */
function nameElement(text, attributes) {
	return make("span", { class: "label", title: text, ...attributes }, text);
}
