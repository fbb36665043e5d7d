/*
 * A profile page from a server: what is selected stands in the address, and the server makes the page of it.
 * docs/formats/live.md has the requests.
 */
const choices = JSON.parse($("choices").textContent);
const asked = new URLSearchParams(location.search);
const TOP_SIZES = [1, 5, 10, 15, 20, 50, 100];

/* ---- lists of numbers: "0-3,7" ---- */

/* Whether the address selects a number; everything, where it has no list. */
function isAsked(key, number) {
	const text = asked.get(key);
	return !text || text.split(",").some((part) => {
		const [first, last] = part.split("-").map(Number);
		return number >= first && number <= (last ?? first);
	});
}

/* ---- the form ---- */

/* A box per thing; @names are by number. */
function boxes(key, title, numbers, names) {
	const list = make("div", { class: "boxes" }, ...numbers.map((number, i) => make("label", { title: names[i] },
		make("input", { type: "checkbox", name: key, value: number, checked: isAsked(key, number) }),
		make("span", {}, names[i]))));
	const all = [...list.querySelectorAll("input")];
	const toggle = () => {
		const on = all.some((box) => !box.checked);
		all.forEach((box) => { box.checked = on; });
	};
	return make("fieldset", { class: key }, make("legend", {}, title + " ", all.length > 2 ?
		make("button", { type: "button", class: "link", onclick: toggle }, "all or none") : ""), list);
}

function menu(key, title, words, now) {
	const select = make("select", { name: key, onchange: apply }, ...words.map((word) =>
		make("option", { value: word, selected: String(word) === String(now) }, word)));
	return make("label", {}, title + " ", select);
}

/* What the form selects, as an address has it: lists of everything are left out. */
function selected() {
	const form = $("filters");
	const words = new URLSearchParams();
	for (const key of ["runs", "gpus", "kernels"]) {
		const all = [...form.querySelectorAll(`input[name="${key}"]`)];
		const on = all.filter((box) => box.checked).map((box) => Number(box.value)).sort((a, b) => a - b);
		if (on.length && on.length < all.length)
			words.set(key, rangesText(on));
	}
	const dispatches = form.elements.dispatches.value.replace(/\s/g, "");
	if (dispatches)
		words.set("dispatches", dispatches);
	if (form.elements["normal-unit"].value !== choices.norm)
		words.set("normal-unit", form.elements["normal-unit"].value);
	if (form.elements["max-stat-num"].value !== String(choices.inTop))
		words.set("max-stat-num", form.elements["max-stat-num"].value);
	return words;
}

/* The server is asked first whether anything is selected: an error is no page to go to. */
async function apply() {
	const words = selected();
	const none = ["runs", "gpus", "kernels"].find((key) => $("filters").querySelector(`input[name="${key}"]`) &&
		!$("filters").querySelector(`input[name="${key}"]:checked`));
	if (none) {
		refuse(`Select at least one of ${{ runs: "the workloads", gpus: "the GPUs", kernels: "the kernels" }[none]}.`);
		return;
	}
	let answer;
	try {
		answer = await fetch("check?" + words, { cache: "no-store" });
	} catch {
		refuse("The server does not answer: start the command again and open the new address.");
		return;
	}
	if (!answer.ok) {
		refuse(await answer.text());
		return;
	}
	location.assign(location.pathname + (String(words) ? "?" + words : ""));
}

function refuse(text) {
	$("refused").textContent = text;
}

function fillForm() {
	const sizes = [...new Set([...TOP_SIZES, choices.inTop, Number(asked.get("max-stat-num") ?? choices.inTop)])];
	const form = make("form", { id: "filters", "aria-label": "Filters", onsubmit: (event) => {
		event.preventDefault();
		apply();
	} });
	if (choices.runs.length > 1)
		form.append(boxes("runs", "Workloads, the first is the baseline", choices.runs.map((_, i) => i), choices.runs));
	if (choices.kernels.length > 1)
		form.append(boxes("kernels", "Kernels", choices.kernels.map((_, i) => i), choices.kernels));
	if (choices.gpus.length > 1)
		form.append(boxes("gpus", "GPUs", choices.gpus, choices.gpus.map((id) => "GPU " + id)));
	form.append(make("fieldset", { class: "single" }, make("legend", {}, "Dispatches and units"),
		make("label", {}, "Dispatches ", make("input", {
			name: "dispatches", value: asked.get("dispatches") ?? "", placeholder: `all, or 0-3,${choices.lastDispatch}`,
			autocomplete: "off", spellcheck: "false",
		})),
		menu("normal-unit", "Normalization", choices.norms, asked.get("normal-unit") || choices.norm),
		menu("max-stat-num", "Top", sizes.sort((a, b) => a - b), asked.get("max-stat-num") || choices.inTop),
		make("span", {}, make("button", { type: "submit" }, "Apply"), " ", make("button", { type: "button", id: "unfilter",
			disabled: !String(asked), onclick: () => location.assign(location.pathname) }, "Select all")),
		make("output", { id: "refused", role: "alert" })));
	const n = ["runs", "gpus", "kernels", "dispatches"].filter((key) => asked.has(key)).length;
	$("bar").after(make("details", { id: "filter-bar", open: n > 0 }, make("summary", {}, "Filters",
		make("small", {}, n || String(asked) ? " (some are set)" : "")), form));
}

fillForm();
