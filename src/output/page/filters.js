/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice of VM, process and mode. */
const MOST_CHOICES = 500;
const MODES = ["guest", "host", "kernel", "user", "guest,kernel", "guest,user", "host,kernel", "host,user"];

function addChoice(select, value, text) {
	const option = document.createElement("option");
	option.value = value;
	option.textContent = text;
	select.append(option);
}

/* The frames of one KIND, those with the most samples first. */
function framesOf(kind, of) {
	const sums = new Map();
	for (let i = 0; i < of.length; i++)
		if (of[i] >= 0)
			sums.set(of[i], (sums.get(of[i]) || 0) + recorded.samples[i]);
	return [...sums.keys()].sort((left, right) => sums.get(right) - sums.get(left));
}

function fillChoices(select, kind, of) {
	const frames = framesOf(kind, of);
	addChoice(select, "-1", "all");
	for (const frame of frames.slice(0, MOST_CHOICES))
		addChoice(select, frame, data.names[data.frames[3 * frame]]);
	if (frames.length > MOST_CHOICES) {
		addChoice(select, "", `and ${numbers.format(frames.length - MOST_CHOICES)} with fewer samples`);
		select.lastChild.disabled = true;
	}
	select.parentNode.hidden = !frames.length;
}

function fillModes(select) {
	const kinds = new Set(times.mode);
	addChoice(select, "", "all");
	for (const words of MODES)
		if ([...kinds].some(kind => words.split(",").every(word => MODE_WORDS[kind].split(" ").includes(word))))
			addChoice(select, words, words.replace(",", " "));
}

/* How many samples are chosen. */
function showSelection() {
	if (!times)
		return;
	const is = samples[0], share = is == everything ? "" : ` of ${numbers.format(everything)}, ${percent(is, everything)}`;
	$("selected").textContent = `${numbers.format(is)}${share || (is == 1 ? " sample" : " samples")}`;
	$("everything").disabled = is == everything;
	$("vm").value = chosen.vm;
	$("process").value = chosen.process;
	$("mode").value = chosen.mode;
}

if (times) {
	fillChoices($("vm"), VM, vmOf);
	fillChoices($("process"), PROCESS, processOf);
	fillModes($("mode"));
	for (const key of ["vm", "process", "mode"])
		$(key).addEventListener("change", event => {
			chosen[key] = key == "mode" ? event.target.value : Number(event.target.value);
			choose();
		});
	$("everything").addEventListener("click", () => {
		Object.assign(chosen, { vm: -1, process: -1, mode: "", span: null });
		choose();
	});
}
