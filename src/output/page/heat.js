/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples over time: a column is 50 buckets, from the top down: a second, unless the recording is so
 * long that buckets are more than 20 ms. A span is all between two of them.
 */
const CELLS = 50, CELL = 3, MOST_WIDE = 28, AXIS = 16, SHADES = 32;
const heat = $("heat"), cells = $("cells"), brush = cells.getContext("2d");
const BILLION = 1000000000n;
let inBuckets = null, cursor = -1, anchor = -1, dragged = null;

/* Samples in each bucket, of what is chosen but for the time. */
function countBuckets() {
	const taken = chosenSlots(), counts = new Float64Array(times.buckets);
	for (let bucket = 0; bucket < times.buckets; bucket++)
		for (let i = times.first[bucket]; i < times.first[bucket + 1]; i++)
			if (taken[times.slot[i]])
				counts[bucket] += times.taken[i];
	return counts;
}

const columns = () => Math.ceil(times.buckets / CELLS);
const columnWidth = () => Math.min(MOST_WIDE, cells.parentNode.clientWidth / columns());

/* The time at which a bucket begins, in seconds as perf prints them. */
function timeOf(bucket, less = 0n) {
	const ns = BigInt(data.times.first) + BigInt(bucket) * BigInt(data.times.bucket) - less;
	return `${ns / BILLION}.${String(ns % BILLION).padStart(9, "0")}`;
}
/* As --time takes it, which includes both ends. */
const spanText = ([first, last]) => `${timeOf(first)},${timeOf(last + 1, 1n)}`;
/* Seconds from the first sample on. */
const sinceFirst = bucket => (bucket * data.times.bucket / 1e9).toFixed(2) + " s";

function shadeOf(share) {
	const at = Math.ceil(share * SHADES) / SHADES;
	if (!at)
		return dark.matches ? "#20242d" : "#eef0f4";
	return dark.matches ? `hsl(${34 - 20 * at} ${50 + 30 * at}% ${20 + 42 * at}%)` : `hsl(${40 - 28 * at} ${70 + 12 * at}% ${88 - 46 * at}%)`;
}

function drawAxis(wide, width) {
	const step = Math.ceil(64 / wide), second = CELLS * data.times.bucket / 1e9;
	brush.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--soft");
	brush.font = "11px system-ui, sans-serif";
	for (let column = 0; column < columns() && column * wide + 40 < width; column += step)
		brush.fillText(+(column * second).toFixed(2) + " s", column * wide, CELLS * CELL + 12);
}

function drawCells() {
	const wide = columnWidth(), width = Math.max(1, cells.parentNode.clientWidth), ratio = devicePixelRatio || 1;
	const most = inBuckets.reduce((left, right) => Math.max(left, right), 0) || 1;
	const [from, to] = dragged || chosen.span || [0, times.buckets - 1];
	cells.width = Math.round(width * ratio);
	cells.height = Math.round((CELLS * CELL + AXIS) * ratio);
	cells.style.width = width + "px";
	cells.style.height = CELLS * CELL + AXIS + "px";
	brush.setTransform(ratio, 0, 0, ratio, 0, 0);
	for (let bucket = 0; bucket < times.buckets; bucket++) {
		brush.globalAlpha = bucket < from || bucket > to ? 0.25 : 1;
		brush.fillStyle = shadeOf(inBuckets[bucket] / most);
		brush.fillRect(Math.floor(bucket / CELLS) * wide, bucket % CELLS * CELL, wide > 3 ? wide - 1 : wide, CELL);
	}
	brush.globalAlpha = 1;
	if (cursor >= 0) {
		brush.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--accent");
		brush.lineWidth = 2;
		brush.strokeRect(Math.floor(cursor / CELLS) * wide, cursor % CELLS * CELL - 1, Math.max(wide, 3), CELL + 2);
	}
	drawAxis(wide, width);
	$("scale").textContent = `${+(data.times.bucket / 1e6).toFixed(3)} ms a row, ${+(CELLS * data.times.bucket / 1e9).toFixed(3)} s a column, up to ${numbers.format(most)} ${most == 1 ? "sample" : "samples"}`;
}

function showSpan() {
	const span = dragged || chosen.span;
	$("span").textContent = span ? "--time " + spanText(span) : "";
	$("always").disabled = !chosen.span;
}

/* After the choice has changed. */
function drawHeat() {
	if (!times || !data.times.bucket)
		return;
	inBuckets = countBuckets();
	drawCells();
	showSpan();
}

const ordered = (one, other) => one < other ? [one, other] : [other, one];

function setSpan(span) {
	dragged = null;
	chosen.span = span;
	choose();
}

/* The bucket at a place in the window; -1: there is none. INSIDE: the nearest one, instead. */
function bucketAt(event, inside) {
	const box = cells.getBoundingClientRect();
	let column = Math.floor((event.clientX - box.left) / columnWidth()), row = Math.floor((event.clientY - box.top) / CELL);
	if (inside) {
		column = Math.max(0, Math.min(columns() - 1, column));
		row = Math.max(0, Math.min(CELLS - 1, row));
	}
	const bucket = column * CELLS + row;
	if (column < 0 || row < 0 || row >= CELLS)
		return -1;
	return bucket < times.buckets ? bucket : inside ? times.buckets - 1 : -1;
}

function hoverHeat(event) {
	const bucket = bucketAt(event, anchor >= 0);
	if (bucket < 0) {
		$("tip").hidden = true;
		return;
	}
	const count = inBuckets[bucket];
	showTip(`${numbers.format(count)} ${count == 1 ? "sample" : "samples"}`,
		`from ${timeOf(bucket)}, ${sinceFirst(bucket)} after the first`, event.clientX, event.clientY);
	if (anchor >= 0) {
		dragged = ordered(anchor, bucket);
		drawCells();
		showSpan();
	}
}

const HEAT_KEYS = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -CELLS, ArrowRight: CELLS };
function heatKey(event) {
	if (event.key == "Escape" && chosen.span) {
		setSpan(null);
	} else if (event.key == "Enter" && cursor >= 0) {
		setSpan([cursor, cursor]);
	} else if (HEAT_KEYS[event.key]) {
		const from = cursor < 0 ? 0 : cursor;
		cursor = cursor < 0 ? 0 : Math.max(0, Math.min(times.buckets - 1, cursor + HEAT_KEYS[event.key]));
		if (event.shiftKey) {
			const [first, last] = chosen.span || [from, from];
			setSpan(ordered(from == first ? last : first, cursor));
		} else {
			drawCells();
		}
	} else {
		return;
	}
	event.preventDefault();
}

if (times && data.times.bucket) {
	heat.addEventListener("pointerdown", event => {
		anchor = bucketAt(event, false);
		if (anchor < 0)
			return;
		heat.setPointerCapture(event.pointerId);
		dragged = [anchor, anchor];
		cursor = -1;
		drawCells();
	});
	heat.addEventListener("pointermove", hoverHeat);
	heat.addEventListener("pointerup", event => {
		if (anchor >= 0)
			setSpan(ordered(anchor, bucketAt(event, true)));
		anchor = -1;
		$("tip").hidden = true;
	});
	heat.addEventListener("pointercancel", () => {
		anchor = -1;
		dragged = null;
		drawHeat();
	});
	heat.addEventListener("pointerleave", () => $("tip").hidden = true);
	heat.addEventListener("keydown", heatKey);
	$("always").addEventListener("click", () => setSpan(null));
	new ResizeObserver(drawCells).observe(heat);
}
