/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is shown is in the page's address, so that it can be kept and sent. Names are compared with
 * those of the recording, and nothing else in an address has an effect.
 */
let restoring = true, written = "";

function frameNamed(kind, of, name) {
	return framesOf(kind, of).find(frame => data.names[data.frames[3 * frame]] == name) ?? -1;
}

function stateText() {
	const state = new URLSearchParams();
	const set = (key, value) => value && state.set(key, value);
	set("vm", chosen.vm >= 0 && data.names[data.frames[3 * chosen.vm]]);
	set("process", chosen.process >= 0 && data.names[data.frames[3 * chosen.process]]);
	set("mode", chosen.mode);
	set("time", chosen.span && spanText(chosen.span));
	set("vcpus", isPressed("vcpus") && "1");
	set("flip", flipped && "1");
	set("search", $("search").value);
	set(around, around && String(centre));
	set("zoom", pathOf(zoom));
	if ((times || base) && (order.key != FIRST_KEY || !order.down))
		set("sort", (order.down ? "-" : "") + order.key);
	return state.toString();
}

function keepState() {
	if (restoring)
		return;
	const text = stateText();
	if (text == written)
		return;
	written = text;
	try {
		history.replaceState(null, "", "#" + text);
	} catch {
		/* Too often in a short time: the next change writes it. */
		written = null;
	}
}

/* The buckets of a time as spanText() has it; null: it is none. */
function spanOf(text) {
	const ends = /^(\d{1,12})\.(\d{9}),(\d{1,12})\.(\d{9})$/.exec(text || "");
	if (!ends || !times || !data.times.bucket)
		return null;
	const bucketOf = (seconds, ns) => Number((BigInt(seconds) * BILLION + BigInt(ns) - BigInt(data.times.first)) / BigInt(data.times.bucket));
	const span = [bucketOf(ends[1], ends[2]), bucketOf(ends[3], ends[4])];
	return span[0] < 0 || span[1] >= times.buckets || span[0] > span[1] ? null : span;
}

function restoreState() {
	const state = new URLSearchParams(location.hash.slice(1));
	const sort = /^(-?)(\w+)$/.exec(state.get("sort") || "-" + FIRST_KEY);
	restoring = true;
	chosen.vm = times ? frameNamed(VM, vmOf, state.get("vm")) : -1;
	chosen.process = times ? frameNamed(PROCESS, processOf, state.get("process")) : -1;
	chosen.mode = times && MODES.includes(state.get("mode")) ? state.get("mode") : "";
	chosen.span = spanOf(state.get("time"));
	$("vcpus").setAttribute("aria-pressed", hasVcpus && state.has("vcpus"));
	flipped = state.has("flip");
	$("flip").setAttribute("aria-pressed", flipped);
	$("search").value = state.get("search") || "";
	if (sort && COLUMNS.some(column => column.key == sort[2]))
		Object.assign(order, { key: sort[2], down: !!sort[1] });
	around = Object.keys(AROUND).find(what => state.has(what)) || null;
	centre = around ? Number(state.get(around)) : -1;
	if (base || !(data.frames[3 * centre + 2] >= FUNCTION))
		around = null;
	zoom = 0;
	choose();
	search($("search").value);
	setZoom(findPath(state.get("zoom") || ""));
	restoring = false;
	written = location.hash.slice(1);
}

addEventListener("hashchange", () => {
	if (location.hash.slice(1) != written)
		restoreState();
});
