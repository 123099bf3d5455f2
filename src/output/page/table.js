/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of what is chosen. */
const ROWS = 100;
const COLUMNS = [
	{ key: "own", title: "Self", text: row => percent(row.own, all) },
	{ key: "total", title: "Total", text: row => percent(row.total, all) },
	{ key: "samples", title: "Samples", text: row => numbers.format(row.samples) },
	{ key: "name", title: "Function", text: row => data.names[data.frames[3 * row.frame]] },
	{ key: "file", title: "File", text: row => data.names[data.frames[3 * row.frame + 1]] },
	{ key: "kind", title: "Mode", text: row => KINDS[data.frames[3 * row.frame + 2]][0] },
];
const order = { key: "own", down: true };
let functions = null, shown = ROWS; /* functions: null: to be counted */

function compareRows(left, right) {
	const { key, text } = COLUMNS.find(column => column.key == order.key), by = order.down ? -1 : 1;
	if (typeof left[key] == "number")
		return by * (left[key] - right[key]) || right.total - left.total || left.frame - right.frame;
	const [a, b] = [text(left), text(right)];
	return by * (a < b ? -1 : a > b ? 1 : 0) || right.own - left.own || left.frame - right.frame;
}

function rowOfFunction(row) {
	const line = document.createElement("tr");
	for (const { key, text } of COLUMNS) {
		const cell = document.createElement("td");
		cell.className = key;
		if (key == "name") {
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
	if (!times)
		return;
	functions = functions || functionsOf(whole).filter(row => row.total > 0 || row.samples > 0);
	const found = matches ? functions.filter(row => matches.hit[row.frame]) : functions;
	found.sort(compareRows);
	$("rows").querySelector("tbody").replaceChildren(...found.slice(0, shown).map(rowOfFunction));
	$("counted").textContent = numbers.format(found.length) + (matches ? " of " + numbers.format(functions.length) : "");
	$("more").hidden = found.length <= shown;
	showHead();
}

function sortBy(key) {
	order.down = order.key == key ? !order.down : ["own", "total", "samples"].includes(key);
	order.key = key;
	showTable();
	keepState();
}

if (times) {
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
