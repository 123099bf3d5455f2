/* SPDX-License-Identifier: GPL-2.0-or-later */

function legendEntry([label, colour]) {
	const item = document.createElement("li"), swatch = document.createElement("i");
	swatch.style.background = colour;
	item.append(swatch, label);
	return item;
}

/* In the colours of colourOfChange(). */
const CHANGES = [
	["more than before", "hsl(6 80% 66%)", "hsl(6 70% 44%)"],
	["less than before", "hsl(216 80% 66%)", "hsl(216 70% 44%)"],
	["may be chance", "hsl(222 12% 88%)", "hsl(222 7% 30%)"],
];
function showLegend() {
	const used = new Set();
	for (let i = 0; i < data.frames.length; i += 3)
		used.add(data.frames[i + 2]);
	const kinds = [4, 5, 6, 7, 3, 8, SMALL].filter(kind => used.has(kind)).map(kind => {
		const [label, hue, s, l, darkS, darkL] = KINDS[kind];
		return [label, dark.matches ? `hsl(${hue} ${darkS}% ${darkL}%)` : `hsl(${hue} ${s}% ${l}%)`];
	});
	const changes = CHANGES.map(([label, light, night]) => [label, dark.matches ? night : light]);
	$("legend").replaceChildren(...(base ? changes : kinds).map(legendEntry));
}
dark.addEventListener("change", () => {
	showLegend();
	redraw();
	drawHeat();
});

const file = data.recording.split("/").pop();
document.title = file + (times ? " \u2013 profile" : " \u2013 flame graph");
$("title").textContent = file;
$("about").textContent = [
	base && "compared with " + data.base.recording,
	data.event,
	data.totals,
	data.host && "recorded on " + data.host,
	data.names_cut && numbers.format(data.names_cut) + " long names are cut",
	data.merged && numbers.format(data.merged) + " small frames merged",
	times && data.times.rounding > 1 && "the periods of a part of the time, or a mode, are rounded to " + numbers.format(data.times.rounding * data.unit),
].filter(Boolean).join(" \u00b7 ");
if (times || base) {
	document.documentElement.classList.add("report");
	$("table").hidden = false;
	$("filters").hidden = !times;
	$("times").hidden = !times || !data.times.bucket;
	view.style.height = `min(62vh, ${rows() * ROW + 36}px)`;
}
showLegend();
restoreState();
draw();
view.focus({ preventScroll: true });
