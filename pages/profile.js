/* The profile page: sections, filters, search, keys. */

/* ---- findings ---- */

/* -b may have left the metric out of the page. */
const metricIds = new Set(data.tables.flatMap((table) => table.rows.map((row) => row.texts[0])));
function metricLink(id) {
	if (!metricIds.has(id))
		return id;
	return make("button", { type: "button", class: "link", onclick: () => showMetric(id) }, id);
}

function evidenceTable(subject) {
	const body = make("tbody", {});
	for (const value of subject.evidence)
		body.append(make("tr", {}, make("td", { class: "id" }, value.metric ? metricLink(value.metric) : ""),
			make("td", { class: "name" }, value.name), make("td", {}, numberText(value.value)),
			make("td", { class: "words" }, value.unit)));
	return make("table", { class: "evidence" }, body);
}

/* The name of a kernel that a finding is about, and a way to see only it. */
function subjectElement(subject, chosen) {
	const about = data.kernels.find((k) => k.name === subject.subject);
	const where = [nameElement(subject.subject)];
	if (about?.view && !chosen)
		where.push(" ", make("button", { type: "button", class: "link", onclick: () => choose({ view: about.view }) }, "show only it"));
	return where;
}

/* The kernels after the first, the one with the most to gain. */
function moreSubjects(finding) {
	const body = make("tbody", {});
	for (const subject of finding.subjects.slice(1))
		body.append(make("tr", {}, make("td", {}, `${subject.gain_pct.toFixed(0)} %`), make("td", {}, timeText(subject.time_ns)),
			make("td", { class: "name" }, ...subjectElement(subject))));
	return make("details", { class: "more" },
		make("summary", {}, `and ${amountText(finding.subjects.length - 1, "more kernel")}, all together ` +
			`${finding.share_pct.toFixed(0)} % of the time`),
		make("table", { class: "subjects" }, make("thead", {}, make("tr", {}, make("th", {}, "Gain"), make("th", {}, "Time"),
			make("th", { class: "name" }, "Kernel"))), body));
}

/* With @chosen, of that kernel only. */
function findingElement(finding, chosen) {
	const subject = chosen ? finding.subjects.find((s) => s.subject === chosen.name) : finding.subjects[0];
	const gain = (chosen ? subject : finding).total_gain_pct;
	return make("article", { class: "finding " + finding.severity },
		make("h3", {}, make("span", { class: "severity" }, finding.severity), finding.title,
			make("small", {}, `up to ${gain.toFixed(0)} % of the time`)),
		make("p", { class: "subject" }, ...subjectElement(subject, chosen), make("small", {},
			` ${timeText(subject.time_ns)} in ${dispatchesText(subject.n_dispatches)}, ` +
			`${subject.share_pct.toFixed(1)} % of the time; longest: ${subject.dispatches.join(", ")}`)),
		evidenceTable(subject),
		!chosen && finding.subjects.length > 1 ? moreSubjects(finding) : "",
		make("p", {}, finding.means),
		make("p", {}, make("b", {}, "Try: "), finding.advice),
		make("p", {}, make("b", {}, "Gain: "), `up to ${subject.gain_pct.toFixed(0)} % of the kernel's time, from ${finding.basis}.`),
		make("pre", { class: "command" }, subject.next));
}

function findingsSection() {
	const whole = section("findings", "What to look at");
	const chosen = data.kernels.find((kernel) => state.view && kernel.view === state.view);
	data.runs.forEach((run, r) => {
		const found = run.found;
		const shown = found.findings.filter((finding) => !chosen || finding.subjects.some((s) => s.subject === chosen.name));
		if (several)
			whole.append(make("h3", { class: "run" }, `${letterOf(r)}: ${run.path}`));
		whole.append(...shown.map((finding) => findingElement(finding, chosen)));
		const n = found.n_rules - found.n_not_checked;
		if (chosen && !shown.length)
			whole.append(make("p", { class: "note" }, "Nothing stands out in this kernel."));
		else if (!shown.length)
			whole.append(make("p", { class: "note" }, found.n_subjects
				? `Nothing stands out: ${amountText(n, "rule")}, ${amountText(found.n_subjects, "kernel")}.`
				: "Nothing was checked: no kernel has a duration."));
		if (found.n_not_checked)
			whole.append(make("p", { class: "note" },
				`${found.n_not_checked} of ${found.n_rules} rules were not checked: what they need was not recorded.`));
		if (found.times !== "hardware")
			whole.append(make("p", { class: "note" }, `Times are ${found.times}, not those of hardware.`));
	});
	return whole;
}

/* ---- changes ---- */

function changedKernel(kernel) {
	const d = kernel.duration;
	const parts = [make("h3", {}, nameElement(kernel.name))];
	if (!kernel.nA || !kernel.nB) {
		parts.push(make("p", {}, kernel.nA ? "only in the baseline" : "not in the baseline"));
		return make("article", {}, ...parts);
	}
	parts.push(make("p", {}, "Mean duration ", make("b", {}, `${timeText(d.a)} \u2192 ${timeText(d.b)} `), changeElement(d.a, d.b),
		` ${d.change}`, make("small", {}, d.method ? ` (${d.method}${isNumber(d.p) ? ", p " + d.p.toPrecision(2) : ""})` : "")));
	const body = make("tbody", {});
	for (const m of kernel.metrics)
		body.append(make("tr", {}, make("td", { class: "id" }, metricLink(m.id)), make("td", { class: "name" }, m.name),
			make("td", {}, numberText(m.a)), make("td", {}, numberText(m.b)), make("td", {}, changeElement(m.a, m.b)),
			make("td", { class: "words" }, m.unit)));
	if (kernel.metrics.length)
		parts.push(scroller(make("table", { class: "evidence" }, body)));
	parts.push(make("p", { class: "note" }, `${amountText(kernel.real, "metric")} changed` +
		(kernel.real > kernel.metrics.length ? ` (the ${kernel.metrics.length} largest are listed)` : "") +
		`, ${kernel.equal} equal, ${kernel.noise} within noise.`));
	return make("article", {}, ...parts);
}

function changesSection() {
	const whole = section("changes", "What changed");
	for (const change of data.changes) {
		whole.append(make("h3", { class: "run" }, `${letterOf(change.run)} against A: all kernels ${timeText(change.sumA)} \u2192 ` +
			`${timeText(change.sumB)} `, changeElement(change.sumA, change.sumB)), ...change.kernels.map(changedKernel));
		if (change.n > change.kernels.length)
			whole.append(make("p", { class: "note" }, `${change.n - change.kernels.length} more kernels changed less.`));
	}
	return whole;
}

/* ---- kernels ---- */

const KERNEL_COLUMNS = [
	{ title: "Share", key: "percent", text: (v) => v.toFixed(1) + " %", bar: true },
	{ title: "Total", key: "sum", text: timeText },
	{ title: "Dispatches", key: "n", text: countText },
	{ title: "Mean", key: "mean", text: timeText },
	{ title: "Median", key: "median", text: timeText },
].filter((column) => !several || !["n", "median"].includes(column.key));

function kernelLine(kernel, number) {
	const base = kernel.runs[0];
	const name = kernel.view
		? make("button", { type: "button", class: "metric", "aria-pressed": String(kernel.view === state.view), title: kernel.name,
			onclick: () => choose({ view: kernel.view === state.view ? 0 : kernel.view }) }, nameElement(kernel.name))
		: nameElement(kernel.name);
	const line = make("tr", { class: kernel.view && kernel.view === state.view ? "chosen" : "" },
		make("td", { class: "id" }, String(number)), make("td", { class: "name" }, name));
	for (const column of KERNEL_COLUMNS)
		kernel.runs.forEach((stat, r) => {
			const value = stat?.[column.key];
			const cell = make("td", { class: isNumber(value) ? "" : "none" }, isNumber(value) ? column.text(value) : "N/A");
			if (r && isNumber(value))
				cell.append(" ", changeElement(base?.[column.key], value));
			else if (column.bar && isNumber(value))
				addBar(cell, value);
			line.append(cell);
		});
	for (const stat of kernel.runs)
		line.append(make("td", { class: "words" }, stat?.spread ? histogram(stat.spread, several ? 80 : 120, 30, timeText) : ""));
	return line;
}

function kernelsSection(fits) {
	const head = make("tr", {}, make("th", { class: "id" }, ""), make("th", { class: "name" }, "Kernel"));
	for (const column of KERNEL_COLUMNS)
		data.runs.forEach((_, r) => head.append(make("th", {}, column.title + (several ? " " + letterOf(r) : ""))));
	data.runs.forEach((_, r) => head.append(make("th", { class: "words" }, several ? "Times " + letterOf(r) : "Distribution")));
	const body = make("tbody", {});
	data.kernels.forEach((kernel, i) => {
		if (!fits || fits(kernel.name))
			body.append(kernelLine(kernel, i));
	});
	if (!body.rows.length)
		return null;
	const views = data.views[0].length - 1;
	return section("kernels", "Kernels", make("p", { class: "note" }, "Times are ", ...data.runs.flatMap((run, r) =>
		[r ? ", " : "", several ? letterOf(r) + " " : "", classTag(run.timeClass)]), ".",
		views ? " A click on a kernel shows its numbers alone." : "",
		views && data.kernels.length > views ? ` That is for the ${views} with the most time; analyze --max-stat-num N makes it more.` : ""),
	scroller(make("table", { class: "kernels" }, make("thead", {}, head), body)));
}

/* ---- charts ---- */

function memorySection() {
	const whole = section("memory", "Memory chart");
	data.runs.forEach((run, r) => {
		const svg = viewOf(r)?.memchart;
		if (!svg)
			return;
		if (several)
			whole.append(make("h3", { class: "run" }, `${letterOf(r)}: ${run.path}`));
		/* Its style is for it alone. */
		const host = make("div", { class: "memory", "data-run": r });
		const drawing = document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
		const own = make("style", {}, ":host{display:block;min-width:1000px}svg{display:block;width:100%;height:auto;margin-top:-2%}.page{fill:none!important}.title{display:none}");
		host.attachShadow({ mode: "open" }).append(own, drawing);
		whole.append(scroller(host));
	});
	return whole.children.length > 1 ? whole : null;
}

/* Drawn once, from elements that stand in the file; they are only put into place. */
const rooflines = data.runs.map((_, r) => $("roofline-" + r));
function rooflineSection() {
	const there = rooflines.some(Boolean);
	const whole = section("roofline", "Roofline");
	const chosen = data.kernels.find((kernel) => state.view && kernel.view === state.view);
	data.runs.forEach((run, r) => {
		if (rooflines[r]) {
			rooflines[r].dataset.kernel = chosen?.name ?? "";
			rooflines[r].dispatchEvent(new Event("choose"));
		}
		if (several)
			whole.append(make("h3", { class: "run" }, `${letterOf(r)}: ${run.path}`));
		whole.append(rooflines[r] || make("p", { class: "note" }, "No peaks were measured: rocprof-compute profile writes them to roofline.csv."));
	});
	return there ? whole : null;
}

/* ---- source and instructions ---- */

/* "[('WAITCNT', 3), ('ALU', 1)]" as people write it. */
function stallText(text) {
	return [...text.matchAll(/\('([^']*)', (\d+)\)/g)].map(([, reason, n]) => `${reason.replaceAll("_", " ")} ${countText(Number(n))}`).join(", ");
}

function samplesTable(samples) {
	const names = samples.columns;
	const count = names.indexOf("count");
	const most = Math.max(1, ...samples.rows.map((row) => row[count]));
	const sum = samples.rows.reduce((n, row) => n + row[count], 0);
	/* Without -g there are no lines. */
	const shown = names.map((_, c) => c).filter((c) => c > 0 && samples.rows.some((row) => row[c] !== ""));
	const cellOf = (row, c) => {
		const text = row[c] ?? "";
		if (!isNumber(row[c]))
			return make("td", { class: "words" }, names[c] === "stall_reason" ? stallText(text) : make("code", {}, text));
		const cell = make("td", {}, countText(row[c]));
		if (c === count) {
			addBar(cell, 100 * row[c] / most);
			cell.append(" ", make("small", {}, percentText(row[c], sum)));
		}
		return cell;
	};
	const head = make("tr", {}, ...shown.map((c) =>
		make("th", { class: names[c].startsWith("count") ? "" : "words" }, names[c].replaceAll("_", " "))));
	const body = make("tbody", {}, ...samples.rows.map((row) => make("tr", {}, ...shown.map((c) => cellOf(row, c)))));
	return scroller(make("table", { class: "samples" }, make("thead", {}, head), body));
}

function samplesSection() {
	const whole = section("samples", "Source and instructions");
	data.runs.forEach((run, r) => {
		const view = viewOf(r);
		if (!view?.samples && !view?.noSamples)
			return;
		if (several)
			whole.append(make("h3", { class: "run" }, `${letterOf(r)}: ${run.path}`));
		if (view.noSamples)
			whole.append(make("p", { class: "note" }, view.noSamples));
		else if (!view.samples.rows.length)
			whole.append(make("p", { class: "note" }, state.view ? "No samples of this kernel."
				: "No samples with a source line (hipcc -g): choose a kernel to see its instructions."));
		else
			whole.append(samplesTable(view.samples));
	});
	return whole.children.length > 1 ? whole : null;
}

function machineSection(fits) {
	const body = make("tbody", {});
	for (const [name, ...values] of data.machine)
		if (!fits || fits(name))
			body.append(make("tr", {}, make("td", { class: "name" }, name), ...values.map((v) => make("td", { class: "words" }, v))));
	return body.rows.length ? section("machine", "Machine", scroller(make("table", { class: "machine" }, body))) : null;
}

/* ---- the page ---- */

function blockSections(fits) {
	const blocks = new Map();
	data.tables.forEach((table, number) => {
		const made = tableElement(number, fits);
		if (!made)
			return;
		if (!blocks.has(table.block))
			blocks.set(table.block, section("block-" + table.block, `${table.block}. ${table.blockTitle}`));
		blocks.get(table.block).append(made);
	});
	return blocks;
}

/* The tables of a block below the chart that is drawn of it. */
function withTables(chart, blocks, block) {
	const tables = blocks.get(block);
	if (!chart || !tables)
		return chart;
	blocks.delete(block);
	chart.append(make("details", {}, make("summary", {}, "As a table"), ...tables.querySelectorAll("figure")));
	return chart;
}

/* While something is searched, or only differences are wanted, only what can match is shown. */
function sections() {
	const fits = state.find ? matcher(state.find) : null;
	const filtered = fits || state.differing;
	const blocks = blockSections(fits);
	const speed = blocks.get(2);
	const memory = filtered ? null : withTables(memorySection(), blocks, 3);
	const roofline = filtered ? null : withTables(rooflineSection(), blocks, 4);
	blocks.delete(2);
	return [
		several && !filtered ? changesSection() : null, filtered ? null : findingsSection(),
		state.differing ? null : kernelsSection(fits), speed, memory, roofline, filtered ? null : samplesSection(),
		...blocks.values(), state.differing ? null : machineSection(fits),
	].filter(Boolean);
}

function fillContents(shown) {
	$("contents").replaceChildren(...shown.map((s) => make("a", { href: "#" + s.id, onclick: (event) => {
		event.preventDefault();
		s.scrollIntoView();
	} }, s.dataset.title)));
}

let watcher;
function watchContents(shown) {
	watcher?.disconnect();
	watcher = new IntersectionObserver((entries) => {
		for (const entry of entries)
			$("contents").querySelector(`[href="#${entry.target.id}"]`)?.classList.toggle("seen", entry.isIntersecting);
	}, { rootMargin: "-110px 0px -60% 0px" });
	shown.forEach((s) => watcher.observe(s));
}

function render() {
	const shown = sections();
	const n = shown.reduce((sum, s) => sum + s.querySelectorAll("table.metrics tbody tr, table.kernels tbody tr").length, 0);
	$("main").replaceChildren(...(shown.length ? shown : [make("p", { class: "note" }, "Nothing matches.")]));
	$("found").textContent = state.find ? amountText(n, "row") : "";
	$("differing").setAttribute("aria-pressed", String(state.differing));
	$("kernel").value = String(state.view);
	fillContents(shown);
	watchContents(shown);
}

/* Change the state, the address and the page. */
function choose(change) {
	Object.assign(state, change);
	const parts = new URLSearchParams();
	if (state.view)
		parts.set("kernel", state.view);
	if (state.find)
		parts.set("find", state.find);
	if (state.differing)
		parts.set("differing", 1);
	history.replaceState(null, "", "#" + parts);
	render();
}

function readAddress() {
	const parts = new URLSearchParams(location.hash.slice(1));
	const view = Number(parts.get("kernel"));
	state.view = Number.isInteger(view) && view > 0 && view < data.views[0].length ? view : 0;
	state.find = parts.get("find") || "";
	state.differing = several && parts.has("differing");
	$("search").value = state.find;
}

/* Open what explains a metric, wherever it is. */
function showMetric(id) {
	if (state.find || state.differing) {
		$("search").value = "";
		choose({ find: "", differing: false });
	}
	const button = document.querySelector(`[id="m-${id}"] button.metric`);
	if (!button)
		return;
	if (button.getAttribute("aria-expanded") === "false")
		button.click();
	button.closest("details")?.setAttribute("open", "");
	button.scrollIntoView({ block: "center" });
	button.focus();
}

function fillHead() {
	const base = data.runs[0];
	document.title = data.runs.map((run) => run.path).join(" and ") + " \u2013 profile";
	$("title").textContent = data.runs.map((run, r) => several ? `${letterOf(r)} ${run.path}` : run.path).join("  \u00b7  ");
	$("title").title = $("title").textContent;
	$("facts").textContent = several
		? data.runs.map((run, r) => `${letterOf(r)}: ${run.gpu} (${run.arch}), ${timeText(run.sumNs)}`).join("; ")
		: `${base.gpu} (${base.arch}), ${amountText(base.kernels, "kernel")}, ` +
			`${dispatchesText(base.dispatches)}, ${timeText(base.sumNs)}`;
	const simulated = data.runs.map((run, r) => run.simulated ? letterOf(r) : "").join("");
	$("badge").hidden = !simulated;
	$("badge").textContent = "simulated" + (simulated.length && simulated.length < data.runs.length ? ": " + simulated : "");
	$("badge").title = data.runs.flatMap((run) => run.notes).join("\n");
	$("kernel").append(make("option", { value: 0 }, "All kernels"), ...data.kernels.filter((k) => k.view).map((k) =>
		make("option", { value: k.view }, k.name.length > 60 ? k.name.slice(0, 59) + "\u2026" : k.name)));
	$("kernel").hidden = data.views[0].length < 2;
	$("differing").hidden = !several;
	const warnings = data.runs.flatMap((run) => run.notes).filter((note) => note.startsWith("WARNING"));
	if (warnings.length)
		$("bar").after(make("p", { id: "warnings" }, warnings.join(" ")));
}

const KEYS = [
	["/", "search"], ["k", "next kernel"], ["K", "previous kernel"], ["d", "only differences"],
	["n", "next section"], ["p", "previous section"], ["Enter", "explain the metric that has the focus"],
	["Escape", "clear the search, then the kernel"], ["?", "this list"],
];

function fillHelp() {
	for (const [key, what] of KEYS)
		$("keys").tBodies[0].append(make("tr", {}, make("td", {}, make("kbd", {}, key)), make("td", {}, what)));
	data.classes.forEach((c, i) =>
		$("classes").tBodies[0].append(make("tr", {}, make("td", {}, classTag(i)), make("td", {}, c.text))));
}

function nextSection(step) {
	const all = [...document.querySelectorAll("main > section")];
	const at = all.findIndex((s) => s.getBoundingClientRect().bottom > 90);
	all[Math.max(0, Math.min(all.length - 1, at + step))]?.scrollIntoView();
}

function onKey(event) {
	const n = data.views[0].length;
	const inField = event.target.matches("input, select");
	if (event.key === "Escape") {
		$("search").value = "";
		choose(state.find ? { find: "" } : { view: 0, differing: false });
		return;
	}
	if (inField || event.ctrlKey || event.altKey || event.metaKey || $("help").open)
		return;
	const acts = {
		"/": () => $("search").focus(),
		"k": () => choose({ view: (state.view + 1) % n }),
		"K": () => choose({ view: (state.view + n - 1) % n }),
		"d": () => several && choose({ differing: !state.differing }),
		"n": () => nextSection(1),
		"p": () => nextSection(-1),
		"?": () => $("help").showModal(),
	};
	if (!acts[event.key])
		return;
	event.preventDefault();
	acts[event.key]();
}

document.body.classList.toggle("several", several);
fillHead();
fillHelp();
readAddress();
render();
$("kernel").addEventListener("change", () => choose({ view: Number($("kernel").value) }));
$("search").addEventListener("input", () => choose({ find: $("search").value.trim() }));
$("differing").addEventListener("click", () => choose({ differing: !state.differing }));
$("ask").addEventListener("click", () => $("help").showModal());
addEventListener("keydown", onKey);
/* The contents stand below the head, however many lines it has. */
new ResizeObserver(() => document.documentElement.style.setProperty("--bar-height", $("bar").offsetHeight + "px")).observe($("bar"));
addEventListener("hashchange", () => { readAddress(); render(); });
