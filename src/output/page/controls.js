/* SPDX-License-Identifier: GPL-2.0-or-later */
canvas.addEventListener("mousemove", event => {
	const node = fromPointer(event);
	if (node < 0)
		$("tip").hidden = true;
	else
		showTip(nameOf(node), describe(node), event.clientX, event.clientY);
	canvas.style.cursor = node < 0 ? "default" : "pointer";
	if (node != hover) {
		hover = node;
		redraw();
	}
});
canvas.addEventListener("mouseleave", () => {
	$("tip").hidden = true;
	hover = -1;
	redraw();
});
canvas.addEventListener("click", event => {
	const node = fromPointer(event);
	view.focus();
	if (node >= 0)
		setZoom(node);
});
$("reset").addEventListener("click", () => setZoom(0));
const isPressed = button => $(button).getAttribute("aria-pressed") == "true";
const AROUND = { callers: callersOf, callees: calleesOf, sandwich: sandwichOf };
/* Shows what is chosen: all stacks, or those around a function. */
function showChosen() {
	load(around ? AROUND[around](whole, centre) : whole);
	for (const button of Object.keys(AROUND))
		$(button).setAttribute("aria-pressed", button == around);
	setZoom(0);
}
/* After another choice; the zoom stays where that is possible. */
function choose() {
	const path = pathOf(zoom);
	whole = chosenTree(isPressed("vcpus"));
	load(whole);
	all = total[0];
	showSelection();
	showChosen();
	setZoom(findPath(path));
	drawHeat();
	functions = null;
	showTable();
}

$("vcpus").hidden = !hasVcpus;
function switchVcpus() {
	if ($("vcpus").hidden)
		return;
	$("vcpus").setAttribute("aria-pressed", !isPressed("vcpus"));
	choose();
	setZoom(0);
}
$("vcpus").addEventListener("click", switchVcpus);

function showAround(what, frame) {
	around = what;
	centre = frame;
	showChosen();
}
const showAll = () => showAround(null, -1);
/* Of the function that has the focus; the same again shows all. */
function switchAround(what) {
	if (around == what)
		showAll();
	else if (around && !focus)
		showAround(what, centre);
	else if (!base && kindOf(focus) >= FUNCTION && kindOf(focus) != SMALL)
		showAround(what, frameOf[focus]);
}
function flip() {
	flipped = !flipped;
	$("flip").setAttribute("aria-pressed", flipped);
	reveal(focus);
	redraw();
	keepState();
}
for (const button of Object.keys(AROUND)) {
	$(button).hidden = !!base;
	$(button).addEventListener("click", () => switchAround(button));
}
$("flip").addEventListener("click", flip);
/* Zooms out, and then back to all stacks. */
function leave() {
	if (zoom || !around)
		setZoom(0);
	else
		showAll();
}
$("search").addEventListener("input", event => search(event.target.value));
$("search").addEventListener("keydown", event => {
	if (event.key == "Escape") {
		event.target.value = "";
		search("");
		view.focus();
	} else if (event.key == "Enter") {
		largestMatch();
		view.focus();
	}
});

/* Of the frame that has the focus. */
async function copyName() {
	const name = nameOf(focus);
	try {
		await navigator.clipboard.writeText(name);
	} catch {
		/* Browsers refuse it in some pages; there, what is selected is copied. */
		const range = document.createRange();
		range.selectNodeContents($("name"));
		getSelection().removeAllRanges();
		getSelection().addRange(range);
		document.execCommand("copy");
	}
	$("copy").textContent = "Copied";
	setTimeout(() => $("copy").textContent = "Copy name", 1200);
}
$("copy").addEventListener("click", copyName);

const KEYS = {
	ArrowUp: () => setFocus(step(false)),
	ArrowDown: () => setFocus(step(true)),
	ArrowLeft: () => setFocus(beside(focus, -1)),
	ArrowRight: () => setFocus(beside(focus, 1)),
	Enter: () => setZoom(focus),
	Backspace: () => setZoom(Math.max(0, parent[zoom])),
	Escape: leave,
	"/": () => $("search").focus(),
	n: () => nextMatch(1),
	N: () => nextMatch(-1),
	v: switchVcpus,
	c: () => switchAround("callers"),
	e: () => switchAround("callees"),
	s: () => switchAround("sandwich"),
	y: copyName,
	i: flip,
};
document.addEventListener("keydown", event => {
	if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || !KEYS[event.key])
		return;
	if (["INPUT", "SELECT"].includes(event.target.tagName))
		return;
	if (event.target.tagName == "BUTTON" && event.key == "Enter")
		return;
	event.preventDefault();
	KEYS[event.key]();
});
view.addEventListener("scroll", redraw);
new ResizeObserver(redraw).observe(view);
