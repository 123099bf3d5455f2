/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tree that is shown, in arrays by node: all that is below a node follows it, up to end[node]. */
let count, frameOf, parent, depth, end, own, total, samples, start;
/* Where the callers of a sandwich begin, whose depth is negative; otherwise where all ends. */
let upper;
function load(tree) {
	count = tree.frame.length;
	upper = tree.upper || count;
	frameOf = Uint32Array.from(tree.frame);
	parent = Int32Array.from(tree.parent);
	own = Float64Array.from(tree.own);
	total = Float64Array.from(tree.own);
	samples = Float64Array.from(tree.samples);
	depth = new Int16Array(count);
	end = new Uint32Array(count);
	start = new Float64Array(count);
	for (let i = 1; i < count; i++)
		depth[i] = depth[parent[i]] + (i < upper ? 1 : -1);
	for (let i = count - 1; i >= 0; i--) {
		end[i] = Math.max(end[i], i + 1);
		if (i) {
			const counts = i < upper || parent[i] > 0; /* the function itself is counted below */
			total[parent[i]] += counts ? total[i] : 0;
			samples[parent[i]] += counts ? samples[i] : 0;
			end[parent[i]] = Math.max(end[parent[i]], end[i]);
		}
	}
	const next = new Float64Array(count); /* where the next child of each begins */
	for (let i = 0; i < count; i++) {
		if (i == upper)
			next[0] = 0;
		if (i) {
			start[i] = next[parent[i]];
			next[parent[i]] += total[i];
		}
		next[i] = start[i];
	}
}
let whole = chosenTree(false); /* all stacks that are chosen, with vCPUs or without */
load(whole);
let all = total[0];
const everything = samples[0]; /* that was recorded */
let steepest = 0; /* the largest difference that is more than chance */
if (base) {
	base.total = Float64Array.from(base.own);
	base.taken = Float64Array.from(base.samples);
	for (let i = count - 1; i > 0; i--) {
		base.total[parent[i]] += base.total[i];
		base.taken[parent[i]] += base.taken[i];
	}
	for (let i = 0; i < count; i++)
		if (base.verdict[i] == CERTAIN)
			steepest = Math.max(steepest, Math.abs(change(i)));
}
/* How much larger the share of a node is than in the first recording. */
function change(node) {
	return total[node] / (total[0] || 1) - base.total[node] / (base.total[0] || 1);
}
const nameOf = node => data.names[data.frames[3 * frameOf[node]]];
const dsoOf = node => data.names[data.frames[3 * frameOf[node] + 1]];
const kindOf = node => data.frames[3 * frameOf[node] + 2];

let zoom = 0, focus = 0, hover = -1, matches = null, drawing = false;
/* around: "callers", "callees" or "sandwich" of the function centre, a frame; null: all stacks */
let around = null, centre = -1, flipped = false;
const view = $("view"), canvas = $("canvas"), pen = canvas.getContext("2d");
const dark = matchMedia("(prefers-color-scheme: dark)");
const FONT = '12px ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace';
pen.font = FONT;
const letter = pen.measureText("MMMMMMMMMM").width / 10;

const numbers = new Intl.NumberFormat("en");
function percent(part, all) {
	const share = all ? 100 * part / all : 0;
	return (share >= 99.995 || share < 0.005 ? share.toFixed(0) : share.toFixed(share < 10 ? 2 : 1)) + "\u2009%";
}

/* The levels that are shown, so that the page is as high as they are. */
let highest = 0, deepest = 0;
function findLevels(node) {
	highest = Math.min(depth[node], 0);
	deepest = Math.max(depth[node], 0);
	for (let i = node; i < end[node]; i++) {
		highest = Math.min(highest, depth[i]);
		deepest = Math.max(deepest, depth[i]);
	}
}
findLevels(0);
const rows = () => deepest - highest + 1;

const colours = new Map();
function colourOf(frame, state) {
	const key = (frame * 4 + state) * 2 + (dark.matches ? 1 : 0);
	let colour = colours.get(key);
	if (!colour) {
		const name = data.names[data.frames[3 * frame]];
		const [, hue, s, l, darkS, darkL] = KINDS[data.frames[3 * frame + 2]] || KINDS[8];
		let hash = 7;
		for (let i = 0; i < name.length; i++)
			hash = (hash * 31 + name.charCodeAt(i)) | 0;
		const spread = data.frames[3 * frame + 2] < 4 ? 0 : ((hash >>> 3) % 100) / 50 - 1;
		const tint = ((hash >>> 11) % 100) / 50 - 1;
		const lit = (dark.matches ? darkL : l) + (spread ? 4.5 * tint : 0);
		if (state == 1)
			colour = dark.matches ? "hsl(312 62% 45%)" : "hsl(312 78% 72%)";
		else if (state == 2)
			colour = dark.matches ? `hsl(${hue} 8% ${lit * 0.62}%)` : `hsl(${hue} 14% ${90 + 0.05 * lit}%)`;
		else
			colour = `hsl(${hue + 9 * spread} ${dark.matches ? darkS : s}% ${lit}%)`;
		colours.set(key, colour);
	}
	return colour;
}

/* More is red, less is blue, the stronger the larger; what may be chance is grey. */
function colourOfChange(node, state) {
	const night = dark.matches, dim = state == 2;
	if (state == 1)
		return colourOf(frameOf[node], state);
	if (base.verdict[node] != CERTAIN)
		return night ? `hsl(222 7% ${dim ? 20 : 30}%)` : `hsl(222 12% ${dim ? 94 : 88}%)`;
	const by = change(node), strong = Math.sqrt(Math.abs(by) / (steepest || 1));
	const hue = by > 0 ? 6 : 216;
	if (night)
		return `hsl(${hue} ${dim ? 20 : 45 + 25 * strong}% ${dim ? 26 : 34 + 10 * strong}%)`;
	return `hsl(${hue} ${dim ? 40 : 80}% ${dim ? 92 : 86 - 20 * strong}%)`;
}

const width = () => Math.max(50, view.clientWidth - 40);
const scale = () => width() / (total[zoom] || 1);
/* Ancestors of the zoomed node are as wide as the page. */
function place(node) {
	if (zoom > node && zoom < end[node])
		return [0, width()];
	return [(start[node] - start[zoom]) * scale(), total[node] * scale()];
}

/* The outermost frame is at the top, or, flipped, at the bottom. */
const rowOf = level => flipped ? deepest - level : level - highest;
const levelOf = row => flipped ? deepest - row : row + highest;

function drawFrame(node, x, w) {
	const y = rowOf(depth[node]) * ROW - view.scrollTop;
	if (y < -ROW || y > view.clientHeight)
		return;
	const state = !matches ? 0 : matches.hit[frameOf[node]] ? 1 : 2;
	const above = node < zoom;
	pen.globalAlpha = above ? 0.55 : 1;
	pen.fillStyle = base ? colourOfChange(node, state) : colourOf(frameOf[node], state);
	pen.fillRect(x, y, w > 3 ? w - 1 : w, ROW - 1);
	if (w >= TEXT_MIN) {
		const fits = Math.floor((w - 9) / letter);
		let text = nameOf(node);
		if (text.length > fits)
			text = fits > 2 ? text.slice(0, fits - 1) + "\u2026" : "";
		pen.fillStyle = dark.matches ? (state == 2 ? "#9a9fab" : "#f4f5f8") : (state == 2 ? "#7c8290" : "#1c1e26");
		pen.fillText(text, x + 4, y + 14.5);
	}
	pen.globalAlpha = 1;
	if (node == hover || node == focus) {
		pen.strokeStyle = node == focus ? getComputedStyle(document.documentElement).getPropertyValue("--accent") : pen.fillStyle;
		pen.lineWidth = node == focus ? 2 : 1;
		pen.strokeRect(x + 1, y + 1, Math.max(w - 3, 1), ROW - 3);
	}
}

function draw() {
	drawing = false;
	const ratio = devicePixelRatio || 1, w = width(), h = Math.max(1, Math.min(view.clientHeight - 12, rows() * ROW));
	$("space").style.height = rows() * ROW + 12 + "px";
	$("space").style.width = w + "px";
	if (canvas.width != Math.round(w * ratio) || canvas.height != Math.round(h * ratio)) {
		canvas.width = Math.round(w * ratio);
		canvas.height = Math.round(h * ratio);
		canvas.style.width = w + "px";
		canvas.style.height = h + "px";
	}
	pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	pen.clearRect(0, 0, w, h);
	pen.font = FONT;
	for (let node = parent[zoom]; node >= 0; node = parent[node])
		drawFrame(node, 0, w);
	const first = Math.floor(view.scrollTop / ROW), last = first + Math.ceil(view.clientHeight / ROW);
	for (let node = zoom; node < end[zoom];) {
		const [x, wide] = place(node), row = rowOf(depth[node]);
		const away = depth[node] && depth[node] > 0 != flipped ? row > last : row < first;
		if (wide < DRAW_MIN || (away && depth[node])) {
			node = end[node];
			continue;
		}
		drawFrame(node, x, wide);
		node++;
	}
	$("reset").disabled = zoom == 0;
}

function redraw() {
	if (!drawing) {
		drawing = true;
		requestAnimationFrame(draw);
	}
}

function nodeAt(x, y) {
	const level = levelOf(Math.floor(y / ROW)), zoomed = depth[zoom];
	if (x < 0 || x >= width() || level < highest || level > deepest)
		return -1;
	if (zoomed < 0 ? level >= zoomed : level >= 0 && level <= zoomed) {
		let node = zoom;
		while (depth[node] != level)
			node = parent[node];
		return node;
	}
	const value = start[zoom] + x / scale();
	const from = level < 0 && !zoom ? upper : zoom + 1, to = level > 0 && !zoom ? upper : end[zoom];
	for (let child = from; child < to;) {
		if (value < start[child] || value >= start[child] + total[child])
			child = end[child];
		else if (depth[child] == level)
			return child;
		else
			child++;
	}
	return -1;
}
