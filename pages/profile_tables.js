/* The profile page: tables of metrics, and what explains a metric. */

/* ---- explanation ---- */

function formulaLines(row) {
	const list = make("dl", { class: "formulas" });
	for (const formula of row.formulas || []) {
		list.append(make("dt", {}, formula.of),
			make("dd", {}, make("code", {}, formula.text || formula.sameAs + " of the same")));
		if (formula.why && state.view === 0)
			list.append(make("dt", {}), make("dd", { class: "why" }, "no value: " + formula.why));
	}
	return list;
}

function inputTable(row) {
	const head = make("tr", {}, make("th", { class: "name" }, "Made of"));
	data.runs.forEach((_, r) => head.append(make("th", {}, several ? "Mean " + letterOf(r) : "Mean")));
	head.append(make("th", { class: "words" }, "Class"), make("th", { class: "words optional" }, "Counts"));
	const body = make("tbody", {});
	for (const i of row.inputs) {
		const input = data.inputs[i];
		const line = make("tr", {}, make("td", { class: "name" }, make("code", {}, input.name)));
		data.runs.forEach((_, r) => {
			const value = viewOf(r)?.inputs[i];
			line.append(make("td", {}, isNumber(value) ? numberText(value)
				: input.name.startsWith("$") ? "not known" : "not collected"));
		});
		line.append(make("td", { class: "words" }, input.class === undefined ? "" : classTag(input.class)),
			make("td", { class: "words optional" }, input.text || ""));
		body.append(line);
	}
	return scroller(make("table", { class: "inputs" }, make("thead", {}, head), body));
}

function stepLines(row) {
	const lines = row.steps.map(([label, text, numbers, value]) => {
		const shown = numberText(value);
		return `${label} = ${text}` + (numbers ? ` = ${numbers}` : "") + (numbers === shown ? "" : ` = ${shown}`);
	});
	if (row.cut)
		lines.push("and so on");
	return make("details", {}, make("summary", {}, `Step by step, in dispatch ${row.dispatch} of ${letterOf(0)}`
		.replace(several ? "" : " of A", "")), make("pre", {}, lines.join("\n")));
}

function explanation(table, r) {
	const row = table.rows[r];
	const parts = [make("p", { class: "meaning" }, row.help || "This metric has no description.")];
	if (row.formulas)
		parts.push(make("h4", {}, "Formula on " + data.runs[0].arch), formulaLines(row));
	if (row.level)
		parts.push(make("p", {}, `Its level is counted in the pass ${row.level}.`));
	if (row.inputs?.length)
		parts.push(inputTable(row));
	if (row.spread?.bins)
		parts.push(make("h4", {}, "Over the dispatches of all kernels" + (several ? " of A" : "")),
			make("div", { class: "spread" }, make("span", {}, numberText(row.spread.min)),
				histogram(row.spread, 300, 54, numberText), make("span", {}, numberText(row.spread.max))));
	if (row.steps)
		parts.push(stepLines(row));
	return make("div", { class: "explanation" }, ...parts);
}

function toggle(table, r, line, button) {
	const open = line.nextElementSibling?.classList.contains("explained");
	button.setAttribute("aria-expanded", String(!open));
	if (open)
		line.nextElementSibling.remove();
	else
		line.after(make("tr", { class: "explained" }, make("td", { colspan: line.cells.length }, explanation(table, r))));
}

/* ---- rows ---- */

/* What a search looks at. */
function wordsOf(row) {
	row.words = row.words || [...row.texts.filter(Boolean), ...(row.inputs || []).map((i) => data.inputs[i].name)].join("\n");
	return row.words;
}

const isPercent = (row) => row.texts.some((text) => text && /^(pct|percent)/i.test(text));

/* Values of a run in the order of the table's columns that are numbers. */
const numbersOf = (number, r, run) => viewOf(run)?.values[number][r];

function differs(number, r) {
	const base = numbersOf(number, r, 0);
	return data.runs.some((_, run) => run && base && base.some((value, i) => {
		const now = numbersOf(number, r, run)?.[i];
		const change = changeOf(value, now);
		return change === null ? isNumber(value) !== isNumber(now) || (isNumber(now) && value !== now) : Math.abs(change) >= 1;
	}));
}

/* Whether all runs have the same numbers in a column: peaks, mostly. */
function isCommon(number, n) {
	return data.tables[number].rows.every((_, r) => {
		const base = numbersOf(number, r, 0)?.[n];
		return data.runs.every((__, run) => numbersOf(number, r, run)?.[n] === base);
	});
}

/* The columns of a table: texts once, numbers once per run, unless runs do not differ in them. */
function columnsOf(table, number) {
	const columns = [];
	let n = 0;
	table.columns.forEach(([name, isText], c) => {
		if (c === 0)
			return;
		if (isText) {
			columns.push({ name, text: c });
			return;
		}
		const once = c === 1 || (several && /peak/i.test(name) && isCommon(number, n));
		for (let run = 0; run < (once ? 1 : data.runs.length); run++)
			columns.push({ name, number: n, run, once });
		n++;
	});
	return columns;
}

function headOf(table, columns) {
	const line = make("tr", {}, make("th", { class: "id" }, "Id"));
	for (const column of columns)
		line.append(make("th", { class: column.text === 1 ? "name" : column.text ? "words" : "" },
			column.name + (several && column.run !== undefined && !column.once ? " " + letterOf(column.run) : "")));
	line.append(make("th", { class: "words" }, "Class"));
	return make("thead", {}, line);
}

function numberCell(table, column, row, values, base) {
	const value = values?.[column.number];
	const cell = make("td", { class: isNumber(value) ? "" : "none" }, numberText(value));
	const ofPeak = table.columns.some(([name]) => name === "Pct of Peak");
	const barred = ofPeak ? column.name === "Pct of Peak" : isPercent(row) && /^(Avg|Value)$/.test(column.name);
	if (isNumber(value) && !table.channels && barred && (ofPeak || !several))
		addBar(cell, value);
	if (column.run > 0 && /^(Avg|Value|Count|Pct.*)$/.test(column.name))
		cell.append(" ", changeElement(base?.[column.number], value));
	else if (column.run > 0)
		cell.title = changeText(changeOf(base?.[column.number], value));
	return cell;
}

function lineOf(table, number, r, columns) {
	const row = table.rows[r];
	const id = row.texts[0];
	const line = make("tr", { id: "m-" + id }, make("td", { class: "id" }, id));
	for (const column of columns) {
		if (column.text === undefined) {
			line.append(numberCell(table, column, row, numbersOf(number, r, column.run), numbersOf(number, r, 0)));
		} else if (column.text === 1) {
			const button = make("button", { type: "button", class: "metric", "aria-expanded": "false" }, row.texts[1] ?? "");
			button.addEventListener("click", () => toggle(table, r, line, button));
			line.append(make("td", { class: "name" }, button));
		} else {
			line.append(make("td", { class: "words" }, row.texts[column.text] ?? ""));
		}
	}
	const classes = [...new Set(row.classes)];
	line.append(make("td", { class: "words" }, ...classes.flatMap((c, i) => i ? [" ", classTag(c)] : [classTag(c)])));
	return line;
}

/* A table as far as it passes the filters; null: none of it does. */
function tableElement(number, fits) {
	const table = data.tables[number];
	const columns = columnsOf(table, number);
	const body = make("tbody", {});
	table.rows.forEach((row, r) => {
		if ((!fits || fits(wordsOf(row)) || fits(table.title)) && (!state.differing || differs(number, r)))
			body.append(lineOf(table, number, r, columns));
	});
	if (!body.rows.length)
		return null;
	const title = table.title && table.title !== table.blockTitle ? `${table.id} ${table.title}` : "";
	return make("figure", { "data-table": table.id },
		make("figcaption", {}, title, make("small", {}, table.channels ? " a row per L2 channel" : "")),
		scroller(make("table", { class: "metrics" }, headOf(table, columns), body)));
}
