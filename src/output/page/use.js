/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the first recording has of the node, and whether the difference is more than chance. */
function compare(node) {
	const verdict = base.verdict[node], by = 100 * change(node), taken = base.taken[node];
	const parts = [`before: ${percent(base.total[node], base.total[0])}, ${numbers.format(taken)} ${taken == 1 ? "sample" : "samples"}`];
	if (!node)
		return parts;
	const margin = verdict == FEW ? "" : ` \u00b1 ${(base.margin[node] / 100).toFixed(2)}`;
	parts.push(`${by < 0 ? "" : "+"}${by.toFixed(2)}${margin} points`);
	parts.push(verdict == FEW ? "too few samples to judge" : verdict == CERTAIN ? "more than chance" : "may be chance");
	return parts;
}

function describe(node) {
	const kind = (KINDS[kindOf(node)] || KINDS[8])[0], parts = [];
	if (kindOf(node) > 0)
		parts.push(kind + (dsoOf(node) ? ", " + dsoOf(node) : ""));
	parts.push(percent(total[node], all) + " of all");
	if (around)
		parts.push(percent(total[node], total[0]) + " of " + nameOf(0));
	if (zoom && node >= zoom && node < end[zoom])
		parts.push(percent(total[node], total[zoom]) + " of what is zoomed");
	parts.push(numbers.format(samples[node]) + (samples[node] == 1 ? " sample" : " samples"));
	if (own[node] && around != "callers" && node < upper)
		parts.push(percent(own[node], all) + " its own");
	if (base && kindOf(node) != SMALL)
		parts.push(...compare(node));
	return parts.join(" \u00b7 ");
}

function tell(node) {
	$("name").textContent = nameOf(node);
	$("facts").textContent = " \u2014 " + describe(node);
}

/* The frames from the root to the node: how the page's address names it. */
function pathOf(node) {
	const path = [];
	for (let at = node; at > 0; at = parent[at])
		path.unshift(frameOf[at]);
	return (node < upper ? "" : "-") + path.join(".");
}

/* The node of that path; 0: there is none. */
function findPath(text) {
	const callers = text.startsWith("-"), path = text.replace("-", "").split(".").filter(Boolean).map(Number);
	let node = 0;
	for (const frame of path) {
		const last = node ? end[node] : callers ? count : upper;
		let child = node || !callers ? node + 1 : upper;
		while (child < last && frameOf[child] != frame)
			child = end[child];
		if (child >= last)
			return 0;
		node = child;
	}
	return node;
}

function setZoom(node) {
	zoom = node;
	focus = node;
	hover = -1;
	$("tip").hidden = true;
	findLevels(node);
	tell(node);
	updateMatched();
	reveal(node);
	redraw();
	keepState();
}

function reveal(node) {
	const y = rowOf(depth[node]) * ROW;
	if (y < view.scrollTop)
		view.scrollTop = y;
	else if (y + 2 * ROW > view.scrollTop + view.clientHeight)
		view.scrollTop = y + 3 * ROW - view.clientHeight;
}

function setFocus(node) {
	if (node < 0 || node >= count)
		return;
	focus = node;
	if (node < zoom || node >= end[zoom])
		zoom = parent[node] < 0 ? node : parent[node];
	findLevels(zoom);
	tell(node);
	reveal(node);
	redraw();
}

/* Largest child of a node, among those from FIRST to LAST; -1: it has none. */
function childOf(node, first = node + 1, last = end[node]) {
	let best = -1;
	for (let child = first; child < last; child = end[child])
		if (best < 0 || total[child] > total[best])
			best = child;
	return best;
}

/* The frame in the row above, or below: what it is called by, or its largest child. */
function step(down) {
	if (around == "sandwich" && !focus)
		return down != flipped ? childOf(0, 1, upper) : childOf(0, upper, count);
	return (down != flipped) == focus < upper ? childOf(focus) : parent[focus];
}

/* The next frame on the same level, in direction -1 or 1, within what is shown. */
function beside(node, direction) {
	const level = depth[node];
	if (direction > 0) {
		for (let other = end[node]; other < end[zoom]; other++)
			if (depth[other] == level)
				return other;
	} else {
		for (let other = node - 1; other > zoom; other--)
			if (depth[other] == level)
				return other;
	}
	return -1;
}

function search(text) {
	$("search").classList.remove("bad");
	matches = null;
	if (text) {
		let pattern;
		try {
			pattern = new RegExp(text, "i");
		} catch {
			pattern = new RegExp(text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i");
		}
		const frames = data.frames.length / 3, hit = new Uint8Array(frames);
		let functions = 0;
		for (let i = 0; i < frames; i++)
			if (data.frames[3 * i + 2] > 0 && pattern.test(data.names[data.frames[3 * i]])) {
				hit[i] = 1;
				functions++;
			}
		matches = { hit, functions };
		if (!functions)
			$("search").classList.add("bad");
	}
	updateMatched();
	redraw();
	showTable();
	keepState();
}

/* The share of what is zoomed that has a match anywhere in its chain. */
function updateMatched() {
	if (!matches) {
		$("matched").textContent = "";
		return;
	}
	let sum = 0;
	for (let node = zoom; node < (zoom ? end[zoom] : upper);) {
		if (matches.hit[frameOf[node]]) {
			sum += total[node];
			node = end[node];
		} else {
			node++;
		}
	}
	$("matched").textContent = `Matched ${percent(sum, total[zoom])} in ${numbers.format(matches.functions)} ${matches.functions == 1 ? "name" : "names"}`;
}

function goTo(node) {
	if (node < zoom || node >= end[zoom])
		setZoom(0);
	setFocus(node);
}

/* Of several as large ones the first. */
function largestMatch() {
	if (!matches || !matches.functions)
		return;
	let largest = -1;
	for (let node = 0; node < count; node++)
		if (matches.hit[frameOf[node]] && (largest < 0 || total[node] > total[largest]))
			largest = node;
	if (largest >= 0)
		goTo(largest);
}

function nextMatch(direction) {
	if (!matches || !matches.functions)
		return;
	for (let i = 1; i <= count; i++) {
		const node = ((focus + direction * i) % count + count) % count;
		if (matches.hit[frameOf[node]]) {
			goTo(node);
			return;
		}
	}
}

function showTip(name, about, x, y) {
	const tip = $("tip");
	tip.children[0].textContent = name;
	tip.children[1].textContent = about;
	tip.hidden = false;
	const box = tip.getBoundingClientRect();
	tip.style.left = Math.max(6, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
	tip.style.top = (y + 22 + box.height > innerHeight ? y - box.height - 10 : y + 18) + "px";
}

function fromPointer(event) {
	const box = canvas.getBoundingClientRect();
	return nodeAt(event.clientX - box.left, event.clientY - box.top + view.scrollTop);
}

