/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of what is chosen; of two recordings, what each has of its own in both. */
const ROWS = 100;
const VERDICTS = ["few", "no", "yes"];
const points = by => (by < 0 ? "" : "+") + by.toFixed(2);
const COLUMNS = [
	...(base ? [
		{ key: "before", title: "Baseline", text: row => row.taken ? percent(row.before, base.total[0]) : "" },
		{ key: "own", title: "New", text: row => row.samples ? percent(row.own, all) : "" },
		{ key: "delta", title: "Delta", text: row => points(row.delta) },
		{ key: "margin", title: "\u00b1 95\u2009%", text: row => row.verdict == FEW ? "" : row.margin.toFixed(2) },
		{ key: "verdict", title: "Certain", text: row => VERDICTS[row.verdict] },
	] : [
		{ key: "own", title: "Self", text: row => percent(row.own, all) },
		{ key: "total", title: "Total", text: row => percent(row.total, all) },
		{ key: "samples", title: "Samples", text: row => numbers.format(row.samples) },
	]),
	{ key: "name", title: "Function", text: row => data.names[data.frames[3 * row.frame]] },
	{ key: "file", title: "File", text: row => data.names[data.frames[3 * row.frame + 1]] },
	{ key: "kind", title: "Mode", text: row => KINDS[data.frames[3 * row.frame + 2]][0] },
];
const FIRST_KEY = base ? "delta" : "own";
const order = { key: FIRST_KEY, down: true };
let functions = null, shown = ROWS; /* functions: null: to be counted */

/* Deltas and margins are in points of a percent. */
function readFunctions() {
	const list = data.base.functions, rows = [];
	for (let i = 0; i < list.length; i += 7) {
		const [frame, before, taken, own, samples, verdict, margin] = list.slice(i, i + 7);
		const delta = 100 * (own / (all || 1) - before / (base.total[0] || 1));
		rows.push({ frame, before, taken, own, samples, verdict, delta, margin: margin / 100, total: own + before });
	}
	return rows;
}

function compareRows(left, right) {
	const { key, text } = COLUMNS.find(column => column.key == order.key), by = order.down ? -1 : 1;
	if (typeof left[key] == "number")
		return by * (left[key] - right[key]) || right.total - left.total || left.frame - right.frame;
	const [a, b] = [text(left), text(right)];
	return by * (a < b ? -1 : a > b ? 1 : 0) || right.own - left.own || left.frame - right.frame;
}

function rowOfFunction(row) {
	const line = document.createElement("tr");
	if (base)
		line.className = row.verdict != CERTAIN ? "chance" : row.delta > 0 ? "more" : "less";
	for (const { key, text } of COLUMNS) {
		const cell = document.createElement("td");
		cell.className = key;
		if (key == "name" && !base) {
			const button = document.createElement("button");
			button.type = "button";
			button.textContent = "\u21c5";
			button.title = "Its callers, and what it calls";
			button.setAttribute("aria-label", "Callers of " + text(row) + ", and what it calls");
			button.hidden = data.frames[3 * row.frame + 2] == SMALL;
			button.addEventListener("click", () => {
				showAround("sandwich", row.frame);
				view.scrollIntoView({ block: "nearest" });
			});
			cell.append(button, " ");
		}
		cell.append(text(row));
		line.append(cell);
	}
	return line;
}

function showHead() {
	for (const [i, { key }] of COLUMNS.entries()) {
		const head = $("rows").querySelector("thead tr").children[i];
		if (order.key == key)
			head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
		else
			head.removeAttribute("aria-sort");
		head.firstChild.dataset.sorted = order.key != key ? "" : order.down ? "\u25be" : "\u25b4";
	}
}

function showTable() {
	if (!times && !base)
		return;
	functions = functions || (base ? readFunctions() : functionsOf(whole).filter(row => row.total > 0 || row.samples > 0));
	const found = matches ? functions.filter(row => matches.hit[row.frame]) : functions;
	found.sort(compareRows);
	$("rows").querySelector("tbody").replaceChildren(...found.slice(0, shown).map(rowOfFunction));
	$("counted").textContent = [
		numbers.format(found.length) + (matches ? " of " + numbers.format(functions.length) : ""),
		base && "by samples of their own",
		base && data.base.functions_left_out && numbers.format(data.base.functions_left_out) + " with smaller shares are left out",
	].filter(Boolean).join(" \u00b7 ");
	$("more").hidden = found.length <= shown;
	showHead();
}

function sortBy(key) {
	order.down = order.key == key ? !order.down : !["name", "file", "kind"].includes(key);
	order.key = key;
	showTable();
	keepState();
}

if (times || base) {
	for (const { key, title } of COLUMNS) {
		const head = document.createElement("th"), button = document.createElement("button");
		head.scope = "col";
		head.className = key;
		button.type = "button";
		button.textContent = title;
		button.addEventListener("click", () => sortBy(key));
		head.append(button);
		$("rows").querySelector("thead tr").append(head);
	}
	$("more").addEventListener("click", () => {
		shown += 5 * ROWS;
		showTable();
	});
}
